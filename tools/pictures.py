"""The pictures of docs that are figures in files of evidence."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueedge.analysis.figure import Figure

# The file of each picture: its evidence, and the name of the figure in it.
PICTURES = {
    "docs/typed-cost.svg": ("hgb-cost", "figure-2"),
    "docs/draws.svg": ("lpformer-draws", "draws"),
    "docs/draws-chameleon.svg": ("lpformer-draws", "draws-chameleon"),
    "docs/draws-squirrel.svg": ("lpformer-draws", "draws-squirrel"),
    "docs/factors-citeseer.svg": ("lpformer-factors", "lpformer-factors-citeseer"),
    "docs/factors-cora.svg": ("lpformer-factors", "lpformer-factors-cora"),
    "docs/common-neighbours-cora.svg": ("heart-figure-4", "heart-figure-4-cora"),
    "docs/common-neighbours-citeseer.svg": ("heart-figure-4", "heart-figure-4-citeseer-released"),
    "docs/common-neighbours-pubmed.svg": ("heart-figure-4", "heart-figure-4-pubmed"),
    "docs/common-neighbours-ogbl-ddi.svg": ("heart-figure-5", "heart-figure-5-ogbl-ddi"),
    "docs/degree-bias-15a.svg": ("degree-bias-figure-15", "degrees-28"),
    "docs/degree-bias-15b.svg": ("degree-bias-figure-15", "ahead-28"),
    "docs/degree-bias-6.svg": ("degree-bias-figure-6", "benchmarks-1-ours"),
    "docs/degree-bias-6-published.svg": ("degree-bias-figure-6", "benchmarks-1-published"),
}


def picture(results: Path, evidence: str, name: str) -> str:
    """Return a figure of the evidence as SVG; nothing where there is none.

    Args:
        results: the folder of evidence.
        evidence: the name of the file, without its ending.
        name: the name of the figure.
    """
    # Here: what is imported first changes the order of the catalogue.
    from trueedge.studies.evidence import figures

    path = results / f"{evidence}.json"
    found = [figure for figure in figures(path) if figure.name == name] if path.is_file() else []
    return drawn(found[0]) if found else ""


def drawn(figure: Figure) -> str:
    """Return a figure as SVG on a white ground."""
    from trueedge.report.charts import draw

    # A page of docs may be dark, and does not tell a picture so.
    return str(draw(figure)).replace('style="', 'style="background:#fff;', 1) + "\n"


def images(results: Path, evidence: Iterable[str]) -> list[str]:
    """Return the pictures of some files of evidence as Markdown, each with its title and note below.

    Args:
        results: the folder of evidence.
        evidence: the names of the files, without their ending.
    """
    from trueedge.studies.evidence import figures

    found = {
        (name, figure.name): figure
        for name in evidence
        if (path := results / f"{name}.json").is_file()
        for figure in figures(path)
    }
    shown = [(Path(file).name, found[where]) for file, where in PICTURES.items() if where in found]
    return [f"![{one.title}]({file})\n*{_caption(one.title, one.note)}*" for file, one in shown]


def _caption(title: str, note: str) -> str:
    return f"{title}. {note[:1].upper()}{note[1:]}." if note else f"{title}."
