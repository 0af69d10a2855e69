"""What the names of columns in an edge list mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Names of the two ends of an edge. Most of them also occur with "id", "node" and the like around them.
ENDS = (
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("source", "sink"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("src", "target"),
    ("from", "to"),
    ("u", "v"),
    ("head", "tail"),
    ("subject", "object"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("citing", "cited"),
    ("parent", "child"),
    ("ego", "alter"),
    ("left", "right"),
    ("buyer", "seller"),
    ("caller", "callee"),
    ("origin", "destination"),
    ("user", "item"),
    ("user", "product"),
    ("user", "movie"),
    ("user", "book"),
    ("user", "artist"),
    ("user", "track"),
    ("user", "business"),
    ("user", "friend"),
    ("customer", "product"),
    ("customer", "item"),
    ("reviewer", "asin"),
    ("author", "paper"),
)
# These may also name other things, so they count only if no other column may hold ids.
WEAK_ENDS = (
    ("start", "end"),
    ("begin", "end"),
    ("first", "second"),
    ("a", "b"),
    ("i", "j"),
    ("x", "y"),
    ("s", "t"),
    ("s", "o"),
)
AROUND = ("{}", "{}id", "{}ids", "{}node", "{}nodeid", "node{}", "nodeid{}", "{}vertex", "{}name", "id{}")
# The two ends as a word and a mark: node1 and node2, protein_A and protein_B.
MARKED = re.compile(
    r"(?P<stem>.*?)[ _.\-]?(?P<mark>[012])"
    r"|(?P<word>.+?)[ _.\-](?P<letter>[A-Za-z])"
    r"|(?P<low>.*[a-z])(?P<high>[AB])"
)
MARKS = {("1", "2"), ("0", "1"), ("a", "b"), ("x", "y"), ("i", "j"), ("u", "v")}

WEIGHTS = frozenset(
    {"weight", "weights", "w", "edgeweight", "wt", "strength", "value", "val", "count", "counts", "cnt", "n"}
    | {"frequency", "freq", "rating", "ratings", "stars", "score", "similarity", "amount", "capacity", "cost"}
    | {"distance", "probability", "prob", "confidence", "combinedscore", "playcount", "quantity", "volume"}
)
TIMES = frozenset(
    {
        "time",
        "times",
        "t",
        "timestamp",
        "timestamps",
        "ts",
        "date",
        "datetime",
        "year",
        "month",
        "day",
        "unixtime",
    }
    | {"unixts", "epoch", "createdat", "created", "when", "eventtime", "starttime", "since", "unixreviewtime"}
    | {"timeid", "edgetime"}
)
# The number of a row or of an edge, which is no end of it.
ROW_NUMBERS = frozenset(
    {"", "unnamed0", "index", "idx", "id", "row", "rowid", "rownumber", "edge", "edgeid", "eid", "no", "nr"}
)
# What kind of edge it is.
KINDS = frozenset(
    {
        "relation",
        "rel",
        "type",
        "edgetype",
        "label",
        "labels",
        "kind",
        "predicate",
        "category",
        "sign",
        "p",
        "r",
    }
    | {"note", "notes", "comment", "comments", "description", "title", "text", "review", "attributes", "attr"}
)


def plain_name(name: str) -> str:
    """Return the letters and digits of a name in lower case: ``From Node-ID`` is ``fromnodeid``."""
    return re.sub("[^0-9a-z]", "", name.casefold())


def is_attribute(name: str) -> bool:
    """Return whether a name is a usual one of a weight, a time, a row number or a kind of edge."""
    return plain_name(name) in WEIGHTS | TIMES | ROW_NUMBERS | KINDS


def is_id(name: str) -> bool:
    """Return whether a name says that the column holds ids: ``movieId``, ``user_key``."""
    words = [word.casefold() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)]
    ending = plain_name(name).endswith(("id", "ids", "key"))
    return not is_attribute(name) and (ending or not {"node", "vertex"}.isdisjoint(words))


def end_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of columns whose names are those of the two ends of an edge."""
    return list(dict.fromkeys([*_listed(names, ENDS), *_marked(names)]))


def weak_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of columns whose names may be those of the two ends, or something else."""
    return list(dict.fromkeys(_listed(names, WEAK_ENDS)))


def _listed(names: Sequence[str], known: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    place = {plain_name(name): column for column, name in enumerate(names)}
    for first, second in known:
        for form in AROUND:
            ends = place.get(form.format(first)), place.get(form.format(second))
            if ends[0] is not None and ends[1] is not None:
                yield ends[0], ends[1]


def _marked(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    place: dict[tuple[str, str], int] = {}
    for column, name in enumerate(names):
        match = MARKED.fullmatch(name.strip())
        if match is not None:
            stem = match["stem"] or match["word"] or match["low"] or ""
            mark = match["mark"] or match["letter"] or match["high"]
            if not is_attribute(stem) or plain_name(stem) in ("id", "edge", ""):
                place[plain_name(stem), mark.casefold()] = column
    for (stem, mark), column in place.items():
        for first, second in MARKS:
            if mark == first and stem and (stem, second) in place:
                yield column, place[stem, second]
