"""Names are completed by the shell, through the protocol of typer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trueedge.cli import app, completing


@pytest.fixture
def complete(trueedge, monkeypatch):
    """What bash is told for a command line, one word a line."""

    def complete(*words: str) -> list[str]:
        monkeypatch.setenv("_TRUEEDGE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(("trueedge", *words)))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        status, out, _ = trueedge()
        assert status == 0
        return out.split()

    return complete


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("ru",), ["run"]),
        (("run", "kara"), ["karate"]),
        (("run", "karate", "-p", "degree-c"), ["degree-corrected"]),
        (("run", "karate", "-m", "jacc"), ["jaccard"]),
        (("run", "karate", "-m", "cn,heurist"), ["cn,heuristics"]),
        (("tune", "karate", "-m", "katz,kat"), []),
        (("judge", "karate", "ppr", "--protocol", "existing,unif"), ["existing,uniform"]),
        (("reproduce", "heart/table-4"), ["heart/table-4"]),
        (("methods", "node2"), ["node2vec"]),
        (("check", "karate", "shortest"), ["shortest-path"]),
        (("task", "karate", "-p", "trip"), ["triplet"]),
        (("run", "karate", "--keep-sc"), ["--keep-scores"]),
    ],
    ids=" ".join,
)
def test_bash_completes_names(complete, words: tuple[str, ...], found: list[str]) -> None:
    assert complete(*words) == found


def test_a_list_is_completed_without_the_names_in_it() -> None:
    assert "cn,ra" in completing.method("cn,r")
    assert not any(one == "cn,cn" for one in completing.method("cn,c"))


@pytest.fixture
def built_anew() -> Iterator[None]:
    """The options of the completion depend on the shell when the command line is built."""
    app._parser.cache_clear()
    yield
    app._parser.cache_clear()


@pytest.mark.usefixtures("built_anew")
def test_the_script_of_a_shell_can_be_shown(trueedge, monkeypatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    status, out, _ = trueedge("--show-completion", "bash")
    assert status == 0
    assert "_TRUEEDGE_COMPLETE=complete_bash" in out
