"""Columns of interactions in tables: found by further names, given by name or number, doubted, and noted."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from trueedge import Interactions
from trueedge.errors import InputError

ORDERS = """order_id;bought_at;sku;customer
1;2020-03-01T10:00:00+00:00;tea;ann
2;2020-01-02;rice;ann
3;2020-01-03 00:00:00;tea;bob
"""


def put(folder: Path, text: str) -> Path:
    path = folder / "shop.csv"
    path.write_text(text)
    return path


def pairs_of(data: Interactions) -> set[tuple[str, str]]:
    assert data.users is not None
    assert data.items is not None
    return {(data.users[user], data.items[item]) for user, item in data.pairs.tolist()}


def test_columns_of_a_shop_are_found_in_any_order_and_dates_are_times(tmp_path: Path) -> None:
    path = put(tmp_path, ORDERS)
    data = Interactions.from_path(path)
    rows = list(csv.DictReader(path.open(), delimiter=";"))
    assert pairs_of(data) == {(row["customer"], row["sku"]) for row in rows}
    assert sorted(data.times.tolist()) == [1577923200, 1578009600, 1583056800]
    assert data.notes == ("not read: order_id",)


@pytest.mark.parametrize("header", ["sku,customer", "product,buyer", "film,client_id"])
def test_two_columns_are_not_swapped_because_their_names_are_unusual(header: str, tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path, f"{header}\ntea,ann\nrice,bob\ntea,bob\n"))
    assert pairs_of(data) == {("ann", "tea"), ("bob", "rice"), ("bob", "tea")}


def test_a_first_line_whose_words_do_not_come_again_may_be_a_header(tmp_path: Path) -> None:
    rows = "".join(f"u{n % 3},i{n % 4}\n" for n in range(12))
    path = put(tmp_path, f"who,what\n{rows}")
    with pytest.raises(InputError, match="'who' and 'what' may be names of columns"):
        Interactions.from_path(path)
    assert Interactions.from_path(path, header=False).num_interactions == 13
    assert Interactions.from_path(path, header=True).notes == (
        "no column has a usual name: who is read as user and what as item",
    )
    put(tmp_path, "who,what\n" + "".join(f"{n % 3},{n % 4}\n" for n in range(12)))
    numbers = Interactions.from_path(path)
    assert (numbers.users, numbers.num_interactions) == (("0", "1", "2"), 12)
    put(tmp_path, f"who,what,much\n{rows.replace(chr(10), ',3' + chr(10))}")
    with pytest.raises(InputError, match=r"line 1: the rating 'much' is not a number; if this line names"):
        Interactions.from_path(path)
    put(tmp_path, f"who,what\n{rows}")
    named = Interactions.from_table(path, users="who", items="what")
    assert (named.num_interactions, named.notes) == (12, ())


def test_a_note_says_what_columns_without_names_are_read_as(tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path, "1\t20\t3\t881250949\n2\t30\t4\t881250950\n"))
    assert data.notes == ("no line names the columns, which are read as user, item, rating and time",)


@pytest.mark.parametrize("times", [("1600000000", "1600000100"), ("2020-01-01", "2020-01-02")])
def test_a_third_column_of_times_is_not_read_as_ratings(times: tuple[str, str], tmp_path: Path) -> None:
    data = Interactions.from_path(put(tmp_path, f"ann,tea,{times[0]}\nbob,rice,{times[1]}\n"))
    assert data.ratings is None
    assert data.times is not None
    assert data.notes == ("no line names the columns, which are read as user, item and time",)


def test_columns_are_given_by_their_numbers_even_if_a_value_is_the_same_number(tmp_path: Path) -> None:
    path = put(tmp_path, "1\t0\t3\t5\n2\t0\t4\t9\n2\t1\t1\t7\n")
    data = Interactions.from_table(path, users=1, items=0, times=3)
    assert pairs_of(data) == {("0", "1"), ("0", "2"), ("1", "2")}
    assert (data.ratings, sorted(data.times.tolist())) == (None, [5, 7, 9])
    assert Interactions.from_table(path, times=2).pairs.tolist() == [[0, 0], [1, 0], [1, 1]]


def test_a_time_that_is_neither_a_number_nor_a_date_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: the time '01/02/2020' is neither a number nor a date like"):
        Interactions.from_path(put(tmp_path, "user,item,date\na,b,01/02/2020\n"))


def test_columns_of_interactions_are_given_on_the_command_line(trueedge, tmp_path: Path) -> None:
    pairs = [(user, item) for user in range(9) for item in range(user, user + 12)]
    rows = "".join(f"{nr},{1600000000 + 7 * i},i{i},u{u}\n" for nr, (u, i) in enumerate(pairs))
    put(tmp_path, f"nr,moment,thing,somebody\n{rows}")
    words = ("run", "shop.csv", "-p", "full-ranking", "-m", "popularity", "--option", "split=time")
    status, out, err = trueedge(*words, "--source", "somebody", "--target", "thing", "--time", "moment")
    assert status == 0, err
    assert "popularity" in out
    status, _, err = trueedge(*words, "--source", "somebody", "--target", "nothing")
    assert status == 1
    assert "there is no column 'nothing', only 'nr', 'moment', 'thing', 'somebody'" in err
