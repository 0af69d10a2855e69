"""Faults in files and tables of interactions: each gets one clear sentence."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.interaction_folders import KGAT, KGCN, RECBOLE, put

from trueedge.errors import InputError
from trueedge.graph import Interactions, KnowledgeGraph

TABLE = {"ratings.csv": "user,item,rating,time\nann,tea,4,10\nbob,tea,2,20\nbob,rice,5,30\n"}
GOOD = {"kgat": KGAT, "recbole": RECBOLE, "kgcn": KGCN, "table": TABLE}
Files = dict[str, str | bytes | None]


def plain(rows: str) -> Files:
    return {"ratings.csv": rows}


# The format, the files that are changed (None is a missing one), and the sentence after "FOLDER/".
FAULTS: dict[str, tuple[str, Files, str]] = {
    # KGAT: parts
    "an item beyond the list": (
        "kgat",
        {"train.txt": "0 0 1\n1 7\n"},
        "train.txt, line 2: there is no item 7, item_list.txt has 4 items",
    ),
    "an unknown item in test": (
        "kgat",
        {"test.txt": "0 3\n\n1 4\n"},
        "test.txt, line 3: there is no item 4, item_list.txt has 4 items",
    ),
    "an unknown user": (
        "kgat",
        {"test.txt": "3 3\n"},
        "test.txt, line 1: there is no user 3, user_list.txt has 3 users",
    ),
    "a negative id": ("kgat", {"train.txt": "0 0 -1\n"}, "train.txt, line 1: the id -1 is below 0"),
    "a name for an id": (
        "kgat",
        {"train.txt": "0 0\n1 tea\n"},
        "train.txt, line 2: 'tea' is not a whole number",
    ),
    "a point": ("kgat", {"test.txt": "0 1.5\n"}, "test.txt, line 1: '1.5' is not a whole number"),
    "a huge id": (
        "kgat",
        {"train.txt": "0 0 99999999999999999999\n"},
        "train.txt, line 1: the number '99999999999999999999' is too large",
    ),
    "an id far from the others": (
        "kgat",
        {"item_list.txt": None, "train.txt": "0 0\n1 999999999\n"},
        "train.txt, line 2: the item 999999999 is too large: items are numbered from 0",
    ),
    "a large user": (
        "kgat",
        {"user_list.txt": None, "train.txt": "0 0\n4000000000 1\n"},
        "train.txt, line 2: the user 4000000000 is too large: users are numbered from 0",
    ),
    "no training interactions": (
        "kgat",
        {"train.txt": "0\n1\n"},
        "train.txt is empty: it has no interactions",
    ),
    "an empty test part": ("kgat", {"test.txt": "\n"}, "test.txt is empty: it has no interactions"),
    "two equal parts": (
        "kgat",
        {"test.txt": "0 0 1 2 3\n1 1\n"},
        "train.txt: all its interactions are in test.txt too",
    ),
    "binary junk": (
        "kgat",
        {"train.txt": b"0 1\n\x00\xff"},
        "train.txt, line 2: the byte '0xff' is not UTF-8 text",
    ),
    "no test part": ("kgat", {"test.txt": None}, " has train.txt and kg_final.txt, but no test.txt"),
    "no training part": ("kgat", {"train.txt": None}, " has test.txt and kg_final.txt, but no train.txt"),
    # KGAT: triples and lists
    "an entity beyond the list": (
        "kgat",
        {"kg_final.txt": "0 0 4\n1 0 6\n"},
        "kg_final.txt, line 2: there is no entity 6, entity_list.txt has 6 entities",
    ),
    "a relation beyond the list": (
        "kgat",
        {"kg_final.txt": "0 2 4\n"},
        "kg_final.txt, line 1: there is no relation 2, relation_list.txt has 2 relations",
    ),
    "two numbers in a triple": (
        "kgat",
        {"kg_final.txt": "0 0 4\n1 0\n"},
        "kg_final.txt, line 2: a line has head, relation and tail, this one has 2 numbers",
    ),
    "an entity far from the others": (
        "kgat",
        {"entity_list.txt": None, "kg_final.txt": "0 0 2000000000\n"},
        "kg_final.txt, line 1: the entity 2000000000 is too large: entities are numbered from 0",
    ),
    "no triples": ("kgat", {"kg_final.txt": ""}, "kg_final.txt is empty: it has no triples"),
    "fewer entities than items": (
        "kgat",
        {"entity_list.txt": "m.0 0\nm.1 1\n"},
        "entity_list.txt has 2 entities, but there are 4 items, which come first",
    ),
    "another entity": (
        "kgat",
        {"entity_list.txt": "m.0 0\nm.9 1\nm.2 2\nm.3 3\nfood 4\nherb 5\n"},
        "item_list.txt: the item 1 is the entity 'm.1', but entity_list.txt calls that entity 'm.9'",
    ),
    "a gap in the item list": (
        "kgat",
        {"item_list.txt": "tea 0\nrice 1\nsalt 4\nmint 3\n"},
        "item_list.txt, line 3: numbers go up to 4, but none of the 4 lines has 2",
    ),
    "a number for two items": (
        "kgat",
        {"item_list.txt": "tea 0\nrice 1\nsalt 1\nmint 3\n"},
        "item_list.txt, line 3: 'rice' (line 2) and 'salt' have the same number 1",
    ),
    "an item twice in the list": (
        "kgat",
        {"item_list.txt": "tea 0\nrice 1\ntea 2\nmint 3\n"},
        "item_list.txt, line 3: item 'tea' occurs again, after line 1",
    ),
    "a list without numbers": (
        "kgat",
        {"user_list.txt": "org_id remap_id\nann\n"},
        "user_list.txt, line 2: a line has a name and a number, this one is 'ann'",
    ),
    "a negative number in a list": (
        "kgat",
        {"user_list.txt": "ann 0\nbob -1\n"},
        "user_list.txt, line 2: the number of user 'bob' is '-1', not a number from 0",
    ),
    "a negative number in the first line": (
        "kgat",
        {"user_list.txt": "ann -1\nbob 0\n"},
        "user_list.txt, line 1: the number of user 'ann' is '-1', not a number from 0",
    ),
    "an empty list": (
        "kgat",
        {"user_list.txt": "org_id remap_id\n"},
        "user_list.txt is empty: it has no rows",
    ),
    # RecBole
    "a negative rating": (
        "recbole",
        {"shop.inter": "user_id:token\titem_id:token\trating:float\nann\ttea\t-1\n"},
        "shop.inter, line 2: the rating -1 is negative",
    ),
    "a rating that is no number": (
        "recbole",
        {"shop.inter": "user_id:token\titem_id:token\trating:float\nann\ttea\t1\nbob\ttea\tgood\n"},
        "shop.inter, line 3: the rating 'good' is not a number",
    ),
    "a time that is no number": (
        "recbole",
        {"shop.inter": "user_id:token\titem_id:token\ttimestamp:float\nann\ttea\t2020-13-45\n"},
        "shop.inter, line 2: the time '2020-13-45' is neither a number nor a date like 2020-01-31",
    ),
    "a rating that is not a number": (
        "recbole",
        {"shop.inter": "user_id:token\titem_id:token\trating:float\nann\ttea\tnan\n"},
        "shop.inter, line 2: the rating 'nan' is not a number",
    ),
    "a missing rating": (
        "recbole",
        {"shop.inter": "user_id:token\titem_id:token\trating:float\nann\ttea\t\n"},
        "shop.inter, line 2: the rating is missing",
    ),
    "no column of items": (
        "recbole",
        {"shop.inter": "user_id:token\trating:float\nann\t3\n"},
        "shop.inter, line 1: no column has a usual name of items, there are 'user_id:token', 'rating:float'",
    ),
    "no header": (
        "recbole",
        {"shop.inter": "ann\ttea\t3\n"},
        "shop.inter, line 1: no column has a usual name of users, there are 'ann', 'tea', '3'",
    ),
    "nothing but a header": (
        "recbole",
        {"shop.inter": "user_id:token\titem_id:token\n"},
        "shop.inter is empty: it has no rows",
    ),
    "a missing user": (
        "recbole",
        {"shop.inter": "user_id:token\titem_id:token\nann\ttea\n\trice\n"},
        "shop.inter, line 3: the user is missing",
    ),
    "no link file": (
        "recbole",
        {"shop.link": None},
        " has shop.kg but no shop.link: a knowledge graph needs both",
    ),
    "no triple file": (
        "recbole",
        {"shop.kg": None},
        " has shop.link but no shop.kg: a knowledge graph needs both",
    ),
    "an item with two entities": (
        "recbole",
        {"shop.link": "item_id:token\tentity_id:token\nrice\tm.1\ntea\tm.2\nrice\tm.3\n"},
        "shop.link, line 4: the item 'rice' has two entities: 'm.1' and 'm.3'",
    ),
    "an entity for two items": (
        "recbole",
        {"shop.link": "item_id:token\tentity_id:token\nrice\tm.1\ntea\tm.1\n"},
        "shop.link, line 3: the entity 'm.1' has two items: 'rice' and 'tea'",
    ),
    "links of other items": (
        "recbole",
        {"shop.link": "item_id:token\tentity_id:token\nsalt\tm.1\n"},
        "shop.link: none of its items is in shop.inter",
    ),
    "a wrong header of triples": (
        "recbole",
        {"shop.kg": "head_id\ttail_id\nm.1\tfood\n"},
        "shop.kg, line 1: no column has a usual name of relations, there are 'head_id', 'tail_id'",
    ),
    "a ragged line of triples": (
        "recbole",
        {"shop.kg": "head_id:token\trelation_id:token\ttail_id:token\nm.1\tis\tfood\nm.1\tis\n"},
        "shop.kg, line 3: 2 columns, where line 1 has 3",
    ),
    "two sets of interactions": (
        "recbole",
        {"other.inter": "user_id:token\titem_id:token\na\tb\n"},
        " has both other.inter and shop.inter: give one of these files",
    ),
    # KGCN
    "a gap in the map": (
        "kgcn",
        {"item_index2entity_id.txt": "52\t0\n51\t2\n"},
        "item_index2entity_id.txt, line 2: numbers go up to 2, but none of the 2 lines has 1",
    ),
    "an item twice in the map": (
        "kgcn",
        {"item_index2entity_id.txt": "52\t0\n52\t1\n"},
        "item_index2entity_id.txt, line 2: item '52' occurs again, after line 1",
    ),
    "an entity twice in the map": (
        "kgcn",
        {"item_index2entity_id.txt": "52\t0\n51\t0\n"},
        "item_index2entity_id.txt, line 2: '52' (line 1) and '51' have the same number 0",
    ),
    "an entity that is no number": (
        "kgcn",
        {"item_index2entity_id.txt": "52\t0\n51\tm.1\n"},
        "item_index2entity_id.txt, line 2: the number of item '51' is 'm.1', not a number from 0",
    ),
    "a map of other items": (
        "kgcn",
        {"item_index2entity_id.txt": "1\t0\n2\t1\n"},
        "user_artists.dat: none of its items is in item_index2entity_id.txt",
    ),
    "no map": (
        "kgcn",
        {"item_index2entity_id.txt": None},
        " has kg.txt but no item_index2entity_id.txt: a knowledge graph needs both",
    ),
    "no interactions": (
        "kgcn",
        {"user_artists.dat": None},
        " has kg.txt and item_index2entity_id.txt, but no file of interactions, such as ratings.csv",
    ),
    "an empty graph": ("kgcn", {"kg.txt": "\n"}, "kg.txt is empty: it has no rows"),
    "a missing tail": ("kgcn", {"kg.txt": "1\torigin\t\n"}, "kg.txt, line 1: the tail is missing"),
    "a triple with two columns": (
        "kgcn",
        {"kg.txt": "1\torigin\n"},
        "kg.txt, line 1: a line has head, relation and tail, this one has 2 columns: '1\\torigin'",
    ),
    "two tables": (
        "kgcn",
        {"ratings.csv": "1,2\n"},
        " has both ratings.csv and user_artists.dat: give one of these files",
    ),
    # Tables
    "an empty table": ("table", plain(""), "ratings.csv is empty: it has no rows"),
    "a table of comments": ("table", plain("# user item\n"), "ratings.csv is empty: it has no rows"),
    "one column": (
        "table",
        plain("ann\nbob\n"),
        "ratings.csv, line 1: a line has user and item, this one has 1 column: 'ann'",
    ),
    "a ragged row": (
        "table",
        plain("ann,tea,3\nbob,tea\n"),
        "ratings.csv, line 2: 2 columns, where line 1 has 3",
    ),
    "too many columns": (
        "table",
        plain("user,item\nann,tea\nbob,tea,5\n"),
        "ratings.csv, line 3: 3 columns, where line 1 has 2",
    ),
    "a negative user": ("table", plain("1,2\n-3,4\n"), "ratings.csv, line 2: the user -3 is below 0"),
    "a user with a point": (
        "table",
        plain("1,2\n3.0,4\n"),
        "ratings.csv, line 2: the user '3.0' is a number, but not an id",
    ),
    "a user that is not a number": (
        "table",
        plain("ann,2\nnan,4\n"),
        "ratings.csv, line 2: the user 'nan' is a number, but not an id",
    ),
    "an infinite time": (
        "table",
        plain("user,item,time\nann,tea,inf\n"),
        "ratings.csv, line 2: the time 'inf' is neither a number nor a date like 2020-01-31",
    ),
    "a rating with an underscore": (
        "table",
        plain("ann,tea,1_000\n"),
        "ratings.csv, line 1: the rating '1_000' is not a number",
    ),
    "two columns of users": (
        "table",
        plain("user,user_id,item\n1,1,2\n"),
        "ratings.csv: both 'user' and 'user_id' may be the column of users",
    ),
    "quotes that do not match": (
        "table",
        plain('user,item\n"ann,tea\n'),
        "ratings.csv, line 2: the quotes do not match: '\"ann,tea'",
    ),
    "text of Latin-1": (
        "table",
        {"ratings.csv": b"user,item\nann,caf\xe9\n"},
        "ratings.csv, line 2: the byte '0xe9' is not UTF-8 text",
    ),
    "damaged gzip": (
        "table",
        {"ratings.csv": b"\x1f\x8b\x08\x00junk"},
        "ratings.csv is a damaged gzip file: it is truncated",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_file_and_line(fault: str, tmp_path: Path) -> None:
    format, changed, sentence = FAULTS[fault]
    folder = put(tmp_path / "mine", {**GOOD[format], **changed})
    with pytest.raises(InputError) as caught:
        Interactions.from_path(folder)
    said = str(caught.value)
    assert said.removeprefix(str(folder)).removeprefix("/") == sentence
    assert "\n" not in said


@pytest.mark.parametrize("format", GOOD)
def test_the_folders_without_faults_are_read(format: str, tmp_path: Path) -> None:
    assert Interactions.from_path(put(tmp_path / "mine", GOOD[format])).num_interactions >= 3


def test_a_path_that_is_none_is_named(tmp_path: Path) -> None:
    for path, sentence in (
        (tmp_path / "no.csv", "no.csv: there is no such file"),
        (tmp_path, "is not a folder of interactions: it needs train.txt and test.txt (KGAT), a .inter file"),
        ("a" * 300, "cannot be read"),
        ("a\0b", "cannot be read"),
        (7, "a path is needed, got int"),
    ):
        with pytest.raises(InputError) as caught:
            Interactions.from_path(path)  # type: ignore[arg-type]
        assert sentence in str(caught.value)


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", {**KGAT, "kg_final.txt": None})
    (folder / "kg_final.txt").mkdir()
    with pytest.raises(InputError, match=r"kg_final\.txt is a folder, not a file"):
        Interactions.from_path(folder)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            {"who": ["a"], "item": ["b"]},
            "the table: no column has a usual name of users, there are 'who', 'item';",
        ),
        ({"user": [], "item": []}, "the table is empty: it has no rows"),
        ({"user": ["a", None], "item": ["b", "c"]}, "the table, row 1: the user is missing"),
        ({"user": [1.0, np.nan], "item": ["b", "c"]}, "the table, row 1: the user is missing"),
        ({"user": [1.5, 2], "item": ["b", "c"]}, "the table, row 0: the user 1.5 is no id"),
        ({"user": [-1, 2], "item": ["b", "c"]}, "the table, row 0: the user -1 is below 0"),
        (
            {"user": [1, 2], "item": [b"b", b"c"]},
            "the table, row 0: the item \"b'b'\" is neither text nor a number",
        ),
        (
            {"user": [1, 2], "item": ["b", "c"], "rating": [1, -2]},
            "the table, row 1: the rating -2 is negative",
        ),
        (
            {"user": [1, 2], "item": ["b", "c"], "rating": ["1", "x"]},
            "the table, row 1: the rating 'x' is not a number",
        ),
        (
            {"user": [1, 2], "item": ["b", "c"], "rating": [1, None]},
            "the table, row 1: the rating is missing",
        ),
        (
            {"user": [1, 2], "item": ["b", "c"], "time": [np.inf, 1]},
            "the table, row 0: the time inf is not a number",
        ),
        (
            {
                "user": [1, 2],
                "item": ["b", "c"],
                "time": np.array(["NaT", "2020-01-01"], dtype="datetime64[s]"),
            },
            "the table, row 0: the time is missing",
        ),
        (
            {"user": [[1, 2], [3, 4]], "item": ["b", "c"]},
            "the table: the column of users must hold one value",
        ),
        ({"user": [1, 2], "item": ["b"]}, "the table: the column 'item' has 1 rows, but 'user' has 2"),
        (7, "the table must be a dict of columns, a data frame or the path of a file, got int"),
    ],
    ids=range(15),
)
def test_a_fault_in_a_table_is_named_with_its_row(table: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Interactions.from_table(table)
    assert str(caught.value).startswith(sentence)


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = put(tmp_path, {"mine.csv": "a,b\n1,2\n"}) / "mine.csv"
    with pytest.raises(InputError, match="there is no column 'who', only 'a', 'b'"):
        Interactions.from_table(path, users="who", items="b")
    with pytest.raises(InputError, match="there is no column 'who', only 'a'"):
        Interactions.from_table({"a": [1]}, users="who", items="a")
    with pytest.raises(InputError, match=r"there is no column '3', only '0', '1'"):
        Interactions.from_table(path, users=3)
    with pytest.raises(InputError, match=r"from_table: users must be a column's name, or its number from 0"):
        Interactions.from_table(path, users=-1)
    with pytest.raises(InputError, match="two of users, items, ratings and times are the column 1"):
        Interactions.from_table(path, users=1, items=1)


PAIRS = [[0, 0], [0, 1], [1, 1]]
GRAPH = KnowledgeGraph.from_triples([[0, 0, 1]])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"pairs": []}, "pairs must have the shape (m, 2), got (0,)"),
        ({"pairs": np.empty((0, 2), dtype=int)}, "there are no interactions"),
        ({"pairs": [[0, 1, 2]]}, "pairs must have the shape (m, 2), got (1, 3)"),
        ({"pairs": [[0.5, 1]]}, "pairs must be whole numbers, got float64"),
        ({"pairs": [["ann", "tea"]]}, "pairs must be whole numbers"),
        ({"pairs": [[0, -1]]}, "row 0: ids go from 0 to 2147483646, got (0, -1)"),
        ({"pairs": [[0, 1], [2**40, 1]]}, "row 1: ids go from 0 to 2147483646"),
        ({"pairs": [[0], [1, 2]]}, "pairs must be an int array (m, 2)"),
        ({"num_users": 1}, "row 2: there is no user 1, only 1 users"),
        ({"num_items": 1}, "row 1: there is no item 1, only 1 items"),
        ({"num_items": 0}, "num_items must be a whole number from 1"),
        ({"num_users": True}, "num_users must be a whole number from 1"),
        ({"users": ["ann"]}, "row 2: there is no user 1, only 1 users"),
        ({"users": ["ann", "ann"]}, "labels: two users are called 'ann'"),
        ({"items": ["tea", "tea"]}, "labels: two items are called 'tea'"),
        ({"users": ["ann", "bob"], "num_users": 3}, "labels: the graph has 3 users, but 2 labels were given"),
        ({"ratings": [1, 2]}, "ratings have the shape (2,), but there are 3 interactions"),
        ({"ratings": [1, 2, -3]}, "row 2: the rating -3 is negative"),
        ({"ratings": [1, 2, np.nan]}, "row 2: rating nan is not a finite number"),
        ({"ratings": ["a", 1, 2]}, "ratings must be numbers, one for each interaction"),
        ({"times": [1, 2, np.inf]}, "row 2: time inf is not a finite number"),
        ({"test": [0, 1, 0]}, "test must be bool (3,), got int64 (3,)"),
        ({"test": [True]}, "test must be bool (3,), got bool (1,)"),
        ({"pairs": [*PAIRS, [0, 0]]}, "row 3: user 0 has item 0 twice; repeats='drop' keeps one of them"),
        ({"repeats": "keep"}, "repeats must be 'refuse' or 'drop', got 'keep'"),
        (
            {"knowledge": GRAPH, "num_items": 3},
            "interactions: the items are the first entities of its knowledge graph, but it has 2 entities",
        ),
    ],
    ids=range(26),
)
def test_from_pairs_refuses_what_does_not_fit(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Interactions.from_pairs(**{"pairs": PAIRS, **given})
    assert sentence in str(caught.value)


# Anything may happen to a file, and nothing but one sentence comes of it


def _flip(text: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(text))
    return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]


def _cut(text: bytes, rng: random.Random) -> bytes:
    return text[: rng.randrange(len(text))]


def _repeat(text: bytes, rng: random.Random) -> bytes:
    lines = text.split(b"\n")
    return b"\n".join([*lines, rng.choice(lines), rng.choice(lines)])


def _insert(text: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(text) + 1)
    odd = [
        b"-",
        b"\t",
        b" ",
        b"\n",
        b'"',
        b",",
        b"::",
        b"nan",
        b"1e400",
        b"\x00",
        b"\xef\xbb\xbf",
        b"9" * 30,
        b"\r",
    ]
    odd += [b"\xc2\xa0", "٣".encode(), b"#", b"_", b"0", b"\x1f", b";"]
    return text[:at] + rng.choice(odd) + text[at:]


def _drop(text: bytes, rng: random.Random) -> bytes:
    fields = text.split(rng.choice([b"\t", b" ", b",", b"\n"]))
    del fields[rng.randrange(len(fields))]
    return rng.choice([b"\t", b" ", b",", b"\n"]).join(fields)


CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (_flip, _cut, _repeat, _insert, _drop)


@pytest.mark.parametrize("format", GOOD)
def test_changed_files_give_interactions_or_one_sentence(format: str, tmp_path: Path) -> None:
    rng = random.Random(f"{format} 1")
    refused: list[str] = []
    for number in range(150):
        files: Files = dict(GOOD[format])
        for _ in range(rng.choice([1, 1, 2])):
            name = rng.choice(sorted(files))
            text = files[name]
            content = text.encode() if isinstance(text, str) else text
            if content:
                files[name] = rng.choice(CHANGES)(content, rng)
        if rng.random() < 0.05:
            del files[rng.choice(sorted(files))]
        folder = put(tmp_path / str(number), files)
        try:
            data = Interactions.from_path(folder)
        except InputError as error:
            refused.append(str(error))
        else:
            assert len(data.pairs) == len(np.unique(data.pairs, axis=0)) > 0
            assert data.knowledge is None or data.knowledge.num_entities >= data.num_items
    assert 0 < len(refused) < 150
    assert not [said for said in refused if "\n" in said]
