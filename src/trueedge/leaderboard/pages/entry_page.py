"""The page of an entry: what it is, what speaks for it, how to verify it, and how it compares."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.rows import Row, Standing, letters_text
from trueedge.leaderboard.pages.hidden_steps import LABELS, verify_with_labels
from trueedge.leaderboard.pages.parts import (
    P_VALUES,
    TIERS,
    command,
    difference_cells,
    ends_text,
    heads,
    memory_text,
    rank_text,
    seconds_text,
    tier_badge,
    trail,
    value_text,
)
from trueedge.leaderboard.pages.shell import page, part
from trueedge.metrics import format_value
from trueedge.report.blocks import definitions, in_words
from trueedge.report.markup import Markup, joined, tag, written

# How many others an entry is compared with on its page: those next to it, and the best.
COMPARED = 6
AGAIN_FROM_SCORES = tag(
    "p", "In a copy of the board's folder, this computes every metric and hash again from the scores:"
)
WITH_RELEASED = tag(
    "p", f"This also compares the task, which the organiser has released as the folder {LABELS}:"
)
AGAIN_FROM_DATA = tag("p", "This also makes the task from its data, and runs the method again:")


def entry_page(board: Board, standing: Standing, row: Row, place: int) -> str:
    """Return the page of the entry at a place of the standing."""
    card, task = row.entry.card, standing.task
    content: list[object] = [_withdrawn(row), part("Result", _result(standing, row))]
    if row.entry.paths and not row.entry.withdrawn and not row.failed:
        content += [part("Verify it", *_verify(standing, row)), part("Certificates", _certificates(row))]
    others = _others(standing, row, place)
    if others:
        content.append(part("Compared with", _comparison(standing, row, others)))
    content.append(part("About", _about(row)))
    lead = joined([tag("p", ", ".join(card.authors), class_="lead")]) if card.authors else ""
    return page(card.name, content, up="../../", trail=trail(board, task, "../../"), lead=lead)


def _withdrawn(row: Row) -> Markup | None:
    gone = row.entry.card.withdrawn
    if gone is None:
        return None
    told = tag("p", tag("b", f"Withdrawn on {gone.date}: "), gone.reason)
    return tag("div", told, class_="box broken")


def _result(standing: Standing, row: Row) -> Markup:
    task = standing.task
    ends = ends_text(task, row)
    facts: list[tuple[str, object]] = [
        (task.headline, value_text(task, row) + (f" (95 % interval {ends})" if ends else "")),
        ("rank", _rank(standing, row)),
        (
            "tier",
            joined([tier_badge(row), " ", "" if row.entry.withdrawn or row.failed else TIERS[row.tier]]),
        ),
    ]
    if row.unranked and not row.entry.withdrawn:
        facts.append(("not ranked", row.unranked))
    for proof in () if row.failed else row.entry.reproductions:
        how = "ran it again" if proof.how == "rerun" else "has a certificate of their own"
        value = format_value(proof.metric, proof.value)
        facts.append(
            ("reproduced", f"{proof.by} {how} on {proof.date}: {proof.metric} {value}, seed {proof.seed}")
        )
    if row.same_scores:
        names = ", ".join(row.same_scores[:3]) + (" …" if len(row.same_scores) > 3 else "")
        facts.append(("same scores as", names))
    facts += [("median time", seconds_text(row)), ("memory", memory_text(row))]
    return definitions(facts)


def _rank(standing: Standing, row: Row) -> Markup:
    untested = standing.task.untested if row.places else ""
    letters = tag("span", letters_text(row), class_="letters")
    return joined([rank_text(row), " ", letters, f"({untested})" if untested else ""])


def _verify(standing: Standing, row: Row) -> list[object]:
    task, first = standing.task, next(iter(row.entry.paths))
    path = f"{row.entry.task}/{row.entry.name}/seed-{first}.json"
    found: list[object] = [AGAIN_FROM_SCORES, command(f"trueedge verify {path}")]
    if task.hidden:
        # What was submitted are scores: there is no method to run again.
        return [*found, WITH_RELEASED, command(verify_with_labels(path))]
    again = f"trueedge verify {path} --task {shlex.quote(task.dataset)} --rerun"
    return [*found, AGAIN_FROM_DATA, command(again)]


def _certificates(row: Row) -> Markup:
    cards = row.entry.certificates
    first = next(iter(cards.values()))
    lines = [
        Markup(
            f'<tr><th scope="row">{seed}</th>'
            f'<td class="n">{format_value(card["headline"], card["metrics"][card["headline"]])}</td>'
            f'<td class="mono" title="{written(card["seal"])}">{written(card["seal"][:16])}…</td>'
            f"<td>{written(card['created'][:10])}</td>"
            f"<td>{written(str(card['versions'].get('trueedge', ''))[:20])}</td></tr>"
        )
        for seed, card in cards.items()
    ]
    names = ("seed", first["headline"], "seal", "created", "trueedge")
    body = tag("table", heads(names, numeric=(1,)), tag("tbody", *lines))
    facts: list[tuple[str, object]] = [
        ("method", first["method"]),
        ("settings", _settings(first["settings"])),
        ("device", first["device"]),
    ]
    box = tag("div", body, class_="scroll", tabindex=0, role="region", aria_label="Certificates")
    return joined([definitions(facts), box])


def _settings(settings: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name} = {in_words(value) or 'none'}" for name, value in settings.items())
    if not text:
        return "none"
    return text if len(text) <= 2000 else text[:2000] + " …"


def _others(standing: Standing, row: Row, place: int) -> Sequence[Row]:
    """Return the best entry and the neighbours of an entry, those that it can be compared with."""
    rows = standing.rows
    first = max(0, min(place - COMPARED // 2, len(rows) - COMPARED - 1))
    near = [0, *range(max(1, first), min(len(rows), first + COMPARED + 1))]
    able = standing.numbers
    if row.entry.name not in able or not standing.over:
        return []
    return [rows[k] for k in near if k != place and rows[k].entry.name in able]


def _comparison(standing: Standing, row: Row, others: Sequence[Row]) -> Markup:
    metric = standing.task.headline
    lines = []
    for other in others:
        link = _entry_link(other.entry.card.name, other.entry.name)
        cells = difference_cells(standing, row.entry.name, other.entry.name)
        lines.append(Markup(f'<tr><th scope="row" class="long">{link}</th>{cells}</tr>'))
    names = ("entry", f"{metric}: difference", "95 % interval", "p", "")
    body = tag("table", heads(names, numeric=(1, 3)), tag("tbody", *lines))
    label = "Differences to other entries"
    box = tag("div", body, class_="scroll", tabindex=0, role="region", aria_label=label)
    return joined([tag("p", P_VALUES, class_="quiet"), box])


@lru_cache(maxsize=64)
def _entry_link(title: str, name: str) -> Markup:
    return tag("a", title, href=f"{name}.html")


def _about(row: Row) -> Markup:
    card, folder = row.entry.card, ("folder", f"{row.entry.task}/{row.entry.name}")
    if row.entry.damage is not None:
        return definitions([("card", "it cannot be read"), folder])
    facts: list[tuple[str, object]] = [("authors", ", ".join(card.authors)), ("licence", card.licence)]
    if card.code:
        commit = f" at {card.commit}" if card.commit else ""
        facts.append(("code", joined([_link(card.code), commit])))
    if card.paper:
        facts.append(("paper", _link(card.paper)))
    facts.append(("other data used", ", ".join(card.extra_data) or "none declared"))
    facts += [("submitted", card.submitted), folder]
    return definitions(facts)


def _link(address: str) -> Markup:
    return tag("a", address, href=address, rel="nofollow noopener ugc")
