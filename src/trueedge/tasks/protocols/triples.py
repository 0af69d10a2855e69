"""Knowledge graph completion: filtered ranks among all entities, on seen or unseen entities."""

from __future__ import annotations

from trueedge.errors import must_be
from trueedge.tasks.protocols.protocol import Protocol, Request, register
from trueedge.tasks.triples import SIDES, TripleTask

RATIOS = (0.8, 0.1, 0.1)
SIDES_HELP = "what is asked for: tail, head or both"


def _filtered(request: Request) -> TripleTask:
    split, sides = request.triples, request.options["sides"]
    return TripleTask.from_split(split, request.seed, sides, dataset=request.source.name, protocol="filtered")


def _inductive(request: Request) -> TripleTask:
    split, options = request.triples, request.options
    if options["filter"] not in ("all", "facts"):
        raise must_be("filter", "the protocol inductive", "'all' or 'facts'", options["filter"])
    named = {"dataset": request.source.name, "protocol": "inductive"}
    made = TripleTask.from_split(split, request.seed, options["sides"], **named)
    return made.with_filter(options["filter"])


register(
    Protocol(
        name="filtered",
        kind="triples",
        title="each head and tail ranks all entities, other true answers left out",
        citation="Bordes et al., Translating Embeddings for Modeling Multi-relational Data, NeurIPS 2013",
        headline="mrr",
        make=_filtered,
        takes=("triples",),
        options={"ratios": RATIOS, "sides": SIDES[0]},
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
        help={
            "sides": SIDES_HELP,
            "filter": "true answers that are left out: all, or (as published) only facts of the test graph",
        },
    )
)
