"""What scores are worth: metrics that say what they measure and what chance would give."""

from trueedge.metrics.evaluate import ListMeasures, PairMeasures, evaluate, evaluate_lists, judge, ranks
from trueedge.metrics.lists import ListScores, ListSizes
from trueedge.metrics.metric import Metric, catalogue, get
from trueedge.metrics.ranks import Ranks
from trueedge.metrics.scores import PairScores, PairSizes

__all__ = [
    "ListMeasures",
    "ListScores",
    "ListSizes",
    "Metric",
    "PairMeasures",
    "PairScores",
    "PairSizes",
    "Ranks",
    "catalogue",
    "evaluate",
    "evaluate_lists",
    "get",
    "judge",
    "ranks",
]
