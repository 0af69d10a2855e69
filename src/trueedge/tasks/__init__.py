"""Tasks: a data set under a protocol, frozen."""

from trueedge.errors import ScoreWarning
from trueedge.scorers.check import check_scorer
from trueedge.scorers.scorer import Scorer
from trueedge.tasks.base import GraphTask, Task
from trueedge.tasks.communities import CommunityTask
from trueedge.tasks.items import ItemTask
from trueedge.tasks.link import LinkTask, Part
from trueedge.tasks.nodes import NodeTask
from trueedge.tasks.protocols import task
from trueedge.tasks.recommend import RecommendTask
from trueedge.tasks.storage import load
from trueedge.tasks.triples import TripleTask
from trueedge.tasks.typed_links import TypedLinkTask

__all__ = [
    "CommunityTask",
    "GraphTask",
    "ItemTask",
    "LinkTask",
    "NodeTask",
    "Part",
    "RecommendTask",
    "ScoreWarning",
    "Scorer",
    "Task",
    "TripleTask",
    "TypedLinkTask",
    "check_scorer",
    "load",
    "task",
]
