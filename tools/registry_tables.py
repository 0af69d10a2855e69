"""What there is, as tables: data sets, families of methods, protocols, metrics, checks and studies."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

from tables import table

from trueedge import datasets, methods, metrics, studies
from trueedge.methods.method import Method
from trueedge.tasks import protocols

DATA = {
    "graph": "a graph",
    "triples": "a knowledge graph",
    "typed": "a typed graph",
    "interactions": "users and items",
}


def datasets_table() -> str:
    rows = [
        [f"`{card.name}`", card.family, *map(count, (card.num_nodes, card.num_edges, card.num_features))]
        + [card.licence, card.title]
        for card in datasets.cards()
    ]
    return table(["data set", "family", "nodes", "edges", "features", "licence", "description"], rows)


def dataset_families_table() -> str:
    families: dict[str, list[str]] = {}
    for card in datasets.cards():
        families.setdefault(card.family, []).append(f"`{card.name}`")
    rows = []
    for family, names in families.items():
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        rows.append([family, str(len(names)), shown])
    return table(["family", "data sets", "names"], rows)


def method_families_table() -> str:
    """Return one line for each family, with the names of its methods."""
    rows = [
        [family, about_family(family).rstrip("."), short_names([kind.name for kind in kinds])]
        for family, kinds in families().items()
    ]
    return table(["family", "what its methods do", "methods"], rows)


def protocols_by_data_table() -> str:
    """Return one line for each kind of data, with its protocols."""
    kinds: dict[str, list[str]] = {}
    for one in protocols.catalogue():
        kinds.setdefault(one.data, []).append(f"`{one.name}`")
    return table(["data", "protocols"], [[DATA[data], ", ".join(names)] for data, names in kinds.items()])


def protocols_table() -> str:
    rows = [[f"`{p.name}`", p.title, f"`{p.headline}`", p.citation] for p in protocols.catalogue()]
    return table(["protocol", "positives and negatives", "headline metric", "paper"], rows)


def options_table() -> str:
    """Return the options of the protocols; protocols that agree on an option share a line."""
    sharing: dict[tuple[str, ...], list[str]] = {}
    for protocol in protocols.catalogue():
        for key, default in protocol.options.items():
            line = (f"`{key}`", f"`{shown(default)}`", protocol.help[key])
            sharing.setdefault(line, []).append(f"`{protocol.name}`")
    rows = [[line[0], ", ".join(names), *line[1:]] for line, names in sharing.items()]
    return table(["option", "protocols", "default", "meaning"], rows)


def metrics_table() -> str:
    rows = [[f"`{m.name}`", m.title, m.formula] for m in metrics.catalogue()]
    return table(["metric", "name", "formula"], rows)


def checks_table() -> str:
    from trueedge.audit import catalogue as checks

    rows = []
    for check in checks():
        # Some advice depends on the task.
        anything = SimpleNamespace(
            task=SimpleNamespace(protocol="", settings={}), without_common_neighbours=""
        )
        advice = check.advice if isinstance(check.advice, str) else check.advice(anything)
        needs = ", ".join(f"{least} {name}" for name, least in check.fewest.items())
        rows.append([check.family, f"`{check.name}`", check.question, check.rule, advice, needs])
    return table(["family", "check", "question", "rule", "what to do", "needs"], rows)


def checks_by_kind_table() -> str:
    """Return how many checks each kind of task has, by family."""
    from trueedge.audit import catalogue as checks
    from trueedge.audit.check import FAMILIES
    from trueedge.tasks.base import KINDS

    rows = []
    for kind in dict.fromkeys(one for check in checks() for one in check.kinds or ()):
        families = [check.family for check in checks(kind)]
        rows.append([KINDS.get(kind).title, str(len(families)), *(str(families.count(f)) for f in FAMILIES)])
    return table(["task", "checks", *FAMILIES], sorted(rows))


def studies_table() -> str:
    rows = [[f"`{s.name}`", s.title, s.citation] for s in studies.catalogue()]
    return table(["study", "content", "paper"], rows)


def families() -> dict[str, list[type[Method]]]:
    """Return the methods of each family, in the order of the registry."""
    found: dict[str, list[type[Method]]] = {}
    for kind in methods.catalogue():
        found.setdefault(kind.family, []).append(kind)
    return found


def about_family(family: str) -> str:
    """Return the first line of a family's docstring."""
    return (importlib.import_module(f"trueedge.methods.{family}").__doc__ or "").splitlines()[0]


def short_names(names: list[str]) -> str:
    """Return names as a list; endings that several methods have, such as ``+focal``, are named once."""
    bases = [name for name in names if name.partition("+")[0] == name]
    endings: dict[str, list[str]] = {}
    for name in names:
        base, plus, ending = name.partition("+")
        if plus and base in bases:
            endings.setdefault(plus + ending, []).append(base)
    shared = [ending for ending, found in endings.items() if len(found) > 1]
    single = [name for name in names if "+" in name and "+" + name.partition("+")[2] not in shared]
    listed = ", ".join(f"`{name}`" for name in [*bases, *single])
    return f"{listed}; with {', '.join(f'`{ending}`' for ending in shared)}" if shared else listed


def count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def shown(value: Any) -> str:
    """Return a value as it is written after ``--set``."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) or '""'
