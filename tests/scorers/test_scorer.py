"""Everything that can score, and everything that only looks like it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trueedge.scorers.scorer as ts
from forged_files import FORGED, memory_below
from trueedge.errors import InputError

PAIRS = np.array([[0, 1], [2, 3], [4, 0], [3, 3]])


class Product:
    """A scorer that multiplies ids, and can be bound to another graph."""

    name = "product"

    def score(self, pairs):
        return pairs[:, 0] * pairs[:, 1] + 0.5

    def on(self, graph):
        return self


class Doubled(torch.nn.Module):
    """A module with dropout, an inner part that stays frozen, and a layer that is called score."""

    def __init__(self) -> None:
        super().__init__()
        self.score = torch.nn.Embedding(5, 3)
        self.dropout = torch.nn.Dropout(0.9)
        self.norm = torch.nn.BatchNorm1d(3).eval()
        self.seen: list[tuple[torch.dtype, bool, bool]] = []

    def forward(self, pairs):
        self.seen.append((pairs.dtype, self.training, torch.is_grad_enabled()))
        both = self.score(pairs[:, 0]) * self.score(pairs[:, 1])
        return self.norm(self.dropout(both)).sum(dim=1, keepdim=True)


def test_a_scorer_stays_itself():
    scorer = Product()
    assert ts.as_scorer(scorer, 5) is scorer


def test_a_callable_is_a_scorer():
    scorer = ts.as_scorer(lambda pairs: pairs.sum(axis=1), 5)
    assert ts.score_pairs(scorer, PAIRS).tolist() == [1.0, 5.0, 4.0, 6.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.bool_])
@pytest.mark.parametrize("make", [np.asarray, torch.tensor])
def test_an_embedding_matrix_scores_by_the_dot_product(dtype, make):
    rows = np.random.default_rng(1).normal(size=(5, 4)).astype(dtype)
    scores = ts.score_pairs(ts.as_scorer(make(rows), 5), PAIRS)
    exact = [np.dot(rows[u].astype(float), rows[v].astype(float)) for u, v in PAIRS]
    assert scores == pytest.approx(exact, rel=1e-12)


def test_blocks_and_batches_and_directions_do_not_change_a_dot_product(monkeypatch):
    rows = np.random.default_rng(2).normal(size=(50, 33)).astype(np.float32)
    pairs = np.random.default_rng(3).integers(0, 50, (200, 2))
    scorer = ts.as_scorer(rows, 50)
    whole = ts.score_pairs(scorer, pairs)
    monkeypatch.setattr(ts, "NUMBERS_IN_A_BLOCK", 100)
    assert np.array_equal(ts.score_pairs(scorer, pairs, batch=7), whole)
    assert np.array_equal(ts.score_pairs(scorer, pairs[:, ::-1]), whole)


def test_an_embedding_matrix_needs_a_row_for_each_node():
    with pytest.raises(InputError, match="the graph has 5 nodes, but the embedding matrix has 4 rows"):
        ts.as_scorer(np.ones((4, 8)), 5)
    with pytest.raises(InputError, match=r"must have shape \(5, d\), got shape \(5,\)"):
        ts.as_scorer(np.ones(5), 5)
    with pytest.raises(InputError, match="2 of 10 embeddings are NaN"):
        ts.as_scorer(np.array([[np.nan, 1.0]] * 2 + [[0.0, 1.0]] * 3), 5)
    with pytest.raises(InputError, match=r"row 0 has the node id 5, outside 0\.\.4"):
        ts.score_pairs(ts.as_scorer(np.ones((5, 2)), 5), np.array([[5, 0]]))


def test_a_torch_module_is_asked_in_evaluation_mode_and_left_as_it_was():
    module = Doubled()
    module.train()
    module.norm.eval()
    scores = ts.score_pairs(ts.as_scorer(module, 5), PAIRS, batch=3)
    assert module.seen == [(torch.int64, False, False)] * 2
    assert module.training
    assert module.dropout.training
    assert not module.norm.training
    weight = module.score.weight.detach().double().numpy()
    exact = [(weight[u] * weight[v]).sum() for u, v in PAIRS]
    assert scores == pytest.approx(np.array(exact) / np.sqrt(1 + 1e-5), rel=1e-5)


def test_a_torch_module_that_fails_is_left_as_it_was_too():
    module = Doubled()
    module.score = torch.nn.Embedding(2, 3)
    with pytest.raises(IndexError):
        ts.score_pairs(ts.as_scorer(module, 5), PAIRS)
    assert module.training


def test_a_torch_module_must_answer_with_one_tensor():
    class Two(torch.nn.Module):
        def forward(self, pairs):
            return pairs, pairs

    with pytest.raises(InputError, match="Two must answer with a tensor, it answered with a tuple"):
        ts.score_pairs(ts.as_scorer(Two(), 5), PAIRS)


def test_a_module_with_a_score_method_is_a_scorer():
    class Own(torch.nn.Module):
        def score(self, pairs):
            return pairs[:, 0].astype(float)

    assert ts.score_pairs(ts.as_scorer(Own(), 5), PAIRS).tolist() == [0.0, 2.0, 4.0, 3.0]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_tensor_with_gradients_is_a_good_answer(dtype):
    answer = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=dtype, requires_grad=True)
    assert ts.score_pairs(ts.as_scorer(lambda _: answer, 5), PAIRS).tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("thing", [None, 7, [[1.0, 2.0]], {"a": 1}, object()])
def test_what_cannot_score_gets_the_list_of_what_can(thing):
    with pytest.raises(InputError) as caught:
        ts.as_scorer(thing, 5)
    for word in ("score(pairs)", "callable", "(n, d) embedding matrix", "torch module", "file of scores"):
        assert word in str(caught.value)
    assert type(thing).__name__ in str(caught.value)


def test_a_class_is_not_its_object():
    with pytest.raises(InputError, match="Product is a class: create an object"):
        ts.as_scorer(Product, 5)


def test_what_needs_more_than_the_pairs_is_refused_at_once():
    class Estimator:
        def score(self, X, y):
            return 1.0

    with pytest.raises(InputError, match=r"Estimator.score\(X, y\) cannot be called with the pairs alone"):
        ts.as_scorer(Estimator(), 5)
    with pytest.raises(InputError, match="cannot be called with the pairs alone"):
        ts.as_scorer(lambda: 1.0, 5)
    with pytest.raises(InputError, match=r"the lambda\(u, v\) cannot be called .* wrap it"):
        ts.as_scorer(lambda u, v: u, 5)


def test_a_module_whose_forward_needs_more_than_the_pairs_is_refused_in_one_sentence():
    class Decoder(torch.nn.Module):
        def forward(self, z: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
            return z[edges[:, 0]]

    with pytest.raises(InputError, match=r"^Decoder.forward\(z, edges\) cannot be called") as caught:
        ts.as_scorer(Decoder(), 5)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="ModuleList has no forward method"):
        ts.as_scorer(torch.nn.ModuleList(), 5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_traced_module_is_a_scorer_too():
    module = torch.jit.trace(torch.nn.Sequential(torch.nn.Embedding(5, 1)), torch.tensor([[0, 1]]))
    scorer = ts.as_scorer(module, 5)
    assert scorer.score(np.array([[0, 1]])).shape == (2,)


def test_an_attribute_called_score_does_not_make_a_scorer():
    class Best:
        score = 3.0

        def __call__(self, pairs):
            return pairs[:, 0]

    assert ts.score_pairs(ts.as_scorer(Best(), 5), PAIRS).tolist() == [0.0, 2.0, 4.0, 3.0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.ones(3), r"bad must answer 4 pairs with shape \(4,\), it answered with \(3,\)"),
        (np.ones((4, 2)), r"it answered with \(4, 2\)"),
        (np.ones((1, 4)), r"it answered with \(1, 4\)"),
        (1.0, r"it answered with \(\)"),
        (None, r"it answered with \(\)"),
        ([1.0, np.nan, np.inf, 2.0], "1 of 4 scores of bad is NaN and 1 is infinite"),
        (["1", "2", "3", "4"], "scores of bad must be real numbers"),
        ([1j, 2, 3, 4], "scores of bad must be real numbers"),
        ([[1], [1, 2], [1], [1]], "the scores of bad cannot be read as an array"),
        ([2**60 + 1, 2, 3, 4], "1 of 4 scores of bad do not fit into a float64"),
    ],
)
def test_a_bad_answer_names_the_scorer(answer, message):
    def bad(pairs):
        return answer

    with pytest.raises(InputError, match=message):
        ts.score_pairs(ts.as_scorer(bad, 5), PAIRS)


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_a_column_of_scores_is_taken_for_a_list_of_them(batch):
    column = ts.as_scorer(lambda pairs: pairs[:, :1] * 2.0, 5)
    assert ts.score_pairs(column, PAIRS, batch).tolist() == (PAIRS[:, 0] * 2.0).tolist()


def test_a_torch_module_may_end_with_one_unit():
    torch = pytest.importorskip("torch")

    class Ends(torch.nn.Module):
        def forward(self, pairs):
            return pairs.sum(dim=1, keepdim=True).float()

    assert ts.score_pairs(ts.as_scorer(Ends(), 5), PAIRS).tolist() == PAIRS.sum(axis=1).tolist()


def test_pairs_are_scored_in_batches_and_in_order():
    sizes = []

    def remember(pairs):
        sizes.append(len(pairs))
        assert pairs.dtype == np.int64
        return pairs[:, 0] * 10 + pairs[:, 1]

    pairs = np.random.default_rng(4).integers(0, 9, (10, 2), dtype=np.int32)
    scores = ts.score_pairs(ts.as_scorer(remember, 9), pairs, batch=4)
    assert sizes == [4, 4, 2]
    assert scores.dtype == np.float64
    assert scores.tolist() == (pairs[:, 0] * 10.0 + pairs[:, 1]).tolist()


def test_a_scorer_may_spoil_its_input_and_reuse_its_output():
    buffer = np.empty(2)

    def careless(pairs):
        buffer[:] = pairs[:, 0]
        pairs[:] = -1
        return buffer

    pairs = PAIRS.astype(np.int64)
    assert ts.score_pairs(ts.as_scorer(careless, 5), pairs, batch=2).tolist() == [0.0, 2.0, 4.0, 3.0]
    assert np.array_equal(pairs, PAIRS)


def test_no_pairs_get_no_scores():
    def never(pairs):
        raise AssertionError

    assert ts.score_pairs(ts.as_scorer(never, 5), np.empty((0, 2), dtype=np.int32)).shape == (0,)


@pytest.mark.parametrize("batch", [0, -1, 1.5, True])
def test_a_batch_is_a_whole_number(batch):
    with pytest.raises(InputError, match="batch must be a whole number, 1 or more"):
        ts.score_pairs(Product(), PAIRS, batch=batch)


def test_pairs_have_two_columns():
    with pytest.raises(InputError, match=r"shape \(n, 2\), got shape \(4,\)"):
        ts.score_pairs(Product(), PAIRS[:, 0])


def test_a_built_in_function_that_hides_its_arguments_is_taken_at_its_word():
    assert isinstance(ts.as_scorer(max, 5), ts.Scorer)


def test_names_are_those_the_user_gave():
    assert ts.scorer_name(Product()) == "product"
    assert ts.scorer_name(ts.as_scorer(lambda pairs: pairs, 5)) == "the lambda"
    assert ts.scorer_name(ts.as_scorer(Doubled(), 5)) == "Doubled"
    assert ts.scorer_name(ts.as_scorer(np.ones((5, 1)), 5)) == "EmbeddingScorer"


def test_scoring_with_numpy_does_not_import_torch():
    code = (
        "import sys, numpy as np, trueedge.scorers.scorer as t;"
        "t.score_pairs(t.as_scorer(np.ones((3, 2)), 3), np.array([[0, 1]]));"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# Files of scores


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.txt", "1.5\n-2\n3e2\n"),
        ("s.csv", "score\n1.5\n-2\n3e2"),
        ("s.tsv", "# mine\n\n% yours\n1.5\r\n -2 \r\n300.0\r\n"),
    ],
)
def test_one_score_a_line_is_read_in_order(tmp_path, name, content):
    scores = ts.read_scores(write(tmp_path, name, content))
    assert scores.in_order is not None
    assert scores.in_order.tolist() == [1.5, -2.0, 300.0]
    with pytest.raises(InputError, match=f"{name} holds scores without pairs"):
        scores.score(PAIRS)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.csv", "u,v,score\n1,0,0.25\n2, 3, 0.5\n0,4,1\n3,3,-1\n9,8,7\n"),
        ("s.txt", "1 0 0.25\n2\t3 0.5\n\n0 4 1\n# middle\n3 3 -1\n9 8 7"),
        ("s.tsv", "1;0;0.25\n3;2;.5\n2;3;.5\n0;4;1e0\n3;3;-1\n8;9;7"),
    ],
)
def test_pairs_are_looked_up_in_either_direction(tmp_path, name, content):
    scores = ts.as_scorer(write(tmp_path, name, content), 10)
    assert ts.score_pairs(scores, PAIRS).tolist() == [0.25, 0.5, 1.0, -1.0]
    assert ts.score_pairs(scores, PAIRS[:, ::-1]).tolist() == [0.25, 0.5, 1.0, -1.0]


LABELS = ("1003", "ann lee", "1000", "C#", "x, y")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.csv", 'u,v,score\nann lee,1003,0.25\n"1000",C#,0.5 # why\n1003,"x, y",1\n# c\nC#,C#,-1\n'),
        ("s.tsv", "1003\tann lee\t0.25\n1000\tC#\t0.5\nx, y\t1003\t1\n\nC#\tC#\t-1"),
    ],
)
def test_ids_are_looked_up_among_the_labels(tmp_path, name, content):
    scores = ts.as_scorer(write(tmp_path, name, content), 5, LABELS)
    assert ts.score_pairs(scores, PAIRS).tolist() == [0.25, 0.5, 1.0, -1.0]


def test_labels_that_look_like_numbers_are_labels(tmp_path):
    labels = ("3", "2", "1", "0", "9")
    table = "2 3 0.25 # why\n1 0 0.5\n9 3 1\n0 0 -1"
    assert ts.read_scores(write(tmp_path, "s.txt", table), labels).score(PAIRS).tolist() == [0.25, 0.5, 1, -1]
    rows = np.array([[2, 3, 0.25], [1, 0, 0.5], [9, 3, 1], [0, 0, -1]])
    np.save(tmp_path / "s.npy", rows)
    assert ts.read_scores(tmp_path / "s.npy", labels).score(PAIRS).tolist() == [0.25, 0.5, 1, -1]
    np.savez(tmp_path / "s.npz", pairs=rows[:, :2].astype(int).astype(str), scores=rows[:, 2])
    assert ts.read_scores(tmp_path / "s.npz", labels).score(PAIRS).tolist() == [0.25, 0.5, 1, -1]


def test_ids_that_are_all_node_numbers_and_not_all_labels_are_node_numbers(tmp_path):
    path = write(tmp_path, "s.csv", "1,0,0.25\n2,3,0.5\n0,4,1\n3,3,-1\n")
    assert ts.read_scores(path, LABELS).score(PAIRS).tolist() == [0.25, 0.5, 1.0, -1.0]
    # A file without pairs has no ids.
    alone = ts.read_scores(write(tmp_path, "t.csv", "5\n6\n"), LABELS)
    assert alone.in_order is not None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# c\n1003,bob,1", r"s\.csv, line 2: no node is called 'bob'"),
        ("u,v,score\n1003,1000,1\n1003,5,1", r"s\.csv, line 3: no node is called '5'"),
        ("0,5,1", "line 1: no node is called '0'"),
        ("1003,C#,1\nC#,1000,high", "line 2: 'high' is not a number"),
        ("1003,C#,1\nC#,1000", "line 2: 2 columns, where the first line has 3"),
        ('1003,C#,1\n"C#,1000,1', "line 2: the quotes do not match"),
        ("1003,C#,nan", "1 of 1 scores in s.csv is NaN"),
        ("1003,C#,1\nC#,1003,2", r"gives the pair \(1003, C#\) two different scores"),
        ("u,v,score\n", "s.csv holds no score"),
        ("", "s.csv holds no score"),
    ],
)
def test_a_bad_table_with_labels_is_refused_with_its_line(tmp_path, content, message):
    with pytest.raises(InputError, match=message) as caught:
        ts.read_scores(write(tmp_path, "s.csv", content), LABELS)
    assert "\n" not in str(caught.value)


def test_an_array_with_an_unknown_label_is_refused_with_its_row(tmp_path):
    np.save(tmp_path / "s.npy", np.array([[1000, 1003, 1], [1000, 7.5, 2]]))
    with pytest.raises(InputError, match=r"s\.npy: pairs: row 1: no node is called '7\.5'"):
        ts.read_scores(tmp_path / "s.npy", LABELS)


def test_a_missing_pair_is_called_by_its_labels(tmp_path):
    scores = ts.read_scores(write(tmp_path, "s.csv", "1003,C#,1\n"), LABELS)
    with pytest.raises(InputError, match=r"no score for 4 of 4 pairs, for example \(1003, ann lee\)"):
        scores.score(PAIRS)


def test_numpy_files_are_read_like_text(tmp_path):
    table = np.column_stack([PAIRS, [1.0, 2.0, 3.0, 4.0]])
    np.save(tmp_path / "flat.npy", table[:, 2])
    np.save(tmp_path / "table.npy", table)
    np.savez(tmp_path / "flat.npz", scores=table[:, 2])
    np.savez(tmp_path / "table.npz", scores=table[:, 2], pairs=PAIRS)
    for kind in ("npy", "npz"):
        flat = ts.read_scores(tmp_path / f"flat.{kind}")
        assert flat.in_order is not None
        assert flat.in_order.tolist() == [1.0, 2.0, 3.0, 4.0]
        assert ts.read_scores(str(tmp_path / f"table.{kind}")).score(PAIRS).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_gzip_is_read_too(tmp_path):
    import gzip

    (tmp_path / "s.txt.gz").write_bytes(gzip.compress(b"1\n2\n"))
    scores = ts.read_scores(tmp_path / "s.txt.gz")
    assert scores.in_order is not None
    assert scores.in_order.tolist() == [1.0, 2.0]


def test_a_missing_pair_is_named_and_counted(tmp_path):
    scores = ts.read_scores(write(tmp_path, "s.csv", "0,1,5\n2,3,6\n"))
    with pytest.raises(InputError, match=r"s.csv has no score for 2 of 4 pairs, for example \(4, 0\)"):
        scores.score(PAIRS)


def test_an_id_past_the_files_is_missing_and_not_another_pair(tmp_path):
    # With ids below 4, the key of (0, 6) would be that of (1, 2).
    scores = ts.read_scores(write(tmp_path, "s.csv", "1,2,5\n0,3,6\n"))
    with pytest.raises(InputError, match=r"no score for 1 of 1 pairs, for example \(0, 6\)"):
        scores.score(np.array([[0, 6]]))


def test_a_pair_may_be_listed_again_but_not_with_another_score(tmp_path):
    again = ts.read_scores(write(tmp_path, "same.csv", "0,1,5\n1,0,5\n"))
    assert again.score(np.array([[0, 1]])).tolist() == [5.0]
    with pytest.raises(InputError, match=r"gives the pair \(0, 1\) two different scores, 5.0 and 6.0"):
        ts.read_scores(write(tmp_path, "other.csv", "0,1,5\n3,4,1\n1,0,6\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "s.csv holds no score"),
        ("# nothing\n\n", "s.csv holds no score"),
        ("score\n", "s.csv holds no score"),
        ("1\ntwo\n3", "line 2: 'two' is not a number"),
        ("1 # one\n2\nx", "line 3: 'x' is not a number"),
        ("1\n1_000\n", "line 2: '1_000' is not a number"),
        ("1\n٣\n", "line 2: '٣' is not a number"),
        ("# c\n1,2,3\n\n1,x,3", "line 4: 'x' is not a number"),
        ("a,b,c\n1,2,3\nx,2,3", "line 3: 'x' is not a number"),
        ("1,2,3\n1,,3", "line 2: '' is not a number"),
        ("1,2,3\n1,2", "line 2: 2 columns, where the first line has 3"),
        ("1,2\n3,4", r"must contain one score per line or u,v,score; got shape \(2, 2\)"),
        ("0,1,nan\n1,2,3", "1 of 2 scores in s.csv is NaN"),
        ("0,1,inf\n1,2,-inf", "2 of 2 scores in s.csv are infinite"),
        ("-1,2,3", "s.csv: pairs: row 0 has the node id -1"),
        ("0.5,2,3", "s.csv: pairs: row 0 has 0.5, which is not a node id"),
        ("4000000000,2,3", "s.csv: pairs: row 0 has the node id 4000000000"),
        ("nan,2,3", "s.csv: pairs: row 0 has nan, which is not a node id"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path, content, message):
    with pytest.raises(InputError, match=message) as caught:
        ts.read_scores(write(tmp_path, "s.csv", content))
    assert "\n" not in str(caught.value)


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    text=st.text(st.sampled_from('0123456789.,;-+eEnaif#%_ \n\t\r\x0b٣"'), max_size=40),
    labels=st.sampled_from([None, ("0", "1", "2"), ("3", "a", "e")]),
)
def test_any_text_is_read_or_refused_in_one_sentence(tmp_path, text, labels):
    path = tmp_path / "s.csv"
    path.write_text(text, encoding="utf-8")
    refusal = ""
    try:
        scores = ts.read_scores(path, labels)
    except InputError as error:
        refusal = str(error)
    else:
        numbers = scores.values if scores.in_order is None else scores.in_order
        assert len(numbers) > 0
        assert np.isfinite(numbers).all()
    assert "\n" not in refusal


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(at=st.integers(0, 10**4), byte=st.integers(0, 255), kind=st.sampled_from(["npy", "npz"]))
def test_a_damaged_numpy_file_is_read_or_refused(tmp_path, at, byte, kind):
    path = tmp_path / f"s.{kind}"
    if kind == "npy":
        np.save(path, np.arange(6.0))
    else:
        np.savez_compressed(path, scores=np.arange(6.0))
    data = bytearray(path.read_bytes())
    data[at % len(data)] = byte
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        ts.read_scores(path)


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file of scores at"):
        ts.read_scores(tmp_path / "missing.csv")
    with pytest.raises(InputError, match="there is no file of scores at"):
        ts.read_scores(tmp_path)
    with pytest.raises(InputError, match=r"must end in one of \.npy, \.npz, \.txt"):
        ts.read_scores(write(tmp_path, "s.pkl", "1"))
    with pytest.raises(InputError, match=r"s\.npy cannot be read"):
        ts.read_scores(write(tmp_path, "s.npy", "no array"))
    with pytest.raises(InputError, match=r"s\.npz cannot be read"):
        ts.read_scores(write(tmp_path, "s.npz", "no archive"))
    (tmp_path / "s.txt").write_bytes(b"\xff\xfe1\n")
    with pytest.raises(InputError, match="not UTF-8"):
        ts.read_scores(tmp_path / "s.txt")


def test_the_content_of_a_numpy_file_counts_and_not_its_ending(tmp_path):
    np.save(tmp_path / "s.npy", np.arange(3.0))
    (tmp_path / "s.npy").rename(tmp_path / "s.npz")
    scores = ts.read_scores(tmp_path / "s.npz")
    assert scores.in_order is not None
    assert scores.in_order.tolist() == [0.0, 1.0, 2.0]


def test_pickles_are_never_opened(tmp_path):
    np.save(tmp_path / "s.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"s\.npy cannot be read"):
        ts.read_scores(tmp_path / "s.npy")
    np.savez(tmp_path / "s.npz", scores=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match=r"s\.npz cannot be read"):
        ts.read_scores(tmp_path / "s.npz")


def test_an_archive_holds_scores_and_pairs_that_fit(tmp_path):
    np.savez(tmp_path / "a.npz", wrong=np.ones(3))
    with pytest.raises(InputError, match=r"a\.npz must hold 'scores' .*; it holds 'wrong'"):
        ts.read_scores(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", scores=np.ones(3), pairs=PAIRS)
    with pytest.raises(InputError, match=r"it holds scores \(3,\), pairs \(4, 2\)"):
        ts.read_scores(tmp_path / "b.npz")
    np.save(tmp_path / "c.npy", np.array(["a"]))
    with pytest.raises(InputError, match=r"scores in c\.npy must be real numbers"):
        ts.read_scores(tmp_path / "c.npy")
    np.save(tmp_path / "d.npy", np.ones((2, 3, 4)))
    with pytest.raises(InputError, match=r"d\.npy must contain one score per line"):
        ts.read_scores(tmp_path / "d.npy")


def test_flat_scores_are_divided_as_the_task_lists_its_pairs():
    positive, negative = ts.split_flat(np.arange(8), 2, (2, 3))
    assert positive.tolist() == [0.0, 1.0]
    assert negative.tolist() == [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
    positive, negative = ts.split_flat(np.arange(5.0), 2, (3,))
    assert negative.tolist() == [2.0, 3.0, 4.0]
    with pytest.raises(
        InputError, match="there are 7 scores, but the task lists 8 pairs: 2 positives, then 2 x 3"
    ):
        ts.split_flat(np.arange(7), 2, (2, 3))


@pytest.mark.parametrize(("content", "sentence"), FORGED)
def test_forged_scores_are_refused_without_the_memory(tmp_path, content, sentence):
    (tmp_path / "s.npy").write_bytes(content)
    with memory_below(5e6), pytest.raises(InputError, match=rf"^s\.npy cannot be read: it .*{sentence}"):
        ts.read_scores(tmp_path / "s.npy")
    with zipfile.ZipFile(tmp_path / "s.npz", "w") as archive:
        archive.writestr("scores.npy", content)
    said = rf"^s\.npz cannot be read: s\.npz, scores .*{sentence}"
    with memory_below(5e6), pytest.raises(InputError, match=said):
        ts.read_scores(tmp_path / "s.npz")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"file_size": 8 * 10**12}, "unpacks to more than 1,073,741,824 bytes"),
        ({"file_size": 8 * 10**12, "compress_size": 8 * 10**12}, "its members have 8,000,000,000,0"),
        ({"file_size": 208}, "is a damaged archive: .*Bad CRC-32"),
        ({"compress_type": zipfile.ZIP_LZMA}, "another compression than deflate"),
    ],
)
def test_an_archive_of_scores_that_lies_about_its_sizes_is_refused_without_the_memory(
    tmp_path, changes, sentence
):
    np.savez_compressed(tmp_path / "s.npz", scores=np.zeros(10**5))
    with zipfile.ZipFile(tmp_path / "s.npz", "a") as archive:
        for name, value in changes.items():
            setattr(archive.infolist()[0], name, value)
        archive.comment = b"written anew"
    with memory_below(5e6), pytest.raises(InputError, match=rf"^s\.npz cannot be read: s\.npz.*({sentence})"):
        ts.read_scores(tmp_path / "s.npz")


def test_scores_in_an_archive_are_read_packed_or_not_in_either_order(tmp_path):
    table = np.array([[0.0, 1.0, 0.5], [2.0, 3.0, 0.25]])
    np.save(tmp_path / "s.npy", np.asfortranarray(table))
    assert ts.read_scores(tmp_path / "s.npy").score(np.array([[3, 2]])).tolist() == [0.25]
    for write in (np.savez, np.savez_compressed):
        write(tmp_path / "s.npz", scores=table[:, 2], pairs=np.asfortranarray(table[:, :2]))
        assert ts.read_scores(tmp_path / "s.npz").score(np.array([[3, 2]])).tolist() == [0.25]


class Fickle:
    """An object that gives numpy another array each time it is asked."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.answers.pop(0), dtype=dtype)


def test_an_answer_is_converted_once_so_that_what_was_checked_is_what_counts():
    scorer = ts.as_scorer(lambda pairs: Fickle(np.arange(4.0), [9.0]), 5)
    assert ts.score_pairs(scorer, PAIRS).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_an_object_that_cannot_become_an_array_is_refused_in_one_sentence():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise KeyError("broken")

    scorer = ts.as_scorer(lambda pairs: Broken(), 5)
    with pytest.raises(InputError, match="the scores of the lambda cannot be read as an array: 'broken'"):
        ts.score_pairs(scorer, PAIRS)


@pytest.mark.parametrize("kind", [list, tuple])
def test_whole_numbers_among_floats_are_refused_if_numpy_rounds_them(kind):
    scorer = ts.as_scorer(lambda pairs: kind([2**53, 2**53 + 1, 0.5, 1]), 5)
    with pytest.raises(InputError, match="1 of 4 scores of the lambda do not fit into a float64"):
        ts.score_pairs(scorer, PAIRS)
    exact = ts.as_scorer(lambda pairs: kind([2**53, 2**60, 0.5, 1e300]), 5)
    assert ts.score_pairs(exact, PAIRS).tolist() == [2.0**53, 2.0**60, 0.5, 1e300]
