"""Splits of typed graphs: labelled nodes, and links of some relations."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets
from trueedge.errors import InputError
from trueedge.graph.freezing import FrozenFields
from trueedge.graph.hgb_files import HgbData, read_hgb
from trueedge.graph.typed import HeteroGraph, Labels
from trueedge.randomness import generator
from trueedge.splits.ratio import check_ratios

NODE_RATIOS = (0.24, 0.06, 0.70)
LINK_RATIOS = (0.81, 0.09, 0.10)
LinkParts = Mapping[str, NDArray[np.int32]]


@dataclass(frozen=True, eq=False)
class TypedData(FrozenFields):
    """A typed graph, and what its publishers say about test links.

    Attributes:
        graph: the graph, without test links.
        test_links: for some relations int32 (n, 2), the published test links.
        valid_links: for some relations, the published validation links.
        pairs: published pairs with their labels, by part and relation: int32 (n, 2) and bool (n,).
    """

    graph: HeteroGraph
    test_links: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)
    valid_links: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)
    pairs: Mapping[str, Mapping[int, tuple[NDArray[np.int32], NDArray[np.bool_]]]] = field(
        default_factory=dict
    )

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of the graph and all links."""
        digest = hashlib.sha256(f"typed {self.graph.hash}".encode())
        arrays = {f"test {one}": links for one, links in self.test_links.items()}
        arrays |= {f"valid {one}": links for one, links in self.valid_links.items()}
        for part, given in self.pairs.items():
            for one, (pairs, positive) in given.items():
                arrays[f"{part} pairs {one}"] = np.column_stack([pairs, positive]).astype(np.int32)
        for name, array in arrays.items():
            digest.update(f" {name} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
        return digest.hexdigest()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was done to the input."""
        return self.graph.notes


def published(name: str) -> TypedData:
    """Return a named data set with its published test links."""
    card = datasets.get(name)
    if card.read_typed is None:
        raise InputError(f"{name} is not a typed graph")
    return _data(card.read_typed())


def from_path(path: Path) -> TypedData:
    """Read a folder or zip archive in HGB's format; it is read once while it does not change."""
    place = path.resolve()
    inside = sorted(place.glob("*.dat*")) if place.is_dir() else [place]
    return _read(place, tuple((str(one), one.stat().st_mtime_ns, one.stat().st_size) for one in inside))


@lru_cache(maxsize=2)
def _read(path: Path, stamps: tuple[tuple[str, int, int], ...]) -> TypedData:
    del stamps
    return _data(read_hgb(path))


def _data(read: HgbData) -> TypedData:
    """Return the data with the links of published pairs."""
    pairs = {"valid": read.valid_pairs, "test": read.test_pairs}
    links = {
        part: {one: rows[positive] for one, (rows, positive) in given.items()}
        for part, given in pairs.items()
    }
    return TypedData(read.graph, {**links["test"], **read.test_links}, links["valid"], pairs)


def split_labels(
    labels: Labels, ratios: Sequence[float], seed: int, published: bool = True
) -> dict[str, NDArray[np.int32]]:
    """Divide labelled nodes into train, valid and test, int32 arrays of nodes.

    Args:
        labels: the labels; their published test part is kept, unless ``published`` is False.
        ratios: the shares of train, valid and test; with a published test part, only the first two count.
        seed: the seed of the division.
        published: whether a published test part is used.
    """
    fixed = labels.test is not None and published
    _check_shares(ratios, ("train", "valid") if fixed else ("train", "valid", "test"))
    rng = generator(seed, "split", "labels")
    rest = labels.nodes
    if labels.test is not None and published:
        rest, test = labels.nodes[~labels.test], labels.nodes[labels.test]
        share = ratios[1] / (ratios[0] + ratios[1])
        order = rng.permutation(len(rest))
        cut = round(share * len(rest))
        valid, train = rest[order[:cut]], rest[order[cut:]]
    else:
        order = rng.permutation(len(rest))
        first, second = (round(sum(ratios[:number]) * len(order)) for number in (1, 2))
        train, valid, test = (rest[part] for part in (order[:first], order[first:second], order[second:]))
    parts = {"train": train, "valid": valid, "test": test}
    for name, nodes in parts.items():
        if not len(nodes):
            free = f"{len(rest)} without the test part" if fixed else f"{len(rest)}"
            raise InputError(f"too few nodes have labels ({free}): the {name} part would be empty")
    return {name: np.sort(nodes).astype(np.int32) for name, nodes in parts.items()}


def split_links(
    data: TypedData, relations: Sequence[int], ratios: Sequence[float], seed: int
) -> tuple[HeteroGraph, dict[str, dict[int, NDArray[np.int32]]]]:
    """Return the training graph, and the valid and test links of each relation.

    Published test and validation links are kept. Otherwise links are drawn at random, and every source keeps
    one in the training graph, so that it can be learned. Between nodes of one type, a link and its reverse
    are in the same part. If another relation has the reversed edges, those of valid and test links leave the
    graph too, and no valid link is drawn that is the reverse of a test link. Published test links that are
    also edges stay in the graph: ``te.audit`` tells how many.

    Args:
        data: the graph and its published links.
        relations: the relations whose links are predicted.
        ratios: the shares of train, valid and test.
        seed: the seed of the division.
    """
    known = {"test": data.test_links, "valid": data.valid_links}
    free = [part for part, links in known.items() if not all(one in links for one in relations)]
    _check_shares(ratios, ("train", *free))
    edges = list(data.graph.edges)
    held: dict[str, dict[int, NDArray[np.int32]]] = {"valid": {}, "test": {}}
    for relation in relations:
        name, source, target = data.graph.relations[relation]
        rng = generator(seed, "split", "links", relation)
        share = {"test": ratios[2], "valid": ratios[1] / (ratios[0] + ratios[1])}
        for part in ("test", "valid"):
            if relation in known[part]:
                held[part][relation] = np.asarray(known[part][relation], dtype=np.int32)
                continue
            taken = _held_out(edges[relation], share[part], rng, source == target)
            if relation not in data.test_links:
                # No negative is a self-loop, so a positive that is one would be easy to tell.
                taken &= edges[relation][:, 0] != edges[relation][:, 1]
            if not taken.any():
                raise InputError(
                    f"{data.graph.name}: {name!r} has too few edges for a {part} part: each source keeps one"
                    " for training, and self-loops are not predicted"
                )
            held[part][relation] = edges[relation][taken]
            edges[relation] = edges[relation][~taken]
    _part_valid_from_test(data, held)
    every = [links for part in held.values() for links in part.values()]
    count = data.graph.num_nodes
    gone = np.concatenate([_keys(links[:, ::-1], count) for links in every])
    back = [(data.graph.relations[one].target, data.graph.relations[one].source) for one in relations]
    for number, (_, source, target) in enumerate(data.graph.relations):
        if (source, target) in back:
            edges[number] = edges[number][~np.isin(_keys(edges[number], count), gone)]
    return data.graph.with_edges(edges).without_labels(), held


def _part_valid_from_test(data: TypedData, held: dict[str, dict[int, NDArray[np.int32]]]) -> None:
    """Take drawn valid links away that are test links or their reverses: ``fit`` sees the valid part."""
    count = data.graph.num_nodes
    ends = {one: data.graph.relations[one][1:] for one in held["test"]}
    for relation, links in held["valid"].items():
        if relation in data.valid_links:
            continue
        known = [_keys(held["test"][relation], count)]
        known += [
            _keys(pairs[:, ::-1], count)
            for one, pairs in held["test"].items()
            if ends[one] == ends[relation][::-1]
        ]
        kept = links[~np.isin(_keys(links, count), np.concatenate(known))]
        if not len(kept):
            name = data.graph.relations[relation].name
            raise InputError(f"{data.graph.name}: all valid links of {name!r} are test links in reverse")
        held["valid"][relation] = kept


def _check_shares(ratios: Sequence[float], parts: Sequence[str]) -> None:
    """Refuse ratios that leave a part empty that has to be drawn."""
    shares = dict(zip(("train", "valid", "test"), check_ratios(ratios), strict=True))
    for part in parts:
        if not shares[part]:
            raise InputError(f"ratios: the share of {part} is 0, but the {part} part cannot be empty")


def _held_out(
    edges: NDArray[np.int32], share: float, rng: np.random.Generator, within: bool
) -> NDArray[np.bool_]:
    """Choose edges at random, but never all of a source, bool (m,).

    Args:
        edges: int (m, 2), sources and targets.
        share: how many edges are chosen.
        rng: draws them.
        within: both ends have the same type. Then an edge and its reverse are chosen together, since one
            tells the other, and loops are never chosen.
    """
    pair = np.arange(len(edges))
    loops = np.zeros(len(edges), dtype=np.bool_)
    if within:
        pair = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        loops = edges[:, 0] == edges[:, 1]
    count = int(pair.max(initial=-1)) + 1
    rank = np.empty(count, dtype=np.int64)
    rank[rng.permutation(count)] = np.arange(count)
    order = np.argsort(rank[pair], kind="stable")
    order = order[~loops[order]]
    # The first edge of each source in a random order stays.
    _, first = np.unique(edges[order, 0], return_index=True)
    stays = np.zeros(count, dtype=np.bool_)
    stays[pair[order[first]]] = True
    free = order[~stays[pair[order]]]
    return np.isin(pair, pair[free[: round(share * len(edges))]])


def _keys(pairs: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    return np.asarray(pairs[:, 0].astype(np.int64) * count + pairs[:, 1])
