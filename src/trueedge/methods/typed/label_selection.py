"""Model selection that depends on whether nodes can have several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from trueedge.methods.method import setting
from trueedge.methods.typed.typed_method import TypedMethod

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class SelectsByLabels(TypedMethod):
    """A method whose best epoch has the lowest loss, or, for several classes a node, the highest F1 score.

    With several classes a node, the loss is lowest long before the rare classes are predicted at all.
    """

    select: str = setting(
        None,
        "what is compared on the validation part: its loss, or a metric; by default the loss, and micro-f1"
        " if nodes can have several classes",
        kind=str,
        optional=True,
    )

    def for_task(self, task: Task) -> Self:
        """Return this method with its settings filled in, except those that are selected on validation."""
        several = bool(getattr(task, "multi", False))
        return super().for_task(task).filled_in({"select": "micro-f1" if several else "loss"})
