"""Critical-difference plots in a real browser: one shape at a time, nothing cut off, nothing covered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chromium import Browser
from made_up import record
from seeing import contrast

from trueedge.report import critical_difference, write
from trueedge.report.markup import joined, tag
from trueedge.report.page import Section, page
from trueedge.statistics.rank_tests import friedman

LONG = "lfr:nodes=3000,mixing=0.1,mean_degree=25.0,max_degree=1000,degree_exponent=2.5,seed=0"
SIZES = pytest.mark.parametrize(("width", "shape"), [(360, "standing"), (800, "lying"), (1280, "lying")])
# The boxes of all lines of text of every plot that is shown.
LINES = """[...document.querySelectorAll("figure.ranks svg")].filter(svg => svg.getClientRects().length)
    .map(svg => {
        const frame = svg.getBoundingClientRect();
        const own = [...svg.querySelectorAll("text")].flatMap(
            text => text.querySelector("tspan") ? [...text.querySelectorAll("tspan")] : [text]);
        return own.map(line => {
            const box = line.getBoundingClientRect();
            return [line.textContent, box.left - frame.left, box.top - frame.top,
                frame.right - box.right, frame.bottom - box.bottom, box.width, box.height];
        });
    })"""


@pytest.fixture(scope="module")
def plots_file(tmp_path_factory) -> Path:
    """Plots of a few and of many methods, with short and long names."""
    rng = np.random.default_rng(0)
    names = {
        "few": ["cn", "aa", "ra"],
        "many": [f"method-{place}" for place in range(28)],
        "long": [
            f"gcn (negatives=degree-corrected, epochs={place}, reject_edges=True)" for place in range(12)
        ],
        "wide": ["W" * 120, "方法" * 40, "<b>bold</b>", "x"],
    }
    figures = []
    for name, labels in names.items():
        test = friedman(rng.normal(size=(15, len(labels))) - 0.4 * np.arange(len(labels)))
        plots = [
            tag("div", critical_difference(labels, test, upright=upright), class_=f"picture {shape}")
            for upright, shape in ((False, "lying"), (True, "standing"))
        ]
        figures.append(tag("figure", tag("figcaption", name), *plots, class_="ranks"))
    path = tmp_path_factory.mktemp("plots") / "plots.html"
    path.write_text(page("Plots", [Section("Ranks", joined(figures))]), encoding="utf-8")
    return path


@pytest.mark.rotating(1)
@SIZES
def test_no_text_is_cut_off_and_none_covers_another(
    browser: Browser, plots_file: Path, width: int, shape: str
) -> None:
    plots = browser.open(plots_file, width).run(LINES)
    assert len(plots) == 4
    for lines in plots:
        assert len(lines) > 8
        for text, *edges, _, _ in lines:
            assert min(edges) > -1, (text, edges)
        for place, (text, left, top, _, _, wide, high) in enumerate(lines):
            for other, x, y, _, _, w, h in lines[place + 1 :]:
                # The boxes of lines are higher than their letters.
                across = min(left + wide, x + w) - max(left, x)
                along = min(top + high, y + h) - max(top, y)
                assert across <= 0.5 or along <= 0.3 * min(high, h), (text, other)


@pytest.mark.rotating(1)
@SIZES
def test_letters_are_large_enough_to_be_read(
    browser: Browser, plots_file: Path, width: int, shape: str
) -> None:
    window = browser.open(plots_file, width)
    script = f"""[...document.querySelectorAll(".{shape} svg")].map(svg =>
        12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"""
    sizes = window.run(script)
    assert len(sizes) == 4
    assert min(sizes) > 10.5
    assert window.run("document.documentElement.scrollWidth") <= width


@pytest.mark.rotating(1)
@SIZES
def test_the_report_shows_one_shape_of_a_plot(
    browser: Browser, report_file: Path, width: int, shape: str
) -> None:
    window = browser.open(report_file, width)
    window.run("document.querySelector('#across-data-sets').closest('details').open = true")
    shown = window.run(
        """[...document.querySelectorAll("#across-data-sets .picture")]
        .filter(one => one.getClientRects().length).map(one => one.className)"""
    )
    assert shown == [f"picture {shape}"]
    assert "5 methods on 5 data sets" in window.run("document.querySelector('#across-data-sets').textContent")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_bars_dots_and_names_stand_out(browser: Browser, plots_file: Path, dark: bool) -> None:
    found = browser.open(plots_file, dark=dark).run(
        """(() => {
        const style = (what, name) => getComputedStyle(document.querySelector(`.lying ${what}`))[name];
        return [getComputedStyle(document.querySelector("section")).backgroundColor,
            style(".bar", "stroke"), style("circle", "fill"), style("tspan", "fill"),
            style("tspan:nth-child(2)", "fill")];
    })()"""
    )
    back, bar, dot, rank, name = found
    assert contrast(bar, back) >= 3
    assert contrast(dot, back) >= 3
    assert contrast(rank, back) >= 4.5
    assert contrast(name, back) >= 4.5


def test_a_long_name_of_a_data_set_does_not_widen_the_page(browser: Browser, tmp_path: Path) -> None:
    named = [record(LONG, method=name, seed=seed) for name in ("a", "b") for seed in (0, 1)]
    phone = browser.open(write(named, tmp_path / "long.html", with_slices=False), 360, 740)
    assert LONG in phone.run("document.querySelector('h1').textContent")
    assert phone.run("document.documentElement.scrollWidth") <= 360
    assert phone.run("document.querySelector('button.theme').getBoundingClientRect().right") <= 360
