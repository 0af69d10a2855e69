"""The card of a task: what is evaluated, how to make it, and what the audit found about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.standings import Standing
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.pages.hidden_steps import Step, steps_after_the_end, steps_to_answer
from trueedge.leaderboard.pages.parts import command, tabs, trail
from trueedge.leaderboard.pages.shell import page, part
from trueedge.metrics.units import plural
from trueedge.report.blocks import badge, in_words, with_code
from trueedge.report.markup import Markup, joined, tag
from trueedge.tasks.base import KINDS

ORDER = ("broken", "look", "ok", "too small")
# A task with more seeds lists the first of them; its card in the folder has all.
SEEDS = 50


def task_page(board: Board, standing: Standing, audit: Mapping[str, Any] | None) -> str:
    """Return the page of a task."""
    task = standing.task
    content = [part("Task", _facts(task)), _using(standing)]
    content += [part("Hidden labels", _hidden(task))] if task.hidden else []
    content += [part("Audit", *_audit(audit))]
    content += [part("Frozen seeds", _seeds(task))] if task.seeds else []
    return page(f"{task.title}: task", content, up="../", trail=trail(board), tabs=tabs("Task"))


def _facts(task: BoardTask) -> Markup:
    kind = KINDS.find(task.kind)
    facts: list[tuple[str, object]] = [
        ("data set", task.dataset),
        ("protocol", task.protocol),
        (
            "options",
            ", ".join(f"{name} = {in_words(one)}" for name, one in task.options.items()) or "none set",
        ),
        ("kind of task", task.kind if kind is None else kind.title),
        ("headline", task.headline),
        _compared(task),
        ("seeds", len(task.seeds)),
        ("version", task.version),
    ]
    facts += [("source", task.source)] if task.source else []
    if task.superseded_by:
        link = tag("a", task.superseded_by, href=f"../{task.superseded_by}/index.html")
        facts.append(("superseded by", link))
    return tag("dl", *(joined([tag("dt", word), tag("dd", what)]) for word, what in facts))


def _compared(task: BoardTask) -> tuple[str, str]:
    """Return what entries are compared on, or why they are not."""
    return ("differences", task.untested) if task.untested else ("compared on the same", plural(task.unit))


def _using(standing: Standing) -> Markup:
    """Say how to make the task; of one with hidden labels, how to submit to it, or how to check it."""
    task = standing.task
    if not task.hidden:
        return part("Make it", *_making(task))
    if task.labels_hidden:
        return part("Submit", _listed(steps_to_answer(task.name)))
    entries = [row.entry.name for row in standing.rows if not row.entry.withdrawn]
    return part("Check it", _listed(steps_after_the_end(task, entries)))


def _listed(steps: Sequence[Step]) -> Markup:
    return tag("ol", *(tag("li", tag("p", told), command(text)) for told, text in steps), class_="steps")


def _making(task: BoardTask) -> list[object]:
    words = ["trueedge", "run", task.dataset, "-p", task.protocol, "-m", "METHOD", "--keep-scores"]
    words += ["--seeds", str(max(task.seeds) + 1)] if len(task.seeds) > 1 else ["--seeds", "1"]
    for name, value in task.options.items():
        words += ["--option", f"{name}={value}"]
    told = "Splits and negatives depend only on the seed: on every machine this evaluates on the same task."
    return [tag("p", told), command(shlex.join(words))]


def _hidden(task: BoardTask) -> Markup:
    rows = [(name.replace("_", " "), in_words(value)) for name, value in sorted(task.hidden.items())]
    return tag("dl", *(joined([tag("dt", word), tag("dd", what, class_="mono")]) for word, what in rows))


def _audit(audit: Mapping[str, Any] | None) -> list[object]:
    if audit is None:
        return [tag("p", "This task has not been audited.")]
    findings = sorted(
        audit["findings"],
        key=lambda one: (
            ORDER.index(one["verdict"]) if one["verdict"] in ORDER else len(ORDER),
            one["check"],
        ),
    )
    wrong = sum(one["verdict"] in ("broken", "look") for one in findings)
    told = (
        f"{wrong} of {len(findings)} checks found something." if wrong else "No check found anything wrong."
    )
    items = [
        tag(
            "li",
            badge(one["verdict"]),
            " ",
            tag("b", one["check"]),
            f" {_told(one['shown'], one['sentence'])}",
            tag("span", with_code(one["advice"]), class_="todo") if one["advice"] else None,
        )
        for one in findings
    ]
    return [tag("p", told), tag("ul", *items, class_="findings")]


def _told(shown: str, sentence: str) -> str:
    """Return what a check found: its value, unless the sentence begins with it, and the sentence."""
    begun = sentence[:1].upper() + sentence[1:]
    return begun if sentence.startswith(shown) else f"({shown}) {begun}"


def _seeds(task: BoardTask) -> Markup:
    lines = [
        # No ordinary seed makes a task whose labels were hidden.
        tag(
            "tr",
            tag("th", "secret" if task.hidden else seed, scope="row"),
            tag("td", one.task, class_="mono"),
        )
        for seed, one in list(task.seeds.items())[:SEEDS]
    ]
    heads = tag("tr", tag("th", "seed", scope="col"), tag("th", "hash of the frozen task", scope="col"))
    body = tag("table", tag("thead", heads), tag("tbody", *lines))
    return tag("div", body, class_="scroll", tabindex=0, role="region", aria_label="Frozen seeds")
