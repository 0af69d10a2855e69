"""The results of a report: a fold for each data set and protocol, and a selector that shows one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trueedge.analysis.slices import Sliced, can_be_sliced
from trueedge.analysis.tables import Table
from trueedge.metrics import format_value
from trueedge.report import leaderboards, panels
from trueedge.report.blocks import folded, notes
from trueedge.report.costs import cost
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.naming import kind_title, method_looks
from trueedge.report.size_limit import Room

# Shares of the room that the results have.
SHARES = {"leaderboards": 0.5, "groups": 0.23, "training": 0.12, "cost": 0.15}
MOST_PAIRS = 120
# On a page of more tables, the numbers of pictures are not listed.
FEW = 6


def section_name(place: int) -> str:
    """Return what the section of a table is linked by."""
    return f"table-{place + 1}"


class Results:
    """The folds of all tables, built one after another while they fit.

    Args:
        tables: all that are on the page.
        groups: groups the test units of a table; None for a page without groups.
        room: in bytes.
    """

    def __init__(self, tables: Sequence[Table], groups: Callable[[Table], Sliced] | None, room: int) -> None:
        self.tables, self.groups = tables, groups
        self.rooms = {name: Room(int(share * room)) for name, share in SHARES.items()}
        self.looks = method_looks(tables)
        self.mixed = len({one.first.kind for one in tables}) > 1
        self.listed = len(tables) <= FEW
        self.most_pairs = max(10, min(MOST_PAIRS, 2_000 // len(tables)))
        self.missing: dict[tuple[str, str], list[str]] = {}
        self.folds = {
            place: made for place, one in enumerate(tables) if (made := self._fold(one, section_name(place)))
        }

    @property
    def names(self) -> Mapping[int, str]:
        """Return what the sections are linked by, by the place of their table."""
        return {place: section_name(place) for place in self.folds}

    @property
    def content(self) -> Markup:
        """Return the selector and the folds."""
        count = len(self.tables)
        said = [
            *self.rooms["leaderboards"].note(count, "leaderboards"),
            *self.rooms["groups"].note(count, "groups of test units"),
            *self.rooms["training"].note(count, "training curves"),
            *self.rooms["cost"].note(count, "tables of time and memory"),
            *panels.without_groups(self.missing, self.tables),
        ]
        chooser = self._chooser() if len(self.folds) > 1 else ""
        return joined([chooser, *self.folds.values(), notes(said)])

    def _chooser(self) -> Markup:
        """The selector, which a script shows: without one, all folds are listed."""
        groups: dict[str, list[Markup]] = {}
        for place in self.folds:
            one = self.tables[place]
            option = tag("option", one.where, value=section_name(place))
            groups.setdefault(one.first.dataset, []).append(option)
        listed = [tag("optgroup", *options, label=dataset) for dataset, options in groups.items()]
        everything = tag("option", f"All {len(self.folds)}, folded", value="")
        select = tag("select", *listed, everything, id="chosen")
        label = tag("label", "Data set and protocol", for_="chosen")
        return tag("div", label, select, class_="chooser", hidden=True)

    def _fold(self, one: Table, name: str) -> Markup:
        board = self.rooms["leaderboards"].take(lambda: self._board(one))
        if not board:
            return Markup("")
        folds = [
            ("Performance by group", self.rooms["groups"].take(lambda: self._groups(one))),
            ("Training", self.rooms["training"].take(lambda: self._training(one))),
            ("Time and memory", self.rooms["cost"].take(lambda: cost(one, self.looks[one.first.dataset]))),
            ("Provenance and hashes", self.rooms["leaderboards"].take(lambda: leaderboards.provenance(one))),
        ]
        best = one.lines[0]
        value = f"{format_value(one.headline, best.value)} {one.headline}"
        told = tag("span", f"{best.label} {value}", class_="minor")
        return tag(
            "details",
            tag("summary", tag("h3", one.where), told),
            tag(
                "div",
                board,
                *(folded(title, made) for title, made in folds if made),
                id=name,
                class_="linked",
            ),
            class_="where",
            open=len(self.tables) == 1,
        )

    def _board(self, one: Table) -> Markup:
        kind = kind_title(one.first.kind) if self.mixed else ""
        compared = leaderboards.pairs(one, self.most_pairs)
        count = 0 if one.compared is None else len(one.compared.pairs)
        hidden = leaderboards.settings(one)
        return joined(
            [
                leaderboards.leaderboard(one, kind),
                folded("Settings", hidden) if hidden else "",
                folded(f"{count:,} pair{'s' if count > 1 else ''} of methods compared", compared)
                if compared
                else "",
            ]
        )

    def _groups(self, one: Table) -> Markup:
        if self.groups is None or not can_be_sliced(one.first.kind):
            return Markup("")
        found = self.groups(one)
        for reason in found.reasons:
            self.missing.setdefault((one.first.dataset, reason), []).append(one.protocol)
        return panels.groups(one, found, self.listed)

    def _training(self, one: Table) -> Markup:
        return panels.training(one, self.looks[one.first.dataset], self.listed)
