"""Methods of a user, for tests of engines: one that ends its process, one that never ends, a good one."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trueedge.methods import Method


@dataclass(frozen=True)
class Sum(Method):
    """Scores a pair by the sum of its nodes."""

    name: ClassVar[str] = "sum"
    family: ClassVar[str] = "own"

    def fit(self, task, seed=0, device="cpu"):
        return lambda pairs: np.asarray(pairs).sum(axis=1).astype(float)


@dataclass(frozen=True)
class Poison(Sum):
    """Ends the process that fits it."""

    name: ClassVar[str] = "poison"

    def fit(self, task, seed=0, device="cpu"):
        os._exit(9)


@dataclass(frozen=True)
class Endless(Sum):
    """Never ends."""

    name: ClassVar[str] = "endless"

    def fit(self, task, seed=0, device="cpu"):
        time.sleep(600)


@dataclass(frozen=True)
class Raising(Sum):
    """Raises an exception."""

    name: ClassVar[str] = "raising"

    def fit(self, task, seed=0, device="cpu"):
        raise ValueError("no")


@dataclass(frozen=True)
class Fragile(Sum):
    """Ends the process that fits it with one of the seeds."""

    name: ClassVar[str] = "fragile"

    def fit(self, task, seed=0, device="cpu"):
        if seed == 7:
            os._exit(9)
        return super().fit(task, seed, device)
