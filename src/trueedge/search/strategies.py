"""Search strategies: which points to try next."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from trueedge.errors import InputError, unknown
from trueedge.randomness import derive, generator
from trueedge.search.space import Space

# Attempts without a new point before one is drawn at random.
TRIES = 32


class Strategy(ABC):
    """Proposes points of a space, none twice, and learns from their values.

    Proposals depend only on the seed and the values so far, so an interrupted search proposes the same points
    again.

    Attributes:
        together: how many points it proposes at a time.
    """

    together: int

    def __init__(self, space: Space, seed: int) -> None:
        self.space, self.seed = space, seed

    @abstractmethod
    def ask(self, count: int) -> list[int]:
        """Return the numbers of ``count`` new points."""

    def tell(self, numbers: Sequence[int], values: Sequence[float | None]) -> None:
        """Receive the values of the last points (higher is better); None for a failed one."""
        del numbers, values


class Grid(Strategy):
    """Every point, or points drawn uniformly where there are fewer trials than points."""

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        super().__init__(space, seed)
        self.together = trials
        self.left = shuffled(space, seed, trials) if trials < len(space) else list(range(len(space)))

    def ask(self, count: int) -> list[int]:
        """Return the next points."""
        asked, self.left = self.left[:count], self.left[count:]
        return asked


class Tpe(Strategy):
    """The tree-structured Parzen estimator of Optuna, over the same values as the grid.

    It proposes four points at a time, so that the winner does not depend on the number of processes.

    Bergstra et al.: Algorithms for Hyper-Parameter Optimization, NeurIPS 2011.
    """

    together = 4

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        super().__init__(space, seed)
        optuna = _optuna()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Optuna warns of experimental options
            sampler = optuna.samplers.TPESampler(seed=derive(seed, "tpe") % 2**32)
        self.failed = optuna.trial.TrialState.FAIL
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.distributions = {
            # By index: Optuna cannot store values of every type.
            name: optuna.distributions.CategoricalDistribution(tuple(range(len(values))))
            for name, values in space.values.items()
        }
        self.seen: dict[int, float | None] = {}
        self.open: dict[int, Any] = {}
        self.spare = shuffled(space, seed, min(len(space), trials + TRIES))

    def ask(self, count: int) -> list[int]:
        """Return points that the estimator expects to do well."""
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
                # A repeated point says nothing new about its value.
                self.study.tell(trial, state=self.failed)
                tries += 1
            else:
                self.open[number] = trial
        return list(self.open)

    def tell(self, numbers: Sequence[int], values: Sequence[float | None]) -> None:
        """Give the estimator the values of the points."""
        for number, value in zip(numbers, values, strict=True):
            self.seen[number] = value
            if value is None:
                self.study.tell(self.open[number], state=self.failed)
            else:
                self.study.tell(self.open[number], value)


STRATEGIES: dict[str, type[Grid] | type[Tpe]] = {"grid": Grid, "tpe": Tpe}


def strategy(name: str, space: Space, seed: int, trials: int) -> Strategy:
    """Return the strategy of a name."""
    if not isinstance(name, str) or name not in STRATEGIES:
        raise unknown("search", name, STRATEGIES)
    return STRATEGIES[name](space, seed, trials)


def shuffled(space: Space, seed: int, count: int) -> list[int]:
    """Return the numbers of ``count`` distinct points, drawn uniformly."""
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
