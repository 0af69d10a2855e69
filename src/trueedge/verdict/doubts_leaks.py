"""Signs that a model was trained on validation or test edges, or that features hold the answers."""

from __future__ import annotations

from collections.abc import Iterator

from trueedge import metrics
from trueedge.audit.check import chance_auc
from trueedge.verdict.asked import Asked
from trueedge.verdict.doubts_scores import is_adjacency
from trueedge.verdict.suspicions import Evidence, Suspicion, look

# Fewer edges cannot show that two distributions are the same.
LEAST_EDGES = 50
# Differences below this are of no importance, however certain.
MARGIN = 0.05
# A model that is not trained on test edges rarely has half the errors of every heuristic, and scores training
# edges higher than test edges if it does. Measured on Cora: 0.02 against 0.11, and 0.50 against 0.65 or more.
FEW_ERRORS = 0.5
# Features of which so few comparisons are wrong say more than features usually do.
FEATURE_ERRORS = 0.03


@look("test-edges")
def trained_on_test_edges(evidence: Evidence) -> Iterator[Suspicion]:
    """Find a model that knows test edges as well as training edges."""
    asked = evidence.asked
    if asked is None or len(asked.test) < LEAST_EDGES or is_adjacency(asked) or evidence.refit is not None:
        # A model that can be fitted again is found out by that, and cleared by it.
        return
    margin = max(MARGIN, chance_auc(len(asked.train), len(asked.test)))
    if abs(asked.train_over_test - 0.5) > margin:
        return
    best_name, best = evidence.best_heuristic
    if best is None or 1 - asked.test_auc > FEW_ERRORS * (1 - best.test_auc):
        return
    yield Suspicion(
        "test-edges",
        f"test edges score like training edges, and far better than with any heuristic (AUC against random"
        f" pairs {asked.test_auc:.3f}, {best_name} {best.test_auc:.3f}): the model was probably trained on"
        " test edges",
    )


@look("validation-edges")
def trained_on_validation_edges(evidence: Evidence) -> Iterator[Suspicion]:
    """Find a model that knows validation edges better than test edges."""
    asked = evidence.asked
    if asked is None or asked.valid is None or (share := asked.valid_over_test) is None:
        return
    margin = max(MARGIN, chance_auc(len(asked.valid), len(asked.test)))
    if share < 0.5 + margin:
        return
    # The parts may differ, for example if they are from different years.
    usual = max((_valid_over_test(one) for one in evidence.heuristics.values()), default=0.5)
    if share < usual + margin:
        return
    yield Suspicion(
        "validation-edges",
        f"validation edges score higher than test edges in {share:.0%} of the comparisons (heuristics:"
        f" {usual:.0%}): the model was probably trained on them, and the baselines were not",
    )


def _valid_over_test(asked: Asked) -> float:
    found = asked.valid_over_test
    return 0.5 if found is None else found


@look("features")
def features_hold_answers(evidence: Evidence) -> Iterator[Suspicion]:
    """Find features that hold the answers."""
    for finding in evidence.audited:
        if finding.check == "features-adjacency" and finding.verdict == "broken":
            yield Suspicion("features", f"the features hold the answers: {finding.sentence}")
            return
    for name in ("auc", evidence.task.headline):
        values = {one.method: one.test[name] for one in evidence.baselines if name in one.test}
        if "cosine" not in values or len(values) < 2 or metrics.get(name).high != 1:
            continue
        ours = 1 - values.pop("cosine")
        other = max(values, key=values.__getitem__)
        if ours < FEATURE_ERRORS and ours < FEW_ERRORS * (1 - values[other]):
            shown = [metrics.format_value(name, one) for one in (1 - ours, values[other])]
            yield Suspicion(
                "features",
                f"features alone have {shown[0]} {name.upper()} (cosine), the best other baseline, {other},"
                f" {shown[1]}: were they made from the whole graph?",
                grave=False,
            )
        return
