"""List data sets, methods and protocols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueedge.cli import completing, showing

if TYPE_CHECKING:
    from trueedge.datasets import Dataset
    from trueedge.methods import Method

DatasetName = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]", help="Show details of this data set.", autocompletion=completing.dataset
    ),
]
MethodName = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="Show details of this method, or list this family.",
        autocompletion=completing.method,
    ),
]
ProtocolName = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]", help="Show details of this protocol.", autocompletion=completing.protocol
    ),
]


def datasets(name: DatasetName = None) -> None:
    """List data sets. Give a name to see its details.

    Example:
        trueedge datasets
        trueedge datasets barabasi-albert
    """
    from trueedge import datasets as room

    if name is not None:
        _dataset(room.get(name))
        return
    rows = [
        [card.name, card.family]
        + [_count(number) for number in (card.num_nodes, card.num_edges, card.num_features)]
        + [card.title, card.licence]
        for card in room.cards()
    ]
    columns = ["name", "family", "nodes", "edges", "features", "what it is", "licence"]
    more = "'trueedge datasets NAME' shows the details"
    showing.table("Data sets", columns, rows, numbers=(2, 3, 4), texts=(5, 6), more=more)


def _dataset(card: Dataset) -> None:
    lines = [("name", card.name), ("family", card.family), ("what it is", card.title)]
    counts = {"nodes": card.num_nodes, "edges": card.num_edges, "features": card.num_features}
    if card.data == "typed":
        counts = {"node types": card.num_types, "relations": card.num_relations, **counts}
    elif card.data == "interactions":
        counts = {"users": card.num_users, "items": card.num_items, "interactions": card.num_edges}
        if card.num_triples != 0:
            counts |= {"entities": card.num_entities, "relations": card.num_relations}
            counts |= {"triples": card.num_triples}
    elif card.data != "graph":
        counts = {"entities": card.num_nodes, "relations": card.num_relations, "triples": card.num_edges}
    lines += [(word, f"{number:,}") for word, number in counts.items() if number is not None]
    lines += [("licence", card.licence), ("source", card.source), ("citation", card.citation)]
    lines.append(("protocol", f"{card.protocol} by default"))
    if card.configure is not None:
        lines.append(("settings", f"after a colon, as in {card.configure('').name} (the defaults)"))
    showing.card([*lines, *_files(card)])


def _files(card: Dataset) -> list[tuple[str, str]]:
    """Return where a data set's files are, or how to get them."""
    from trueedge.datasets import verify
    from trueedge.datasets.downloads import UNVERIFIED_VARIABLE
    from trueedge.datasets.sources import DATA_VARIABLE, cache_folder

    places: dict[tuple[str, str], list[str]] = {}
    for file, check in zip(card.all_files, verify(card.name), strict=True):
        if check.found is not None:
            fate = "found, but its checksum differs" if check.state == "differs" else "found"
        elif file.url is not None:
            checked = "" if file.sha256 else f", unverified, if {UNVERIFIED_VARIABLE}=1"
            fate = f"will be downloaded from {file.url}{checked}"
        else:
            fate = f"missing: {file.note or 'it cannot be downloaded'}"
        path = check.found or Path(file.path)
        places.setdefault((str(path.parent), fate), []).append(path.name)
    lines = [("", f"{folder}: {', '.join(names)} ({fate})") for (folder, fate), names in places.items()]
    if lines:
        lines.insert(0, ("files", f"searched in ${DATA_VARIABLE}, then in {cache_folder()}"))
    if not card.files:
        lines.insert(0, ("graph", "generated" if card.source == "generated" else "included in trueedge"))
    return lines


def methods(name: MethodName = None) -> None:
    """List methods and their settings. Give a name to see its details, or a family to list its methods.

    Example:
        trueedge methods
        trueedge methods kg
        trueedge methods katz
    """
    from trueedge import methods as room

    kinds = [kind for kind in room.catalogue() if name in (None, kind.family)]
    if not kinds and name is not None:
        kind = room.get(name)
        lines = [("name", kind.name), ("family", kind.family), ("what it is", kind.title)]
        showing.card([*lines, ("needs", _needs(kind)), ("citation", kind.citation)])
        types = {field.name: str(field.type).partition(" ")[0] for field in fields(kind)}
        words = {"bool": "true or false", "str": "text"}
        helps = {
            key: f"{limits.help} ({words.get(types[key], limits) if not limits.choices else limits})"
            for key, limits in kind.space().items()
        }
        _settings("Settings, for --set", kind().settings(), helps)
        return
    rows = [[kind.name, kind.family, kind.title, _listed(kind().settings())] for kind in kinds]
    more = "'trueedge methods NAME' shows the details"
    showing.table("Methods", ["name", "family", "what it is", "settings"], rows, texts=(2, 3), more=more)


def _needs(kind: type[Method]) -> str:
    """Return what a method learns from."""
    from trueedge.methods.method import NOUNS

    data = " or ".join("the graph" if one == "graph" else NOUNS[one] for one in kind.takes)
    features = " and node features" if kind.needs_features else ""
    about = {"needed": " and a knowledge graph", "used": " and, if there is one, a knowledge graph"}
    return data + features + about.get(kind.knowledge, "")


def protocols(name: ProtocolName = None) -> None:
    """List protocols and their options. Give a name to see its details.

    Example:
        trueedge protocols
        trueedge protocols heart
    """
    from trueedge.tasks.protocols import catalogue, get

    if name is not None:
        one = get(name)
        lines = [("name", one.name), ("what it is", one.title), ("headline", one.headline)]
        showing.card([*lines, ("citation", one.citation)])
        _settings("Options, for --option", one.options, one.help)
        return
    rows = [[one.name, one.headline, one.title, _listed(one.options)] for one in catalogue()]
    more = "'trueedge protocols NAME' shows the details"
    showing.table("Protocols", ["name", "headline", "what it is", "options"], rows, texts=(2, 3), more=more)


def _settings(title: str, values: Mapping[str, Any], helps: Mapping[str, str]) -> None:
    if values:
        lines = [(f"  {_setting(key, value)}", helps.get(key, "")) for key, value in values.items()]
        showing.card([(title, ""), *lines])


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(_setting(key, value) for key, value in values.items()) or "–"


def _setting(key: str, value: object) -> str:
    """Return a setting and its default; None is filled in for the data set."""
    return key if value is None else f"{key}={value}"


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


COMMANDS = (datasets, methods, protocols)
