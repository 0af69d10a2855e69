"""Tasks: a data set under a protocol, frozen."""

from trueedge.tasks.base import Part, ScoreWarning, Task
from trueedge.tasks.check import check_scorer
from trueedge.tasks.link import LinkTask
from trueedge.tasks.protocols import task
from trueedge.tasks.recommend import RecommendTask
from trueedge.tasks.scorer import Scorer
from trueedge.tasks.storage import load

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
