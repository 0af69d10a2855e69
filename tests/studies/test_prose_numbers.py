"""Numbers in the prose beside generated tables are those of the evidence."""

from __future__ import annotations

import re
from pathlib import Path

from trueedge import methods
from trueedge.studies import ledger
from trueedge.studies.degree_bias.families import count_families

ROOT = Path(__file__).parents[2]


def prose(page: str) -> str:
    return " ".join((ROOT / "docs" / page).read_text("utf-8").split())


def test_the_share_of_learned_values_that_hold() -> None:
    found = re.search(
        r"Of the (\d+) learned values of both tables, (\d+) are within one", prose("published.md")
    )
    assert found is not None
    values = [
        value
        for value in ledger.read(ROOT / "results").values
        if value.evidence in ("heart-table-1", "heart-table-4")
        and methods.get(value.method.partition("/")[0]).family != "heuristics"
    ]
    assert (int(found[1]), int(found[2])) == (len(values), sum(not value.missed for value in values))


def test_the_number_of_sources_of_the_networks() -> None:
    found = re.search(r"The (\d+) networks are from (\d+) sources", prose("degree-bias.md"))
    assert found is not None
    values = ledger.read(ROOT / "results").values
    networks = {value.dataset for value in values if value.evidence == "degree-bias-auc-uniform"}
    assert (int(found[1]), int(found[2])) == (len(networks), count_families(sorted(networks)))


def test_no_network_without_evidence_is_named_in_the_method_of_communities() -> None:
    (line,) = re.findall(r"\*\*Networks\*\*: ([^.]*?) with the paper's settings", prose("communities.md"))
    evidence = ledger.read(ROOT / "results").values
    known = {value.method for value in evidence if value.evidence == "degree-bias-communities"}
    names = {"GCN": "gcn", "GraphSAGE": "sage", "GIN": "gin", "GAT": "gat"}
    assert {names[word] for word in re.findall(r"\w+", line) if word in names} == known
