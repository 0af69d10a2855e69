"""The audit's page: one file, what is broken first, and nothing said that was not found."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from faults import FAULTS, clean
from planted import benchmark

import trueedge as te
from trueedge.audit import Finding, audit, catalogue
from trueedge.audit.check import CHECKS, picture
from trueedge.audit.shortcuts import won_by
from trueedge.graph import Graph
from trueedge.report.audit_page import figure_of, filled, page


class Reader(HTMLParser):
    """What a page holds: tags with their attributes, texts, and whether all that opens closes."""

    VOID = ("meta", "link", "input", "br", "hr", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.opened == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.opened and self.opened[-1] not in ("style", "script"):
            self.texts.append(data)

    def of_class(self, tag: str, name: str) -> list[dict[str, str | None]]:
        return [
            found for one, found in self.tags if one == tag and name in (found.get("class") or "").split()
        ]


@pytest.fixture(scope="module")
def leaky():
    """An audit with something of every verdict, and checks that do not apply."""
    return audit(FAULTS["shortcut-pa"]())


@pytest.fixture(scope="module")
def read(leaky) -> Reader:
    return Reader(page(leaky))


def test_every_problem_stands_once_with_what_to_do_what_is_broken_first(leaky, read: Reader) -> None:
    cards = [found["class"] for tag, found in read.tags if tag == "article"]
    assert cards == [one.verdict for one in leaky.problems]
    assert {"broken", "look"} == set(cards)
    assert leaky.answer in read.texts
    shown = "".join(read.texts)
    for one in leaky.problems:
        assert shown.count(one.advice.replace("`", "")) == 1


def test_every_finding_is_behind_a_fold_with_its_reason_and_its_rule(leaky, read: Reader) -> None:
    names = [found["id"] for tag, found in read.tags if tag == "p" and found.get("class") == "asked"]
    assert sorted(names) == sorted(f"check-{one.check}" for one in leaky)
    assert len(read.of_class("details", "finding")) == len(leaky)
    for one in leaky:
        told = f"{one.sentence[:1].upper()}{one.sentence[1:]}."
        # In its fold or above it, and in the table of all checks.
        assert read.texts.count(told) == 2
        assert one.shown in read.texts
        assert f"Rule: {CHECKS.get(one.check).rule}." in read.texts


def test_good_news_is_folded(leaky, read: Reader) -> None:
    assert f"{leaky.count('ok')} checks found nothing wrong" in read.texts
    assert not any(found.get("open") is not None for tag, found in read.tags if tag == "details")


def test_links_lead_to_what_is_there_and_names_are_not_used_twice(read: Reader) -> None:
    names = [found["id"] for _, found in read.tags if found.get("id")]
    assert len(names) == len(set(names))
    links = [found["href"][1:] for tag, found in read.tags if tag == "a"]
    assert set(links) <= set(names)


def test_the_page_needs_nothing_but_itself(leaky) -> None:
    text = page(leaky)
    addresses = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", text)
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert text.count("<script") == 1
    assert len(text.encode()) < 1_000_000


def test_the_page_says_what_was_sampled_what_does_not_apply_and_where_it_comes_from() -> None:
    found = audit(benchmark(), sample=150)
    text = page(found)
    texts = Reader(text).texts
    assert any("Examined: 150 positives and 150 negatives (a sample)." in one for one in texts)
    for note in found.notes:
        assert note in texts
    assert "the nodes have no features" in texts
    for value in (found.provenance["task"], *found.provenance["hashes"].values()):
        assert value in texts


def test_nothing_but_zero_is_not_drawn_and_distributions_are_with_both_sides() -> None:
    found = audit(clean())
    drawn = {one.check: figure_of(one) for one in found}
    for leak in ("train-leak", "repeated-positives", "valid-in-test", "false-negatives", "self-pairs"):
        assert drawn[leak] is None
    for likeness in (
        "degrees",
        "common-neighbours",
        "distances",
        "no-common-neighbour",
        "feature-similarity",
    ):
        names = [one.name for one in drawn[likeness].series]
        assert names[:2] == ["positives", "negatives"]
    assert drawn["degree-groups"].kind == "heat"
    weights = drawn["degree-weight"].series[0]
    assert all(
        low < value < high for low, value, high in zip(weights.low, weights.y, weights.high, strict=True)
    )


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_every_fault_can_be_drawn_and_its_picture_is_on_the_page(name: str) -> None:
    from planted import run

    found = run(name, FAULTS[name]())
    shown = figure_of(found)
    # Where all positives share one list, there is no distribution of lists.
    assert (shown is None) == (name == "distinct-negatives")
    if shown is not None:
        assert shown.from_dict(json.loads(json.dumps(shown.to_dict()))).title == shown.title


def test_lists_that_repeat_are_drawn_where_each_positive_has_its_own() -> None:
    lists = np.repeat(np.random.default_rng(0).integers(0, 400, size=(400, 5, 2)), 2, axis=1)
    lists[:, -1] = [[0, 1]]
    found = audit(benchmark(negatives=lists))["distinct-negatives"]
    assert found.verdict == "broken"
    assert found.series["share of lists"].sum() == pytest.approx(1)


def test_what_a_user_named_is_text_and_never_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    task = dataclasses.replace(benchmark(), dataset=evil, settings={"split": evil})
    text = page(audit(task))
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_the_page_is_saved_beside_the_numbers(tmp_path: Path, leaky) -> None:
    path = leaky.save(tmp_path / "deep" / "audit.html")
    assert path.read_text(encoding="utf-8") == page(leaky)
    numbers = json.loads(leaky.save(tmp_path / "audit.json").read_text(), parse_constant=pytest.fail)
    assert numbers["sizes"]["nodes"] == 400
    assert [one["looked"] for one in numbers["findings"]] == [one.looked for one in leaky]


def test_a_page_of_the_smallest_benchmark_and_of_one_without_features_is_whole() -> None:
    for task in (
        benchmark(valid=[[0, 1]], test=[[2, 3]], negatives=[[4, 5]]),
        te.task("karate", "heart", k=4),
    ):
        found = audit(task)
        text = page(found)
        Reader(text)
        assert all(one.check in text for one in found)
    pair = Graph.from_edges([[0, 1], [1, 2]], 4)
    found = audit(pair, split={"test": [[0, 3]]}, negatives=[[0, 2]])
    Reader(page(found))
    assert all(reason in page(found) for reason in found.skipped)


def test_the_area_under_the_positives_is_the_auc_over_lists() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    above, below = rng.integers(0, 9, 80).astype(float), rng.integers(0, 7, (80, 50)).astype(float)
    own = [roc_auc_score([1] + [0] * 50, [one, *row]) for one, row in zip(above, below, strict=True)]
    for negatives, wanted in (
        (below, np.mean(own)),
        (below[0], roc_auc_score([1] * 80 + [0] * 50, [*above, *below[0]])),
    ):
        curve = won_by(above, negatives)
        area = np.trapezoid(curve["positives"], curve["share of negatives"])
        assert area == pytest.approx(wanted, abs=0.03)
        assert curve["positives"][-1] == 1
        assert (np.diff(curve["positives"]) >= 0).all()


def test_a_picture_joins_a_series_with_its_interval_and_leaves_out_what_is_empty() -> None:
    shown = picture("t", "bars", "y")
    series = {
        "x": np.array(["a", "b"]),
        "v": np.array([1, 2]),
        "low v": np.array([0, 1]),
        "high v": np.array([2, 3]),
    }
    figure = filled(shown, series)
    assert (figure.x_label, figure.series[0].low, figure.series[0].high) == ("x", (0, 1), (2, 3))
    assert len(figure.series) == 1
    assert filled(shown, {"x": np.array([1.0]), "v": np.array([np.nan])}) is None


def test_common_neighbours_are_counted_in_doubling_steps_where_they_are_many() -> None:
    from trueedge.audit.likeness import _counted

    rng = np.random.default_rng(0)
    above, below = rng.integers(0, 200, 500).astype(float), rng.integers(0, 4, 300).astype(float)
    many = _counted(above, below)
    assert many["common neighbours"].tolist()[:4] == ["0", "1", "2–3", "4–7"]
    assert many["positives"][3] == np.mean((above >= 4) & (above < 8))
    few = _counted(below, below)
    assert few["common neighbours"].tolist()[-2:] == ["9", "10+"]
    for counted in (many, few):
        assert counted["positives"].sum() == pytest.approx(1)
        assert counted["negatives"].sum() == pytest.approx(1)


def test_an_interval_of_a_coefficient_is_that_of_the_curvature() -> None:
    from trueedge.methods.classifiers.coefficients import coefficients
    from trueedge.methods.classifiers.linear import logistic_regression

    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.normal(size=400), rng.normal(size=400)])
    labels = (rows[:, 1] + rng.normal(size=400) > 0).astype(float)
    _, errors = coefficients(rows, labels)
    slope = np.polyfit(rows[:, 1], rows[:, 0], 1)
    scaled = np.column_stack([rows[:, 0] - np.polyval(slope, rows[:, 1]), rows[:, 1]])
    scaled /= np.linalg.norm(scaled, axis=0)
    best = np.append(*logistic_regression(scaled, labels, np.ones(2)))

    def loss(at: np.ndarray) -> float:
        score = scaled @ at[:2] + at[2]
        return float(np.logaddexp(0, score).sum() - labels @ score + at[:2] @ at[:2] / 2)

    step, directions = 1e-2, np.eye(3)
    curvature = [
        [
            (loss(best + step * (a + b)) - loss(best + step * (a - b)) - loss(best - step * (a - b))
             + loss(best - step * (a + b))) / (4 * step**2)
            for a in directions
        ]
        for b in directions
    ]  # fmt: skip
    np.testing.assert_allclose(errors, np.sqrt(np.diag(np.linalg.inv(curvature))[:2]), rtol=1e-3)


def test_findings_are_of_checks_that_say_how_they_are_drawn() -> None:
    assert all(check.picture is not None for check in catalogue())
    assert isinstance(audit("karate")["id-bands"], Finding)
