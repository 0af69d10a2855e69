"""Leaks of triples: answers that stand in training, under the same, an inverse or a duplicate relation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import ONE_RULE
from trueedge.audit.check import Finding, Skipped, check, graded, graded_share, percent, picture
from trueedge.audit.repeated import repeated_finding
from trueedge.audit.triples_subject import TripleSubject, among

KINDS = ("triples",)
# A triple in a thousand cannot move the third digit of a metric; more than that can.
REPEATED_BROKEN = 0.001
# Two relations say the same if they share this part of the pairs of each (Akrami et al., Realistic
# Re-evaluation of Knowledge Graph Completion Methods, SIGMOD 2020). FB15k and WN18 have such relations, and
# 81 % and 94 % of their test triples can be looked up; a tenth is more than most models differ by.
ALIKE = 0.8
ALIKE_LOOK, ALIKE_BROKEN = 0.01, 0.1
# That a relation is symmetric has to be learned, so that more of it is acceptable: with half of the test
# triples, a benchmark measures little else.
SYMMETRIC_LOOK, SYMMETRIC_BROKEN = 0.05, 0.5
# An inductive task asks about entities that were not seen.
SHARED_BROKEN = 0.05
SHOWN = 8


@check(
    "repeated-triples",
    "leaks",
    title="triples in several parts",
    question="Can a model see the answers in training?",
    rule=f"look: any test or validation triple is also in another part; broken: more than"
    f" {percent(REPEATED_BROKEN)} of them",
    advice="Remove these triples from training, and train again",
    picture=picture("Triples that are also in another part", "bars", "triples"),
    kinds=KINDS,
)
def _repeated(subject: TripleSubject) -> Finding:
    task, facts = subject.task, subject.facts.triples
    valid = task.parts.get("valid", subject.test[:0])
    counts = {f"test triples {subject.in_facts}": (among(subject.test, facts), len(subject.test))}
    if len(valid):
        counts["validation triples in training"] = among(valid, task.graph.triples), len(valid)
        if task.test_graph is None:
            counts["test triples in validation"] = among(subject.test, valid), len(subject.test)
    return repeated_finding("repeated-triples", counts, "triples", REPEATED_BROKEN, subject.looked())


@check(
    "symmetric-relations",
    "leaks",
    title="test triples whose reverse is in training",
    question="Is (t, r, h) in training for a test triple (h, r, t)?",
    rule=f"look: more than {percent(SYMMETRIC_LOOK)} of the test triples; broken: more than"
    f" {percent(SYMMETRIC_BROKEN)}",
    advice=ONE_RULE,
    picture=picture("Test triples whose reverse is in training", "bars", "test triples", "relation"),
    kinds=KINDS,
)
def _symmetric(subject: TripleSubject) -> Finding:
    relations = subject.test[:, 1]
    found = subject.reversed_in_facts(relations) & (subject.test[:, 0] != subject.test[:, 2])
    share = float(found.mean())
    counts = np.bincount(relations[found], minlength=subject.task.num_relations)
    top = np.argsort(-counts, kind="stable")[: min(SHOWN, max(1, np.count_nonzero(counts)))]
    sentence = (
        f"{int(found.sum()):,} of {len(found):,} test triples (h, r, t) have (t, r, h) {subject.in_facts}"
    )
    if found.any():
        sentence += f"; most of them have the relation {subject.task.graph.relations[top[0]]}"
    return Finding(
        "symmetric-relations",
        graded_share(share, SYMMETRIC_LOOK, SYMMETRIC_BROKEN, len(found)),
        percent(share),
        sentence,
        {"share": share, "test triples": float(found.sum())},
        {"relation": np.array([subject.relation(one) for one in top]), "test triples": counts[top]},
        subject.looked(),
    )


@check(
    "inverse-relations",
    "leaks",
    title="relations that are the inverse of another one",
    question="Can test triples be looked up under an inverse relation?",
    rule=f"look: more than {percent(ALIKE_LOOK)} of the test triples (h, r, t) have (t, s, h) in training,"
    f" where r and the inverse of s share {percent(ALIKE)} of the pairs of each; broken: more than"
    f" {percent(ALIKE_BROKEN)}",
    advice="Keep one relation of each such pair, as FB15k-237 and WN18RR do",
    picture=picture(
        "Pairs of relations that are closest to inverse", "bars", "share of common pairs", "relations"
    ),
    kinds=KINDS,
)
def _inverse(subject: TripleSubject) -> Finding:
    count = subject.task.num_relations
    return _alike(subject, "inverse-relations", subject.overlaps[:count, count:], "the inverse of", 0)


@check(
    "duplicate-relations",
    "leaks",
    title="relations that say the same as another one",
    question="Can test triples be looked up under another relation?",
    rule=f"look: more than {percent(ALIKE_LOOK)} of the test triples (h, r, t) have (h, s, t) in training,"
    f" where r and s share {percent(ALIKE)} of the pairs of each; broken: more than {percent(ALIKE_BROKEN)}",
    advice="Keep one relation of each such pair, as FB15k-237 and WN18RR do",
    picture=picture(
        "Pairs of relations that are closest to equal", "bars", "share of common pairs", "relations"
    ),
    kinds=KINDS,
)
def _duplicate(subject: TripleSubject) -> Finding:
    count = subject.task.num_relations
    return _alike(subject, "duplicate-relations", subject.overlaps[:count, :count], "a duplicate of", count)


def _alike(subject: TripleSubject, name: str, common: NDArray[np.int64], how: str, offset: int) -> Finding:
    """Return the finding on pairs of relations that share most of their pairs.

    Args:
        subject: what is audited.
        name: the check.
        common: int64 (R, R), the pairs that two relations share.
        how: what one relation is to the other, in words.
        offset: added to a relation, so that its fact goes in the right direction.
    """
    sizes = np.diagonal(subject.overlaps)[: len(common)]
    shares = common / np.maximum(np.maximum(sizes[:, None], sizes[None, :]), 1)
    np.fill_diagonal(shares, 0.0)
    first, second = np.nonzero(shares >= ALIKE)
    found = np.zeros(len(subject.test), dtype=np.bool_)
    for left, right in zip(first, second, strict=True):
        of = np.flatnonzero(subject.test[:, 1] == left)
        if len(of):
            found[of] |= subject.reversed_in_facts(np.full(len(found), right + offset))[of]
    upper = np.argwhere(np.triu(shares) > 0)
    top = upper[np.argsort(-shares[upper[:, 0], upper[:, 1]], kind="stable")[:SHOWN]]
    share, pairs = float(found.mean()), int((first < second).sum())
    sentence = f"{int(found.sum()):,} of {len(found):,} test triples can be looked up {subject.in_facts}: "
    if pairs:
        names = [subject.task.graph.relations[one] for one in top[0]]
        others = (
            "" if pairs == 1 else f", and there {'is' if pairs == 2 else 'are'} {pairs - 1} more such pair"
        )
        others += "s" if pairs > 2 else ""
        sentence += f"{names[0]} is {how} {names[1]}{others}"
    else:
        sentence += f"no relation is {how} another one"
    return Finding(
        name,
        graded_share(share, ALIKE_LOOK, ALIKE_BROKEN, len(found)),
        percent(share),
        sentence,
        {"share": share, "test triples": float(found.sum()), "pairs of relations": float(pairs)},
        {
            "relations": np.array([" / ".join(map(subject.relation, pair)) for pair in top]),
            "share of common pairs": np.array([shares[one, other] for one, other in top]),
        },
        subject.looked(),
    )


@check(
    "shared-entities",
    "leaks",
    title="entities of the test graph that are in the training graph",
    question="Are the entities of the test part really unseen?",
    rule=f"look: any entity is in both graphs; broken: more than {percent(SHARED_BROKEN)} of them, or a test"
    " triple is a training triple",
    advice="Remove these entities from one of both graphs",
    picture=picture("Entities of the test graph", "bars", "entities"),
    kinds=KINDS,
)
def _shared(subject: TripleSubject) -> Finding | Skipped:
    task, facts = subject.task, subject.facts
    if task.test_graph is None:
        return Skipped("the test part is about the entities of the training graph")
    place = {name: number for number, name in enumerate(task.graph.entities)}
    number = np.array([place.get(name, -1) for name in facts.entities], dtype=np.int32)
    shared = int((number >= 0).sum())
    head, relation, tail = subject.test.T
    named = np.column_stack([number[head], relation, number[tail]])
    seen = (named >= 0).all(axis=1)
    again = among(named[seen].astype(np.int32), task.graph.triples)
    share = shared / len(number)
    verdict = "broken" if again else graded(share, 0.0, SHARED_BROKEN)
    sentence = f"{shared:,} of {len(number):,} entities of the test graph are in the training graph"
    sentence += (
        f", and {again:,} of {len(subject.test):,} test triples are training triples" if shared else ""
    )
    return Finding(
        "shared-entities",
        verdict,
        f"{shared:,}",
        sentence,
        {"entities": float(shared), "share": share, "test triples": float(again)},
        {
            "entities": np.array(["in the training graph", "unseen"]),
            "number": np.array([shared, len(number) - shared]),
        },
        subject.looked(),
    )
