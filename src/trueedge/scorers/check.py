"""Check a scorer: its scores must not change with order or batches."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be, whole_number
from trueedge.html import shortened, table_html
from trueedge.metrics import PairScores, get
from trueedge.metrics.scores import describe_nonfinite
from trueedge.scorers import spread
from trueedge.scorers.asking import neutral_direction
from trueedge.scorers.headline import Headline
from trueedge.scorers.item_check import check_items, most_users
from trueedge.scorers.probe import BadAnswerError, CheckResult
from trueedge.scorers.questions import Questions, ask_again
from trueedge.scorers.scorer import Scorer, dimensions_of, scorer_name
from trueedge.scorers.spread import quick_check
from trueedge.scorers.triple_check import AnswersHeadline, check_graph, check_queries, most_queries

__all__ = ["Asks", "CheckReport", "CheckResult", "check_scorer", "quick_check"]

WIDTH_IN_A_PIPE = 100
MIN_ROOM = 30


class Asks(Protocol):
    """What the check needs from a task.

    A task with scores of pairs also has ``sample_pairs``, one of triples ``sample_answers``,
    ``answer_counts`` and ``num_relations``, and one of items ``item_counts``.
    """

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

    def __repr__(self) -> str:
        wrong = [one.name for one in self.findings if one.level != "ok"]
        told = shortened(", ".join(wrong), 40) if wrong else "all checks passed"
        return f"CheckReport({shortened(self.scorer, 40)}: {told})"

    def _repr_html_(self) -> str:
        rows = [(one.name, one.level, one.sentence) for one in self.findings]
        return table_html(f"Checks of {self.scorer}", rows, ("check", "verdict", "finding"))

    def __str__(self) -> str:
        width = max(len(finding.name) for finding in self.findings)
        rows = [_wrapped(f"  {f.level:<6}  {f.name:<{width}}  ", f.sentence) for f in self.findings]
        return "\n".join([f"{self.scorer}: {self.summary}", *rows])

    @property
    def summary(self) -> str:
        """Return in a few words whether something is broken, and how much there is to look at."""
        counts = {level: sum(one.level == level for one in self.findings) for level in ("broken", "look")}
        if not any(counts.values()):
            return "all checks passed"
        words = ["broken" if counts["broken"] else "nothing broken"]
        words += [f"{counts['look']} to look at"] if counts["look"] else []
        return ", ".join(words)


def check_scorer(
    scorer: object, task: Asks, part: str = "test", sample: int = 2000, seed: int = 0
) -> CheckReport:
    """Score the same questions in several ways, and report what changes their scores.

    A sample of a part's questions (pairs, queries or nodes) is scored twice, shuffled, in other batch sizes
    and one at a time; pairs also in the other direction. NaN, constants, ties and saturation are reported.
    If the scores are random, it is the headline metric that must not change. A scorer whose headline depends
    on the direction of pairs is broken. A scorer of triples that ignores the entity or the side of a query,
    or only counts how often an answer occurs, is named; so is a scorer of items that ignores the user.

    Args:
        scorer: anything ``task.evaluate`` takes, except a file of scores without pairs.
        task: the task.
        part: ``"valid"`` or ``"test"``.
        sample: the number of questions; half of the pairs are positives if there are enough.
        seed: the seed of the sample and its order.
    """
    sample = whole_number("sample", "check_scorer", sample, 1)
    if not hasattr(task, "bind"):
        raise must_be("task", "check_scorer", "a task, such as te.task makes", task)
    bound = task.bind(scorer, part)
    draw: Any = getattr(task, "sample_pairs", None)
    answers: Any = getattr(task, "sample_answers", None)
    popularity: NDArray[np.int64] | None = getattr(task, "item_counts", None)
    headline: Headline | None = None
    if draw is not None and dimensions_of(bound) == (1,):
        positives, negatives = draw(part, -(-sample // 2), seed)
        rows, noun = np.concatenate([positives, negatives.reshape(-1, 2)]).astype(np.int64), "pairs"
        headline = Headline(_metric(task, negatives), rows, len(positives), negatives.shape[:-1])
        rows = neutral_direction(rows)
    elif answers is not None:
        size: int = getattr(bound, "num_entities", None) or 1
        rows, targets = answers(part, most_queries(sample, size), seed)
        noun, headline = "queries", AnswersHeadline.of(rows, targets, size)
    elif popularity is not None:
        rows, noun = task.sample(part, most_users(sample, len(popularity)), seed), "users"
    else:
        nouns = {"candidates": "queries", "links": "links"}
        rows, noun = task.sample(part, sample, seed), nouns.get(task.needs, "nodes")
    questions = Questions(bound, rows, noun, seed, headline)
    tables = isinstance(headline, AnswersHeadline) or popularity is not None
    early = questions.first_alone() if tables else None
    try:
        raw = questions.ask(rows)
        if popularity is not None and raw.shape[1] != len(popularity):
            wanted = f"a score for each of {len(popularity)} items"
            raise BadAnswerError(f"the answer to {len(rows)} users has the shape {raw.shape}, not {wanted}")
    except BadAnswerError as trouble:
        return CheckReport(scorer_name(bound), (CheckResult("broken", "answer", str(trouble)),))
    scores = raw.astype(np.float64)
    answered = f"{len(rows)} {noun} got {len(rows)} {'scores' if noun == 'pairs' else 'answers'}"
    findings = [CheckResult("ok", "answer", answered), _finite(scores), *ask_again(questions, scores, early)]
    if isinstance(headline, AnswersHeadline):
        of_triples: Any = task
        counts = partial(of_triples.answer_counts, part)
        findings += check_graph(scorer, bound, of_triples, part)
        findings += _tell_apart(*headline.split(raw), "an answer with another entity")
        if all(one.level != "broken" for one in findings):
            findings += check_queries(questions, scores, of_triples.num_relations, counts)
    elif headline is not None:
        findings += _tell_apart(raw[: len(positives)], raw[len(positives) :].reshape(negatives.shape[:-1]))
    elif popularity is not None:
        findings += check_items(scores, popularity)
    elif len(scores) > 1 and (scores == scores[0]).all():
        findings.append(CheckResult("broken", "constant", f"all {noun} get the same answer"))
    return CheckReport(scorer_name(bound), tuple(findings))


def _metric(task: Asks, negatives: NDArray[np.int64]) -> str:
    """Return the task's headline if a sample of pairs is enough for it, else the AUC."""
    metric = get(getattr(task, "headline", "auc"))
    layout = "shared" if negatives.ndim == 2 else "per-positive"
    enough = metric.k is None or metric.k < negatives.shape[-2]
    return metric.name if layout in metric.layouts and enough else "auc"


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


def _tell_apart(
    positive: NDArray[Any], negative: NDArray[Any], compared: str = spread.COMPARED
) -> list[CheckResult]:
    """Check the scores themselves: positives (m,) against shared negatives (n,) or their own (m, q)."""
    findings: list[CheckResult] = []
    if positive.dtype.kind in "biu":
        values = len(np.union1d(positive, negative))
        many = "a single value" if values == 1 else f"{values} different values"
        sentence = f"the answer is of type {positive.dtype}, with {many}: was it rounded?"
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
    close, ends = spread.narrow(scores), spread.saturation(scores)
    tied = spread.ties(scores, compared) or (None if close else spread.near_ties(scores, compared))
    few = spread.rounding(scores)
    share = f"{spread.tie_share(scores):.2%} of the comparisons of {compared} are ties"
    return [
        *findings,
        CheckResult("look" if close else "ok", "constant", close or "the scores differ"),
        CheckResult("look" if tied else "ok", "ties", tied or share),
        *([CheckResult("look", "rounding", few)] if few else []),
        CheckResult("look" if ends else "ok", "saturation", ends or "scores do not pile up at 0 or 1"),
    ]
