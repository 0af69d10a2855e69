"""Write the tables of README.md and docs/catalogue.md from the registries, or check that they are current."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from trueedge import datasets, methods, metrics, studies
from trueedge.methods.method import Method, Range
from trueedge.methods.published_settings import ANY, PAPERS
from trueedge.studies import ledger
from trueedge.tasks import protocols

if TYPE_CHECKING:
    from trueedge.tasks import Task

sys.path.insert(0, str(Path(__file__).parent))
import draws_tables
import engine_tables
import hgb_tables
import ties_tables
from growth import picture

ROOT = Path(__file__).parents[1]
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
    "docs/typed-graphs.md",
    "docs/recommendation.md",
    "docs/speed.md",
    "docs/many-machines.md",
    "docs/statistics.md",
    "docs/growth.svg",
    "docs/typed-cost.svg",
    *draws_tables.PICTURES,
)
LARGE_NETWORK = 1_000


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def datasets_table() -> str:
    rows = [
        [f"`{card.name}`", card.family, *map(count, (card.num_nodes, card.num_edges, card.num_features))]
        + [card.licence, card.title]
        for card in datasets.cards()
    ]
    return table(["data set", "family", "nodes", "edges", "features", "licence", "description"], rows)


def dataset_families_table() -> str:
    families: dict[str, list[str]] = {}
    for card in datasets.cards():
        families.setdefault(card.family, []).append(f"`{card.name}`")
    rows = []
    for family, names in families.items():
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        rows.append([family, str(len(names)), shown])
    return table(["family", "data sets", "names"], rows)


def families() -> dict[str, list[type[Method]]]:
    """Return the methods of each family, in the order of the registry."""
    found: dict[str, list[type[Method]]] = {}
    for kind in methods.catalogue():
        found.setdefault(kind.family, []).append(kind)
    return found


def about_family(family: str) -> str:
    """Return the first line of a family's docstring."""
    return (importlib.import_module(f"trueedge.methods.{family}").__doc__ or "").splitlines()[0]


def method_families_table() -> str:
    """Return one line for each family, with the names of its methods."""
    rows = [
        [family, about_family(family).rstrip("."), short_names([kind.name for kind in kinds])]
        for family, kinds in families().items()
    ]
    return table(["family", "what its methods do", "methods"], rows)


def short_names(names: list[str]) -> str:
    """Return names as a list; endings that several methods have, such as ``+focal``, are named once."""
    bases = [name for name in names if name.partition("+")[0] == name]
    endings: dict[str, list[str]] = {}
    for name in names:
        base, plus, ending = name.partition("+")
        if plus and base in bases:
            endings.setdefault(plus + ending, []).append(base)
    shared = [ending for ending, found in endings.items() if len(found) > 1]
    single = [name for name in names if "+" in name and "+" + name.partition("+")[2] not in shared]
    listed = ", ".join(f"`{name}`" for name in [*bases, *single])
    return f"{listed}; with {', '.join(f'`{ending}`' for ending in shared)}" if shared else listed


def protocols_by_data_table() -> str:
    """Return one line for each kind of data, with its protocols."""
    kinds: dict[str, list[str]] = {}
    for one in protocols.catalogue():
        kinds.setdefault(one.data, []).append(f"`{one.name}`")
    return table(["data", "protocols"], [[DATA[data], ", ".join(names)] for data, names in kinds.items()])


DATA = {
    "graph": "a graph",
    "triples": "a knowledge graph",
    "typed": "a typed graph",
    "interactions": "users and items",
}


def methods_table() -> str:
    """Return a section for each family: its methods, and their settings."""
    sections = []
    for family, kinds in families().items():
        rows = [[f"`{kind.name}`", kind.title, kind.citation] for kind in kinds]
        sections.append(
            f"### {family}\n\n{about_family(family)}\n\n{table(['method', 'name', 'paper'], rows)}"
        )
        settings = settings_table(kinds)
        if settings:
            sections.append(f"Settings:\n\n{settings}")
    return "\n\n".join(sections)


def settings_table(kinds: list[type[Method]]) -> str:
    """Return the settings of some methods; methods that agree on a setting share a line."""
    sharing: dict[tuple[str, ...], list[str]] = {}
    for kind in kinds:
        defaults = filled(kind, "", "")
        for key, limits in kind.space().items():
            example = defaults[key] if limits.kind is None else limits.kind()
            line = (f"`{key}`", f"`{shown(defaults[key])}`", allowed(limits, example), about_setting(limits))
            sharing.setdefault(line, []).append(f"`{kind.name}`")
    rows = [
        [line[0], "all" if len(names) == len(kinds) > 1 else ", ".join(names), *line[1:]]
        for line, names in sorted(sharing.items(), key=lambda item: -len(item[1]))
    ]
    return table(["setting", "methods", "default", "allowed", "meaning"], rows) if rows else ""


def filled(kind: type[Method], protocol: str, dataset: str) -> dict[str, Any]:
    """Return the settings a method has on a data set under a protocol, none of them left open."""
    # Only these decide which published settings apply.
    kind_of_task = protocols.get(protocol).kind if protocol else ""
    task = SimpleNamespace(protocol=protocol, dataset=dataset, kind=kind_of_task, graph=None)
    return kind().for_task(cast("Task", task)).settings()


def shown(value: Any) -> str:
    """Return a value as it is written after ``--set``."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) or '""'


def allowed(limits: Range, example: Any) -> str:
    """Return the values a setting may have, in words."""

    def bound(value: float) -> str:
        return f"{value:,}" if isinstance(example, int) else f"{value:g}"

    if limits.choices is not None:
        return ", ".join(f"`{shown(choice)}`" for choice in limits.choices)
    if isinstance(example, bool):
        return "`true`, `false`"
    if limits.low is not None and limits.high is not None:
        return f"{bound(limits.low)} to {bound(limits.high)}"
    if limits.low is not None:
        return f"{bound(limits.low)} or more"
    if limits.high is not None:
        return f"{bound(limits.high)} or less"
    return "text" if isinstance(example, str) else "any number"


def about_setting(limits: Range) -> str:
    """Return the help of a setting; that its default depends on the data set is said once for the page."""
    return limits.help.partition("; by default")[0]


def published_settings_table() -> str:
    """Return, for each trained method, its settings on every data set that a paper chose settings for."""
    text = (files("trueedge.methods") / "published_settings.csv").read_text()
    chosen = dict.fromkeys(
        (row["paper"], row["dataset"], row["method"]) for row in csv.DictReader(text.splitlines())
    )
    papers: dict[str, list[str]] = {}
    for protocol, paper in PAPERS.items():
        papers.setdefault(paper, []).append(protocol)
    protocols_of = [[paper, ", ".join(f"`{name}`" for name in names)] for paper, names in papers.items()]
    sections = [table(["evaluation setting", "protocols"], protocols_of)]
    for kind in methods.catalogue():
        default = filled(kind, "", "")
        if default == kind().settings():
            continue  # Nothing is left open, so no paper fills anything in.
        rows = {("default", "any"): default}
        for paper, (protocol, *_) in papers.items():
            named = [
                dataset
                for its, dataset, method in chosen
                if its == paper and dataset != ANY and method in (kind.name, ANY)
            ]
            for dataset in ["", *dict.fromkeys(named)]:
                settings = filled(kind, protocol, dataset)
                if dataset or settings != default:
                    rows[paper, dataset or ("any other" if named else "any")] = settings
        differing = [key for key in default if len({row[key] for row in rows.values()}) > 1]
        lines = [[*place, *(shown(row[key]) for key in differing)] for place, row in rows.items()]
        made = table(["evaluation setting", "data set", *(f"`{key}`" for key in differing)], lines)
        sections.append(f"### {kind.name}\n\n{made}")
    return "\n\n".join(sections)


def protocols_table() -> str:
    rows = [[f"`{p.name}`", p.title, f"`{p.headline}`", p.citation] for p in protocols.catalogue()]
    return table(["protocol", "positives and negatives", "headline metric", "paper"], rows)


def options_table() -> str:
    """Return the options of the protocols; protocols that agree on an option share a line."""
    sharing: dict[tuple[str, ...], list[str]] = {}
    for protocol in protocols.catalogue():
        for key, default in protocol.options.items():
            line = (f"`{key}`", f"`{shown(default)}`", protocol.help[key])
            sharing.setdefault(line, []).append(f"`{protocol.name}`")
    rows = [[line[0], ", ".join(names), *line[1:]] for line, names in sharing.items()]
    return table(["option", "protocols", "default", "meaning"], rows)


def metrics_table() -> str:
    rows = [[f"`{m.name}`", m.title, m.formula] for m in metrics.catalogue()]
    return table(["metric", "name", "formula"], rows)


def checks_table() -> str:
    from trueedge.audit import catalogue as checks

    rows = []
    for check in checks():
        # Some advice depends on the task.
        anything = SimpleNamespace(
            task=SimpleNamespace(protocol="", settings={}), without_common_neighbours=""
        )
        advice = check.advice if isinstance(check.advice, str) else check.advice(anything)
        needs = ", ".join(f"{least} {name}" for name, least in check.fewest.items())
        rows.append([check.family, f"`{check.name}`", check.question, check.rule, advice, needs])
    return table(["family", "check", "question", "rule", "what to do", "needs"], rows)


def checks_by_kind_table() -> str:
    """Return how many checks each kind of task has, by family."""
    from trueedge.audit import catalogue as checks
    from trueedge.audit.check import FAMILIES
    from trueedge.tasks.base import KINDS

    rows = []
    for kind in dict.fromkeys(one for check in checks() for one in check.kinds or ()):
        families = [check.family for check in checks(kind)]
        rows.append([KINDS.get(kind).title, str(len(families)), *(str(families.count(f)) for f in FAMILIES)])
    return table(["task", "checks", *FAMILIES], sorted(rows))


def null_audits_table() -> str:
    """Return how often checks found something where there was nothing to find."""
    rows = [
        [
            found["kind"],
            f"{found['units']:.0f}",
            str(found["checks"]),
            f"{sum(found['small'].values()) / found['runs']:.1f}",
            f"{100 * max(found['alarms'].values(), default=0) / found['runs']:.0f} %",
            ", ".join(f"`{name}`" for name in found["alarms"]),
        ]
        for found in json.loads((ROOT / "benchmarks" / "results" / "null_audits.json").read_text())
    ]
    head = ["benchmarks", "test units", "checks", "too small to judge", "most alarms of a check", "which"]
    return table(head, rows)


def studies_table() -> str:
    rows = [[f"`{s.name}`", s.title, s.citation] for s in studies.catalogue()]
    return table(["study", "content", "paper"], rows)


def comparison_table(study: str) -> str:
    """Ours beside theirs, a line for each method and a column for each metric."""
    path = ROOT / "results" / f"{study}.json"
    if not path.is_file():
        return "No results are stored yet. The command above computes them."
    evidence = json.loads(path.read_text())
    digits = evidence["decimals"]
    columns: dict[tuple[str, str], None] = {}
    lines: dict[tuple[str, str, str], dict[tuple[str, str], str]] = {}
    for row in evidence["rows"]:
        if hgb_tables.MINUS in row["method"]:
            continue  # A difference of two methods has a table of its own.
        where = (row["dataset"], row["protocol"], row["method"])
        both = (("ours", row["ours"], row["std"]), ("published", row["theirs"], row["their_std"]))
        for side, value, std in both:
            if value is None:
                continue
            columns[row["metric"], side] = None
            spread = f" ± {std:.{digits}f}" if std and row["seeds"] > 1 else ""
            lines.setdefault(where, {})[row["metric"], side] = f"{value:.{digits}f}{spread}"
    printed = {metric for metric, side in columns if side == "published"}
    head = ["data set", "protocol", "method"]
    head += [f"{metric} {side}" if metric in printed else metric for metric, side in columns]
    return table(head, [[*where, *(cells.get(c, "–") for c in columns)] for where, cells in lines.items()])


def ledger_table(kind: str) -> str:
    """How many published values hold, by file of evidence; or the entries about those that do not."""
    found = ledger.read(ROOT / "results")
    faults = found.faults()
    if faults:
        raise SystemExit("\n".join([*faults[:20], "results/misses.toml must say why, or no longer say it"]))
    return _holding(found) if kind == "values" else _entries(found)


def _holding(found: ledger.Ledger) -> str:
    rows = []
    missed = {id(value): entry for value, entry in found.missed()}
    names = dict.fromkeys(value.evidence for value in found.values)
    for name in [*names, "all"]:
        values = [value for value in found.values if name in (value.evidence, "all")]
        entries = [entry for value in values if (entry := missed.get(id(value))) is not None]
        explained = sum(entry.status == "explained" for entry in entries)
        held = len(values) - len(entries)
        cells = [len(values), held, explained, len(entries) - explained]
        rows.append([name, *(f"{one:,}" for one in cells)])
    return table(["evidence", "published values", "hold", "missed, explained", "missed, open"], rows)


def _entries(found: ledger.Ledger) -> str:
    rows = []
    for entry, values in found.by_entry():
        names = list(dict.fromkeys(value.method for value in values))
        shown = ", ".join(f"`{name}`" for name in names[:6]) + (" and more" if len(names) > 6 else "")
        gaps = sorted(value.difference for value in values)
        where = ", ".join(dict.fromkeys(value.evidence for value in values))
        spread = f"{gaps[0]:+.3g} to {gaps[-1]:+.3g}" if len(gaps) > 1 else f"{gaps[0]:+.3g}"
        rows.append([where, shown, str(len(values)), spread, entry.status, entry.cause, entry.experiment])
    head = ["evidence", "methods", "values", "ours minus published", "status", "cause", "experiment"]
    return table(head, rows)


def equal_steps_table() -> str:
    """Methods against degree bias beside the model alone, a line for each, with paired intervals."""
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for row in _stored_rows("kgmixup-equal-steps"):
        cells.setdefault((row["dataset"], row["method"]), {})[row["metric"]] = row["ours"]
    lines = []
    for where, own in cells.items():
        line = [*where, f"{own['mrr']:.2f}", f"{own['mrr low']:.2f}"]
        for name in ("gain low", "mixing low"):
            ends = [own.get(f"{name}{end}") for end in ("", " from", " to")]
            line.append("–" if None in ends else "{:+.2f} [{:+.2f}, {:+.2f}]".format(*ends))
        lines.append([*line, f"{own['ece']:.3f}"])
    head = [
        "data set",
        "method",
        "mrr",
        "mrr low",
        "low, gain over the model alone",
        "low, due to mixing",
        "ece",
    ]
    return table(head, lines)


def recommendation_table() -> str:
    """Recall and NDCG of recommenders, a line for each method and columns for each data set."""
    rows = _stored_rows("hgb-table-5")
    columns = dict.fromkeys((row["dataset"], row["metric"]) for row in rows if " " not in row["method"])
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for row in rows:
        if " " not in row["method"]:
            spread = f" ± {row['std']:.4f}" if row["seeds"] > 1 else ""
            cells.setdefault(row["method"], {})[row["dataset"], row["metric"]] = f"{row['ours']:.4f}{spread}"
    head = ["method", *(f"{dataset} {metric}" for dataset, metric in columns)]
    return table(head, [[f"`{name}`", *(own[c] for c in columns)] for name, own in cells.items()])


def recommendation_differences_table() -> str:
    """Differences of NDCG between two methods over the same users, with their intervals."""
    rows = [row for row in _stored_rows("hgb-table-5") if " - " in row["method"]]
    values = {(row["method"], row["dataset"], row["metric"]): row["ours"] for row in rows}
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    lines = []
    for pair in dict.fromkeys(row["method"] for row in rows):
        line = [pair]
        for dataset in datasets:
            mean, low, high = (values[pair, dataset, f"ndcg@20{end}"] for end in ("", " low", " high"))
            line.append(f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]")
        lines.append(line)
    return table(["ndcg@20", *datasets], lines)


def pretrained_table() -> str:
    """NDCG of vectors of BPR-MF and of graph models on top of them, by the epochs of BPR-MF."""
    rows = _stored_rows("hgb-pretrained")
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        name, epochs = row["method"].split(", ")
        cells.setdefault(name, {})[epochs] = f"{row['ours']:.4f} ± {row['std']:.4f}"
    columns = list(next(iter(cells.values())))
    return table(["ndcg@20", *columns], [[f"`{name}`", *own.values()] for name, own in cells.items()])


def _stored_rows(study: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((ROOT / "results" / f"{study}.json").read_text())["rows"]
    return rows


def spread_table() -> str:
    """How far seeds differ, in the mean over methods (HeaRT's Table 6), from the evidence of two tables."""
    printed = {
        value.protocol: value.mean
        for value in studies.published("heart")
        if value.table == "heart/table-6" and value.dataset == "citeseer"
    }
    found: dict[str, dict[str, float]] = {}
    for number, setting in ((1, "existing"), (4, "heart")):
        rows = json.loads((ROOT / "results" / f"heart-table-{number}.json").read_text())["rows"]
        found[setting] = {row["method"]: row["std"] for row in rows if row["metric"] == "mrr" and row["std"]}
    both = [name for name in found["existing"] if name in found["heart"]]
    lines = [
        [setting, *(f"{stds[name]:.2f}" for name in both), f"{sum(stds[n] for n in both) / len(both):.2f}"]
        + [f"{printed[setting]:.2f}"]
        for setting, stds in found.items()
    ]
    return table(["setting", *both, "mean", "published mean"], lines)


def plain_table() -> str:
    """Ours and the published beside a plain script at the same settings."""
    evidence = [
        row
        for study in ("heart-table-1", "heart-table-4")
        for row in json.loads((ROOT / "results" / f"{study}.json").read_text())["rows"]
    ]
    lines = []
    for path in sorted((ROOT / "benchmarks" / "results").glob("plain-*.json")):
        plain = json.loads(path.read_text())
        for row in evidence:
            if path.stem == f"plain-{row['dataset']}-{row['protocol']}-{row['method']}":
                here = plain[row["metric"]]
                pairs = (
                    (row["ours"], row["std"]),
                    (100 * here["mean"], 100 * here["std"]),
                    (row["theirs"], row["their_std"]),
                )
                values = [f"{mean:.2f} ± {std:.2f}" for mean, std in pairs]
                lines.append([row["protocol"], row["method"], row["metric"], *values])
    return table(["protocol", "method", "metric", "ours", "plain script", "published"], lines)


def networks_table(study: str) -> str:
    """The mean absolute difference of each method's AUC over the networks."""
    path = ROOT / "results" / f"degree-bias-{study}.json"
    if not path.is_file():
        return f"No results are stored yet. `trueedge reproduce degree-bias/{study}` computes them."
    rows = json.loads(path.read_text())["rows"]
    large = [row for row in rows if (datasets.get(row["dataset"]).num_edges or 0) > LARGE_NETWORK]
    lines = []
    for method in [*dict.fromkeys(row["method"] for row in rows), "all"]:
        cells = [method]
        for group in (large, rows):
            chosen = [row for row in group if method in ("all", row["method"])]
            gaps = [abs(row["ours"] - row["theirs"]) for row in chosen]
            cells += [f"{sum(gaps) / len(gaps):.4f}", str(len(gaps))]
        lines.append(cells)
    head = [
        "method",
        "mean abs. difference, networks over 1,000 edges",
        "number",
        "mean abs. difference, all networks",
        "number",
    ]
    return f"{table(head, lines)}\n\n{ranking_of_methods(rows)}"


def ranking_of_methods(rows: list[dict[str, Any]]) -> str:
    """How alike the methods are ranked, by their mean AUC over the networks that all of them were run on."""
    from scipy.stats import spearmanr

    methods_run = list(dict.fromkeys(row["method"] for row in rows))
    by_network: dict[str, dict[str, tuple[float, float]]] = {}
    for row in rows:
        by_network.setdefault(row["dataset"], {})[row["method"]] = (row["ours"], row["theirs"])
    complete = [found for found in by_network.values() if len(found) == len(methods_run)]
    means = [
        [sum(found[method][side] for found in complete) / len(complete) for method in methods_run]
        for side in (0, 1)
    ]
    alike = spearmanr(*means).statistic
    return (
        f"Spearman's correlation of the methods' mean AUC, ours and published, over the {len(complete)}"
        f" networks with all {len(methods_run)} methods: {alike:.3f}."
    )


def degree_bias_table(name: str) -> str:
    """A table of the degree-bias study, from its evidence."""
    from degree_bias_tables import render

    return render(name, ROOT / "results")


def coverage_table(kind: str) -> str:
    """How often intervals of one split hold the truth: ``simulated``, or on ``redrawn`` splits."""
    import coverage_tables

    results = ROOT / "benchmarks" / "results"
    if kind == "simulated":
        head = ["negatives", "nodes have effects", "test edges", "cases", "mean", "difference"]
        return table(head, coverage_tables.simulated(results))
    head = ["method", "splits", "mean MRR", "std over splits", "mean std. error (old)"]
    return table([*head, "covered", "covered (old)"], coverage_tables.redrawn(results))


def communities_table(printed: str = "") -> str:
    """The areas under the curves of the communities study, or ours beside the printed values."""
    from trueedge.studies.degree_bias.communities import as_markdown, printed_as_markdown

    path = ROOT / "results" / "degree-bias-communities.json"
    if not path.is_file():
        return "No results are stored yet. The command above computes them."
    card = json.loads(path.read_text())
    return printed_as_markdown(card) if printed else as_markdown(card)


def speed_table(subject: str) -> str:
    """What `make bench` measured on one subject: a line for each task and package, and the machine."""
    path = ROOT / "benchmarks" / "results" / f"{subject}.json"
    if not path.is_file():
        asked = subject.replace("-cuda", " --device cuda").replace("-cpu", "")
        return f"No results are stored yet. `python -m benchmarks.run {asked}` measures them."
    measured = json.loads(path.read_text())

    def figure(value: float | None, unit: str = "") -> str:
        return "–" if value is None else f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"

    lines = []
    for row in measured["rows"]:
        memory = None if row["memory"] is None else row["memory"] / 2**20
        ratio = figure(row["ratio"], " ×") if row["exponent"] is None else f"exponent {row['exponent']:.2f}"
        outcome = {True: ": reached", False: ": missed", None: ""}[row["reached"]]
        figures = [figure(value) for value in (row["seconds"], row["user"], row["first"], memory)]
        others = "–" if row["others"] is None else f"{row['others']:.0%}"
        lines.append([row["task"], row["who"], *figures, others, ratio, row["bar"] + outcome, row["note"]])
    head = ["task", "package", "seconds", "user CPU", "first call", "MiB", "other load", "vs. trueedge"]
    head += ["target", "note"]
    where, packages = measured["machine"], measured["versions"]
    listed = ", ".join(f"{name} {packages[name]}" for name in packages)
    place = f"{where['processor']}, {where['cores']} cores, {measured['threads']} threads"
    return f"{table(head, lines)}\n\n{place}; {measured['repeats']} repeats; {listed}."


def large_table() -> str:
    """Hard negatives at the size of the largest graphs: the stages of each run, and the machine."""
    lines, where = [], ""
    for size in ("citation2", "ppa"):
        run = json.loads((ROOT / "benchmarks" / "results" / f"large-heart-{size}.json").read_text())
        graph, gigabytes = run["graph"], run["peak_memory"] / 2**30
        stages = {stage["name"]: stage["seconds"] for stage in run["stages"]}
        bars = run["bars"]
        outcome = "reached" if all(bar["reached"] for bar in bars.values()) else "missed"
        lines.append(
            [
                f"ogbl-{size}'s",
                f"{graph['nodes']:,}",
                f"{graph['edges']:,}",
                f"{run['positives']:,}",
                f"{run['eps']:g}",
                f"{stages['make the graph']:.1f}",
                f"{stages['make the negatives']:.1f}",
                f"{sum(stages.values()):.1f}",
                f"{gigabytes:.2f}",
                f"{bars['seconds']['below']:,} s, {bars['gibibytes']['below']} GiB: {outcome}",
            ]
        )
        where = f"{run['machine']['processor']}, {run['machine']['cores']} cores, {run['threads']} threads."
    head = [
        "size",
        "nodes",
        "edges",
        "positives",
        "eps",
        "graph (s)",
        "negatives (s)",
        "total (s)",
    ]
    return f"{table([*head, 'peak GiB', 'targets'], lines)}\n\n{where}"


def engines_table() -> str:
    """What was measured of engines and shares."""
    return table(["what", "result", "command"], engine_tables.rows(ROOT / "benchmarks" / "results"))


def hgb_causes_table(kind: str) -> str:
    """What HGB's code does but its paper does not say: ours, with its settings, and published."""
    head = ["model, data set", "settings of the code", "seeds", "ours", "with these", "published", "outcome"]
    return table(head, hgb_tables.causes(ROOT, kind))


def hgb_first_table() -> str:
    """Simple-HGN minus each other method, with paired intervals."""
    rows = hgb_tables.first_places(ROOT)
    if not rows:
        return "No differences are stored yet. The command above computes them."
    columns = [f"{data} {metric}" for data in ("dblp", "imdb", "acm") for metric in ("macro-F1", "micro-F1")]
    return table(["Simple-HGN minus", *columns], rows)


def draws_table() -> str:
    """Squirrel and Chameleon over splits and draws: pictures, methods, and differences of methods."""
    return draws_tables.render(ROOT / "results", table)


def ties_table() -> str:
    """Heuristics against HeaRT's negatives of ogbl-ddi, with ties broken in three ways."""
    return ties_tables.render(ROOT, table)


def network_ties_table() -> str:
    """The published AUC under HeaRT beside heuristics with two rules for hard negatives."""
    return ties_tables.networks(ROOT, table)


TABLES: dict[str, Callable[..., str]] = {
    "hgb-causes": hgb_causes_table,
    "hgb-first": hgb_first_table,
    "datasets": datasets_table,
    "dataset-families": dataset_families_table,
    "methods": methods_table,
    "method-families": method_families_table,
    "published-settings": published_settings_table,
    "protocols": protocols_table,
    "protocols-by-data": protocols_by_data_table,
    "options": options_table,
    "metrics": metrics_table,
    "studies": studies_table,
    "comparison": comparison_table,
    "equal-steps": equal_steps_table,
    "draws": draws_table,
    "ties": ties_table,
    "network-ties": network_ties_table,
    "recommendation": recommendation_table,
    "recommendation-differences": recommendation_differences_table,
    "pretrained": pretrained_table,
    "ledger": ledger_table,
    "networks": networks_table,
    "plain": plain_table,
    "spread": spread_table,
    "checks": checks_table,
    "checks-by-kind": checks_by_kind_table,
    "null-audits": null_audits_table,
    "degree-bias": degree_bias_table,
    "communities": communities_table,
    "coverage": coverage_table,
    "speed": speed_table,
    "large": large_table,
    "engines": engines_table,
}


def rewritten(text: str) -> str:
    """The text with every table between its two markers made anew."""

    def fill(match: re.Match[str]) -> str:
        name, _, argument = match.group(1).partition("=")
        made = TABLES[name](argument) if argument else TABLES[name]()
        return f"<!-- table:{match.group(1)} -->\n{made}\n<!-- /table -->"

    return re.sub(r"<!-- table:([\w=-]+) -->\n.*?<!-- /table -->", fill, text, flags=re.DOTALL)


def growth_picture() -> str:
    """The picture of the growth of cost."""
    return picture(json.loads((ROOT / "benchmarks" / "results" / "scaling.json").read_text())["rows"])


def typed_cost_picture() -> str:
    """The picture of the time and memory of models of typed graphs."""
    from trueedge.report.charts import draw
    from trueedge.studies.evidence import figures

    (figure,) = figures(ROOT / "results" / "hgb-cost.json")
    return f"{draw(figure)}\n"


PICTURES: dict[str, Callable[[], str]] = {
    "docs/growth.svg": growth_picture,
    "docs/typed-cost.svg": typed_cost_picture,
    **{
        path: partial(draws_tables.picture, ROOT / "results", name)
        for path, name in draws_tables.PICTURES.items()
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
