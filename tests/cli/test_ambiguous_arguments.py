"""Arguments that could mean two things, or nothing, are refused with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueedge as te

COMMANDS = [
    ("run", "karate", "-m", "ra"),
    ("tune", "karate", "-m", "katz"),
    ("task", "karate", "-o", "made"),
    ("pairs", "karate", "-o", "pairs.csv"),
    ("negatives", "karate", "-o", "negatives.npz"),
    ("score", "karate", "scores.csv"),
    ("check", "karate", "ra"),
    ("audit", "karate"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("what", ["file", "saved task"])
def test_every_command_refuses_a_name_that_is_both(what: str, words, trueedge, tmp_path: Path) -> None:
    if what == "file":
        (tmp_path / "karate").write_text("0 1\n1 2\n2 0\n")
    else:
        te.task("karate", "existing").save(tmp_path / "karate")
    status, out, err = trueedge(*words)
    assert (status, out) == (1, "")
    assert f"karate is both a data set and a {what} here: write ./karate for the {what}" in " ".join(
        err.split()
    )


def test_a_certificate_is_not_compared_with_what_is_both(trueedge, tmp_path: Path) -> None:
    store = te.Store(tmp_path / "runs")
    te.certify(te.run("karate", "existing", "ra", store=store, keep_scores=True), tmp_path / "ra.json", store)
    te.task("karate", "existing").save(tmp_path / "karate")
    status, _, err = trueedge("verify", "ra.json", "--task", "karate")
    assert (status, "karate is both a data set and a saved task" in err) == (1, True)
    assert trueedge("verify", "ra.json", "--task", "./karate")[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", ""), "the argument after 'run' is empty"),
        (("run", " "), "the argument after 'run' is empty"),
        (("",), "the first argument is empty"),
        (("run", "karate", "-p", ""), "-p is empty"),
        (("task", "karate", "-p", "", "-o", "made"), "-p is empty"),
        (("task", "karate", "-o", ""), "-o is empty"),
        (("pairs", "karate", "--protocol=", "-o", "pairs.csv"), "--protocol is empty"),
        (("audit", "karate", "--protocol", ""), "--protocol is empty"),
        (("audit", "karate", "--split", ""), "--split is empty"),
        (("negatives", "karate", "-p", "", "-o", "made.npz"), "-p is empty"),
        (("reproduce", "heart-table-2", "--dataset", ""), "--dataset is empty"),
        (("run", "karate", "--device", "", "-m", "ra"), "--device is empty"),
    ],
    ids=" ".join,
)
def test_an_empty_argument_is_refused(words, sentence: str, trueedge, tmp_path: Path) -> None:
    # A saved task in the working folder is not what an empty name means.
    made = te.task("karate", "existing").save(tmp_path / "made-before")
    for path in made.iterdir():
        path.rename(tmp_path / path.name)
    made.rmdir()
    before = sorted(tmp_path.iterdir())
    status, out, err = trueedge(*words)
    assert (status, out) == (1, "")
    assert f"{sentence}: give a value, or leave it out" in " ".join(err.split())
    assert sorted(tmp_path.iterdir()) == before


def test_an_empty_name_is_no_data_set_in_python_either(tmp_path: Path, monkeypatch) -> None:
    made = te.task("karate", "existing").save(tmp_path / "made")
    monkeypatch.chdir(made)
    for call in (te.load, te.task, te.audit.audit):
        with pytest.raises(te.InputError, match="no data set is called ''"):
            call("")
