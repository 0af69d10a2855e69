"""A board to try: built-in methods on embedded graphs, a hidden task, and a token."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trueedge import tasks
from trueedge.leaderboard.board import Board, EntryCard
from trueedge.leaderboard.board.board import today
from trueedge.leaderboard.board.reproducing import run_again
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.server.running import opened
from trueedge.leaderboard.server.tokens import add_token
from trueedge.results import Store
from trueedge.results.certificate import certify
from trueedge.runs import run

BOARDS = (("karate", "existing", 3), ("cora", "existing", 3), ("cora", "degree-corrected", 3))
METHODS = ("ra", "aa", "cn", "jaccard", "katz", "pa", "ppr")
HIDDEN = ("cora", "uniform")
TEAM = "demo"


@dataclass(frozen=True)
class Demo:
    """A demonstration.

    Attributes:
        board: the folder of its board.
        hidden: the name of its hidden task.
        public: the public folder of that task.
        secrets: the folder of hidden labels.
        token: a token of the team ``demo``.
    """

    board: Path
    hidden: str
    public: Path
    secrets: Path
    token: str


def make_demo(
    folder: Path, methods: tuple[str, ...] = METHODS, boards: tuple[tuple[str, str, int], ...] = BOARDS
) -> Demo:
    """Make a board of built-in methods in a folder.

    Args:
        folder: an empty folder.
        methods: the methods' names.
        boards: data set, protocol and number of seeds of each task.
    """
    board = Board.create(folder / "board", "Demonstration")
    store = Store(folder / "runs")
    for dataset, protocol, seeds in boards:
        frozen = [tasks.task(dataset, protocol, seed) for seed in range(seeds)]
        made = board.add_task(frozen)
        for method in methods:
            paths = []
            for seed in range(seeds):
                record = run(dataset, protocol, method, seed=seed, store=store, keep_scores=True)
                path = folder / "certificates" / f"{made.name}-{method}-{seed}.json"
                paths.append(certify(record, path, store))
            card = EntryCard(name=method, authors=("trueedge",), licence="MIT")
            entry = board.add(paths, card, made.name)
            # Only entries that were run again are ranked.
            run_again(entry, made, TEAM, today(), seed=0, source=frozen[0])
    dataset, protocol = HIDDEN
    hidden = hide(
        partial(tasks.task, dataset, protocol),
        folder / "public",
        folder / "secrets" / "one",
        board=board,
        name=f"{dataset}-hidden",
    )
    _, engine, _ = opened(board.folder)
    token = add_token(engine, TEAM)
    engine.dispose()
    return Demo(board.folder, hidden.card.name, hidden.folder, folder / "secrets", token)
