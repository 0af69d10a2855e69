"""How long-running functions say how far they are."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with a text, the work done and the work in all."""

Steps = Callable[[int, int], object]
"""Called with the steps done and the steps in all."""
