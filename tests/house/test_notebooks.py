"""The notebooks of the documentation run from top to bottom, and hold what they print."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="module")
def notebooks():
    sys.path.insert(0, str(TOOLS))
    try:
        import notebooks

        yield notebooks
    finally:
        sys.path.remove(str(TOOLS))


NAMES = sorted(path.stem for path in (TOOLS.parent / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.rotating(1)
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(notebooks, name):
    path = notebooks.FOLDER / f"{name}.ipynb"
    if "to_frame" in path.read_text() and importlib.util.find_spec("pandas") is None:
        pytest.skip("it needs pandas, which is not here")
    assert notebooks.run(path, store=False) == ""


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_its_cells_print(name):
    cells = json.loads((TOOLS.parent / "docs" / "notebooks" / f"{name}.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in code if "print(" in "".join(cell["source"]))
    assert code[-1]["outputs"]


def test_a_cell_that_fails_is_shown_with_its_line(notebooks, tmp_path):
    cells = [{"cell_type": "code", "source": ["x = 1\n", "x / 0\n"], "outputs": []}]
    path = tmp_path / "broken.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    problem = notebooks.run(path, store=False)
    assert "ZeroDivisionError" in problem
    assert "<cell 1>" in problem


def test_outputs_are_stored_and_become_a_page(notebooks, tmp_path):
    class_with_html = "class T:\n    def _repr_html_(self):\n        return '<b>bold</b>'\nT()\n"
    sources = [("markdown", "# Title"), ("code", "print('hello')\n2 + 2\n"), ("code", class_with_html)]
    cells = [{"cell_type": kind, "source": [text], "outputs": []} for kind, text in sources]
    path = tmp_path / "small.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    assert notebooks.run(path, store=True) == ""
    page = notebooks.as_markdown(path)
    assert page.startswith("# Title\n\n[Download this notebook](small.ipynb)")
    assert "```text\nhello\n```" in page
    assert "```text\n4\n```" in page
    assert "<b>bold</b>" in page
