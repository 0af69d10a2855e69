"""Knowledge graphs: triples in text files, with the split that is used everywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files

import numpy as np

from trueedge.datasets.dataset import Dataset, SourceFile, checksums, register, table
from trueedge.datasets.sources import locate_all
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.triple_files import PARTS, TripleParts, read_parts

NOTE = "its files have no official address of their own"


def whole(name: str, read: Callable[[], TripleParts]) -> KnowledgeGraph:
    """Return the graph of all parts."""
    found = read()
    triples = np.concatenate(list(found.parts.values()))
    return KnowledgeGraph.from_triples(
        triples, entities=found.entities, relations=found.relations, name=name, repeats="drop"
    )


def _read_files(name: str, sources: tuple[SourceFile, ...], relations: tuple[str, ...] = ()) -> TripleParts:
    places = locate_all(sources, name)
    return read_parts({part: places[file.path] for part, file in zip(PARTS, sources, strict=True)}, relations)


def _read_inductive(name: str, seen: tuple[SourceFile, ...], unseen: tuple[SourceFile, ...]) -> TripleParts:
    """Read the parts on unseen entities, with the relations of the training graph."""
    return _read_files(f"{name} (unseen entities)", unseen, _read_files(name, seen).relations)


def _embedded(name: str) -> TripleParts:
    place = files("trueedge.datasets.embedded").joinpath(f"{name}.npz")
    with place.open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
        names = [tuple(str(one) for one in kept[key]) for key in ("entities", "relations")]
        parts = {part: kept[part].astype(np.int32) for part in PARTS}
    return TripleParts(names[0], names[1], parts)


def _sources(folder: str) -> tuple[SourceFile, ...]:
    paths = [f"kg/{folder}/{part}.txt" for part in PARTS]
    return tuple(SourceFile(path, sha256=checksums().get(path), note=NOTE) for path in paths)


def _register(row: dict[str, str]) -> None:
    name, folder = row["name"], row["folder"]
    read: Callable[[], TripleParts]
    seen = _sources(folder) if folder else ()
    unseen = _sources(f"{folder}_ind") if row["inductive"] else ()
    read = partial(_read_files, name, seen) if folder else partial(_embedded, name)
    register(
        Dataset(
            name=name,
            family="kg",
            title=row["title"],
            num_nodes=int(row["entities"]),
            num_edges=int(row["triples"]),
            num_relations=int(row["relations"]),
            num_features=0,
            licence=row["licence"],
            source=row["source"],
            citation=row["citation"],
            read=partial(whole, name, read),
            files=(*seen, *unseen),
            data="inductive triples" if unseen else "triples",
            read_parts=read,
            read_unseen=partial(_read_inductive, name, seen, unseen) if unseen else None,
            protocol="inductive" if unseen else "filtered",
        )
    )


for _row in table("kg.csv"):
    _register(_row)
