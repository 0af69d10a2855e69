"""The answer of a report: which method is best where, and which do not differ significantly from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueedge.analysis.tables import Line, Table, too_few
from trueedge.metrics import format_value
from trueedge.report.blocks import MISSING, notes
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.numbers import in_percent

# What fits into a tenth of a page.
MOST_TABLES = 1_000
MOST_NAMED = 3


@dataclass(frozen=True)
class Winner:
    """The best method of a table.

    Attributes:
        line: its line.
        tied: the labels of the methods that do not differ significantly from it; None if there are too few
            seeds to tell.
        count: the number of methods of the table.
        few: whether methods share a letter with it although their intervals lie apart.
    """

    line: Line
    tied: tuple[str, ...] | None
    count: int
    few: bool = False

    @property
    def tells(self) -> bool:
        """Return whether some method is significantly worse than the best."""
        return self.tied is not None and len(self.tied) < self.count - 1

    @property
    def top(self) -> tuple[str, ...]:
        """Return the best method and those that do not differ significantly from it."""
        return (self.line.label, *(self.tied or ()))

    @property
    def words(self) -> str:
        """Return how far it is ahead, in a few words."""
        if self.count == 1:
            return "the only method"
        if self.tied is None:
            return "too few seeds to compare"
        if not self.tied:
            return "ahead of all others" if self.count > 2 else "ahead of the other"
        if not self.tells and self.count > 2:
            return "too few splits to tell" if self.few else "no method stands out"
        more = len(self.tied) - MOST_NAMED
        names = f"{', '.join(self.tied[:MOST_NAMED])}{f' +{more}' if more > 0 else ''}"
        return f"no significant difference from {names}"


def winner(one: Table) -> Winner:
    """Return the best method of a table, and those that share a letter with it."""
    line = one.lines[0]
    sure = one.compared
    if sure is None or not sure.lettered or line.estimate is None:
        return Winner(line, None, len(one.lines))
    letters = set(line.estimate.letters)
    others = [other for other in one.lines[1:] if other.estimate is not None]
    tied = [other for other in others if other.estimate and not letters.isdisjoint(other.estimate.letters)]
    return Winner(line, tuple(other.label for other in tied), len(one.lines), bool(too_few(sure)))


def summary(tables: Sequence[Table]) -> str:
    """Return the answer in a sentence or two."""
    found = [winner(one) for one in tables]
    if len(tables) == 1:
        return _of_one(tables[0], found[0])
    told = [(one, table) for one, table in zip(found, tables, strict=True) if one.tells]
    if not told:
        return f"No method stands out in any of {len(tables)} tables, or there are too few seeds to tell."
    counts: dict[str, int] = {}
    ran: dict[str, int] = {}
    for one, table in told:
        for label in one.top:
            counts[label] = counts.get(label, 0) + 1
        for line in table.lines:
            ran[line.label] = ran.get(line.label, 0) + 1
    left = len(tables) - len(told)
    unsure = f" In {left} of {len(tables)} tables no method stands out, or there are too few seeds to tell."
    unsure = unsure if left else ""
    if len(told) == 1:
        return _of_one(told[0][1], told[0][0]) + unsure
    order = sorted(counts, key=lambda label: (-counts[label], ran[label]))[:MOST_NAMED]
    first, *others = (f"{label} in {counts[label]} of {ran[label]}" for label in order)
    said = f"Best, or not significantly different from the best: {', '.join([f'{first} tables', *others])}."
    clear = sum(not one.tied for one, _ in told)
    said += f" One method is ahead of all others in {clear}." if clear else " None is ahead of all others."
    return said + unsure


def _of_one(one: Table, best: Winner) -> str:
    value = f"{format_value(one.headline, best.line.value)} {one.headline.upper()}"
    where = f"On {one.first.dataset} under {one.protocol}, {best.line.label} is best ({value})"
    return f"{where}: {best.words}."


def matrix(tables: Sequence[Table], names: Mapping[int, str]) -> Markup:
    """Data sets by protocols: the best method of each, and what does not differ significantly from it.

    Args:
        tables: all that are on the page.
        names: what a table's section is linked by, by the table's place; those without one have no link.
    """
    blocks: list[tuple[set[str], dict[str, dict[str, int]]]] = []
    for place, one in enumerate(tables[:MOST_TABLES]):
        # Data sets that share no protocol stand in tables of their own.
        near = [block for block in blocks if one.protocol in block[0] or one.first.dataset in block[1]]
        found: tuple[set[str], dict[str, dict[str, int]]] = (set(), {})
        for block in near:
            found[0].update(block[0])
            for dataset, row in block[1].items():
                found[1].setdefault(dataset, {}).update(row)
            blocks.remove(block)
        found[0].add(one.protocol)
        found[1].setdefault(one.first.dataset, {})[one.protocol] = place
        blocks.append(found)
    drawn = [_block(rows, tables, names) for _, rows in sorted(blocks, key=_first)]
    left = len(tables) - MOST_TABLES
    said = tag(
        "p",
        f"The best method by the headline metric{in_percent(one.headline for one in tables)}. Differences are"
        " tested by a paired t-test, Holm-corrected.",
        class_="quiet",
    )
    more = notes([f"{left:,} more tables are not listed here"] if left > 0 else [])
    return joined([tag("div", *drawn, class_="matrices"), said, more])


def _first(block: tuple[set[str], dict[str, dict[str, int]]]) -> int:
    return min(place for row in block[1].values() for place in row.values())


def _block(
    rows: Mapping[str, Mapping[str, int]], tables: Sequence[Table], names: Mapping[int, str]
) -> Markup:
    places = sorted(place for row in rows.values() for place in row.values())
    protocols = list(dict.fromkeys(tables[place].protocol for place in places))
    # On a phone rows become blocks, which would make the browser forget that this is a table.
    head = [tag("th", name, scope="col", role="columnheader") for name in ("data set", *protocols)]
    body = []
    for dataset, row in rows.items():
        cells = [_cell(tables, row.get(protocol), protocol, names) for protocol in protocols]
        body.append(tag("tr", tag("th", dataset, scope="row", role="rowheader"), *cells, role="row"))
    table = tag(
        "table",
        tag("thead", tag("tr", *head, role="row"), role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
        role="table",
        class_="matrix",
    )
    label = f"the best method by data set and protocol: {', '.join(list(rows)[:MOST_NAMED])}"
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)


def _cell(tables: Sequence[Table], place: int | None, protocol: str, names: Mapping[int, str]) -> Markup:
    if place is None:
        return tag("td", MISSING, role="cell", class_="none", data_protocol=protocol)
    one, best = tables[place], winner(tables[place])
    label = best.line.label
    link = tag("a", label, href=f"#{names[place]}") if place in names else label
    value = f" {format_value(one.headline, best.line.value)} "
    metric = tag("span", one.headline, class_="minor")
    return tag(
        "td",
        tag("span", tag("span", link, class_="best"), value, metric, class_="won"),
        tag("span", best.words, class_="minor words"),
        role="cell",
        data_protocol=protocol,
    )
