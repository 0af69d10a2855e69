"""Files of experiments: every option of a command, and one sentence for whatever is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import trueedge as te
from trueedge.cli.configuring import COMMANDS_WITH_FILES
from trueedge.cli.experiment_files import default_file, read_experiments

QUICK = """
dataset = "karate"
protocol = "existing"
method = ["cn", "katz"]
seeds = 1
"""


@pytest.fixture
def write(trueedge) -> Path:
    """The path of an experiment in the working folder."""
    return Path("experiment.toml")


def keys(command: str):
    import typer

    from trueedge.cli.app import app

    typer.main.get_command(app)
    return COMMANDS_WITH_FILES[command]


@pytest.mark.parametrize("command", ["run", "judge", "tune"])
def test_the_file_of_defaults_has_every_option_and_changes_nothing(trueedge, command: str) -> None:
    status, out, _ = trueedge("config", command)
    assert status == 0
    assert out == default_file(command, keys(command))
    Path("experiment.toml").write_text(out)
    (found,) = read_experiments(Path("experiment.toml"), command, keys(command), {})
    defaults = {key.parameter: key.default for key in keys(command).values()}
    for parameter, value in found.defaults.items():
        if parameter != "model":
            assert str(value) == str(defaults[parameter])
    # A key that has no default stands there too, with its type.
    written = {line.removeprefix("# ").partition(" = ")[0].strip("[]") for line in out.splitlines()}
    assert set(keys(command)) <= written
    tomllib.loads(out)


def test_an_experiment_runs_what_the_command_line_would(trueedge, write: Path) -> None:
    write.write_text(QUICK + "[set]\nkatz.beta = 0.01\n[option]\nratios = [0.7, 0.1, 0.2]\n")
    assert trueedge("run", "experiment.toml")[0] == 0
    words = ("-p", "existing", "-m", "cn,katz", "--seeds", "1", "--set", "katz.beta=0.01")
    status, _, err = trueedge("run", "karate", *words, "--option", "ratios=(0.7,0.1,0.2)")
    assert status == 0
    assert "2 records" in err
    assert "0 new, 2 cached" in err


def test_the_command_line_wins_over_the_file(trueedge, write: Path) -> None:
    write.write_text(QUICK + "again = false\n[set]\nbeta = 0.01\n")
    status, out, err = trueedge("run", "--again", "experiment.toml", "-m", "katz", "--set", "beta=0.02")
    assert status == 0, err
    assert "katz (beta=0.02)" in out
    assert "\ncn" not in out


def test_several_experiments_share_keys_and_run_in_turn(trueedge, write: Path) -> None:
    more = "[option]\nratio = 2\n[[experiment]]\nmethod = 'ra'\n[[experiment]]\nseed = 4\noption.ratio = 3\n"
    write.write_text(QUICK + more)
    status, _, err = trueedge("run", "experiment.toml", "--runs", "all")
    assert status == 0, err
    assert "experiment.toml: experiment 2 of 2, karate" in err
    found = [(one.method, one.seed, one.options["ratio"]) for one in te.Store("all").records()]
    assert sorted(found) == [("cn", 4, 3), ("katz", 4, 3), ("ra", 0, 2)]


def test_a_model_may_be_named_after_the_file(trueedge, write: Path) -> None:
    write.write_text("dataset = 'karate'\nprotocol = 'existing'\nseeds = 1\nmodel = 'ra'\n")
    status, out, err = trueedge("judge", "experiment.toml", "cn")
    assert status == 0, err
    assert out.startswith("Verdict on cn")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "dataset = 'karate'\nprotcol = 'heart'",
            "no option of trueedge run is called 'protcol'; did you mean 'protocol'?",
        ),
        ("dataset = 'karate'\ntrials = 3", "trials is an option of trueedge tune, not of trueedge run"),
        ("dataset = 'karate'\nseeds = 'five'", "seeds must be a whole number, got 'five'"),
        ("dataset = 'karate'\nseeds = true", "seeds must be a whole number, got True"),
        ("dataset = 'karate'\nseeds = 0", "seeds must be at least 1, got 0"),
        ("dataset = 'karate'\nagain = 'yes'", "again must be true or false, got 'yes'"),
        ("dataset = 'karate'\nruns = 3", "runs must be a path, got 3"),
        ("dataset = 'karate'\nset = 3", "set must be a table of keys and values, got 3"),
        ("seeds = 3", "dataset is missing"),
        ("dataset = ''", "dataset is empty: give a value, or leave it out"),
        ("dataset = 'karate'\nmethod = []", "method is empty: give a value, or leave it out"),
        ("dataset = '--help'", "dataset must not start with a dash"),
        ("dataset = 'karate'\nset.beta = " + "9" * 5000, "is not valid TOML: Exceeds the limit"),
        ("dataset = 'karate'\nset." + "a." * 5000 + "a = 1", "a key has more than 100 parts"),
        ("dataset = 'karate'\n[experiment]\nseed = 1", "write [[experiment]] for each experiment"),
        ("dataset = ", "is not valid TOML: Invalid value (at end of document)"),
        ("dataset = 'karate'\nmethod = 'gnc'", "no method or family is called 'gnc'; did you mean 'gcn'?"),
    ],
)
def test_what_is_wrong_is_one_sentence(trueedge, write: Path, content: str, sentence: str) -> None:
    write.write_text(content)
    status, out, err = trueedge("run", "experiment.toml")
    assert (status, out) == (1, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert "experiment.toml" in err or "gnc" in err


def test_a_file_that_is_not_there_is_named(trueedge) -> None:
    status, _, err = trueedge("tune", "no.toml")
    assert status == 1
    assert err == "trueedge: there is no file no.toml\n"
    status, _, err = trueedge("config", "rum")
    assert status == 1
    assert "did you mean 'run'?" in err


def test_the_examples_of_the_documentation_are_experiments(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    examples = re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    found = []
    for example in examples:
        path = tmp_path / "experiment.toml"
        path.write_text(example)
        found += read_experiments(path, "run", keys("run"), {})
    assert [one.dataset for one in found] == ["cora", "cora", "citeseer"]
    assert found[0].words == ("--set", "katz.beta=0.01", "--set", "epochs=100", "--option", "heart.k=100")
    assert dict(found[2].defaults) == {"method": "heuristics", "seeds": 5, "protocol": "heart"}
