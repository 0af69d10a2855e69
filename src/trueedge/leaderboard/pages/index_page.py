"""The first page of a site, which lists the boards, and the page on how to submit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.pages.hidden_steps import (
    Step,
    steps_to_answer,
    takes_certificates,
    takes_scores,
)
from trueedge.leaderboard.pages.parts import TIERS, command, heads
from trueedge.leaderboard.pages.shell import page, part
from trueedge.report.markup import Markup, joined, tag


@dataclass(frozen=True)
class Summary:
    """What the first page says about a task.

    Attributes:
        name: the task's folder.
        title: its title.
        kind: the kind of task, in words.
        headline: its metric.
        entries: the number of entries that are not withdrawn.
        ranked: how many of them are ranked.
        first: the titles and folders of the first of the best entries, which share the first place.
        tied: the number of all entries that share it.
        value: the best value, as it is shown.
        superseded: whether it has a successor.
        untested: why differences cannot be tested; empty if they can.
        hidden: whether its labels are hidden now.
    """

    name: str
    title: str
    kind: str
    headline: str
    entries: int
    ranked: int
    first: tuple[tuple[str, str], ...]
    tied: int
    value: str
    superseded: bool
    untested: str
    hidden: bool


def index_page(board: Board, found: Sequence[Summary]) -> str:
    """Return the first page of a site."""
    current = [one for one in found if not one.superseded]
    older = [one for one in found if one.superseded]
    content: list[object] = []
    for kind in dict.fromkeys(one.kind for one in current):
        content.append(part(kind, _table([one for one in current if one.kind == kind], kind)))
    content += [part("Superseded tasks", _table(older, "Superseded tasks"))] if older else []
    if not found:
        content = [part("Tasks", tag("p", "There are no tasks yet."))]
    content.append(part("How to read it", *_reading(any(one.untested for one in found))))
    lead = tag("p", _lead(found), class_="lead")
    return page(
        board.title, content, up="", tabs=[("Boards", ""), ("How to submit", "submit.html")], lead=lead
    )


def _lead(found: Sequence[Summary]) -> str:
    """Say where the numbers come from: nobody but the judge can compute those on hidden labels."""
    hidden = [one.hidden for one in found]
    if not any(hidden):
        return "Every number here can be recomputed from the scores in the board's folder."
    if all(hidden):
        return "Every number here is the answer of a judge, who alone knows the labels."
    return (
        "Every number on public labels can be recomputed from the scores in the board's folder. "
        "Numbers on hidden labels are the answers of a judge, who alone knows these labels."
    )


def _table(rows: Sequence[Summary], label: str) -> Markup:
    lines = []
    for one in rows:
        best = [tag("a", title, href=f"{one.name}/entries/{entry}.html") for title, entry in one.first]
        more = ""
        if one.tied > len(best):
            others = one.tied - len(best)
            more = f" and all {others} others" if one.tied == one.ranked else f" and {others} more"
        listed = joined([part for link in best for part in (link, ", ")][:-1])
        lines.append(
            tag(
                "tr",
                tag("th", tag("a", one.title, href=f"{one.name}/index.html"), scope="row"),
                tag("td", f"{one.headline} {one.value}" if best else "–"),
                tag("td", listed, more, _shared(one), class_="wide"),
                tag("td", one.ranked, class_="n"),
                tag("td", one.entries, class_="n"),
                tag("td", "hidden" if one.hidden else "public"),
            )
        )
    names = ("task", "best", "first place", "ranked", "entries", "labels")
    body = tag("table", heads(names, numeric=(3, 4)), tag("tbody", *lines), class_="boards")
    return tag("div", body, class_="scroll", tabindex=0, role="region", aria_label=label)


def _shared(one: Summary) -> Markup | None:
    """Say why several entries share the first place."""
    if one.tied < 2:
        return None
    why = one.untested or ("the same value" if one.hidden else "no significant difference")
    return tag("span", why, class_="quiet who")


def _reading(untested: bool) -> list[object]:
    tiers = [
        joined([tag("dt", tag("span", name, class_=f"tier {name}")), tag("dd", told)])
        for name, told in TIERS.items()
    ]
    told = (
        "Two entries are compared on the same test units. A rank is the range of places that significant "
        "differences leave open: ten entries without a significant difference all have the rank "
        "1\u2060–\u206010."
    )
    if untested:
        told += " Where the scores allow no test, all entries share one range too."
    return [tag("p", told), tag("dl", *tiers)]


def submit_page(board: Board) -> str:
    """Return the page that says how to submit to the tasks of a board."""
    tasks = board.tasks()
    judged = [one.name for one in tasks if takes_scores(one)]
    content: list[object] = []
    if not tasks or any(takes_certificates(one) for one in tasks):
        content += [part("Steps", _numbered(_certificate_steps())), part("Rules", _rules())]
    if judged:
        content.append(part("Hidden labels", *_answering(judged)))
    if not content:
        content = [part("Steps", tag("p", "No task of this board takes submissions now."))]
    tabs = [("Boards", "index.html"), ("How to submit", "")]
    return page("How to submit", content, up="", trail=[(board.title, "index.html")], tabs=tabs)


def _numbered(steps: Sequence[Step]) -> Markup:
    return tag("ol", *(tag("li", tag("p", told), command(text)) for told, text in steps), class_="steps")


def _answering(names: Sequence[str]) -> list[object]:
    """Say how to submit to tasks whose labels are hidden."""
    listed = joined([one for name in names for one in (tag("a", name, href=f"{name}/card.html"), ", ")][:-1])
    told = tag("p", "Nobody but a judge knows the labels of ", listed, ". An entry is one file of scores.")
    rule = (
        "The value of an entry is shown if it is a real gain over the best of the task. The values of all "
        "entries are shown when the season ends."
    )
    return [told, _numbered(steps_to_answer(names[0] if len(names) == 1 else "TASK")), tag("p", rule)]


def _certificate_steps() -> list[Step]:
    return [
        (
            "Run your method on the task with its seeds, and keep the scores. The page of each "
            "task has the command.",
            "trueedge run cora -p heart -m mine.py:Mine --seeds 3 --keep-scores",
        ),
        (
            "Certify each seed.",
            "trueedge certify --dataset cora -p heart -m mine.py:Mine --seed 0 -o mine-0.json",
        ),
        (
            "Add the certificates to a copy of the board's folder, with your names and an SPDX "
            "licence. Declare data "
            "that you used besides the training part with --extra-data.",
            'trueedge leaderboard add mine-*.json --board DIR --name Mine --author "Your Name" --licence MIT '
            "--code https://example.org/mine --commit 0123abc",
        ),
        ("Check the folder, and propose the change.", "trueedge leaderboard check DIR"),
        (
            "Somebody else reproduces it: then it is ranked.",
            'trueedge leaderboard reproduce DIR cora-heart mine --by "Another Name"',
        ),
    ]


def _rules() -> Markup:
    rules = [
        "One entry is one method with one choice of settings, and has a certificate for each "
        "seed of the task.",
        "Settings are chosen on the validation part. The test part is for the certificate alone.",
        "A certificate is no signature: on public labels a perfect one can be forged. So an "
        "entry is ranked only after "
        "another party has reproduced it, or if it was judged on hidden labels.",
        "A withdrawn entry keeps its card, with the reason.",
    ]
    return tag("ul", *(tag("li", one) for one in rules), class_="steps")
