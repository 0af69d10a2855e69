"""Files with scores of typed links: a source, a target and, if there are several, the relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.text import TextFile, as_path, open_text, readable, shown
from trueedge.graph import as_pairs
from trueedge.graph.typed import HeteroGraph
from trueedge.metrics.scores import as_scores
from trueedge.scorers.id_readings import most_complete
from trueedge.scorers.pair_titles import title_of_lines
from trueedge.scorers.score_files import (
    NODE_NUMBER,
    TEXT,
    FileScores,
    as_written,
    read_numpy,
    read_scores,
    table,
)
from trueedge.scorers.score_text import read_written


@dataclass(frozen=True, eq=False)
class LinkTable:
    """The links of some relations of a typed graph, as files have them.

    Attributes:
        graph: the typed graph.
        relations: the numbers of the relations.
    """

    graph: HeteroGraph
    relations: tuple[int, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of ids."""
        return ("source", "relation", "target") if len(self.relations) > 1 else ("source", "target")

    @cached_property
    def named(self) -> bool:
        """Return whether nodes have names that are unique in each type."""
        names = self.graph.names
        return names is not None and all(
            len(set(names[begin:end])) == end - begin for begin, end in pairwise(self.graph.starts.tolist())
        )

    @cached_property
    def texts(self) -> Sequence[str]:
        """Return the nodes as files have them: their names if these are unique in each type, or numbers."""
        if self.graph.names is not None and self.named:
            return self.graph.names
        return [str(node) for node in range(self.graph.num_nodes)]

    def rows(self, links: NDArray[np.int64]) -> list[list[str]]:
        """Return links (source, relation, target), int64 (n, 3), as the rows of a file."""
        several = len(self.relations) > 1
        return [
            [self.texts[u], *([self.graph.relations[number].name] if several else []), self.texts[v]]
            for u, number, v in links.tolist()
        ]

    def pairs(self, links: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a pair of numbers for each link, int64 (n, 2), which say its direction and relation too."""
        place = np.zeros(self.graph.num_relations, dtype=np.int64)
        place[list(self.relations)] = np.arange(len(self.relations))
        count = self.graph.num_nodes
        first = place[links[:, 1]] * count + links[:, 0]
        return np.column_stack([first, len(self.relations) * count + links[:, 2]])

    @cached_property
    def labels(self) -> Sequence[str]:
        """Return what each number in :meth:`pairs` stands for."""
        if len(self.relations) == 1:
            return tuple(self.texts) * 2
        return _Ends(self.texts, tuple(self.graph.relations[number].name for number in self.relations))

    def find(
        self,
        ids: Sequence[str],
        width: int,
        needed: NDArray[np.int64],
        where: Callable[[int], str],
        named: bool = False,
    ) -> NDArray[np.int64]:
        """Return the links of ids as they are written, int64 (n, 3).

        Ids that are the names of some nodes and the numbers of others are read in the way that gives more of
        the links needed, and refused if both give as many.

        Args:
            ids: the ids of all rows, row by row.
            width: how many ids a row has: 2, or 3 with the relation in the middle.
            needed: the links that need a score, int64 (m, 3).
            where: names a row in errors.
            named: whether they are names wherever they can be.
        """
        ends = ids[::width], ids[width - 1 :: width]
        count = len(ends[0])
        numbers = self._relations(ids[1::width], where) if width == 3 else list(self.relations) * count
        by_name = self._by_name(ends, numbers)
        complete = bool((by_name >= 0).all())
        if complete and (named or not self.named):
            return by_name
        by_number = self._by_number(ends, numbers)
        if by_number is None:
            if complete:
                return by_name
            row, column = map(int, np.argwhere(by_name < 0)[0])
            raise InputError(f"{where(row)}: no node is called {shown(ends[column // 2][row])}")
        if not complete:
            return by_number
        best = most_complete([self._keys(links) for links in (by_name, by_number)], self._keys(needed))
        differ = np.argwhere(by_name != by_number)
        if len(best) == 2 and len(differ):
            row, column = map(int, differ[0])
            raise InputError(
                f"{where(row)}: {shown(ends[column // 2][row])} is the number of node"
                f" {by_number[row, column]} and the name of node {by_name[row, column]}, and the file has as"
                " many of the scores needed either way: keep to the pairs that 'trueedge pairs' writes"
            )
        return (by_name, by_number)[best[0]]

    def _by_name(self, ends: tuple[Sequence[str], Sequence[str]], numbers: list[int]) -> NDArray[np.int64]:
        """Return the links between two ends that are named, int64 (n, 3); unknown nodes are -1."""
        found = np.empty((len(numbers), 3), dtype=np.int64)
        found[:, 1] = numbers
        for column, end, written in zip((0, 2), ("source", "target"), ends, strict=True):
            kinds = [getattr(self.graph.relations[number], end) for number in numbers]
            found[:, column] = [
                self._places[kind].get(text, -1) for kind, text in zip(kinds, written, strict=True)
            ]
        return found

    def _by_number(
        self, ends: tuple[Sequence[str], Sequence[str]], numbers: list[int]
    ) -> NDArray[np.int64] | None:
        """Return the links between two ends that are numbered, int64 (n, 3); None if any is no number."""
        count = self.graph.num_nodes
        if not all(NODE_NUMBER.fullmatch(one) and int(one) < count for end in ends for one in end):
            return None
        found = np.empty((len(numbers), 3), dtype=np.int64)
        found[:, 1] = numbers
        found[:, 0], found[:, 2] = ([int(one) for one in written] for written in ends)
        return found

    def _keys(self, links: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a number for each link, int64 (n,)."""
        ends = self.pairs(links)
        wide = (len(self.relations) + 1) * self.graph.num_nodes
        return np.asarray(ends[:, 0] * wide + ends[:, 1])

    @cached_property
    def known(self) -> frozenset[str]:
        """Return what nodes are called in files."""
        return frozenset(self.texts)

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        """Return the node of each name, for each type."""
        starts = self.graph.starts.tolist()
        return [{self.texts[node]: node for node in range(begin, end)} for begin, end in pairwise(starts)]

    def _relations(self, names: Sequence[str], where: Callable[[int], str]) -> list[int]:
        named = {self.graph.relations[number].name: number for number in self.relations}
        known = {str(number): number for number in self.relations} | named
        for row, name in enumerate(names):
            if name not in known:
                others = ", ".join(map(repr, named))
                raise InputError(f"{where(row)}: no relation is called {shown(name)}, there are {others}")
        return [known[name] for name in names]


@dataclass(frozen=True)
class _Ends(Sequence[str]):
    """The names of sources with each relation, and then those of targets."""

    texts: Sequence[str]
    relations: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts) * (len(self.relations) + 1)

    def __getitem__(self, number: Any) -> Any:
        place, node = divmod(int(number), len(self.texts))
        text = self.texts[node]
        return text if place == len(self.relations) else f"{text}, {self.relations[place]}"


def read_link_scores(path: str | Path, links: LinkTable, needed: NDArray[np.int64]) -> FileScores:
    """Read a file of scores of typed links, as :func:`read_scores` reads those of pairs.

    Args:
        path: a text file with the columns of ``links`` and a score, in any order of lines, or with one score
            per line below the first line of the file that ``trueedge pairs`` wrote; a ``.npy`` array (n, 3)
            of nodes and scores; or a ``.npz`` file of such arrays. A relation may be named or numbered, and
            so may nodes.
        links: the links that there may be.
        needed: the links that need a score, int64 (m, 3).
    """
    path = as_path(path, "read_link_scores")
    name = readable(path.name)
    if path.suffix in (".npy", ".npz") and path.is_file():
        pairs, scores, _, title = read_numpy(path)
        if pairs is None:
            return read_scores(path)
        if len(links.relations) > 1:
            raise _no_relation(name, links)
        if links.named:
            ids = [as_written(value) for value in pairs.ravel().tolist()]
            found = links.find(ids, 2, needed, lambda row: f"{name}: pairs: row {row}")
        else:
            numbers = as_pairs(pairs, links.graph.num_nodes, f"{name}: pairs")
            found = np.insert(numbers, 1, links.relations[0], axis=1)
        return table(name, links.pairs(found), as_scores(scores, f"scores in {name}"), links.labels, title)
    if path.with_suffix("" if path.suffix == ".gz" else path.suffix).suffix in TEXT and path.is_file():
        text = open_text(path)
        # The relation may be there although there is only one.
        for width in range(len(links.columns), 4):
            lines = _read_lines(path, text, links, needed, width)
            if lines is not None:
                return lines
        if len(links.relations) > 1 and read_written(text, 2, links.known) is not None:
            raise _no_relation(name, links)
    read = read_scores(path)
    if read.in_order is None:
        raise _no_relation(name, links)
    return read


def _read_lines(
    path: Path, text: TextFile, links: LinkTable, needed: NDArray[np.int64], width: int
) -> FileScores | None:
    """Return the scores behind as many ids in each line; None if lines have other columns."""
    written, name = read_written(text, width, links.known), readable(path.name)
    if written is None:
        return None
    title = title_of_lines(text.lines)
    # Files that 'trueedge pairs' wrote, and that say so, have names.
    found = links.find(
        written.ids, width, needed, lambda row: f"{path}, line {written.lines[row]}", title is not None
    )
    scores = as_scores(written.scores, f"scores in {name}")
    return table(name, links.pairs(found), scores, links.labels, title)


def _no_relation(name: str, links: LinkTable) -> InputError:
    return InputError(f"{name} does not name relations: write lines {','.join(links.columns)},score")
