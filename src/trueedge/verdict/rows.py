"""The tables of a verdict: each method's headline, its interval, and how far the model is ahead of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueedge import metrics
from trueedge.analysis.tables import Line, Table, how_sure
from trueedge.tasks.protocols.own_graphs import ZERO_ACROSS
from trueedge.verdict.answers import Answer, Comparison, signed

if TYPE_CHECKING:
    from trueedge.verdict.verdict import Verdict

#: Marks a difference that is significant.
CLEAR = "*"
NONE = "–"


def cells(table: Table, answer: Answer | None, model: str) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table.

    The letters of other tables are left out: they are corrected for all pairs of methods, the differences of
    a verdict only for those with the model. So a letter could contradict a difference.

    Args:
        table: the methods under one protocol.
        answer: what was found about the model in this table; None if there is nothing to compare it with.
        model: the model's label.
    """
    sure = table.compared is not None
    compared = {} if answer is None else {one.baseline: one for one in answer.comparisons}
    head = ["method", table.headline, *(["95 %"] if sure else []), *([ahead(model)] if compared else [])]
    rows = []
    for line in table.lines:
        row = [line.label, metrics.format_value(table.headline, line.value)]
        row += [interval(table, line)] if sure else []
        row += [difference(table, compared.get(line.label))] if compared else []
        rows.append(row)
    return head, rows


def caption(table: Table) -> str:
    """Return what the numbers of a table are: their unit, and the number of seeds."""
    unit = "percent, " if metrics.scale(table.headline) == 100 else ""
    return f"{unit}{table.seeds.removesuffix(', mean ± std')}"


def ahead(model: str) -> str:
    """Return the title of the column of differences."""
    return f"{model} minus method"


def interval(table: Table, line: Line) -> str:
    """Return the interval of a method's headline, if there is one."""
    if line.estimate is None:
        return NONE
    digits = 1 if metrics.scale(table.headline) == 100 else None
    ends = (line.estimate.estimate.low, line.estimate.estimate.high)
    return NONE.join(metrics.format_value(table.headline, end, digits) for end in ends)


def difference(table: Table, found: Comparison | None) -> str:
    """Return the model's value minus a baseline's, with its interval, and a star if it is significant."""
    if found is None:
        return ""
    ends = f"[{signed(table.headline, found.low)}, {signed(table.headline, found.high)}]"
    return f"{signed(table.headline, found.difference)} {ends} {CLEAR if found.clear else ' '}"


def remarks(verdict: Verdict) -> list[str]:
    """Return what the columns mean, each remark once."""
    said = dict.fromkeys(
        how_sure(table.compared)[0] for table in verdict.tables if table.compared is not None
    )
    said |= dict.fromkeys(
        remark for table in verdict.tables for remark in table.remarks() if ZERO_ACROSS in remark
    )
    most = max((len(one.comparisons) for one in verdict.answers), default=0)
    if most:
        count = f", corrected for the {most} comparisons under a protocol" if most > 1 else ""
        said[f"{ahead(verdict.label)}: paired differences with 95 % intervals{count}"] = None
        said[f"{CLEAR} significant difference (5 %{', after the same correction' if count else ''})"] = None
    return list(said)
