"""Save the state of a training to a file, atomically."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueedge.errors import InputError, with_article
from trueedge.files.writing import replacing


@dataclass(frozen=True)
class Checkpoint:
    """A file that an interrupted training resumes from.

    Attributes:
        path: the file; its folder is created.
    """

    path: Path

    def save(self, state: dict[str, Any]) -> None:
        """Replace the saved state."""
        import torch

        with replacing(self.path) as draft:
            torch.save(state, draft)

    def load(self, request: dict[str, Any], device: str) -> dict[str, Any] | None:
        """Return the state saved for a request, or None if there is none."""
        import torch

        if not self.path.exists():
            return None
        try:
            state: Any = torch.load(self.path, map_location=device, weights_only=True)
        except Exception as problem:  # a damaged file may raise anything
            raise InputError(f"{self.path} is not a checkpoint: {type(problem).__name__}") from None
        if not isinstance(state, dict):
            raise InputError(
                f"{self.path} is not a checkpoint: it contains {with_article(type(state).__name__)}"
            )
        if state.get("request") != request:
            raise InputError(f"{self.path} belongs to a different training; choose another file or delete it")
        return state

    def remove(self) -> None:
        """Delete the file after the training."""
        self.path.unlink(missing_ok=True)
