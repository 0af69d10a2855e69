"""The catalogue is read from the folder once, and what is registered later is found all the same."""

from __future__ import annotations

import pkgutil
from dataclasses import replace

import pytest

from trueedge import metrics
from trueedge.analysis.tables import higher_is_better
from trueedge.errors import InputError
from trueedge.metrics import metric


def test_the_folder_is_walked_once(monkeypatch) -> None:
    walks = []
    walk = pkgutil.iter_modules
    monkeypatch.setattr(pkgutil, "iter_modules", lambda *given: walks.append(given) or walk(*given))
    metric.discover.cache_clear()
    for _ in range(50):
        metrics.get("mrr")
        metrics.catalogue()
    assert len(walks) == 1


def test_a_metric_that_is_registered_after_others_were_asked_for_is_found(monkeypatch) -> None:
    monkeypatch.setattr(metric, "_METRICS", dict(metric._METRICS))
    with pytest.raises(InputError, match="no metric is called 'surprise@5'"):
        metrics.get("surprise@5")
    assert higher_is_better("surprise@5")
    metric.register(replace(metrics.get("hits@1"), pattern="surprise@K", k=None, higher_is_better=False))
    assert metrics.get("surprise@5").name == "surprise@5"
    assert "surprise@K" in [one.pattern for one in metrics.catalogue()]
    assert not higher_is_better("surprise@5")
