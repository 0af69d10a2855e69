"""The standing of a task: every entry with its value and interval, and tie groups of the ranked ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from trueedge.analysis.comparison import FEWEST, interval
from trueedge.errors import InputError, is_number
from trueedge.files.cards import read_json
from trueedge.leaderboard.board.certificates import missing_seeds
from trueedge.leaderboard.board.checking import problems_of_entries
from trueedge.leaderboard.board.entry import JUDGED, RANKED, Entry
from trueedge.leaderboard.board.problem import Problem
from trueedge.leaderboard.board.rows import LEVEL, Row, Standing, letters_text
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.board.unit_files import headline_values
from trueedge.metrics import get as get_metric
from trueedge.statistics.all_pairs import AllPairs, all_pairs
from trueedge.statistics.sample import Sample
from trueedge.statistics.significance import Estimate

__all__ = ["Row", "Standing", "letters_text", "standing_json", "standing_of"]


@dataclass(frozen=True, eq=False)
class _Measured:
    """A row with the values that comparisons need, by the hash of the test part."""

    row: Row
    samples: Mapping[str, Sample] = field(default_factory=dict)
    scores: tuple[str, ...] = ()

    @property
    def splits(self) -> set[str]:
        """Return the hashes of the frozen tasks that it has values of."""
        return {name for one in self.samples.values() for name in one.by_split}


def standing_of(task: BoardTask, entries: Sequence[Entry], folder: Path | None = None) -> Standing:
    """Return the standing of a task; an entry that fails the check has no number, but the reason.

    Args:
        task: the task.
        entries: all its entries.
        folder: the task's folder, for what the judge of a hidden task wrote.
    """
    problems = problems_of_entries(entries, task)
    failed = {name: _failed(found) for name, found in problems.items()}
    if task.labels_hidden:
        found = _judged(task, entries, folder, failed)
    else:
        found = _compared(task, [_measured(task, entry, failed.get(entry.name, "")) for entry in entries])
    for entry in entries:
        entry.kept_values.clear()
    return replace(found, problems=tuple(chain.from_iterable(problems.values())))


def _failed(problems: Sequence[Problem]) -> str:
    """Return why an entry is not ranked: its first problem, and how many more there are."""
    first = problems[0]
    name = first.path.rpartition("/")[2]
    where = f"{name}: " if first.path.count("/") > 1 else ""
    return f"fails the check: {where}{first.sentence}" + (
        f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    )


def _measured(task: BoardTask, entry: Entry, failed: str) -> _Measured:
    """Return an entry with its values; one that fails the check is shown without."""
    if entry.withdrawn or failed:
        reason = "withdrawn" if entry.withdrawn else failed
        return _Measured(Row(entry=entry, tier="consistent", unranked=reason, failed=bool(failed)))
    try:
        cards, tier = entry.certificates, entry.tier
        values: dict[str, dict[str, list[Any]]] = {}
        for seed, card in cards.items():
            # What the certificate says of its test part is not proven, so that the card of the task decides.
            frozen = task.seeds[card["task_seed"]]
            rows = values.setdefault(frozen.part, {}).setdefault(frozen.task, [])
            rows.append(headline_values(entry, seed))
        samples = {name: Sample.of_splits(rows) for name, rows in values.items()}
        if not samples:
            raise InputError("it has no certificate")
    except InputError as error:
        reason = f"fails the check: {error}"
        return _Measured(Row(entry=entry, tier="consistent", unranked=reason, failed=True))
    missing = missing_seeds(task, list(cards.values()))
    reason = "" if tier in RANKED else "not reproduced yet"
    if missing:
        reason = f"{len(task.seeds) - len(missing)} of {len(task.seeds)} seeds"
    seconds = [_cost(card) for card in cards.values()]
    memory = [card["peak_memory"] for card in cards.values() if is_number(card.get("peak_memory"))]
    row = Row(
        entry=entry,
        tier=tier,
        seeds=len(cards),
        unranked=reason,
        seconds=_median(seconds),
        memory=float(max(memory)) if memory else None,
    )
    return _Measured(row, samples, tuple(str(card["hashes"]["scores"]) for card in cards.values()))


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known and len(known) == len(values) else None


def _cost(card: Mapping[str, Any]) -> float | None:
    seconds = card.get("seconds")
    if not isinstance(seconds, Mapping):
        return None
    found = [seconds.get(name, 0.0) for name in ("fit", "score")]
    return float(sum(found)) if all(is_number(one) and 0 <= one < 1e12 for one in found) else None


def _compared(task: BoardTask, measured: Sequence[_Measured]) -> Standing:
    """Estimate every entry, and compare those that have all seeds of the task."""
    rule = get_metric(task.headline)
    parts = list(dict.fromkeys(one.part for one in task.seeds.values()))
    splits = {one.task for one in task.seeds.values()}
    whole = [one for one in measured if one.splits == splits]
    over = task.over
    sign = -1 if rule.higher_is_better else 1
    ranked = [place for place, one in enumerate(whole) if not one.row.unranked]
    pairs = all_pairs([[one.samples[name] for name in parts] for one in whole]) if whole else None
    ranked_pairs = pairs.among(ranked) if pairs is not None and ranked else None
    marks = [] if ranked_pairs is None else _marks(ranked_pairs, sign, over)
    found = {whole[k].row.entry.name: mark for k, mark in zip(ranked, marks, strict=True)}
    rows = []
    for one, same in zip(measured, _same_scores(measured), strict=True):
        places, letters = found.get(one.row.entry.name, (None, ()))
        estimate = _estimate(one.samples, task, over)
        rows.append(replace(one.row, places=places, letters=letters, same_scores=same, **estimate))
    rows.sort(key=lambda row: _order(row, sign))
    compared = tuple(one.row.entry.name for one in whole)
    return Standing(
        task=task,
        rows=tuple(rows),
        pairs=pairs,
        compared=compared,
        ranked_pairs=ranked_pairs,
        over=over,
    )


def _order(row: Row, sign: int) -> tuple[Any, ...]:
    # Rounded: the last digits of a mean may differ between processors, and the order must not.
    value = float("inf") if row.value is None else sign * round(row.value, 10)
    return (row.entry.withdrawn, row.places is None, value, row.entry.card.submitted, row.entry.name)


def _estimate(samples: Mapping[str, Sample], task: BoardTask, over: str) -> dict[str, Any]:
    if not samples:
        return {}
    found: Estimate = interval(list(samples.values()), task.headline, LEVEL)
    enough = over.startswith("units") or (over == "tasks" and len(samples) >= FEWEST)
    ends = (found.low, found.high) if enough and np.isfinite(found.std_error) else (None, None)
    return {"value": found.value, "low": ends[0], "high": ends[1]}


def _marks(pairs: AllPairs, sign: int, over: str) -> list[tuple[tuple[int, int], tuple[str, ...]]]:
    """Return the places and letters of each entry; all share one if nothing can be told apart."""
    count = len(pairs.means)
    if not over:
        return [((1, count), ())] * count
    order = np.argsort(sign * np.round(pairs.means, 10), kind="stable").tolist()
    letters = dict(zip(order, pairs.letters(order, LEVEL), strict=True))
    places = pairs.places(LEVEL, sign < 0)
    return [((int(places[k, 0]), int(places[k, 1])), letters[k]) for k in range(count)]


def _same_scores(measured: Sequence[_Measured]) -> list[tuple[str, ...]]:
    """Return which other entries have the same scores: a deterministic method run twice, or a copy."""
    owners: dict[str, set[str]] = {}
    for one in measured:
        for scores in one.scores:
            owners.setdefault(scores, set()).add(one.row.entry.name)
    found = []
    for one in measured:
        names = set().union(*(owners[scores] for scores in one.scores))
        found.append(tuple(sorted(names - {one.row.entry.name})))
    return found


def _judged(
    task: BoardTask, entries: Sequence[Entry], folder: Path | None, failed: Mapping[str, str]
) -> Standing:
    """Return the standing that the judge of a hidden task wrote: nothing else is known of it yet."""
    path = None if folder is None else folder / JUDGED
    content: Any = {}
    if path is not None and path.is_file():
        content = read_json(path, absent=str(folder), damaged=f"{path}: it")
    listed = content.get("entries", {}) if isinstance(content, dict) else {}
    if not isinstance(listed, dict):
        raise InputError(f"{path} does not list entries")
    rows = [_judged_row(entry, listed.get(entry.name), failed.get(entry.name, "")) for entry in entries]
    sign = -1 if get_metric(task.headline).higher_is_better else 1
    shown = sorted((row for row in rows if row.value is not None), key=lambda row: _order(row, sign))
    places = _places_by_letters(shown)
    rows = [replace(row, places=places[row.entry.name]) if row.entry.name in places else row for row in rows]
    rows.sort(key=lambda row: _order(row, sign))
    phase = str(content.get("phase", "public")) if isinstance(content, dict) else "public"
    return Standing(task=task, rows=tuple(rows), phase=phase)


def _judged_row(entry: Entry, told: Any, failed: str) -> Row:
    if entry.withdrawn or failed:
        reason = "withdrawn" if entry.withdrawn else failed
        return Row(entry=entry, tier="scored", unranked=reason, failed=bool(failed))
    if not isinstance(told, dict) or not is_number(told.get("value")):
        return Row(entry=entry, tier="scored", unranked="shown when the season ends")
    low, high = (float(told[name]) if is_number(told.get(name)) else None for name in ("low", "high"))
    letters = told.get("letters") or ()
    marks = tuple(letters.split() if isinstance(letters, str) else map(str, letters))
    return Row(entry=entry, tier="scored", value=float(told["value"]), low=low, high=high, letters=marks)


def _places_by_letters(rows: Sequence[Row]) -> dict[str, tuple[int, int]]:
    """Return the ranks of entries in order: those that share a letter are not told apart."""
    found = {}
    for place, row in enumerate(rows):
        alike = [k for k, other in enumerate(rows) if k == place or set(other.letters) & set(row.letters)]
        found[row.entry.name] = (min(alike) + 1, max(alike) + 1)
    return found


def standing_json(standing: Standing) -> str:
    """Return the standing as JSON, in a fixed layout."""
    rows = [
        {
            "entry": row.entry.name,
            "name": row.entry.card.name,
            "authors": list(row.entry.card.authors),
            "tier": None if row.failed else row.tier,
            "rank": list(row.places) if row.places else None,
            "letters": letters_text(row),
            "value": _rounded(row.value),
            "low": _rounded(row.low),
            "high": _rounded(row.high),
            "seeds": row.seeds,
            "submitted": row.entry.card.submitted,
            "unranked": row.unranked,
        }
        for row in standing.rows
    ]
    head = {
        "task": standing.task.name,
        "metric": standing.task.headline,
        "phase": standing.phase or None,
        "untested": standing.task.untested or None,
    }
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in rows)
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "entries": [\n{lines}\n]}}\n'


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.9g}")
