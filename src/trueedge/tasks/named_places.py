"""The columns of a file of pairs or triples by their names."""

from __future__ import annotations

from collections.abc import Sequence

from trueedge.files.named_columns import word
from trueedge.graph.column_names import end_pairs
from trueedge.graph.interaction_tables import ITEM, USER
from trueedge.graph.triple_files import column_order
from trueedge.scorers.named_ids import NamedIds


def places_by_name(names: Sequence[str], nouns: Sequence[NamedIds]) -> list[int] | None:
    """Return where the columns of a row are, or None if their names do not say it.

    Args:
        names: the names of the columns of a file.
        nouns: what a row has: two nodes, a user and an item, or a triple.
    """
    if len(names) < len(nouns):
        return None
    if len(nouns) > 2:
        return column_order(names)
    words = [word(name) for name in names]
    wanted = [one.words | one.others for one in (USER, ITEM)]
    if nouns[0].noun == nouns[1].noun:
        # In a bipartite graph, nodes are called after their column: 'user 1'.
        wanted = [frozenset({side}) for side in map(_side, nouns)]
    found = [[place for place, one in enumerate(words) if one and one in known] for known in wanted]
    if all(len(places) == 1 for places in found):
        return [place for (place,) in found]
    ends = end_pairs(list(names)) if nouns[0].noun == nouns[1].noun else []
    return list(ends[0]) if len(ends) == 1 else None


def _side(ids: NamedIds) -> str:
    """Return what the nodes of a side of a bipartite graph are called after, or nothing."""
    first = next((node for names in ids.short for node in names.values()), None)
    return "" if first is None else word(ids.name_of(first).partition(" ")[0])
