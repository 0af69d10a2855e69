"""Random numbers that depend on a seed and a purpose, and on nothing else.

An ordinary seed is a small number that anyone can try. A secret seed is made of a key of 256 bits, and all of
them reach each stream.
"""

from __future__ import annotations

import hashlib

import numpy as np

from trueedge.errors import InputError, whole_number

SECRET_BITS = 256
_FIRST_SECRET = 1 << SECRET_BITS
_PHILOX_KEY, _PHILOX_COUNTER = 16, 32


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A generator for one purpose: the same seed gives unrelated streams to unrelated purposes.

    Args:
        seed: the user's seed, 0 or more; or a secret seed.
        purpose: what the numbers are for, e.g. ``"split", "ratio"``.
    """
    if not is_secret(seed):
        return np.random.Generator(np.random.PCG64(derive(seed, *purpose)))
    # The state of PCG64 can be computed from its words, and its seed here has 64 bits. Philox is a cipher of
    # a counter: its key and the place where the counter begins are both secret.
    start = _digest(seed, purpose, _PHILOX_KEY + _PHILOX_COUNTER)
    key, counter = start[:_PHILOX_KEY], start[_PHILOX_KEY:]
    return np.random.Generator(
        np.random.Philox(key=int.from_bytes(key, "little"), counter=int.from_bytes(counter, "little"))
    )


def derive(seed: int, *purpose: str | int) -> int:
    """A 64-bit seed for one purpose, for code that draws its own random numbers."""
    return int.from_bytes(_digest(seed, purpose, 8), "little")


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A seed for one purpose, for functions that take a seed: a secret seed stays one, with all its bits."""
    if not is_secret(seed):
        return derive(seed, *purpose)
    return _FIRST_SECRET | int.from_bytes(_digest(seed, purpose, SECRET_BITS // 8), "little")


def secret_seed(key: bytes) -> int:
    """The seed of a secret key: nobody can try all of them.

    Args:
        key: 32 random bytes.
    """
    if len(key) != SECRET_BITS // 8:
        raise InputError(f"a secret key has {SECRET_BITS // 8} bytes, got {len(key)}")
    # Hashed: a key is used elsewhere too, and a seed that gets about must not tell it.
    digest = hashlib.blake2b(b"seed", key=key, digest_size=SECRET_BITS // 8).digest()
    return _FIRST_SECRET | int.from_bytes(digest, "little")


def is_secret(seed: int) -> bool:
    """Return whether a seed was made of a secret key."""
    return isinstance(seed, int) and seed >= _FIRST_SECRET


def _digest(seed: int, purpose: tuple[str | int, ...], size: int) -> bytes:
    text = "/".join(str(part) for part in (whole_number("seed", "random numbers", seed, 0), *purpose))
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
