"""The card of an entry, ``entry.toml``: who made it, from what code, under which licence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from trueedge.errors import InputError, unknown
from trueedge.leaderboard.board.person_names import person_field
from trueedge.leaderboard.board.text_fields import (
    LONGEST_NAME,
    address_field,
    commit_field,
    date_field,
    licence_field,
    same_name,
    text_field,
)
from trueedge.leaderboard.board.toml_files import read_toml, toml_text

FILE = "entry.toml"
MOST_AUTHORS, MOST_SOURCES = 50, 20


@dataclass(frozen=True, kw_only=True)
class Withdrawal:
    """Why and when an entry was withdrawn."""

    reason: str
    date: str


@dataclass(frozen=True, kw_only=True)
class EntryCard:
    """What an entry says about itself; every field is checked when it is made.

    Attributes:
        name: its title on the board.
        authors: who made it, or the name of a team.
        licence: an SPDX identifier, such as ``MIT``: that of the entry's scores and text.
        code: the https address of the code; empty if it is not public.
        commit: the hash of the commit that was run.
        paper: the https address of a paper.
        extra_data: what the method was trained on beside the task's training part; empty if nothing.
        submitted: the day, such as ``2026-11-17``; empty until it is added to a board.
        withdrawn: why and when it was withdrawn, or None.
    """

    name: str
    authors: tuple[str, ...]
    licence: str
    code: str = ""
    commit: str = ""
    paper: str = ""
    extra_data: tuple[str, ...] = ()
    submitted: str = ""
    withdrawn: Withdrawal | None = None

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "name": text_field(self.name, "name", LONGEST_NAME),
            "authors": _list(self.authors, "authors", MOST_AUTHORS, person_field),
            "licence": licence_field(self.licence),
            "code": address_field(self.code, "code") if self.code else "",
            "commit": commit_field(self.commit) if self.commit else "",
            "paper": address_field(self.paper, "paper") if self.paper else "",
            "extra_data": _list(self.extra_data, "extra_data", MOST_SOURCES, text_field),
            "submitted": date_field(self.submitted, "submitted") if self.submitted else "",
        }
        if not checked["authors"]:
            raise InputError("authors is empty: name at least one author or team")
        for place, name in enumerate(checked["authors"]):
            if any(same_name(name, one) for one in checked["authors"][:place]):
                raise InputError(f"authors has {name} twice: name each author once")
        if self.commit and not self.code:
            raise InputError("commit is given without code: add the address of the code")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the card of the fields of a TOML or JSON file; an unknown or missing field is an error."""
        known = cls.__dataclass_fields__
        for name in values:
            if name not in known:
                raise unknown("field of an entry's card", name, list(known))
        for name in ("name", "authors", "licence"):
            if name not in values:
                hint = ": give an SPDX identifier, such as MIT" if name == "licence" else ""
                raise InputError(f"{name} is missing{hint}")
        given = dict(values)
        withdrawn = given.pop("withdrawn", None)
        return cls(**given, withdrawn=None if withdrawn is None else _withdrawal(withdrawn))

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a card; errors name the file."""
        try:
            return cls.from_dict(read_toml(Path(path)))
        except InputError as error:
            raise error if str(path) in str(error) else InputError(f"{path}: {error}") from None

    @classmethod
    def unreadable(cls, name: str) -> Self:
        """Return what stands in for a card that cannot be read: a name, and nobody who made it.

        Args:
            name: the name of the entry's folder.
        """
        made = object.__new__(cls)
        given = {"name": name, "authors": (), "licence": ""}
        for one in fields(cls):
            object.__setattr__(made, one.name, given.get(one.name, one.default))
        return made

    def is_author(self, name: str) -> bool:
        """Return whether somebody is one of the authors."""
        return any(same_name(name, one) for one in self.authors)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as plain values."""
        given: dict[str, Any] = {
            one.name: getattr(self, one.name) for one in fields(self) if one.name != "withdrawn"
        }
        found = {
            name: list(value) if isinstance(value, tuple) else value for name, value in given.items() if value
        }
        if self.withdrawn is not None:
            found["withdrawn"] = {"reason": self.withdrawn.reason, "date": self.withdrawn.date}
        return found

    def to_toml(self) -> str:
        """Return the text of ``entry.toml``."""
        return toml_text(self.to_dict())

    def withdraw(self, reason: str, date: str) -> Self:
        """Return the card of a withdrawn entry."""
        return replace(self, withdrawn=_withdrawal({"reason": reason, "date": date}))


def _list(
    values: object, field: str, most: int, checked: Callable[[object, str, int], str]
) -> tuple[str, ...]:
    if not isinstance(values, (list, tuple)):
        raise InputError(f"{field} must be a list of texts, got {type(values).__name__}")
    if len(values) > most:
        raise InputError(f"{field} has {len(values)} entries; {most} are allowed")
    return tuple(checked(one, f"{field}, number {place}", 200) for place, one in enumerate(values, 1))


def _withdrawal(values: object) -> Withdrawal:
    if not isinstance(values, Mapping) or set(values) != {"reason", "date"}:
        raise InputError("withdrawn must have a reason and a date")
    return Withdrawal(
        reason=text_field(values["reason"], "the reason of the withdrawal"),
        date=date_field(values["date"], "the date of the withdrawal"),
    )
