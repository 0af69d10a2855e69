"""Tokens of teams: 256 random bits, shown once and kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import Engine, insert, select, update

from trueedge.errors import InputError
from trueedge.leaderboard.board.text_fields import text_field
from trueedge.leaderboard.server.database import TOKENS, now, reading, writing

PREFIX = "te_"
BYTES = 32
LONGEST = 200


@dataclass(frozen=True)
class TokenRow:
    """What is known of a token.

    Attributes:
        team: whose it is.
        start: the beginning of its hash, which tells tokens of a team apart.
        created: when it was made.
        revoked: when it was revoked, or None.
    """

    team: str
    start: str
    created: float
    revoked: float | None


def add_token(engine: Engine, team: str) -> str:
    """Approve a team, and return a new token of it; nobody can read it again."""
    name = _name(team)
    token = PREFIX + secrets.token_urlsafe(BYTES)
    with writing(engine) as connection:
        connection.execute(insert(TOKENS).values(hash=_hash(token), team=name, created=now()))
    return token


def revoke_tokens(engine: Engine, team: str) -> int:
    """Revoke all tokens of a team, from now on; return how many there were."""
    name = _name(team)
    with writing(engine) as connection:
        chosen = (TOKENS.c.team == name) & TOKENS.c.revoked.is_(None)
        count = connection.execute(update(TOKENS).where(chosen).values(revoked=now())).rowcount
    if not count:
        raise InputError(f"{name!r} has no token that could be revoked")
    return count


def list_tokens(engine: Engine) -> list[TokenRow]:
    """Return all tokens, by team and age."""
    with reading(engine) as connection:
        rows = connection.execute(select(TOKENS).order_by(TOKENS.c.team, TOKENS.c.created)).all()
    return [TokenRow(row.team, row.hash[:8], row.created, row.revoked) for row in rows]


def team_of(engine: Engine, token: str) -> str | None:
    """Return the team of a token; None for an unknown or revoked one."""
    if len(token) > LONGEST:
        return None
    asked = _hash(token)
    with reading(engine) as connection:
        row = connection.execute(select(TOKENS).where(TOKENS.c.hash == asked)).first()
    # The index already compared hashes, which nobody can choose; this compares without a hint by time.
    if row is None or not hmac.compare_digest(row.hash, asked) or row.revoked is not None:
        return None
    return str(row.team)


def _name(team: str) -> str:
    return text_field(team, "the name of a team", 80)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
