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


def learned_values(*evidence: str) -> dict[tuple[str, str, str], ledger.Value]:
    """Return the values of trained methods in some files, by protocol, method and metric."""
    return {
        (value.protocol, value.method, value.metric): value
        for value in ledger.read(ROOT / "results").values
        if value.evidence in evidence and methods.get(value.method.partition("/")[0]).family != "heuristics"
    }


def test_the_share_of_learned_values_that_hold() -> None:
    found = re.search(
        r"Of the (\d+) learned values of these four tables, (\d+) are within one published standard deviation"
        r" or above the published value; with \[tuned settings\]\(#tuned-by-each-metric\) where there are"
        r" some, and \[BUDDY as published\]\(#buddy-as-published\), (\d+) of (\d+) are",
        prose("published.md"),
    )
    assert found is not None
    tables = [f"heart-table-{number}" for number in (1, 4, 11, 15)]
    plain = learned_values(*tables)
    tuned = plain | learned_values(*(f"{name}-tuned" for name in tables))
    tuned |= learned_values(*(f"{name}-published-buddy" for name in tables))
    counts = [
        (len(values), sum(value.ours >= value.theirs - value.allowed for value in values.values()))
        for values in (plain, tuned)
    ]
    assert tuple(map(int, found.groups())) == (*counts[0], *reversed(counts[1]))


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
