"""The command that searches settings: its plan, its tables, its sentences; and trainings that are kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import trueedge as te
from trueedge import training

KATZ = ("-p", "existing", "-m", "katz", "--space", "beta=0.001,0.1", "--space", "max_length=2,3")


def test_a_search_says_its_plan_and_prints_the_best_trials_and_the_winner(trueedge, tmp_path: Path) -> None:
    words = ("tune", "karate", *KATZ, "--trials", "4", "--seeds", "2", "--metric", "auc")
    status, out, err = trueedge(*words)
    assert status == 0
    plan, last = err.splitlines()[0], err.splitlines()[-1]
    assert plan == (
        "4 trials (full grid: beta 2, max_length 2), then the best settings with 2 seeds: at most 6 runs"
    )
    lines = out.splitlines()
    assert lines[0] == "karate · existing · katz  validation part, percent, the best 4 of 4 trials"
    assert lines[1].split() == ["auc", "beta", "max_length"]
    values = [float(line.split()[0]) for line in lines[2:6]]
    assert values == sorted(values, reverse=True)
    assert lines[2].split()[-1] == "best"
    assert {line.split()[-1] for line in lines[3:6]} == {"tied"}
    assert err.splitlines()[1:3] == [
        "The validation part is too small to choose settings (3 positives; at least 30 are needed):"
        " make it larger with --option ratios=…",
        "No significant difference between the best trial and any other trial",
    ]
    assert lines[6] == "karate · existing  test part, percent, 2 seeds, this split only, mean ± std"
    winner = dict(zip(("auc", "beta", "max_length", ""), lines[2].split(), strict=True))
    assert lines[8].startswith("katz (")
    given = {"beta": 0.005, "max_length": 3} | {"beta": float(winner["beta"])}
    assert f"beta={given['beta']}" in lines[8]
    assert last == "6 records in runs/records.sqlite: 6 new, 0 cached"
    status, again, err = trueedge(*words)
    assert (status, again) == (0, out)
    assert err.splitlines()[-1].startswith(
        "6 records in runs/records.sqlite: 0 new, 6 cached (computed on 20"
    )
    status, out, err = trueedge("records")
    assert status == 0
    assert out.splitlines()[0] == lines[6]
    assert err.splitlines()[-1] == "2 records in runs/records.sqlite"
    assert trueedge("export", "all.csv")[0] == 0
    assert sum(",test," in line for line in Path("all.csv").read_text().splitlines()) > 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-p", "existing,heart"), "tune takes one protocol, got 2"),
        (("-m", "katz,lrw"), "tune takes one method, got 2"),
        (("-m", "cn"), "cn has no setting to search"),
        (("--search", "tpee"), "did you mean 'tpe'"),
        (("--space", "beta"), "--space beta is not of the form key=value,value"),
        (("--space", "beta="), "no value of beta is named"),
        (("--space", "beat=1"), "did you mean 'beta'"),
        (("--space", "beta=-1.0,2.0"), "beta must be"),
        (("--set", "beat=1"), "did you mean 'beta'"),
        (("--metric", "acu"), "did you mean 'auc'"),
        (
            ("-p", "uniform"),
            "karate under uniform has no validation part: set valid=0.1 (--option valid=0.1)",
        ),
        (("--option", "ratoi=1"), "did you mean 'ratio'"),
        (("--device", "tpu"), "device must be"),
    ],
)
def test_wrong_input_is_one_sentence(trueedge, words: tuple[str, ...], sentence: str) -> None:
    base = ("-p", "existing", "-m", "katz", "--trials", "2", "--seeds", "1")
    status, out, err = trueedge("tune", "karate", *base, *words)
    assert (status, out) == (1, "")
    assert sentence in err.splitlines()[-1]
    assert all(not line.startswith("Traceback") for line in err.splitlines())


def test_without_optuna_the_command_says_what_to_install(trueedge, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    status, _, err = trueedge("tune", "karate", *KATZ, "--search", "tpe")
    assert status == 1
    assert err == (
        "trueedge: the search tpe needs Optuna: run pip install -e '.[search]' -c constraints.txt"
        " in your clone of trueedge, or use --search grid\n"
    )


def test_ctrl_c_keeps_the_trials_that_are_done(trueedge, monkeypatch) -> None:
    append, kept = te.Store.append, []

    def stop_after_two(self, record):
        append(self, record)
        kept.append(record)
        if len(kept) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(te.Store, "append", stop_after_two)
        status, _, err = trueedge("tune", "karate", *KATZ, "--trials", "4", "--seeds", "1")
    assert status == 130
    assert err.splitlines()[-1] == "stopped; 2 records in runs/records.sqlite"
    assert "3 new, 2 cached" in trueedge("tune", "karate", *KATZ, "--trials", "4", "--seeds", "1")[2]


@pytest.mark.rotating(4, group="processes")
def test_a_method_of_ones_own_is_searched_in_several_processes(trueedge) -> None:
    source = (Path(__file__).parents[1] / "search" / "counted_method.py").read_text()
    Path("own.py").write_text(source)
    from trueedge.methods import method

    known = dict(method.METHODS._entries)
    try:
        words = ("-p", "existing", "-m", "own.py:Counted", "--trials", "3", "--seeds", "1", "--jobs", "2")
        status, out, err = trueedge("tune", "karate", *words)
    finally:
        method.METHODS._entries.clear()
        method.METHODS._entries.update(known)
    assert status == 0, err
    assert "counted (" in out
    assert "4 new" in err


GCN = ("run", "karate", "-p", "existing", "-m", "gcn", "--set", "epochs=6", "--set", "evaluate_every=1")


def test_a_training_that_was_stopped_goes_on_from_its_checkpoint(
    trueedge, monkeypatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    status, whole, _ = trueedge(*GCN, "--set", "dim=8", "--runs", "whole")
    assert status == 0, whole
    epochs: list[int] = []
    tell = training.Callbacks.end_epoch

    def stop_at_four(self, epoch, most, history):
        epochs.append(epoch)
        if epochs == [1, 2, 3, 4]:
            raise KeyboardInterrupt
        tell(self, epoch, most, history)

    monkeypatch.setattr(training.Callbacks, "end_epoch", stop_at_four)
    words = (*GCN, "--set", "dim=8", "--checkpoints", "states")
    assert trueedge(*words)[0] == 130
    (kept,) = Path("states").iterdir()
    assert kept.suffix == ".pt"
    status, out, _ = trueedge(*words)
    assert (status, out) == (0, whole)
    assert epochs == [1, 2, 3, 4, 4, 5, 6]
    assert list(Path("states").iterdir()) == []
    assert kept.stem == te.Store(tmp_path / "runs").records()[0].key


def test_training_is_quiet_in_a_pipe_and_told_on_a_terminal(trueedge, monkeypatch) -> None:
    pytest.importorskip("torch")
    from trueedge.cli import running

    _, _, err = trueedge(*GCN, "--set", "dim=8", "--runs", "quiet")
    assert "epoch" not in err
    told: list[str] = []
    history = training.History("mrr", losses=[0.5], values=[(5, 0.25)])
    running.show_epoch(lambda text, *_: told.append(text), "gcn", 5, 100, history)
    running.show_epoch(
        lambda text, *_: told.append(text), "gcn", 5, 100, training.History(None, losses=[0.5])
    )
    assert told == ["gcn · epoch 5 · loss 0.500 · mrr 25.00", "gcn · epoch 5 · loss 0.500"]


def test_methods_that_are_not_trained_do_not_bring_torch_along(trueedge, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "trueedge.training", None)
    assert trueedge("run", "karate", "-p", "existing", "-m", "ra", "--checkpoints", "states")[0] == 0
    assert not Path("states").exists()
