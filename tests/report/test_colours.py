"""Colours can be read and told apart, in the light and in the dark."""

from __future__ import annotations

from itertools import combinations

import pytest
from seeing import EYES, contrast, distance, over

from trueedge.report.colours import DARK, LIGHT, SERIES, css, of_series, use
from trueedge.report.heat import STRONGEST

PALETTES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


@PALETTES
@pytest.mark.parametrize("ink", ["ink", "muted", "accent"])
@pytest.mark.parametrize("paper", ["page", "surface", "mark"])
def test_texts_are_readable_on_every_background(palette: dict[str, str], ink: str, paper: str) -> None:
    assert contrast(palette[ink], palette[paper]) >= 4.5


@PALETTES
@pytest.mark.parametrize("verdict", ["ok", "look", "broken"])
def test_verdicts_are_readable(palette: dict[str, str], verdict: str) -> None:
    assert contrast(palette[verdict], palette[f"{verdict}-back"]) >= 4.5


@PALETTES
def test_every_series_stands_out_from_its_background(palette: dict[str, str]) -> None:
    assert min(contrast(palette[f"c{place}"], palette["surface"]) for place in range(1, SERIES + 1)) >= 3


@PALETTES
@pytest.mark.parametrize("eyes", EYES)
def test_no_two_series_look_alike_to_anybody(palette: dict[str, str], eyes: str) -> None:
    colours = [palette[f"c{place}"] for place in range(1, SERIES + 1)]
    assert min(distance(one, other, eyes) for one, other in combinations(colours, 2)) > 15


@PALETTES
@pytest.mark.parametrize("heat", ["heat", "heat-below"])
def test_the_value_in_a_cell_is_readable_on_the_strongest_colour(palette: dict[str, str], heat: str) -> None:
    assert contrast(palette["ink"], "#ffffff") != contrast(palette["ink"], "#000000")
    shown = over(palette[heat], palette["surface"], STRONGEST)
    assert contrast(palette["ink"], _hex(shown)) >= 4.5


def test_both_palettes_have_the_same_colours_and_the_page_sets_them_all() -> None:
    assert list(LIGHT) == list(DARK)
    for name in LIGHT:
        assert css().count(f"--{name}:{LIGHT[name]};") >= 1
        assert css().count(f"--{name}:{DARK[name]};") >= 2


def test_a_picture_outside_of_a_page_has_the_light_colours() -> None:
    assert use("ink") == f"var(--ink,{LIGHT['ink']})"
    assert of_series(0) == of_series(SERIES) != of_series(1)


def _hex(colour: object) -> str:
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in colour)  # type: ignore[attr-defined]
