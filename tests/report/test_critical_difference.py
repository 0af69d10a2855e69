"""The critical-difference plot: to scale, complete, harmless, and it joins exactly what is not told apart."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.errors import InputError
from trueedge.report import critical_difference
from trueedge.statistics.rank_tests import RankTest, friedman

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>alert("1")</script>&\x00"\''
BOTH = pytest.mark.parametrize("upright", [False, True], ids=["lying", "standing"])


def drawn(test: RankTest, upright: bool = False, labels: list[str] | None = None) -> ElementTree.Element:
    named = labels or [f"m{place}" for place in range(len(test.mean_ranks))]
    return ElementTree.fromstring(critical_difference(named, test, upright=upright))


def ranked(datasets: int, methods: int, apart: float, seed: int = 0) -> RankTest:
    noise = np.random.default_rng(seed).normal(size=(datasets, methods))
    return friedman(noise - apart * np.arange(methods))


def dots(root: ElementTree.Element, upright: bool) -> list[float]:
    return [float(one.attrib["cy" if upright else "cx"]) for one in root.iter(f"{SVG}circle")]


def bars(root: ElementTree.Element, upright: bool) -> list[tuple[float, float, float]]:
    """The lane of each bar, and its ends without the caps beyond the outer methods."""
    found = []
    for one in root.iter(f"{SVG}path"):
        if one.attrib.get("class") == "bar":
            x, y, end = map(float, re.findall(r"-?[\d.]+", one.attrib["d"]))
            found.append((x, y + 3, end - 3) if upright else (y, x + 4, end - 4))
    return found


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


@BOTH
def test_the_axis_is_to_scale_with_the_best_first(upright: bool) -> None:
    test = ranked(10, 7, 0.6)
    places = np.array(dots(drawn(test, upright), upright))
    ranks = np.sort(test.mean_ranks)
    unit = (places[-1] - places[0]) / (ranks[-1] - ranks[0])
    assert unit > 20
    assert places[0] + (ranks - ranks[0]) * unit == pytest.approx(places, abs=0.2)


@BOTH
@settings(deadline=None, max_examples=40)
@given(
    datasets=st.integers(2, 30),
    methods=st.integers(2, 14),
    apart=st.floats(0, 3),
    seed=st.integers(0, 9),
    rounded=st.booleans(),
)
def test_a_bar_joins_two_methods_exactly_where_they_are_not_told_apart(
    upright: bool, datasets: int, methods: int, apart: float, seed: int, rounded: bool
) -> None:
    values = np.random.default_rng(seed).normal(size=(datasets, methods)) - apart * np.arange(methods)
    test = friedman(np.round(values) if rounded else values)
    root = drawn(test, upright)
    places = dots(root, upright)
    spans = bars(root, upright)
    ranks = np.sort(test.mean_ranks)
    for first, second in combinations(range(methods), 2):
        under = any(low - 0.2 <= places[first] and places[second] <= high + 0.2 for _, low, high in spans)
        within = ranks[second] - ranks[first] <= test.critical_difference
        # Places are written with one decimal: ranks nearer than that may share a bar's end.
        nearly = abs(ranks[second] - ranks[first] - test.critical_difference) < 0.02 * methods
        assert under == within or nearly
    for one, other in combinations(spans, 2):
        assert one[0] != other[0] or one[2] + 8 < other[1] or other[2] + 8 < one[1]


@BOTH
def test_the_critical_difference_is_drawn_as_long_as_it_is(upright: bool) -> None:
    test = ranked(10, 7, 0.6)
    root = drawn(test, upright)
    places, ranks = dots(root, upright), np.sort(test.mean_ranks)
    unit = (places[-1] - places[0]) / (ranks[-1] - ranks[0])
    pattern = r"M4 ([\d.]+)h8m-4 0V([\d.]+)" if upright else r"M([\d.]+) 18v8m0 -4H([\d.]+)"
    (found,) = [m for one in root.iter(f"{SVG}path") if (m := re.match(pattern, one.attrib["d"]))]
    assert float(found[2]) - float(found[1]) == pytest.approx(unit * test.critical_difference, abs=0.5)
    assert float(found[1]) == pytest.approx(places[0] - unit * (ranks[0] - 1), abs=0.5)
    assert f"critical difference {test.critical_difference:.2f}" in texts(root)


@BOTH
def test_the_p_value_and_the_number_of_data_sets_stand_below(upright: bool) -> None:
    test = ranked(9, 4, 0.5, seed=3)
    assert 0.001 < test.p < 1
    assert texts(drawn(test, upright))[-1] == f"Friedman’s test over 9 data sets: p = {test.p:.3f}"
    assert texts(drawn(ranked(20, 6, 2.0), upright))[-1].endswith("p < 0.001")


@BOTH
def test_every_method_is_named_once_with_its_rank(upright: bool) -> None:
    test = ranked(6, 25, 0.3)
    found = texts(drawn(test, upright))
    for place, rank in enumerate(test.mean_ranks):
        assert sum(text.startswith(f"{rank:.2f}m{place}m{place}: {rank:.3f}") for text in found) == 1


def test_the_better_half_stands_on_the_left() -> None:
    test = ranked(8, 9, 1.0)
    root = drawn(test)
    left = [one for one in root.iter(f"{SVG}text") if one.attrib.get("text-anchor") == "end"]
    named = [int(re.search(r"m(\d+):", "".join(one.itertext()))[1]) for one in left]  # type: ignore[index]
    assert named == np.argsort(test.mean_ranks)[:5].tolist()


@BOTH
def test_long_names_of_many_methods_do_not_cover_each_other(upright: bool) -> None:
    labels = [f"method-{place} (negatives=degree-corrected, epochs={place}, mode=x)" for place in range(40)]
    test = friedman(np.random.default_rng(0).normal(size=(5, 40)) * 1e-3)
    root = drawn(test, upright, labels)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    rows: dict[str, list[tuple[float, float]]] = {}
    for one in root.iter(f"{SVG}text"):
        lines = list(one.iter(f"{SVG}tspan"))[1:]
        if lines:
            heights = [float(line.attrib["y"]) for line in lines]
            rows.setdefault(lines[0].attrib["x"], []).append((min(heights), max(heights)))
    assert sum(map(len, rows.values())) == 40
    for side in rows.values():
        side.sort()
        gaps = [after[0] - before[1] for before, after in pairwise(side)]
        assert min(gaps) > 12
        assert side[0][0] > 20
        assert side[-1][1] < height - 15
    assert width == (320 if upright else 760)


@pytest.mark.parametrize("label", ["x" * 300, "日本語" * 60, " ".join("ab" for _ in range(99)), "", " "])
def test_a_name_that_is_too_long_is_cut_and_kept_in_the_hint(label: str) -> None:
    test = ranked(5, 3, 1.0)
    for upright in (False, True):
        root = drawn(test, upright, [label, "b", "c"])
        shown = [list(one.iter(f"{SVG}tspan"))[1:] for one in root.iter(f"{SVG}text")]
        most = max(shown, key=len)
        assert len(most) == 3 if len(label) > 1 else all(one.text for lines in shown for one in lines)
        titles = [one.text or "" for one in root.iter(f"{SVG}title")]
        assert any(title.startswith(f"{label}:") for title in titles)


@BOTH
def test_names_are_text_and_nothing_more(upright: bool) -> None:
    test = ranked(5, 3, 1.0)
    root = drawn(test, upright, [HOSTILE, "b", "c"])
    assert not list(root.iter(f"{SVG}script"))
    assert "<script>" in root.attrib["aria-label"]


def test_it_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    test = friedman([[3, 2, 1]] * 9 + [[2, 3, 1]])
    label = drawn(test, labels=["ra", "cn", "pa"]).attrib["aria-label"]
    assert label.startswith("Mean ranks, best first: ra 1.10, cn 1.90, pa 3.00.")
    assert "no significant difference: ra, cn" in label
    assert "10 data sets" in label
    clear = friedman([[3, 2, 1]] * 40)
    assert drawn(clear).attrib["aria-label"].endswith("all differ significantly")
    assert bars(drawn(clear), False) == []


@BOTH
def test_equal_methods_and_a_difference_wider_than_the_axis_are_drawn(upright: bool) -> None:
    equal = friedman(np.ones((5, 4)))
    root = drawn(equal, upright)
    assert len(set(dots(root, upright))) == 1
    assert len(bars(root, upright)) == 1
    few = friedman([[1.0, 2.0], [1.0, 2.0]])
    assert few.critical_difference > 1
    root = drawn(few, upright)
    end = float(root.attrib["viewBox"].split()[3 if upright else 2])
    numbers = [
        float(n) for one in root.iter(f"{SVG}path") for n in re.findall(r"[HV]([\d.]+)", one.attrib["d"])
    ]
    assert max(numbers) < end


def test_a_wrong_number_of_labels_or_a_rank_that_is_none_is_refused() -> None:
    test = ranked(5, 3, 1.0)
    with pytest.raises(InputError, match="a label for each of 3 methods, got 2"):
        critical_difference(["a", "b"], test)
    with pytest.raises(InputError, match="finite"):
        critical_difference(["a", "b", "c"], replace(test, mean_ranks=np.array([1.0, np.nan, 2.0])))
    with pytest.raises(InputError, match="finite"):
        critical_difference([], replace(test, mean_ranks=np.array([])))
