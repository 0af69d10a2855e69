"""Scorers: everything that can be turned into one, and how to check one."""

from trueedge.scorers.check import CheckReport, check_scorer
from trueedge.scorers.scorer import Scorer

__all__ = ["CheckReport", "Scorer", "check_scorer"]
