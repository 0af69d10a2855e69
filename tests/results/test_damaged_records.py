"""Records that somebody else wrote."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import StoreWarning
from trueedge.results.record import Record


@pytest.fixture(scope="module")
def good() -> dict:
    return te.run("karate", "existing", "ra", seed=0).to_dict()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"metrics": {"test": {}}}, "headline 'mrr'"),
        ({"metrics": {}}, "headline 'mrr'"),
        ({"metrics": {"test": 3}}, "a part has no metrics"),
        ({"metrics": [1]}, "metrics is list"),
        ({"metrics": {"test": {"mrr": None}}}, "mrr is not a number"),
        ({"metrics": {"test": {"mrr": float("nan")}}}, "mrr is not a number"),
        ({"metrics": {"test": {"mrr": 10**400}}}, "mrr is not a number"),
        ({"metrics": {"test": {"mrr": True}}}, "mrr is not a number"),
        ({"seconds": {"fit": "long"}}, "fit is not a number"),
        ({"settings": 3}, "settings is int"),
        ({"provenance": []}, "provenance is list"),
        ({"seed": "0"}, "seed is str"),
        ({"created": 5}, "created is int"),
        ({"headline": None}, "headline is NoneType"),
        ({"units": [1]}, "units is list"),
        ({"kind": 7}, "kind is int"),
        ({"format": True}, "format is bool"),
        ({"mood": "sunny"}, "unknown field 'mood'"),
        ({"provenance": {"kept": "scores"}}, "which scores were kept"),
        ({"provenance": {"kept": {"scores": "../../etc/passwd"}}}, "which scores were kept"),
    ],
)
def test_a_record_that_cannot_be_is_refused_by_the_name_of_its_field(
    good: dict, change: dict, reason: str
) -> None:
    with pytest.raises(te.InputError, match=reason):
        Record.from_dict({**good, **change})


def test_a_field_that_is_missing_is_named(good: dict) -> None:
    for name in ("key", "settings", "seconds"):
        with pytest.raises(te.InputError, match=f"{name} is missing"):
            Record.from_dict({one: value for one, value in good.items() if one != name})


def test_a_record_comes_back_from_its_own_dictionary(good: dict) -> None:
    assert Record.from_dict(good).to_dict() == good


def test_a_store_names_the_row_that_is_no_record(good: dict, tmp_path) -> None:
    store = te.Store(tmp_path)
    store.append(Record.from_dict(good))
    columns = "key, dataset, protocol, method, seed, headline, value, created, record"
    for text in ("[" * 100_000, json.dumps({**good, "metrics": {"test": {}}})):
        row = ("k", "d", "p", "m", 0, "mrr", 0.0, "", text)
        connection = sqlite3.connect(store.path)
        connection.execute(f"INSERT INTO records ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
        connection.close()
        said = r"records\.sqlite: row \d cannot be read as a record, so it is left out"
        with pytest.warns(StoreWarning, match=said):
            assert len(te.Store(tmp_path).records()) == 1


@pytest.mark.parametrize("ranks", [[], [0, 2], [-2, 4]])
def test_ranks_below_the_first_are_damaged(good: dict, ranks: list[int]) -> None:
    old = {name: value for name, value in good.items() if name not in ("format", "kind", "units")}
    packed = base64.b64encode(zlib.compress(np.array(ranks, dtype="<i8").tobytes())).decode()
    with pytest.raises(te.InputError, match="in the record of ra on karate are damaged"):
        _ = Record.from_dict({**old, "packed_ranks": packed}).ranks
