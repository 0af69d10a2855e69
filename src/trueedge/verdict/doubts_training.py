"""Trainings that ended too early, and scorers that are broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueedge.analysis.curves import recorded_curve, training_curve
from trueedge.results.record import Record
from trueedge.verdict.suspicions import Evidence, Suspicion, look

# So few epochs are a trial, not a training.
FEW_EPOCHS = 5


@look("epoch-limit")
def epoch_limit(evidence: Evidence) -> Iterator[Suspicion]:
    """Find a training that stopped at its limit while it was still improving, or after a few epochs."""
    limit = evidence.method.settings().get("epochs")
    curves = [_curve(record) for record in evidence.records]
    if not any(curves):
        curves = [training_curve(evidence.scorer).get("training", {})]
    found = [(int(curve["losses"][-1][0]), curve) for curve in curves if curve.get("losses")]
    if not found:
        return
    trained = max(epochs for epochs, _ in found)
    if trained <= FEW_EPOCHS:
        many = "one epoch" if trained == 1 else f"{trained} epochs"
        yield Suspicion("epoch-limit", f"the model was trained for {many} only", grave=False)
        return
    late = [curve for epochs, curve in found if limit == epochs and _still_rising(curve)]
    if late:
        where = "" if len(found) == 1 else f" on {len(late)} of {len(found)} splits"
        yield Suspicion(
            "epoch-limit",
            f"training reached its limit of {limit} epochs{where} while the validation"
            f" {str(late[0].get('metric') or 'metric').upper()} was still improving: allow more epochs",
            grave=False,
        )


@look("scorer")
def scorer(evidence: Evidence) -> Iterator[Suspicion]:
    """Find a scorer whose scores depend on more than the pair, or are all the same."""
    for one in () if evidence.check is None else evidence.check.findings:
        if one.level == "broken":
            yield Suspicion(one.name, one.sentence, general=True)


def _curve(record: Record) -> dict[str, Any]:
    return recorded_curve(record.provenance)


def _still_rising(curve: dict[str, Any]) -> bool:
    """Return whether the last evaluation was the best."""
    values = curve.get("evaluations") or []
    return bool(values) and curve.get("best_epoch") == values[-1][0]
