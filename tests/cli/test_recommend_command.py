"""Commands on interactions: recommend, run, score, check, records, export, report, certify, tune."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

import small_interactions as made_up
import trueedge as te
from small_interactions import small_interactions
from trueedge.methods.method import METHODS


@pytest.fixture(autouse=True)
def own_methods():
    """Methods of the user's file leave the catalogue after the test."""
    with METHODS.restored():
        yield


@pytest.fixture
def shop(tmp_path) -> str:
    """A saved task whose users and items have names, and a file with methods."""
    te.task(small_interactions(named=True, knowledge=True)).save(tmp_path / "shop")
    text = Path(made_up.__file__).read_text()
    (tmp_path / "own.py").write_text(text[: text.index("# They are given as objects")])
    return "shop"


def test_every_user_gets_a_table(trueedge, shop) -> None:
    status, out, err = trueedge(
        "recommend", shop, "-m", "popularity", "--user", "reader-3", "--user", "7", "-k", "2"
    )
    assert status == 0
    lines = out.splitlines()
    assert [line.split() for line in lines[:2]] == [["user", "reader-3"], ["item", "title", "score"]]
    assert lines[4] == "user reader-7"
    assert lines[2].split() == ["1", "book-1", "The", "Book", "of", "1", "32"]
    assert len(lines) == 8
    assert "popularity was fitted to the training part of small-shop under full-ranking, seed 0" in err
    assert "known items (training and validation part) are left out" in err


def test_lists_of_all_users_are_written_to_a_file_and_can_be_scored(trueedge, shop) -> None:
    status, out, err = trueedge("recommend", shop, "-m", "own.py:Neighbours", "-k", "30", "-o", "lists.csv")
    assert (status, out) == (0, "")
    assert "60 lists written to lists.csv" in err
    rows = list(csv.DictReader(Path("lists.csv").read_text().splitlines()))
    assert len({row["user"] for row in rows}) == 60
    status, out, _ = trueedge("score", shop, "lists.csv")
    assert status == 0
    task = te.load_task(shop)
    own = task.evaluate(made_up.Neighbours().fit(task))
    assert f"{own['recall@20']:.6f}" in out
    status, again, err = trueedge("recommend", shop, "-m", "lists.csv", "--user", "reader-5", "-k", "3")
    assert status == 0
    assert "fitted" not in err
    best = [row["item"] for row in rows if row["user"] == "reader-5"][:3]
    assert [line.split()[1] for line in again.splitlines()[2:]] == best


def test_users_come_from_a_file_and_each_is_listed_once(trueedge, shop) -> None:
    Path("users.txt").write_text("reader-4\n\n reader-2 \nreader-4\n")
    status, out, _ = trueedge("recommend", shop, "-m", "random", "--users", "users.txt", "-o", "lists.json")
    assert status == 0
    assert [line for line in out.splitlines() if line.startswith("user")] == [
        "user reader-4",
        "user reader-2",
    ]
    assert len(json.loads(Path("lists.json").read_text())) == 20


def test_a_setting_and_a_seed_reach_the_method(trueedge, shop) -> None:
    words = ("recommend", shop, "-m", "own.py:Neighbours", "--user", "3")
    assert trueedge(*words)[1] != trueedge(*words, "--set", "power=0")[1]
    words = ("recommend", shop, "-m", "random", "--user", "3")
    assert trueedge(*words)[1] == trueedge(*words)[1] != trueedge(*words, "--seed", "1")[1]


def test_lists_longer_than_the_catalogue_are_shorter_and_said_to_be(trueedge, shop) -> None:
    status, out, err = trueedge("recommend", shop, "-m", "popularity", "--user", "3", "-k", "400")
    assert status == 0
    task = te.load_task(shop)
    left = 40 - (task.known("test").starts[4] - task.known("test").starts[3])
    assert len(out.splitlines()) == 2 + left
    assert f"no list has 400 items: only {left} are left" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["-m", "popularity", "--user", "raeder-3"],
            "no user is called 'raeder-3'; did you mean 'reader-3'?",
        ),
        (["-m", "popularity"], "nobody is named: give --user or --users, or -o"),
        (["-m", "popularity,random", "--user", "3"], "recommend takes one method, got popularity, random"),
        (["-m", "katz", "--user", "3"], "katz learns from a plain graph"),
        (["-m", "popularty", "--user", "3"], "did you mean 'popularity'?"),
        (
            ["-m", "popularity", "-o", "lists.txt"],
            "write the list of recommendations to a .csv, .json or .parquet file",
        ),
        (["-m", "popularity", "--users", "none.txt"], "there is no file none.txt"),
        (["-m", "popularity", "--users", "empty.txt"], "empty.txt names no user"),
        (["-m", "popularity", "--user", "3", "--set", "x=1"], "no setting of popularity is called 'x'"),
    ],
)
def test_wrong_input_is_one_sentence(trueedge, shop, words, said) -> None:
    Path("empty.txt").write_text("\n")
    status, out, err = trueedge("recommend", shop, *words)
    assert (status, out) == (1, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_file_that_is_read_as_edges_is_said_to_need_another_protocol(trueedge) -> None:
    Path("ratings.csv").write_text("".join(f"u{u},i{u * i % 17}\n" for u in range(30) for i in range(9)))
    status, _, err = trueedge("run", "ratings.csv", "-m", "popularity", "--seeds", "1")
    assert status == 1
    assert "for a file of interactions, use the protocol full-ranking" in err


def _repeats() -> str:
    """Write a file of interactions in which one is repeated."""
    lines = [f"u{u},i{u * i % 17}\n" for u in range(30) for i in range(1, 9) if u % 17]
    Path("mine.csv").write_text("user,item\n" + "".join([*lines, lines[0]]))
    return "mine.csv"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "-m", "popularity"),
        ("tune", "-m", "item-knn", "--trials", "1", "--seeds", "1"),
        ("recommend", "-m", "popularity", "--user", "u3"),
        ("check", "popularity"),
        ("task", "-o", "made"),
        ("audit",),
    ],
)
def test_what_was_dropped_from_a_file_is_said_once(trueedge, words) -> None:
    given = (_repeats(), *words[1:]) if words[0] != "check" else (_repeats(), words[1])
    status, _, err = trueedge(words[0], *given, "-p", "full-ranking")
    assert status == 0
    assert err.count("dropped") == 1
    assert "dropped 1 repeated interaction" in err


def test_the_plain_name_of_a_method_means_the_recommender(trueedge, shop) -> None:
    status, out, _ = trueedge("run", shop, "-m", "simple-hgn", "--set", "epochs=1", "--set", "dim=4")
    assert status == 0
    assert "simple-hgn-rec (dim=4, epochs=1)" in out


@pytest.mark.parametrize(
    ("method", "needs"),
    [
        ("bpr-mf", "interactions of users with items"),
        ("kgcn", "interactions of users with items and a knowledge graph"),
        ("kgat", "interactions of users with items and, if there is one, a knowledge graph"),
        ("simple-hgn", "a typed graph"),
        ("transe", "a knowledge graph"),
    ],
)
def test_a_method_says_what_it_needs(trueedge, method, needs) -> None:
    lines = trueedge("methods", method)[1].splitlines()
    assert f"needs {needs}" in {" ".join(line.split()) for line in lines}


def test_the_defaults_of_a_recommender_are_listed(trueedge) -> None:
    out = trueedge("methods", "lightgcn")[1]
    assert "learning_rate=0.005" in out
    assert "as published" not in out
    assert "lightgcn" in trueedge("methods", "recommend")[1]


def test_nodes_of_a_plain_graph_are_users_too(trueedge) -> None:
    status, out, err = trueedge("recommend", "karate", "-p", "existing", "-m", "ra", "--user", "5", "-k", "3")
    assert status == 0
    assert out.splitlines()[0] == "node 5"
    assert len(out.splitlines()) == 5
    assert "known nodes" in err


def test_a_run_has_popularity_and_chance_in_its_table_and_flags_who_is_below(trueedge, shop) -> None:
    status, out, err = trueedge("run", shop, "-m", "own.py:Neighbours,own.py:Unpopular", "--seeds", "1")
    assert status == 0
    head, *rows = [line.split() for line in out.splitlines()[1:]]
    assert head[:4] == ["method", "ndcg@20", "95", "%"]
    assert {"recall@20", "hitrate@20", "coverage@20", "novelty@20"} <= set(head)
    assert [row[0] for row in rows] == ["test-neighbours", "popularity", "random", "test-unpopular"]
    assert [row[1] == "▼" for row in rows] == [False, False, False, True]
    assert "▼ test-unpopular is below popularity on this split: -32.2 [" in err
    assert "hidden items that tie with others: popularity 51%, test-unpopular 51%" in err
    shown, said = trueedge("records")[1:]
    assert shown == out
    assert "▼ test-unpopular is below popularity on this split" in said
    status, _, err = trueedge("export", "records.csv")
    lines = list(csv.DictReader(Path("records.csv").read_text().splitlines()))
    assert {(line["method"], line["metric"]) for line in lines} >= {("random", "coverage@20")}
    status, _, err = trueedge("report", "runs", "-o", "report.html")
    assert status == 0
    page = Path("report.html").read_text()
    assert "Recommendation of items on small-shop" in page
    assert "▼ test-unpopular is below popularity on this split" in page


def test_ranks_of_hidden_items_are_kept_and_certified_and_the_sentences_say_items(trueedge, shop) -> None:
    assert trueedge("run", shop, "-m", "random", "--seeds", "1")[0] == 0
    status, _, err = trueedge("certify", "-m", "random")
    assert status == 1
    assert "were not kept: run " in err
    status, _, err = trueedge("run", shop, "-m", "popularity", "--keep-scores", "--seeds", "1")
    assert status == 0
    assert "not saved" not in err
    assert trueedge("certify", "-m", "popularity", "-o", "popularity.json")[0] == 0
    assert trueedge("verify", "popularity.json", "--task", shop)[0] == 0
    status, _, err = trueedge("pairs", shop, "-o", "pairs.csv")
    assert status == 1
    assert "ranks every item, so it has no pairs" in err


def test_a_scorer_that_ignores_the_user_is_named(trueedge, shop) -> None:
    status, out, _ = trueedge("check", shop, "popularity")
    assert status == 0
    assert "looks only at the item" in out


def test_a_search_tries_settings_on_the_validation_part(trueedge, shop) -> None:
    status, out, err = trueedge("tune", shop, "-m", "own.py:Neighbours", "--seeds", "1")
    assert status == 0, err
    assert "power" in out


def test_a_task_survives_another_folder(trueedge, shop) -> None:
    words = ("recommend", "-m", "popularity", "--user", "3")
    before = trueedge(words[0], shop, *words[1:])[1]
    shutil.move(shop, "elsewhere")
    assert trueedge(words[0], "elsewhere", *words[1:])[1] == before


def test_lists_of_a_plain_graph_need_no_negatives(trueedge) -> None:
    status, out, err = trueedge("recommend", "karate", "-m", "ra", "--user", "5", "-k", "3")
    assert status == 0, err
    assert "ra was fitted to the training part of karate under recommendation, seed 0" in err
    assert "heart" not in out + err
    assert trueedge("task", "karate", "-p", "triplet", "-o", "saved")[0] == 0
    assert "under triplet, seed 0" in trueedge("recommend", "saved", "-m", "ra", "--user", "5")[2]
