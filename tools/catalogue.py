"""Write the tables of README.md and docs/catalogue.md from the registries, or check that they are current."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import draws_tables
import engine_tables
import evidence_tables
import heart_figures_tables
import hgb_tables
import method_tables
import pictures
import registry_tables
import speed_tables
import study_tables
import ties_tables
from growth import picture
from tables import ROOT, table

PAGES = (
    "README.md",
    "docs/catalogue.md",
    "docs/published.md",
    "docs/misses.md",
    "docs/learned.md",
    "docs/pairwise.md",
    "docs/audit.md",
    "docs/degree-bias.md",
    "docs/communities.md",
    "docs/knowledge-graphs.md",
    "docs/hgb.md",
    "docs/recommendation.md",
    "docs/speed.md",
    "docs/many-machines.md",
    "docs/statistics.md",
    "docs/growth.svg",
    "docs/pairwise-epochs.svg",
    *pictures.PICTURES,
)


def degree_bias_table(name: str) -> str:
    """Return a table of the degree-bias study, from its evidence."""
    from degree_bias_tables import render

    return render(name, ROOT / "results")


def coverage_table(kind: str) -> str:
    """Return how often intervals hold the truth: ``simulated``, on one ``test-part``, or ``redrawn``."""
    import coverage_tables

    results = ROOT / "benchmarks" / "results"
    if kind == "simulated":
        head = ["negatives", "nodes have effects", "test edges", "cases", "mean", "difference"]
        return table(head, coverage_tables.simulated(results))
    if kind == "test-part":
        head = ["seeds", "cases", "mean", "difference", "some of ten equal methods differ"]
        return table(head, coverage_tables.test_parts(results))
    head = ["method", "splits", "mean MRR", "std over splits", "mean std. error (old)"]
    return table([*head, "covered", "covered (old)"], coverage_tables.redrawn(results))


def communities_table(what: str = "") -> str:
    """Return the areas under the curves of communities, ours beside the printed values, or a variant of them.

    Args:
        what: ``printed``; the end of a study's name; nothing: the areas.
    """
    from trueedge.studies.degree_bias.community_findings import as_markdown, printed_as_markdown

    name = what if what not in ("", "printed") else "communities"
    path = ROOT / "results" / f"degree-bias-{name}.json"
    if not path.is_file():
        return "No results are stored yet. The command above computes them."
    card = json.loads(path.read_text())
    return printed_as_markdown(card) if what in ("printed", "table-3") else as_markdown(card)


def engines_table() -> str:
    """Return what was measured of engines and shares."""
    return table(["what", "result", "command"], engine_tables.rows(ROOT / "benchmarks" / "results"))


def draws_table() -> str:
    """Return Squirrel and Chameleon over splits and draws: pictures, methods, and differences of methods."""
    return draws_tables.render(ROOT / "results")


def common_neighbours_table() -> str:
    """Return how many common neighbours positives and negatives have: pictures and shares."""
    return heart_figures_tables.render(ROOT / "results")


TABLES: dict[str, Callable[..., str]] = {
    "hgb-causes": hgb_tables.causes_table,
    "hgb-first": hgb_tables.first_places_table,
    "hgb-code": hgb_tables.published_code_table,
    "datasets": registry_tables.datasets_table,
    "dataset-families": registry_tables.dataset_families_table,
    "methods": method_tables.methods_table,
    "method-families": registry_tables.method_families_table,
    "published-settings": method_tables.published_settings_table,
    "protocols": registry_tables.protocols_table,
    "protocols-by-data": registry_tables.protocols_by_data_table,
    "options": registry_tables.options_table,
    "metrics": registry_tables.metrics_table,
    "studies": registry_tables.studies_table,
    "comparison": evidence_tables.comparison_table,
    "equal-steps": study_tables.equal_steps_table,
    "draws": draws_table,
    "factors": study_tables.factors_table,
    "common-neighbours": common_neighbours_table,
    "ties": ties_tables.ties_table,
    "learned-ties": ties_tables.learned_ties_table,
    "network-ties": ties_tables.network_ties_table,
    "heart-heuristics": ties_tables.heart_heuristics_table,
    "recommendation": study_tables.recommendation_table,
    "recommendation-differences": study_tables.recommendation_differences_table,
    "pretrained": study_tables.pretrained_table,
    "ledger": evidence_tables.ledger_table,
    "networks": evidence_tables.networks_table,
    "plain": evidence_tables.plain_table,
    "spread": evidence_tables.spread_table,
    "checks": registry_tables.checks_table,
    "checks-by-kind": registry_tables.checks_by_kind_table,
    "null-audits": evidence_tables.null_audits_table,
    "degree-bias": degree_bias_table,
    "communities": communities_table,
    "coverage": coverage_table,
    "speed": speed_tables.speed_table,
    "large": speed_tables.large_table,
    "engines": engines_table,
}


def rewritten(text: str) -> str:
    """Return the text with every table between its two markers made anew."""

    def fill(match: re.Match[str]) -> str:
        name, _, argument = match.group(1).partition("=")
        made = TABLES[name](argument) if argument else TABLES[name]()
        return f"<!-- table:{match.group(1)} -->\n{made}\n<!-- /table -->"

    return re.sub(r"<!-- table:([\w=-]+) -->\n.*?<!-- /table -->", fill, text, flags=re.DOTALL)


def growth_picture() -> str:
    """Return the picture of the growth of cost."""
    return picture(json.loads((ROOT / "benchmarks" / "results" / "scaling.json").read_text())["rows"])


PICTURES: dict[str, Callable[[], str]] = {
    "docs/growth.svg": growth_picture,
    "docs/pairwise-epochs.svg": partial(speed_tables.epochs_picture, "cpu"),
    **{
        file: partial(pictures.picture, ROOT / "results", *where) for file, where in pictures.PICTURES.items()
    },
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail where a table is out of date"
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    arguments = parser.parse_args()
    stale = []
    for name in PAGES:
        path = arguments.root / name
        text = path.read_text() if path.is_file() else ""
        new = PICTURES[name]() if name in PICTURES else rewritten(text)
        if new != text:
            stale.append(name)
            if not arguments.check:
                path.write_text(new)
    if arguments.check and stale:
        print(f"out of date: {', '.join(stale)}; run 'make tables'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
