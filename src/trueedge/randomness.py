"""Random numbers that depend on a seed and a purpose, and on nothing else."""

from __future__ import annotations

import hashlib

import numpy as np

from trueedge.errors import must_be


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A generator for one purpose: the same seed gives unrelated streams to unrelated purposes.

    Args:
        seed: the user's seed, 0 or more.
        purpose: what the numbers are for, e.g. ``"split", "ratio"``.
    """
    return np.random.Generator(np.random.PCG64(derive(seed, *purpose)))


def derive(seed: int, *purpose: str | int) -> int:
    """A 64-bit seed for one purpose, for code that draws its own random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise must_be("seed", "random numbers", "a whole number, 0 or more", seed)
    text = "/".join(str(part) for part in (int(seed), *purpose))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
