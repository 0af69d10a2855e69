"""Protocols for typed graphs: node classification and link prediction, as in HGB."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph, Labels
from trueedge.html import counted
from trueedge.negatives.typed import KINDS, typed_negatives
from trueedge.splits.typed import LINK_RATIOS, NODE_RATIOS, TypedData, split_labels, split_links
from trueedge.tasks.nodes import NodeTask
from trueedge.tasks.protocols.protocol import Protocol, Request, register
from trueedge.tasks.typed_links import METRICS, TypedLinkTask

CITATION = "Lv et al., Are We Really Making Much Progress?, KDD 2021"
PUBLISHED = "published"
SAME = "same"
# With fewer test nodes or links, a metric has hardly more than a handful of values.
FEW = 10


def _nodes(request: Request) -> NodeTask:
    data, name = request.source.typed, request.source.name
    labels = data.graph.labels
    if labels is None:
        raise InputError(f"{name} has no labels: use the protocol typed-links")
    nodes = split_labels(labels, request.options["ratios"], request.seed)
    return NodeTask.of(
        data.graph,
        labels,
        nodes,
        dataset=name,
        seed=request.seed,
        settings={
            "split": "published test part" if labels.test is not None else "random",
            **_notes(data, _one_class(labels), _few(len(nodes["test"]), "node")),
        },
    )


def _links(request: Request) -> TypedLinkTask:
    data, name, options = request.source.typed, request.source.name, request.options
    relations = _relations(data, options["relation"])
    graph, held = split_links(data, relations, options["ratios"], request.seed)
    positives, negatives = {}, {}
    kinds = {"test": options["negatives"], "valid": options["valid_negatives"]}
    if kinds["valid"] == SAME:
        kinds["valid"] = kinds["test"]
    for part, links in held.items():
        kind = kinds[part]
        pairs = data.pairs.get(part, {}) if kind == PUBLISHED else {}
        if part == "test" and kind == PUBLISHED and not pairs:
            raise InputError(f"{name} has no published negatives: use negatives=two-hop or negatives=random")
        both = [_part(request, graph, one, links[one], held, kind, pairs.get(one)) for one in relations]
        positives[part], negatives[part] = (np.concatenate(rows) for rows in zip(*both, strict=True))
    return TypedLinkTask(
        dataset=name,
        protocol="typed-links",
        seed=request.seed,
        metrics=METRICS,
        headline=METRICS[0],
        settings={
            "relations": [data.graph.relations[one].name for one in relations],
            "negatives": options["negatives"],
            "valid_negatives": kinds["valid"],
            "split": "published test links" if data.test_links else "random",
            **_notes(
                data,
                _relation_note(data, relations) if not options["relation"] else "",
                _few(len(positives["test"]), "link"),
            ),
        },
        graph=graph,
        relations=relations,
        positives=positives,
        negatives=negatives,
    )


def _part(
    request: Request,
    graph: HeteroGraph,
    relation: int,
    links: NDArray[np.int32],
    held: Mapping[str, Mapping[int, NDArray[np.int32]]],
    kind: str,
    published: tuple[NDArray[np.int32], NDArray[np.bool_]] | None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the positives and negatives of a part and relation, int32 (n, 3)."""
    if published is not None:
        pairs, positive = published
        return _rows(pairs[positive], relation), _rows(pairs[~positive], relation)
    # The whole relation: an edge that left the training graph as the reverse of a test link is a link.
    known = [request.source.typed.graph.edges[relation], *(part[relation] for part in held.values())]
    drawn = typed_negatives(
        graph,
        relation,
        links,
        known,
        # Some data sets publish pairs of the test part alone.
        kind if kind in KINDS else "two-hop",
        request.seed,
    )
    # A head that is linked to every tail has no negatives, so its links cannot be judged.
    return _rows(links[np.isin(links[:, 0], drawn[:, 0])], relation), _rows(drawn, relation)


def _rows(pairs: NDArray[np.int32], relation: int) -> NDArray[np.int32]:
    return np.column_stack([pairs[:, 0], np.full(len(pairs), relation), pairs[:, 1]]).astype(np.int32)


def _relations(data: TypedData, text: str) -> tuple[int, ...]:
    """Return the relations to predict: those named, those with test links, or the one with most edges."""
    if text:
        found = tuple(dict.fromkeys(data.graph.relation_number(one.strip()) for one in text.split(",")))
    elif data.test_links:
        found = tuple(sorted(data.test_links))
    else:
        found = (int(np.argmax([len(one) for one in data.graph.edges])),)
    return found


def _notes(data: TypedData, *more: str) -> dict[str, tuple[str, ...]]:
    notes = (*data.graph.notes, *filter(None, more))
    return {"notes": notes} if notes else {}


def _few(count: int, noun: str) -> str:
    """Say that a test part is too small to tell methods apart; empty if it is not."""
    return f"the test part has only {counted(count, noun)}, so its metrics say little" if count < FEW else ""


def _one_class(labels: Labels) -> str:
    """Say that there is a single class; empty if there are several."""
    alone = labels.num_classes == 1
    return f"all labelled nodes have the class {labels.classes[0]!r}: nothing can be learned" if alone else ""


def _relation_note(data: TypedData, relations: tuple[int, ...]) -> str:
    """Say which relation is predicted where neither the user nor the data set names one."""
    if data.test_links:
        return ""
    name = data.graph.relations[relations[0]].name
    return (
        f"predicting the links of {name!r}, the relation with the most edges; others by the option"
        " relation: te.task(…, relation='NAME'), or --option relation=NAME"
    )


register(
    Protocol(
        name="node-classification",
        kind="nodes",
        title="the classes of nodes of one type, with all edges known",
        citation=CITATION,
        headline="micro-f1",
        make=_nodes,
        takes=("typed",),
        options={"ratios": NODE_RATIOS},
        split_options=("ratios",),
        help={"ratios": "shares of train, valid and test; a published test part is kept"},
    )
)
register(
    Protocol(
        name="typed-links",
        kind="typed-links",
        title="links of a relation against negatives of the same heads",
        citation=CITATION,
        headline="roc-auc",
        make=_links,
        takes=("typed",),
        options={"relation": "", "negatives": KINDS[0], "valid_negatives": "random", "ratios": LINK_RATIOS},
        choices={"negatives": (*KINDS, PUBLISHED), "valid_negatives": ("random", "two-hop", SAME)},
        split_options=("ratios", "relation"),
        help={
            "relation": "the relations to predict, separated by commas; by default those with test links",
            "negatives": "tails two steps from the head, random ones, or published ones",
            "valid_negatives": "those of the validation part: random ones, as published and as in training;"
            " tails two steps from the head; or those of the test part's kind (same)",
            "ratios": "shares of train, valid and test; published test links are kept",
        },
    )
)
