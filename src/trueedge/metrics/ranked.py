"""Ranks of the true answers of queries among all candidates, and the metrics that only these have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.metric import Metric, register
from trueedge.metrics.ranking import expected_mrr
from trueedge.metrics.ranks import Ranks
from trueedge.metrics.scores import Scores, take

# GraIL and the papers after it rank the answer among 49 sampled negatives.
SAMPLED = 49
# Sums of two such numbers are exact.
MOST_CANDIDATES = 2**53
#: Where groups of tail-relation degrees begin: zero, low, medium, high.
DEGREE_BOUNDS = (0, 1, 10, 50)
DEGREE_NAMES = ("0", "1–9", "10–49", "50+")
CHANCE = (
    "Berrendorf et al., On the Ambiguity of Rank-Based Evaluation of Entity Alignment or Link Prediction"
    " Methods, 2020"
)
GRAIL = "Teru et al., Inductive Relation Prediction by Subgraph Reasoning, ICML 2020"
CALIBRATION = (
    "Guo et al., On Calibration of Modern Neural Networks, ICML 2017; groups and accuracy as in Shomer et"
    " al., Toward Degree Bias in Embedding-Based Knowledge Graph Completion, WWW 2023"
)


@dataclass(frozen=True, eq=False)
class RankSizes:
    """The number of queries, and the number of other candidates of each, int64 (n,)."""

    positives: int
    negatives: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankedScores(Scores):
    """The place of each query's true answer among its candidates, without other known answers.

    Attributes:
        above: int64 array (n,), the candidates scored strictly above the answer.
        tied: int64 array (n,), the other candidates with the answer's score.
        negatives: int64 array (n,), the candidates besides the answer.
        answer: float64 array (n,), the answer's score.
        degrees: int64 array (n,), the tail-relation degree of the answer.
        logits: whether the sigmoid of a score is a probability.
    """

    form: ClassVar[str] = "ranks"
    layout = "ranks"

    above: NDArray[np.int64]
    tied: NDArray[np.int64]
    negatives: NDArray[np.int64]
    answer: NDArray[np.float64]
    degrees: NDArray[np.int64]
    logits: bool = False

    @property
    def sizes(self) -> RankSizes:
        """Return the numbers of queries and of their candidates."""
        return RankSizes(len(self.above), self.negatives)

    @cached_property
    def ranks(self) -> Ranks:
        """Return the rank of each answer."""
        first = (1 + self.above).astype(np.float64)
        return Ranks(first, first + self.tied)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the places, the numbers of candidates, and the scores of the answers."""
        names = ("above", "tied", "negatives", "answer", "degrees")
        return {**{name: getattr(self, name) for name in names}, "logits": np.array([int(self.logits)])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the ranks of some :meth:`arrays`, or raise an InputError if these do not fit together."""
        *given, logits = take(arrays, "above", "tied", "negatives", "answer", "degrees", "logits")
        above, tied, negatives, answer, degrees = given
        shapes = {array.shape for array in given}
        if shapes != {(above.size,)} or not above.size or logits.shape != (1,):
            raise InputError("the arrays of ranked answers must have the same length (n,)")
        counts = (above, tied, negatives, degrees)
        if any(
            array.dtype.kind not in "iu" or array.min() < 0 or array.max() > MOST_CANDIDATES
            for array in counts
        ):
            raise InputError(
                f"the arrays of ranked answers must hold whole numbers from 0 to {MOST_CANDIDATES}"
            )
        whole = [array.astype(np.int64) for array in counts]
        if (whole[0] + whole[1] > whole[2]).any():
            raise InputError("an answer is ranked below more candidates than there are")
        if answer.dtype.kind not in "biuf" or not np.isfinite(answer).all():
            raise InputError("the scores of the answers must be finite numbers")
        if logits.dtype.kind not in "biu" or logits[0] not in (0, 1):
            raise InputError(f"whether scores are logits must be 0 or 1, got {logits[0]}")
        return cls(whole[0], whole[1], whole[2], answer.astype(np.float64), whole[3], bool(logits[0]))


def degree_groups(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group of each tail-relation degree: 0 zero, 1 low, 2 medium, 3 high."""
    return np.asarray(np.searchsorted(DEGREE_BOUNDS, degrees, side="right") - 1)


def calibration_error(scores: RankedScores, group: int | None = None) -> float:
    """Return the expected calibration error, over all groups of tail-relation degrees or of one.

    In each group, the share of answers with a rank of at most 10 is compared with the mean probability.
    """
    groups = degree_groups(scores.degrees)
    hits = scores.ranks.mean <= 10
    sure = 0.5 * (1.0 + np.tanh(0.5 * scores.answer))
    wanted = np.unique(groups) if group is None else [group]
    total, count = 0.0, 0
    for one in wanted:
        inside = groups == one
        if inside.any():
            total += abs(float(hits[inside].mean()) - float(sure[inside].mean())) * int(inside.sum())
            count += int(inside.sum())
    return total / count if count else math.nan


def _calibration(scores: RankedScores, group: int | None) -> float:
    if not scores.logits:
        raise InputError(
            "ece needs scores whose sigmoid is a probability: the scorer sets gives_logits = True"
        )
    return calibration_error(scores, group)


def _mean_rank_index(scores: RankedScores) -> NDArray[np.float64]:
    expected = scores.negatives.mean() / 2
    return np.asarray(1.0 - (scores.ranks.mean - 1.0) / max(expected, np.finfo(float).tiny))


def _adjusted_mrr(scores: RankedScores) -> NDArray[np.float64]:
    expected = expected_mrr(scores.sizes)
    return (1.0 / scores.ranks.mean - expected) / max(1.0 - expected, np.finfo(float).tiny)


def _sampled_hits(scores: RankedScores, k: int) -> NDArray[np.float64]:
    """Return the chance that fewer than k of 49 candidates, drawn with replacement, are ranked above."""
    share = (scores.ranks.mean - 1.0) / np.maximum(scores.negatives, 1)
    chance = np.zeros(len(share))
    for number in range(min(k, SAMPLED + 1)):
        chance += math.comb(SAMPLED, number) * share**number * (1.0 - share) ** (SAMPLED - number)
    return np.minimum(chance, 1.0)


def _expected_sampled_hits(sizes: RankSizes, k: int) -> float:
    """Average over all ranks of an answer, each as likely as any other."""
    found, counts = np.unique(sizes.negatives, return_counts=True)
    total = 0.0
    for negatives, count in zip(found, counts, strict=True):
        above = np.arange(negatives + 1)
        none = np.zeros(len(above))
        of = RankedScores(above, 0 * above, np.full(len(above), negatives), none, 0 * above)
        total += float(_sampled_hits(of, k).mean()) * int(count)
    return total / len(sizes.negatives)


register(
    Metric(
        pattern="adjusted-mrr",
        title="mean reciprocal rank, adjusted for chance: 0 for random scores, 1 is best",
        layouts=("ranks",),
        formula="(MRR - E) / (1 - E), where E is the MRR expected for random scores",
        citation=CHANCE,
        low=-1.0,
        expect=lambda _: 0.0,
        values=_adjusted_mrr,
        shown="number",
    )
)
register(
    Metric(
        pattern="amri",
        title="adjusted mean rank index: 0 for random scores, 1 is best",
        layouts=("ranks",),
        formula="1 - (MR - 1) / (E - 1), where E is the mean rank expected for random scores",
        citation=CHANCE,
        low=-1.0,
        expect=lambda _: 0.0,
        values=_mean_rank_index,
        shown="number",
    )
)
register(
    Metric(
        pattern="sampled-hits@K",
        title="expected Hits@K among 50 candidates: the answer and 49 sampled ones",
        layouts=("ranks",),
        formula="sum over i < K of C(49, i) p^i (1 - p)^(49 - i), where p is the share of candidates above",
        citation=GRAIL,
        expect=_expected_sampled_hits,
        values=_sampled_hits,
        most_k=lambda _: SAMPLED,
    )
)
for _name, _group, _of in (("ece", None, "all answers"), ("ece-low", 1, "answers of degree 1 to 9")):
    register(
        Metric(
            pattern=_name,
            title=f"expected calibration error of {_of}, in groups of tail-relation degrees",
            layouts=("ranks",),
            formula="mean over groups of |Hits@10 - mean sigmoid(score)|, weighted by their sizes",
            citation=CALIBRATION,
            higher_is_better=False,
            compute=partial(_calibration, group=_group),
            shown="number",
        )
    )
