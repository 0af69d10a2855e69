"""Splits of knowledge graphs: published ones, those in a folder, and random ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets
from trueedge.errors import InputError
from trueedge.files.text import plain, shown
from trueedge.graph.freezing import FrozenFields
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.triple_files import TripleParts, folder_files, missing_files, read_parts
from trueedge.graph.triples import as_triples, contained, repeated, triple_order
from trueedge.html import facts_html, shortened
from trueedge.randomness import generator
from trueedge.splits.ratio import check_ratios
from trueedge.splits.split import share_of

NONE = np.empty((0, 3), dtype=np.int32)
#: What follows the name of the folder with the unseen entities of an inductive split.
UNSEEN = "_ind"
NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class TripleSplit(FrozenFields):
    """The triples of a knowledge graph in three parts.

    Attributes:
        train: the graph of the training triples; it has the names of all entities and relations.
        valid: int32 array (v, 3), may be empty.
        test: int32 array (t, 3).
        name: how it was made, in words for a record.
        facts: for an inductive split, the graph that the test triples belong to: other entities, the same
            relations. Otherwise None, and the test triples are about the entities of ``train``.
        known: int32 array (k, 3), further true triples among the entities of the test part.
        notes: what the user should know of the split, one sentence each.
    """

    train: KnowledgeGraph
    valid: NDArray[np.int32]
    test: NDArray[np.int32]
    name: str
    facts: KnowledgeGraph | None = None
    known: NDArray[np.int32] = field(default_factory=lambda: NONE)
    notes: tuple[str, ...] = ()

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of all parts."""
        digest = hashlib.sha256(f"triples {self.train.hash} {self.facts and self.facts.hash}".encode())
        for part in (self.valid, self.test, self.known):
            digest.update(f" {len(part)} ".encode())
            digest.update(np.ascontiguousarray(part, dtype="<i4").tobytes())
        return digest.hexdigest()

    @property
    def parts(self) -> dict[str, NDArray[np.int32]]:
        """Return the parts to predict: ``valid``, unless it is empty, and ``test``."""
        return {**({"valid": self.valid} if len(self.valid) else {}), "test": self.test}

    def __repr__(self) -> str:
        sizes = f"{self.train.num_triples:,} train, {len(self.valid):,} valid, {len(self.test):,} test"
        return f"TripleSplit({shortened(self.train.name)}, {shortened(self.name)}: {sizes})"

    def _repr_html_(self) -> str:
        facts = {
            "how": self.name,
            "train": self.train.num_triples,
            "valid": len(self.valid),
            "test": len(self.test),
        }
        return facts_html(f"TripleSplit of {self.train.name}", facts)


def published(name: str) -> TripleSplit:
    """Return the split that a data set is published with."""
    card = datasets.get(name)
    if card.read_parts is None:
        raise InputError(f"{name} is not a knowledge graph")
    unseen = None if card.read_unseen is None else card.read_unseen()
    return from_parts(card.read_parts(), unseen, name, f"published ({name})")


def from_folder(folder: Path, inductive: bool | None = None) -> TripleSplit:
    """Read the split in a folder: ``train.txt``, ``valid.txt`` (may be missing) and ``test.txt``.

    Args:
        folder: the folder X. For an inductive split, the folder ``X_ind`` beside it has three such files on
            other entities.
        inductive: whether to read ``X_ind``; None: if it is there.
    """
    place = Path(folder)
    files = folder_files(place)
    if files is None:
        raise InputError(missing_files(place))
    # A path such as "." has no name of its own.
    name = place.resolve().name
    beside = place.resolve().with_name(name + UNSEEN)
    others = folder_files(beside) if inductive is not False else None
    if inductive and others is None:
        missing = f"there is no folder {beside.name} with train.txt and test.txt beside it"
        raise InputError(f"{place} is not inductive: {missing}")
    seen = read_parts(files)
    unseen = None if others is None else read_parts(others, seen.relations)
    return from_parts(seen, unseen, name, f"files in {name}")


def from_parts(seen: TripleParts, unseen: TripleParts | None, name: str, title: str) -> TripleSplit:
    """Return the split of a data set's parts.

    Args:
        seen: the parts on the entities of the training graph.
        unseen: for an inductive split, the parts on other entities: facts, further facts, and test triples.
        name: the name of the graph.
        title: how the split was made.
    """
    notes = (*seen.notes, *(() if unseen is None else unseen.notes))
    relations = seen.relations if unseen is None else unseen.relations
    train = KnowledgeGraph(seen.parts["train"], seen.entities, relations, name)
    valid = seen.parts.get("valid", NONE)
    if unseen is None:
        made = TripleSplit(train, valid, seen.parts["test"], title, notes=notes)
        return replace(made, notes=(*notes, *_unseen(made)))
    facts = KnowledgeGraph(unseen.parts["train"], unseen.entities, relations, f"{name}{UNSEEN}")
    shared = sorted(set(seen.entities).intersection(unseen.entities))
    if shared:
        few = ", ".join(map(plain, shared[:NAMED])) + (", …" if len(shared) > NAMED else "")
        count = (
            f"{len(shared)} entities of the test graph are"
            if len(shared) > 1
            else "one entity of the test graph is"
        )
        notes = (*notes, f"{count} also in the training graph: {few}")
    new = len(relations) - len(seen.relations)
    if new:
        count = (
            "one relation of the test graph has" if new == 1 else f"{new} relations of the test graph have"
        )
        notes = (*notes, f"{count} no training triple")
    known = unseen.parts.get("valid", NONE)
    new_ends = np.asarray(~np.isin(unseen.parts["test"][:, [0, 2]], facts.triples[:, [0, 2]]).all(axis=1))
    if new_ends.any():
        notes = (*notes, f"{_count(new_ends, 'test')} an entity without a fact in the test graph")
    return TripleSplit(train, valid, unseen.parts["test"], title, facts, known, notes)


def random_split(
    graph: KnowledgeGraph, ratios: Sequence[float] = (0.8, 0.1, 0.1), seed: int = 0
) -> TripleSplit:
    """Divide the triples of a graph at random, so that every entity and relation has a training triple.

    Args:
        graph: the whole graph.
        ratios: the shares of train, valid and test, which sum to 1. If too many triples are needed for
            training, the other parts are smaller.
        seed: the same seed gives the same parts on every machine.
    """
    shares = check_ratios(ratios, "random_split")
    counts = [share_of(share, graph.num_triples) for share in shares[1:]]
    order = generator(seed, "split", "triples").permutation(graph.num_triples)
    shuffled = graph.triples[order]
    # The first triple of each entity and relation, in random order, stays in training.
    needed = np.zeros(len(order), dtype=np.bool_)
    ends = np.column_stack([shuffled[:, 0], shuffled[:, 2]]).reshape(-1)
    for values, width in ((ends, 2), (shuffled[:, 1], 1)):
        _, first = np.unique(values, return_index=True)
        needed[first // width] = True
    free = shuffled[~needed]
    if len(free) < sum(counts):
        counts = [len(free) * count // sum(counts) for count in counts]
    if not counts[1]:
        raise InputError(
            f"{graph.name} leaves no triple to test on: {int(needed.sum())} of {graph.num_triples} triples"
            " are needed so that every entity and relation has a training triple"
        )
    valid, test = free[: counts[0]], free[counts[0] : sum(counts)]
    train = graph.with_triples(np.concatenate([shuffled[needed], free[sum(counts) :]]))
    name = "random " + "/".join(f"{100 * share:g}" for share in shares) + f", seed {seed}"
    return TripleSplit(train, valid, test, name)


def checked_split(split: TripleSplit) -> TripleSplit:
    """Return a split whose triples fit its graphs, or raise an InputError: anybody may have made it."""
    facts = split.train if split.facts is None else split.facts
    if facts.num_entities < 2:
        raise InputError(f"{facts.name} has one entity: there is nothing to rank")
    if facts.relations != split.train.relations:
        raise InputError(f"{facts.name} must have the relations of {split.train.name}, in the same order")
    if split.facts is not None:
        # They are saved one per line.
        odd = next((name for name in facts.entities if "\n" in name or not _is_text(name)), None)
        if odd is not None:
            raise InputError(f"{facts.name}: the name {shown(odd)} has a line break or is not text")
    parts = {}
    for name, graph in (("valid", split.train), ("test", facts), ("known", facts)):
        what = f"{name} triples"
        parts[name] = as_triples(getattr(split, name), graph.num_entities, graph.num_relations, what)
        order = triple_order(parts[name])
        again = repeated(parts[name][order])
        if name != "known" and again.any():
            raise InputError(f"{what}, row {order[again].min()}: the triple occurs again")
    if not len(parts["test"]):
        raise InputError("the split has no test triples")
    return replace(split, valid=parts["valid"], test=parts["test"], known=parts["known"])


def check_disjoint(split: TripleSplit) -> None:
    """Raise an InputError if a part has a triple of another one: it would be no prediction."""
    facts = split.train if split.facts is None else split.facts
    pairs: Mapping[tuple[str, str], tuple[NDArray[np.int32], NDArray[np.int32]]] = {
        ("valid", "train"): (split.valid, split.train.triples),
        ("test", "train" if split.facts is None else "the test graph"): (split.test, facts.triples),
    }
    if split.facts is None:
        pairs = {**pairs, ("test", "valid"): (split.test, split.valid)}
    for (part, other), (triples, taken) in pairs.items():
        same = contained(triples, taken)
        if same.any():
            graph = facts if part == "test" else split.train
            head, relation, tail = triples[int(same.argmax())]
            names = graph.entities[head], graph.relations[relation], graph.entities[tail]
            named = f"({', '.join(map(plain, names))})"
            count = int(same.sum())
            found = f"{count} of {len(triples)} {part} triples {'is' if count == 1 else 'are'} in {other} too"
            raise InputError(f"{found}: {named}{'' if count == 1 else ' is one'}")


def _unseen(split: TripleSplit) -> tuple[str, ...]:
    """Return a sentence on each part with entities or relations that have no training triple."""
    train = split.train.triples
    entities = np.zeros(split.train.num_entities, dtype=np.bool_)
    entities[train[:, [0, 2]]] = True
    relations = np.zeros(split.train.num_relations, dtype=np.bool_)
    relations[train[:, 1]] = True
    notes = []
    for part, triples in split.parts.items():
        new = np.asarray(~entities[triples[:, [0, 2]]].all(axis=1))
        if new.any():
            notes.append(f"{_count(new, part)} an entity without a training triple")
        odd = ~relations[triples[:, 1]]
        if odd.any():
            notes.append(f"{_count(odd, part)} a relation without a training triple")
    return tuple(notes)


def _count(chosen: NDArray[np.bool_], part: str) -> str:
    number = int(chosen.sum())
    return f"one {part} triple has" if number == 1 else f"{number} {part} triples have"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
