from __future__ import annotations

import pytest
from split_checks import check, numbered_graph

from trueedge import InputError, splits


@pytest.mark.parametrize("how", [splits.ratio, splits.fraction, "ratio", "fraction"])
def test_repeated_splits_are_splits_and_all_differ(how: object) -> None:
    graph = numbered_graph()
    made = splits.repeat(graph, 6, seed=1, how=how)  # type: ignore[arg-type]
    assert len({split.hash for split in made}) == 6
    for split in made:
        check(split, graph)


def test_a_longer_list_begins_with_the_shorter_one() -> None:
    graph = numbered_graph()
    short, long = splits.repeat(graph, 2, seed=4), splits.repeat(graph, 3, seed=4)
    assert [split.hash for split in short] == [split.hash for split in long[:2]]


def test_neighbouring_seeds_share_no_split() -> None:
    graph = numbered_graph()
    hashes = [split.hash for seed in range(4) for split in splits.repeat(graph, 4, seed=seed)]
    assert len(set(hashes)) == 16


def test_settings_reach_the_split() -> None:
    made = splits.repeat(numbered_graph(), 2, how="fraction", fraction=0.1, keep_connected=False)
    assert {split.name.split(", seed")[0] for split in made} == {"fraction 0.1, any edges"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": 0}, "times must be a whole number, 1 or more, got 0"),
        ({"times": True}, "times must be"),
        ({"how": "ration"}, "did you mean 'ratio'"),
        ({"ratio": (1, 0, 0)}, "did you mean 'ratios'"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        splits.repeat(numbered_graph(), **options)  # type: ignore[arg-type]
