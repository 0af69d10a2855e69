"""Tasks: a data set under a protocol, frozen."""

from trueedge.tasks.check import check_scorer
from trueedge.tasks.link import LinkTask
from trueedge.tasks.protocols import task
from trueedge.tasks.recommend import RecommendTask
from trueedge.tasks.scorer import Scorer
from trueedge.tasks.storage import load
from trueedge.tasks.task import Part, ScoreWarning, Task

__all__ = [
    "LinkTask",
    "Part",
    "RecommendTask",
    "ScoreWarning",
    "Scorer",
    "Task",
    "check_scorer",
    "load",
    "task",
]
