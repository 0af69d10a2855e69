"""Sentences to the user while cells run elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable

# Seconds between two lines on how far the work is.
SECONDS_BETWEEN_LINES = 60.0


class Notices:
    """Passes sentences on, each once, and now and then one on how far the work is.

    Args:
        notice: called with each sentence; None drops them.
        tells: whether to say how far the work is, where no progress bar is seen.
    """

    def __init__(self, notice: Callable[[str], object] | None, tells: bool = False) -> None:
        self.notice = notice or (lambda _: None)
        self._tells, self._told = tells, time.monotonic()
        self._said: set[str] = set()

    def once(self, sentence: str) -> None:
        """Tell the user something, the first time it is to be said."""
        if sentence not in self._said:
            self._said.add(sentence)
            self.notice(sentence)

    def every_minute(self, sentence: str) -> None:
        """Tell the user how far the work is, once a minute."""
        now = time.monotonic()
        if self._tells and now - self._told >= SECONDS_BETWEEN_LINES:
            self._told = now
            self.notice(sentence)
