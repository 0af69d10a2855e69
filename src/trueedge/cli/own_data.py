"""What users give beside a graph: features, a split of their own, and whether it is bipartite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from trueedge.cli import showing
from trueedge.errors import InputError, listed
from trueedge.graph import Graph

_PANEL = "Your own graph"
Features = Annotated[
    Path | None,
    typer.Option(
        help="Node features, one row per node: a .npy file, or a .csv file that may have the names of the"
        " nodes in its first column.",
        rich_help_panel=_PANEL,
    ),
]
OwnSplit = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="FOLDER|FILES",
        help="Your own split: a folder with train, valid and test pairs, or the files TRAIN,VALID,TEST. If it"
        " has no training pairs, the graph itself is the training graph.",
        rich_help_panel=_PANEL,
    ),
]
Bipartite = Annotated[
    bool | None,
    typer.Option(
        "--bipartite/--no-bipartite",
        help="Whether the graph is bipartite: the columns of an edge list hold two kinds of nodes, such as"
        " users and items, and all negatives join the two sides.",
        show_default="detected",
        rich_help_panel=_PANEL,
    ),
]


def two_kinds(bipartite: bool | None, words: Sequence[str] | None) -> bool | None:
    """Return whether an edge list has two kinds of nodes, by the flag or by ``--option bipartite=yes``."""
    said = {word.partition("=")[2] for word in words or () if re.fullmatch(r"([\w-]+\.)?bipartite=.*", word)}
    if bipartite is not None or len(said) != 1:
        return bipartite
    return {"yes": True, "no": False}.get(said.pop())


@dataclass(frozen=True)
class OwnData:
    """What was given beside a graph.

    Attributes:
        features: a file of node features.
        split: a folder or files of pairs.
        bipartite: whether negatives join the two sides of the graph; None to detect it.
    """

    features: Path | None = None
    split: str | None = None
    bipartite: bool | None = None

    def words(self, words: Sequence[str] | None, source: Any = None) -> list[str]:
        """Return the options of a protocol, ``key=value``, with what the flags say beyond the source itself.

        If a graph was read with its two sides, ``--bipartite`` adds nothing: tables and records are the same
        with and without it.
        """
        known = self.bipartite is True and getattr(source, "sides", None) is not None
        if self.bipartite is None or known:
            return list(words or ())
        return [*(words or ()), f"bipartite={'yes' if self.bipartite else 'no'}"]

    def of(self, source: Any) -> Any:
        """Return a source with the features and the split; a graph is read if it has to be."""
        if self.features is None and self.split is None:
            return source
        from trueedge.audit.own_benchmark import own_split
        from trueedge.graph.feature_files import with_features
        from trueedge.tasks.protocols import Source
        from trueedge.tasks.protocols.source import NOUNS

        found = Source.of(source)
        graph = found.graph
        if not isinstance(graph, Graph):
            raise InputError(f"{self._flags()} for plain graphs, and {found.name} is {NOUNS[found.data]}")
        if self.features is not None:
            told = graph.notes
            graph = with_features(graph, self.features)
            for sentence in graph.notes[len(told) :]:
                showing.note(sentence)
        # The notes of a split are those of the tasks that are made of it.
        return graph if self.split is None else own_split(graph, self.split)

    def refuse_with(self, task: str) -> None:
        """Refuse what is given beside a saved task."""
        if self != OwnData():
            raise InputError(f"{self._flags()} for graphs, but {task} is a task that is made already")

    def paths(self) -> list[str]:
        """Return the files and folders that are given."""
        return [str(one) for one in (self.features, self.split) if one is not None]

    def _flags(self) -> str:
        named = {"--features": self.features, "--split": self.split, "--bipartite": self.bipartite}
        given = [flag for flag, value in named.items() if value is not None]
        return f"{listed(given)} {'is' if len(given) == 1 else 'are'}"
