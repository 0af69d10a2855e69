"""The methods of each family with their settings, and the settings that papers chose, as tables."""

from __future__ import annotations

import csv
from importlib.resources import files
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from registry_tables import about_family, families, shown
from tables import table

from trueedge import methods
from trueedge.methods.method import Method, Range
from trueedge.methods.published_settings import ANY, PAPERS
from trueedge.tasks import protocols

if TYPE_CHECKING:
    from trueedge.tasks import Task


def methods_table() -> str:
    """Return a section for each family: its methods, and their settings."""
    sections = []
    for family, kinds in families().items():
        rows = [[f"`{kind.name}`", kind.title, kind.citation] for kind in kinds]
        sections.append(
            f"### {family}\n\n{about_family(family)}\n\n{table(['method', 'name', 'paper'], rows)}"
        )
        settings = settings_table(kinds)
        if settings:
            sections.append(f"Settings:\n\n{settings}")
    return "\n\n".join(sections)


def settings_table(kinds: list[type[Method]]) -> str:
    """Return the settings of some methods; methods that agree on a setting share a line."""
    sharing: dict[tuple[str, ...], list[str]] = {}
    for kind in kinds:
        defaults = filled(kind, "", "")
        for key, limits in kind.space().items():
            example = defaults[key] if limits.kind is None else limits.kind()
            line = (f"`{key}`", f"`{shown(defaults[key])}`", allowed(limits, example), about_setting(limits))
            sharing.setdefault(line, []).append(f"`{kind.name}`")
    rows = [
        [line[0], "all" if len(names) == len(kinds) > 1 else ", ".join(names), *line[1:]]
        for line, names in sorted(sharing.items(), key=lambda item: -len(item[1]))
    ]
    return table(["setting", "methods", "default", "allowed", "meaning"], rows) if rows else ""


def published_settings_table() -> str:
    """Return, for each trained method, its settings on every data set that a paper chose settings for."""
    text = (files("trueedge.methods") / "published_settings.csv").read_text()
    chosen = dict.fromkeys(
        (row["paper"], row["dataset"], row["method"]) for row in csv.DictReader(text.splitlines())
    )
    papers: dict[str, list[str]] = {}
    for protocol, paper in PAPERS.items():
        papers.setdefault(paper, []).append(protocol)
    protocols_of = [[paper, ", ".join(f"`{name}`" for name in names)] for paper, names in papers.items()]
    sections = [table(["evaluation setting", "protocols"], protocols_of)]
    for kind in methods.catalogue():
        default = filled(kind, "", "")
        if default == kind().settings():
            continue  # Nothing is left open, so no paper fills anything in.
        rows = {("default", "any"): default}
        for paper, (protocol, *_) in papers.items():
            if not set(protocols.get(protocol).takes) & set(kind.takes):
                continue  # A method of that name for other data.
            named = [
                dataset
                for its, dataset, method in chosen
                if its == paper and dataset != ANY and method in (kind.name, ANY)
            ]
            for dataset in ["", *dict.fromkeys(named)]:
                settings = filled(kind, protocol, dataset)
                if dataset or settings != default:
                    rows[paper, dataset or ("any other" if named else "any")] = settings
        differing = [key for key in default if len({row[key] for row in rows.values()}) > 1]
        lines = [[*place, *(shown(row[key]) for key in differing)] for place, row in rows.items()]
        made = table(["evaluation setting", "data set", *(f"`{key}`" for key in differing)], lines)
        sections.append(f"### {kind.name}\n\n{made}")
    return "\n\n".join(sections)


def filled(kind: type[Method], protocol: str, dataset: str) -> dict[str, Any]:
    """Return the settings a method has on a data set under a protocol, none of them left open."""
    # Only these decide which published settings apply.
    kind_of_task = protocols.get(protocol).kind if protocol else ""
    task = SimpleNamespace(protocol=protocol, dataset=dataset, kind=kind_of_task, graph=None)
    return kind().for_task(cast("Task", task)).settings()


def allowed(limits: Range, example: Any) -> str:
    """Return the values a setting may have, in words."""

    def bound(value: float) -> str:
        return f"{value:,}" if isinstance(example, int) else f"{value:g}"

    if limits.choices is not None:
        return ", ".join(f"`{shown(choice)}`" for choice in limits.choices)
    if isinstance(example, bool):
        return "`true`, `false`"
    if limits.low is not None and limits.high is not None:
        return f"{bound(limits.low)} to {bound(limits.high)}"
    if limits.low is not None:
        return f"{bound(limits.low)} or more"
    if limits.high is not None:
        return f"{bound(limits.high)} or less"
    return "text" if isinstance(example, str) else "any number"


def about_setting(limits: Range) -> str:
    """Return the help of a setting; that its default depends on the data set is said once for the page."""
    return limits.help.partition("; by default")[0]
