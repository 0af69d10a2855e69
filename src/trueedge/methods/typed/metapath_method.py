"""The setting of methods that follow meta-paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.typed.label_selection import SelectsByLabels

if TYPE_CHECKING:
    from trueedge.graph.metapaths import MetaPath
    from trueedge.graph.typed import HeteroGraph


@dataclass(frozen=True)
class MetaPathMethod(SelectsByLabels):
    """A method that follows meta-paths: the user's, or published ones, or all short symmetric ones."""

    metapaths: str = setting(
        None,
        "meta-paths separated by commas, as in 'author-paper-author, author-paper-term-paper-author'; a"
        " relation may stand in parentheses between two types; by default as published for the data set, or"
        " all symmetric ones of length 2",
        kind=str,
        optional=True,
    )

    def paths_of(self, graph: HeteroGraph, kind: int) -> list[MetaPath]:
        """Return the meta-paths that begin and end with a node type, of which there must be one."""
        from trueedge.graph.metapaths import symmetric_metapaths

        if self.metapaths is None:
            return list(symmetric_metapaths(graph, kind))
        found = self.given_paths(graph).get(kind, [])
        if not found:
            name = graph.node_types[kind]
            raise InputError(
                f"{self.name}: none of the meta-paths {self.metapaths!r} leads from {name} to {name}"
            )
        return found

    def given_paths(self, graph: HeteroGraph) -> dict[int, list[MetaPath]]:
        """Return the meta-paths of the setting that end with the type they begin with, by that type."""
        from trueedge.graph.metapaths import parse_metapaths

        found: dict[int, list[MetaPath]] = {}
        for path in parse_metapaths(graph, self.metapaths):
            if path.types[0] == path.types[-1]:
                found.setdefault(path.types[0], []).append(path)
        return found
