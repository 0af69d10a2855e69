"""A verdict in a notebook: a little HTML with its style inline, readable on light and on dark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from trueedge.analysis.tables import Table
from trueedge.verdict import rows

if TYPE_CHECKING:
    from trueedge.verdict.verdict import Verdict

# Half-transparent greys and blues fit any background.
BOX = "border-left:4px solid {colour};padding:.3em .8em;margin:.5em 0;background:{colour}22"
GRAVE, LOOK, OWN = "#c62828", "#b7791f", "#1e78c8"
CELL = "padding:.15em .7em;text-align:{side};border:0;border-bottom:1px solid #8884"


def html(verdict: Verdict) -> str:
    """Return the answer, the doubts, the tables, and the rest behind folds."""
    title = f"Verdict on {verdict.model} · {verdict.dataset}"
    parts = [f'<p style="font-size:1.15em;margin:.2em 0"><b>{escape(title)}</b></p>']
    for name, sentences in verdict.sections():
        if name == "Answer":
            parts.append(f'<p style="margin:.3em 0;max-width:60em">{escape(sentences[0])}</p>')
        elif name == "Doubts":
            colour = LOOK if verdict.ok else GRAVE
            parts.append(f'<div style="{BOX.format(colour=colour)}"><b>Doubts</b>{_list(sentences)}</div>')
    parts += [_table(one, verdict) for one in verdict.tables]
    parts += [
        f"<details><summary>{escape(name)}</summary>{_list(sentences)}</details>"
        for name, sentences in verdict.sections()
        if name not in ("Answer", "Doubts")
    ]
    return f'<div style="line-height:1.45">{"".join(parts)}</div>'


def _list(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(one)}</li>" for one in sentences)
    return f'<ul style="margin:.2em 0;max-width:60em">{items}</ul>'


def _table(one: Table, verdict: Verdict) -> str:
    head, body = rows.cells(one, verdict.answer_in(one), verdict.label)
    drawn = [_row(head, "th", "")]
    for cells in body:
        style = f"background:{OWN}22;font-weight:bold" if cells[0] == verdict.label else ""
        drawn.append(_row(cells, "td", style))
    said = escape(f"{one.where}, {rows.caption(one)}")
    caption = f'<caption style="text-align:left;padding:.3em 0">{said}</caption>'
    return (
        '<div style="display:inline-block;vertical-align:top;margin:.3em 2em .6em 0">'
        f'<table style="border-collapse:collapse">{caption}{"".join(drawn)}</table></div>'
    )


def _row(cells: Iterable[str], name: str, style: str) -> str:
    drawn = []
    for place, cell in enumerate(cells):
        side = "right" if place else "left"
        drawn.append(f'<{name} style="{CELL.format(side=side)}">{escape(cell)}</{name}>')
    return f'<tr style="{style}">{"".join(drawn)}</tr>' if style else f"<tr>{''.join(drawn)}</tr>"
