"""The pictures of docs/degree-bias.md: figures in the evidence files of the study."""

from __future__ import annotations

from pathlib import Path

# The file of each picture: its evidence, and the name of the figure in it.
PICTURES = {
    "docs/degree-bias-15a.svg": ("degree-bias-figure-15", "degrees-28"),
    "docs/degree-bias-15b.svg": ("degree-bias-figure-15", "ahead-28"),
    "docs/degree-bias-6.svg": ("degree-bias-figure-6", "benchmarks-1-ours"),
    "docs/degree-bias-6-published.svg": ("degree-bias-figure-6", "benchmarks-1-published"),
}


def picture(results: Path, evidence: str, name: str) -> str:
    """Return a figure of the evidence as SVG on a white ground; nothing where there is none.

    Args:
        results: the folder of evidence.
        evidence: the name of the file, without its ending.
        name: the name of the figure.
    """
    # Here: what is imported first changes the order of the catalogue.
    from trueedge.report.charts import draw
    from trueedge.studies.evidence import figures

    found = [figure for figure in figures(results / f"{evidence}.json") if figure.name == name]
    # A page of docs may be dark, and does not tell a picture so.
    return str(draw(found[0])).replace('style="', 'style="background:#fff;', 1) + "\n" if found else ""


def images(results: Path, evidence: str) -> list[str]:
    """Return the pictures of a file of evidence as Markdown, each with its title and note below.

    Args:
        results: the folder of evidence.
        evidence: the name of the file, without its ending.
    """
    from trueedge.studies.evidence import figures

    found = {(evidence, figure.name): figure for figure in figures(results / f"{evidence}.json")}
    shown = [(Path(file).name, found[where]) for file, where in PICTURES.items() if where in found]
    return [f"![{one.title}]({file})\n*{one.title}. {one.note}.*" for file, one in shown]
