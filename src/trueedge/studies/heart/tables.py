"""HeaRT's tables: the released split, both settings."""

from __future__ import annotations

from functools import partial

from trueedge import methods
from trueedge.methods import Method
from trueedge.studies.printed_tables import PrintedTable, on_released_files, selected_by
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Finding, Plan, Study, register

PAPER = "Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023"
TITLES = {
    1: "Cora, Citeseer and Pubmed, existing setting: MRR and AUC",
    2: "OGB, existing setting: the leaderboards' metrics and AUC",
    4: "Cora, Citeseer and Pubmed under HeaRT: MRR and Hits@10",
    5: "OGB under HeaRT: MRR and Hits@20",
    10: "Cora, existing setting: Hits@K",
    11: "Citeseer, existing setting: Hits@K",
    12: "Pubmed, existing setting: Hits@K",
    13: "OGB, existing setting: Hits@K",
    15: "Cora, Citeseer and Pubmed under HeaRT: Hits@1, 3, 100",
    16: "OGB under HeaRT: Hits@50 and Hits@100",
}
# The paper's heuristics on OGB count walks up to this length.
OGB_KATZ_LENGTH = 2


def _method(value: PublishedValue) -> Method:
    """The method behind a value."""
    if value.method == "katz" and value.dataset.startswith("ogbl"):
        return methods.create(value.method, {"max_length": OGB_KATZ_LENGTH})
    return selected_by(value)


def _run(plan: Plan, *, table: str) -> Finding:
    values = [value for value in published("heart") if value.table == table]
    return PrintedTable(table, values, on_released_files, _method).run(plan)


for _number, _title in TITLES.items():
    register(
        Study(
            name=f"heart/table-{_number}",
            title=_title,
            citation=PAPER,
            decimals=2,
            run=partial(_run, table=f"heart/table-{_number}"),
        )
    )
