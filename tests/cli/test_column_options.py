"""Columns of an edge list on the command line: every command that reads one takes the same options."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te

COLUMNS = ("--source", "1", "--target", "2", "--weight", "0")


@pytest.fixture
def weights_first(tmp_path: Path) -> Path:
    """The karate club with whole weights in front, without a header, in the working folder."""
    edges = te.load("karate").edges.tolist()
    path = tmp_path / "club.txt"
    path.write_text("".join(f"{row % 3 + 1} {u} {v}\n" for row, (u, v) in enumerate(edges)))
    return path


@pytest.mark.usefixtures("weights_first")
@pytest.mark.rotating(8)
@pytest.mark.parametrize(
    "words",
    [
        ("run", "club.txt", "-p", "existing", "-m", "cn"),
        ("tune", "club.txt", "-p", "existing", "-m", "katz", "--trials", "1", "--seeds", "1"),
        ("task", "club.txt", "-p", "existing", "-o", "club"),
        ("pairs", "club.txt", "-p", "existing", "-o", "pairs.csv"),
        ("negatives", "club.txt", "-p", "existing", "-o", "negatives.npz"),
        ("audit", "club.txt"),
        ("check", "club.txt", "cn", "-p", "existing"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_asks_and_takes_the_answer(trueedge, words: tuple[str, ...]) -> None:
    status, _, err = trueedge(*words)
    assert status == 1
    assert "club.txt has 3 columns, 0 to 2, and no header" in err
    assert "name the two columns with source and target (--source, --target)" in err
    status, _, err = trueedge(*words, *COLUMNS)
    assert status == 0, err


@pytest.mark.usefixtures("weights_first")
def test_the_columns_make_the_same_task_as_the_graph(trueedge) -> None:
    assert trueedge("task", "club.txt", "-p", "existing", "-o", "club", *COLUMNS)[0] == 0
    made = te.load_task("club")
    assert made.test.positives.tolist() == te.task("karate", "existing").test.positives.tolist()


@pytest.mark.usefixtures("weights_first")
def test_scores_of_a_file_with_named_columns_are_evaluated(trueedge) -> None:
    words = ("club.txt", "-p", "existing", *COLUMNS)
    assert trueedge("pairs", *words, "-o", "pairs.csv")[0] == 0
    pairs = te.graph.read_pairs("pairs.csv")
    np.savetxt("scores.csv", np.column_stack([pairs, np.arange(len(pairs))]), fmt="%d", delimiter=",")
    status, out, err = trueedge("score", "club.txt", "scores.csv", "-p", "existing", *COLUMNS)
    assert status == 0, err
    assert "auc" in out


def test_columns_are_found_by_their_names_and_said(trueedge) -> None:
    edges = te.load("karate").edges.tolist()
    Path("club.csv").write_text("weight,from,to\n" + "".join(f"2.5,p{u},p{v}\n" for u, v in edges))
    _, _, err = trueedge("task", "club.csv", "-p", "existing", "-o", "club")
    assert "club.csv: the ends of an edge are in the columns from and to" in err
    assert "club.csv: the column weight is kept as the weight of each edge" in err
    status, _, err = trueedge("run", "club.csv", "--source", "von", "--target", "to")
    assert status == 1
    assert "club.csv has no column 'von' for source: it has the columns weight, from, to" in err


def test_columns_of_a_data_set_are_refused(trueedge) -> None:
    status, _, err = trueedge("run", "karate", "--time", "2")
    assert status == 1
    assert "--time is for an edge list, but karate is not a file" in err
    _, _, err = trueedge("judge", "club.csv", "ppr", "--target", "to")
    assert err == "trueedge: --target is given, but --source is not: give both columns, or neither\n"
    _, _, err = trueedge("run", "karate", "--source", "0", "--target", "1")
    assert "--source and --target are for an edge list, but karate is not a file" in err
