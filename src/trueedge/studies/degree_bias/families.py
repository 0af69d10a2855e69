"""Families of networks: several of one source are not independent evidence."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

# Networks that match no pattern are families of their own.
FAMILIES = {
    "facebook": (
        "American75",
        "Amherst41",
        "JohnsHopkins55",
        "Middlebury45",
        "Pepperdine86",
        "Swarthmore42",
        "Wesleyan43",
    ),
    "gnutella": ("p2p-Gnutella*",),
    "co-authors": ("ca-*", "netscience"),
    "citations": ("dblp-cite", "subelj-cora-cora"),
    "food webs": ("*foodweb*",),
}


def family(network: str) -> str:
    """Return the family of a network: its source, or the network itself."""
    for name, patterns in FAMILIES.items():
        if any(fnmatchcase(network, pattern) for pattern in patterns):
            return name
    return network


def count_families(networks: Sequence[str]) -> int:
    """Return how many families some networks are from."""
    return len(set(map(family, networks)))
