"""What an attack is, how it is run, and what may come of it."""

from __future__ import annotations

import signal
import threading
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from trueedge.errors import InputError, ScoreWarning, StoreWarning

REFUSED, RIGHT, NOTED = "refused", "right", "noted"
WRONG, TRACEBACK, HANG, LOST = "silent wrong number", "traceback", "hang", "lost record"
GOOD = (REFUSED, RIGHT, NOTED)
FAILURES = (WRONG, TRACEBACK, HANG, LOST)
#: Seconds after which an attack counts as a hang.
LIMIT = 30.0
LONGEST_STORY = 600

Item = TypeVar("Item")


class WrongNumberError(AssertionError):
    """The package accepted the input and gave another number than the oracle."""


class LostRecordError(AssertionError):
    """A record that was written is not shown any more, and nothing says so."""


class HangError(BaseException):
    """An attack took too long; no ``except Exception`` of the package may catch this."""


@dataclass
class Case:
    """What an attack may use: a random generator, an empty folder, and a story for the report.

    Attributes:
        rng: seeded by the seed, the category and the number of the attack.
        folder: an empty folder of its own.
        story: what was done, so that a failure can be understood.
        notes: what the package said about the input; an accepted input with a note is ``noted``.
    """

    rng: np.random.Generator
    folder: Path
    story: str = ""
    notes: list[str] = field(default_factory=list)

    def pick(self, options: Sequence[Item]) -> Item:
        """Return one of some options."""
        return options[int(self.rng.integers(len(options)))]

    def chance(self, share: float) -> bool:
        """Return True with a probability."""
        return bool(self.rng.random() < share)

    def number(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def tell(self, *words: object) -> None:
        """Add to the story."""
        self.story = "; ".join(filter(None, [self.story, " ".join(map(str, words))]))


#: It returns normally if all is well (right), raises an InputError (refused), or one of the errors above.
Family = Callable[[Case], None]


@dataclass(frozen=True)
class Found:
    """The outcome of one attack."""

    category: str
    family: str
    number: int
    outcome: str
    story: str = ""

    @property
    def failed(self) -> bool:
        """Return whether it is one of the four failures."""
        return self.outcome in FAILURES


def expect(condition: object, *words: object) -> None:
    """Raise a WrongNumberError unless a condition holds."""
    if not condition:
        raise WrongNumberError(" ".join(map(str, words)))


def attack(category: str, families: dict[str, Family], number: int, seed: int, limit: float = LIMIT) -> Found:
    """Run one attack of a category; its family and its random numbers follow from its number and the seed."""
    name = list(families)[number % len(families)]
    with TemporaryDirectory(prefix="attack-") as folder:
        rng = np.random.default_rng([seed, zlib.crc32(category.encode()), number])
        case = Case(rng, Path(folder).resolve())
        outcome, reason = judged(families[name], case, limit)
    story = f"{case.story}: {reason}" if case.story and reason else case.story or reason
    return Found(category, name, number, outcome, story[-LONGEST_STORY:])


def judged(family: Family, case: Case, limit: float) -> tuple[str, str]:
    """Run a family on a case; return the outcome, and the reason if there is one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (ScoreWarning, StoreWarning):
            warnings.simplefilter("always", category)
        try:
            # Records that cannot be stored are written to the current folder.
            with chdir(case.folder), alarm(limit):
                family(case)
        except HangError:
            return HANG, f"more than {limit:g} seconds"
        except InputError as error:
            return (REFUSED, str(error)) if str(error).strip() else (TRACEBACK, "an InputError without words")
        except WrongNumberError as error:
            return WRONG, str(error)
        except LostRecordError as error:
            return LOST, str(error)
        except (Exception, SystemExit):
            return TRACEBACK, traceback.format_exc(limit=-4).strip()
    return (NOTED if case.notes or caught else RIGHT), ""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise a HangError after some seconds; an alarm that was set before is set again afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_: int, __: FrameType | None) -> None:
        raise HangError

    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.01, left - (time.monotonic() - started)), interval)


def same(found: float, wanted: float) -> bool:
    """Return whether two numbers are equal, up to the order in which they were added up."""
    return bool(abs(found - wanted) <= 1e-9 * max(1.0, abs(wanted)))


def expect_values(found: dict[str, Any], wanted: dict[str, float], what: str) -> None:
    """Compare every metric that the oracle knows."""
    for name, value in found.items():
        if name in wanted:
            expect(
                same(float(value), wanted[name]), f"{what}: {name} is {value}, but {wanted[name]} is right"
            )
