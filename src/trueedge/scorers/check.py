"""Is a scorer fit to be judged? Asked again in other ways, its scores must not change."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, whole_number
from trueedge.metrics import PairScores
from trueedge.metrics.scores import describe_nonfinite
from trueedge.randomness import generator
from trueedge.scorers import spread
from trueedge.scorers.probe import BadAnswerError, Finding, Probe, ask
from trueedge.scorers.scorer import Scorer, scorer_name
from trueedge.scorers.spread import quick_check

__all__ = ["CheckReport", "Finding", "Judge", "check_scorer", "quick_check"]

PAIRS_ALONE = 8
WIDTH_IN_A_PIPE = 100
MIN_ROOM = 30


class Judge(Protocol):
    """What the check needs of a task."""

    def bind(self, scorer: object, part: str) -> Scorer:
        """Make anything that can score into a scorer on the graph of a part."""
        ...

    def sample(self, part: str, size: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some positives and some negatives of a part.

        Returns:
            positives: int64 (m, 2), at most ``size``.
            negatives: int64 (n, 2) that all positives share, or (m, q, 2) where each has its own.
        """
        ...


@dataclass(frozen=True)
class CheckReport:
    """What a check found.

    Attributes:
        scorer: the scorer's name.
        findings: one for each thing that was looked at.
    """

    scorer: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is broken."""
        return all(finding.level != "broken" for finding in self.findings)

    def __str__(self) -> str:
        width = max(len(finding.name) for finding in self.findings)
        rows = [_wrapped(f"  {f.level:<6}  {f.name:<{width}}  ", f.sentence) for f in self.findings]
        return "\n".join([f"{self.scorer}: {'nothing is broken' if self.ok else 'broken'}", *rows])


def check_scorer(
    scorer: object, task: Judge, part: str = "test", sample: int = 2000, seed: int = 0
) -> CheckReport:
    """Ask a scorer for the same scores in other ways, and name what changes them.

    A sample of a part's pairs is scored twice, shuffled, in other batch sizes, one pair at a time, and with
    both directions swapped; NaN, a constant answer, ties and saturation are looked for.

    Args:
        scorer: anything ``task.evaluate`` takes, but a file of scores in listing order.
        task: where the pairs come from.
        part: ``"valid"`` or ``"test"``.
        sample: how many pairs are drawn, half of them positives where there are as many.
        seed: for the sample and its shuffling.
    """
    sample = whole_number("sample", "check_scorer", sample, 1)
    bound = task.bind(scorer, part)
    positives, negatives = task.sample(part, -(-sample // 2), seed)
    pairs = np.concatenate([positives, negatives.reshape(-1, 2)]).astype(np.int64)
    try:
        raw = ask(bound, pairs)
    except BadAnswerError as trouble:
        return CheckReport(scorer_name(bound), (Finding("broken", "answer", str(trouble)),))
    scores = raw.astype(np.float64)
    findings = (
        Finding("ok", "answer", f"{len(pairs)} pairs got {len(pairs)} scores"),
        _finite(scores),
        *_ask_again(bound, pairs, scores, seed),
        *_tell_apart(raw[: len(positives)], raw[len(positives) :].reshape(negatives.shape[:-1])),
    )
    return CheckReport(scorer_name(bound), findings)


def _wrapped(start: str, sentence: str) -> str:
    """A sentence behind its start, in lines as wide as the terminal."""
    room = max(MIN_ROOM, shutil.get_terminal_size((WIDTH_IN_A_PIPE, 24)).columns - len(start))
    lines = textwrap.wrap(sentence, room, break_long_words=False, break_on_hyphens=False)
    return start + f"\n{' ' * len(start)}".join(lines)


def _finite(scores: NDArray[np.float64]) -> Finding:
    nan, infinite = int(np.isnan(scores).sum()), int(np.isinf(scores).sum())
    if nan or infinite:
        return Finding("broken", "finite", describe_nonfinite(nan, infinite, len(scores), "scores"))
    return Finding("ok", "finite", "no score is NaN or infinite")


def _ask_again(
    scorer: Scorer, pairs: NDArray[np.int64], scores: NDArray[np.float64], seed: int
) -> list[Finding]:
    """Ask in other ways; once scores change by themselves or with the order, no other cause can be told."""
    order = generator(seed, "check", "order").permutation(len(pairs))
    back, alone = np.argsort(order), order[:PAIRS_ALONE]
    sizes = sorted({-(-len(pairs) // 3), -(-len(pairs) // 40)}, reverse=True)

    def in_batches(rows: NDArray[np.int64], size: int) -> NDArray[Any]:
        return np.concatenate([ask(scorer, rows[at : at + size]) for at in range(0, len(rows), size)])

    first = (
        Probe(
            "repeat",
            lambda: ask(scorer, pairs),
            scores,
            pairs,
            "asked twice, the scores are the same",
            "randomness: asked twice, the scores change",
            "asked twice",
            repeated=True,
        ),
        Probe(
            "order",
            lambda: ask(scorer, pairs[order])[back],
            scores,
            pairs,
            "shuffled pairs keep their scores",
            "order: a pair's score changes with its place among the others",
            "asked in another order",
        ),
    )
    others = (
        Probe(
            "batch",
            lambda: np.concatenate([in_batches(pairs, size) for size in sizes]),
            np.tile(scores, len(sizes)),
            pairs,
            f"batches of {' and '.join(map(str, sizes))} pairs give the scores of one batch of {len(pairs)}",
            "batch statistics: a pair's score changes with the others in its batch",
            "asked in smaller batches",
        ),
        Probe(
            "single",
            lambda: in_batches(pairs[alone], 1),
            scores[alone],
            pairs[alone],
            f"{len(alone)} pairs asked one at a time keep their scores",
            "batch statistics: a pair asked alone gets another score",
            "asked one at a time",
        ),
        Probe(
            "direction",
            lambda: ask(scorer, pairs[:, ::-1]),
            scores,
            pairs,
            "(u, v) and (v, u) get the same score",
            "direction: (u, v) and (v, u) get different scores, though an edge has no direction",
            "asked as (v, u)",
            fault="look",
        ),
    )
    findings: list[Finding] = []
    for probe in first:
        findings.append(probe.run())
        if findings[-1].level == "broken":
            return findings
    return [*findings, *(probe.run() for probe in others)]


def _tell_apart(positive: NDArray[Any], negative: NDArray[Any]) -> list[Finding]:
    """What the scores themselves show: positives (m,) against negatives (n,) or, each its own, (m, q)."""
    findings: list[Finding] = []
    if positive.dtype.kind in "biu":
        values = len(np.union1d(positive, negative))
        sentence = f"the answer is of type {positive.dtype}, with {values} different values: was it rounded?"
        findings.append(Finding("look", "type", sentence))
    above, below = np.isfinite(positive), np.isfinite(negative)
    if negative.ndim == 2:
        above = below = above & below.all(axis=1)
    positive, negative = positive[above], negative[below]
    if not positive.size or not negative.size:
        return findings
    try:
        scores = PairScores.check(positive, negative)
    except InputError as problem:
        return [*findings, Finding("broken", "type", str(problem))]
    same = spread.constant(scores)
    if same:
        return [*findings, Finding("broken", "constant", same)]
    close, tied, ends = spread.narrow(scores), spread.ties(scores), spread.saturation(scores)
    share = f"{spread.tie_share(scores):.2%} of the comparisons of a positive with a negative are ties"
    return [
        *findings,
        Finding("look" if close else "ok", "constant", close or "the scores differ"),
        Finding("look" if tied else "ok", "ties", tied or share),
        Finding("look" if ends else "ok", "saturation", ends or "no pile of scores at 0 or 1"),
    ]
