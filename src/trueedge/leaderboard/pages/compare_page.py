"""Compare two entries: the difference of each pair with its interval, readable without a script."""

from __future__ import annotations

from itertools import combinations

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.rows import Row, Standing
from trueedge.leaderboard.pages.parts import P_VALUES, difference_cells, explained, heads, tabs, trail
from trueedge.leaderboard.pages.shell import page, part
from trueedge.report.markup import Markup, tag

# The entries whose pairs are listed; the others are compared with their neighbours on their own pages.
MOST = 25


def compare_page(board: Board, standing: Standing) -> str:
    """Return the page that compares the first entries of a task with each other."""
    able = set(standing.compared)
    rows = [row for row in standing.rows if row.entry.name in able][:MOST] if standing.over else []
    if len(rows) < 2:
        listed: list[object] = [tag("p", _nothing(standing))]
    else:
        listed = [_chooser([(row.entry.name, row.entry.card.name) for row in rows]), _table(standing, rows)]
        if len(able) > MOST:
            listed.insert(
                0,
                tag(
                    "p",
                    f"These are the first {MOST}. The page of each entry compares it with its neighbours.",
                ),
            )
    note = tag("p", P_VALUES, class_="quiet") if len(rows) > 1 else None
    content = [part("Differences", explained(standing), note, *listed)]
    return page(
        f"{standing.task.title}: compare", content, up="../", trail=trail(board), tabs=tabs("Compare")
    )


def _nothing(standing: Standing) -> str:
    """Say why no entries are compared."""
    if standing.task.labels_hidden:
        return "Differences would tell about the hidden labels, so none are listed before the season ends."
    if not standing.over:
        return "So no differences are listed."
    return "There are no two entries to compare yet."


def _chooser(names: list[tuple[str, str]]) -> Markup:
    options = [tag("option", title, value=name) for name, title in names]
    boxes = [
        tag("label", f"{word} ", tag("select", tag("option", "any", value=""), *options))
        for word in ("Entry", "and")
    ]
    return tag("div", *boxes, class_="chooser pairs", hidden=True)


def _table(standing: Standing, rows: list[Row]) -> Markup:
    metric = standing.task.headline
    lines = []
    links = {
        one.entry.name: tag("a", one.entry.card.name, href=f"entries/{one.entry.name}.html") for one in rows
    }
    for first, second in combinations(links, 2):
        cells = difference_cells(standing, first, second)
        pair = f'<th scope="row" class="long">{links[first]}</th><td class="long">{links[second]}</td>'
        # Names of folders hold nothing that would have to be escaped.
        lines.append(Markup(f'<tr data-pair="{first} {second}">{pair}{cells}</tr>'))
    names = ("entry", "compared with", f"{metric}: difference", "95 % interval", "p", "")
    body = tag("table", heads(names, numeric=(2, 4)), tag("tbody", *lines))
    return tag("div", body, class_="scroll", tabindex=0, role="region", aria_label="Differences of all pairs")
