"""The catalogue is read from the folder once, and what is registered later is found all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trueedge import metrics
from trueedge.analysis.tables import higher_is_better
from trueedge.errors import InputError
from trueedge.metrics import metric


def test_a_metric_that_is_registered_after_others_were_asked_for_is_found(monkeypatch) -> None:
    metric.METRICS.discover()
    monkeypatch.setattr(metric.METRICS, "_entries", dict(metric.METRICS._entries))
    with pytest.raises(InputError, match="no metric is called 'surprise@5'"):
        metrics.get("surprise@5")
    assert higher_is_better("surprise@5")
    metric.register(replace(metrics.get("hits@1"), pattern="surprise@K", k=None, higher_is_better=False))
    assert metrics.get("surprise@5").name == "surprise@5"
    assert "surprise@K" in [one.pattern for one in metrics.catalogue()]
    assert not higher_is_better("surprise@5")
