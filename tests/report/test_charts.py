"""Figures become pictures: well-formed, to scale, harmless, and readable without eyes."""

from __future__ import annotations

import itertools
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueedge.analysis.figure import Figure, Kind, Series
from trueedge.errors import InputError
from trueedge.report import blocks
from trueedge.report.charts import draw, fits_a_phone, spread
from trueedge.report.frames import text_width
from trueedge.report.heat import strength

SVG = "{http://www.w3.org/2000/svg}"
KINDS: tuple[Kind, ...] = ("lines", "points", "bars", "heat")
HOSTILE = '<script>alert("1")</script>&\x00"\''


def figure(kind: Kind = "lines", *series: Series, **more: object) -> Figure:
    return Figure("name", "A title", kind, "across", "up", series, **more)  # type: ignore[arg-type]


def parsed(shown: Figure, flip_y: bool = False) -> ElementTree.Element:
    return ElementTree.fromstring(draw(shown, flip_y))


def titles(root: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in root.iter(f"{SVG}title")]


def texts(root: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in root.iter(f"{SVG}text")]


def dots(root: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in root.iter(f"{SVG}circle")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_well_formed_and_says_what_it_shows(kind: Kind) -> None:
    root = parsed(figure(kind, Series("ours", ("a", "b"), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5))))
    assert root.attrib["role"] == "img"
    assert "A title: up from 1 to 2 by across; ours" in root.attrib["aria-label"]
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert width > height > 100
    assert "across" in texts(root)


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_text_and_nothing_more(kind: Kind) -> None:
    series = (Series(HOSTILE, (HOSTILE, "b"), (1.0, 2.0)), Series("other", ("b",), (1.0,)))
    shown = Figure(HOSTILE, HOSTILE, kind, HOSTILE, HOSTILE, series)
    root = parsed(shown)
    assert not list(root.iter(f"{SVG}script"))
    assert "<script" not in draw(shown)
    assert any("<script>" in text for text in [*titles(root), *texts(root)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_figure_without_a_finite_value_says_so(kind: Kind, value: float) -> None:
    assert texts(parsed(figure(kind, Series("empty", (1.0,), (value,))))) == ["no values"]
    assert texts(parsed(figure(kind))) == ["no values"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("log", [False, True])
def test_one_value_alone_is_shown(kind: Kind, log: bool) -> None:
    root = parsed(figure(kind, Series("one", (3.0,), (7.0,)), log_x=log, log_y=log))
    assert any("7" in title for title in titles(root))


@pytest.mark.parametrize("kind", ["lines", "points", "bars"])
def test_values_without_a_place_are_left_out_and_the_others_stay(kind: Kind) -> None:
    y = (1.0, math.nan, 0.0, 10.0, math.inf)
    root = parsed(figure(kind, Series("some", (1.0, 2.0, 3.0, 4.0, 5.0), y), log_y=True))
    shown = [title for title in titles(root) if ":" in title]
    assert len(shown) == 2
    assert shown[0].endswith(": 1")
    assert shown[1].endswith(": 10")


def test_lines_are_to_scale() -> None:
    x, y = (0.0, 1.0, 2.5, 10.0), (5.0, -1.0, 3.0, 4.0)
    found = np.array(dots(parsed(figure("lines", Series("a", x, y)))))
    slopes = np.diff(found[:, 0]) / np.diff(x)
    assert slopes == pytest.approx(slopes[0], abs=0.1)
    heights = np.diff(found[:, 1]) / np.diff(y)
    assert heights == pytest.approx(heights[0], abs=0.2)
    assert heights[0] < 0 < slopes[0]


def test_a_logarithmic_axis_puts_equal_factors_equally_far() -> None:
    shown = figure("lines", Series("a", (1.0, 10.0, 100.0), (2.0, 4.0, 8.0)), log_x=True, log_y=True)
    found = np.array(dots(parsed(shown)))
    assert np.diff(found[:, 0])[0] == pytest.approx(np.diff(found[:, 0])[1], abs=0.2)
    assert np.diff(found[:, 1])[0] == pytest.approx(np.diff(found[:, 1])[1], abs=0.2)


def test_small_values_stand_on_top_where_it_is_asked_for() -> None:
    shown = figure("lines", Series("a", ("p", "q"), (1.0, 5.0)))
    upright, flipped = dots(parsed(shown)), dots(parsed(shown, flip_y=True))
    assert upright[0][1] > upright[1][1]
    assert flipped[0][1] < flipped[1][1]


def test_a_gap_in_the_values_is_a_gap_in_the_line() -> None:
    y = (1.0, 2.0, math.nan, 3.0, 4.0)
    root = parsed(figure("lines", Series("a", (1.0, 2.0, 3.0, 4.0, 5.0), y)))
    lines = [one for one in root.iter(f"{SVG}path") if "stroke-width:2" in one.attrib.get("style", "")]
    assert len(lines) == 2


def test_a_band_spans_the_intervals() -> None:
    series = Series("a", (0.0, 1.0), (2.0, 2.0), (1.0, 1.0), (3.0, 3.0))
    root = parsed(figure("lines", series))
    band = next(one for one in root.iter(f"{SVG}path") if "fill-opacity:.16" in one.attrib.get("style", ""))
    heights = sorted({float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", band.attrib["d"])})
    middle = dots(root)[0][1]
    assert heights[0] < middle < heights[1]
    assert middle - heights[0] == pytest.approx(heights[1] - middle, abs=0.2)


def test_bars_are_as_long_as_their_values_and_stand_on_zero() -> None:
    root = parsed(figure("bars", Series("a", ("p", "q", "r"), (1.0, 3.0, -2.0))))
    boxes = [one for one in root.iter(f"{SVG}rect") if list(one)]
    heights = [float(one.attrib["height"]) for one in boxes]
    assert heights[1] / heights[0] == pytest.approx(3, abs=0.02)
    assert heights[2] / heights[0] == pytest.approx(2, abs=0.02)
    ground = float(boxes[0].attrib["y"]) + heights[0]
    assert float(boxes[2].attrib["y"]) == pytest.approx(ground, abs=0.11)


def test_bars_of_several_series_stand_side_by_side_without_overlap() -> None:
    series = [Series(name, ("p", "q"), (1.0, 2.0)) for name in ("a", "b", "c")]
    root = parsed(figure("bars", *series))
    spans = sorted(
        (float(one.attrib["x"]), float(one.attrib["x"]) + float(one.attrib["width"]))
        for one in root.iter(f"{SVG}rect")
        if list(one)
    )
    assert len(spans) == 6
    assert all(end <= start + 0.11 for (_, end), (start, _) in itertools.pairwise(spans))


def test_a_whisker_is_seen_on_a_bar_of_its_own_colour() -> None:
    root = parsed(figure("bars", Series("a", ("p",), (2.0,), (1.0,), (3.0,))))
    spans = [one for one in root.iter(f"{SVG}path") if "V" in one.attrib["d"]]
    seam, line = spans
    assert seam.attrib["d"] == line.attrib["d"]
    assert "stroke:var(--surface," in seam.attrib["style"]
    assert "stroke:currentColor" in line.attrib["style"]
    widths = [float(re.findall(r"stroke-width:([\d.]+)", one.attrib["style"])[0]) for one in spans]
    assert widths[0] > widths[1]


@pytest.mark.parametrize("kind", ["points", "bars"])
def test_several_series_have_a_key(kind: Kind) -> None:
    series = [Series(name, (1.0, 2.0), (1.0, 2.0)) for name in ("ours", "theirs")]
    assert {"ours", "theirs"} <= set(texts(parsed(figure(kind, *series))))


def test_single_points_and_lines_carry_their_names() -> None:
    single = [Series(name, (1.0 + place,), (2.0,)) for place, name in enumerate(("cn", "ra", "aa"))]
    assert {"cn", "ra", "aa"} <= set(texts(parsed(figure("points", *single))))
    several = [Series(name, (1.0, 2.0), (2.0, 3.0)) for name in ("cn", "ra")]
    assert {"cn", "ra"} <= set(texts(parsed(figure("lines", *several))))


def test_names_at_the_ends_of_lines_do_not_cover_each_other() -> None:
    series = [Series(f"m{place}", (1.0, 2.0), (1.0, 1.0 + place * 1e-6)) for place in range(30)]
    root = parsed(figure("lines", *series))
    named = [one for one in root.iter(f"{SVG}text") if re.fullmatch(r"m\d+", one.text or "")]
    heights = sorted(float(one.attrib["y"]) for one in named)
    assert len(heights) == 30
    assert min(np.diff(heights)) > 12
    assert heights[-1] < float(root.attrib["viewBox"].split()[3])


def test_the_diagonal_joins_equal_values() -> None:
    shown = figure("points", Series("a", (0.0, 10.0), (3.0, 4.0)), diagonal=True)
    root = parsed(shown)
    line = next(one for one in root.iter(f"{SVG}path") if one.attrib.get("stroke-dasharray") == "5 4")
    assert re.fullmatch(r"M[\d.]+ [\d.]+L[\d.]+ [\d.]+", line.attrib["d"])
    # Both axes hold all values, so the line runs through the whole field.
    x0, y0, x1, y1 = map(float, re.findall(r"[\d.]+", line.attrib["d"]))
    assert x1 - x0 > 400
    assert y0 - y1 > 200


def test_a_cell_of_a_heat_map_shows_its_value_and_its_interval() -> None:
    series = [
        Series("ra", ("p", "q"), (12.34, math.nan), (10.0, math.nan), (15.0, math.nan)),
        Series("cn", ("q",), (1.0,)),
    ]
    root = parsed(figure("heat", *series))
    assert "12.3" in texts(root)
    assert "ra, p: 12.34 (10 to 15)" in titles(root)
    outlines = [one for one in root.iter(f"{SVG}path") if one.attrib.get("stroke-dasharray") == "3 3"]
    assert [one.attrib["d"].count("M") for one in outlines] == [1]


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=9, unique=True))
def test_a_larger_value_is_a_stronger_colour(values: list[float]) -> None:
    for value in values:
        colour, share = strength(value, values)
        assert 0 <= share <= 1
        assert (colour == "heat-below") == (value < 0 and min(values) < 0 < max(values))
    same = (
        sorted(value for value in values if value >= 0) if min(values) < 0 < max(values) else sorted(values)
    )
    shares = [strength(value, values)[1] for value in same]
    assert shares == sorted(shares)


def test_very_many_points_or_epochs_are_a_small_picture(thorough: bool) -> None:
    rng, count = np.random.default_rng(0), 100_000 if thorough else 20_000
    x, y = tuple(rng.normal(size=count)), tuple(rng.normal(size=count))
    assert len(draw(figure("points", Series("cloud", x, y)))) < 600_000
    assert len(draw(figure("points", Series("one place", (1.0,) * count, (1.0,) * count)))) < 10_000
    line = draw(figure("lines", Series("walk", tuple(range(count)), tuple(np.cumsum(y)))))
    assert len(line) < 100_000


def test_a_long_line_keeps_its_extremes() -> None:
    y = [0.0] * 50_000
    y[12_345], y[23_456] = 7.0, -9.0
    root = parsed(figure("lines", Series("spikes", tuple(range(50_000)), tuple(y))))
    heights = {float(v) for one in root.iter(f"{SVG}path") for v in re.findall(r" ([\d.]+)", one.attrib["d"])}
    short = parsed(figure("lines", Series("spikes", (0.0, 1.0, 2.0), (0.0, 7.0, -9.0))))
    assert {cy for _, cy in dots(short)} <= heights


@given(st.lists(st.floats(0, 300), max_size=25), st.floats(1, 20))
def test_names_moved_apart_keep_their_order_and_their_distance(places: list[float], gap: float) -> None:
    wanted = sorted(places)
    found = spread(wanted, gap, 0.0, 300.0)
    assert len(found) == len(wanted)
    assert all(b - a >= gap - 1e-6 for a, b in itertools.pairwise(found))
    if (len(wanted) - 1) * gap <= 300 and found:
        assert found[0] >= -1e-6
        assert found[-1] <= 300 + 1e-6
    if all(b - a >= gap for a, b in itertools.pairwise(wanted)):
        assert found == pytest.approx(wanted)


def test_a_kind_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no kind of figure is called 'pie'"):
        draw(figure("pie", Series("a", (1.0,), (1.0,))))  # type: ignore[arg-type]


def test_slanted_names_stay_inside_of_the_picture() -> None:
    names = tuple(f"a rather long name of a data set {place}" for place in range(14))
    root = parsed(figure("bars", Series("a", names, tuple(map(float, range(14))))))
    slanted = [one for one in root.iter(f"{SVG}text") if "rotate(-40)" in one.attrib.get("transform", "")]
    assert len(slanted) == 14
    for one in slanted:
        x, y = map(float, re.findall(r"translate\(([\d.]+) ([\d.]+)\)", one.attrib["transform"])[0])
        length = 0.57 * 12 * len(one.text or "")
        assert x - math.cos(math.radians(40)) * length > -1
        assert y + math.sin(math.radians(40)) * length < float(root.attrib["viewBox"].split()[3])


def test_ranks_have_no_value_written_between_whole_numbers() -> None:
    for ranks in ((1.0, 2.0), (1.0, 1.5), (1.0, 40.0)):
        root = parsed(figure("lines", Series("a", ("p", "q"), ranks)), flip_y=True)
        written = [text for text in texts(root) if re.fullmatch(r"[\d.]+", text)]
        assert written[0] == "1"
        assert all("." not in text for text in written)
        assert "0" not in written


def test_the_key_of_a_heat_map_of_one_value_says_what_it_is_and_has_no_ends() -> None:
    root = parsed(figure("heat", Series("ra", ("p",), (6.52,))))
    assert texts(root).count("6.52") == 1, "in its cell"
    assert "up" in texts(root)
    assert len(list(root.iter(f"{SVG}rect"))) == 1
    two = parsed(figure("heat", Series("ra", ("p", "q"), (6.52, 7.0))))
    assert len(list(two.iter(f"{SVG}rect"))) > 10


def test_a_number_in_brackets_stands_below_the_name_of_a_column() -> None:
    names = ("local (12)", "none or several (1,253)")
    shown = texts(parsed(figure("heat", Series("ra", names, (1.0, 2.0)))))
    assert {"local", "(12)", "none or several", "(1,253)"} <= set(shown)


def fills(root: ElementTree.Element) -> list[str]:
    """The colours of marks in the order they are drawn."""
    found = [re.search(r"(?:fill|stroke):var\(--(c\d)", one.attrib.get("style", "")) for one in root.iter()]
    return [match[1] for match in found if match]


@pytest.mark.parametrize("kind", ["lines", "points", "bars"])
def test_what_has_a_look_keeps_it_in_every_chart(kind: Kind) -> None:
    looks = {"cn": 0, "ra": 1, "pa": 2}
    pair = [Series(name, (1.0, 2.0), (1.0, 2.0)) for name in ("pa", "ra")]
    root = ElementTree.fromstring(draw(figure(kind, *pair), looks=looks))
    assert set(fills(root)) == {"c3", "c2"}
    assert set(fills(parsed(figure(kind, *pair)))) == {"c1", "c2"}


def test_points_over_names_have_the_looks_of_the_names() -> None:
    one = Series("mrr", ("pa", "cn"), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5))
    root = ElementTree.fromstring(draw(figure("points", one), looks={"cn": 0, "ra": 1, "pa": 2}))
    assert fills(root) == ["c3", "c3", "c1", "c1"], "a whisker and a mark each"
    unknown = ElementTree.fromstring(draw(figure("points", one), looks={"cn": 4}))
    assert set(fills(unknown)) == {"c1"}


def test_lines_with_long_names_on_a_phone_have_a_key_above_the_field() -> None:
    series = [Series(f"a method with a long name {place}", (1.0, 2.0), (1.0, 2.0)) for place in range(5)]
    root = ElementTree.fromstring(draw(figure("lines", *series), narrow=True))
    keys = [one for one in root.iter(f"{SVG}g") if "a method" in "".join(one.itertext())]
    places = [re.findall(r"[\d.]+", one.attrib.get("transform", "")) for one in keys]
    heights = [float(place[1]) for place in places if place]
    assert len(heights) == 5
    assert max(heights) < min(cy for _, cy in dots(root))


def test_the_key_of_a_picture_too_wide_for_a_phone_is_seen_on_one() -> None:
    names = tuple(f"data set {place}" for place in range(40))
    series = [Series(f"a method of number {place}", names, (1.0,) * 40) for place in range(6)]
    shown = figure("bars", *series)
    assert not fits_a_phone(shown)
    starts = re.findall(r'translate\((\d+) \d+\)"><rect[^>]*></rect><text[^>]*>(a method[^<]*)', draw(shown))
    assert len(starts) == 6
    for start, name in starts:
        assert float(start) + 18 + text_width(name, 12.0) <= 380


@pytest.mark.parametrize(
    ("kind", "count", "fits"),
    [("heat", 8, True), ("heat", 9, False), ("points", 18, True), ("points", 19, False), ("bars", 19, False)],
)
def test_what_has_too_many_names_is_not_drawn_for_a_phone(kind: Kind, count: int, fits: bool) -> None:
    names = tuple(f"name {place}" for place in range(count))
    assert fits_a_phone(figure(kind, Series("a", names, (1.0,) * count))) == fits


def test_a_training_of_many_methods_is_drawn_for_a_phone_and_a_cloud_of_thousands_is_not() -> None:
    epochs = tuple(map(float, range(12)))
    curves = [Series(f"method-{place}", epochs, epochs) for place in range(24)]
    assert blocks.figure(figure("lines", *curves)).count("<svg") == 2
    rng = np.random.default_rng(0)
    cloud = Series("cloud", tuple(rng.normal(size=20_000)), tuple(rng.normal(size=20_000)))
    assert blocks.figure(figure("points", cloud)).count("<svg") == 1
