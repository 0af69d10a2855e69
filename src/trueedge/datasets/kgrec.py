"""Interactions of users with items, and knowledge graphs about the items, in their authors' formats."""

from __future__ import annotations

from functools import partial

from trueedge.datasets.dataset import Dataset, SourceFile, checksums, register, table
from trueedge.datasets.sources import locate_all
from trueedge.graph.interaction_files import read_files
from trueedge.graph.interactions import Interactions


def read(name: str, sources: tuple[SourceFile, ...], format: str) -> Interactions:
    """Read the files of a data set; no other file of their folder counts."""
    found = locate_all(sources, name)
    files = {path.name: path for path in found.values()}
    return Interactions.from_list(read_files(files, format, name), name)


def _register(row: dict[str, str]) -> None:
    name, folder = row["name"], row["folder"]
    note = f"no program can download it: {row['source']} says where the data comes from"
    paths = [f"kgrec/{folder}/{file}" for file in row["files"].split()]
    sources = tuple(SourceFile(path, sha256=checksums().get(path), note=note) for path in paths)
    register(
        Dataset(
            name=name,
            family="kgrec",
            title=row["title"],
            num_nodes=int(row["users"]) + int(row["entities"]),
            num_edges=int(row["interactions"]),
            num_features=0,
            num_users=int(row["users"]),
            num_items=int(row["items"]),
            num_relations=int(row["relations"]),
            num_triples=int(row["triples"]),
            licence=row["licence"],
            source=row["source"],
            citation=row["citation"],
            read=partial(read, name, sources, row["format"]),
            files=sources,
            data="interactions",
            protocol="full-ranking",
        )
    )


for _row in table("kgrec.csv"):
    _register(_row)
