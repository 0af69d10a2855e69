"""Records as tables: every value is where it belongs, and nothing needs pandas until it is asked for."""

from __future__ import annotations

import json
import sys

import pytest

import trueedge as te
from trueedge.results.frames import columns, frame


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    found = te.Store(folder)
    for protocol in ("existing", "uniform"):
        for method in ("cn", "katz"):
            for seed in (0, 1):
                te.run("karate", protocol, method, seed, store=found)
    return found


def test_a_row_holds_what_its_record_holds(store):
    records = store.latest()
    table = columns(records)
    assert {len(column) for column in table.values()} == {len(records)}
    for place, one in enumerate(records):
        row = {name: column[place] for name, column in table.items()}
        assert (row["dataset"], row["protocol"], row["method"]) == (one.dataset, one.protocol, one.method)
        assert (row["seed"], row["key"], row["value"]) == (one.seed, one.key, one.value)
        assert json.loads(row["settings"]) == dict(one.settings)
        assert {name: row[name] for name in one.test} == dict(one.test)
        assert row["seconds_fit"] == one.seconds["fit"]


def test_a_metric_that_a_record_does_not_have_is_missing(store):
    records = store.latest()
    table = columns(records)
    for name in {name for one in records for name in one.test}:
        for place, one in enumerate(records):
            assert (table[name][place] is None) == (name not in one.test)


def test_the_long_table_has_every_metric_of_every_part_once(store):
    records = store.latest()
    table = columns(records, long=True)
    found = sorted(zip(table["key"], table["part"], table["metric"], table["value"], strict=True))
    wanted = sorted(
        (one.key, part, name, value)
        for one in records
        for part, metrics in one.metrics.items()
        for name, value in metrics.items()
    )
    assert found == wanted


def test_the_frame_of_a_store_can_be_grouped(store):
    pytest.importorskip("pandas")
    means = store.to_frame().groupby(["protocol", "method", "settings"])["value"].mean()
    assert len(means) == 4
    record = store.latest()[0]
    same = [
        one.value for one in store.latest() if (one.protocol, one.method) == (record.protocol, record.method)
    ]
    settings = json.dumps(dict(record.settings), sort_keys=True)
    assert means[record.protocol, record.method, settings] == pytest.approx(sum(same) / len(same))


def test_a_repeated_request_is_one_row_unless_all_are_asked_for(store, tmp_path):
    pytest.importorskip("pandas")
    other = te.Store(tmp_path)
    record = store.latest()[0]
    other.append_all([record, record])
    assert len(other.to_frame()) == 1
    assert len(other.to_frame(latest=False)) == 2


def test_no_record_gives_an_empty_frame(tmp_path):
    pytest.importorskip("pandas")
    found = te.Store(tmp_path).to_frame()
    assert len(found) == 0
    assert {"dataset", "method", "value", "seconds_fit"} <= set(found.columns)


def test_without_pandas_one_sentence_says_what_to_do(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(te.InputError, match="pip install pandas"):
        store.to_frame()


def test_what_is_no_record_is_refused():
    with pytest.raises(te.InputError, match="made from records, got str"):
        frame(["cora"])
    with pytest.raises(te.InputError, match="made from a list of records, got NoneType"):
        frame(None)


def test_a_store_says_where_it_is_and_how_much_it_holds(store):
    assert repr(store) == f"Store({str(store.folder)!r}: 8 records)"
