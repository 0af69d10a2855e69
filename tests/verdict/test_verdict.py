"""A verdict can be read: as text, in a notebook, as a table and as a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError


def fit(graph):
    degrees = graph.degrees
    return lambda pairs: np.log1p(degrees[pairs[:, 0]]) + np.log1p(degrees[pairs[:, 1]])


@pytest.fixture(scope="module")
def verdict() -> te.Verdict:
    return te.judge(fit, "karate", ["existing", "degree-corrected"], 3, name="by degree")


def test_it_begins_with_the_answer_and_names_what_was_run(verdict) -> None:
    said = str(verdict)
    assert said.startswith("Verdict on by degree · karate")
    assert said.index("Answer") < said.index("karate · existing")
    assert "ppr" in verdict.sentence
    assert "by degree" in repr(verdict)
    assert {record.method for record in verdict.records} >= {"by degree", "pa", "cn"}


def test_a_notebook_shows_tables_and_escapes_names(verdict) -> None:
    html = verdict._repr_html_()
    assert html.count("<table") == len(verdict.tables)
    assert "by degree" in html


def test_its_table_has_a_row_for_each_method_and_protocol(verdict) -> None:
    rows = verdict.table if isinstance(verdict.table, list) else verdict.table.to_dict("records")
    assert len(rows) == sum(len(table.lines) for table in verdict.tables)
    own = [row for row in rows if row["method"].startswith("by degree")]
    assert {row["metric"] for row in own} == {"mrr", "auc"}
    assert all(row["low"] <= row["value"] <= row["high"] for row in own)


def test_it_is_written_as_a_page_and_as_nothing_else(verdict, tmp_path: Path) -> None:
    page = verdict.page(tmp_path / "verdict.html")
    assert "by degree" in page.read_text()
    with pytest.raises(InputError, match=r"a verdict is written to a \.html file"):
        verdict.page(tmp_path / "verdict.docx")
