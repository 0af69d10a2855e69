"""Random numbers that depend on a seed and a purpose, and on nothing else."""

from __future__ import annotations

import hashlib

import numpy as np

from trueedge.errors import whole_number


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A generator for one purpose: the same seed gives unrelated streams to unrelated purposes.

    Args:
        seed: the user's seed, 0 or more.
        purpose: what the numbers are for, e.g. ``"split", "ratio"``.
    """
    return np.random.Generator(np.random.PCG64(derive(seed, *purpose)))


def derive(seed: int, *purpose: str | int) -> int:
    """A 64-bit seed for one purpose, for code that draws its own random numbers."""
    text = "/".join(str(part) for part in (whole_number("seed", "random numbers", seed, 0), *purpose))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
