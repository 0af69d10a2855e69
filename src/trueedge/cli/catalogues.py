"""What there is: data sets, methods, protocols."""

from __future__ import annotations

from trueedge.cli import showing


def datasets() -> None:
    """List the data sets, one line each.

    Example: trueedge datasets
    """
    from trueedge import datasets as room

    rows = [
        [card.name, card.family, card.licence]
        + [_count(number) for number in (card.num_nodes, card.num_edges, card.num_features)]
        + [card.title]
        for card in room.cards()
    ]
    columns = ["name", "family", "licence", "nodes", "edges", "features", "what it is"]
    showing.table("Data sets", columns, rows, numbers=(3, 4, 5))


def methods() -> None:
    """List the methods and their settings, one line each.

    Example: trueedge methods
    """
    from trueedge import methods as room

    rows = []
    for kind in room.catalogue():
        settings = ", ".join(f"{key}={value}" for key, value in kind().settings().items())
        rows.append([kind.name, kind.family, kind.title, settings or "–"])
    showing.table("Methods", ["name", "family", "what it is", "settings"], rows)


def protocols() -> None:
    """List the protocols and their options, one line each.

    Example: trueedge protocols
    """
    from trueedge.tasks.protocols import catalogue

    rows = []
    for protocol in catalogue():
        options = ", ".join(f"{key}={value}" for key, value in protocol.options.items())
        rows.append([protocol.name, protocol.headline, protocol.title, options or "–"])
    showing.table("Protocols", ["name", "headline", "what it asks", "options"], rows)


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


COMMANDS = (datasets, methods, protocols)
