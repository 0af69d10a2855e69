"""What a link predictor is worth: it is evaluated beside baselines, checked, and judged in words."""

from trueedge.verdict.judging import judge
from trueedge.verdict.verdict import Verdict

__all__ = ["Verdict", "judge"]
