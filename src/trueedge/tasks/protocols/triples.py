"""Knowledge graph completion: filtered ranks among all entities, on seen or unseen entities."""

from __future__ import annotations

from trueedge.errors import InputError
from trueedge.graph import KnowledgeGraph
from trueedge.tasks.protocols.protocol import Protocol, Request, register
from trueedge.tasks.triples import SIDES, TripleTask

RATIOS = (0.8, 0.1, 0.1)
SIDES_HELP = "what is asked for: tail, head or both"


def _filtered(request: Request) -> TripleTask:
    if "ratios" in request.given and not isinstance(request.source.given, KnowledgeGraph):
        raise InputError(f"{request.source.name} has its own split: ratios would have no effect")
    return _task(request, "filtered")


def _inductive(request: Request) -> TripleTask:
    return _task(request, "inductive").with_filter(request.options["filter"])


def _task(request: Request, protocol: str) -> TripleTask:
    named = {"dataset": request.source.name, "protocol": protocol}
    sides, overlaps = request.options["sides"], request.overlaps
    return TripleTask.from_split(request.triples, request.seed, sides, overlaps, **named)


register(
    Protocol(
        name="filtered",
        kind="triples",
        title="all entities ranked for each missing head and tail, other true answers left out",
        citation="Bordes et al., Translating Embeddings for Modeling Multi-relational Data, NeurIPS 2013",
        headline="mrr",
        make=_filtered,
        takes=("triples",),
        options={"ratios": RATIOS, "sides": SIDES[0]},
        choices={"sides": SIDES},
        split_options=("ratios",),
        help={
            "ratios": "shares of train, valid and test, if there is no published split",
            "sides": SIDES_HELP,
        },
    )
)
register(
    Protocol(
        name="inductive",
        kind="triples",
        title="as filtered, on a test graph of entities that are not in the training graph",
        citation="Teru et al., Inductive Relation Prediction by Subgraph Reasoning, ICML 2020",
        headline="mrr",
        make=_inductive,
        takes=("inductive triples",),
        options={"sides": SIDES[0], "filter": "all"},
        choices={"sides": SIDES, "filter": ("all", "facts")},
        help={
            "sides": SIDES_HELP,
            "filter": "true answers that are left out: all, or (as published) only facts of the test graph",
        },
    )
)
