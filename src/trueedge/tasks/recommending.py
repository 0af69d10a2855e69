"""The lists themselves: the best items for some users, or the best partners of some nodes."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_whole, whole_number
from trueedge.graph import Graph
from trueedge.graph.bipartite import names_by_side
from trueedge.metrics.scores import as_floats
from trueedge.metrics.units import plural
from trueedge.negatives import full
from trueedge.randomness import derive
from trueedge.scorers.fitted import task_of
from trueedge.scorers.named_ids import NamedIds
from trueedge.scorers.scorer import dimensions_of, score_pairs, scorer_name
from trueedge.tasks.base import GraphTask, Task
from trueedge.tasks.full_ranking import SCORES_IN_A_BLOCK, CandidateLists, ask_for_all, rank_all
from trueedge.tasks.items import ItemTask
from trueedge.tasks.link import LinkTask
from trueedge.tasks.list_files import write_lists
from trueedge.tasks.recommend import PAIRS_IN_A_BLOCK, RecommendTask, known_and_own_side

SHOWN_USERS = 3
SHOWN_ITEMS = 5
# Names of entities that tell a reader nothing: numbers, and the ids of Freebase, Wikidata and the web.
ID = re.compile(r"[Qe]?\d+|/?[mg][./][0-9a-z_]+|https?://\S+|<\S+>")


@dataclass(frozen=True, eq=False)
class UserList:
    """The list of one user, best item first.

    Attributes:
        user: the user's number.
        name: the user's name, or the number as text.
        items: int32 (n,), the items.
        scores: float (n,), their scores.
        names: the names of the items, or their numbers as text.
        titles: what the knowledge graph calls the items, if it has other names; else empty.
    """

    user: int
    name: str
    items: NDArray[np.int32]
    scores: NDArray[Any]
    names: tuple[str, ...]
    titles: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        said = [
            f"{name} ({score:.4g})"
            for name, score in zip((self.titles or self.names)[:SHOWN_ITEMS], self.scores, strict=False)
        ]
        more = ", …" if len(self) > SHOWN_ITEMS else ""
        return f"{self.name}: {', '.join(said) or 'nothing'}{more}"


@dataclass(frozen=True, eq=False)
class Recommendations:
    """A list of items for each of some users; iterate over it for a :class:`UserList` each.

    A list is shorter than k if there are fewer items that its user is not known to have.

    Attributes:
        users: int32 (n,), the users.
        items: int32 arrays, the items of each user, best first.
        scores: float arrays, the scores of these.
        user_ids: the names of all users.
        item_ids: the names of all items.
        titles: what the knowledge graph calls each item, if it has other names; else empty.
        task: the data set, the protocol and the seed, in words.
    """

    users: NDArray[np.int32]
    items: tuple[NDArray[np.int32], ...]
    scores: tuple[NDArray[Any], ...]
    user_ids: NamedIds
    item_ids: NamedIds
    titles: tuple[str, ...] = ()
    task: str = ""

    def __len__(self) -> int:
        return len(self.users)

    def __iter__(self) -> Iterator[UserList]:
        return (self._list(place) for place in range(len(self)))

    def of(self, user: int | str) -> UserList:
        """Return the list of a user, by number or name."""
        found = np.flatnonzero(self.users == self.user_ids.id_of(user))
        if not len(found):
            raise InputError(f"there is no list for {self.user_ids.noun} {user}")
        return self._list(int(found[0]))

    def columns(self) -> dict[str, list[Any]]:
        """Return the lists as columns, a row for each item of a user: user, place (from 1), item, score.

        Users and items are names if there are any, else numbers. The last column is ``title`` if the
        knowledge graph has other names for the items. Nodes of a plain graph are ``node`` and ``partner``.
        """
        first, second = self.user_ids, self.item_ids
        titled = [number for row in self.items for number in row.tolist()]
        found: dict[str, list[Any]] = {
            first.noun: [
                _said(first, user)
                for user, row in zip(self.users.tolist(), self.items, strict=True)
                for _ in row
            ],
            "place": [place for row in self.items for place in range(1, len(row) + 1)],
            second.noun if second.noun != first.noun else "partner": [_said(second, one) for one in titled],
            # A float32 in its own digits: 0.1, not 0.10000000149.
            "score": [float(str(score)) for row in self.scores for score in row],
        }
        return {**found, "title": [self.titles[one] for one in titled]} if self.titles else found

    def to_pandas(self) -> Any:
        """Return the :meth:`columns` as a data frame."""
        try:
            pandas: Any = importlib.import_module("pandas")
        except ImportError:
            raise InputError("to_pandas needs pandas: pip install pandas, or use columns()") from None
        return pandas.DataFrame(self.columns())

    def save(self, path: str | Path) -> Path:
        """Write the :meth:`columns` to a ``.csv``, ``.json`` or ``.parquet`` file."""
        return write_lists(self.columns(), path)

    def __repr__(self) -> str:
        most = max(map(len, self.items), default=0)
        count = f"{len(self):,} {self.user_ids.noun}{'' if len(self) == 1 else 's'}"
        noun = f"{self.item_ids.noun}{'' if most == 1 else 's'}"
        return f"Recommendations({self.task}: up to {most} {noun} for {count})"

    def __str__(self) -> str:
        shown = [f"  {one!r}" for one, _ in zip(self, range(SHOWN_USERS), strict=False)]
        return "\n".join([repr(self), *shown, *(["  …"] if len(self) > SHOWN_USERS else [])])

    def _list(self, place: int) -> UserList:
        items = self.items[place]
        user = int(self.users[place])
        return UserList(
            user,
            self.user_ids.name_of(user),
            items,
            self.scores[place],
            tuple(self.item_ids.name_of(one) for one in items.tolist()),
            tuple(self.titles[one] for one in items.tolist()) if self.titles else (),
        )


def recommend(
    scorer: object,
    users: int | str | Iterable[int | str] | None = None,
    k: int = 10,
    task: Task | None = None,
) -> Recommendations:
    """Return the best items for some users, without those they are known to have.

    These are the items of the training and of the validation part. Equal scores are in a random order, the
    same as in an evaluation. On a plain graph, the lists hold the best partners of nodes; in a bipartite one,
    those on the other side.

    Args:
        scorer: what a method's ``fit`` returned, or anything that ``task.evaluate`` takes.
        users: a user's number or name, or several; None for all users. A text is a name; in a bipartite graph
            where both sides have a node ``1``, it means the one of the first side.
        k: the length of a list; it is shorter if there are fewer items.
        task: the task; not needed for what ``fit`` returned.
    """
    k = whole_number("k", "recommend", k, 1)
    lists = _lists_of(_task_for(scorer, task), scorer)
    asked = _asked(users, lists.users)
    k = min(k, lists.items.count)
    items: list[NDArray[np.int32]] = []
    scores: list[NDArray[Any]] = []
    step = max(1, lists.scores_in_a_block // max(1, lists.items.count))
    for first in range(0, len(asked), step):
        block = asked[first : first + step]
        for row, best in zip(*_best(lists, block, k), strict=True):
            kept = best >= 0
            items.append(best[kept])
            scores.append(row[kept])
    return Recommendations(
        asked.astype(np.int32),
        tuple(items),
        tuple(scores),
        lists.users,
        lists.items,
        lists.titles,
        lists.where,
    )


class _Lists(Protocol):
    """Where lists come from: who asks, what is listed, its scores, and what is left out."""

    users: NamedIds
    items: NamedIds
    titles: tuple[str, ...]
    where: str
    name: str
    key: int
    scores_in_a_block: int

    def table(self, users: NDArray[np.int64]) -> NDArray[Any]:
        """Return the scores of all items for some users, (n, items)."""
        ...

    def known(self, users: NDArray[np.int64]) -> CandidateLists:
        """Return the items that are left out for some users."""
        ...


def _best(lists: _Lists, users: NDArray[np.int64], k: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the scores and the items (n, k) of some users, best first; -1 where there are fewer."""
    table = as_floats(lists.table(users))
    nothing = CandidateLists(np.zeros(len(users) + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    best = rank_all(
        lambda _: table,
        users,
        lists.items.count,
        lists.known(users),
        nothing,
        k,
        lists.key,
        lists.name,
        in_a_block=table.size,
    ).top
    return np.take_along_axis(table, np.maximum(best, 0).astype(np.int64), axis=1), best


def _lists_of(task: Task, scorer: object) -> _Lists:
    if isinstance(task, ItemTask):
        return _ItemLists(task, scorer)
    if isinstance(task, (LinkTask, RecommendTask)):
        return _PartnerLists(task, scorer)
    raise InputError(f"recommend needs a task on interactions or on a plain graph, got {task}")


def _task_for(scorer: object, task: Task | None) -> Task:
    if task is not None:
        if not isinstance(task, Task):
            raise InputError(f"recommend: task must be a task, got {type(task).__name__}")
        return task
    if hasattr(scorer, "fit") and hasattr(scorer, "settings"):
        raise InputError(f"the method {scorer_name(scorer)!r} has not been fitted: give what its fit returns")
    found = task_of(scorer)
    if not isinstance(found, Task):
        raise InputError(
            f"recommend does not know whose users and items {scorer_name(scorer)} scores: give its task="
        )
    return found


def _asked(users: object, known: NamedIds) -> NDArray[np.int64]:
    if users is None:
        return np.arange(known.count, dtype=np.int64)
    if isinstance(users, str) or is_whole(users):
        return np.array([known.id_of(users)], dtype=np.int64)
    if not isinstance(users, Iterable):
        raise InputError(f"{plural(known.noun)} are numbers or names, got {type(users).__name__}")
    return np.array([known.id_of(one) for one in users], dtype=np.int64)


def _said(ids: NamedIds, number: int) -> int | str:
    return number if ids.names is None else ids.names[number]


class _ItemLists:
    """Lists of items for users."""

    scores_in_a_block = SCORES_IN_A_BLOCK

    def __init__(self, task: ItemTask, scorer: object) -> None:
        data = task.graph
        self.users = NamedIds("user", data.users, data.num_users)
        self.items = NamedIds("item", data.items, data.num_items)
        self.titles = _titles(task)
        self.where, self.key = _where(task), derive(task.seed, "ties")
        self._bound = task.bind(scorer, "test")
        self.name = scorer_name(self._bound)
        self._known = task.known("test")

    def table(self, users: NDArray[np.int64]) -> NDArray[Any]:
        """Return the scores of all items for some users."""
        return ask_for_all(self._bound, users, self.items.count, ("users", "items"))

    def known(self, users: NDArray[np.int64]) -> CandidateLists:
        """Return the training and validation items of some users."""
        return self._known.of(users)


class _PartnerLists:
    """Lists of nodes for nodes: the most likely new neighbours."""

    scores_in_a_block = PAIRS_IN_A_BLOCK
    titles: tuple[str, ...] = ()

    def __init__(self, task: GraphTask, scorer: object) -> None:
        short = names_by_side(task.graph) or ()
        self.users = self.items = NamedIds("node", task.graph.labels, task.num_nodes, short)
        self.where, self.key = _where(task), derive(task.seed, "ties")
        self._bound = task.bind(scorer, "test")
        self.name = scorer_name(self._bound)
        self._graph = _known_graph(task)

    def table(self, users: NDArray[np.int64]) -> NDArray[Any]:
        """Return the scores of all nodes for some nodes; pairs that are known are not asked for."""
        if dimensions_of(self._bound) != (1,):
            return ask_for_all(self._bound, users, self.items.count, ("nodes", "nodes"))
        found = full(self._graph, users, sides=self._graph.sides)
        rows = np.repeat(np.arange(len(users)), np.diff(found.indptr))
        table = np.zeros((len(users), self.items.count))
        pairs = np.column_stack([users[rows], found.candidates.astype(np.int64)])
        table[rows, found.candidates] = score_pairs(self._bound, pairs)
        return table

    def known(self, users: NDArray[np.int64]) -> CandidateLists:
        """Return the neighbours of some nodes, the nodes themselves, and in bipartite graphs their side."""
        found = CandidateLists(self._graph.indptr, self._graph.indices).of(users)
        starts = found.starts + np.arange(len(users) + 1)
        known = CandidateLists(starts, np.insert(found.candidates, found.starts[:-1], users).astype(np.int32))
        sides = self._graph.sides
        return known if sides is None else known_and_own_side(known, users, sides)


def _titles(task: ItemTask) -> tuple[str, ...]:
    """Return what the knowledge graph calls the items, unless it only repeats their names or has ids."""
    data = task.graph
    if data.knowledge is None:
        return ()
    found = data.knowledge.entities[: data.num_items]
    if found == data.items or 2 * sum(ID.fullmatch(name) is not None for name in found) > len(found):
        return ()
    return found


def _known_graph(task: Any) -> Graph:
    """Return the graph whose edges are not recommended: training and validation edges."""
    if isinstance(task, RecommendTask):
        return task.known("test")
    graph: Graph = task.graph
    return graph.with_edges(task.part("valid").positives) if "valid" in task.part_names else graph


def _where(task: Task) -> str:
    return f"{task.dataset}, {task.protocol}, seed {task.seed}"
