"""Interactions from files, folders and tables: every format gives the users, items and triples it holds."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.interaction_folders import KGAT, KGCN, RECBOLE, put

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Interactions
from trueedge.graph.interaction_files import folder_format
from trueedge.tasks.protocols import default_protocol


def listed(data: Interactions) -> set[tuple[str, str]]:
    users = data.users or tuple(map(str, range(data.num_users)))
    items = data.items or tuple(map(str, range(data.num_items)))
    return {(users[user], items[item]) for user, item in data.pairs.tolist()}


def said(data: Interactions) -> set[tuple[str, str, str]]:
    graph = data.knowledge
    return {(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in graph.triples.tolist()}


# KGAT


def test_a_kgat_folder_keeps_its_test_part_and_its_names(tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path / "shop", KGAT))
    assert (data.name, data.users, data.items) == (
        "shop",
        ("ann", "bob", "cid"),
        ("tea", "rice", "salt", "mint"),
    )
    assert data.pairs.tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [1, 2]]
    assert data.test.tolist() == [False, False, False, True, True, False, True]
    assert data.knowledge.entities[:5] == ("m.0", "m.1", "m.2", "m.3", "food")
    assert said(data) == {("m.0", "is", "food"), ("m.1", "is", "food"), ("m.3", "kind", "herb")}
    assert data.notes == ()


def test_a_kgat_folder_without_lists_is_numbered_by_its_ids(tmp_path: Path) -> None:
    files = {name: KGAT[name] for name in ("train.txt", "test.txt")}
    data = Interactions.from_path(put(tmp_path / "shop", files))
    assert (data.num_users, data.num_items, data.users, data.items) == (3, 4, None, None)
    assert data.knowledge is None
    with_triples = Interactions.from_path(
        put(tmp_path / "more", {**files, "kg_final.txt": KGAT["kg_final.txt"]})
    )
    assert (with_triples.knowledge.num_entities, with_triples.knowledge.num_relations) == (6, 2)


def test_the_map_of_kgcn_names_the_items_of_a_kgat_folder(tmp_path: Path) -> None:
    files = {**KGAT, "item_list.txt": None, "item_index2entity_id.txt": "1210\t0\n5\t1\n7\t2\n9\t3\n11\t4\n"}
    data = Interactions.from_path(put(tmp_path / "shop", files))
    assert data.items == ("1210", "5", "7", "9", "11")


def test_a_kgat_pair_in_both_parts_stays_in_the_test_part(tmp_path: Path) -> None:
    files = {**KGAT, "train.txt": "0 0 1 3\n1 1 0 1\n", "kg_final.txt": "0 0 4\n0 0 4\n"}
    data = Interactions.from_path(put(tmp_path / "shop", files))
    assert data.pairs[data.test].tolist() == [[0, 3], [1, 0], [1, 2]]
    assert data.pairs[~data.test].tolist() == [[0, 0], [0, 1], [1, 1]]
    assert data.notes == (
        "dropped 1 repeated interaction of train.txt",
        "left out 2 interactions of train.txt that test.txt has too",
        "1 relation has no triples",
        "kg_final.txt: a repeated triple was dropped",
    )


def test_a_test_user_without_training_items_is_kept_and_counted(tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path / "shop", {**KGAT, "test.txt": "0 3\n2 0 2\n"}))
    assert data.notes == ("1 user has test items but no training items",)
    task = te.task(data, "full-ranking", ratios=(0.6, 0.4, 0.0))
    assert 2 in task.questions("test")
    scores = np.tile([1.0, 2.0, 3.0, 4.0], (3, 1))
    assert task.evaluate(scores, metrics=["hitrate@1"])["hitrate@1"] == 0.5


# RecBole


def test_recbole_files_are_read_by_their_header(tmp_path: Path) -> None:
    folder = put(tmp_path / "shop", RECBOLE)
    data = Interactions.from_path(folder)
    assert (data.users, data.items) == (("ann", "bob"), ("tea", "rice"))
    assert data.pairs.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert data.ratings.tolist() == [5, 1, 3.5]
    assert data.times.tolist() == [30, 20, 10]
    # Tea has no entity, so it is one without triples; m.9 is no item, but its triple is kept.
    assert data.knowledge.entities == ("tea", "m.1", "food", "m.9")
    assert said(data) == {("m.1", "is", "food"), ("m.9", "is", "food")}
    assert data.notes == ("1 item has no entity",)
    assert Interactions.from_path(folder / "shop.inter").hash == data.hash


def test_an_item_called_like_an_entity_gets_another_name(tmp_path: Path) -> None:
    files = {**RECBOLE, "shop.kg": RECBOLE["shop.kg"] + "tea\tis\titem tea\n"}
    data = Interactions.from_path(put(tmp_path / "shop", files))
    assert data.knowledge.entities[0] == "item item tea"
    assert ("tea", "is", "item tea") in said(data)


def test_linked_items_without_interactions_are_no_items(tmp_path: Path) -> None:
    files = {**RECBOLE, "shop.link": RECBOLE["shop.link"] + "salt\tm.9\n"}
    data = Interactions.from_path(put(tmp_path / "shop", files))
    assert data.items == ("tea", "rice")
    assert "1 item has a link but no interaction, and is left out" in data.notes


# KGCN, and tables


def test_a_kgcn_folder_leaves_out_items_that_are_not_in_the_map(tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path / "music", KGCN))
    assert (data.users, data.items) == (("7", "8"), ("52", "51"))
    assert data.pairs.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert data.ratings.tolist() == [5, 13, 2]
    assert said(data) == {("1", "origin", "2"), ("0", "origin", "2"), ("2", "part of", "3")}
    assert data.knowledge.entities == ("0", "1", "2", "3")
    assert data.notes == (
        "left out 1 interaction with 1 item not in item_index2entity_id.txt, and 1 user without others",
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ratings.csv", "userId,movieId,rating,timestamp\n1,20,3.5,100\n1,30,4,50\n2,20,1,70\n"),
        ("ratings.dat", "1::20::3.5::100\n1::30::4::50\n2::20::1::70\n"),
        ("u.data", "1\t20\t3.5\t100\n1\t30\t4\t50\n2\t20\t1\t70\n"),
        ("interactions.tsv", "time\titem\trating\tuser\n100\t20\t3.5\t1\n50\t30\t4\t1\n70\t20\t1\t2\n"),
        ("interactions.txt", "1 20 3.5 100\n\n1   30 4 50\n2 20 1 70\n"),
        (
            "BX-Book-Ratings.csv",
            '"User-ID";"ISBN";"Book-Rating";time\n"1";"20";"3.5";100\n1;30;4;50\n2;"20";1;70\n',
        ),
        (
            "ratings.csv",
            "# a comment\r\nuser_id, item_id, score, timestamp\r\n1, 20, 3.5, 100\r\n1,30,4,50\r\n2,20,1,70",
        ),
        ("ratings.tsv", b"\xef\xbb\xbfu\ti\tweight\ttime\n1\t20\t3.5\t100\n1\t30\t4\t50\n2\t20\t1\t70\n"),
        (
            "ratings.csv",
            gzip.compress(b"user,item,rating,time\n1,20,3.5,100\n1,30,4,50\n2,20,1,70\n", mtime=0),
        ),
    ],
)
def test_a_table_is_read_whatever_separates_its_columns(name: str, text: str | bytes, tmp_path: Path) -> None:
    folder = put(tmp_path / "data", {name: text})
    for data in (Interactions.from_path(folder), Interactions.from_path(folder / name)):
        assert (data.users, data.items) == (("1", "2"), ("20", "30"))
        assert data.pairs.tolist() == [[0, 0], [0, 1], [1, 0]]
        assert data.ratings.tolist() == [3.5, 4, 1]
        assert data.times.tolist() == [100, 50, 70]


def test_a_table_may_have_users_and_items_alone(tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path, {"mine.csv": "bob,tea\nann,tea\nbob,rice\n"}) / "mine.csv")
    assert (data.name, data.users, data.items) == ("mine", ("bob", "ann"), ("tea", "rice"))
    assert (data.ratings, data.times, data.num_interactions) == (None, None, 3)


def test_one_usual_name_in_the_first_row_may_be_an_id(tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path, {"mine.csv": "ann,book\nbob,pen\n"}) / "mine.csv")
    assert (data.users, data.items) == (("ann", "bob"), ("book", "pen"))


def test_of_repeated_interactions_the_latest_is_kept(tmp_path: Path) -> None:
    text = "user,item,rating,time\nann,tea,1,5\nann,tea,4,9\nann,tea,2,7\nbob,tea,3,1\n"
    data = Interactions.from_path(put(tmp_path, {"mine.csv": text}) / "mine.csv")
    assert (data.ratings.tolist(), data.times.tolist()) == ([4, 3], [9, 1])
    assert data.notes == ("dropped 2 repeated interactions",)
    with pytest.raises(InputError, match="user 'ann' has item 'tea' twice"):
        Interactions.from_table(tmp_path / "mine.csv", repeats="refuse")


def test_columns_beyond_the_fourth_are_noted(tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path, {"mine.csv": "a,b,3,4,x\nc,d,1,2,y\n"}) / "mine.csv")
    assert data.notes[0] == "only the first 4 columns are read"


def test_a_long_table_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = [f"u{a},i{b},{a % 5},{n}" for n, (a, b) in enumerate(rng.integers(0, 40, (500, 2)))]
    path = put(tmp_path, {"mine.csv": "\n\n".join(rows)}) / "mine.csv"
    whole = Interactions.from_path(path)
    monkeypatch.setattr("trueedge.files.named_columns.BLOCK", 50)
    assert Interactions.from_path(path).hash == whole.hash
    path.write_text("\n".join([*rows, "u1,i1,x,9"]))
    with pytest.raises(InputError, match="line 501: the rating 'x' is not a number"):
        Interactions.from_path(path)


def test_frames_and_parquet_files_are_tables(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "who": ["ann", "bob", "ann"],
            "item_id": [30, 20, 20],
            "stars": [1.0, 2.0, 5.0],
            "when": pandas.to_datetime(["2020-01-01", "2020-01-02", "1970-01-02"]),
        }
    )
    data = Interactions.from_table(frame, users="who", times="when", name="mine")
    assert (data.name, data.users, data.items) == ("mine", ("ann", "bob"), ("30", "20"))
    assert data.pairs.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert data.ratings.tolist() == [1, 5, 2]
    assert data.times.tolist()[1] == 86400
    path = tmp_path / "mine.parquet"
    frame.to_parquet(path)
    assert Interactions.from_table(path, users="who", times="when").hash == data.hash
    plain = {"user": [1.0, 2.0], "item": ["x", "y"]}
    assert Interactions.from_table(plain).users == ("1", "2")


def test_columns_of_a_file_can_be_named(tmp_path: Path) -> None:
    path = put(tmp_path, {"mine.csv": "thing,who,at\ntea,ann,3\nrice,bob,1\n"}) / "mine.csv"
    data = Interactions.from_table(path, users="who", items="thing", times="at")
    assert listed(data) == {("ann", "tea"), ("bob", "rice")}
    assert data.times.tolist() == [3, 1]
    without = Interactions.from_table(
        put(tmp_path, {"b.csv": "user,item\nann,tea\n"}) / "b.csv", header=False
    )
    assert without.users == ("user", "ann")


# Which format a folder has, and what is done with it


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (KGAT, "kgat"),
        ({"train.txt": "0 1 2 3\n1 4\n", "test.txt": "0 5\n"}, "kgat"),
        ({"train.txt": "0 1 2\n1 4 5\n", "test.txt": "0 5\n"}, "undecided"),
        ({"train.txt": "0 1 2\n1 4 5\n", "test.txt": "0 5 6\n", "kg_final.txt": "0 0 1\n"}, "kgat"),
        ({"train.txt": "0 1 2\n", "test.txt": "0 5 6\n", "valid.txt": "0 1 1\n"}, None),
        ({"train.txt": "0 1 2\n", "test.txt": "0 5 6\n", "valid.txt": "", "kg_final.txt": ""}, "undecided"),
        ({"train.txt": "a\tr\tb\n", "test.txt": "a\tr\tc\n"}, None),
        ({"train.txt": "0\t1\t2\n", "test.txt": "0\t1\t3\n"}, None),
        ({"train.txt": "a r b\n", "test.txt": "a r c\n"}, None),
        ({"train.txt": "", "test.txt": ""}, None),
        (RECBOLE, "recbole"),
        (KGCN, "kgcn"),
        ({"ratings.csv": "1,2\n"}, "kgcn"),
        ({"notes.txt": "hello"}, None),
    ],
)
def test_the_format_of_a_folder_follows_from_its_files(
    files: dict[str, str], found: str | None, tmp_path: Path
) -> None:
    assert folder_format(put(tmp_path / "data", files)) == found


def test_folders_of_interactions_have_their_own_default_protocol(tmp_path: Path) -> None:
    for name, files in (("a", KGAT), ("b", RECBOLE), ("c", KGCN)):
        folder = put(tmp_path / name, files)
        assert default_protocol(folder) == default_protocol(str(folder)) == "full-ranking"
        with pytest.raises(InputError, match=r"needs a knowledge graph.*use the protocol full-ranking"):
            te.task(folder, "filtered")
        with pytest.raises(InputError, match=r"needs a plain graph.*use the protocol full-ranking"):
            te.task(str(folder), "heart")
    assert default_protocol(tmp_path / "b" / "shop.inter") == "full-ranking"


def test_a_folder_that_may_hold_either_needs_a_protocol(tmp_path: Path) -> None:
    lines = "".join(f"{n} {(n + 1) % 9} {(n * n) % 9}\n" for n in range(9))
    folder = put(tmp_path / "data", {"train.txt": lines, "test.txt": "0 5 7\n1 5 8\n"})
    with pytest.raises(
        InputError, match=r"may hold triples or interactions.*filtered for triples or full-ranking"
    ):
        default_protocol(folder)
    with pytest.raises(InputError, match="may hold triples or interactions"):
        te.task(folder, "heart")
    assert te.task(folder, "filtered").graph.num_triples == 9
    assert te.task(folder, "full-ranking", ratios=(0.5, 0.5, 0.0)).graph.num_users == 9


def test_a_csv_file_is_ranked_from_the_command_line(trueedge: Callable[..., tuple[int, str, str]]) -> None:
    rows = [f"u{user},i{(user * 7 + n * n) % 30}" for user in range(20) for n in range(12)]
    Path("mine.csv").write_text("user,item\n" + "\n".join(rows))
    status, out, err = trueedge("run", "mine.csv", "-p", "full-ranking", "-m", "popularity")
    assert status == 0, err
    assert "popularity" in out
    assert "ndcg@20" in out
    status, _, err = trueedge("run", "mine.csv", "-m", "cn", "-p", "existing")
    assert "for recommendation, use the protocol full-ranking" in err


def test_a_folder_is_ranked_from_the_command_line(trueedge: Callable[..., tuple[int, str, str]]) -> None:
    rows = ["".join(f" {(user * 7 + n * n) % 30}" for n in range(12)) for user in range(20)]
    train = "\n".join(f"{user}{row}" for user, row in enumerate(rows))
    put(Path("shop"), {"train.txt": train, "test.txt": "0 29\n1 28 27\n"})
    status, out, err = trueedge("run", "shop", "-m", "popularity")
    assert status == 0, err
    assert "shop" in out
    assert "full-ranking" in out


@pytest.mark.data("kgrec/amazon-book")
def test_the_real_folders_are_read(data_folder: Path) -> None:
    data = Interactions.from_path(data_folder / "kgrec" / "amazon-book")
    assert (data.num_users, data.num_items, data.num_interactions) == (70679, 24915, 652514 + 193920)
    assert int(data.test.sum()) == 193920
    music = Interactions.from_path(data_folder / "kgrec" / "lastfm")
    assert (music.num_users, music.num_items, music.num_interactions) == (1872, 3846, 21173)
