"""Ask a scorer again: shuffled, in other batches, one at a time, in the other direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.randomness import generator
from trueedge.scorers.headline import DIRECTION, DRAWS, Headline, drift
from trueedge.scorers.probe import BadAnswerError, CheckResult, Probe, ask
from trueedge.scorers.scorer import Scorer

ROWS_ALONE = 8


@dataclass(frozen=True, eq=False)
class Questions:
    """A sample of questions to a scorer.

    Attributes:
        scorer: the scorer.
        rows: int64 array (n, …), the questions; pairs with the smaller node first.
        noun: the plural noun for them.
        seed: for their order.
        headline: the value of the task's metric, if the questions are pairs or queries with one answer.
    """

    scorer: Scorer
    rows: NDArray[np.int64]
    noun: str
    seed: int
    headline: Headline | None = None

    @cached_property
    def mixed(self) -> NDArray[np.int64]:
        """Return a random order, so that the place of a pair does not tell whether it is a positive."""
        return generator(self.seed, "check", "questions").permutation(len(self.rows))

    @cached_property
    def shuffled(self) -> NDArray[np.int64]:
        """Return another random order."""
        return generator(self.seed, "check", "order").permutation(len(self.rows))

    def ask(self, rows: NDArray[np.int64], order: NDArray[np.int64] | None = None) -> NDArray[Any]:
        """Return the answers to all rows, which are asked in one call and in a mixed order."""
        order = self.mixed if order is None else order
        answer = ask(self.scorer, rows[order], self.noun)
        answers = np.empty_like(answer)
        answers[order] = answer
        return answers

    def first_alone(self) -> NDArray[Any] | None:
        """Ask a few rows one at a time, before all others; None if there is no answer to them."""
        try:
            return self.in_batches(self.rows[self.shuffled[:ROWS_ALONE]], 1)
        except (BadAnswerError, ValueError):
            return None

    def in_batches(self, rows: NDArray[np.int64], size: int) -> NDArray[Any]:
        """Return the answers to rows in the given order, asked in batches."""
        parts = [ask(self.scorer, rows[at : at + size], self.noun) for at in range(0, len(rows), size)]
        return np.concatenate(parts)

    def in_mixed_batches(self, size: int) -> NDArray[Any]:
        """Return the answers to all rows, asked in batches and in a mixed order."""
        answer = self.in_batches(self.rows[self.mixed], size)
        answers = np.empty_like(answer)
        answers[self.mixed] = answer
        return answers


def ask_again(
    questions: Questions, scores: NDArray[np.float64], early: NDArray[Any] | None = None
) -> list[CheckResult]:
    """Ask in other ways and compare with the first scores (n, …), and with those of a few rows before all.

    If scores change with the order, the other checks are skipped. If they change in repeated calls, the
    headline metric is compared instead, as far as there is one.
    """
    repeat = _repeat(questions, scores)
    if repeat.level == "broken":
        return [repeat]
    is_random = repeat.sentence.startswith(("randomness", "tie-breaking"))
    return [repeat, *(_on_average(questions, scores) if is_random else _exactly(questions, scores, early))]


def _same_shape(answer: NDArray[Any], scores: NDArray[np.float64], noun: str) -> NDArray[Any]:
    if answer.shape[1:] != scores.shape[1:]:
        raise BadAnswerError(f"asked again, the answer to {len(answer)} {noun} has the shape {answer.shape}")
    return answer


def _repeat(questions: Questions, scores: NDArray[np.float64]) -> CheckResult:
    return Probe(
        name="repeat",
        ask=lambda: _same_shape(questions.ask(questions.rows), scores, questions.noun),
        scores=scores,
        rows=questions.rows,
        same="repeated calls give the same scores",
        changed="randomness: repeated calls give different scores",
        how="scored twice",
        fault="look",
        repeated=True,
        noun=questions.noun,
    ).run()


def _exactly(
    questions: Questions, scores: NDArray[np.float64], early: NDArray[Any] | None
) -> list[CheckResult]:
    """Check a scorer whose repeated calls agree: every other way must agree too."""
    rows, noun, count = questions.rows, questions.noun, len(questions.rows)
    alone = questions.shuffled[:ROWS_ALONE]
    sizes = sorted({-(-count // 3), -(-count // 40)}, reverse=True)
    one = "query" if noun == "queries" else noun[:-1]

    def shaped(make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        return _same_shape(make(), scores, noun)

    probe = partial(Probe, scores=scores, rows=rows, noun=noun)
    order = probe(
        name="order",
        ask=lambda: shaped(lambda: questions.ask(rows, questions.shuffled)),
        same=f"shuffled {noun} keep their scores",
        changed=f"order: a {one}'s score changes with its place among the others",
        how="scored in another order",
    ).run()
    if order.level == "broken":
        return [order]
    batch = probe(
        name="batch",
        ask=lambda: np.concatenate([shaped(partial(questions.in_mixed_batches, size)) for size in sizes]),
        scores=np.concatenate([scores] * len(sizes)),
        same=f"batches of {' and '.join(map(str, sizes))} {noun} score as in one of {count}",
        changed=f"batch statistics: a {one}'s score changes with the others in its batch",
        how="scored in smaller batches",
    ).run()
    single = probe(
        name="single",
        ask=lambda: shaped(lambda: questions.in_batches(rows[alone], 1)),
        scores=scores[alone],
        rows=rows[alone],
        same=f"{len(alone)} {noun} scored one at a time get the same scores",
        changed=f"batch statistics: a {one} scored alone gets a different score",
        how="scored one at a time",
    ).run()
    if single.level != "broken" and early is not None and early.shape == scores[alone].shape:
        # What is remembered of all other questions is not undone by asking again.
        state = probe(
            name="state",
            ask=lambda: early,
            scores=scores[alone],
            rows=rows[alone],
            same="",
            changed=f"state: a {one}'s score changes once others have been asked",
            how="scored before all others",
        ).run()
        single = state if state.level == "broken" else single
    if questions.headline is None or not questions.headline.has_direction:
        return [order, batch, single]
    direction = probe(
        name="direction",
        ask=lambda: shaped(lambda: questions.ask(rows[:, ::-1])),
        same="(u, v) and (v, u) get the same score",
        changed=DIRECTION,
        how="scored as (v, u)",
        fault="look",
    ).run()
    if direction.level == "look" and not direction.sentence.startswith("rounding"):
        direction = _direction(questions, questions.headline)
    return [order, batch, single, direction]


def _on_average(questions: Questions, scores: NDArray[np.float64]) -> list[CheckResult]:
    """Check a scorer with random scores: the headline metric must not change with the way of asking."""
    headline, rows = questions.headline, questions.rows
    if headline is None:
        return []
    size = -(-len(rows) // 40)
    try:
        draws = [headline.value(scores), *(headline.value(questions.ask(rows)) for _ in range(DRAWS))]
        if drift(draws):
            sentence = (
                f"{headline.metric} goes from {draws[0]:.4f} to {draws[-1]:.4f} in {len(draws)} equal calls"
            )
            return [CheckResult("broken", "state", f"state: {sentence}")]
        found = [
            headline.same_on_average(
                "order", "scored in another order", lambda: questions.ask(rows, questions.shuffled), draws
            ),
            headline.same_on_average(
                "batch", f"scored in batches of {size}", lambda: questions.in_mixed_batches(size), draws
            ),
        ]
    except BadAnswerError as trouble:
        return [CheckResult("broken", "repeat", str(trouble))]
    return [*found, _direction(questions, headline, random=True)] if headline.has_direction else found


def _direction(questions: Questions, headline: Headline, random: bool = False) -> CheckResult:
    try:
        return headline.direction(questions.ask, generator(questions.seed, "check", "direction"), random)
    except BadAnswerError as trouble:
        return CheckResult("broken", "direction", str(trouble))
