"""The networks of the degree-bias paper."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from trueedge import datasets
from trueedge.datasets import MissingFile
from trueedge.errors import InputError

NAMES = [card.name for card in datasets.cards() if card.family == "networks"]


def test_every_network_is_in_the_catalogue_with_its_published_counts(data_folder: Path) -> None:
    with (data_folder / "networks" / "published_stats.csv").open(newline="") as file:
        published = {
            row["network"]: (int(row["n_nodes"]), int(row["n_edges"])) for row in csv.DictReader(file)
        }
    ours = {name: (datasets.get(name).num_nodes, datasets.get(name).num_edges) for name in NAMES}
    assert ours == published


@pytest.mark.parametrize("name", NAMES)
def test_a_network_is_one_component_without_loose_ends(data_folder: Path, name: str) -> None:
    graph = datasets.load(name)
    assert graph.notes == ()
    assert graph.features is None
    assert graph.components().max() == 0
    assert [check.state for check in datasets.verify(name)] == ["ok"]


def test_a_network_that_is_not_here_is_asked_for(own_data: Path) -> None:
    with pytest.raises(
        MissingFile, match=r"polbooks: networks/polbooks\.edges\.gz is not in .*no official address"
    ):
        datasets.load("polbooks")


def test_files_that_do_not_fit_are_refused(own_data: Path, put: Callable[..., Path]) -> None:
    path = own_data / "networks/polbooks.edges.gz"
    for text, said in {
        "0 1\n": "the files hold 1 edges, the data set has 441",
        "0 105\n": r"polbooks\.edges\.gz, line 1.*105",
        "0 1\n1 0\n": r"polbooks\.edges\.gz, line 2.*repeats",
        "0 1\n3 3\n": r"polbooks\.edges\.gz, line 2.*itself",
        "0 1\n0 x\n": r"polbooks\.edges\.gz, line 2.*x",
    }.items():
        put(path, gzip.compress(text.encode()))
        with pytest.raises(InputError, match=said):
            datasets.load("polbooks")
