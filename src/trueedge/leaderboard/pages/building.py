"""Build the site of a board: the same folder gives the same bytes, and what did not change stays."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.whole import write_new
from trueedge.files.writing import check_target, write_text
from trueedge.leaderboard.board.audit_card import read_audit
from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.checking import problems_of_folder, problems_of_task
from trueedge.leaderboard.board.rows import Standing
from trueedge.leaderboard.board.standings import standing_json, standing_of
from trueedge.leaderboard.pages.compare_page import compare_page
from trueedge.leaderboard.pages.downloads import standing_csv
from trueedge.leaderboard.pages.entry_page import entry_page
from trueedge.leaderboard.pages.history_page import history_page
from trueedge.leaderboard.pages.index_page import Summary, index_page, submit_page
from trueedge.leaderboard.pages.parts import has_page, value_text
from trueedge.leaderboard.pages.ranking_page import ranking_pages
from trueedge.leaderboard.pages.shell import shared_files
from trueedge.leaderboard.pages.task_page import task_page
from trueedge.tasks.base import KINDS
from trueedge.version import VERSION

# Beside the board, not in the site: it holds times of files, which differ between machines.
CACHE = ".build.json"
MARK = "trueedge-site.txt"
MARK_TEXT = (
    "This folder is written by 'trueedge leaderboard build': files that it does not know are removed.\n"
)
# The first page names this many of the best entries of a task.
FIRST = 3


@dataclass(frozen=True)
class Built:
    """What a build did.

    Attributes:
        pages: the number of pages of the site.
        reused: the number of tasks that did not change.
        problems: what is wrong with the board; an entry that fails the check is not ranked.
    """

    pages: int
    reused: int
    problems: tuple[str, ...] = ()


def build(board: Board, output: str | Path, jobs: int = 1) -> Built:
    """Write the pages of a board.

    Args:
        board: the board.
        output: the folder of the site: a new one, or one that an earlier build wrote.
        jobs: the number of processes.
    """
    site = Path(output)
    _refuse_foreign(site, board)
    tasks = board.tasks()
    names = [task.name for task in tasks]
    known = _read_cache(board.folder)
    prints = {name: fingerprint(board, name) for name in names}
    kept = {
        name: known[name]
        for name in names
        if name in known
        and known[name].get("print") == prints[name]
        and (site / name / "index.html").is_file()
        and known[name].get("site") == str(site.absolute())
    }
    todo = [name for name in names if name not in kept]
    work = partial(build_task, board.folder, site)
    found = dict(zip(todo, _mapped(work, todo, jobs), strict=True))
    records = {
        name: kept.get(name) or {"print": prints[name], "site": str(site.absolute()), **asdict(found[name])}
        for name in names
    }
    summaries = {name: _summary(records[name]) for name in names}
    texts = {
        **shared_files(),
        MARK: MARK_TEXT,
        "index.html": index_page(board, list(summaries.values())),
        "submit.html": submit_page(board),
        "boards.json": _boards_json(board, summaries),
    }
    for name, text in texts.items():
        write_text(site / name, text, "the site")
    _remove_others(site, {*texts, *names})
    # A board that can only be read is built again each time.
    with suppress(InputError):
        write_text(board.folder / CACHE, json.dumps(records), "the record of the build")
    pages = 2 + sum(int(record["pages"]) for record in records.values())
    problems = [str(one) for one in problems_of_folder(board.folder)]
    for task in tasks:
        # Some depend on other tasks, so that no record of an earlier build has them.
        problems += [str(one) for one in problems_of_task(board.folder, task)]
        problems += records[task.name]["problems"]
    return Built(pages, len(kept), tuple(problems))


@dataclass(frozen=True)
class TaskBuilt:
    """What the first page needs of a task, how many pages it has, and what is wrong with its entries."""

    summary: Summary
    pages: int
    problems: tuple[str, ...] = ()


def build_task(folder: Path, site: Path, name: str) -> TaskBuilt:
    """Write the pages of one task into the site, in the place of its older ones."""
    board = Board.open(folder)
    task = board.task(name)
    standing = standing_of(task, board.entries(task, damaged=True), folder / name)
    draft = site / f".{name}.draft"
    shutil.rmtree(draft, ignore_errors=True)
    (draft / "entries").mkdir(parents=True)
    count = 0
    for path, text in _task_files(board, standing, folder / name):
        write_new(f"{draft}/{path}", text.encode())
        count += path.endswith(".html")
    old = site / f".{name}.old"
    shutil.rmtree(old, ignore_errors=True)
    if (site / name).exists():
        os.rename(site / name, old)
    os.rename(draft, site / name)
    shutil.rmtree(old, ignore_errors=True)
    return TaskBuilt(_summarised(standing), count, tuple(map(str, standing.problems)))


def _task_files(board: Board, standing: Standing, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and content of each file of a task."""
    yield from ranking_pages(board, standing)
    yield "compare.html", compare_page(board, standing)
    yield "history.html", history_page(board, standing)
    yield "card.html", task_page(board, standing, read_audit(folder))
    yield "standing.json", standing_json(standing)
    yield "standing.csv", standing_csv(standing)
    for place, row in enumerate(standing.rows):
        if not has_page(row):
            continue
        yield f"entries/{row.entry.name}.html", entry_page(board, standing, row, place)


def _summarised(standing: Standing) -> Summary:
    task, ranked = standing.task, standing.ranked
    kind = KINDS.find(task.kind)
    tied = [row for row in ranked if row.places is not None and row.places[0] == 1]
    return Summary(
        name=task.name,
        title=task.title,
        kind=task.kind if kind is None else kind.title,
        headline=task.headline,
        entries=len(standing.entries),
        ranked=len(ranked),
        first=tuple((row.entry.card.name, row.entry.name) for row in tied[:FIRST]),
        tied=len(tied),
        value=value_text(task, ranked[0]) if ranked else "",
        superseded=bool(task.superseded_by),
        untested=task.untested,
        hidden=task.labels_hidden,
    )


def fingerprint(board: Board, name: str) -> str:
    """Return a hash of what the pages of a task depend on.

    That is the names, sizes and times of all its files, the board's title, and this version.
    """
    digest = hashlib.sha256(f"{VERSION} {_code()} {board.title}".encode())
    for place in sorted(_files(board.folder / name)):
        # A name need not be UTF-8.
        digest.update(ascii(place).encode())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    for one in os.scandir(folder):
        if one.name.startswith("."):
            continue
        if one.is_dir(follow_symlinks=False):
            for inner in os.scandir(one.path):
                about = inner.stat(follow_symlinks=False)
                yield f"{one.name}/{inner.name}", about.st_size, about.st_mtime_ns
        else:
            about = one.stat(follow_symlinks=False)
            yield one.name, about.st_size, about.st_mtime_ns


def _code() -> str:
    """Return a hash of the code of the pages: after an update all of them are built again."""
    digest = hashlib.sha256()
    for room in (Path(__file__).parent, Path(__file__).parents[1] / "board"):
        for path in sorted(room.iterdir()):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _mapped(work: partial[TaskBuilt], names: list[str], jobs: int) -> list[TaskBuilt]:
    if jobs == 1 or len(names) < 2:
        return [work(name) for name in names]
    with ProcessPoolExecutor(min(jobs, len(names)), mp_context=get_context("spawn")) as pool:
        return list(pool.map(work, names))


def _read_cache(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what the last build knew; anything else than that builds all again."""
    try:
        found = json.loads((folder / CACHE).read_text())
        return {name: one for name, one in found.items() if isinstance(one, dict) and "problems" in one}
    except (OSError, ValueError, AttributeError):
        return {}


def _summary(record: Mapping[str, Any]) -> Summary:
    values = dict(record["summary"])
    values["first"] = tuple((title, entry) for title, entry in values["first"])
    return Summary(**values)


def _boards_json(board: Board, found: Mapping[str, Summary]) -> str:
    tasks = [{**asdict(one), "first": [entry for _, entry in one.first]} for one in found.values()]
    return json.dumps({"title": board.title, "tasks": tasks}, indent=1, ensure_ascii=False) + "\n"


def _refuse_foreign(site: Path, board: Board) -> None:
    """Refuse a folder with files of others: everything in it that is not of the site is removed."""
    if site.exists() and not site.is_dir():
        raise InputError(f"{site} is a file: the pages are written to a folder")
    check_target(site / "index.html", "the site")
    inside = site.absolute().is_relative_to(board.folder.absolute())
    # A server keeps its pages in a folder that boards ignore, as everything whose name begins with a dot.
    if inside and not str(site.absolute().relative_to(board.folder.absolute())).startswith(".server/"):
        raise InputError(f"{site} is in the board's folder: write the pages to another one")
    if site.is_dir() and any(site.iterdir()) and not (site / MARK).is_file():
        raise InputError(f"the folder {site} is not empty, and not a site of 'trueedge leaderboard build'")


def _remove_others(site: Path, names: set[str]) -> None:
    for one in site.iterdir():
        if one.name not in names and not one.name.startswith(".git"):
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink()
