"""Filtered ranks of the answers of a knowledge graph, both sides, among all entities."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from benchmarks.graphs import Sizes
from benchmarks.timing import OURS, Bar, Contender, DisagreementError, Row, absent_rows, invite, race
from trueedge.scorers import filtered_ranks
from trueedge.tasks import TripleTask

DIMENSION = 200
#: Data sets whose ranks are compared one by one; their scores are whole numbers, which have ties.
COMPARED = ("nations", "umls")
# PyKEEN takes minutes for FB15k-237: it is timed on a part of the test triples.
PYKEEN_TRIPLES = 512
# By itself it takes 32 on a CPU, "conservative"; more of them are faster.
BATCH = 256
Table = NDArray[np.float32]


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """Time DistMult on a knowledge graph, after a comparison of all ranks on small ones."""
    rows: list[Row] = []
    for name in COMPARED:
        rows += compare(name, repeats, with_peers)
    task = te.task(sizes.triples)
    assert isinstance(task, TripleTask)
    embeddings = tables(task, DIMENSION, whole=False)
    title = f"filtered ranks of {sizes.triples}, DistMult, d = {DIMENSION}"
    ours = Contender(OURS, partial(task.evaluate, te.TripleEmbeddings("distmult", *embeddings)), main_values)
    bare = Contender(
        "matrix product",
        partial(product, task, *embeddings),
        bar=Bar("ratio", 0.7),
        note="the scores of each query once, without ranks",
    )
    peers, absent = invite({"PyKEEN": partial(pykeen, task, *embeddings)} if with_peers else {})
    found = race(title, ours, [bare, *peers] if with_peers else [], repeats, close_enough)
    return rows + found + absent_rows(title, absent)


def compare(name: str, repeats: int, with_peers: bool) -> list[Row]:
    """Compare all ranks of a small knowledge graph with PyKEEN's realistic ranks."""
    task = te.task(name)
    assert isinstance(task, TripleTask)
    embeddings = tables(task, 16, whole=True)
    ours = Contender(
        OURS,
        lambda: task.scores(te.TripleEmbeddings("distmult", *embeddings)).ranks.mean,
    )
    makers = {"PyKEEN": partial(pykeen, task, *embeddings, ranks=True)} if with_peers else {}
    peers, absent = invite(makers)
    title = f"every rank of {name}, scores with ties"
    return race(title, ours, peers, repeats) + absent_rows(title, absent)


def tables(task: TripleTask, dimension: int, whole: bool) -> tuple[Table, Table]:
    """Random embeddings of entities and relations, of small whole numbers or normal."""
    rng = np.random.default_rng(0)
    shapes = (task.num_entities, dimension), (task.num_relations, dimension)
    if whole:
        first, second = (rng.integers(-1, 2, shape).astype(np.float32) for shape in shapes)
        return first, second
    first, second = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    return first, second


def product(task: TripleTask, entities: Table, relations: Table) -> int:
    """The bare matrix products of all different queries, in blocks of the same size."""
    queries = np.unique(task.queries(), axis=0)
    made = entities[queries[:, 0]] * relations[queries[:, 1] % task.num_relations]
    step = max(1, filtered_ranks.SCORES_IN_A_BLOCK // len(entities))
    for start in range(0, len(made), step):
        np.matmul(made[start : start + step], entities.T)
    return len(queries)


def main_values(found: Any) -> list[float]:
    """What is compared with PyKEEN."""
    return [found["mrr"], found["mr"]]


def close_enough(ours: Any, theirs: Any) -> None:
    """Compare values of float32 scores, whose last digits decide a few ranks; a product has none."""
    if isinstance(theirs, int):
        return
    if not np.allclose(ours, theirs, rtol=0.05):
        raise DisagreementError(f"{ours} and {theirs}")


def pykeen(task: TripleTask, entities: Table, relations: Table, ranks: bool = False) -> Contender:
    """PyKEEN's rank-based evaluator of its DistMult with the same embeddings.

    Args:
        task: the task.
        entities: the embeddings of entities.
        relations: those of relations.
        ranks: whether all ranks are compared; otherwise some triples are timed.
    """
    import torch
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import DistMult
    from pykeen.triples import CoreTriplesFactory

    known = [torch.from_numpy(task.graph.triples.astype(np.int64))]
    known += [torch.from_numpy(task.parts[part].astype(np.int64)) for part in task.part_names]
    factory = CoreTriplesFactory(known[0], task.num_entities, task.num_relations)
    model = DistMult(triples_factory=factory, embedding_dim=entities.shape[1], random_seed=0)
    for table, values in zip(
        (model.entity_representations[0], model.relation_representations[0]),
        (entities, relations),
        strict=True,
    ):
        table._embeddings.weight.data.copy_(torch.from_numpy(values))
    model.eval()
    count = len(task.parts["test"]) if ranks else min(PYKEEN_TRIPLES, len(task.parts["test"]))
    kept: dict[Any, list[Any]] = {}

    class Evaluator(RankBasedEvaluator):  # type: ignore[misc]
        """Keeps the ranks, which are otherwise dropped with the metrics."""

        def finalize(self) -> Any:
            kept.clear()
            kept.update({key: list(value) for key, value in self.ranks.items()})
            return super().finalize()

    def run() -> Any:
        found = Evaluator().evaluate(
            model, known[-1][:count], additional_filter_triples=known, use_tqdm=False, batch_size=BATCH
        )
        if not ranks:
            return found
        return np.concatenate([part for side in ("tail", "head") for part in kept[side, "realistic"]])

    if ranks:
        return Contender("PyKEEN", run, lambda found: found.astype(np.float64))
    share = count / len(task.parts["test"])
    note = "" if share == 1 else f"timed on {count:,} test triples"
    bar = Bar("ratio", 8)
    return Contender("PyKEEN", run, lambda _: 0, share=share, bar=bar, note=note)
