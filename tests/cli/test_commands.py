"""The command line: what it prints, and how it refuses."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.cli.app import app


@pytest.mark.parametrize(
    ("command", "expected"),
    [("datasets", "2,708"), ("methods", "beta=0.005"), ("protocols", "keep_connected=True")],
)
def test_the_catalogues_list_what_there_is(trueedge, command: str, expected: str) -> None:
    status, out, _ = trueedge(command)
    assert status == 0
    assert expected in out


def test_a_run_prints_a_table_and_keeps_records(trueedge, tmp_path: Path) -> None:
    words = (
        "run",
        "karate",
        "-p",
        "existing,uniform",
        "-m",
        "cn,katz",
        "--seeds",
        "3",
        "--set",
        "katz.beta=0.01",
    )
    status, out, err = trueedge(*words)
    assert status == 0
    assert "karate · existing" in out
    assert "karate · uniform" in out
    assert "3 seeds, mean ± std" in out
    assert "12 new, 0 cached" in err
    records = te.Store(tmp_path / "runs").records()
    assert len(records) == 12
    assert {r.settings.get("beta") for r in records if r.method == "katz"} == {0.01}
    again = trueedge(*words)
    assert again[1] == out
    assert "0 new, 12 cached" in again[2]


def test_a_fixed_split_stays_over_seeds(trueedge, tmp_path: Path) -> None:
    assert trueedge("run", "karate", "-p", "existing", "-m", "cn", "--seeds", "2", "--fixed-split")[0] == 0
    assert len({r.provenance["task"] for r in te.Store(tmp_path / "runs").records()}) == 1


def test_a_family_runs_what_it_can_and_says_what_it_cannot(trueedge) -> None:
    status, out, err = trueedge("run", "karate", "-p", "uniform", "-m", "heuristics", "--seeds", "1")
    assert status == 0
    assert "skipped cosine: karate has no node features" in err
    assert "shortest-path" in out
    assert trueedge("run", "karate", "-p", "uniform", "-m", "cosine", "--seeds", "1")[0] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "karaet"), "did you mean 'karate'"),
        (("run", "karate", "-p", "haert"), "did you mean 'heart'"),
        (("run", "karate", "-m", "kats"), "did you mean 'katz'"),
        (("run", "karate", "-m", ","), "no method is named"),
        (("run", "karate", "-m", "katz", "--set", "betta=1"), "did you mean 'beta'"),
        (("run", "karate", "-m", "katz", "--set", "cn.beta=1"), "cn"),
        (("run", "karate", "-m", "katz", "--set", "beta=0.1,max_length=2"), "give --set once for each"),
        (("run", "karate", "-p", "heart", "--option", "k=4,alpha=0.2"), "give --option once for each"),
        (("run", "karate", "-m", "katz", "--set", "beta"), "key=value"),
        (("run", "karate", "-m", "cn", "--set", "beta=1"), "no setting of cn is called 'beta'"),
        (("run", "karate", "-p", "heart,existing", "--option", "kk=2"), "did you mean 'k'"),
        (("run", "karate", "-m", "katz", "--set", "beta=much"), "beta must be"),
        (("run", "karate", "-p", "uniform", "--option", "keep_connected=Fales"), "keep_connected"),
        (("run", "missing.csv"), "there is no file missing.csv"),
        (("score", "karate", "none.txt", "-p", "existing"), "none.txt"),
        (("score", ".", "none.txt"), "no task"),
        (("check", "karate", "nobody:score"), "nobody"),
        (("check", "karate", "nobody.py:score"), "no file nobody.py"),
        (("check", "karate", "json:nothing"), "does not define 'nothing'"),
        (("negatives", "karate", "-p", "recommendation", "-o", "x.npz"), "it has no negatives to write"),
        (("negatives", "karate", "-o", "x.csv"), ".npz"),
        (("export", "x.csv", "--runs", "nowhere"), "no folder nowhere"),
        (("records", "--runs", "nowhere"), "no folder nowhere"),
        (("records", "--runs", "."), "no records"),
        (("pairs", "karate", "-p", "existing", "-o", "x.txt"), ".csv"),
        (("pairs", "karate", "-p", "recommendation", "-o", "x.csv"), "it has no pairs to write"),
        (("datasets", "karaet"), "did you mean 'karate'"),
        (("methods", "kats"), "did you mean 'katz'"),
        (("protocols", "haert"), "did you mean 'heart'"),
        (("reproduce", "heart/table-99"), "did you mean"),
        (("reproduce", "tagnet/messages", "--set", "epoch=1"), "did you mean 'epochs'"),
        (
            ("reproduce", "tagnet/messages", "--set", "qqqq=1"),
            "'trueedge methods NAME' lists those of a method",
        ),
        (("reproduce", "tagnet/messages", "--set", "epochs"), "not of the form key=value"),
        (("reproduce", "degree-bias/figure-1b", "--jobs", "2"), "figure-1b runs in one process: remove"),
    ],
)
def test_wrong_input_is_one_sentence_on_stderr_and_status_one(trueedge, words, sentence: str) -> None:
    status, out, err = trueedge(*words)
    assert status == 1
    assert sentence in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(
    "words", [("run",), ("run", "karate", "--seeds", "0"), ("nonsense",), ("run", "--what")]
)
def test_wrong_usage_is_status_two(trueedge, words) -> None:
    assert trueedge(*words)[0] == 2


def test_a_task_is_frozen_scored_and_checked(trueedge, tmp_path: Path) -> None:
    status, out, _ = trueedge("task", "karate", "-p", "existing", "-o", "frozen")
    assert status == 0
    task = te.load_task(tmp_path / "frozen")
    assert out.strip() == task.hash
    scorer = te.methods.get("ra")().fit(task)
    np.savetxt("scores.txt", scorer.score(task.distinct_pairs("test")), header=task.pairs_title("test"))
    status, out, _ = trueedge("score", "frozen", "scores.txt")
    assert status == 0
    value = task.evaluate(scorer)["mrr"]
    assert f"{100 * value:.2f}  {value:.6f}" in out
    status, out, _ = trueedge("check", "frozen", "ra")
    assert status == 0
    assert "ra: all checks passed" in out


def test_a_scorer_of_ones_own_is_checked_from_its_file(trueedge, tmp_path: Path) -> None:
    Path("mine.py").write_text("def shaky(pairs):\n    return pairs[:, 0] - pairs[:, 0].mean()\n")
    status, out, _ = trueedge("check", "karate", "mine.py:shaky")
    assert status == 1
    assert "broken  batch" in out
    assert "look    direction" in out


def test_negatives_for_a_graph_of_ones_own(trueedge, tmp_path: Path) -> None:
    graph = te.load("karate")
    lines = [f"p{u},p{v}" for u, v in graph.edges.tolist()]
    Path("graph.csv").write_text("\n".join(["source,target", *lines]))
    assert trueedge("negatives", "graph.csv", "-o", "out/n.npz", "--option", "k=10")[0] == 0
    with np.load("out/n.npz", allow_pickle=False) as arrays:
        assert arrays["test_negatives"].shape == (len(arrays["test"]), 10, 2)
        assert len(arrays["labels"]) == 34
    Path("mine.csv").write_text("p0,p9\np33,p4\n")
    words = ("negatives", "graph.csv", "--positives", "mine.csv", "-o", "m.npz", "--option", "k=10")
    assert trueedge(*words)[0] == 0
    with np.load("m.npz", allow_pickle=False) as arrays:
        assert arrays["labels"][arrays["test"]].tolist() == [["p0", "p9"], ["p33", "p4"]]
        assert len(arrays["train"]) == 78
    Path("mine.csv").write_text("p0,p99\n")
    status, _, err = trueedge(*words)
    assert status == 1
    assert "line 1: 'p99' is not a node" in err


def test_records_are_exported(trueedge) -> None:
    trueedge("run", "karate", "-p", "uniform", "-m", "pa", "--seeds", "1")
    assert trueedge("export", "r.csv")[0] == 0
    rows = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert {row["metric"] for row in rows} >= {"auc", "ap"}
    assert list(rows[0])[-3:] == ["graph", "task", "source"]
    task = te.task("karate", "uniform")
    found = {(row["graph"], row["task"], row["source"]) for row in rows}
    assert found == {(task.graph.hash, task.hash, "karate")}
    assert trueedge("export", "r.json")[0] == 0
    assert json.loads(Path("r.json").read_text())[0]["method"] == "pa"
    for words in (
        ("-o", "same.csv"),
        ("runs", "-o", "same.csv"),
        ("--runs", "runs", "--output", "same.csv"),
        ("runs", "--runs", "./runs", "-o", "same.csv"),
        ("same.csv", "--runs", "runs"),
        ("same.csv", "-o", "./same.csv"),
    ):
        Path("same.csv").unlink(missing_ok=True)
        assert trueedge("export", *words)[0] == 0
        assert Path("same.csv").read_text() == Path("r.csv").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "which file? 'trueedge export -o records.csv' names one"),
        (("runs",), "runs is a folder: 'trueedge export runs -o records.csv' writes its records"),
        (
            ("runs", "--runs", "other", "-o", "r.csv"),
            "two folders of records are given, runs and --runs other",
        ),
        (("old.csv", "-o", "r.csv"), "old.csv is not a folder of records, and -o r.csv is the file to write"),
        (("nowhere", "-o", "r.csv"), "there is no folder nowhere"),
        (("-o", "r.csv", "--runs", "other"), "there are no records in other"),
    ],
)
def test_an_export_with_two_meanings_is_refused(trueedge, words, sentence: str) -> None:
    for folder in ("runs", "other"):
        Path(folder).mkdir()
    Path("old.csv").write_text("before")
    status, out, err = trueedge("export", *words)
    assert (status, out) == (1, "")
    assert err.startswith(f"trueedge: {sentence}")
    assert err.count("\n") == 1
    assert Path("old.csv").read_text() == "before"
    assert not Path("r.csv").exists()


@pytest.mark.data("planetoid", "heart/citeseer")
def test_reproduce_lists_its_studies_and_shows_ours_beside_theirs(trueedge, data_folder) -> None:
    assert "heart/table-4" in trueedge("reproduce", "list")[1]
    status, out, err = trueedge("reproduce", "heart/table-4", "--dataset", "citeseer", "-m", "cn")
    assert status == 0
    assert "8.42" in out
    assert "mean absolute difference" in err
    assert "+0.00" not in out
    assert "-0.00" not in out
    title, header = out.splitlines()[:2]
    assert "citeseer · heart-released · 1 seed" in title
    assert header.split() == ["method", "metric", "ours", "published", "difference"]
    assert "one seed, since" not in err
    status, out, err = trueedge(
        "reproduce", "heart/table-4", "--dataset", "citeseer", "-m", "cn", "--seeds", "3"
    )
    assert "citeseer · heart-released · 1 seed" in out.splitlines()[0]
    assert err.count("one seed, since nothing is random in a heuristic on a fixed split: cn") == 1


COMMANDS = [command.name for command in app.registered_commands]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(trueedge, command: str) -> None:
    status, out, _ = trueedge(command, "--help")
    assert status == 0
    assert f"trueedge {command}" in out.split("Example", 1)[1]


@pytest.mark.parametrize("command", [("verify",), ("leaderboard", "reproduce")])
def test_a_method_that_is_run_again_may_have_a_name_of_the_catalogue(trueedge, command) -> None:
    words = " ".join(trueedge(*command, "--help")[1].replace("│", " ").split())
    said = words.split("--method", 1)[1]
    assert "he method, by its name; FILE.py:NAME or MODULE:NAME for your own" in said


def test_help_fills_its_lines_shows_the_format_and_names_arguments_in_capitals(trueedge, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = trueedge("score", "--help")[1]
    assert "TASK" in out.split("\n")[1]
    assert "SCORES" in out.split("\n")[1]
    assert "     0,7,0.25" in out
    paragraph = out.split("Or it holds one score", 1)[1].split("Example")[0].strip().splitlines()
    assert min(map(len, paragraph[:-1])) > 50


def test_the_module_runs_and_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run([sys.executable, "-m", "trueedge", "--version"], capture_output=True, text=True)
    assert done.stdout.strip() == f"trueedge {te.__version__}"
    piped = subprocess.run(
        f"{sys.executable} -m trueedge datasets | head -1", shell=True, capture_output=True
    )
    assert piped.returncode == 0
    assert b"Traceback" not in piped.stderr


def test_a_figure_is_printed_as_a_table_and_drawn_on_a_page(trueedge, tmp_path) -> None:
    page = tmp_path / "figure.html"
    asked = ("reproduce", "heart/figure-3", "--dataset", "cora")
    status, out, _ = trueedge(*asked, "--page", str(page))
    assert status == 0
    assert "common neighbours  positives  negatives, existing" in out
    assert "<svg" in page.read_text(encoding="utf-8")
    status, _, err = trueedge(*asked, "--page", "figure.png")
    assert (status, err) == (1, "trueedge: figure.png: write a page to a .html file\n")


def test_the_first_command_runs_on_the_small_graph_and_says_what_k_is(trueedge) -> None:
    status, out, err = trueedge("run", "karate", "-m", "cn,ra", "--seeds", "1")
    assert status == 0
    assert "karate · heart" in out
    assert err.splitlines().count("heart: k = 34, the most this graph allows, instead of 500") == 1


def test_all_commands_have_one_default_protocol(trueedge) -> None:
    assert trueedge("task", "karate", "-o", "frozen")[0] == 0
    assert te.load_task("frozen").protocol == "heart"
    status, _, err = trueedge("check", "karate", "cn")
    assert status == 0
    assert "instead of 500" in err
    assert trueedge("negatives", "karate", "-o", "n.npz")[0] == 0
    assert np.load("n.npz")["test_negatives"].shape[1] == 34


def test_a_header_is_said_and_the_user_decides(trueedge) -> None:
    edges = te.load("karate").edges.tolist()
    rows = "".join(f"c{u},p{v}\n" for u, v in edges)
    Path("sales.csv").write_text(f"customer_id,product_id\n{rows}")
    words = ("task", "sales.csv", "-p", "uniform", "--option", "component=all")
    status, _, err = trueedge(*words, "-o", "a")
    assert status == 0
    assert "sales.csv: the first line was read as a header: customer_id, product_id" in err
    _, _, err = trueedge(*words, "-o", "b", "--no-header")
    assert "header" not in err
    assert te.load_task("b").num_nodes == te.load_task("a").num_nodes + 2
    assert trueedge(*words, "-o", "c", "--header")[0] == 0
    assert te.load_task("c").hash == te.load_task("a").hash
    for name in ("karate", "a"):
        status, _, err = trueedge("run", name, "--no-header", "--seeds", "1")
        assert status == 1
        assert f"--no-header is for an edge list, but {name} is not a file" in err


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_is_no_error(closed: str) -> None:
    shell = ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-m", "trueedge", "protocols"]
    done = subprocess.run(shell, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("heart" in done.stdout) == (closed == "2>&-")


def test_a_folder_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    shell = 'mkdir gone && cd gone && rmdir ../gone && "$@"'
    command = ["sh", "-c", shell, "sh", sys.executable, "-m", "trueedge", "protocols"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("trueedge: the current folder does not exist any more")
    assert len(done.stderr.splitlines()) == 1
