"""Typed benchmarks for the audit: clean ones, and one with a planted fault for each check."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import trueedge as te
from trueedge.graph.typed import HeteroGraph, Labels, Relation
from trueedge.graph.typed_validation import sorted_edges
from trueedge.splits.typed import TypedData
from trueedge.tasks import NodeTask, TypedLinkTask

THINGS, OTHERS, TAGS = 500, 300, 50
USERS, ITEMS = 200, 300
CLASSES = ("red", "green", "blue")


def nodes(change: Callable[[dict[str, Any]], None] | None = None) -> HeteroGraph:
    """Things with random classes, features and edges: nothing can be learned, and nothing is wrong."""
    rng = np.random.default_rng(0)
    made: dict[str, Any] = {
        "rng": rng,
        "classes": rng.integers(0, 3, THINGS),
        "test": rng.random(THINGS) < 0.6,
        "things": (rng.random((THINGS, 40)) < 0.2).astype(np.float32),
        "others": rng.normal(size=(OTHERS, 20)).astype(np.float32),
        "to others": pairs(rng, THINGS, OTHERS, 1500),
        "to tags": pairs(rng, THINGS, TAGS, 1500),
        "names": CLASSES,
    }
    if change is not None:
        change(made)
    starts = np.cumsum([0, THINGS, OTHERS, TAGS])
    ends = [(made["to others"], starts[1]), (made["to tags"], starts[2])]
    edges = [one + np.array([0, start]) for one, start in ends]
    return HeteroGraph(
        ("thing", "other", "tag"),
        starts,
        (Relation("thing-other", 0, 1), Relation("other-thing", 1, 0), Relation("thing-tag", 0, 2)),
        tuple(sorted_edges(one, int(starts[-1]))[0] for one in (edges[0], edges[0][:, ::-1], edges[1])),
        (made["things"], made["others"], None),
        Labels(
            0,
            np.arange(THINGS, dtype=np.int32),
            made["classes"].astype(np.int32),
            made["names"],
            made["test"],
        ),
        name="planted",
    )


def pairs(rng: np.random.Generator, left: int, right: int, count: int) -> np.ndarray:
    """Distinct random pairs."""
    keys = rng.choice(left * right, size=count, replace=False)
    return np.column_stack([keys // right, keys % right])


def _copies(made: dict[str, Any]) -> None:
    """Every second test node is a copy of a training node."""
    train, test = np.flatnonzero(~made["test"]), np.flatnonzero(made["test"])[::2]
    originals = made["rng"].choice(train, size=len(test))
    made["things"][test] = made["things"][originals]
    made["classes"][test] = made["classes"][originals]
    for name in ("to others", "to tags"):
        kept = made[name][~np.isin(made[name][:, 0], test)]
        copied = [
            np.column_stack([np.full((kept[:, 0] == one).sum(), node), kept[kept[:, 0] == one, 1]])
            for node, one in zip(test, originals, strict=True)
        ]
        made[name] = np.concatenate([kept, *copied])


def _sorted(made: dict[str, Any]) -> None:
    made["classes"] = np.sort(made["classes"])


def _class_columns(made: dict[str, Any]) -> None:
    """A column for each class, wrong for one node in fifty."""
    told = np.where(made["rng"].random(THINGS) < 0.02, 0, made["classes"])
    made["things"][:, 5:8] = np.eye(3)[told]


def class_number(made: dict[str, Any]) -> None:
    """One column with the number of the class, among columns with any values."""
    made["things"] = made["rng"].normal(size=(THINGS, 10)).astype(np.float32)
    made["things"][:, 3] = made["classes"] / 3


def _mean_of_things(made: dict[str, Any]) -> None:
    """The features of others are the mean of those of their things, in another order."""
    total = np.zeros((OTHERS, 40), dtype=np.float32)
    thing, other = made["to others"].T
    np.add.at(total, other, made["things"][thing])
    total /= np.maximum(np.bincount(other, minlength=OTHERS), 1)[:, None]
    made["others"] = total[:, made["rng"].permutation(40)]


def bag_of_tags(made: dict[str, Any]) -> None:
    """The features of things are their tags."""
    made["things"] = np.zeros((THINGS, TAGS), dtype=np.float32)
    made["things"][tuple(made["to tags"].T)] = 1


def unlike_classes(made: dict[str, Any]) -> None:
    """One class is in the test part alone."""
    made["test"] |= made["classes"] == 2


def _isolated(made: dict[str, Any]) -> None:
    for name in ("to others", "to tags"):
        made[name] = made[name][made[name][:, 0] % 3 > 0]


def _frequent(made: dict[str, Any]) -> None:
    made["classes"] = np.where(made["rng"].random(THINGS) < 0.95, 0, made["classes"])


def _within_classes(made: dict[str, Any]) -> None:
    """Tags and others belong to one class each."""
    for name in ("to others", "to tags"):
        made[name][:, 1] = made[name][:, 1] // 3 * 3 + made["classes"][made[name][:, 0]]
        made[name] = np.unique(
            made[name][made[name][:, 1] < (OTHERS if name == "to others" else TAGS)], axis=0
        )


def _clusters(made: dict[str, Any]) -> None:
    """Features are close to one of three centres."""
    centres = made["rng"].normal(size=(3, 30))
    noise = 0.7 * made["rng"].normal(size=(THINGS, 30))
    made["things"] = (centres[made["classes"]] + noise).astype(np.float32)


def _no_tags(made: dict[str, Any]) -> None:
    made["to tags"] = made["to tags"][:0]


def _same_features(made: dict[str, Any]) -> None:
    made["others"][:] = 1.5


NODE_FAULTS: dict[str, Callable[[], HeteroGraph]] = {
    "duplicate-nodes": lambda: nodes(_copies),
    "label-in-ids": lambda: nodes(_sorted),
    "label-in-features": lambda: nodes(_class_columns),
    "features-from-links": lambda: nodes(_mean_of_things),
    "class-balance": lambda: nodes(unlike_classes),
    "isolated-targets": lambda: nodes(_isolated),
    "shortcut-majority": lambda: nodes(_frequent),
    "shortcut-label-propagation": lambda: nodes(_within_classes),
    "shortcut-node-features": lambda: nodes(_clusters),
    "empty-types": lambda: nodes(_no_tags),
    "empty-features": lambda: nodes(_same_features),
}


def repeated_nodes() -> NodeTask:
    """Five test nodes are training nodes too, which no file can say."""
    made = te.task(nodes())
    parts = {**made.nodes, "train": np.union1d(made.nodes["train"], made.nodes["test"][:5])}
    graph = nodes()
    return NodeTask.of(graph, graph.labels, {name: one.astype(np.int32) for name, one in parts.items()})


def links(change: Callable[[dict[str, Any]], None] | None = None) -> TypedData:
    """Random links of users and items with published test links; friends are so many that all is near."""
    rng = np.random.default_rng(0)
    made: dict[str, Any] = {
        "rng": rng,
        "buys": rng.permutation(pairs(rng, USERS, ITEMS, 3000)),
        "sees": pairs(rng, USERS, ITEMS, 1500),
        "sold to": pairs(rng, ITEMS, USERS, 1500),
        "knows": pairs(rng, USERS, USERS, 8000),
        "users": rng.normal(size=(USERS, 64)).astype(np.float32),
        "items": rng.normal(size=(ITEMS, 64)).astype(np.float32),
        "again": 0,
    }
    made["knows"] = made["knows"][made["knows"][:, 0] != made["knows"][:, 1]]
    if change is not None:
        change(made)
    cut = len(made["buys"]) // 5
    shifts = {"buys": (0, USERS), "sees": (0, USERS), "sold to": (USERS, 0), "knows": (0, 0)}
    tables = {name: made[name] + np.array(shift) for name, shift in shifts.items()}
    test, train = tables["buys"][:cut], tables["buys"][cut - made["again"] :]
    every = {**tables, "buys": train}
    graph = HeteroGraph(
        ("user", "item"),
        np.array([0, USERS, USERS + ITEMS]),
        tuple(Relation(name, int(left > 0), int(right > 0)) for name, (left, right) in shifts.items()),
        tuple(sorted_edges(one, USERS + ITEMS)[0] for one in every.values()),
        (made["users"], made["items"]),
        name="planted",
    )
    return TypedData(graph, {0: sorted_edges(test, USERS + ITEMS)[0]})


def friends(loops: int = 0) -> TypedData:
    """Random links among users; so many of the published test links join a user to itself."""
    made = links().graph
    known = made.edges[3]
    test = np.arange(len(known)) % 5 == 0
    held = np.concatenate([known[test], np.repeat(np.arange(loops, dtype=np.int32)[:, None], 2, axis=1)])
    # The reverse of a test link is no training link.
    reversed_too = np.isin(known[:, ::-1] @ [made.num_nodes, 1], held @ [made.num_nodes, 1])
    edges = [*made.edges[:3], known[~test & ~reversed_too]]
    return TypedData(made.with_edges(edges), {3: sorted_edges(held, made.num_nodes)[0]})


def _again(made: dict[str, Any]) -> None:
    made["again"] = 20


def _parallel(made: dict[str, Any]) -> None:
    made["sees"] = made["buys"]


def _mean_of_items(made: dict[str, Any]) -> None:
    """The features of users are the mean of those of their items, test links included."""
    user, item = made["buys"].T
    total = np.zeros_like(made["users"])
    np.add.at(total, user, made["items"][item])
    made["users"] = total / np.maximum(np.bincount(user, minlength=USERS), 1)[:, None]


def _unseen(made: dict[str, Any]) -> None:
    """Nothing but test links is known of some items."""
    cut = len(made["buys"]) // 5
    test, train = made["buys"][:cut], made["buys"][cut:]
    train = train[train[:, 1] >= 30]
    # A fifth of the links are the test part.
    made["buys"] = np.concatenate([test[: (len(test) + len(train)) // 5], train])
    made["sees"] = made["sees"][made["sees"][:, 1] >= 30]
    made["sold to"] = made["sold to"][made["sold to"][:, 0] >= 30]


def _lonely(made: dict[str, Any]) -> None:
    """Users know nobody, so that no item is two steps away."""
    made["knows"] = made["knows"][:1]


def _popular(made: dict[str, Any]) -> None:
    """Items are bought by a power law, and anything is two steps away."""
    rng = made["rng"]
    weights = np.arange(1, ITEMS + 1) ** -1.3
    item = rng.choice(ITEMS, size=3000, p=weights / weights.sum())
    made["buys"] = rng.permutation(np.unique(np.column_stack([rng.integers(0, USERS, 3000), item]), axis=0))
    made["knows"] = pairs(rng, USERS, USERS, 30_000)
    made["knows"] = made["knows"][made["knows"][:, 0] != made["knows"][:, 1]]


def _communities(made: dict[str, Any]) -> None:
    """Users of a group know each other and buy the same items."""
    rng = made["rng"]
    user = rng.integers(0, USERS, 4000)
    item = rng.integers(0, ITEMS // 10, 4000) * 10 + user % 10
    made["buys"] = rng.permutation(np.unique(np.column_stack([user, item]), axis=0))
    friend = rng.integers(0, USERS // 10, 4000) * 10 + user % 10
    few = rng.integers(0, USERS, (400, 2))
    made["knows"] = np.concatenate([np.column_stack([user, friend]), few])
    made["knows"] = np.unique(made["knows"][made["knows"][:, 0] != made["knows"][:, 1]], axis=0)


def _no_friends(made: dict[str, Any]) -> None:
    made["sees"] = made["sees"][:0]


def _same_users(made: dict[str, Any]) -> None:
    made["users"][:] = 1.5


LINK_FAULTS: dict[str, Callable[[], TypedData]] = {
    "repeated-links": lambda: links(_again),
    "self-links": lambda: friends(20),
    "parallel-relations": lambda: links(_parallel),
    "features-tell-links": lambda: links(_mean_of_items),
    "features-from-links": lambda: links(_mean_of_items),
    "unseen-ends": lambda: links(_unseen),
    "few-two-hop": lambda: links(_lonely),
    "popular-targets": lambda: links(_popular),
    "shortcut-two-steps": lambda: links(_communities),
    "empty-types": lambda: links(_no_friends),
    "empty-features": lambda: links(_same_users),
}


def reversed_links() -> TypedLinkTask:
    """Another relation has the reverse of all links; a split by trueedge would take out those of test."""
    made = te.task(links())
    both = [made.graph.edges[0], *(one[:, [0, 2]] for one in made.positives.values())]
    edges = list(made.graph.edges)
    edges[2] = sorted_edges(np.concatenate(both)[:, ::-1], made.graph.num_nodes)[0]
    return replace(made, graph=made.graph.with_edges(edges))


def false_negatives() -> TypedLinkTask:
    """Some negatives are training links, some test links."""
    made = te.task(links())
    known = made.graph.edges[0][:20]
    rows = np.column_stack([known[:, 0], np.zeros(20), known[:, 1]]).astype(np.int32)
    test = np.concatenate([rows, made.positives["test"][:5], made.negatives["test"][25:]])
    return replace(made, negatives={**made.negatives, "test": test})


def repeated_negatives() -> TypedLinkTask:
    """A fifth of the negatives are repeats."""
    made = te.task(links())
    test = made.negatives["test"]
    cut = len(test) // 5
    return replace(made, negatives={**made.negatives, "test": np.concatenate([test[cut:], test[-cut:]])})


def other_heads() -> TypedLinkTask:
    """All negatives have the heads with the fewest edges."""
    made = te.task(links())
    degrees = np.bincount(made.graph.edges[0][:, 0], minlength=USERS)[:USERS]
    test = made.negatives["test"].copy()
    test[:, 0] = np.argsort(degrees, kind="stable")[: USERS // 4][test[:, 0] % (USERS // 4)]
    return replace(made, negatives={**made.negatives, "test": test})


TASK_FAULTS: dict[str, Callable[[], NodeTask | TypedLinkTask]] = {
    "repeated-nodes": repeated_nodes,
    "reverse-relations": reversed_links,
    "negatives-are-links": false_negatives,
    "repeated-negatives": repeated_negatives,
    "uneven-heads": other_heads,
}


def write(data: HeteroGraph | TypedData, folder: Path) -> Path:
    """Write a typed benchmark as a user has it, in HGB's format."""
    graph = data.graph if isinstance(data, TypedData) else data
    folder.mkdir()
    info: dict[str, Any] = {
        "node.dat": {"node type": dict(enumerate(graph.node_types))},
        "link.dat": {
            "link type": {
                number: {"start": source, "end": target, "meaning": name}
                for number, (name, source, target) in enumerate(graph.relations)
            }
        },
    }
    lines = []
    for node, kind in enumerate(graph.types.tolist()):
        features = graph.features[kind]
        row = [] if features is None else features[node - graph.starts[kind]].tolist()
        lines.append(
            "\t".join([f"{node}", f"node {node}", f"{kind}", *([",".join(map(repr, row))] if row else [])])
        )
    (folder / "node.dat").write_text("\n".join(lines) + "\n")
    (folder / "link.dat").write_text(_link_lines(dict(enumerate(graph.edges))))
    if isinstance(data, TypedData):
        (folder / "link.dat.test").write_text(_link_lines(dict(data.test_links)))
    labels = graph.labels
    if labels is not None:
        info["label.dat"] = {"node type": {labels.type: dict(enumerate(labels.classes))}}
        for name, part in (("label.dat", ~labels.test), ("label.dat.test", labels.test)):
            rows = zip(labels.nodes[part].tolist(), labels.values[part].tolist(), strict=True)
            text = "".join(f"{node}\tnode {node}\t{labels.type}\t{value}\n" for node, value in rows)
            (folder / name).write_text(text)
    (folder / "info.dat").write_text(json.dumps(info))
    return folder


def _link_lines(edges: dict[int, np.ndarray]) -> str:
    return "".join(
        f"{head}\t{tail}\t{number}\t1.0\n" for number, rows in edges.items() for head, tail in rows.tolist()
    )
