"""What was changed in a store by hand is named by every command, and shown as a number by none."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trueedge as te
from trueedge.errors import InputError, StoreWarning
from trueedge.results.record import seal_of
from trueedge.runs import Cell, run_cells

Edit = Callable[[sqlite3.Connection, dict[str, Any]], object]


def better(plain: dict[str, Any]) -> dict[str, Any]:
    """A record that claims more than it was."""
    test = {**plain["metrics"]["test"], "mrr": 0.999}
    return {**plain, "metrics": {**plain["metrics"], "test": test}}


def write(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
    connection.execute("UPDATE records SET record = ? WHERE method = 'ra'", (json.dumps(plain),))


def metric(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
    write(connection, better(plain))
    connection.execute("UPDATE records SET value = 0.999 WHERE method = 'ra'")


def metric_with_a_new_seal(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
    forged = better(plain)
    write(connection, {**forged, "seal": seal_of(forged)})
    connection.execute("UPDATE records SET value = 0.999 WHERE method = 'ra'")


def metric_without_its_seal(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
    write(connection, {name: value for name, value in better(plain).items() if name != "seal"})
    connection.execute("UPDATE records SET value = 0.999 WHERE method = 'ra'")


def as_an_older_format(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
    forged = {name: value for name, value in better(plain).items() if name != "seal"}
    write(connection, {**forged, "format": 2})
    connection.execute("UPDATE records SET value = 0.999 WHERE method = 'ra'")


def warnings_gone(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
    write(connection, {**plain, "warnings": ["all is well"]})


def column(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
    connection.execute("UPDATE records SET value = 0.999 WHERE method = 'ra'")


EDITS = (metric, metric_with_a_new_seal, metric_without_its_seal, as_an_older_format, warnings_gone, column)


@pytest.fixture
def forge(tmp_path: Path) -> Callable[[Edit], te.Store]:
    """A store of two records, one of which was changed by hand."""

    def make(edit: Edit) -> te.Store:
        store = te.Store(tmp_path / "runs")
        list(run_cells([Cell("karate", "existing", te.methods.create(name)) for name in ("cn", "ra")], store))
        connection = sqlite3.connect(store.path)
        connection.execute("DROP TRIGGER records_stay")
        (text,) = connection.execute("SELECT record FROM records WHERE method = 'ra'").fetchone()
        edit(connection, json.loads(text))
        connection.commit()
        connection.close()
        return te.Store(tmp_path / "runs")

    return make


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_a_row_that_was_changed_is_named_and_left_out(forge, edit: Edit) -> None:
    store = forge(edit)
    said = r"records\.sqlite: row 2 \(ra on karate under existing, seed 0\) was changed after it was written"
    with pytest.warns(StoreWarning, match=said):
        assert [record.method for record in store.records()] == ["cn"]


@pytest.mark.parametrize(
    "words",
    [
        ("records", "--runs", "runs"),
        ("export", "r.csv", "--runs", "runs"),
        ("report", "runs", "-o", "r.html", "--no-slices"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_names_a_forged_row_and_shows_no_number_of_it(forge, trueedge, words) -> None:
    forge(metric)
    status, out, err = trueedge(*words)
    assert status == 0
    assert err.count("row 2 (ra on karate under existing, seed 0) was changed after it was written") == 1
    written = "".join(path.read_text() for path in Path().glob("r.*"))
    assert "0.999" not in out + written
    assert "99.9" not in out + written


def test_a_forged_row_is_neither_reused_nor_certified(forge, trueedge) -> None:
    forge(metric)
    status, _, err = trueedge("certify", "-m", "ra")
    assert status == 1
    assert "there is no record with method ra" in err
    status, out, err = trueedge("run", "karate", "-p", "existing", "-m", "cn,ra", "--seeds", "1")
    assert status == 0
    assert "was changed after it was written" in err
    assert "1 new, 1 cached" in err
    assert "99.90" not in out


def test_rows_that_were_deleted_are_noticed(forge) -> None:
    def delete(connection: sqlite3.Connection, plain: dict[str, Any]) -> None:
        connection.execute("DROP TRIGGER records_remain")
        connection.execute("DELETE FROM records WHERE method = 'cn'")

    with pytest.warns(StoreWarning, match="row 1 is missing: it was deleted after it was written"):
        assert len(forge(delete).records()) == 1


def test_a_record_that_contradicts_itself_is_not_stored(tmp_path: Path) -> None:
    record = te.run("karate", "existing", "ra")
    wrong = replace(record, metrics={"test": {**record.test, "mrr": 0.999}})
    with pytest.raises(InputError, match=r"the mean over its positives gives mrr .* but it says 0\.999"):
        te.Store(tmp_path).append(wrong)


def test_every_protocol_gives_records_that_do_not_contradict_themselves(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    every = [one for one in te.tasks.protocols.catalogue() if one.released is None]
    names = [one.name for one in every if one.data == "graph"]
    options = {"heart": {"k": 8}}
    cells = [Cell("karate", name, te.methods.create("ppr"), options=options.get(name, {})) for name in names]
    cells.append(Cell("nations", "filtered", te.methods.create("relation-frequency")))
    cells.append(Cell("bookshop:users=30,items=40", "full-ranking", te.methods.create("popularity")))
    made = [outcome.record for outcome in run_cells(cells, store)]
    assert all(one is not None and one.units for one in made)
    assert len(store.records()) == len(cells)


def test_an_export_is_sealed_and_an_edited_one_is_not_imported(trueedge) -> None:
    trueedge("run", "karate", "-p", "existing", "-m", "ra,cn", "--seeds", "1")
    trueedge("export", "r.json")
    first, second = json.loads(Path("r.json").read_text())
    for name, forged, reason in (
        ("metric", [first, better(second)], "its content does not match its seal"),
        ("unsealed", [first, {k: v for k, v in second.items() if k != "seal"}], "its seal is missing"),
        ("later", [first, {**second, "format": 99}], "it has format 99, which only a newer version"),
        ("number", [first, 7], "it is an int"),
    ):
        Path("forged.json").write_text(json.dumps(forged))
        status, _, err = trueedge("records", "--import", "forged.json", "--runs", f"runs-{name}")
        assert status == 1
        assert f"forged.json: record 2 cannot be imported: {reason}" in err
        assert len(te.Store(f"runs-{name}")) == 0
