"""Random orders and draws that nobody can repeat without a secret key."""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

KEY_BYTES = 32


def new_key() -> bytes:
    """Return a new secret key of 256 bits."""
    return secrets.token_bytes(KEY_BYTES)


def keyed_numbers(key: bytes, purpose: str, count: int) -> NDArray[np.uint64]:
    """Return random numbers that depend on a key and a purpose alone, uint64 (count,).

    They are the output of SHAKE-256, so knowing some of them says nothing about the others or the key.

    Args:
        key: the secret key.
        purpose: what the numbers are for; other purposes have unrelated numbers.
        count: how many there are.
    """
    stream = hashlib.shake_256(len(key).to_bytes(8, "little") + key + purpose.encode())
    return np.frombuffer(stream.digest(8 * count), dtype="<u8").astype(np.uint64)


def keyed_order(key: bytes, purpose: str, count: int) -> NDArray[np.int64]:
    """Return a secret permutation of 0, …, count - 1, int64 (count,)."""
    return np.argsort(keyed_numbers(key, purpose, count), kind="stable").astype(np.int64)


def keyed_share(key: bytes, purpose: str, count: int, chosen: int) -> NDArray[np.bool_]:
    """Return a secret mask of ``count`` units of which exactly ``chosen`` are true, bool (count,)."""
    mask = np.zeros(count, dtype=np.bool_)
    mask[keyed_order(key, purpose, count)[:chosen]] = True
    return mask
