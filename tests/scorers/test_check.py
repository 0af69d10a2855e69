"""One planted fault for each thing the check looks for, and clean scorers that pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from trueedge.errors import InputError
from trueedge.scorers.check import CheckReport, CheckResult, check_scorer, quick_check
from trueedge.scorers.scorer import as_scorer

NODES = 60
VECTORS = np.random.default_rng(0).normal(size=(NODES, 8)).astype(np.float32)


@dataclass
class Pairs:
    """A task as far as the check knows one."""

    positives: np.ndarray
    negatives: np.ndarray

    def bind(self, scorer, part):
        assert part == "test"
        return as_scorer(scorer, NODES)

    def sample_pairs(self, part, size, seed=0):
        assert part == "test"
        return self.positives[:size].astype(np.int64), self.negatives[:size].astype(np.int64)


@dataclass
class OwnPairs(Pairs):
    """Each positive has its own negatives, (m, q, 2)."""

    def sample_pairs(self, part, size, seed=0):
        return self.positives, self.negatives


@pytest.fixture
def task() -> Pairs:
    pairs = np.random.default_rng(1).integers(0, NODES, (400, 2), dtype=np.int32)
    return Pairs(pairs[:100], pairs[100:])


def logits(pairs):
    return (VECTORS[pairs[:, 0]] * VECTORS[pairs[:, 1]]).sum(axis=1)


def levels(report: CheckReport) -> dict[str, str]:
    return {finding.name: finding.level for finding in report.findings if finding.level != "ok"}


def sentence(report: CheckReport, name: str) -> str:
    return next(finding.sentence for finding in report.findings if finding.name == name)


# Clean scorers


class Layers(torch.nn.Module):
    """Float32 arithmetic whose last digits depend on the batch, and a batch norm that is asked politely."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.nodes = torch.nn.Embedding(NODES, 32)
        self.norm = torch.nn.BatchNorm1d(32)
        self.layers = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))

    def forward(self, pairs):
        return self.layers(self.norm(self.nodes(pairs[:, 0]) * self.nodes(pairs[:, 1])))


@pytest.mark.parametrize(
    "scorer",
    [
        logits,
        VECTORS,
        Layers(),
        lambda pairs: 1e-9 * logits(pairs),
        lambda pairs: torch.tensor(logits(pairs)),
    ],
    ids=["callable", "embeddings", "module", "tiny scores", "tensors"],
)
def test_a_clean_scorer_passes(scorer, task):
    report = check_scorer(scorer, task)
    assert report.ok
    assert levels(report) == {}
    every = "answer finite repeat order batch single direction constant ties saturation"
    assert [finding.name for finding in report.findings] == every.split()


def test_one_pair_on_each_side_is_enough(task):
    assert check_scorer(logits, Pairs(task.positives[:1], task.negatives[:1])).ok
    assert check_scorer(logits, task, sample=1).ok


# Planted faults


def test_batch_statistics_are_caught(task):
    def standardised(pairs):
        raw = logits(pairs)
        return (raw - raw.mean()) / (raw.std() + 1e-9)

    report = check_scorer(standardised, task)
    assert levels(report) == {"batch": "broken", "single": "broken"}
    assert "batch statistics" in sentence(report, "batch")
    assert not report.ok


def test_a_batch_norm_in_training_mode_is_caught(task):
    module = Layers().train()
    # A closure, so that the check cannot put the module into evaluation mode.
    report = check_scorer(lambda pairs: module(torch.from_numpy(pairs)).flatten(), task)
    assert levels(report)["batch"] == "broken"
    assert "raises ValueError: Expected more than 1 value per channel" in sentence(report, "single")


def test_scores_in_the_order_of_sorted_input_are_caught(task):
    report = check_scorer(lambda pairs: logits(pairs[np.lexsort(pairs.T[::-1])]), task)
    assert levels(report) == {"order": "broken"}
    assert "order: a pair's score changes with its place" in sentence(report, "order")
    assert "(398 of 400 pairs, by up to" in sentence(report, "order")


def test_two_swapped_scores_are_enough_to_be_caught(task):
    def swapped(pairs):
        scores = logits(pairs)
        scores[[0, -1]] = scores[[-1, 0]]
        return scores

    assert levels(check_scorer(swapped, task)) == {"order": "broken"}


def test_a_score_that_depends_on_direction_is_named(task):
    report = check_scorer(lambda pairs: logits(pairs) + pairs[:, 0] * 0.01, task)
    assert levels(report) == {"direction": "look"}
    assert "(u, v) and (v, u) get different scores" in sentence(report, "direction")
    assert report.ok


def test_randomness_is_caught_and_blamed_on_nothing_else(task):
    rng = np.random.default_rng(5)
    report = check_scorer(lambda pairs: logits(pairs) + 0.1 * rng.normal(size=len(pairs)), task)
    assert levels(report) == {"repeat": "look"}
    assert report.ok
    assert "randomness: repeated calls give different scores" in sentence(report, "repeat")


def test_dropout_left_on_is_caught(task):
    dropout = torch.nn.Dropout(0.5).train()
    report = check_scorer(lambda pairs: dropout(torch.from_numpy(logits(pairs))), task)
    assert levels(report)["repeat"] == "look"


def test_rounding_is_not_a_fault(task):
    rng = np.random.default_rng(6)
    report = check_scorer(lambda pairs: logits(pairs) * (1 + 1e-7 * rng.normal(size=len(pairs))), task)
    assert levels(report) == {}


@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")], ids=str
)
def test_scores_that_are_not_finite_are_counted(task, value, words):
    def holes(pairs):
        return np.where(pairs[:, 0] == task.positives[0, 0], value, logits(pairs))

    report = check_scorer(holes, task)
    count = np.count_nonzero(np.concatenate([task.positives, task.negatives])[:, 0] == task.positives[0, 0])
    assert count > 1
    assert sentence(report, "finite") == f"{count} of 400 scores are {words}"
    assert levels(report)["finite"] == "broken"
    assert "repeat" not in levels(report)


def test_all_nan_is_one_fault_and_no_crash(task):
    assert levels(check_scorer(lambda pairs: np.full(len(pairs), np.nan), task)) == {"finite": "broken"}


def test_a_constant_is_caught(task):
    report = check_scorer(lambda pairs: np.full(len(pairs), 0.5), task)
    assert levels(report) == {"constant": "broken"}
    assert sentence(report, "constant") == "all scores are 0.5: they separate nothing"


def test_scores_that_only_rounding_tells_apart_are_named(task):
    report = check_scorer(lambda pairs: 1e6 + 1e-3 * logits(pairs).astype(np.float64), task)
    assert levels(report) == {"constant": "look"}
    assert "rounding may decide" in sentence(report, "constant")


def test_many_ties_are_named_with_their_share(task):
    report = check_scorer(lambda pairs: np.round(logits(pairs) / 5), task)
    assert levels(report) == {"ties": "look"}
    assert "% of the comparisons of a positive with a negative are ties" in sentence(report, "ties")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_saturated_sigmoid_is_caught(task, dtype):
    steep = 30 if dtype == torch.float64 else 12
    report = check_scorer(lambda pairs: torch.sigmoid(steep * torch.tensor(logits(pairs), dtype=dtype)), task)
    assert levels(report)["saturation"] == "look"
    assert "where a sigmoid saturates: pass the logits instead" in sentence(report, "saturation")


def test_large_logits_are_no_fault(task):
    assert levels(check_scorer(lambda pairs: 1000 * logits(pairs), task)) == {}


@pytest.mark.parametrize(
    ("scorer", "message"),
    [
        (lambda pairs: logits(pairs)[:-1], r"the answer to 200 pairs has the shape \(199,\)"),
        (lambda pairs: logits(pairs)[:, None], r"the answer to 200 pairs has the shape \(200, 1\)"),
        (lambda pairs: None, r"the answer to 200 pairs has the shape \(\)"),
        (lambda pairs: logits(pairs) + 1j, "values of type complex64, not real numbers"),
        (lambda pairs: [[1]] * 199 + [[1, 2]], "cannot be read as an array"),
    ],
    ids=["length", "column", "nothing", "complex", "ragged"],
)
def test_an_answer_of_another_shape_ends_the_check(task, scorer, message):
    report = check_scorer(scorer, Pairs(task.positives, task.negatives[:100]))
    assert [f.name for f in report.findings] == ["answer"]
    assert not report.ok
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(sentence(report, "answer"))


def test_an_exception_is_told_in_one_sentence(task):
    def raises(pairs):
        raise KeyError("node 17\nand more")

    report = check_scorer(raises, task)
    assert "raises KeyError" in sentence(report, "answer")
    assert "node 17" in sentence(report, "answer")
    assert "\n" not in sentence(report, "answer")
    assert not report.ok


def test_a_squeeze_that_swallows_a_single_pair_is_caught(task):
    report = check_scorer(lambda pairs: np.squeeze(logits(pairs)[:, None]), task)
    assert levels(report) == {"single": "broken"}
    assert sentence(report, "single") == "the answer to 1 pair has the shape ()"


def test_whole_numbers_are_named(task):
    report = check_scorer(lambda pairs: np.round(1000 * logits(pairs)).astype(np.int64), task)
    assert levels(report) == {"type": "look"}
    report = check_scorer(lambda pairs: 2**60 + logits(pairs).astype(np.int64), task)
    assert not report.ok


def test_a_careless_scorer_spoils_no_pairs(task):
    def careless(pairs):
        scores = logits(pairs)
        pairs[:] = 0
        return scores

    assert levels(check_scorer(careless, task)) == {}


def test_own_negatives_are_compared_with_their_own_positives_only():
    pairs = np.array([(u, v) for u in range(10) for v in range(10, NODES)]).reshape(10, NODES - 10, 2)
    task = OwnPairs(pairs[:, 0], pairs[:, 1:6])
    # A score a row: within a row all is tied, between rows nothing is.
    report = check_scorer(lambda pairs: pairs[:, 0] + 0.5, task)
    assert sentence(report, "ties").startswith("100% of the comparisons")
    assert sentence(report, "answer") == "60 pairs got 60 scores"
    shared = check_scorer(
        lambda pairs: pairs[:, 0] + 0.5, Pairs(task.positives, task.negatives.reshape(-1, 2))
    )
    assert sentence(shared, "ties").startswith("10% of the comparisons")
    assert levels(check_scorer(logits, task)) == {}


def test_the_share_of_ties_is_that_of_the_quick_check_for_own_negatives():
    rng = np.random.default_rng(8)
    task = OwnPairs(rng.integers(0, NODES, (80, 2)), rng.integers(0, NODES, (80, 7, 2)))
    coarse = lambda pairs: np.round(logits(pairs) / 4)  # noqa: E731
    quick = quick_check(coarse(task.positives), coarse(task.negatives.reshape(-1, 2)).reshape(80, 7))
    assert sentence(check_scorer(coarse, task), "ties") in quick


def test_own_negatives_with_nan_are_left_out_row_by_row():
    pairs = np.array([(u, v) for u in range(10) for v in range(10, 16)]).reshape(10, 6, 2)
    task = OwnPairs(pairs[:, 0], pairs[:, 1:])
    holes = lambda pairs: np.where((pairs == (3, 14)).all(axis=1), np.nan, pairs[:, 0] + 0.5)  # noqa: E731
    report = check_scorer(holes, task)
    assert sentence(report, "finite") == "1 of 60 scores is NaN"
    assert sentence(report, "ties").startswith("100% of the comparisons")
    assert levels(check_scorer(lambda pairs: np.full(len(pairs), np.nan), task)) == {"finite": "broken"}


@pytest.mark.parametrize(
    ("shift", "words"),
    [(0.0, "(1 of 400 pairs, to or from NaN or infinity)"), (2.0, "by up to 2, 1 of them to or from NaN")],
)
def test_a_score_that_becomes_nan_has_no_size_of_change(task, shift, words):
    asked = []

    def forgets(pairs):
        asked.append(len(pairs))
        scores = logits(pairs).astype(np.float64)
        if len(asked) > 1:
            scores += np.where(np.arange(len(scores)) < 5, shift, 0)
            scores[0] = np.nan
        return scores

    told = sentence(check_scorer(forgets, task), "repeat")
    assert words in told
    assert "by up to 0" not in told


def test_a_long_sentence_is_wrapped_under_itself(monkeypatch):
    words = "batch statistics: a pair's score changes with the others in its batch " * 3
    report = CheckReport(
        "mine", (CheckResult("ok", "order", "Good."), CheckResult("broken", "batch", words.strip()))
    )
    monkeypatch.setenv("COLUMNS", "60")
    lines = str(report).splitlines()
    assert max(map(len, lines)) <= 60
    assert len(lines) > 5
    assert all(line.startswith(" " * 17) and line[17] != " " for line in lines[3:])
    assert " ".join(line[17:] for line in lines[2:]) == words.strip()
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("sys.__stdout__", None)
    assert 90 < max(map(len, str(report).splitlines())) <= 100
    monkeypatch.setenv("COLUMNS", "5")
    assert "statistics" in str(report)


def test_a_report_is_a_small_table():
    report = CheckReport(
        "mine", (CheckResult("ok", "order", "Good."), CheckResult("broken", "batch", "Bad."))
    )
    assert str(report).splitlines() == ["mine: broken", "  ok      order  Good.", "  broken  batch  Bad."]


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (("ok", "ok"), "all checks passed"),
        (("ok", "look", "look"), "nothing broken, 2 to look at"),
        (("broken", "look"), "broken, 1 to look at"),
    ],
)
def test_the_headline_counts_what_there_is_to_look_at(levels, words):
    report = CheckReport("mine", tuple(CheckResult(one, "order", "Good.") for one in levels))
    assert str(report).splitlines()[0] == f"mine: {words}"


@pytest.mark.filterwarnings("error")
def test_scores_too_small_to_divide_by_give_no_warning(task):
    assert check_scorer(lambda pairs: (pairs[:, 0] * 1000 + pairs[:, 1] + 1) * 5e-324, task).findings


def test_a_constant_of_whole_numbers_is_one_value_and_no_negative_zero(task):
    said = str(check_scorer(lambda pairs: np.full(len(pairs), -0.0), task))
    assert "all scores are 0:" in said
    said = " ".join(str(check_scorer(lambda pairs: np.zeros(len(pairs), int), task)).split())
    assert "with a single value" in said


@pytest.mark.parametrize("sample", [0, -5, 2.5, True, "all"])
def test_a_sample_is_a_whole_number(task, sample):
    with pytest.raises(InputError, match="sample must be a whole number, 1 or more"):
        check_scorer(logits, task, sample=sample)


def test_the_same_seed_gives_the_same_report(task):
    faulty = lambda pairs: logits(pairs[np.lexsort(pairs.T[::-1])])  # noqa: E731
    assert check_scorer(faulty, task, seed=3) == check_scorer(faulty, task, seed=3)


# The cheap part


@pytest.mark.parametrize("own", [False, True])
def test_good_scores_get_no_warning(own):
    rng = np.random.default_rng(2)
    assert quick_check(rng.normal(size=50), rng.normal(size=(50, 20) if own else 200)) == []


@pytest.mark.parametrize("shape", [(30,), (5, 6)])
def test_the_cheap_part_sees_a_constant_ties_and_saturation(shape):
    rng = np.random.default_rng(3)
    assert quick_check(np.zeros(5), np.zeros(shape)) == ["all scores are 0: they separate nothing"]
    (tied,) = quick_check(np.array([0.0, 0, 0, 2, 3]), np.zeros(shape))
    assert tied.startswith("60% of the comparisons")
    high = 1 / (1 + np.exp(-40 * rng.random(5) - 20))
    low = 1 / (1 + np.exp(-60 * rng.random(shape)))
    assert any("where a sigmoid saturates" in found for found in quick_check(high, low))
    zero = np.append(np.exp(-rng.random(4) * 10), 1e-310)
    assert any("of the scores are 0, where" in found for found in quick_check(zero, np.zeros(shape)))
    assert "all scores are 0 or 1" in quick_check(np.ones(5), np.zeros(shape))[0]


def test_ratios_that_reach_one_are_not_called_saturated():
    positive = np.array([0.5, 1.0, 1.0, 0.25])
    assert quick_check(positive, np.linspace(0.01, 0.2, 40)) == []


def test_tiny_scores_beside_zeros_are_not_called_saturated():
    assert quick_check(0.005 ** np.arange(1.0, 20), np.append(np.zeros(9), np.linspace(0.1, 0.9, 200))) == []


def test_a_float32_sigmoid_that_underflows_is_named():
    logits = np.linspace(-300, 10, 400, dtype=np.float32)
    scores = torch.sigmoid(torch.from_numpy(logits)).double().numpy()
    found = quick_check(scores[200:], scores[:200] * 0 + scores[:200])
    assert any("of the scores are 0, where a sigmoid saturates" in sentence for sentence in found)


def test_the_cheap_part_refuses_what_cannot_be_judged():
    with pytest.raises(InputError, match="1 of 1 positive scores is NaN"):
        quick_check([np.nan], [1.0])


# Changes below what rounding may do


def coarse(pairs):
    """Scores with many ties, as counts of common neighbours have."""
    return 1 + np.floor(np.abs(logits(pairs)).astype(np.float64) / 3)


RNG = np.random.default_rng(9)


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        ("order", lambda pairs: coarse(pairs) + 9e-6 * (np.arange(len(pairs)) < len(pairs) // 2)),
        ("order", lambda pairs: coarse(pairs) + 1e-12 * (np.arange(len(pairs)) < len(pairs) // 2)),
        ("order", lambda pairs: coarse(pairs) - 1e-9 * np.arange(len(pairs))),
        ("batch", lambda pairs: coarse(pairs) + 1e-7 * (pairs == pairs[0]).all(axis=1) + 1e-8 * pairs[0, 0]),
    ],
    ids=["half", "half by a hair", "by place", "by the batch's first pair"],
)
def test_ties_broken_below_the_tolerance_are_caught(task, name, scorer):
    report = check_scorer(scorer, task)
    found = {key: level for key, level in levels(report).items() if level == "broken"}
    assert name in found or (name == "batch" and "order" in found)
    told = next(finding.sentence for finding in report.findings if finding.level == "broken")
    assert told.startswith("tie-breaking: scored ")
    assert "comparisons of two pairs" in told
    assert not report.ok


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_ties_broken_at_random_are_mentioned(task, share):
    report = check_scorer(lambda pairs: coarse(pairs) + 1e-7 * (RNG.random(len(pairs)) < share / 2), task)
    assert sentence(report, "repeat").startswith("tie-breaking: scored twice")
    assert levels(report)["repeat"] == "look"
    assert report.ok


def test_the_same_ties_each_time_are_no_fault(task):
    noise = RNG.random((NODES, NODES)) * 1e-7
    fixed = lambda pairs: coarse(pairs) + noise[pairs.min(axis=1), pairs.max(axis=1)]  # noqa: E731
    assert check_scorer(fixed, task).ok
    assert set(levels(check_scorer(coarse, task))) <= {"ties"}


def test_a_model_whose_last_rows_are_rounded_otherwise_is_only_named(task):
    same = np.float32(0.3)

    def tails(pairs):
        scores = np.where(pairs[:, 0] < 12, same, logits(pairs)).astype(np.float32)
        scores[-2:] = np.nextafter(scores[-2:], np.float32(99))
        return scores

    report = check_scorer(tails, task)
    assert report.ok
    assert "look" in {level for name, level in levels(report).items() if name in ("order", "batch")}
    assert "rounding: scored in" in str(report).replace("\n", " ")


def test_noise_that_moves_no_pair_past_another_is_no_fault(task):
    spread = lambda pairs: pairs.min(axis=1) * 100.0 + pairs.max(axis=1)  # noqa: E731
    report = check_scorer(lambda pairs: spread(pairs) + 1e-6 * RNG.random(len(pairs)), task)
    assert levels(report) == {}


def test_a_worse_batch_size_is_not_hidden_behind_a_better_one(task):
    def small_batches(pairs):
        place = np.arange(len(pairs))
        if len(pairs) == 400:
            return coarse(pairs)
        few = place < 1 if len(pairs) > 50 else place % 2 == 0
        return coarse(pairs) + 1e-8 * few

    assert levels(check_scorer(small_batches, task))["batch"] == "broken"


def test_a_scorer_that_ends_the_program_is_told_of(task):
    def leaves(pairs):
        raise SystemExit(3)

    assert sentence(check_scorer(leaves, task), "answer") == "it raises SystemExit: 3 (asked 400 pairs)"


def test_masked_answers_are_refused_with_their_number(task):
    report = check_scorer(lambda pairs: np.ma.array(logits(pairs), mask=pairs[:, 0] == pairs[0, 0]), task)
    assert "values are masked" in sentence(report, "answer")
    with pytest.raises(InputError, match="embeddings: 8 values are masked"):
        as_scorer(np.ma.array(VECTORS, mask=np.arange(NODES)[:, None] * np.ones(8) == 3), NODES)
