"""Which points to try next: all of them, some at random, or those near what went well."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from trueedge.errors import InputError, unknown
from trueedge.randomness import derive, generator
from trueedge.search.space import Space

# Asks without a new point before one is drawn at random.
TRIES = 32


class Strategy(ABC):
    """Asks for points of a space, none twice, and hears what they came to.

    What it asks for depends on the seed and on what it was told, in that order, and on nothing else: a search
    that was killed asks for the same points again.

    Attributes:
        together: how many points it gives before it hears of any of them.
    """

    together: int

    def __init__(self, space: Space, seed: int) -> None:
        self.space, self.seed = space, seed

    @abstractmethod
    def ask(self, count: int) -> list[int]:
        """The numbers of so many points that were not asked for before."""

    def tell(self, numbers: Sequence[int], values: Sequence[float | None]) -> None:
        """Hear what the points asked for last are worth, the more the better; None for one that failed."""
        del numbers, values


class Grid(Strategy):
    """Every point; where there are fewer trials than points, points drawn uniformly."""

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        super().__init__(space, seed)
        self.together = trials
        self.left = shuffled(space, seed, trials) if trials < len(space) else list(range(len(space)))

    def ask(self, count: int) -> list[int]:
        """The next ones."""
        asked, self.left = self.left[:count], self.left[count:]
        return asked


class Tpe(Strategy):
    """The tree-structured Parzen estimator of Optuna, over the same values as the grid.

    It gives four points at a time, however many processes there are, so that the winner does not depend on
    their number.

    Bergstra et al.: Algorithms for Hyper-Parameter Optimization, NeurIPS 2011.
    """

    together = 4

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        super().__init__(space, seed)
        optuna = _optuna()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Optuna's own remarks on its options
            sampler = optuna.samplers.TPESampler(seed=derive(seed, "tpe") % 2**32)
        self.failed = optuna.trial.TrialState.FAIL
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.distributions = {
            # By place: a value may be of a type that Optuna does not write down.
            name: optuna.distributions.CategoricalDistribution(tuple(range(len(values))))
            for name, values in space.values.items()
        }
        self.seen: dict[int, float | None] = {}
        self.open: dict[int, Any] = {}
        self.spare = shuffled(space, seed, min(len(space), trials + TRIES))

    def ask(self, count: int) -> list[int]:
        """Points the estimator thinks well of."""
        self.open = {}
        tries = 0
        while len(self.open) < min(count, len(self.space) - len(self.seen)):
            if tries == TRIES:
                fresh = next(n for n in self.spare if n not in self.seen and n not in self.open)
                point = self.space.point(fresh)
                places = {name: values.index(point[name]) for name, values in self.space.values.items()}
                self.study.enqueue_trial(places)
                tries = 0
            trial = self.study.ask(self.distributions)
            point = {name: values[trial.params[name]] for name, values in self.space.values.items()}
            number = self.space.number(point)
            if number in self.seen or number in self.open:
                # It knows this one already: that it comes again is no news of the point's worth.
                self.study.tell(trial, state=self.failed)
                tries += 1
            else:
                self.open[number] = trial
        return list(self.open)

    def tell(self, numbers: Sequence[int], values: Sequence[float | None]) -> None:
        """Give the estimator what the points came to."""
        for number, value in zip(numbers, values, strict=True):
            self.seen[number] = value
            if value is None:
                self.study.tell(self.open[number], state=self.failed)
            else:
                self.study.tell(self.open[number], value)


STRATEGIES: dict[str, type[Grid] | type[Tpe]] = {"grid": Grid, "tpe": Tpe}


def strategy(name: str, space: Space, seed: int, trials: int) -> Strategy:
    """The strategy of a name."""
    if not isinstance(name, str) or name not in STRATEGIES:
        raise unknown("search", name, STRATEGIES)
    return STRATEGIES[name](space, seed, trials)


def shuffled(space: Space, seed: int, count: int) -> list[int]:
    """The numbers of so many distinct points, every choice equally likely."""
    from trueedge.kernels.negatives.sampling import distinct

    drawn: list[int] = distinct(generator(seed, "search", "points"), len(space), count).tolist()
    return drawn


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError(
            "the search tpe needs Optuna: run pip install -e '.[search]' -c constraints.txt in your clone of"
            " trueedge, or use --search grid"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
