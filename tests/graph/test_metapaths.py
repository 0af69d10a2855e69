"""Meta-paths connect exactly the nodes that some path connects."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.errors import InputError
from trueedge.graph.metapaths import (
    MetaPath,
    metapath_neighbors,
    parse_metapath,
    parse_metapaths,
    symmetric_metapaths,
)
from trueedge.graph.typed import HeteroGraph, Relation


def typed_graph(counts, relations, edges, names=("author", "paper", "co-venue")):
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    arrays = []
    for relation, pairs in zip(relations, edges, strict=True):
        offset = starts[[relation.source, relation.target]]
        rows = sorted({(int(u + offset[0]), int(v + offset[1])) for u, v in pairs})
        arrays.append(np.array(rows, dtype=np.int32).reshape(-1, 2))
    return HeteroGraph(tuple(names[: len(counts)]), starts, tuple(relations), tuple(arrays))


def papers() -> HeteroGraph:
    """Three authors, four papers, two venues; papers cite each other."""
    return typed_graph(
        (3, 4, 2),
        (Relation("writes", 0, 1), Relation("paper-cite-paper", 1, 1), Relation("in", 1, 2)),
        ([(0, 0), (0, 1), (1, 1), (2, 3)], [(0, 1), (1, 2)], [(0, 0), (1, 0), (3, 1)]),
    )


@st.composite
def graphs_and_paths(draw):
    counts = draw(st.lists(st.integers(1, 6), min_size=2, max_size=3))
    types = st.integers(0, len(counts) - 1)
    ends = draw(st.lists(st.tuples(types, types), min_size=1, max_size=4))
    relations = tuple(Relation(f"r{i}", a, b) for i, (a, b) in enumerate(ends))
    edges = [
        draw(
            st.lists(
                st.tuples(st.integers(0, counts[a] - 1), st.integers(0, counts[b] - 1)),
                min_size=1,
                max_size=8,
            )
        )
        for a, b in ends
    ]
    graph = typed_graph(counts, relations, edges, ("x", "y", "z"))
    kinds, chosen = [draw(types)], []
    for _ in range(draw(st.integers(1, 4))):
        steps = [
            (number, b if a == kinds[-1] else a) for number, (a, b) in enumerate(ends) if kinds[-1] in (a, b)
        ]
        if not steps:
            break
        number, following = draw(st.sampled_from(steps))
        kinds.append(following)
        chosen.append(draw(st.sampled_from((None, number))))
    return graph, kinds, chosen


def reached(graph: HeteroGraph, path: MetaPath) -> np.ndarray:
    """Follow every path, edge by edge."""
    steps: list[set[tuple[int, int]]] = []
    for first, last, chosen in zip(path.types[:-1], path.types[1:], path.relations, strict=True):
        pairs: set[tuple[int, int]] = set()
        for number, (relation, edges) in enumerate(zip(graph.relations, graph.edges, strict=True)):
            if chosen is not None and chosen != number:
                continue
            if relation[1:] == (first, last):
                pairs |= {(u, v) for u, v in edges.tolist()}
            if relation[1:] == (last, first) and not (chosen is not None and first == last):
                pairs |= {(v, u) for u, v in edges.tolist()}
        steps.append(pairs)
    found = np.zeros((graph.num_nodes, graph.num_nodes), dtype=bool)
    for start in graph.nodes_of(path.types[0]).tolist():
        here = {start}
        for pairs in steps:
            here = {v for u, v in pairs if u in here}
        found[start, list(here)] = True
    rows, columns = (graph.nodes_of(path.types[end]) for end in (0, -1))
    return found[np.ix_(rows, columns)]


@given(graphs_and_paths())
@settings(max_examples=150, deadline=None)
def test_a_meta_path_connects_what_following_every_path_does(case) -> None:
    graph, kinds, chosen = case
    if not chosen:
        return
    path = MetaPath(tuple(kinds), tuple(chosen))
    found = metapath_neighbors(graph, path)
    assert (found.toarray() == reached(graph, path)).all()
    assert found.indices.dtype == np.int32
    for row in range(found.shape[0]):
        assert (np.diff(found.indices[found.indptr[row] : found.indptr[row + 1]]) > 0).all()


def test_a_wide_row_is_in_order_too() -> None:
    rng = np.random.default_rng(0)
    pairs = [(int(u), int(v)) for u, v in rng.integers(0, (40, 9), (200, 2))]
    graph = typed_graph((40, 9), (Relation("r", 0, 1),), (pairs,))
    found = metapath_neighbors(graph, "author-paper-author")
    assert (found.toarray() == reached(graph, parse_metapath(graph, "author-paper-author"))).all()
    assert (np.diff(found.indptr) > 10).any()


def test_co_authors_are_connected() -> None:
    found = metapath_neighbors(papers(), "author-paper-author").toarray()
    assert found.tolist() == [[True, True, False], [True, True, False], [False, False, True]]


def test_a_relation_in_parentheses_is_followed_forwards() -> None:
    graph = papers()
    cited = metapath_neighbors(graph, "paper-(paper-cite-paper)-paper").toarray()
    assert np.argwhere(cited).tolist() == [[0, 1], [1, 2]]
    both = metapath_neighbors(graph, "paper-paper").toarray()
    assert (both == (cited | cited.T)).all()
    longer = metapath_neighbors(graph, "paper-(paper-cite-paper)-paper-author")
    assert np.argwhere(longer.toarray()).tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    "text",
    [
        "author-paper-co-venue-paper-author",
        "paper-(paper-cite-paper)-paper-author-paper",
        "author-(writes)-paper-(in)-co-venue",
    ],
)
def test_names_with_hyphens_are_read_and_written(text: str) -> None:
    graph = papers()
    assert parse_metapath(graph, text).text(graph) == text


def test_names_of_types_may_be_written_in_any_case() -> None:
    graph = papers()
    assert parse_metapath(graph, "Author - PAPER-Co-Venue").text(graph) == "author-paper-co-venue"


def test_several_paths_are_separated_by_commas() -> None:
    paths = parse_metapaths(papers(), "author-paper-author, author-paper-co-venue-paper-author")
    assert [path.types for path in paths] == [(0, 1, 0), (0, 1, 2, 1, 0)]
    assert all(path.symmetric for path in paths)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("author-papr-author", "node type .*'papr'.*did you mean 'paper'"),
        ("author-(write)-paper", "relation .*'write'.*did you mean 'writes'"),
        ("author-co-venue-author", "a step without edges: author-co-venue"),
        ("author-(in)-paper", "a step without edges: author-paper"),
        ("author--paper", "no node type .* is called ''"),
        ("pap er - author", "no node type .* is called 'pap er'"),
        ("author", "must begin and end with a node type"),
        ("(writes)-paper-author", "must begin and end"),
        ("author-paper-(writes)", "must begin and end"),
        (" , ", "metapaths is empty"),
    ],
)
def test_a_bad_meta_path_is_refused_with_its_fault(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_metapaths(papers(), text)


def test_a_path_that_would_not_fit_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"'author-paper-author' connects 5 pairs .* choose other"):
        metapath_neighbors(papers(), "author-paper-author", most=100)


def test_without_paths_the_symmetric_ones_are_taken() -> None:
    graph = papers()
    texts = {path.text(graph) for path in symmetric_metapaths(graph, 0)}
    # Papers reach papers too.
    assert texts == {
        "author-paper-author",
        "author-paper-paper-paper-author",
        "author-paper-co-venue-paper-author",
    }
    assert {path.length for path in symmetric_metapaths(graph, 1)} == {2}


def test_a_type_without_edges_has_no_paths() -> None:
    graph = typed_graph((2, 2, 2), (Relation("r", 0, 1),), ([(0, 1)],))
    with pytest.raises(InputError, match="nodes of type co-venue have no edges"):
        symmetric_metapaths(graph, 2)
