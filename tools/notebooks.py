"""Run the notebooks of the documentation, store their outputs, and turn them into pages.

"python tools/notebooks.py" runs all of them and stores what they print; with "--check" it stores nothing.
Each runs in a process and a folder of its own, without Jupyter.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
WIDTH = 100


def pages() -> dict[str, str]:
    """Return the markdown of each notebook, by its path under ``docs/``."""
    return {f"notebooks/{path.stem}.md": as_markdown(path) for path in all_notebooks()}


def all_notebooks() -> list[Path]:
    """Return the notebooks, in alphabetical order."""
    return sorted(FOLDER.glob("*.ipynb"))


def as_markdown(path: Path) -> str:
    """Return a notebook as markdown, with the outputs below the code."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [shown for output in cell["outputs"] if (shown := _shown(output))]
    title, *rest = parts
    link = f"[Download this notebook]({path.name}){{ download }}"
    return "\n\n".join([title, link, *rest]) + "\n"


def _shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output["data"]
    if "text/html" in data:
        html = re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
        # The site styles plain tables, and Markdown ends a block of HTML at an empty line.
        html = html.replace('<table border="1" class="dataframe">', "<table>")
        html = re.sub(r"\n\s*\n", "\n", html)
        return f'<div class="output">\n{html.strip()}\n</div>'
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def run(path: Path, store: bool) -> str:
    """Run a notebook; return what went wrong, empty if nothing did."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path]),
        "COLUMNS": str(WIDTH),
    }
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--execute", str(path)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        return done.stderr
    if store:
        content = json.loads(path.read_text())
        outputs = iter(json.loads(done.stdout))
        for number, cell in enumerate(content["cells"]):
            cell["id"] = f"cell-{number}"
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = next(outputs), None
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return ""


def execute(path: Path) -> list[list[dict[str, Any]]]:
    """Run the code of a notebook in this process; return the outputs of each cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    return [_execute_cell("".join(cell["source"]), f"<cell {i}>", names) for i, cell in enumerate(cells, 1)]


def _execute_cell(source: str, name: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    # So that tracebacks, and functions that read source code, find that of the cell.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    body = ast.parse(source, name)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(body, name, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if callable(rich := getattr(value, "_repr_html_", None)):
            data["text/html"] = rich().splitlines(keepends=True)
        found.append({"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None})
    return found


def main() -> None:
    """Run all notebooks, or the named ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="names of notebooks; all by default")
    parser.add_argument("--check", action="store_true", help="store no outputs")
    parser.add_argument("--execute", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.execute:
        print(json.dumps(execute(given.execute)))
        return
    problems = 0
    for path in all_notebooks():
        if not given.names or path.stem in given.names:
            problem = run(path, store=not given.check)
            problems += bool(problem)
            print(f"{path.stem}: {problem or 'ok'}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
