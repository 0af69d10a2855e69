"""The tables of recommendation, on the generated data set."""

from __future__ import annotations

import pytest

from trueedge.studies import get
from trueedge.studies.hgb import pretrained, recommendation
from trueedge.studies.study import Plan

pytest.importorskip("torch")
ONE = {"epochs": 1, "evaluate_every": 1, "pretrain_epochs": 1}


def test_methods_and_their_differences_over_users_are_listed(monkeypatch) -> None:
    monkeypatch.setattr(recommendation, "DATASETS", ("bookshop",))
    plan = Plan(methods=("popularity", "bpr-mf", "kgcn", "kgat-minus"), seeds=1, settings=ONE)
    found = get("hgb/table-5").run(plan)
    values = {(row.method, row.metric): row.ours for row in found.rows}
    gap = values["kgat-minus", "ndcg@20"] - values["kgcn", "ndcg@20"]
    assert values["kgat-minus - kgcn", "ndcg@20"] == pytest.approx(gap)
    assert values["kgat-minus - kgcn", "ndcg@20 low"] <= gap <= values["kgat-minus - kgcn", "ndcg@20 high"]
    assert not found.missing


def test_pretrained_vectors_stand_beside_what_is_built_on_them(monkeypatch) -> None:
    monkeypatch.setattr(pretrained, "DATASET", "bookshop")
    monkeypatch.setattr(pretrained, "EPOCHS", (1, 2))
    plan = Plan(methods=("bpr-mf", "kgcn"), seeds=1, settings={"evaluate_every": 1})
    found = get("hgb/pretrained").run(plan)
    assert {row.method for row in found.rows} == {
        f"{name}, {epochs} epochs of BPR-MF" for name in ("bpr-mf", "kgcn") for epochs in (1, 2)
    }
