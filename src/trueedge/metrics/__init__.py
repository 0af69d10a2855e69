"""Metrics: what they measure, and what random scores would give."""

from trueedge.metrics.by_head import HeadScores
from trueedge.metrics.classes import ClassScores
from trueedge.metrics.evaluate import Evaluation, ListEvaluation, evaluate, evaluate_lists, measure, ranks
from trueedge.metrics.lists import ListScores, ListSizes
from trueedge.metrics.metric import Metric, catalogue, format_value, get, scale
from trueedge.metrics.ranked import RankedScores
from trueedge.metrics.ranks import Ranks
from trueedge.metrics.scores import PairScores, PairSizes, Scores
from trueedge.metrics.units import UnitValues

__all__ = [
    "ClassScores",
    "Evaluation",
    "HeadScores",
    "ListEvaluation",
    "ListScores",
    "ListSizes",
    "Metric",
    "PairScores",
    "PairSizes",
    "RankedScores",
    "Ranks",
    "Scores",
    "UnitValues",
    "catalogue",
    "evaluate",
    "evaluate_lists",
    "format_value",
    "get",
    "measure",
    "ranks",
    "scale",
]
