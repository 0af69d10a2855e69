"""The method of a certificate, run again."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.methods import Method, setting
from trueedge.results.certificate_file import digest, request_of, seal_of


@dataclass(frozen=True)
class Shaky(Method):
    """Scores that change a little from run to run, as those of some GPUs do."""

    title: ClassVar[str] = "shaky"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"
    noise: float = setting(0.0, "size of the noise", low=0.0)
    runs: ClassVar[int] = 0

    def fit(self, task, seed=0, device="cpu"):
        Shaky.runs += 1
        shift = self.noise * (Shaky.runs % 2)
        return lambda pairs: np.sin(pairs.sum(axis=1) + seed) + shift * np.cos(77.0 * pairs.sum(axis=1))


Shaky.name = "shaky"


def certificate(folder: Path, method: str | Method = "katz", **options: object) -> Path:
    store = te.Store(folder / "runs")
    record = te.run("karate", "existing", method, 2, store=store, keep_scores=True, **options)
    return te.certify(record, folder / "one.json", store)


def reseal(path: Path, **changes: object) -> None:
    card = {**json.loads(path.read_text()), **changes}
    card["hashes"] = {**card["hashes"], "settings": digest(request_of(card))}
    path.write_text(json.dumps({**card, "seal": seal_of(card)}))


@pytest.mark.parametrize("method", ["katz", "eigenmap", "linear"])
def test_what_was_certified_comes_out_again(method: str, tmp_path: Path) -> None:
    path = certificate(tmp_path, method)
    found = te.rerun(path)
    assert found.ok, found.differences
    again = {check.name: check.sentence for check in found.checks if check.name.startswith("rerun ")}
    assert again["rerun scores"] == f"run again, {method} gives the same scores"
    assert set(again) == {"rerun scores", *(f"rerun {name}" for name in found.certificate["metrics"])}


def test_a_trained_method_comes_out_again(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = certificate(tmp_path, te.methods.create("mlp-deg", {"epochs": 3}))
    assert te.rerun(path).ok


@pytest.mark.parametrize(
    "change",
    [
        {"method": "ra", "settings": {}},
        {"settings": {"beta": 0.1, "max_length": 3}},
    ],
    ids=["another method", "other settings"],
)
def test_scores_that_the_method_does_not_give_are_found(change: dict, tmp_path: Path) -> None:
    path = certificate(tmp_path, "katz")
    reseal(path, **change)
    assert te.verify(path, "karate").ok
    found = te.rerun(path)
    names = [check.name for check in found.differences]
    assert names[0] == "rerun scores"
    assert "they differ by" in found.differences[0].sentence


def test_another_seed_is_found(tmp_path: Path) -> None:
    path = certificate(tmp_path, Shaky())
    reseal(path, seed=5)
    assert te.verify(path, "karate").ok
    assert te.rerun(path, method=Shaky()).differences[0].name == "rerun scores"


def test_small_differences_are_said_and_a_tolerance_accepts_them(tmp_path: Path) -> None:
    Shaky.runs = 0
    tiny = Shaky(noise=1e-9)
    path = certificate(tmp_path, tiny)
    found = te.rerun(path, method=Shaky())
    # The order of the scores is the same: so are the metrics.
    assert found.ok
    sentence = next(check.sentence for check in found.checks if check.name == "rerun scores")
    assert sentence.startswith("run again, shaky gives other scores: they differ by 1e-09 at most")
    large = tmp_path / "large"
    Shaky.runs = 0
    path = certificate(large, Shaky(noise=2.0))
    found = te.rerun(path, method=Shaky())
    (check,) = (one for one in found.differences if one.name == "rerun mrr")
    assert "it differs by" in check.sentence
    Shaky.runs = 1
    assert te.rerun(path, method=Shaky(), tolerance=1.0).ok


def test_the_task_is_made_from_the_data_set_or_given(tmp_path: Path) -> None:
    task = te.task("karate", "existing", 2)
    path = certificate(tmp_path)
    assert te.rerun(path, task).ok
    assert te.rerun(path, task.save(tmp_path / "task")).ok
    reseal(path, dataset="my-graph")
    with pytest.raises(InputError, match=r"my-graph is not a named data set: give the task"):
        te.rerun(path)
    assert [check.name for check in te.rerun(path, task).differences] == ["dataset"]


def test_a_device_other_than_the_certified_one_is_not_verified(tmp_path: Path) -> None:
    path = certificate(tmp_path, Shaky())
    reseal(path, device="cuda")
    assert "device" in te.rerun(path, method=Shaky(), device="cpu").unverified
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="device cuda: torch finds no GPU"):
            te.rerun(path, method=Shaky())


def test_the_device_of_a_heuristic_was_the_cpu(tmp_path: Path) -> None:
    path = certificate(tmp_path, "ra", device="cuda:3")
    assert json.loads(path.read_text())["device"] == "cpu"
    assert "device" not in te.rerun(path).unverified
    reseal(path, device="cuda:3")
    assert "device" in te.rerun(path).unverified


@pytest.mark.parametrize(
    ("change", "given", "sentence"),
    [
        ({"method": "banana"}, {}, "the method banana is not in the catalogue: give your own"),
        ({}, {"method": Shaky()}, "the certificate is of the method katz, not of shaky"),
        ({"settings": {"depth": 1}}, {}, "depth"),
        ({"settings": {"beta": "much"}}, {}, "beta must be"),
        ({"seed": -1}, {}, "seed"),
        ({}, {"tolerance": -1}, "tolerance must be a number, 0 or more"),
        ({}, {"tolerance": float("nan")}, "tolerance must be a number, 0 or more"),
        ({"device": "gpu"}, {}, None),
    ],
    ids=range(8),
)
def test_what_cannot_be_run_is_one_sentence(change: dict, given: dict, sentence, tmp_path: Path) -> None:
    path = certificate(tmp_path)
    reseal(path, **change)
    if sentence is None:
        # Nothing runs there: a heuristic uses the CPU.
        assert "device" in te.rerun(path, **given).unverified
        return
    with pytest.raises(InputError, match=sentence) as caught:
        te.rerun(path, **given)
    assert "\n" not in str(caught.value)


def test_a_setting_that_ones_own_method_does_not_have_is_named(tmp_path: Path) -> None:
    path = certificate(tmp_path, Shaky())
    reseal(path, settings={"noise": 0.0, "depth": 2})
    with pytest.raises(InputError, match="has the setting 'depth', which shaky does not have"):
        te.rerun(path, method=Shaky())


def test_a_trained_method_without_torch_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = certificate(tmp_path)
    reseal(path, method="gcn", settings={})
    for name in [name for name in sys.modules if name == "torch" or name.startswith("trueedge.training")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="gcn needs torch to run again"):
        te.rerun(path)
