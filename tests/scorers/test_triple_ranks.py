"""Ranks of answers: blocks, devices, and the order in which queries are asked."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.triples import TailIndex
from trueedge.scorers import filtered_ranks
from trueedge.scorers.triples import QueryScorer

ENTITIES, RELATIONS = 15, 3
RNG = np.random.default_rng(0)
SCORES = RNG.integers(0, 6, size=(ENTITIES, 2 * RELATIONS, ENTITIES)).astype(np.float32)
TRIPLES = np.unique(
    np.column_stack([RNG.integers(0, limit, 80) for limit in (ENTITIES, RELATIONS, ENTITIES)]), axis=0
).astype(np.int32)
QUERIES = np.concatenate([TRIPLES[:, :2], TRIPLES[:, [2, 1]] + [0, RELATIONS]]).astype(np.int64)
TARGETS = np.concatenate([TRIPLES[:, 2], TRIPLES[:, 0]]).astype(np.int64)
NAMES = ("above", "tied", "negatives", "answer")


def ranked(scorer=None, known=TRIPLES, **options):
    scorer = scorer or QueryScorer(lambda rows: SCORES[rows[:, 0], rows[:, 1]], "plain", (2,))
    index = TailIndex.of(known, RELATIONS)
    return filtered_ranks.rank_answers(scorer, QUERIES, TARGETS, index, ENTITIES, **options)


def same(first, second) -> None:
    for name in NAMES:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("block", [1, 7 * ENTITIES, 1 << 20])
def test_ranks_do_not_depend_on_blocks_or_order(block: int, monkeypatch) -> None:
    whole = ranked()
    monkeypatch.setattr(filtered_ranks, "SCORES_IN_A_BLOCK", block)
    same(ranked(seed=3), whole)


@pytest.mark.parametrize("known", [TRIPLES, TRIPLES[::2]])
def test_ranks_on_a_device_equal_those_of_the_kernel(known, monkeypatch) -> None:
    torch = pytest.importorskip("torch")
    expected = ranked(known=known)
    monkeypatch.setattr(filtered_ranks, "_is_on_gpu", lambda scores: isinstance(scores, torch.Tensor))
    monkeypatch.setattr(filtered_ranks, "SCORES_IN_A_BLOCK_ON_A_GPU", 9 * ENTITIES)
    tensor = torch.from_numpy(SCORES)
    scorer = QueryScorer(lambda rows: tensor[rows[:, 0], rows[:, 1]], "tensor", (2,))
    same(ranked(scorer, known), expected)
    broken = tensor.clone()
    broken[3, :, 4] = float("nan")
    with pytest.raises(InputError, match="NaN"):
        ranked(QueryScorer(lambda rows: broken[rows[:, 0], rows[:, 1]], "tensor", (2,)))
    with pytest.raises(InputError, match="must score 15 entities"):
        ranked(QueryScorer(lambda rows: tensor[rows[:, 0], rows[:, 1], :4], "tensor", (2,)))


def test_neither_the_order_nor_a_repeated_query_tells_the_answer() -> None:
    asked: list[np.ndarray] = []

    def record(rows: np.ndarray) -> np.ndarray:
        asked.append(rows.copy())
        return SCORES[rows[:, 0], rows[:, 1]]

    ranked(QueryScorer(record, "record", (2,)))
    rows = np.concatenate(asked)
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert sorted(map(tuple, rows)) == sorted(set(map(tuple, QUERIES.tolist())))
    assert rows.tolist() != sorted(rows.tolist())
    inverse = rows[:, 1] >= RELATIONS
    assert (np.diff(inverse.astype(int)) >= 0).all(), "tails are asked for first, then heads"


def test_a_scorer_may_change_what_it_is_given() -> None:
    def spoil(heads: np.ndarray, relations: np.ndarray) -> np.ndarray:
        found = TABLE[heads, relations].copy()
        heads[:] = 0
        relations[:] = 0
        return found

    task = te.task("nations")
    TABLE = np.random.default_rng(1).random((task.num_entities, 2 * task.num_relations, task.num_entities))
    assert task.evaluate(spoil) == task.evaluate(lambda heads, relations: TABLE[heads, relations])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, np.uint8, np.bool_])
def test_scores_of_any_real_type_are_ranked(dtype: type) -> None:
    table = (SCORES > 3) if dtype is np.bool_ else SCORES
    found = ranked(QueryScorer(lambda rows: table[rows[:, 0], rows[:, 1]].astype(dtype), "typed", (2,)))
    expected = ranked(QueryScorer(lambda rows: table[rows[:, 0], rows[:, 1]].astype(float), "float", (2,)))
    same(found, expected)


def test_tails_and_heads_are_never_asked_for_in_one_call() -> None:
    """In one call, the entities that heads are asked for would tell the answers for tails."""
    sides: list[set[bool]] = []

    def record(rows: np.ndarray) -> np.ndarray:
        sides.append(set((rows[:, 1] >= RELATIONS).tolist()))
        return SCORES[rows[:, 0], rows[:, 1]]

    ranked(QueryScorer(record, "record", (2,)))
    assert sides == [{False}, {True}]


@pytest.mark.parametrize(
    "change",
    [
        lambda scores: 2**60 + scores.astype(np.int64),
        lambda scores: 2**63 + scores.astype(np.uint64),
        lambda scores: np.longdouble(1) + scores.astype(np.longdouble) * np.longdouble(2) ** -60,
        lambda scores: [[2**60 + int(one) for one in row[:-1]] + [0.5] for row in scores],
    ],
    ids=["int64", "uint64", "longdouble", "list"],
)
def test_scores_that_a_float64_would_make_equal_are_refused(change) -> None:
    with pytest.raises(InputError, match="do not fit into a float64"):
        ranked(QueryScorer(lambda rows: change(SCORES[rows[:, 0], rows[:, 1]]), "exact", (2,)))
    task = te.task("nations")
    if change(SCORES[0]).__class__ is not list:
        with pytest.raises(InputError, match="do not fit into a float64"):
            task.evaluate(lambda triples: change(triples.astype(np.float32))[:, 0])


def test_masked_scores_are_refused_in_every_form() -> None:
    task = te.task("nations")
    table = np.ma.masked_array(np.zeros((len(task.queries()), task.num_entities)), mask=True)
    with pytest.raises(InputError, match="masked"):
        task.evaluate(table)
    with pytest.raises(InputError, match="masked"):
        task.evaluate(lambda triples: np.ma.masked_array(triples[:, 0], mask=True))


def test_a_tensor_that_cannot_be_ranked_gets_one_sentence() -> None:
    torch = pytest.importorskip("torch")
    task = te.task("nations")
    with pytest.raises(InputError, match="cannot be read as an array"):
        task.evaluate(lambda heads, relations: torch.zeros(len(heads), task.num_entities, device="meta"))
    table = torch.rand(1, task.num_entities).expand(len(task.queries()), -1).bfloat16()
    assert task.evaluate(table) == task.evaluate(table.double())


def test_a_function_that_needs_a_keyword_gets_one_sentence() -> None:
    def score(heads, relations, *, graph):
        return graph

    with pytest.raises(InputError, match="score cannot be called without graph="):
        te.task("nations").evaluate(score)


def test_a_table_whose_rows_for_one_query_differ_is_refused() -> None:
    task = te.task("nations")
    queries, targets = task.queries(), task.targets()
    oracle = np.zeros((len(queries), task.num_entities))
    oracle[np.arange(len(queries)), targets] = 1
    with pytest.raises(InputError, match=r"rows \d+ and \d+ are the same query, and their scores differ"):
        task.evaluate(oracle)
    rng = np.random.default_rng(0)
    scores = rng.random((task.num_entities, 2 * task.num_relations, task.num_entities))
    table = scores[queries[:, 0], queries[:, 1]]
    noisy = table * (1 + 1e-7 * rng.random(table.shape))
    assert task.evaluate(noisy)["mrr"] == pytest.approx(task.evaluate(table)["mrr"], abs=1e-3)


def test_a_scorer_with_missing_parts_gets_one_sentence() -> None:
    torch = pytest.importorskip("torch")
    task = te.task("nations")

    class Half:
        score_heads = 5

        def score_tails(self, heads, relations):
            return np.zeros((len(heads), task.num_entities))

    with pytest.raises(InputError, match=r"Half\.score_heads must be a method, got int"):
        task.evaluate(Half())
    with pytest.raises(InputError, match="Module has no forward method"):
        task.evaluate(torch.nn.Module())
    with pytest.raises(InputError, match="no scoring function is called"):
        te.TripleEmbeddings(["distmult"], np.zeros((2, 2)), np.zeros((1, 2)))
