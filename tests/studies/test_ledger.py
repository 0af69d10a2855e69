"""The ledger of misses covers what is missed, and nothing else."""

from __future__ import annotations

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from trueedge.errors import InputError
from trueedge.studies import ledger

ENTRY = """
[[misses]]
evidence = "one"
values = 1
methods = "g*"
cause = "another seed"
experiment = "trueedge reproduce one"
status = "open"
"""


def evidence(folder: Path, rows: list[dict[str, object]], decimals: int = 2) -> None:
    plain = {"dataset": "cora", "protocol": "heart", "metric": "mrr", "std": 0.0, "seeds": 1, "run": 0}
    card = {"study": "a/one", "decimals": decimals, "rows": [{**plain, **row} for row in rows]}
    (folder / "one.json").write_text(json.dumps(card))


def row(method: str, ours: float, theirs: float | None, their_std: float | None = None, **more: float):
    return {"method": method, "ours": ours, "theirs": theirs, "their_std": their_std, **more}


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        (row("gcn", 12.504, 12.50), False),
        (row("gcn", 12.51, 12.50), True),
        (row("gcn", 12.9, 12.5, 0.5), False),
        (row("gcn", 13.1, 12.5, 0.5, std=3.0), True),
        (row("gcn", 13.1, 12.5, None, std=0.3), False),
        (row("gcn", 13.2, 12.5, None, std=0.3), True),
    ],
)
def test_a_value_is_missed_beyond_its_published_spread(tmp_path: Path, found, missed: bool) -> None:
    evidence(tmp_path, [found, row("gat", 1.0, None)])
    (tmp_path / "misses.toml").write_text("")
    (value,) = ledger.read(tmp_path).values
    assert value.missed is missed


def test_a_miss_without_an_entry_and_an_entry_without_a_miss_are_faults(tmp_path: Path) -> None:
    evidence(tmp_path, [row("gcn", 12.0, 12.5), row("mlp", 9.0, 8.0)])
    (tmp_path / "misses.toml").write_text(ENTRY)
    assert ledger.read(tmp_path).faults() == [
        "one: cora, heart, mlp, mrr: 9 misses the published 8, and no entry says why"
    ]
    evidence(tmp_path, [row("gcn", 12.5, 12.5)])
    assert ledger.read(tmp_path).faults() == [
        "entry 1 (another seed) covers no value that is missed: remove it"
    ]


def test_a_tolerance_stands_in_for_a_missing_spread(tmp_path: Path) -> None:
    evidence(tmp_path, [row("gcn", 12.0, 12.5)])
    (tmp_path / "misses.toml").write_text("[tolerances]\none = 0.6\n")
    assert not ledger.read(tmp_path).missed()
    (tmp_path / "misses.toml").write_text("[tolerances]\ntwo = 0.6\n")
    with pytest.raises(InputError, match="no evidence for the tolerance of 'two'"):
        ledger.read(tmp_path)


def test_an_entry_that_covers_more_missed_values_than_it_says_is_a_fault(tmp_path: Path) -> None:
    evidence(tmp_path, [row("gcn", 12.0, 12.5), row("gat", 12.5, 12.5)])
    (tmp_path / "misses.toml").write_text(ENTRY)
    assert ledger.read(tmp_path).faults() == []
    evidence(tmp_path, [row("gcn", 12.0, 12.5), row("gat", 9.0, 12.5)])
    (fault,) = ledger.read(tmp_path).faults()
    assert fault.startswith("entry 1 (another seed) covers 2 missed values, not 1: see whether its cause")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("misses = 3 =", "cannot be read"),
        ("wrong = 1", "unknown key 'wrong'"),
        ("[tolerances]\none = -1", "numbers above 0"),
        (ENTRY.replace("cause", "reason"), "entry 1: unknown key 'reason'"),
        (ENTRY.replace('"open"', '"maybe"'), "status must be one of explained, open, got 'maybe'"),
        (ENTRY.replace('methods = "g*"', "methods = 3"), "'methods' must be a name or a list of names"),
        ('[[misses]]\nevidence = "one"\nvalues = 1', "'cause' is missing"),
        (ENTRY.replace("values = 1", ""), "'values' is missing"),
        (ENTRY.replace("values = 1", "values = '1'"), "values must be a whole number, got '1'"),
    ],
)
def test_a_wrong_ledger_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    evidence(tmp_path, [row("gcn", 12.0, 12.5)])
    (tmp_path / "misses.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        ledger.read(tmp_path)


def test_the_ledger_of_the_evidence_has_no_fault() -> None:
    assert ledger.read(Path(__file__).parents[2] / "results").faults() == []


def test_what_is_not_a_number_is_missed(tmp_path: Path) -> None:
    evidence(tmp_path, [row("gcn", float("nan"), 12.5, 0.5)])
    (tmp_path / "misses.toml").write_text("")
    (value,) = ledger.read(tmp_path).values
    assert value.missed


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"study": "a", "decimals": -400, "rows": []}'])
def test_a_wrong_file_of_evidence_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "misses.toml").write_text("")
    (tmp_path / "one.json").write_text(text)
    with pytest.raises(InputError, match=r"one\.json is no file of evidence"):
        ledger.read(tmp_path)


@pytest.mark.parametrize("text", ["misses = 3", "misses = [1]"])
def test_entries_are_tables(tmp_path: Path, text: str) -> None:
    (tmp_path / "misses.toml").write_text(text)
    with pytest.raises(InputError, match=r"write \[\[misses\]\] for each entry"):
        ledger.read(tmp_path)


def test_the_experiment_of_a_cause_is_on_the_data_set_that_it_explains() -> None:
    said = tomllib.loads((Path(__file__).parents[2] / "results" / "misses.toml").read_text())["misses"]
    for one in said:
        about = one.get("datasets", "*")
        tried = re.findall(r"--dataset ([\w,-]*\w)", one["experiment"])
        for name in [name for names in tried for name in names.split(",")]:
            known = [about] if isinstance(about, str) else about
            assert any(fnmatch(name, pattern) for pattern in known), (about, one["methods"], name)
