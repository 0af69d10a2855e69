"""The rows of a standing: each entry with its value, interval, rank and costs, and differences of two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from trueedge.leaderboard.board.entry import Entry, Tier
from trueedge.leaderboard.board.problem import Problem
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.statistics.all_pairs import AllPairs

LEVEL = 0.95


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """An entry in the standing of its task.

    Attributes:
        entry: the entry.
        tier: what speaks for its numbers.
        value: the mean of the headline; None if there is none to show.
        low: the lower end of its interval; None without an interval.
        high: the upper end.
        seeds: the number of its certificates.
        places: the best and worst rank that it can have; None if it is not ranked.
        letters: its tie groups; entries with a shared letter do not differ significantly.
        unranked: why it is not ranked; empty if it is.
        seconds: how long fitting and scoring took, the median over its certificates: of three or more, it
            leaves out a first run that compiled kernels. None if not said.
        memory: the largest peak memory in bytes; None if not said.
        same_scores: other entries whose scores are the same, number by number.
        failed: whether it fails the check; then nothing speaks for it, whatever its tier.
    """

    entry: Entry
    tier: Tier
    value: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0
    places: tuple[int, int] | None = None
    letters: tuple[str, ...] = ()
    unranked: str = ""
    seconds: float | None = None
    memory: float | None = None
    same_scores: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Standing:
    """All entries of a task.

    Attributes:
        task: the task.
        rows: ranked entries, best first; then those that are not ranked; then withdrawn ones.
        pairs: the differences of the entries with all seeds, in the order of ``compared``; None without any.
        compared: the names of these.
        ranked_pairs: the differences of the ranked ones among them, in the same order; ranks follow
            from these.
        over: what intervals and differences are over (:attr:`.BoardTask.over`).
        phase: for hidden labels: ``public`` or ``final``; else empty.
        problems: what is wrong with entries, which are not ranked for it.
    """

    task: BoardTask
    rows: tuple[Row, ...]
    pairs: AllPairs | None = None
    compared: tuple[str, ...] = ()
    ranked_pairs: AllPairs | None = None
    over: str = ""
    phase: str = ""
    problems: tuple[Problem, ...] = ()

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return the place of each entry in ``compared``."""
        return {name: place for place, name in enumerate(self.compared)}

    @property
    def ranked(self) -> tuple[Row, ...]:
        """Return the ranked entries, best first."""
        return tuple(row for row in self.rows if row.places is not None)

    @property
    def entries(self) -> tuple[Row, ...]:
        """Return the entries that are not withdrawn, which pages count."""
        return tuple(row for row in self.rows if not row.entry.withdrawn)

    @cached_property
    def _ranked_numbers(self) -> dict[str, int]:
        """Return the place of each ranked entry in ``ranked_pairs``."""
        ranked = {row.entry.name for row in self.ranked}
        return {name: place for place, name in enumerate(one for one in self.compared if one in ranked)}

    def is_corrected(self, first: str, second: str) -> bool:
        """Return whether the p-value of two entries is corrected for all pairs: if both are ranked."""
        return self.ranked_pairs is not None and {first, second} <= self._ranked_numbers.keys()

    def difference(self, first: str, second: str) -> tuple[float, float, float, float] | None:
        """Return how much larger the first entry's value is, its interval and p-value; or None.

        The p-value of two ranked entries is corrected for all pairs of ranked entries (Holm), so that no
        entry without a rank changes it. Any other p-value is that of the pair alone.
        """
        i, j = self.numbers.get(first), self.numbers.get(second)
        if self.pairs is None or not self.over or i is None or j is None:
            return None
        gap = self.pairs.means.item(i) - self.pairs.means.item(j)
        if self.ranked_pairs is not None and self.is_corrected(first, second):
            ranked = self._ranked_numbers
            p = self.ranked_pairs.p_holm.item(ranked[first], ranked[second])
        else:
            p = self.pairs.p_of(i, j)
        return (gap, *self.pairs.ends(i, j, LEVEL), p)


def letters_text(row: Row) -> str:
    """Return the letters of an entry, with spaces between them if one has two characters."""
    return ("" if all(len(one) == 1 for one in row.letters) else " ").join(row.letters)
