"""The device in a record is the one that did the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

import trueedge as te
from trueedge.methods import Method
from trueedge.methods.devices import device_used
from trueedge.runs import Cell

NAMES = [kind.name for kind in te.methods.catalogue() if kind.__module__.startswith("trueedge.")]


@dataclass(frozen=True)
class Own(Method):
    """A method that does not say whether it uses a device."""

    name: ClassVar[str] = "own-with-device"
    title: ClassVar[str] = "own"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"

    def fit(self, task, seed=0, device="cpu"):
        return lambda pairs: pairs.sum(axis=1).astype(float)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch):
    """Pretend that torch finds some GPUs."""
    torch = pytest.importorskip("torch")

    def pretend(count: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return pretend


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.rotating(6)
def test_a_method_that_does_not_use_a_device_says_so(name: str, gpus) -> None:
    gpus(0)
    kind = te.methods.get(name)
    data = ("nations", "filtered") if "triples" in kind.takes else ("karate", "existing")
    if "interactions" in kind.takes:
        data = ("bookshop:users=30,items=40", "full-ranking")
    if "typed" in kind.takes:
        data = ("bibliography", "node-classification" if kind.can_do("nodes") else "typed-links")
    task = te.task("cora", "existing") if kind.needs_features else te.task(*data)
    method = te.methods.create(name).for_task(task)
    if device_used(method, "cuda") == "cpu":
        method.fit(task, device="cuda")
        return
    with pytest.raises(te.InputError, match="device cuda: torch finds no GPU"):
        method.fit(task, device="cuda")


@pytest.mark.parametrize("method", ["ra", "eigenmap", "sbm", "linear"])
def test_the_record_of_a_method_without_training_names_the_cpu(method: str, gpus) -> None:
    gpus(0)
    record = te.run("karate", "existing", method, device="cuda:7")
    assert record.provenance["device"] == "cpu"
    assert "accelerator" not in record.provenance["machine"]


@pytest.mark.parametrize(
    ("count", "device", "sentence"),
    [
        (0, "cuda", "device cuda: torch finds no GPU"),
        (1, "cuda:1", "device cuda:1: torch finds 1 here, the last is cuda:0"),
        (2, "cuda:999", "device cuda:999: torch finds 2 here, the last is cuda:1"),
    ],
)
@pytest.mark.parametrize("method", [te.methods.create("gcn"), Own()], ids=["gcn", "own"])
def test_a_device_that_is_not_there_is_refused(
    method: Method, count: int, device: str, sentence, gpus
) -> None:
    gpus(count)
    with pytest.raises(te.InputError, match=sentence):
        te.run("karate", "existing", method, device=device)


@pytest.mark.parametrize("device", ["cuda:99999999999999999999", "cuda:-1", "cuda:", "gpu", "cuda:1 "])
def test_a_device_that_is_misspelt_is_refused_for_every_method(device: str) -> None:
    for method in ("ra", "gcn"):
        with pytest.raises(te.InputError, match="device must be 'cpu', 'cuda' or 'cuda:0'"):
            Cell("karate", "existing", te.methods.create(method), device=device).check()


def test_a_verdict_mentions_a_device_only_where_the_model_cannot_use_it() -> None:
    task = te.task("karate", "existing")
    said = "the device cuda has no effect: "

    def takes_it(graph, device):
        return lambda pairs: pairs.sum(axis=1).astype(float)

    def takes_none(graph):
        return lambda pairs: pairs.sum(axis=1).astype(float)

    for fit, found in ((takes_it, False), (takes_none, True)):
        notes = te.judge(fit, task, checks=False, device="cuda").notes
        assert any(one.startswith(said) for one in notes) is found
