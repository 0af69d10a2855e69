"""``trueedge judge`` and ``trueedge score``: what they take, print and store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.results import Store

Run = Callable[..., tuple[int, str, str]]
OWN = """
import numpy as np
from trueedge.methods import create

def fit(graph):
    made = create("ra")
    return lambda pairs: made.score(graph, pairs)

def score(pairs):
    return np.zeros(len(pairs))

def curious(task):
    return task.test

def broken(graph):
    raise RuntimeError("out of luck")

def wants_features(graph):
    return graph.features.shape

def odd(graph):
    raise BaseException("odd")
"""


@pytest.fixture
def own(trueedge: Run) -> Run:
    """Run commands in a folder with a file of models and an edge list."""
    Path("mine.py").write_text(OWN)
    graph = te.load("karate")
    np.savetxt("graph.csv", graph.edges, fmt="%d", delimiter=",")
    return trueedge


def test_the_answer_comes_first_and_the_records_are_stored(own: Run) -> None:
    status, out, err = own("judge", "graph.csv", "mine.py:fit", "-p", "existing", "--seeds", "3")
    assert status == 0, err
    first, second = out.splitlines()[:2]
    assert first == "Verdict on mine · graph"
    assert second.startswith("mine ")
    assert "under existing" in second
    assert "What to do next" in out
    assert {one.method for one in Store("runs").records()} >= {"mine", "ppr", "ra"}
    assert "33 new, 0 cached" in err


def test_a_second_verdict_uses_the_records_and_a_report_shows_the_model(own: Run) -> None:
    words = ("judge", "karate", "mine.py:fit", "-p", "existing", "--seeds", "2", "--name", "mygcn")
    assert own(*words)[0] == 0
    status, _, err = own(*words)
    assert status == 0
    assert "0 new, 22 cached" in err
    assert own("report", "runs", "-o", "report.html")[0] == 0
    assert "mygcn" in Path("report.html").read_text()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("mine.py:curious", "the test part is withheld while a method is fitted"),
        ("mine.py:broken", "its code raised RuntimeError: out of luck (mine.py, line 16)"),
        ("mine.py:wants_features", "karate has no node features (mine.py, line 19)"),
        ("mine.py:odd", "its code raised BaseException: odd"),
        ("mine.py:nothing", "does not define 'nothing'"),
        ("missing.npy", "there is no file missing.npy"),
        ("pppr", "did you mean"),
        ("folder", "folder is a folder: a model is a method, FILE.py:NAME, or a file of vectors or scores"),
    ],
)
def test_a_model_that_cannot_be_run_is_one_sentence(own: Run, model: str, said: str) -> None:
    Path("folder").mkdir()
    status, out, err = own("judge", "karate", model, "-p", "existing", "--seeds", "1")
    assert status == 1
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_doubts_are_printed_and_the_status_is_0(own: Run) -> None:
    status, out, _ = own("judge", "karate", "mine.py:score", "-p", "existing")
    assert status == 0
    assert "These scores cannot be trusted" in out
    assert "all scores are 0: they separate nothing" in out


def test_the_shape_of_a_file_decides_what_it_holds(own: Run) -> None:
    np.save("vectors.npy", np.random.default_rng(0).normal(size=(34, 5)))
    status, out, err = own("judge", "karate", "vectors.npy", "-p", "existing")
    assert status == 0
    assert "vectors.npy holds vectors of 34 nodes in 5 dimensions" in err
    assert out.startswith("Verdict on vectors · karate")
    numbered = np.column_stack([np.arange(34), np.ones((34, 4))])
    np.savetxt("vectors.csv", numbered, delimiter=",", header="node,a,b,c,d", comments="")
    assert "34 nodes in 4 dimensions" in own("judge", "karate", "vectors.csv", "-p", "existing")[2]


def test_scores_from_a_file_are_shown_beside_baselines_without_advice_on_seeds(own: Run) -> None:
    assert own("task", "karate", "-p", "existing", "-o", "frozen")[0] == 0
    _write_scores("frozen")
    status, out, err = own("score", "frozen", "scores.csv", "--name", "mygcn")
    assert status == 0, err
    assert "mygcn" in out
    assert "ppr" in out
    # A file of scores belongs to one split.
    assert "--seeds" not in err


def test_a_file_of_scores_is_judged_on_its_task(own: Run) -> None:
    assert own("task", "karate", "-p", "existing", "-o", "frozen")[0] == 0
    _write_scores("frozen")
    status, out, err = own("judge", "frozen", "scores.csv", "--page", "verdict.html")
    assert status == 0, err
    assert "scores.csv holds scores of pairs" in err
    assert out.startswith("Verdict on scores · karate")
    assert "Verdict on scores" in Path("verdict.html").read_text()


def test_a_page_with_another_ending_is_refused_before_the_work(own: Run) -> None:
    status, _, err = own("judge", "karate", "mine.py:fit", "-o", "verdict.txt")
    assert status == 1
    assert ".html" in err
    assert not Path("runs").exists()


def test_score_shows_the_baselines_and_records(own: Run) -> None:
    assert own("task", "karate", "-p", "existing", "-o", "frozen")[0] == 0
    _write_scores("frozen")
    status, out, err = own("score", "frozen", "scores.csv", "--name", "mygcn")
    assert status == 0, err
    for method in ("mygcn", "ppr", "shortest-path"):
        assert method in out
    assert "95 %" in out
    assert "mygcn" in {one.method for one in Store("runs").records()}
    status, out, _ = own("score", "frozen", "scores.csv", "--no-baselines")
    assert status == 0
    assert "ppr" not in out


def _write_scores(folder: str) -> None:
    task = te.tasks.load(folder)
    pairs = task.distinct_pairs("test")
    scores = np.random.default_rng(0).random(len(pairs))
    np.savetxt("scores.csv", np.column_stack([pairs, scores]), fmt=["%d", "%d", "%.6f"], delimiter=",")


def test_vectors_whose_nodes_are_numbered_from_one_are_refused(trueedge) -> None:
    Path("vectors.csv").write_text("".join(f"{node},0.5,0.{node},1\n" for node in range(1, 35)))
    status, out, err = trueedge("judge", "karate", "vectors.csv")
    assert (status, out) == (1, "")
    assert "its first column looks like node numbers, but these must be 0 to 33, once each" in err


TRIPLES = """
import numpy as np

def fit(graph):
    vectors = np.random.default_rng(0).normal(size=(graph.num_entities, 4))
    return lambda triples: vectors[triples[:, 0], triples[:, 1] % 4] * vectors[triples[:, 2], 0]
"""


@pytest.fixture
def table(trueedge: Run) -> Run:
    """Run commands in a folder with a table of scores of the test queries of nations."""
    Path("mine.py").write_text(TRIPLES)
    queries = te.task("nations").queries()
    scores = np.random.default_rng(0).normal(size=(50, 14))[queries.sum(axis=1) % 50]
    np.save("mine.npy", scores)
    np.savez("mine.npz", scores)
    np.savetxt("mine.csv", scores, delimiter=",")
    return trueedge


def test_a_table_of_scores_of_triples_is_judged_and_named_as_one(table: Run) -> None:
    status, out, err = table("judge", "nations", "mine.npy")
    assert status == 0, err
    assert "mine.npy holds scores of 14 entities for 402 queries" in err
    assert "vectors" not in err
    assert "Doubts" not in out
    assert [list(one.metrics) for one in Store("runs").records() if one.method == "mine"] == [["test"]]


@pytest.mark.parametrize("command", ["judge", "score"])
@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_a_table_of_scores_of_triples_is_a_npy_file(table: Run, command: str, ending: str) -> None:
    status, _, err = table(command, "nations", f"mine.{ending}")
    assert status == 1
    assert f"mine.{ending}: scores of triples are read from a .npy file alone" in err
    Path("torn.npy").write_bytes(Path("mine.npy").read_bytes()[:-100])
    assert "torn.npy is damaged" in table(command, "nations", "torn.npy")[2]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_scores_that_are_not_numbers_give_no_warning_of_numpy(table: Run) -> None:
    scores = np.load("mine.npy")
    scores[:, 3] = np.nan
    np.save("nan.npy", scores)
    status, _, err = table("score", "nations", "nan.npy")
    assert status == 1
    assert "NaN" in err
    assert "RuntimeWarning" not in err


def test_check_trains_what_judge_trains_and_says_what_it_takes(table: Run) -> None:
    status, out, err = table("check", "nations", "mine.py:fit", "--sample", "50")
    assert status == 0, out + err
    status, _, err = table("check", "nations", "mine.npy")
    assert status == 1
    assert "mine.npy is a file: check takes a method's name" in err
    assert "'trueedge score'" in err
    assert "adaprop" not in err


def test_a_method_given_by_name_keeps_its_name(table: Run) -> None:
    status, _, err = table("judge", "nations", "relation-frequency", "--name", "mymodel")
    assert status == 1
    assert "'relation-frequency' is a method and keeps its name" in err


def test_vectors_as_word2vec_writes_them_are_read_and_a_fault_has_its_line(trueedge) -> None:
    vectors = np.random.default_rng(0).normal(size=(34, 4)).round(6)
    rows = [f"{node} {' '.join(map(str, vectors[node].tolist()))}" for node in range(33, -1, -1)]
    Path("w2v.txt").write_text("\n".join(["34 4", *rows]) + "\n")
    np.save("same.npy", vectors)
    words = ("-p", "existing", "--seeds", "1", "--name", "mine")
    _, found, err = trueedge("judge", "karate", "w2v.txt", *words)
    assert "w2v.txt holds vectors of 34 nodes in 4 dimensions" in err
    assert found == trueedge("judge", "karate", "same.npy", *words)[1]
    Path("w2v.txt").write_text("\n".join(["34 4", *rows[:9], "24 a 1 2 3", *rows[10:]]) + "\n")
    status, _, err = trueedge("judge", "karate", "w2v.txt", *words)
    assert status == 1
    assert "w2v.txt, line 11: 'a' is not a number: a file of vectors has only numbers" in err
    Path("w2v.txt").write_text("\n".join([*rows[:9], "24 1 2 3", *rows[10:]]) + "\n")
    assert (
        "w2v.txt, line 10: 4 columns, where the last line has 5"
        in trueedge("judge", "karate", "w2v.txt", *words)[2]
    )


def test_lists_of_partners_are_judged_under_recommendation_alone(trueedge) -> None:
    assert (
        trueedge("recommend", "karate", "-p", "recommendation", "-m", "katz", "-k", "33", "-o", "l.csv")[0]
        == 0
    )
    status, out, err = trueedge("judge", "karate", "l.csv", "-p", "recommendation")
    assert status == 0, err
    assert "l.csv holds recommended partners of nodes" in err
    assert "l is not significantly different from" in out
    status, _, err = trueedge("judge", "karate", "l.csv")
    assert status == 1
    assert "l.csv holds recommended lists: judge them under the protocol recommendation" in err
