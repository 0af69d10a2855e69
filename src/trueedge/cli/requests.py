"""The cells a command asks for, each made when its turn comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.tasks import Task
from trueedge.tasks.protocols import Data

if TYPE_CHECKING:
    from trueedge.runs import Cell

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Cells:
    """Every method with every seed under every protocol, in the order: protocols, seeds, methods.

    Attributes:
        source: a data set's name, a graph or a task.
        protocols: the protocols.
        seeds: the seeds.
        methods: the methods with their settings.
        options: the options of each protocol.
        device: where trained methods train.
        fixed_split: use the first seed's split and negatives for all seeds.
    """

    source: str | Data | Task
    protocols: Sequence[str]
    seeds: range
    methods: Sequence[Method]
    options: Mapping[str, Mapping[str, Any]]
    device: str = "cpu"
    fixed_split: bool = False

    @property
    def number(self) -> int:
        """The number of cells."""
        return len(self.protocols) * (self.seeds.stop - self.seeds.start) * len(self.methods)

    def __iter__(self) -> Iterator[Cell]:
        return (
            self._cell(protocol, method, seed)
            for protocol in self.protocols
            for seed in self.seeds
            for method in self.methods
        )

    def check(self) -> None:
        """Refuse a request that cannot be run, or that is too large, before any work is done."""
        if self.number > MOST_CELLS:
            raise InputError(
                f"{self.number:,} runs are too many at once: at most {MOST_CELLS:,} are possible, with fewer"
                " --seeds, methods or protocols"
            )
        for protocol in self.protocols:
            for method in self.methods:
                # All seeds lie between these two.
                for seed in {self.seeds.start, self.seeds.stop - 1}:
                    self._cell(protocol, method, seed).check()

    def _cell(self, protocol: str, method: Method, seed: int) -> Cell:
        from trueedge.runs import Cell

        split = self.seeds.start if self.fixed_split else None
        # Intervals of several splits are over these, so one of them tells of its negatives.
        redraws = self.fixed_split or seed == self.seeds.start
        return Cell(
            *(self.source, protocol, method, seed, self.options[protocol], self.device, split),
            redraws=redraws,
        )
