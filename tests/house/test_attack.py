"""Generated attacks are refused in one sentence, or give the number of an independent oracle."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.attack import run  # noqa: E402
from benchmarks.attack.outcomes import (  # noqa: E402
    Case,
    HangError,
    LostRecordError,
    attack,
    expect,
)
from benchmarks.attack.plain_metrics import plain_metrics  # noqa: E402
from benchmarks.attack.plain_text import SenselessError, pairs_of  # noqa: E402

from trueedge.errors import InputError  # noqa: E402

# These start processes, or train models.
SLOW = ("environments", "models")


def _attacked(size: str, path: Path, *categories: str) -> dict[str, object]:
    chosen = [word for category in categories for word in ("--category", category)]
    status = run.main(["--size", size, "--output", str(path), *chosen])
    content: dict[str, object] = json.loads(path.read_text())
    assert content["failures"] == []
    assert status == 0
    return content


def test_the_quick_attacks_find_nothing(tmp_path: Path) -> None:
    quick = [category for category in run.CATEGORIES if category not in SLOW]
    content = _attacked("quick", tmp_path / "attack.json", *quick)
    assert content["attacks"] >= 120
    for outcome in ("refused", "right", "noted"):
        assert content["outcomes"][outcome] > 0


@pytest.mark.rotating(1)
@pytest.mark.parametrize("category", SLOW)
def test_the_slower_attacks_find_nothing(category: str, tmp_path: Path) -> None:
    content = _attacked("quick", tmp_path / "attack.json", category)
    assert content["attacks"] >= 12
    assert content["outcomes"]["refused"] > 0


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_the_nightly_attacks_find_nothing(tmp_path: Path) -> None:
    assert _attacked("nightly", tmp_path / "attack.json")["attacks"] >= 3000


def test_an_attack_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    def drawing(case: Case) -> None:
        raise InputError(str(case.number(0, 10**9)))

    stories = [attack("readers", {"drawing": drawing}, 7, seed).story for seed in (0, 0, 1)]
    assert stories[0] == stories[1] != stories[2]


def _lose(case: Case) -> None:
    raise LostRecordError("gone")


def _hang(case: Case) -> None:
    while True:
        pass


def _stop(case: Case) -> None:
    raise SystemExit(3)


def _note(case: Case) -> None:
    case.notes.append("dropped 1 self-loop")


def _refuse(case: Case) -> None:
    raise InputError("the file is empty")


@pytest.mark.parametrize(
    ("family", "outcome"),
    [
        (lambda case: None, "right"),
        (_note, "noted"),
        (_refuse, "refused"),
        (lambda case: expect(False, "1 is not 2"), "silent wrong number"),
        (_lose, "lost record"),
        (lambda case: [][1], "traceback"),
        (_stop, "traceback"),
        (_hang, "hang"),
    ],
)
def test_every_outcome_is_told_apart(family, outcome: str) -> None:
    found = attack("readers", {"one": family}, 0, 0, limit=0.5)
    assert found.outcome == outcome
    assert found.failed == (outcome not in ("right", "noted", "refused"))


def test_a_failure_is_counted_written_down_and_sets_the_status(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(run, "load", lambda category, size: ({"losing": _lose, "noting": _note}, 3))
    path = tmp_path / "attack.json"
    assert run.main(["--category", "stores", "--output", str(path)]) == 1
    content = json.loads(path.read_text())
    assert content["outcomes"]["lost record"] == len(content["failures"]) == 2
    assert content["families"] == {"stores": {"losing": {"lost record": 2}, "noting": {"noted": 1}}}
    assert "stores 0, losing: lost record" in capsys.readouterr().out


def test_the_oracle_counts_ties_half() -> None:
    found = plain_metrics([1.0, 0.0], [1.0, 0.0])
    assert found["auc"] == 0.5
    assert found["mrr"] == pytest.approx((1 / 1.5 + 1 / 2.5) / 2)
    assert found["hits@1"] == 0.0
    assert plain_metrics([1.0, 0.0], [[1.0, 0.0], [0.0, 0.0]])["rank-hits@2"] == 1.0


@pytest.mark.parametrize("text", ["1,2\n3 4\n", "1 2\n1.5 3\n", "-1 2\n", "", "# only\n", "1\n"])
def test_the_oracle_knows_what_has_no_meaning(text: str) -> None:
    with pytest.raises(SenselessError):
        pairs_of(text.encode(), header=False)


def test_the_alarm_cannot_be_caught_by_the_package() -> None:
    assert not issubclass(HangError, Exception)
    assert Counter(run.CATEGORIES)["museum"] == 1
