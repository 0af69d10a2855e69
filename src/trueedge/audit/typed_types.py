"""Types that carry nothing: without edges, without features, with the same features for all nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trueedge.audit.check import (
    Finding,
    Skipped,
    Verdict,
    check,
    graded_share,
    percent,
    picture,
)
from trueedge.audit.typed_subject import NodeSubject, TypedSubject

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KINDS = ("nodes", "typed-links")
# A model cannot tell nodes without any feature apart: a twentieth of a type is worth saying.
EMPTY_LOOK = 0.05
# What edges say about a class is lost for nodes that have none: a twentieth is worth saying; from a quarter
# on, results depend on how a method treats these.
ISOLATED_LOOK, ISOLATED_BROKEN = 0.05, 0.25


@check(
    "empty-types",
    "data",
    title="node types and relations without edges",
    question="Does every node type and every relation have edges?",
    rule="look: a node type or relation has no edges; broken: the type that is classified, or a type or"
    " relation whose links are predicted",
    advice="Remove node types and relations without edges",
    picture=picture("Nodes of each type", "bars", "nodes", "node type"),
    kinds=KINDS,
)
def _empty(subject: TypedSubject) -> Finding:
    graph, task = subject.graph, subject.task
    bare = [number for number, one in enumerate(graph.relations) if not len(graph.edges[number])]
    counts = np.diff(graph.starts)
    linked = np.array([int((subject.degrees[graph.types == kind] > 0).sum()) for kind in range(len(counts))])
    lonely = [kind for kind in range(len(counts)) if not linked[kind]]
    if isinstance(subject, NodeSubject):
        needed_types, needed = {subject.task.target}, set[int]()
    else:
        needed = set(task.relations)  # type: ignore[union-attr]
        needed_types = {end for one in needed for end in graph.relations[one][1:]}
    verdict: Verdict = "look" if bare or lonely else "ok"
    if needed & set(bare) or needed_types & set(lonely):
        verdict = "broken"
    told = []
    if lonely:
        told.append(f"no edges: {_named('node type', [graph.node_types[one] for one in lonely])}")
    if bare:
        told.append(f"no edges: {_named('relation', [graph.relations[one].name for one in bare])}")
    apart = int((counts - linked).sum())
    told.append(f"{apart:,} of {graph.num_nodes:,} nodes have no edge")
    if not bare and not lonely:
        told.insert(0, f"all node types ({len(counts)}) and relations ({graph.num_relations}) have edges")
    return Finding(
        "empty-types",
        verdict,
        f"{len(bare) + len(lonely)}",
        "; ".join(told),
        {
            "types and relations": float(len(bare) + len(lonely)),
            "node types": float(len(lonely)),
            "relations": float(len(bare)),
            "nodes without edges": float(apart),
        },
        {"node type": np.array(graph.node_types), "with edges": linked, "without": counts - linked},
        f"{graph.num_edges:,} edges",
    )


@check(
    "empty-features",
    "data",
    title="features that say nothing",
    question="Do the features of each type tell its nodes apart?",
    rule="look: all nodes of a type have the same features, the features are the numbers of the nodes (one"
    f" column each), or more than {percent(EMPTY_LOOK)} of a type's nodes have no feature other than 0",
    advice="Do not give these features to a model",
    picture=picture("Nodes without a feature other than 0", "bars", "share of the nodes", "node type"),
    kinds=KINDS,
)
def _features(subject: TypedSubject) -> Finding | Skipped:
    graph = subject.graph
    without = [name for name, one in zip(graph.node_types, graph.features, strict=True) if one is None]
    if len(without) == graph.num_types:
        return Skipped("no node type has features")
    names, shares, told, worst = [], [], [], 0.0
    for kind, name in enumerate(graph.node_types):
        table = subject.table(kind)
        if table is None:
            continue
        share = float((np.diff(table.indptr) == 0).mean())
        names.append(name)
        shares.append(share)
        fault = _fault(table)
        if fault:
            told.append(f"{fault}: {name!r}")
        elif share > EMPTY_LOOK:
            told.append(f"{percent(share)} of the nodes of type {name!r} have no feature other than 0")
        worst = max(worst, share)
    faults = len(told)
    if not faults:
        told = [f"the features of {len(names)} node types differ from node to node"]
    if without:
        told.append(f"no features: {_named('node type', without)}")
    return Finding(
        "empty-features",
        "look" if faults else "ok",
        f"{faults}",
        "; ".join(told),
        {
            "types with a fault": float(faults),
            "largest share without features": worst,
            "types without features": float(len(without)),
        },
        {"node type": np.array(names), "share": np.array(shares)},
        f"features of {len(names)} of {graph.num_types} node types",
    )


def _fault(table: csr_array) -> str:
    """Return what is wrong with the features of a type, empty if nothing is."""
    count, width = table.shape
    if not table.nnz:
        return "all features are 0"
    entries = np.diff(table.indptr)
    if count == 1:
        return ""
    if width == count and (entries == 1).all() and len(np.unique(table.indices)) == count:
        return "the features are the numbers of the nodes"
    rows = (table.indices, table.data)
    if (entries == entries[0]).all() and all(
        (one.reshape(count, -1) == one[: entries[0]]).all() for one in rows
    ):
        return "all nodes have the same features"
    return ""


@check(
    "isolated-targets",
    "likeness",
    title="labelled nodes without edges",
    question="Do the nodes that are classified have edges?",
    rule=f"look: more than {percent(ISOLATED_LOOK)} of the training or test nodes have none; broken: more"
    f" than {percent(ISOLATED_BROKEN)}",
    advice="Report nodes without edges separately",
    picture=picture("Nodes without an edge", "bars", "nodes", "part"),
    kinds=("nodes",),
)
def _isolated(subject: NodeSubject) -> Finding:
    counts = {part: int((subject.degrees[nodes] == 0).sum()) for part, nodes in subject.parts.items()}
    shares = {part: counts[part] / len(nodes) for part, nodes in subject.parts.items()}
    worst = max(shares["train"], shares["test"])
    fewest = min(len(subject.parts[part]) for part in ("train", "test"))
    return Finding(
        "isolated-targets",
        graded_share(worst, ISOLATED_LOOK, ISOLATED_BROKEN, fewest),
        percent(worst),
        f"{counts['test']:,} of {len(subject.parts['test']):,} test nodes and {counts['train']:,} of"
        f" {len(subject.parts['train']):,} training nodes have no edge",
        {"share": worst, **{f"{part} nodes": float(count) for part, count in counts.items()}},
        {"part": np.array(list(counts)), "nodes": np.array(list(counts.values()))},
        subject.looked(),
    )


def _named(noun: str, names: list[str]) -> str:
    some = ", ".join(map(repr, names[:4])) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"{noun}{'' if len(names) == 1 else 's'} {some}"
