"""The ranking of a task: interval bars, letters, tiers, costs; a hundred entries a page."""

from __future__ import annotations

from collections.abc import Iterator

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.rows import Row, Standing, letters_text
from trueedge.leaderboard.pages.parts import (
    authors_text,
    bar,
    breakable,
    ends_text,
    explained,
    has_page,
    heads,
    memory_text,
    rank_text,
    scale_of,
    seconds_text,
    tabs,
    tier_badge,
    trail,
    value_text,
)
from trueedge.leaderboard.pages.shell import page, page_links, part
from trueedge.report.interval_bars import BarScale
from trueedge.report.markup import Markup, joined, tag

IN_A_PAGE = 100


def ranking_pages(board: Board, standing: Standing) -> Iterator[tuple[str, str]]:
    """Yield the name and content of each page of a task's ranking."""
    task, rows = standing.task, standing.rows
    chunks = [rows[start : start + IN_A_PAGE] for start in range(0, len(rows), IN_A_PAGE)] or [()]
    scale = scale_of(rows)
    for number, chunk in enumerate(chunks, 1):
        links = page_links(number, len(chunks), "page-{}.html")
        links = Markup(links.replace("page-1.html", "index.html"))
        listed = ranking_table(standing, chunk, scale) if chunk else tag("p", "There are no entries yet.")
        told = [explained(standing), links, listed, links, _downloads()]
        content = [_successor(standing), part(f"Ranking by {task.headline}", *told)]
        lead = f"{task.dataset} under {task.protocol}: {_counted(standing)}"
        name = "index.html" if number == 1 else f"page-{number}.html"
        yield (
            name,
            page(
                task.title,
                content,
                up="../",
                trail=trail(board),
                tabs=tabs("Ranking" if number == 1 else ""),
                lead=lead,
            ),
        )


def _counted(standing: Standing) -> str:
    """Return how many entries are ranked, of those that are not withdrawn."""
    count, withdrawn = len(standing.entries), len(standing.rows) - len(standing.entries)
    listed = f"{len(standing.ranked)} ranked of {count} {'entry' if count == 1 else 'entries'}"
    return f"{listed}, {withdrawn} withdrawn" if withdrawn else listed


def ranking_table(standing: Standing, rows: tuple[Row, ...], scale: BarScale) -> Markup:
    """Return the table of some entries."""
    task = standing.task
    ends = "95 % interval" if any(row.low is not None for row in rows) else ""
    names = ("entry", "rank", task.headline, "", ends, "tier", "seeds", "submitted", "median time", "memory")
    lines = [_line(standing, row, scale) for row in rows]
    head = heads(names, numeric=(1, 2, 6, 8, 9))
    body = tag("table", head, tag("tbody", *lines), class_="board")
    return tag("div", body, class_="scroll", tabindex=0, role="region", aria_label=f"Ranking of {task.title}")


def _line(standing: Standing, row: Row, scale: BarScale) -> Markup:
    task, card = standing.task, row.entry.card
    address = f"entries/{row.entry.name}.html" if has_page(row) else None
    name = tag("a", breakable(card.name), href=address)
    who = tag("span", authors_text(card), class_="quiet who")
    rank = joined(
        [rank_text(row), tag("span", letters_text(row), class_="letters minor") if row.letters else None]
    )
    reason = tag("span", row.unranked, class_="reason") if row.unranked and not row.entry.withdrawn else None
    return tag(
        "tr",
        tag("th", name, who, scope="row"),
        tag("td", rank, class_="n"),
        tag("td", value_text(task, row), class_="n"),
        tag("td", bar(scale, row)),
        tag("td", ends_text(task, row)),
        tag("td", tier_badge(row), reason),
        tag("td", row.seeds or "–", class_="n"),
        tag("td", card.submitted),
        tag("td", seconds_text(row), class_="n"),
        tag("td", memory_text(row), class_="n"),
        class_=None if row.places else "unranked",
    )


def _successor(standing: Standing) -> Markup | None:
    name = standing.task.superseded_by
    if not name:
        return None
    link = tag("a", name, href=f"../{name}/index.html")
    return tag("div", tag("p", "This task is superseded by ", link, "."), class_="box look")


def _downloads() -> Markup:
    links = [tag("a", name, href=name) for name in ("standing.json", "standing.csv")]
    return tag("p", "Download: ", links[0], ", ", links[1], class_="quiet")
