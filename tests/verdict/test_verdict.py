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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seeds": 0}, "judge: seeds must be a whole number from 1 to"),
        ({"seeds": 1.5}, "judge: seeds must be a whole number"),
        ({"protocols": []}, "judge: protocols must be the name of a protocol or a list of names"),
        ({"protocols": 3}, "judge: protocols must be the name of a protocol or a list of names"),
        ({"options": "k=3"}, "judge: options must be a dict"),
        ({"options": {"ratois": 1}}, "no option of existing is called 'ratois'; did you mean 'ratios'?"),
        ({"name": 5}, "the name of a model must be a text, got 5"),
        ({"name": "\x1b[2J"}, "has characters that cannot be printed"),
        ({"name": "\ud800"}, "has characters that cannot be printed"),
        ({"name": "ppr"}, "a baseline is called 'ppr': give your model another name"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_runs(given, said: str) -> None:
    with pytest.raises(InputError) as found:
        te.judge(fit, "karate", **{"protocols": "existing", "seeds": 1, **given})
    assert said in str(found.value)


def test_a_task_takes_no_options_of_protocols() -> None:
    with pytest.raises(InputError, match="no option of a task that is made already is called 'ratios'"):
        te.judge("cn", te.task("karate", "existing"), options={"ratios": (0.8, 0.1, 0.1)})


def test_what_is_listed_twice_counts_once() -> None:
    task = te.task("karate", "existing")
    for data, protocols in (([task, task], None), ("karate", ["existing", "existing"])):
        found = te.judge("cn", data, protocols, 1, checks=False)
        assert len({record.method for record in found.records}) == len(found.records)


def test_a_model_may_be_named_in_a_file_and_data_may_be_a_path(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def fit(graph):\n    return lambda pairs: graph.degrees[pairs].sum(1)\n"
    )
    # Even if it is called like a data set.
    np.savetxt(tmp_path / "karate", te.load("karate").edges, fmt="%d")
    found = te.judge(f"{tmp_path}/mine.py:fit", tmp_path / "karate", "existing", 3, checks=False)
    assert (found.model, found.dataset) == ("mine", "karate")
    assert te.run(tmp_path / "karate", "existing", "ra").dataset == "karate"
    with pytest.raises(InputError, match="does not define 'train'"):
        te.judge(f"{tmp_path}/mine.py:train", "karate")
