"""Check a scorer: its scores must not change with order or batches."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, whole_number
from trueedge.metrics import PairScores
from trueedge.metrics.scores import describe_nonfinite
from trueedge.randomness import generator
from trueedge.scorers import spread
from trueedge.scorers.probe import BadAnswerError, CheckResult, Probe, ask
from trueedge.scorers.scorer import Scorer, dimensions_of, scorer_name
from trueedge.scorers.spread import quick_check

__all__ = ["Asks", "CheckReport", "CheckResult", "check_scorer", "quick_check"]

ROWS_ALONE = 8
WIDTH_IN_A_PIPE = 100
MIN_ROOM = 30


class Asks(Protocol):
    """What the check needs from a task; a task with scores of pairs also has ``sample_pairs``."""

    @property
    def needs(self) -> Any:
        """Return what it needs from a scorer: ``pairs``, ``candidates``, ``nodes`` or ``vectors``."""

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn anything that can answer the task's questions into an object with ``score(rows)``."""
        ...

    def sample(self, part: str, size: int, seed: int = 0) -> NDArray[np.int64]:
        """Return some questions of a part."""
        ...


@dataclass(frozen=True)
class CheckReport:
    """The findings about a scorer, one for each check."""

    scorer: str
    findings: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Return whether no check failed."""
        return all(finding.level != "broken" for finding in self.findings)

    def __str__(self) -> str:
        width = max(len(finding.name) for finding in self.findings)
        rows = [_wrapped(f"  {f.level:<6}  {f.name:<{width}}  ", f.sentence) for f in self.findings]
        return "\n".join([f"{self.scorer}: {'all checks passed' if self.ok else 'broken'}", *rows])


def check_scorer(
    scorer: object, task: Asks, part: str = "test", sample: int = 2000, seed: int = 0
) -> CheckReport:
    """Score the same questions in several ways, and report what changes their scores.

    A sample of a part's questions (pairs, queries or nodes) is scored twice, shuffled, in other batch sizes
    and one at a time; pairs also in the other direction. NaN, constants, ties and saturation are reported.

    Args:
        scorer: anything ``task.evaluate`` takes, except a file of scores without pairs.
        task: the task.
        part: ``"valid"`` or ``"test"``.
        sample: the number of questions; half of the pairs are positives if there are enough.
        seed: the seed of the sample and its order.
    """
    sample = whole_number("sample", "check_scorer", sample, 1)
    bound = task.bind(scorer, part)
    draw: Any = getattr(task, "sample_pairs", None)
    of_pairs = draw is not None and dimensions_of(bound) == (1,)
    if of_pairs:
        positives, negatives = draw(part, -(-sample // 2), seed)
        rows, noun = np.concatenate([positives, negatives.reshape(-1, 2)]).astype(np.int64), "pairs"
    else:
        rows, noun = task.sample(part, sample, seed), "queries" if task.needs == "candidates" else "nodes"
    try:
        raw = ask(bound, rows, noun)
    except BadAnswerError as trouble:
        return CheckReport(scorer_name(bound), (CheckResult("broken", "answer", str(trouble)),))
    scores = raw.astype(np.float64)
    findings = [
        CheckResult(
            "ok", "answer", f"{len(rows)} {noun} got {len(rows)} {'scores' if of_pairs else 'answers'}"
        ),
        _finite(scores),
        *_ask_again(bound, rows, scores, seed, noun),
    ]
    if of_pairs:
        findings += _tell_apart(raw[: len(positives)], raw[len(positives) :].reshape(negatives.shape[:-1]))
    elif len(scores) > 1 and (scores == scores[0]).all():
        findings.append(CheckResult("broken", "constant", f"all {noun} get the same answer"))
    return CheckReport(scorer_name(bound), tuple(findings))


def _wrapped(start: str, sentence: str) -> str:
    """Return a sentence after its start, wrapped to the width of the terminal."""
    room = max(MIN_ROOM, shutil.get_terminal_size((WIDTH_IN_A_PIPE, 24)).columns - len(start))
    lines = textwrap.wrap(sentence, room, break_long_words=False, break_on_hyphens=False)
    return start + f"\n{' ' * len(start)}".join(lines)


def _finite(scores: NDArray[np.float64]) -> CheckResult:
    nan, infinite = int(np.isnan(scores).sum()), int(np.isinf(scores).sum())
    if nan or infinite:
        return CheckResult("broken", "finite", describe_nonfinite(nan, infinite, scores.size, "scores"))
    return CheckResult("ok", "finite", "no score is NaN or infinite")


def _ask_again(
    scorer: Scorer, rows: NDArray[np.int64], scores: NDArray[np.float64], seed: int, noun: str
) -> list[CheckResult]:
    """Ask in other ways; if scores change at random or with the order, the other checks are skipped."""
    order = generator(seed, "check", "order").permutation(len(rows))
    back, alone = np.argsort(order), order[:ROWS_ALONE]
    sizes = sorted({-(-len(rows) // 3), -(-len(rows) // 40)}, reverse=True)
    one = "query" if noun == "queries" else noun[:-1]

    def again(some: NDArray[np.int64]) -> NDArray[Any]:
        answer = ask(scorer, some, noun)
        if answer.shape[1:] != scores.shape[1:]:
            raise BadAnswerError(
                f"asked again, the answer to {len(some)} {noun} has the shape {answer.shape}"
            )
        return answer

    def in_batches(some: NDArray[np.int64], size: int) -> NDArray[Any]:
        return np.concatenate([again(some[at : at + size]) for at in range(0, len(some), size)])

    probe = partial(Probe, scores=scores, rows=rows, noun=noun)
    first = (
        probe(
            name="repeat",
            ask=lambda: again(rows),
            same="repeated calls give the same scores",
            changed="randomness: repeated calls give different scores",
            how="scored twice",
            repeated=True,
        ),
        probe(
            name="order",
            ask=lambda: again(rows[order])[back],
            same=f"shuffled {noun} keep their scores",
            changed=f"order: a {one}'s score changes with its place among the others",
            how="scored in another order",
        ),
    )
    others = [
        probe(
            name="batch",
            ask=lambda: np.concatenate([in_batches(rows, size) for size in sizes]),
            scores=np.concatenate([scores] * len(sizes)),
            same=f"batches of {' and '.join(map(str, sizes))} {noun} score as in one of {len(rows)}",
            changed=f"batch statistics: a {one}'s score changes with the others in its batch",
            how="scored in smaller batches",
        ),
        probe(
            name="single",
            ask=lambda: in_batches(rows[alone], 1),
            scores=scores[alone],
            rows=rows[alone],
            same=f"{len(alone)} {noun} scored one at a time get the same scores",
            changed=f"batch statistics: a {one} scored alone gets a different score",
            how="scored one at a time",
        ),
        probe(
            name="direction",
            ask=lambda: again(rows[:, ::-1]),
            same="(u, v) and (v, u) get the same score",
            changed="direction: (u, v) and (v, u) get different scores, though an edge has no direction",
            how="scored as (v, u)",
            fault="look",
        ),
    ]
    findings: list[CheckResult] = []
    for way in first:
        findings.append(way.run())
        if findings[-1].level == "broken":
            return findings
    return [*findings, *(way.run() for way in others if way.name != "direction" or noun == "pairs")]


def _tell_apart(positive: NDArray[Any], negative: NDArray[Any]) -> list[CheckResult]:
    """Check the scores themselves: positives (m,) against shared negatives (n,) or their own (m, q)."""
    findings: list[CheckResult] = []
    if positive.dtype.kind in "biu":
        values = len(np.union1d(positive, negative))
        sentence = f"the answer is of type {positive.dtype}, with {values} different values: was it rounded?"
        findings.append(CheckResult("look", "type", sentence))
    above, below = np.isfinite(positive), np.isfinite(negative)
    if negative.ndim == 2:
        above = below = above & below.all(axis=1)
    positive, negative = positive[above], negative[below]
    if not positive.size or not negative.size:
        return findings
    try:
        scores = PairScores.check(positive, negative)
    except InputError as problem:
        return [*findings, CheckResult("broken", "type", str(problem))]
    same = spread.constant(scores)
    if same:
        return [*findings, CheckResult("broken", "constant", same)]
    close, tied, ends = spread.narrow(scores), spread.ties(scores), spread.saturation(scores)
    share = f"{spread.tie_share(scores):.2%} of the comparisons of a positive with a negative are ties"
    return [
        *findings,
        CheckResult("look" if close else "ok", "constant", close or "the scores differ"),
        CheckResult("look" if tied else "ok", "ties", tied or share),
        CheckResult("look" if ends else "ok", "saturation", ends or "scores do not pile up at 0 or 1"),
    ]
