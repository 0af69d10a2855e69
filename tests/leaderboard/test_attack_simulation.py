"""The simulated attackers learn labels from exact answers, and nothing from the ladder."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import leaderboard_attack as attack
from benchmarks import leaderboard_new_attackers as new
from benchmarks import leaderboard_tuning as tuning


@pytest.fixture(scope="module")
def setting():
    return attack.settings("uniform", 1)[0]


@pytest.mark.parametrize("name", ["decode", "boost"])
def test_exact_answers_give_in_and_the_ladder_does_not(setting, name: str, monkeypatch) -> None:
    monkeypatch.setattr(attack, "TRIES", 200)
    found = {}
    for how in ("exact", "ladder"):
        attempt = attack.ATTACKS[name](setting, how, np.random.default_rng(0))
        found[how] = attack._outcome(setting, how, attempt, name)
    assert found["exact"][0] > 0.5
    assert found["ladder"][0] == 0.0
    if name == "decode":
        assert found["exact"][2] > 0.8
        assert abs(found["ladder"][2] - 0.5) < 0.15


def test_a_coalition_gains_nothing_on_the_private_units(setting) -> None:
    attempt = attack.ATTACKS["pool-teams"](setting, "ladder", np.random.default_rng(0))
    assert attack._outcome(setting, "ladder", attempt, "pool-teams")[1] <= 0.0


def test_every_attack_is_one_that_the_table_can_judge() -> None:
    row = {"told": 0.6, "private": 0.0, "decoded": None, "draws": 4}
    assert [attack._reached(name, row) for name in ("boost", "hill", "pool-boosts")] == [False, False, True]
    assert not attack._reached("decode", {**row, "told": 0.0, "decoded": 0.9})


@pytest.mark.parametrize("name", ["flips", "bandit", "memory", "ratchet"])
def test_new_attackers_of_one_team_are_told_nothing_by_the_ladder(setting, name: str, monkeypatch) -> None:
    monkeypatch.setattr(new, "TRIES", 60)
    found = {}
    for how in ("exact", "ladder"):
        attempt = new.NEW_ATTACKS[name](setting, how, np.random.default_rng(0))
        found[how] = attack._outcome(setting, how, attempt, name)
    if name in ("memory", "ratchet"):
        assert found["exact"][2] > 0.55
        assert abs(found["ladder"][2] - 0.5) < 0.15
    else:
        assert found["exact"][0] > 0.0
        assert found["ladder"][0] == 0.0


@pytest.mark.parametrize("name", ["pool-edge", "pool-nodes", "pool-decode", "pool-ranks", "pool-sixteen"])
def test_new_coalitions_gain_nothing_on_the_private_units(setting, name: str, monkeypatch) -> None:
    monkeypatch.setattr(new, "POOLED", 60)
    attempt = new.NEW_ATTACKS[name](setting, "ladder", np.random.default_rng(0))
    assert attack._outcome(setting, "ladder", attempt, name)[1] <= 0.0


def test_new_accounts_decode_labels_if_each_has_a_ladder_and_not_if_they_share_one(setting) -> None:
    found = {
        how: new.NEW_ATTACKS["pool-decode"](setting, how, np.random.default_rng(0)).decoded
        for how in ("ladder-team", "ladder")
    }
    assert found["ladder-team"] > 0.6
    assert abs(found["ladder"] - 0.5) < 0.15


def test_one_ladder_costs_honest_teams_their_values() -> None:
    each, shared = attack.price("uniform", 1)
    assert each["see_a_value"] == each["teams"]
    assert shared["see_a_value"] < each["see_a_value"]


def test_what_a_tuner_is_told_is_the_sum_of_its_parts(setting, monkeypatch) -> None:
    monkeypatch.setattr(tuning, "TRIES", 60)
    found = tuning.tuned(setting, np.random.default_rng(0))
    assert found["told"] == pytest.approx(found["real"] + found["chosen"] + found["rounding"])
    # A shown value is rounded down, so it is not above the truth by more than chance allows.
    assert found["over"] < 2.0
