"""trueedge finds out what a link predictor is really worth.

    import trueedge as te

    task = te.task("cora", "heart", seed=0)
    task.evaluate(lambda pairs: my_scores(pairs))

Names below are imported when they are first used, so that ``import trueedge`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from trueedge import moved  # noqa: F401
from trueedge.version import VERSION

if TYPE_CHECKING:
    from trueedge import (
        analysis,
        datasets,
        graph,
        methods,
        metrics,
        negatives,
        report,
        results,
        runs,
        scorers,
        search,
        splits,
        statistics,
        studies,
        tasks,
    )
    from trueedge.audit.callable_module import AuditModule
    from trueedge.datasets import load
    from trueedge.errors import DataWarning, InputError
    from trueedge.graph import Graph, HeteroGraph, Interactions, KnowledgeGraph, Labels
    from trueedge.methods.encoders import train_encoder
    from trueedge.methods.saving import load_scorer, save
    from trueedge.results import Record, Store, certify, verify
    from trueedge.runs import engines, run
    from trueedge.runs.rerun import rerun
    from trueedge.scorers import check_scorer
    from trueedge.scorers.triple_embeddings import TripleEmbeddings
    from trueedge.splits import Split, TripleSplit
    from trueedge.splits.ratio import ratio as split
    from trueedge.tasks import (
        ItemTask,
        LinkTask,
        NodeTask,
        Part,
        RecommendTask,
        ScoreWarning,
        TripleTask,
        TypedLinkTask,
        task,
    )
    from trueedge.tasks import load as load_task
    from trueedge.tasks.predicting import predict
    from trueedge.tasks.recommending import recommend
    from trueedge.verdict import Verdict, judge

    audit: AuditModule

__version__ = VERSION

_ROOMS = (
    "analysis",
    "audit",
    "datasets",
    "graph",
    "methods",
    "metrics",
    "negatives",
    "report",
    "results",
    "runs",
    "scorers",
    "search",
    "splits",
    "statistics",
    "studies",
    "tasks",
)
_NAMES = {
    "CommunityTask": ("tasks", "CommunityTask"),
    "DataWarning": ("errors", "DataWarning"),
    "Graph": ("graph", "Graph"),
    "GraphTask": ("tasks", "GraphTask"),
    "HeteroGraph": ("graph", "HeteroGraph"),
    "Interactions": ("graph", "Interactions"),
    "ItemTask": ("tasks", "ItemTask"),
    "KnowledgeGraph": ("graph", "KnowledgeGraph"),
    "Labels": ("graph", "Labels"),
    "InputError": ("errors", "InputError"),
    "LinkTask": ("tasks", "LinkTask"),
    "NodeTask": ("tasks", "NodeTask"),
    "Part": ("tasks", "Part"),
    "RecommendTask": ("tasks", "RecommendTask"),
    "Record": ("results", "Record"),
    "ScoreWarning": ("errors", "ScoreWarning"),
    "Split": ("splits", "Split"),
    "Store": ("results", "Store"),
    "TripleEmbeddings": ("scorers.triple_embeddings", "TripleEmbeddings"),
    "TripleSplit": ("splits", "TripleSplit"),
    "TripleTask": ("tasks", "TripleTask"),
    "TypedLinkTask": ("tasks", "TypedLinkTask"),
    "Task": ("tasks", "Task"),
    "Verdict": ("verdict", "Verdict"),
    "certify": ("results", "certify"),
    "engines": ("runs", "engines"),
    "check_scorer": ("scorers", "check_scorer"),
    "judge": ("verdict", "judge"),
    "load": ("datasets", "load"),
    "load_scorer": ("methods.saving", "load_scorer"),
    "load_task": ("tasks", "load"),
    "predict": ("tasks.predicting", "predict"),
    "recommend": ("tasks.recommending", "recommend"),
    "rerun": ("runs.rerun", "rerun"),
    "run": ("runs", "run"),
    "save": ("methods.saving", "save"),
    "split": ("splits", "split"),
    "task": ("tasks", "task"),
    "train_encoder": ("methods.encoders", "train_encoder"),
    "verify": ("results", "verify"),
}

__all__ = [
    "CommunityTask",
    "DataWarning",
    "Graph",
    "GraphTask",
    "HeteroGraph",
    "InputError",
    "Interactions",
    "ItemTask",
    "KnowledgeGraph",
    "Labels",
    "LinkTask",
    "NodeTask",
    "Part",
    "RecommendTask",
    "Record",
    "ScoreWarning",
    "Split",
    "Store",
    "Task",
    "TripleEmbeddings",
    "TripleSplit",
    "TripleTask",
    "TypedLinkTask",
    "Verdict",
    "__version__",
    "analysis",
    "audit",
    "certify",
    "check_scorer",
    "datasets",
    "engines",
    "graph",
    "judge",
    "load",
    "load_scorer",
    "load_task",
    "methods",
    "metrics",
    "negatives",
    "predict",
    "recommend",
    "report",
    "rerun",
    "results",
    "run",
    "runs",
    "save",
    "scorers",
    "search",
    "split",
    "splits",
    "statistics",
    "studies",
    "task",
    "tasks",
    "train_encoder",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"trueedge.{name}")
    if name in _NAMES:
        room, attribute = _NAMES[name]
        return getattr(importlib.import_module(f"trueedge.{room}"), attribute)
    raise AttributeError(f"module 'trueedge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
