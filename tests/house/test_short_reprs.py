"""What Python and notebooks show of an object: one short line, and a small table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import trueedge as te
from trueedge.graph.typed import Relation
from trueedge.html import facts_html, shortened, table_html
from trueedge.splits.triples import published

LONG = "a-graph-with-a-name-as-long-as-the-path-of-a-file-that-somebody-keeps-in-a-deep-folder-of-theirs"
EVIL = "<script>alert(1)</script>"


def graph(name: str = "karate") -> te.Graph:
    return replace(te.load("karate"), name=name)


def triples(name: str = "facts") -> te.KnowledgeGraph:
    rows = np.array([[one, one % 2, (one + 3) % 12] for one in range(12)])
    return te.KnowledgeGraph.from_triples(rows, 12, 2, name=name)


def shop(name: str = "shop") -> te.Interactions:
    rows = np.array([[user, item] for user in range(6) for item in range(40) if (user + item) % 3])
    return te.Interactions.from_pairs(rows, 6, 40, name=name)


def typed(name: str = "typed") -> te.HeteroGraph:
    return te.HeteroGraph(
        ("user", "item"),
        np.array([0, 2, 4]),
        (Relation("buys", 0, 1),),
        (np.array([[0, 2]], np.int32),),
        (None, None),
        name=name,
    )


def record() -> te.Record:
    return te.run("karate", "existing", "cn", seed=0)


OBJECTS: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "graph": (graph, ("karate", "34 nodes", "78 edges")),
    "long graph": (lambda: graph(LONG), ("a-graph", "…")),
    "triples": (triples, ("facts", "12 entities", "2 relations")),
    "interactions": (shop, ("shop", "6 users", "40 items")),
    "typed graph": (typed, ("typed", "4 nodes of 2 types")),
    "split": (lambda: te.split(graph(LONG)), ("a-graph", "68 train", "7 test")),
    "triple split": (lambda: published("nations"), ("nations", "1,592 train")),
    "link task": (lambda: te.task(graph(LONG), "existing"), ("LinkTask", "existing", "seed=0")),
    "item task": (lambda: te.task(shop()), ("ItemTask", "shop", "full-ranking")),
    "recommend task": (lambda: te.task("karate", "recommendation"), ("RecommendTask", "karate")),
    "triple task": (lambda: te.task("nations"), ("TripleTask", "nations", "filtered")),
    "record": (record, ("cn on karate", "existing", "seed 0", "mrr")),
    "data set": (lambda: te.datasets.get("cora"), ("cora", "graph")),
    "report": (
        lambda: te.check_scorer(lambda pairs: pairs.sum(axis=1), te.task("karate", "existing")),
        ("CheckReport", "lambda"),
    ),
    "audit": (lambda: te.audit("karate"), ("karate", "existing", "too small")),
}


class Cells(HTMLParser):
    """The texts of the cells of a table, and whether all that opens closes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.opened == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_shown_in_one_short_line_and_as_a_table(name: str) -> None:
    make, words = OBJECTS[name]
    one = make()
    line = repr(one)
    assert "\n" not in line
    assert len(line) < 120
    for word in words:
        assert word in line
    shown = one._repr_html_()  # type: ignore[attr-defined]
    cells = Cells(shown).texts
    assert len(cells) > 3
    assert shown.startswith("<table>")
    assert len(shown) < 6_000


def test_a_table_says_what_there_is_and_leaves_out_what_there_is_not() -> None:
    assert Cells(graph()._repr_html_()).texts == ["Graph karate", "nodes", "34", "edges", "78"]
    cells = Cells(te.task("karate", "existing")._repr_html_()).texts
    assert cells[cells.index("test") + 1] == "7 positives, 7 negatives"
    assert "Graph(karate: 34 nodes, 68 edges)" in cells
    values = Cells(record()._repr_html_()).texts
    assert values[1:4] == ["metric", "valid", "test"]
    assert f"{record().test['mrr']:.4f}" in values


def test_names_are_text_and_never_markup() -> None:
    for shown in (
        graph(EVIL)._repr_html_(),
        table_html(EVIL, [[EVIL, EVIL]], [EVIL]),
        facts_html("", {EVIL: 1}),
    ):
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown


def test_a_long_name_loses_its_middle() -> None:
    assert shortened("short") == "short"
    assert shortened("0123456789", 5) == "01…89"
    assert len(shortened("0123456789", 4)) == 4


def test_numbers_have_commas_and_what_is_empty_is_left_out() -> None:
    assert Cells(facts_html("title", {"a": 12345, "b": None, "c": "", "d": 0})).texts == [
        "title",
        "a",
        "12,345",
        "d",
        "0",
    ]
