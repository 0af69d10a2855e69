"""A method that writes down every fit, in a file of its own as a user's would be."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from trueedge.methods import Method, setting


@dataclass(frozen=True)
class Counted(Method):
    """Scores by degree to a power, with noise from the seed; slow where it is told to be."""

    name: ClassVar[str] = "counted"
    title: ClassVar[str] = "Counted"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"
    power: float = setting(1.0, "of the degrees", low=-4.0, high=4.0, search=(-2.0, -1.0, 0.0, 0.5, 1.0, 2.0))
    noise: float = setting(0.0, "of the scores", low=0.0, high=9.0, search=(0.0, 0.1))

    def fit(self, task, seed=0, device="cpu"):
        """Wait, and leave a line."""
        time.sleep(float(os.environ.get("COUNTED_SECONDS", "0")))
        if "COUNTED_FITS" in os.environ:
            with Path(os.environ["COUNTED_FITS"]).open("a") as file:
                file.write(f"{self.power} {self.noise} {seed}\n")
        if self.power == 0.5 and os.environ.get("COUNTED_END"):
            os._exit(9)
        weights = np.maximum(task.graph.degrees, 1).astype(float) ** self.power
        weights = weights + self.noise * np.random.default_rng(seed).random(len(weights))
        return lambda pairs: weights[pairs].prod(axis=1)
