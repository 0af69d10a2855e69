"""The commands fit and predict: a model in a folder, new pairs, lists of new links."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import trueedge as te

PEOPLE = ("alice", "bob", "carol", "dave", "eve", "frank", "gina", "hans", "ida")


@pytest.fixture
def model(trueedge, tmp_path):
    """A model that was fitted to friends with names."""
    pairs = [(a, b) for i, a in enumerate(PEOPLE) for b in PEOPLE[i + 1 :] if (i * 7 + len(b)) % 3]
    Path("friends.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    status, _, err = trueedge("fit", "friends.csv", "-m", "aa", "-p", "uniform", "-o", "model")
    assert status == 0
    assert "aa, fitted to the training part of friends under uniform, seed 0, is saved in model" in err
    return "model"


def test_pairs_are_scored_as_in_python(trueedge, model):
    status, out, _ = trueedge("predict", model, "--pair", "alice,bob", "--pair", "carol,ida")
    assert status == 0
    rows = [line.split() for line in out.splitlines() if line.strip()]
    assert rows[0] == ["node", "partner", "score"]
    scores = te.predict(te.load_scorer(model), [("alice", "bob"), ("carol", "ida")])
    assert rows[1:] == [["alice", "bob", f"{scores[0]:.6g}"], ["carol", "ida", f"{scores[1]:.6g}"]]


@pytest.mark.parametrize("head", ["from,to\n", ""], ids=["header", "bare"])
def test_a_file_of_pairs_is_scored_into_a_file(trueedge, model, head):
    Path("new.csv").write_text(head + "alice,bob\n# a comment\n\ncarol,ida\n")
    status, out, err = trueedge("predict", model, "new.csv", "-o", "scores.csv")
    assert (status, out) == (0, "")
    assert "2 scores written to scores.csv" in err
    rows = list(csv.DictReader(Path("scores.csv").read_text().splitlines()))
    assert [(row["node"], row["partner"]) for row in rows] == [("alice", "bob"), ("carol", "ida")]
    scores = te.predict(te.load_scorer(model), [("alice", "bob"), ("carol", "ida")])
    assert [float(row["score"]) for row in rows] == scores.tolist()


def test_the_most_likely_new_links_of_a_node_are_listed(trueedge, model):
    status, out, _ = trueedge("predict", model, "--node", "alice", "-k", "2")
    assert status == 0
    found = te.recommend(te.load_scorer(model), "alice", k=2).of("alice")
    rows = [line.split() for line in out.splitlines() if line.strip()][1:]
    assert [row[2] for row in rows] == list(found.names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing is asked for"),
        (("--pair", "alice"), "a pair is two names or numbers"),
        (("--pair", "alice,bbo"), "did you mean 'bob'"),
        (("--node", "alice", "--pair", "alice,bob"), "not both"),
        (("none.csv",), "none.csv"),
        (("friends.csv", "-o", "friends.csv"), "write the list of scores to another file"),
        (("friends.csv", "-o", "scores.txt"), "write the list of scores to a .csv"),
    ],
)
def test_wrong_questions_get_one_sentence(trueedge, model, words, said):
    status, _, err = trueedge("predict", model, *words)
    assert status == 1
    assert said in err.splitlines()[-1]


@pytest.fixture
def shop(trueedge, tmp_path):
    """A model of purchases: the columns share the ids 1 to 9."""
    rows = [f"{i},{u}" for u in range(1, 10) for i in range(1, 10) if (u * 5 + i) % 3]
    Path("bought.csv").write_text("item,user\n" + "\n".join(rows))
    words = (
        "--bipartite",
        "--source",
        "user",
        "--target",
        "item",
        "-p",
        "uniform",
        "-m",
        "ppr",
        "-o",
        "shop",
    )
    assert trueedge("fit", "bought.csv", *words)[0] == 0
    return "shop"


def test_an_id_of_both_columns_is_read_by_its_column(trueedge, shop):
    Path("new.csv").write_text("1,1\n")
    status, out, _ = trueedge("predict", shop, "new.csv", "--pair", "2,3")
    assert status == 0
    rows = [line.rsplit(maxsplit=1)[0].split() for line in out.splitlines() if line.strip()][1:]
    assert rows == [["user", "1", "item", "1"], ["user", "2", "item", "3"]]
    status, out, err = trueedge("predict", shop, "--node", "1", "-k", "1")
    assert out.splitlines()[-1].startswith("user 1")
    assert "1 was read as 'user 1'; give 'item 1'" in err
    assert "those of the test part" in err


def test_a_first_line_of_unknown_ids_is_no_header(trueedge, shop):
    Path("new.csv").write_text("98,99\n1,1\n")
    status, _, err = trueedge("predict", shop, "new.csv")
    assert status == 1
    assert "no node is called '98'" in err


def test_a_function_is_refused_with_the_next_step(trueedge, model):
    Path("mine.py").write_text("def fit(graph):\n    return None\n")
    status, _, err = trueedge("fit", "friends.csv", "-p", "uniform", "-m", "mine.py:fit", "-o", "other")
    assert status == 1
    assert "'trueedge judge' takes functions" in " ".join(err.split())


def test_a_folder_that_is_not_there_is_named(trueedge):
    status, _, err = trueedge("predict", "nowhere", "--pair", "a,b")
    assert status == 1
    assert "there is no folder nowhere" in err


def test_a_folder_that_is_taken_is_refused_before_the_fit(trueedge, model):
    status, _, err = trueedge("fit", "friends.csv", "-m", "aa", "-o", "model")
    assert status == 1
    assert "model is there already" in err


def test_what_is_no_model_is_refused(trueedge, tmp_path):
    status, _, err = trueedge("predict", str(tmp_path), "--pair", "a,b")
    assert status == 1
    assert "holds no scorer" in err


def test_a_line_that_is_taken_for_a_header_is_named(trueedge, model):
    Path("new.csv").write_text("alcie,bbo\nalice,bob\n")
    _, _, err = trueedge("predict", model, "new.csv")
    assert "new.csv: the first line was read as a header: alcie, bbo" in err
    Path("new.csv").write_text("alcie,bbo\n")
    status, out, err = trueedge("predict", model, "new.csv")
    assert (status, out) == (1, "")
    assert "new.csv holds no pair of known names, only 'alcie,bbo'" in err


def test_a_folder_that_cannot_be_written_is_named_before_the_fit(trueedge):
    Path("file").write_text("")
    status, _, err = trueedge("fit", "karate", "-m", "nosuch", "-o", "file/model")
    assert status == 1
    assert "the model cannot be written to" in err


def test_a_model_of_triples_scores_triples_and_says_so(trueedge):
    assert trueedge("fit", "nations", "-m", "relation-frequency", "-o", "kg")[0] == 0
    status, out, _ = trueedge("predict", "kg", "--pair", "usa,embassy,uk")
    assert status == 0
    assert "relation" in out
    status, _, err = trueedge("predict", "kg", "--node", "usa")
    assert status == 1
    assert "--node lists links of a plain graph or items of a user, and kg scores triples" in err
    assert "--pair A,RELATION,B" in err
    assert "there are 14 entities, the first are" in trueedge("predict", "kg", "--pair", "xyz,embassy,uk")[2]


def test_a_header_says_which_column_is_which(trueedge, shop):
    Path("new.csv").write_text("2,3\n1,2\n")
    expected = trueedge("predict", shop, "new.csv")[1]
    Path("new.csv").write_text("item_id,note,user_id\n3,x,2\n2,y,1\n")
    assert trueedge("predict", shop, "new.csv")[1] == expected
    assert trueedge("fit", "nations", "-m", "relation-frequency", "-o", "kg")[0] == 0
    Path("new.csv").write_text("usa,embassy,uk\nuk,embassy,usa\n")
    expected = trueedge("predict", "kg", "new.csv")[1]
    Path("new.csv").write_text("tail,head,relation\nuk,usa,embassy\nusa,uk,embassy\n")
    assert trueedge("predict", "kg", "new.csv")[1] == expected


def test_a_row_that_is_wrong_is_named_with_its_line(trueedge, model):
    for text, said in {
        "alice,bob\n\nalice,nobody\n": "new.csv, line 3: no node is called 'nobody'",
        "alice,bob,0.5\n": "new.csv, line 1: 3 values, where (node, node) is needed",
        "alice,bob\nalice\n": "new.csv, line 2, 'alice': a pair is two names or numbers",
        "source,target,note\nalice,bob\n": "new.csv, line 2: 2 columns, where the first line has 3",
    }.items():
        Path("new.csv").write_text(text)
        status, out, err = trueedge("predict", model, "new.csv")
        assert (status, out) == (1, "")
        assert said in err
