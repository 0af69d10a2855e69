"""The command: the answer, problems with what to do, a file of numbers, one sentence for wrong input."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest

import trueedge as te
from trueedge.audit import audit
from trueedge.cli.app import main
from trueedge.tasks import LinkTask, Part


def test_every_check_has_a_line_plain_in_a_pipe(trueedge) -> None:
    status, out, err = trueedge("audit", "karate", "--all")
    assert status == 0
    assert "\x1b" not in out
    title, answer, *lines = out.splitlines()
    assert title == "karate · existing · 0 broken, 0 look, 9 ok, 14 too small"
    found = audit("karate")
    assert answer == found.answer
    assert len(lines) == len(found.findings)
    for line, finding in zip(lines, found.by_verdict(), strict=True):
        assert line.startswith(f"{finding.verdict} ")
        assert f" {finding.check} " in line
        assert finding.shown in line
        assert line.endswith(finding.sentence)
    assert "no protocol was given, so existing is audited" in err
    skipped = (
        "features-adjacency, feature-similarity, shortcut-cosine do not apply: the nodes have no features"
    )
    assert skipped in err


def test_problems_are_shown_with_what_to_do_and_the_rest_is_named(trueedge) -> None:
    name = "price:nodes=400,edges=1200"
    _, out, _ = trueedge("audit", name)
    found = audit(name)
    _, answer, *lines = out.splitlines()
    assert answer == found.answer == "Nothing is broken, but 2 findings deserve a closer look."
    shown = [line.strip() for line in lines if line.strip().startswith("→")]
    assert shown == [f"→ {one.advice}" for one in found.problems]
    assert "→ Use `-p degree-corrected`" in shown
    assert lines[-1] == f"{found.count('ok')} ok: {', '.join(found.names('ok'))}"
    assert sum(line.startswith(("broken", "look")) for line in lines) == len(found.problems)


def test_a_pipe_that_nobody_reads_still_gets_the_page_written(tmp_path, monkeypatch) -> None:
    page = tmp_path / "audit.html"
    monkeypatch.setattr(sys, "argv", ["trueedge", "audit", "karate", "--all", "-o", str(page)])
    for name in ("stdout", "stderr"):
        reader, writer = os.pipe()
        os.close(reader)
        monkeypatch.setattr(sys, name, os.fdopen(writer, "w", buffering=1))
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_verdicts_have_colours_on_a_terminal(trueedge, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    out = trueedge("audit", "karate")[1]
    assert "\x1b[32m9 ok" in out


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
    assert err.count("self-loop") == 1


def test_a_header_is_told_once(trueedge, tmp_path) -> None:
    edges = np.array(te.load("karate").edges)
    (tmp_path / "graph.csv").write_text("source,target\n" + "\n".join(f"{u},{v}" for u, v in edges.tolist()))
    err = trueedge("audit", "graph.csv")[2]
    assert err.count("the first line was read as a header") == 1


def planted(folder) -> tuple[str, ...]:
    """Files of a split with leaks of every kind, and the words that audit them."""
    edges = np.array(te.load("karate").edges)
    parts = {
        "train": np.concatenate([edges[:60], edges[60:62, ::-1]]),
        "valid": edges[60:68],
        "test": np.concatenate([edges[66:], edges[66:67], [[5, 5]]]),
        "test_neg": np.concatenate([edges[:4], [[0, 9]] * 6, [[7, 7]]]),
    }
    (folder / "split").mkdir()
    for name, pairs in parts.items():
        np.savetxt(folder / "split" / f"{name}.txt", pairs, fmt="%d")
    np.savetxt(folder / "graph.txt", edges, fmt="%d")
    table = np.zeros((34, 34))
    table[edges[:, 0], edges[:, 1]] = table[edges[:, 1], edges[:, 0]] = 1
    np.save(folder / "table.npy", table)
    return "graph.txt", "--split", "split", "--negatives", "split", "--features", "table.npy"


def test_leaks_of_every_kind_in_the_users_files_are_found(trueedge, tmp_path) -> None:
    status, out, err = trueedge("audit", *planted(tmp_path))
    assert status == 0
    broken = {line.split()[1] for line in out.splitlines() if line.startswith("broken")}
    wanted = {"train-leak", "repeated-positives", "valid-in-test", "false-negatives", "self-pairs"}
    assert wanted | {"features-adjacency", "distinct-negatives"} <= broken
    assert out.startswith("graph · own negatives")
    assert "the training graph is train.txt (62 edges), not graph" in err
    assert "the valid part has no negatives" in err


def test_strict_ends_with_status_1_where_something_is_broken_and_the_page_is_written(
    trueedge, tmp_path
) -> None:
    status, out, err = trueedge("audit", *planted(tmp_path), "--strict", "-o", "audit.html")
    assert status == 1
    assert "broken" in out
    assert "found something broken" in err
    assert (tmp_path / "audit.html").read_text().startswith("<!DOCTYPE html>")
    edges = te.load("karate").edges
    divided = te.split(te.load("karate"), seed=0)
    for name, pairs in (("train", divided.train.edges), ("test", divided.test)):
        np.savetxt(tmp_path / f"{name}.txt", pairs, fmt="%d")
    free = [[v, u] for u in range(34) for v in range(u) if [v, u] not in edges.tolist()]
    np.savetxt(tmp_path / "neg.txt", free[::31], fmt="%d")
    words = ("graph.txt", "--split", "train.txt,,test.txt", "--negatives", "neg.txt", "--strict")
    assert trueedge("audit", *words)[0] == 0


def test_a_damaged_file_is_one_sentence_that_names_it(trueedge, tmp_path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04" + b"x" * 50)
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00" + b"x" * 50)
    for option in ("--split", "--negatives", "--features"):
        for name in ("bad.npz", "bad.npy"):
            status, out, err = trueedge("audit", "karate", option, name)
            assert (status, out) == (1, "")
            assert err.count("\n") == 1
            assert name in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("karaet",), "did you mean 'karate'"),
        (("missing.csv",), "there is no file missing.csv"),
        (
            ("karate", "-p", "recommendation"),
            "no check applies to the protocol recommendation: audit the data under another one",
        ),
        (("karate", "-p", "haert"), "did you mean 'heart'"),
        (("karate", "--option", "kk=3"), "kk"),
        (("karate", "-o", "audit.pdf"), "audit.pdf: an audit is written to a .html or a .json file"),
        (("karate", "--split", "nowhere"), "nowhere: there is no such file"),
        (("karate", "--split", "."), "holds no test positives: looked for test,"),
        (("karate", "--split", ""), "--split is empty: give a value, or leave it out"),
        (("karate", "--negatives", ""), "--negatives is empty: give a value, or leave it out"),
        (("karate", "--features", ""), "--features is empty: give a value, or leave it out"),
        (("karate", "--negatives", "pairs.txt"), "pairs.txt: there is no such file"),
        (("karate", "--features", "table.npy"), "table.npy: there is no such file"),
    ],
)
def test_wrong_input_is_one_sentence(trueedge, words: tuple[str, ...], sentence: str) -> None:
    status, out, err = trueedge("audit", *words)
    assert status == 1
    assert out == ""
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err
