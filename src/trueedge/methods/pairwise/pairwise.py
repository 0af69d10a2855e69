"""What every method that looks at the graph around a pair has in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from trueedge.methods.trained import Trained

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class Pairwise(Trained):
    """A trained method that reads structure off the graph around a pair.

    A batch's positives are always taken out of the graph first, unless asked otherwise: with the edge itself
    in sight a model learns to look for it, and finds it nowhere in the test part.
    """

    family: ClassVar[str] = "pairwise"

    def for_task(self, task: Task) -> Self:
        """This method with every setting filled in."""
        filled = super().for_task(task)
        if "hide_positives" in self.without:
            return filled
        return replace(filled, hide_positives=True if self.hide_positives is None else self.hide_positives)
