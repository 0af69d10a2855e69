"""Knowledge graphs: triples of head, relation and tail, with the names of entities and relations."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be, whole_number
from trueedge.files.text import plain
from trueedge.graph import knowledge_storage
from trueedge.graph.freezing import FrozenFields
from trueedge.graph.triple_files import TripleList, as_triple_list, dropped, name_triples
from trueedge.graph.triples import TailIndex, as_triples, inverse, repeated, triple_order
from trueedge.graph.validation import MAX_NODES, Handling, as_labels, check_labels
from trueedge.html import counted, facts_html, shortened

NAMES_PER_UPDATE = 1 << 16


@dataclass(frozen=True, eq=False)
class KnowledgeGraph(FrozenFields):
    """A set of triples (head, relation, tail). Make one with :meth:`from_triples`.

    The inverse of relation ``r`` is ``r + R``, where ``R`` is the number of relations: (t, r + R, h) says the
    same as (h, r, t).

    Attributes:
        triples: int32 array (m, 3), sorted, each once.
        entities: the name of each entity.
        relations: the name of each relation.
        name: the name of the graph.
        notes: what was done to the input, one sentence each.
    """

    triples: NDArray[np.int32]
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    name: str = "knowledge graph"
    notes: tuple[str, ...] = ()

    @classmethod
    def from_triples(
        cls,
        triples: object,
        num_entities: int | None = None,
        num_relations: int | None = None,
        *,
        entities: Iterable[object] | None = None,
        relations: Iterable[object] | None = None,
        name: str | None = None,
        repeats: Handling = "refuse",
        header: bool | None = None,
    ) -> Self:
        """Build a knowledge graph.

        Args:
            triples: an int array (m, 3); rows of names; a data frame with three columns; or the path of a
                text file with one triple per line (head, relation, tail, separated by tabs).
            num_entities: the number of entities; by default the largest id + 1.
            num_relations: the number of relations; by default the largest id + 1.
            entities: the names of the entities by id; by default those in the triples, in the order of their
                first appearance, or the ids.
            relations: the names of the relations by id.
            name: the name of the graph; by default the file's name.
            repeats: ``"refuse"`` a triple that occurs again, or ``"drop"`` it.
            header: whether the first line of a file names the columns; None detects it.
        """
        if repeats not in ("refuse", "drop"):
            raise must_be("repeats", "KnowledgeGraph.from_triples", "'refuse' or 'drop'", repeats)
        listed = as_triple_list(triples, header)
        # Kept as lists, since an iterator is read once.
        entities, relations = (None if one is None else as_labels(one) for one in (entities, relations))
        names = {"entities": entities, "relations": relations}
        if listed.names is None:
            ids = as_triples(listed.rows)
            counts = _counts(ids, num_entities, num_relations, names)
            ids = as_triples(ids, *counts)
            labels = (_labels(entities, counts[0], "entities"), _labels(relations, counts[1], "relations"))
        else:
            ids, labels = name_triples(listed, entities, relations)
            for key, asked, found in zip(names, (num_entities, num_relations), labels, strict=True):
                if asked is not None and asked != len(found):
                    raise InputError(f"num_{key} is {asked}, but there are {len(found)} {key}")
        return cls._of(ids, labels[0], labels[1], name or listed.title, listed, repeats)

    @classmethod
    def _of(
        cls,
        ids: NDArray[np.int32],
        entities: tuple[str, ...],
        relations: tuple[str, ...],
        name: str,
        listed: TripleList,
        repeats: Handling,
    ) -> Self:
        if not len(ids):
            raise InputError(
                "there are no triples" if listed.lines is None else f"{listed.title} has no triples"
            )
        order = triple_order(ids)
        again = repeated(ids[order])
        notes = listed.notes
        if again.any():
            row = int(order[again].min())
            names = entities[ids[row, 0]], relations[ids[row, 1]], entities[ids[row, 2]]
            triple = ", ".join(map(plain, names))
            if repeats == "refuse":
                raise InputError(
                    f"{listed.place(row)}: ({triple}) occurs again; repeats='drop' keeps one of each triple"
                )
            notes = (*notes, dropped(int(again.sum())))
        return cls(np.ascontiguousarray(ids[order][~again]), entities, relations, name, notes)

    @property
    def num_entities(self) -> int:
        """Return the number of entities."""
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        """Return the number of relations R, without inverse ones."""
        return len(self.relations)

    @property
    def num_triples(self) -> int:
        """Return the number of triples."""
        return len(self.triples)

    @cached_property
    def both_directions(self) -> NDArray[np.int32]:
        """Return the triples, then their inverses (t, r + R, h), int32 (2m, 3)."""
        both = np.concatenate([self.triples, inverse(self.triples, self.num_relations)])
        both.flags.writeable = False
        return both

    @cached_property
    def tails(self) -> TailIndex:
        """Return the tails of each (head, relation), inverse relations included."""
        return TailIndex.of(self.triples, self.num_relations)

    @cached_property
    def out_degrees(self) -> NDArray[np.int64]:
        """Return how many triples each entity is the head of, int64 (entities,)."""
        return np.bincount(self.triples[:, 0], minlength=self.num_entities)

    @cached_property
    def in_degrees(self) -> NDArray[np.int64]:
        """Return how many triples each entity is the tail of, int64 (entities,)."""
        return np.bincount(self.triples[:, 2], minlength=self.num_entities)

    def tail_relation_degrees(
        self, relations: NDArray[np.integer[Any]], tails: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """Return how many triples have the relation and the tail of each pair, int64 (n,).

        Relations may be inverse ones: (r + R, h) counts the triples with head ``h`` and relation ``r``.
        Shomer et al., Toward Degree Bias in Embedding-Based Knowledge Graph Completion, WWW 2023, Eq. 4.2.
        """
        keys, counts = self._tail_relation_counts
        wanted = np.asarray(relations, dtype=np.int64) * self.num_entities + np.asarray(tails, dtype=np.int64)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, counts[place], 0).astype(np.int64)

    @cached_property
    def _tail_relation_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        _, relations, tails = self.both_directions.astype(np.int64).T
        keys, counts = np.unique(relations * self.num_entities + tails, return_counts=True)
        return keys, counts.astype(np.int64)

    def with_triples(self, triples: NDArray[np.int32], name: str | None = None) -> Self:
        """Return a graph of the same entities and relations with other triples; repeated ones count once."""
        ids = as_triples(triples, self.num_entities, self.num_relations)
        listed = TripleList(ids, None, name or self.name)
        made = self._of(ids, self.entities, self.relations, name or self.name, listed, "drop")
        return replace(made, notes=self.notes)

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of the triples and all names."""
        digest = hashlib.sha256(f"knowledge graph {self.num_entities} {self.num_relations}".encode())
        digest.update(np.ascontiguousarray(self.triples, dtype="<i4").tobytes())
        for names in (self.entities, self.relations):
            digest.update(b"|names|")
            for first in range(0, len(names), NAMES_PER_UPDATE):
                digest.update(json.dumps(names[first : first + NAMES_PER_UPDATE]).encode())
        return digest.hexdigest()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph into a folder: ``triples.npy`` and ``graph.json``."""
        knowledge_storage.save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a graph that :meth:`save` wrote, and compare it with its hash."""
        return knowledge_storage.load(cls, Path(folder))

    def __repr__(self) -> str:
        counts = (
            counted(self.num_entities, "entity", "entities"),
            counted(self.num_relations, "relation"),
            counted(self.num_triples, "triple"),
        )
        return f"KnowledgeGraph({shortened(self.name)}: {', '.join(counts)})"

    def _repr_html_(self) -> str:
        facts = {
            "entities": self.num_entities,
            "relations": self.num_relations,
            "triples": self.num_triples,
            "notes": "; ".join(self.notes),
        }
        return facts_html(f"KnowledgeGraph {self.name}", facts)


def _counts(
    ids: NDArray[np.int32], entities: int | None, relations: int | None, names: Mapping[str, object]
) -> tuple[int, int]:
    """Return the numbers of entities and relations: those asked for, those named, or the largest id + 1."""
    found = []
    largest = (ids[:, [0, 2]].max(initial=-1), ids[:, 1].max(initial=-1))
    for key, asked, most in zip(names, (entities, relations), largest, strict=True):
        if asked is not None:
            found.append(whole_number(f"num_{key}", "KnowledgeGraph.from_triples", asked, 1, MAX_NODES))
        else:
            given = names[key]
            found.append(int(most) + 1 if given is None else len(list(given)))  # type: ignore[call-overload]
    return found[0], found[1]


def _labels(names: Iterable[object] | None, count: int, noun: str) -> tuple[str, ...]:
    return tuple(map(str, range(count))) if names is None else check_labels(names, count, noun)
