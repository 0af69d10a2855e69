"""What is said below a table."""

from __future__ import annotations

from trueedge.analysis.tables import _by


def test_a_warning_names_its_method_once():
    assert _by(["gcn (epochs=3)"], "gcn: features=all was best") == "gcn (epochs=3): features=all was best"
    assert _by(["gcn", "gat"], "karate valid: constant") == "gcn, gat: karate valid: constant"
