"""HeaRT's figures: from our own tasks, and each number by another way too."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge import studies
from trueedge.analysis.figure import Figure
from trueedge.errors import InputError
from trueedge.studies import Plan
from trueedge.studies.heart import (
    figures as heart_figures,
)
from trueedge.studies.heart import (
    pipeline as heart_pipeline,
)
from trueedge.studies.heart import (
    stability as heart_stability,
)
from trueedge.studies.heart.figures import STARTS, common_neighbours, shares, thinned


@pytest.fixture(scope="module")
def cora() -> te.LinkTask:
    return te.task("cora", "existing", 0)


@pytest.fixture(scope="module")
def hard() -> te.LinkTask:
    return te.task("cora", "heart", 0)


@pytest.fixture
def few(monkeypatch) -> None:
    """Of HeaRT's negatives those of thirty positives."""
    monkeypatch.setattr(heart_figures, "MOST_POSITIVES", 30)


def no_files(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path))
    monkeypatch.setenv("TRUEEDGE_CACHE", str(tmp_path / "cache"))


def test_common_neighbours_are_counted_as_sets_count_them(cora, few) -> None:
    counted = common_neighbours("cora")
    near = [set(cora.graph.neighbors(node).tolist()) for node in range(cora.num_nodes)]

    def slow(pairs: np.ndarray) -> list[int]:
        return [len(near[u] & near[v]) for u, v in pairs.reshape(-1, 2).tolist()]

    assert counted["existing", "positives"].tolist() == slow(cora.test.positives)
    assert counted["existing", "negatives"].tolist() == slow(cora.test.negatives)
    assert counted["heart", "negatives"].tolist() == slow(thinned(cora, ("test",), 30).test.negatives)


def test_shares_are_a_histogram_with_all_pairs_in_it() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3000, size=5000) ** 2 // 3000
    edges = [*STARTS, np.inf]
    assert shares(counts) == pytest.approx(np.histogram(counts, bins=edges)[0] / 5000)
    assert shares(counts).sum() == pytest.approx(1)
    assert shares(np.array([0])).tolist() == [1.0] + [0.0] * (len(STARTS) - 1)
    assert shares(np.array([10**9]))[-1] == 1
    assert shares(np.empty(0, dtype=np.int64)).sum() == 0


def test_a_thinned_task_has_the_negatives_of_the_whole_one(cora, hard) -> None:
    few = thinned(cora, most=20)
    assert {name: part.negatives.shape for name, part in few.parts.items()} == dict.fromkeys(
        ("valid", "test"), (20, 500, 2)
    )
    for name, part in few.parts.items():
        place = {tuple(pair): row for row, pair in enumerate(hard.part(name).positives.tolist())}
        rows = [place[tuple(pair)] for pair in part.positives.tolist()]
        assert (part.negatives == hard.part(name).negatives[rows]).all()
        assert rows == sorted(set(rows))
    assert few.hash == thinned(cora, most=20).hash != thinned(cora, most=20, seed=1).hash


def test_figure_4_draws_both_settings_and_figure_3_one(few) -> None:
    for number, names in ((3, 2), (4, 3)):
        finding = studies.get(f"heart/figure-{number}").run(Plan(datasets=("cora",)))
        (figure,) = finding.figures
        assert len(figure.series) == names
        assert figure.kind == "bars"
        assert all(sum(one.y) == pytest.approx(1) for one in figure.series)
        # Nothing is drawn to the right of the last pair.
        assert any(one.y[-1] > 0 for one in figure.series)
        assert Figure.from_dict(figure.to_dict()) == figure
        none = {(row.protocol, row.method): row.ours for row in finding.rows if "without" in row.metric}
        assert none["existing", "negatives"] == pytest.approx(100 * figure.series[1].y[0])
        assert none["existing", "positives"] < none["existing", "negatives"]
    assert none["heart", "negatives"] < none["existing", "negatives"]
    assert figure.note.endswith("15,000 negatives, HeaRT of 30 positives")


@pytest.mark.data("planetoid", "heart/citeseer")
def test_the_released_files_have_a_picture_of_their_own(data_folder, few) -> None:
    finding = studies.get("heart/figure-4").run(Plan(datasets=("citeseer",)))
    ours, released = finding.figures
    assert released.title.endswith("citeseer, released files")
    assert ours.name != released.name
    assert {row.protocol for row in finding.rows} == {
        "existing",
        "heart",
        "existing-released",
        "heart-released",
    }


def test_a_data_set_that_is_not_here_is_missing_and_the_others_are_drawn(monkeypatch, tmp_path) -> None:
    no_files(monkeypatch, tmp_path)
    finding = studies.get("heart/figure-3").run(Plan())
    assert [figure.name for figure in finding.figures] == ["heart-figure-3-cora"]
    assert len(finding.missing) == 3
    for number in (1, 5):
        with pytest.raises(InputError, match=f"nothing of heart/figure-{number} could be drawn: ogbl-collab"):
            studies.get(f"heart/figure-{number}").run(Plan())
    with pytest.raises(InputError, match="nothing of heart/figure-2 could be drawn: citeseer"):
        studies.get("heart/figure-2").run(Plan(datasets=("citeseer",)))
    with pytest.raises(InputError, match="ogbl-ddi"):
        studies.get("heart/figure-6").run(Plan())


@pytest.mark.parametrize("name", [*(f"heart/figure-{number}" for number in range(1, 8)), "heart/table-6"])
def test_unknown_data_sets_and_methods_are_named(name: str) -> None:
    with pytest.raises(InputError, match="data set of heart"):
        studies.get(name).run(Plan(datasets=("karate",)))
    with pytest.raises(InputError, match="method of heart"):
        studies.get(name).run(Plan(methods=("banana",)))


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("row", [0, 7, 100])
def test_figure_2_ranks_as_the_negatives_were_chosen(cora, hard, side: int, row: int) -> None:
    found = heart_pipeline.corruptions(cora, row, side)
    half = slice(0, 250) if side == 0 else slice(250, 500)
    chosen = hard.test.negatives[row, half, 1 - side]
    assert (hard.test.negatives[row, half, side] == found.kept).all()
    assert len(found.chosen) == 250
    assert found.chosen.tolist() == chosen.tolist()
    best = found.combined[found.chosen]
    assert (np.diff(best) >= 0).all()
    assert all(
        value == min(ranks[node] for ranks in found.ranks.values() if not math.isnan(ranks[node]))
        for node, value in zip(found.chosen, best, strict=True)
    )


def test_figure_2_is_a_heat_map_of_ranks() -> None:
    finding = studies.get("heart/figure-2").run(Plan(datasets=("cora",)))
    assert [figure.name.rsplit("-", 1)[1] for figure in finding.figures] == ["source", "target"]
    for figure in finding.figures:
        assert figure.kind == "heat"
        *heuristics, combined = figure.series
        assert [one.name for one in heuristics] == list(heart_pipeline.HEURISTICS.values())
        assert len(combined.y) == heart_pipeline.SHOWN
        assert combined.y[0] == 0
        assert list(combined.y) == sorted(combined.y)
    assert all(0 <= row.ours <= 100 for row in finding.rows)
    # Each negative is there because some heuristic ranks it high.
    assert sum(row.ours for row in finding.rows if "source" in row.metric) >= 100


def test_the_typical_positive_has_a_common_neighbour(cora) -> None:
    row = heart_pipeline.typical(cora)
    u, v = cora.test.positives[row].tolist()
    assert set(cora.graph.neighbors(u).tolist()) & set(cora.graph.neighbors(v).tolist())


@pytest.fixture
def quick(monkeypatch) -> None:
    """Figures 6 and 7 on a small graph, a few epochs long."""
    monkeypatch.setattr(heart_stability, "DATASET", "cora")
    monkeypatch.setattr(heart_stability, "METRIC", "hits@10")
    monkeypatch.setattr(heart_stability, "POSITIVES_PER_EVALUATION", 10)
    schedule = {"epochs": 4, "evaluate_every": 2, "patience": 4, "select": "hits@10", "dim": 8}
    monkeypatch.setattr(heart_stability, "SCHEDULE", schedule)


@pytest.mark.parametrize("number", [6, 7])
def test_validation_and_test_are_kept_at_every_evaluation(quick, number: int, tmp_path, monkeypatch) -> None:
    pytest.importorskip("torch")
    seeds = {6: 2, 7: 1}[number]
    plan = Plan(methods=("gcn",), seeds=seeds, store=te.Store(tmp_path))
    finding = studies.get(f"heart/figure-{number}").run(plan)
    (figure,) = finding.figures
    (series,) = figure.series
    assert (figure.kind, figure.diagonal, series.name) == ("points", True, "gcn")
    # Two evaluations of each seed.
    assert len(series.x) == 2 * seeds
    assert finding.places[0]["device"] == "cpu"
    # What the store holds is not trained again.
    monkeypatch.setattr("trueedge.training.train", None)
    assert studies.get(f"heart/figure-{number}").run(plan).figures == finding.figures
    for path in (tmp_path / "looks").iterdir():
        path.write_text("{}")
    with pytest.raises(InputError, match="is damaged: delete it"):
        studies.get(f"heart/figure-{number}").run(plan)


def test_settings_reach_the_methods_of_figures_6_and_7(quick) -> None:
    pytest.importorskip("torch")
    settings = {"epochs": 3, "evaluate_every": 1}
    plan = Plan(methods=("gcn",), seeds=1, settings=settings)
    (figure,) = studies.get("heart/figure-6").run(plan).figures
    assert len(figure.series[0].x) == 3
    assert figure.note.startswith("1 seed of 3 epochs, an evaluation every 1; ")
    with pytest.raises(InputError, match=r"heart/figure-6 is about hits@10: remove the setting select"):
        studies.get("heart/figure-6").run(replace(plan, settings={"select": "mrr"}))


def test_being_observed_changes_no_training(cora) -> None:
    pytest.importorskip("torch")
    method = te.methods.create("gcn", {"epochs": 4, "evaluate_every": 2, "select": "hits@10", "dim": 8})
    plain = method.fit(cora, seed=3)
    watched = heart_stability.ObservedTask.of(cora)
    seen = method.fit(watched, seed=3)
    assert seen.history.losses == plain.history.losses
    assert seen.history.values == plain.history.values
    assert [valid for valid, _ in watched.evaluations] == [value for _, value in plain.history.values]
    assert watched.hash == cora.hash
    # The state that was kept is one of those that were looked at.
    kept = cora.evaluate(seen, "test", ["hits@10"])["hits@10"]
    assert (plain.history.best, kept) in watched.evaluations
    assert (cora.evaluate(seen)["mrr"], len(watched.evaluations)) == (watched.evaluate(seen)["mrr"], 2)


def test_the_correlation_is_spearmans_and_none_of_a_constant(cora) -> None:
    looks = [(0.1, 0.3), (0.2, 0.4), (0.3, 0.2), (0.4, 0.6)]
    (row,) = heart_stability._correlation(cora, "gcn", looks, 1)
    # Ranks 1 2 3 4 and 2 3 1 4: 1 - 6 (1 + 1 + 4 + 0) / (4 (16 - 1)).
    assert row.ours == pytest.approx(0.4)
    for flat in ([(0.1, 0.2)], [(0.1, 0.2), (0.1, 0.4)], [(0.1, 0.0), (0.3, 0.0)]):
        assert heart_stability._correlation(cora, "gcn", flat, 1) == []


def spread_of(monkeypatch, stds: dict[tuple[str, str], list[float]], seeds: int = 3):
    """Table 6 of records whose seeds differ by so much."""
    values = [
        value
        for value in studies.published("heart")
        if value.table in ("heart/table-1", "heart/table-4") and value.metric == "mrr" and value.std
    ]

    class Ran:
        def __init__(self, name, chosen, protocol, method, seeds):
            kept = {(v.dataset, v.protocol, v.method) for v in chosen}
            assert kept >= {(v.dataset, v.protocol, v.method) for v in values}
            assert not any(v.table in ("heart/table-6", "heart/table-3", "heart/table-9") for v in chosen)

        def run(self, plan):
            rows = [
                studies.Comparison(*where, f"method-{place}", "mrr", 1.0, std, seeds, 2.0)
                for where, several in stds.items()
                for place, std in enumerate(several)
            ]
            return studies.Finding(rows, ["one is missing"])

    monkeypatch.setattr(heart_stability, "PrintedTable", Ran)
    monkeypatch.setattr(heart_stability, "_released", lambda name: False)
    return studies.get("heart/table-6").run(Plan())


def test_table_6_is_the_mean_over_methods_of_the_spread_over_seeds(monkeypatch) -> None:
    stds = {("cora", "existing"): [2.0, 4.0, 6.0], ("cora", "heart"): [1.0]}
    finding = spread_of(monkeypatch, stds)
    existing, hard = finding.rows
    assert (existing.ours, existing.std, existing.theirs) == (4.0, 2.0, 5.19)
    assert (hard.ours, hard.std, hard.theirs) == (1.0, 0.0, 0.79)
    assert existing.metric == "mean std of mrr"
    assert finding.missing == ["one is missing"]
    (figure,) = finding.figures
    drawn = {one.name: one.y for one in figure.series}
    assert drawn["mean"] == (4.0, 1.0)
    assert drawn["published mean"] == (5.19, 0.79)
    assert drawn["method-0"] == (2.0, 1.0)
    assert figure.note == "the mean is over method-0, method-1, method-2"
    assert math.isnan(drawn["method-1"][1])


def test_table_6_needs_two_seeds(monkeypatch) -> None:
    with pytest.raises(InputError, match=r"there is no value for heart/table-6"):
        spread_of(monkeypatch, {("cora", "existing"): [0.0]}, seeds=1)


def test_table_6_runs_what_the_tables_print(monkeypatch, tmp_path) -> None:
    pytest.importorskip("torch")
    no_files(monkeypatch, tmp_path)
    monkeypatch.setattr(
        heart_stability,
        "selected_by",
        lambda value: te.methods.create(value.method, {"epochs": 2, "dim": 8, "select": value.metric}),
    )
    values = [value for value in studies.published("heart") if value.protocol == "existing"]
    monkeypatch.setattr(heart_stability, "published", lambda paper: values)
    finding = studies.get("heart/table-6").run(Plan(datasets=("cora",), methods=("mf",), seeds=2))
    (row,) = finding.rows
    assert (row.protocol, row.seeds, row.theirs) == ("existing", 2, 5.19)
    assert row.ours > 0


def test_the_table_of_the_docs_joins_the_figures_and_refuses_others(tmp_path, monkeypatch, few) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    import heart_figures_tables
    import pictures

    assert "No results are stored yet" in heart_figures_tables.render(tmp_path)
    for number in (3, 4):
        finding = studies.get(f"heart/figure-{number}").run(Plan(datasets=("cora",)))
        path = studies.write(
            studies.get(f"heart/figure-{number}"), finding, tmp_path / f"heart-figure-{number}.json"
        )
    made = heart_figures_tables.render(tmp_path)
    assert "![Common neighbours of test pairs: cora](common-neighbours-cora.svg)\n*Common" in made
    assert "30 positives.*" in made
    # The existing setting is in both figures, and has one row.
    shares = [row.ours for row in finding.rows if "without" in row.metric]
    (line,) = [line for line in made.splitlines() if line.startswith("| cora | ")]
    cells = " | ".join(f"{share:.2f} %" for share in shares)
    assert line.startswith(f"| cora | existing, heart | {cells} | ")
    drawn = pictures.picture(tmp_path, "heart-figure-4", "heart-figure-4-cora")
    assert drawn.startswith("<svg")
    assert "background:#fff;" in drawn
    card = json.loads(path.read_text())
    card["rows"][0]["ours"] += 1
    path.write_text(json.dumps(card))
    with pytest.raises(SystemExit, match=r"heart-figure-4\.json does not agree with another figure"):
        heart_figures_tables.render(tmp_path)
