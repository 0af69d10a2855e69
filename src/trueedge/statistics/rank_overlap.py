"""Rank-biased overlap: the agreement of two rankings, with more weight at the top."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from trueedge.errors import InputError, is_number, must_be

Item = Hashable
Group = list[Item]


def rbo(first: Iterable[object], second: Iterable[object], p: float = 0.5) -> float:
    """Return the extrapolated rank-biased overlap of two rankings, from 0 (nothing shared) to 1 (the same).

    The agreement at depth d, the share of the first d items that both have, has the weight p^(d-1); below the
    end of the lists it is extrapolated. Lists may differ in length and in their items. Tied items form a
    group: the value is then the mean over all orders of both lists' groups, drawn independently. So a list
    with ties has an overlap below 1 with itself.

    Args:
        first: items (hashable), best first; a list, set or frozenset among them is a group of tied items.
        second: the other ranking, of the same form.
        p: between 0 and 1 exclusive; the smaller, the more weight at the top.

    Webber, Moffat and Zobel, A Similarity Measure for Indefinite Rankings, TOIS 2010, Equation 32; groups as
    in Corsi and Urbano, The Treatment of Ties in Rank-Biased Overlap, SIGIR 2024 (their RBO^a).
    """
    if not is_number(p) or not 0 < p < 1:
        raise must_be("p", "rbo", "between 0 and 1, both exclusive", p)
    one, other = _Ranking.check(first, "first"), _Ranking.check(second, "second")
    shared = _overlaps(one, other)
    short, long = sorted((one.size, other.size))
    at_short, at_long = shared[short - 1], shared[long - 1]
    seen = math.fsum(p**depth * overlap / depth for depth, overlap in enumerate(shared, 1))
    # Below its end, the agreement of the shorter list is extrapolated.
    beyond = math.fsum(at_short * (d - short) / (short * d) * p**d for d in range(short + 1, long + 1))
    tail = ((at_long - at_short) / long + at_short / short) * p**long
    return min(1.0, max(0.0, (1 - p) / p * (seen + beyond) + tail))


def rank_groups(scores: Mapping[str, float], higher_is_better: bool = True) -> list[list[str]]:
    """Return names in groups of equal scores, best first, as :func:`rbo` takes them."""
    bad = next((name for name, score in scores.items() if math.isnan(score)), None)
    if bad is not None:
        raise InputError(f"{bad!r} has no place in a ranking: its score is nan")
    groups: dict[float, list[str]] = {}
    for name in sorted(scores):
        groups.setdefault(float(scores[name]), []).append(name)
    return [groups[score] for score in sorted(groups, reverse=higher_is_better)]


@dataclass(frozen=True)
class _Ranking:
    """Groups, best first, and the number of the group each item is in."""

    groups: list[Group]
    place: dict[Item, int]

    @property
    def size(self) -> int:
        return len(self.place)

    @classmethod
    def check(cls, ranking: Iterable[object], which: str) -> _Ranking:
        if isinstance(ranking, (str, bytes)) or not isinstance(ranking, Iterable):
            raise must_be(f"the {which} ranking", "rbo", "a list of items or groups, best first", ranking)
        if isinstance(ranking, (set, frozenset)):
            raise must_be(f"the {which} ranking", "rbo", "in order, and a set has none", ranking)
        groups: list[Group] = []
        place: dict[Item, int] = {}
        for number, entry in enumerate(ranking):
            group = list(entry) if isinstance(entry, (list, set, frozenset)) else [entry]
            if not group:
                raise InputError(f"rbo: group {number} of the {which} ranking is empty")
            for item in group:
                if not isinstance(item, Hashable) or item != item:
                    raise must_be("an item", "rbo", "hashable and equal to itself", item)
                if item in place:
                    raise InputError(f"rbo: the {which} ranking holds {item!r} twice")
                place[item] = number
            groups.append(group)
        if not groups:
            raise InputError(f"rbo: the {which} ranking is empty")
        return cls(groups, place)


@dataclass
class _Front:
    """How far a ranking has been walked: whole groups above, and the group that is open."""

    ranking: _Ranking
    number: int = -1
    above: int = 0
    open: Group = field(default_factory=list)

    def share(self, depth: int) -> float:
        """Return the chance that an item of the open group is among the first ``depth``."""
        return min(1.0, (depth - self.above) / len(self.open)) if self.open else 0.0

    def ends_before(self, depth: int) -> bool:
        """Return whether the open group lies above ``depth``, and another follows."""
        return self.above + len(self.open) < depth and self.number + 1 < len(self.ranking.groups)

    def step(self) -> None:
        self.above += len(self.open)
        self.number += 1
        self.open = self.ranking.groups[self.number]

    def holds(self, items: Group, whole: bool) -> int:
        """Count the items that are in the groups above, or in the open one."""
        places = [self.ranking.place.get(item, len(self.ranking.groups)) for item in items]
        return sum(place < self.number if whole else place == self.number for place in places)


def _overlaps(one: _Ranking, other: _Ranking) -> list[float]:
    """Return the expected number of items among the first d of both, for each d to the longer list's end."""
    fronts = (_Front(one), _Front(other))
    both, crossing = 0, 0
    half = [0, 0]  # items of each list's open group that are above the other's
    found: list[float] = []
    for depth in range(1, max(one.size, other.size) + 1):
        for this, (front, facing) in enumerate((fronts, fronts[::-1])):
            if not front.ends_before(depth):
                continue
            # The open group closes: what it shares with the other list's is above from now on.
            both += half[this]
            half[1 - this] += crossing
            front.step()
            half[this] = facing.holds(front.open, whole=True)
            crossing = facing.holds(front.open, whole=False)
        shares = [front.share(depth) for front in fronts]
        found.append(both + shares[0] * half[0] + shares[1] * half[1] + shares[0] * shares[1] * crossing)
    return found
