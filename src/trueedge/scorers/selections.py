"""One training for several runs: they differ in the metric that selects the epoch, and in nothing else.

If early stopping watches a metric of its own (``stop``), the course of a training does not depend on
``select``. So one training can keep the best state by each metric, and a run that is selected by another one
is the same fit with that state in place of the training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from trueedge.errors import InputError
from trueedge.scorers.fitted import fit_of
from trueedge.scorers.learned import Steps

_FURTHER: ContextVar[tuple[str, ...]] = ContextVar("further metrics", default=())


@contextmanager
def also_select(metrics: Sequence[str]) -> Iterator[None]:
    """Let trainings inside the block keep the best state by these validation metrics, too."""
    token = _FURTHER.set(tuple(metrics))
    try:
        yield
    finally:
        _FURTHER.reset(token)


def further_metrics() -> tuple[str, ...]:
    """Return the metrics of :func:`also_select`."""
    return _FURTHER.get()


def steps_selected_by(scorer: object, metric: str) -> Steps:
    """Return what the fit of a scorer learned, with its training in the state that is best by a metric.

    Args:
        scorer: a scorer that was fitted inside :func:`also_select`.
        metric: one of its metrics.
    """
    fit = fit_of(scorer)
    done = [] if fit is None or fit.steps is None else fit.steps.done
    if not any(metric in step.selected for step in done):
        raise InputError(f"no training kept its best state by {metric}")
    return Steps([step.selected.get(metric, step) for step in done])
