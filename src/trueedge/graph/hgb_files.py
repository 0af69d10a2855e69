"""Typed graphs in the format of the Heterogeneous Graph Benchmark (HGB): a folder or a zip archive.

Lv et al., Are We Really Making Much Progress? Revisiting, Benchmarking, and Refining Heterogeneous Graph
Neural Networks, KDD 2021.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trueedge.files.text_folders import has_files
from trueedge.graph.freezing import FrozenFields
from trueedge.graph.hgb_content import MARKS, LabelledPairs, Pairs, read_content
from trueedge.graph.typed import HeteroGraph


@dataclass(frozen=True, eq=False)
class HgbData(FrozenFields):
    """A typed graph with what was published for its evaluation.

    Attributes:
        graph: the graph, without test links; its labels include those of the test part.
        test_links: int32 (n, 2) by relation: the published test links.
        test_pairs: pairs, int32 (n, 2), and whether each is a link, bool (n,), by relation: the published
            test links with their negatives.
        valid_pairs: the same for the validation part.
        notes: what a user should know of the files, one sentence each.
    """

    graph: HeteroGraph
    test_links: Mapping[int, Pairs] = field(default_factory=dict)
    test_pairs: Mapping[int, LabelledPairs] = field(default_factory=dict)
    valid_pairs: Mapping[int, LabelledPairs] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_hgb(path: str | os.PathLike[str]) -> HgbData:
    """Read a folder or zip archive in HGB's format.

    ``link.dat`` is needed. The other files may be missing: ``info.dat``, ``label.dat``, ``label.dat.test``,
    ``link.dat.test``, ``NAME_ini_RELATION_label.txt`` with published test pairs, and also ``node.dat``, if
    ``info.dat`` states the types that each relation connects. An archive may have the files at its top or in
    a folder.

    Args:
        path: the folder or archive.
    """
    found = read_content(path)
    graph = HeteroGraph(**found.graph)
    return HgbData(graph, found.test_links, found.test_pairs, notes=graph.notes)


def is_hgb(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder or zip archive with files in HGB's format."""
    return isinstance(path, (str, os.PathLike)) and has_files(Path(path), MARKS)
