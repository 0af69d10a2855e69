"""What gives scores: everything that can be turned into a scorer, and the checks of one."""

from trueedge.scorers.check import CheckReport, check_scorer
from trueedge.scorers.scorer import Scorer

__all__ = ["CheckReport", "Scorer", "check_scorer"]
