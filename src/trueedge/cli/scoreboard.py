"""Records as tables, and what was found about their scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.text import Text

from trueedge.cli import showing
from trueedge.results import Record, Row, summarise
from trueedge.results.comparison import MethodComparison, compare
from trueedge.results.record import request_key

TIES = re.compile(r" (valid|test): (\d+)% of the comparisons")
# What might have been others: what an interval holds for, in a user's words.
OVER = {
    "edges": "test edges, with these negatives",
    "edges and seeds": "test edges and seeds, with these negatives",
    "tasks": "splits",
}
# A gap that could only just be found when it is this large is no gap to speak of.
LARGEST_GAP = 0.5
MORE = "more columns in a wider window or with trueedge export"


def show(records: Iterable[Record]) -> None:
    """Print a table for each data set under a protocol, and below it what was found about the scores."""
    for group in _alike(records, "dataset", "protocol", "options", "source"):
        (compared,) = compare(group)
        several = len(compared.methods) > 1 and len(compared.pairs) > 0
        # An AUC depends on its negatives as much as on the positives, and one split does not tell how much.
        told = several and not (compared.metric == "auc" and compared.tasks == 1)
        _table(summarise(group), compared if told else None)
        if told:
            showing.note(_how_sure(compared))
        elif several:
            showing.note("how sure an AUC is, one split does not tell: --seeds 5 draws five")
        for sentence in findings(group):
            showing.note(sentence)


def latest(records: Iterable[Record]) -> list[Record]:
    """Of records of the same request the last, whichever version of the code it was computed with.

    Trials of a search, which know no test part, are left out.
    """
    request = ("dataset", "protocol", "options", "source", "method", "settings", "seed", "task_seed")
    judged = [record for record in records if not record.is_trial]
    return [group[-1] for group in _alike(judged, *request)]


def findings(records: Sequence[Record]) -> list[str]:
    """What was found about the scores of one table: the ties at test in one sentence, all else verbatim."""
    tied, others = [], []
    for group in _alike(records, "method", "settings"):
        label = summarise(group)[0].label
        warnings = dict.fromkeys(warning for record in group for warning in record.warnings)
        found = {warning: TIES.search(warning) for warning in warnings}
        shares = sorted(int(match[2]) for match in found.values() if match and match[1] == "test")
        if shares:
            span = f"{shares[0]}%" if shares[0] == shares[-1] else f"{shares[0]}–{shares[-1]}%"
            tied.append(f"{label} {span}")
        others += [f"{label}: {warning}" for warning, match in found.items() if match is None]
    return [*([f"ties between positives and negatives: {', '.join(tied)}"] if tied else []), *others]


def _alike(records: Iterable[Record], *names: str) -> list[list[Record]]:
    """The records in groups that agree in some of their attributes."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        # Plain, because what was read from the store has lists where a fresh record has tuples.
        plain = {**record.to_dict(), "source": record.provenance.get("source")}
        groups.setdefault(request_key(**{name: plain[name] for name in names}), []).append(record)
    return list(groups.values())


def _how_sure(compared: MethodComparison) -> str:
    """What the intervals and letters of a table mean."""
    gap = f"; half of the pairs can tell a true gap of {100 * compared.smallest_gap:.1f} points"
    over = OVER.get(compared.methods[0].estimate.over, compared.methods[0].estimate.over)
    told = "methods with a common letter are not told apart (paired, Holm)"
    level = f"{100 * compared.level:.0f} % intervals over {over}"
    return f"{level}; {told}{gap if compared.smallest_gap < LARGEST_GAP else ''}"


def _interval(label: str, compared: MethodComparison) -> list[str]:
    """The interval of a method's headline, in percent, and the letters of its tie groups."""
    for one in compared.methods:
        if one.label == label:
            span = f"{100 * one.estimate.low:.1f}–{100 * one.estimate.high:.1f}"
            return [span, "".join(one.letters)]
    return ["–", "–"]


def _table(rows: Sequence[Row], compared: MethodComparison | None) -> None:
    """One data set under one protocol: test metrics in percent, the headline first, the best bold."""
    first = rows[0]
    sure = compared if compared is not None and compared.methods else None
    shown = [name for name in first.means if "." not in name and name != first.headline]
    shown = [first.headline, *shown]
    best = {name: max(row.means.get(name, 0.0) for row in rows) for name in shown}
    lines: list[list[str | Text]] = [
        [
            row.label,
            _percent(row, first.headline, best[first.headline]),
            *(_interval(row.label, sure) if sure else ()),
            *(_percent(row, name, best[name]) for name in shown[1:]),
        ]
        for row in sorted(rows, key=lambda row: -row.means[first.headline])
    ]
    seeds = sorted({row.seeds for row in rows})
    number = "one seed" if seeds == [1] else f"{'–'.join(map(str, seeds))} seeds, mean ± std"
    title = Text.assemble((first.where, "bold"), f"  test part, percent, {number}")
    head = ["method", shown[0], *([f"{100 * sure.level:.0f} %", "group"] if sure else []), *shown[1:]]
    showing.table(title, head, lines, numbers=range(1, len(head)), more=MORE)


def _percent(row: Row, name: str, best: float) -> Text:
    if name not in row.means:
        return Text("–")
    text = f"{100 * row.means[name]:.2f}"
    if row.seeds > 1:
        text += f"±{100 * row.stds[name]:.2f}"
    return Text(text, style="bold" if row.means[name] == best else "")
