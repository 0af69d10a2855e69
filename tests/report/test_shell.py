"""The page needs nothing but itself, and nothing that is named in it can do anything."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from html.parser import HTMLParser

import pytest

from trueedge.analysis.figure import Figure, Series
from trueedge.report.blocks import (
    Cell,
    Column,
    badge,
    definitions,
    facts,
    figure,
    figures,
    folded,
    notes,
    paragraph,
    table,
    with_code,
)
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.page import Section, page

HOSTILE = "</td></table><script>alert(1)</script><img src=x onerror=alert(1)>"


class Reading(HTMLParser):
    """What a browser would see: elements with their attributes, and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        if name not in ("meta", "link", "br", "img"):
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        if not self.open or self.open.pop() != name:
            self.unbalanced.append(name)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def count(self, name: str) -> int:
        return sum(one == name for one, _ in self.elements)


def everything(name: str) -> str:
    shown = Figure("f", name, "bars", name, name, (Series(name, (name,), (1.0,), (0.5,), (2.0,)),), note=name)
    parts = [
        table(
            [name, Column(name, number=True, hint=name)],
            [[name, Cell(name, sort=name, hint=name)]],
            caption=name,
        ),
        figures([figure(shown)]),
        badge(name),
        definitions({name: name}),
        facts([(name, name)]),
        notes([name]),
        folded(name, paragraph(name)),
    ]
    return page(name, [Section(name, joined(parts)), Section(name, name)], lead=name, foot=[name])


def test_a_page_is_balanced_and_complete() -> None:
    found = Reading(everything("plain"))
    assert found.open == []
    assert found.unbalanced == []
    assert ("html", {"lang": "en"}) in found.elements
    assert found.count("h1") == found.count("main") == 1
    assert found.count("h2") == 2


def test_whatever_a_thing_is_called_it_stays_text() -> None:
    found = Reading(everything(HOSTILE))
    assert found.open == []
    assert found.unbalanced == []
    assert found.count("script") == 1
    assert found.count("img") == 0
    assert "".join(found.texts).count("<script>alert(1)</script>") > 10
    handlers = [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    assert handlers == []


def test_the_policy_lets_the_one_script_run_and_nothing_else() -> None:
    text = everything("plain")
    (policy,) = [
        attributes["content"] or ""
        for name, attributes in Reading(text).elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_nothing_is_fetched_from_anywhere() -> None:
    for name, attributes in Reading(everything("plain")).elements:
        for attribute in ("src", "href", "srcset", "action", "data", "poster"):
            value = attributes.get(attribute) or "#"
            assert value.startswith(("#", "data:")), (name, attribute, value)
    addresses = set(re.findall(r"https?://[^\"' )<]+", everything("plain")))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "@import" not in everything("plain")
    assert "url(" not in everything("plain")


def test_every_name_that_is_linked_is_there_once() -> None:
    text = page("t", [Section("Same", "a"), Section("Same", "b"), Section("日本", "c"), Section("日本", "d")])
    found = Reading(text)
    names = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(names) == len(set(names))
    links = [attributes["href"] for name, attributes in found.elements if name == "a"]
    assert {str(link).removeprefix("#") for link in links} <= set(names)


def test_heads_can_be_sorted_by_key_and_say_in_which_order_they_are() -> None:
    found = Reading(table(["a", Column("b", number=True), Column("c", number=True)], [], sorted_by=1))
    orders = [attributes["aria-sort"] for name, attributes in found.elements if name == "th"]
    assert orders == ["none", "descending", "none"]
    assert found.count("button") == 3
    plain = Reading(table(["a"], [["x"]], sortable=False))
    assert plain.count("button") == 0


def test_a_number_carries_its_value_where_its_text_does_not_begin_with_it() -> None:
    cells = re.findall(
        r"<td([^>]*)>([^<]*)", table(["", "n"], [["", v] for v in (1.5, 3e-9, 2e7, math.nan, 1234)])
    )
    assert cells[0] == ("", "1.5")
    assert 'data-sort="3e-09"' in cells[1][0]
    assert 'data-sort="2e+07"' in cells[2][0]
    assert cells[3] == (' data-sort="nan"', "–")
    assert cells[4] == ("", "1,234")


def test_a_table_is_in_a_box_that_scrolls_and_the_keyboard_reaches() -> None:
    (_, box), *_ = Reading(table(["a"], [["x"]], label="numbers")).elements
    assert box == {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": "numbers"}


def test_the_numbers_of_a_figure_are_listed_unless_they_are_too_many() -> None:
    few = Figure("f", "t", "lines", "x", "y", (Series("s", (1.0, 2.0), (0.125, math.nan)),))
    assert "0.125" in "".join(Reading(figure(few)).texts)
    assert Reading(figure(few, listed=False)).count("table") == 0
    many = Figure("f", "t", "lines", "x", "y", (Series("s", (1.0,) * 5000, (2.0,) * 5000),))
    assert Reading(figure(many)).count("table") == 0
    assert "5,000 values, too many to list here" in figure(many)


@pytest.mark.parametrize(("verdict", "kind"), [("ok", "ok"), ("broken", "broken"), ("unheard-of", "plain")])
def test_a_verdict_has_its_colour(verdict: str, kind: str) -> None:
    assert badge(verdict) == f'<span class="badge {kind}">{verdict}</span>'


def test_markup_is_not_escaped_twice_and_text_always_is() -> None:
    assert tag("p", Markup("<b>x</b>"), "<b>", None, title='"') == ('<p title="&quot;"><b>x</b>&lt;b&gt;</p>')
    assert tag("br") == "<br>"
    assert tag("details", open=True, hidden=False, class_=None) == "<details open></details>"
    assert joined(["a\x00b", "\ud800"]) == "a\ufffdb\ufffd"


def test_no_notes_are_nothing() -> None:
    assert notes([]) == ""


def test_what_stands_between_backticks_is_code_and_nothing_else_is() -> None:
    assert with_code("Use `-p <b>` or `x`.") == "Use <code>-p &lt;b&gt;</code> or <code>x</code>."
    assert with_code("plain") == "plain"
    assert with_code("one ` alone") == "one ` alone"
    assert with_code("`a` and `b") == "<code>a</code> and `b"


def test_equal_values_of_other_types_are_written_each_in_its_way() -> None:
    assert tag("a", x=1) == '<a x="1"></a>'
    assert tag("a", x=True) == "<a x></a>"
    assert tag("a", x=1.0) == '<a x="1.0"></a>'
    assert tag("a", x=0) == '<a x="0"></a>'
    assert tag("a", x=False) == "<a></a>"
    assert tag("a", x=["b"]) == tag("a", x="['b']")
