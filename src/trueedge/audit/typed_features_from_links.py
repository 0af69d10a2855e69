"""Features that follow from the links: a bag of neighbours, or a sum, mean or union of their features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, Verdict, check, percent, picture
from trueedge.audit.typed_subject import TypedLinkSubject, TypedSubject
from trueedge.graph.typed import HeteroGraph
from trueedge.randomness import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Columns this alike are the same up to a few errors of preparing the data; the best of thousands of columns
# that have nothing to do with each other reach about 0.3 on so many rows.
ALIKE = 0.9
# A table of which half follows from the links is not a second source of information.
COPIED_LOOK = 0.5
# By how much more of the features must follow if test links are edges too.
CLEARLY = 0.05
# Nodes that are compared, and the fewest of them that a column must say something about.
ROWS = 1_000
FEWEST = 5
# Columns of a type that are compared with all columns of the other; more are sampled.
MOST_COLUMNS = 500
# A fuller table is multiplied faster if its zeros are stored, up to so many entries.
FULL, MOST_STORED = 0.02, 20_000_000
SHOWN = 6


@dataclass(frozen=True)
class Copied:
    """A share of a type's features that follows from a relation.

    Attributes:
        kind: the type whose features are explained.
        other: the type at the other end of the relation.
        relation: the relation, by number.
        how: what the features are of the neighbours, in words.
        share: the share of the non-zero entries in columns that follow, without test links.
        whole: the share with test links.
    """

    kind: str
    other: str
    relation: int
    how: str
    share: float
    whole: float

    @property
    def largest(self) -> float:
        """Return the larger of both shares."""
        return max(self.share, self.whole)

    @property
    def words(self) -> str:
        """Return how much follows from what."""
        much = "the features" if self.largest > 0.9995 else f"{percent(self.largest)} of the features"
        return f"{much} of {self.kind!r} are {self.how.format(other=self.other)}"


@check(
    "features-from-links",
    "leaks",
    title="features that follow from the links",
    question="Are features of a type computed from its links to another type?",
    rule=f"look: columns with {percent(COPIED_LOOK)} of a type's non-zero entries have a correlation above"
    f" {ALIKE} with the bag of neighbours of a relation, or with the sum, mean or union of their features;"
    " broken: such features contain links that are to be predicted",
    advice="Do not count these features as a second source of information",
    picture=picture("Features that follow from the links", "bars", "share of the entries", "features"),
    kinds=("nodes", "typed-links"),
)
def _run(subject: TypedSubject) -> Finding | Skipped:
    graph = subject.graph
    if all(one is None for one in graph.features):
        return Skipped("no node type has features")
    found = list(_copied(subject))
    # The best explanation of each type.
    best: dict[str, Copied] = {}
    for one in sorted(found, key=lambda one: -one.largest):
        best.setdefault(one.kind, one)
    if not best:
        return Skipped("no node type with features has edges")
    named = [one for one in best.values() if one.largest > COPIED_LOOK]
    leaks = [
        one
        for one in found
        if one.whole > max(COPIED_LOOK, one.share + CLEARLY) and one.relation in _predicted(subject)
    ]
    verdict: Verdict = "broken" if leaks else "look" if named else "ok"
    top = max(leaks, key=lambda one: one.whole) if leaks else next(iter(best.values()))
    told = [one.words for one in named if not leaks or one.kind != top.kind]
    if leaks:
        told.insert(0, f"{top.words}, test links included")
    if not told:
        told = [f"at most {percent(top.largest)} of a type's features ({top.kind!r}) follow from its links"]
    return Finding(
        "features-from-links",
        verdict,
        percent(top.largest),
        "; ".join(told[:SHOWN]),
        {
            "share": top.largest,
            "types": float(len(named)),
            **{f"share of {one.kind}": one.largest for one in best.values()},
        },
        {
            "features": np.array([one.kind for one in best.values()]),
            "share of the entries": np.array([one.largest for one in best.values()]),
        },
        f"up to {ROWS:,} nodes of each type and relation",
        "Compute these features without test links, or leave them out" if leaks else "",
    )


def _predicted(subject: TypedSubject) -> tuple[int, ...]:
    return subject.task.relations if isinstance(subject, TypedLinkSubject) else ()


def _copied(subject: TypedSubject) -> Iterator[Copied]:
    """Compare the features of each type with what each of its relations gives."""
    graph, whole = _with_links(subject, "valid"), _with_links(subject, "valid", "test")
    seen: set[tuple[int, int, bytes]] = set()
    for number, (_, source, target) in enumerate(graph.relations):
        for kind, other, turned in ((source, target, False), (target, source, True)):
            own = subject.table(kind)
            if own is None or not own.nnz or not len(whole.edges[number]):
                continue
            steps = {"known": _adjacency(graph, number, turned), "whole": _adjacency(whole, number, turned)}
            # A relation and its reverse say the same.
            mark = kind, other, np.asarray(steps["whole"].indices).tobytes()
            if mark in seen:
                continue
            seen.add(mark)
            rows = _rows(subject, steps["whole"])
            shares = {
                part: _shares(own[rows], step[rows], subject.table(other))
                for part, step in steps.items()
                if part == "whole" or number in _predicted(subject)
            }
            names = graph.node_types[kind], graph.node_types[other], number
            for how, share in shares["whole"].items():
                yield Copied(*names, how, shares.get("known", shares["whole"])[how], share)


def _with_links(subject: TypedSubject, *parts: str) -> HeteroGraph:
    """Return the graph with the links of some parts as edges."""
    if not isinstance(subject, TypedLinkSubject):
        return subject.graph
    edges = list(subject.graph.edges)
    for number in subject.task.relations:
        held = {name: links for name, links in subject.task.positives.items() if name in parts}
        hidden = [subject.of(links, number)[:, [0, 2]] for links in held.values()]
        edges[number] = np.unique(np.concatenate([edges[number], *hidden]), axis=0)
    return subject.graph.with_edges(edges)


def _adjacency(graph: HeteroGraph, relation: int, turned: bool) -> csr_array:
    found = graph.adjacency(relation)
    return found.T.tocsr() if turned else found


def _rows(subject: TypedSubject, step: csr_array) -> NDArray[np.int64]:
    """Return nodes that have a neighbour, a sample of them if there are many."""
    rows = np.flatnonzero(np.diff(step.indptr))
    if len(rows) > ROWS:
        rng = generator(subject.seed, "audit", "features from links")
        rows = np.sort(rng.choice(rows, size=ROWS, replace=False))
    return rows


def _shares(own: csr_array, step: csr_array, features: csr_array | None) -> dict[str, float]:
    """Return the share of the features that each function of the neighbours gives."""
    from scipy.sparse import csr_array, diags_array

    there = _pattern(own)
    found = {"the bag of its neighbours of type {other!r}": _share(there, _pattern(step))}
    if features is not None and features.nnz:
        total = csr_array(step @ features)
        mean = diags_array(1.0 / np.maximum(np.diff(step.indptr), 1)) @ total
        found |= {
            "the sum of the features of its neighbours of type {other!r}": _share(own, total),
            "the mean of the features of its neighbours of type {other!r}": _share(own, csr_array(mean)),
            "the union of the features of its neighbours of type {other!r}": _share(
                there, _pattern(csr_array(step @ _pattern(features)))
            ),
        }
    return found


def _pattern(table: csr_array) -> csr_array:
    """Return the table with 1 for every entry other than 0."""
    found = table.copy()
    found.data = np.ones(len(found.data), dtype=np.float32)
    return found


def _share(own: csr_array, given: csr_array) -> float:
    """Return the share of the entries of a table in columns that equal a column of another, nearly.

    Which columns belong together is not known: each column is compared with all.
    """
    left, right = _Columns(own, MOST_COLUMNS), _Columns(given)
    if not len(left.entries) or not len(right.entries):
        return 0.0
    follows = left.correlations(right).max(axis=1) > ALIKE
    return float(left.entries[follows].sum() / left.entries.sum())


class _Columns:
    """The columns of a table that differ from row to row, or some of them, with means and deviations."""

    def __init__(self, table: csr_array, most: int | None = None) -> None:
        columns = table.astype(np.float64).tocsc()
        columns.eliminate_zeros()
        count = table.shape[0]
        means = np.asarray(columns.sum(axis=0)).reshape(-1) / count
        squares = np.asarray(columns.multiply(columns).sum(axis=0)).reshape(-1) / count
        deviations = np.sqrt(np.maximum(squares - means**2, 0.0))
        entries = np.diff(columns.indptr)
        chosen = np.flatnonzero((entries >= FEWEST) & (deviations > 1e-6 * np.sqrt(squares)))
        if most is not None and len(chosen) > most:
            chosen = np.sort(generator(0, "audit", "columns").choice(chosen, size=most, replace=False))
        self.entries: NDArray[Any] = entries[chosen]
        self.means, self.deviations = means[chosen], deviations[chosen]
        self.table = columns[:, chosen]

    def correlations(self, others: _Columns) -> NDArray[np.float64]:
        """Return the correlation of each column with each of the others."""
        size = others.table.shape[0] * others.table.shape[1]
        if FULL * size < others.table.nnz and size <= MOST_STORED:
            together = np.asarray(self.table.T @ others.table.toarray())
        else:
            together = (self.table.T @ others.table).toarray()
        together = together / self.table.shape[0] - np.outer(self.means, others.means)
        return np.asarray(together / np.outer(self.deviations, others.deviations))
