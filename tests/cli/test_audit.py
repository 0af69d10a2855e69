"""The command: a verdict a line, a file of numbers, one sentence for wrong input."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trueedge as te
from trueedge.audit import audit
from trueedge.tasks import LinkTask, Part


def test_a_verdict_a_line_plain_in_a_pipe(trueedge) -> None:
    status, out, err = trueedge("audit", "karate")
    assert status == 0
    assert "\x1b" not in out
    title, *lines = out.splitlines()
    assert title.startswith("karate · existing · ")
    found = audit("karate")
    assert len(lines) == len(found.findings)
    for line, finding in zip(lines, found.findings, strict=True):
        assert line.split()[:2] == [finding.verdict, finding.check]
        assert finding.shown in line
        assert line.endswith(finding.sentence)
    assert "no protocol was named: this is what existing would measure" in err
    assert "feature-similarity does not apply: the nodes have no features" in err


def test_verdicts_have_colours_on_a_terminal(trueedge, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    out = trueedge("audit", "karate")[1]
    assert "\x1b[32mok" in out


def test_all_numbers_are_written(trueedge, tmp_path) -> None:
    status, _, err = trueedge("audit", "karate", "-p", "heart", "--option", "k=6", "-o", "found/audit.json")
    assert status == 0
    assert "written to found/audit.json" in err
    read = json.loads((tmp_path / "found/audit.json").read_text())
    assert read["protocol"] == "heart"
    assert read["provenance"]["task_settings"]["k"] == 6


def test_a_broken_benchmark_is_a_finding_and_no_error(trueedge, tmp_path) -> None:
    made = te.task("karate", "existing")
    leaked = Part(np.concatenate([made.test.positives, made.train[:5]]), made.test.negatives)
    task = LinkTask(
        dataset="leaky",
        protocol="existing",
        seed=0,
        graph=made.graph,
        metrics=made.metrics,
        headline="mrr",
        parts={"test": leaked},
    )
    task.save(tmp_path / "leaky")
    status, out, _ = trueedge("audit", "leaky", "--sample", "50", "--seed", "3")
    assert status == 0
    assert "broken  train-leak" in out


def test_an_edge_list_is_audited(trueedge, tmp_path) -> None:
    edges = np.array(te.load("karate").edges)
    (tmp_path / "graph.txt").write_text("\n".join(f"{u} {v}" for u, v in edges.tolist()) + "\n0 0\n")
    status, out, err = trueedge("audit", "graph.txt")
    assert status == 0
    assert out.startswith("graph · existing")
    assert "self-loop" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("karaet",), "did you mean 'karate'"),
        (("missing.csv",), "there is no file missing.csv"),
        (("karate", "-p", "recommendation"), "no list of negatives"),
        (("karate", "-p", "haert"), "did you mean 'heart'"),
        (("karate", "--option", "kk=3"), "kk"),
        (("karate", "-o", "audit.html"), "audit.html: an audit is written to a .json file"),
    ],
)
def test_wrong_input_is_one_sentence(trueedge, words: tuple[str, ...], sentence: str) -> None:
    status, out, err = trueedge("audit", *words)
    assert status == 1
    assert out == ""
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err
