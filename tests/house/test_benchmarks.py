"""The benchmark suite runs, compares answers before times, and says who is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import dense_rows, graphs, heart, pairs, ppr, run, scaling, timing  # noqa: E402

from trueedge import methods, negatives  # noqa: E402

TINY = graphs.SIZES["tiny"]


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads need no time to come to rest where nothing is measured."""
    monkeypatch.setattr(timing, "REST", 0.0)


@pytest.fixture(scope="module")
def graph():
    return graphs.heavy_tailed(*TINY.collab)


@pytest.mark.rotating(1)
@pytest.mark.parametrize("subject", run.SUBJECTS)
def test_a_subject_runs_without_the_peers_and_leaves_its_file(subject: str, tmp_path: Path) -> None:
    options = ["--size", "tiny", "--repeats", "1", "--no-peers", "--output", str(tmp_path)]
    assert run.main([subject, *options]) == 0
    (path,) = tmp_path.iterdir()
    assert path.stem == (f"{subject}-cpu" if subject in run.TRAINED else subject)
    content = json.loads(path.read_text())
    assert content["size"] == "tiny"
    assert content["machine"]["cores"] >= 1
    assert "numba" in content["versions"]
    # Asking positives and negatives apart is what trueedge did before.
    assert {row["who"] for row in content["rows"]} - {"asked apart"} == {"trueedge"}
    assert all(row["exponent"] is not None or row["seconds"] > 0 for row in content["rows"])
    assert all(row["reached"] is None for row in content["rows"]), "bars are for full sizes"


def test_the_module_lists_its_subjects() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.run", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert ", ".join(run.SUBJECTS) in " ".join(done.stdout.split())


def test_an_unknown_subject_is_refused_with_the_list_of_subjects(capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        run.main(["pairz"])
    assert stop.value.code == 2
    assert "there is no subject 'pairz'; there are pairs, ppr," in capsys.readouterr().err


@pytest.mark.parametrize("index", pairs.INDICES)
def test_the_row_products_give_our_scores(graph, index: str) -> None:
    asked = graphs.degree_weighted_pairs(graph, 500)
    ours = methods.get(index)().score(graph, asked)
    peer = pairs.scipy(graph, asked, index)
    timing.agree(ours, peer.read(peer.run()))
    assert ours.max() > 0


@pytest.mark.parametrize("rank", [dense_rows.rank_whole_row, dense_rows.rank_scored])
def test_the_dense_rows_choose_the_negatives_of_the_released_rule(graph, rank) -> None:
    positives = graph.edges[::200].astype(np.int64)
    ends = np.unique(positives)
    rows = dict(zip(ends.tolist(), heart.estimates(graph, ends), strict=True))
    slow = dense_rows.hard_negatives(graph, positives, 100, rows.__getitem__, rank)
    quick = negatives.heart(graph, positives, 100, eps=heart.EPS, ties="released")
    assert np.array_equal(slow, quick)


def test_both_ways_of_ranking_a_row_give_the_same_ranks() -> None:
    rng = np.random.default_rng(3)
    for scored in (0, 1, 5, 40):
        row = np.zeros(50)
        row[rng.permutation(50)[:scored]] = rng.integers(1, 6, size=scored)
        barred = rng.permutation(50)[:7]
        row[barred] = 0.0
        slow, quick = dense_rows.rank_whole_row(row, barred), dense_rows.rank_scored(row, barred)
        assert slow.tolist() == quick.tolist()
    row = np.array([0.0, 3.0, 2.0, 3.0, 1.0, 2.0, 0.0])
    assert dense_rows.rank_whole_row(row, np.array([6])).tolist() == [5, 1, 3, 1, 4, 3, 6]


def test_other_negatives_than_ours_are_refused() -> None:
    ours = np.zeros((3, 2, 2), dtype=np.int32)
    heart.check(ours, ours.copy())
    theirs = ours.copy()
    theirs[1, 1, 0] = 9
    with pytest.raises(timing.DisagreementError, match="negatives of positive 1 differ"):
        heart.check(ours, theirs)


def test_the_bar_is_on_the_straightforward_ranking_alone() -> None:
    split = graphs.with_held_out(*TINY.collab, TINY.hard_positives)
    rows = heart.dense("hard", split.train, split.test.astype(np.int64), 5, 100, base=1e-6)
    assert [(row.task, row.who) for row in rows if row.bar] == [("hard", heart.WHOLE)]
    whole, push, ranking, kinder, kinder_ranking = rows
    assert whole.reached is True
    assert whole.seconds == pytest.approx(push.seconds + ranking.seconds)
    assert kinder.seconds == pytest.approx(push.seconds + kinder_ranking.seconds)
    assert kinder.who == kinder_ranking.who == heart.SCORED


def test_the_searched_stack_keeps_pageranks_bound(graph) -> None:
    ends = np.array([0, 7, 1100])
    stack = dense_rows.stack_pagerank(graph, heart.ALPHA, heart.EPS)
    theirs = np.stack([stack(int(end)) for end in ends])
    ppr.within_bound(heart.EPS * graph.degrees, heart.estimates(graph, ends), theirs)
    theirs[1, 7] += 2 * heart.EPS * graph.degrees[7]
    with pytest.raises(timing.DisagreementError, match="source 1, node 7"):
        ppr.within_bound(heart.EPS * graph.degrees, heart.estimates(graph, ends), theirs)


def test_a_peer_with_another_answer_is_no_peer() -> None:
    ours = timing.Contender("trueedge", lambda: np.array([1.0, 2.0, 3.0]))
    wrong = timing.Contender("somebody", lambda: [1.0, 2.5])
    with pytest.raises(
        timing.DisagreementError, match=r"sums: somebody .* number 1 is 2\.0 in ours and 2\.5 in theirs"
    ):
        timing.race("sums", ours, [wrong], repeats=1)


def test_an_extrapolated_time_is_divided_by_the_share_and_judged_by_its_bar() -> None:
    now = [0.0]

    def count_up(calls: list[int]) -> list[float]:
        calls.append(1)
        now[0] += 1.0  # every call takes one second of this clock
        return [1.0]

    ours_calls: list[int] = []
    peer_calls: list[int] = []
    ours = timing.Contender("trueedge", partial(count_up, ours_calls), bar=timing.Bar("seconds", 0.5))
    peer = timing.Contender("somebody", partial(count_up, peer_calls), share=0.25, bar=timing.Bar("ratio", 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing.time, "perf_counter", lambda: now[0])
        ours_row, peer_row = timing.race("sums", ours, [peer], repeats=3)
    assert len(ours_calls) == len(peer_calls) == 4
    assert (ours_row.seconds, ours_row.reached, ours_row.ratio) == (1.0, False, None)
    assert (peer_row.seconds, peer_row.reached, peer_row.ratio) == (4.0, True, 4.0)


def test_a_package_that_is_not_there_gets_a_line_that_says_so() -> None:
    def make() -> timing.Contender:
        import a_package_nobody_has  # noqa: F401

        raise AssertionError

    peers, absent = timing.invite({"nobody": make})
    (row,) = timing.absent_rows("sums", absent)
    assert (peers, row.who, row.note) == ([], "nobody", "not installed")
    assert run.cells(row)[-1] == "not installed"


def test_an_exponent_is_the_slope_of_the_logarithms() -> None:
    assert scaling.exponent((10, 20, 40, 80), [1.0, 2.0, 4.0, 8.0]) == pytest.approx(1.0)
    row = scaling.fitted("squares", (10, 20, 40, 80), [1.0, 4.0, 16.0, 64.0])
    assert row.exponent == pytest.approx(2.0)
    assert row.reached is False


def test_pairs_are_distinct_and_their_ends_drawn_by_degree(graph) -> None:
    drawn = graphs.degree_weighted_pairs(graph, 2_000)
    assert drawn.shape == (2_000, 2)
    assert len(np.unique(np.sort(drawn, axis=1), axis=0)) == 2_000
    assert (drawn[:, 0] != drawn[:, 1]).all()
    by_degree = (graph.degrees.astype(float) ** 2).sum() / graph.degrees.sum()
    assert graph.degrees[drawn].mean() == pytest.approx(by_degree, rel=0.1)


def test_the_picture_of_epochs_is_ordered_by_mean_degree(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import speed_tables

    assert speed_tables.epochs_picture("cpu", tmp_path) == ""
    rows = [
        {"task": f"{method}, {name}, mean degree {degree}, cpu", "user": seconds, "seconds": 9 * seconds}
        for method, seconds in (("lpformer", 1.0), ("ncnc", 10.0))
        for name, degree in (("dense", 100.0), ("sparse", 2.5))
    ]
    (tmp_path / "pairwise_epochs-cpu.json").write_text(json.dumps({"rows": rows}))
    drawn = speed_tables.epochs_picture("cpu", tmp_path)
    assert drawn.index(">sparse (2.5)<") < drawn.index(">dense (100.0)<")
    assert "from 1 to 10" in drawn
