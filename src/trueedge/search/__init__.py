"""Hyper-parameter search on the validation part, and running the winner."""

from trueedge.search.space import Space
from trueedge.search.strategies import STRATEGIES
from trueedge.search.tuning import Budget, Trial, Tuned, tune

__all__ = ["STRATEGIES", "Budget", "Space", "Trial", "Tuned", "tune"]
