"""Recommended lists of another system, in files."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import trueedge as te
from small_interactions import Neighbours, small_interactions
from trueedge.errors import InputError


@pytest.fixture(scope="module")
def task() -> te.ItemTask:
    return te.task(small_interactions(named=True))


@pytest.fixture(scope="module")
def numbered() -> te.ItemTask:
    return te.task(small_interactions())


def scores_of(task: te.ItemTask, path, users) -> np.ndarray:
    return task.bind(path, "test").score(np.asarray(users))


def test_listed_items_are_above_all_others_which_are_tied(task, tmp_path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("user,item,score\nreader-1,book-5,0.2\nreader-1,book-9,-3\nreader-2,book-0,1e-9\n")
    table = scores_of(task, path, [2, 1, 0, 1])
    assert table[0].nonzero()[0].tolist() == [0]
    assert np.argsort(-table[1], kind="stable")[:2].tolist() == [5, 9]
    assert np.unique(np.delete(table[1], [5, 9])).tolist() == [0]
    assert (table[1, [5, 9]] > 0).all()
    assert not table[2].any()
    assert np.array_equal(table[1], table[3])


@pytest.mark.parametrize(
    "text",
    [
        "user,item\nreader-1,book-5\nreader-1,book-9\nreader-1,book-2\n",
        "reader-1,book-5\nreader-1,book-9\nreader-1,book-2\n",
        "# from elsewhere\n\nitem;rank;user\nbook-9;2;reader-1\nbook-5;1;reader-1\nbook-2;3;reader-1\n",
        "reader-1\tbook-2\t-4\nreader-1\tbook-5\t7\nreader-1\tbook-9\t0.5\n",
        'user_id,place,item_id,score,title\n"reader-1",2,book-9,2,"A, b"\nreader-1,7,book-2,1,c\n'
        "reader-1,1,book-5,3,d\n",
        "client;sku;rank\nreader-1;book-9;2\nreader-1;book-2;3\nreader-1;book-5;1\n",
        "user:token,item:token,score:float\nreader-1,book-9,2\nreader-1,book-2,1\nreader-1,book-5,3\n",
    ],
)
def test_columns_may_be_named_and_the_best_item_is_found_by_score_rank_or_order(task, tmp_path, text) -> None:
    path = tmp_path / "lists.txt"
    path.write_text(text)
    table = scores_of(task, path, [1])
    assert np.argsort(-table[0], kind="stable")[:3].tolist() == [5, 9, 2]
    assert np.count_nonzero(table) == 3


def test_equal_scores_stay_equal(task, tmp_path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("reader-1,book-5,1\nreader-1,book-9,1\nreader-1,book-2,0\n")
    row = scores_of(task, path, [1])[0]
    assert row[5] == row[9] > row[2] > row[0]


def test_numbers_are_users_and_items_where_there_are_no_names(numbered, task, tmp_path) -> None:
    path = tmp_path / "lists.csv.gz"
    path.write_bytes(gzip.compress(b"1,5,0.9\n1,9,0.8\n"))
    for one in (numbered, task):
        assert scores_of(one, path, [1])[0].nonzero()[0].tolist() == [5, 9]


def test_lists_of_a_scorer_are_worth_what_the_scorer_is(numbered, tmp_path) -> None:
    scorer = Neighbours().fit(numbered)
    lists = te.recommend(scorer, k=numbered.num_items)
    path = tmp_path / "lists.tsv"
    path.write_text("\n".join(f"{one.user}\t{item}" for one in lists for item in one.items))
    assert numbered.evaluate(str(path)) == pytest.approx(numbered.evaluate(scorer))


def test_users_without_a_list_are_worth_what_chance_gives(numbered, tmp_path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("0,1\n")
    found = numbered.evaluate(path).units.values["recall@10"]
    known = numbered.num_items - np.diff(numbered.known("test").starts)[numbered.questions("test")]
    assert found[1:] == pytest.approx(10 / known[1:])


def test_an_array_of_all_scores_is_read(numbered, tmp_path) -> None:
    table = np.random.default_rng(0).random((numbered.num_users, numbered.num_items))
    np.save(tmp_path / "scores.npy", table)
    assert numbered.evaluate(tmp_path / "scores.npy") == numbered.evaluate(table)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reader-1,book-5\nreader-1,book-99\n", "line 2: there is no item 'book-99'"),
        ("reader-1,book-5\nreader-77,book-9\n", "line 2: there is no user 'reader-77'"),
        (
            "reader-1,book-5\nreader-2,book-5\nreader-1,book-5\n",
            "line 3: user reader-1 has item book-5 twice",
        ),
        ("user,item,score\nreader-1,book-5,good\n", "line 2: the score 'good' is not a finite number"),
        ("user,item,rank\nreader-1,book-5,nan\n", "line 2: the rank 'nan' is not a finite number"),
        ("reader-1,book-5,inf\n", "line 1: the score 'inf' is not a finite number"),
        ("user,item,score\nreader-1,book-5\n", "line 2: 2 columns, where the first line has 3"),
        ("reader-1,book-5,1,2\n", "line 1: 4 columns: a line has a user, an item"),
        ("reader-1\n", "line 1: 1 column: a line has a user, an item"),
        ("reader-1,book-5,1\nreader-1,book-9,2\nreader-2,book-5,1\n", "line 1: the third column counts"),
        ("reader-1,book-5,0\nreader-1,book-9,1\n", "line 1: the third column counts the items of each user"),
        (
            "user,item,rank,score\nreader-2,book-5,1,1\nreader-1,book-5,1,1\nreader-1,book-9,2,3\n",
            "line 4: ranks and scores of user reader-1 disagree: leave out one of them",
        ),
        ("user,item\n", "lists no items"),
        ("", "lists no items"),
    ],
)
def test_a_fault_is_named_with_its_line(task, tmp_path, text, said) -> None:
    path = tmp_path / "lists.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        task.evaluate(path)


def test_a_missing_file_and_another_kind_of_file_are_named(task, tmp_path) -> None:
    with pytest.raises(InputError, match="there is no file of recommended lists at"):
        task.evaluate(tmp_path / "none.csv")
    (tmp_path / "lists.pkl").write_text("x")
    with pytest.raises(InputError, match=r"lists.pkl: a file of recommended lists must end in one of .npy"):
        task.evaluate(tmp_path / "lists.pkl")
    np.save(tmp_path / "scores.npy", np.ones((3, 3)))
    with pytest.raises(InputError, match=r"must have the shape \(60, 40\), got \(3, 3\)"):
        task.evaluate(tmp_path / "scores.npy")


@pytest.mark.parametrize("ending", ["json", "jsonl", "parquet"])
def test_lists_are_read_in_the_formats_they_are_written_in(task, tmp_path, ending) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    lists = te.recommend(Neighbours().fit(task), k=7)
    written = lists.save(tmp_path / "lists.csv")
    path = tmp_path / f"lists.{ending}"
    if ending == "jsonl":
        columns = lists.columns()
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lists.save(path)
    assert task.evaluate(path) == task.evaluate(written)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"user": "reader-1", "item": "book-99"}]', "row 0: there is no item 'book-99'"),
        ('{"user": "reader-1", "item": "book-5"}\n{"user": "reader-1"}\n', "line 2: there is no item ''"),
        ('[{"user": "reader-1", "thing": "book-5"}]', "a column of users and a column of items are needed"),
        ('{"reader-1": ["book-5", "book-9"]}', "a column of users and a column of items are needed"),
        ('[\n{"user": "reader-1",}]', "line 2: the JSON list that begins with"),
        ("[[1, 2]]", "row 0: a JSON object is needed"),
        ("[]", "is empty: it has no rows"),
    ],
)
def test_a_fault_in_a_json_file_is_named(task, tmp_path, text, said) -> None:
    path = tmp_path / "lists.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        task.evaluate(path)
