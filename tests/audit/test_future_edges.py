"""Does the audit see that a random split looks into the future?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.audit import audit
from trueedge.audit.check import Finding
from trueedge.splits import by_time


def mail(seed: int = 0) -> te.Graph:
    rng = np.random.default_rng(seed)
    edges = np.unique(np.sort(rng.integers(0, 60, (500, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    return te.Graph.from_edges(edges, 60, edge_data={"time": rng.permutation(len(edges))}, name="mail")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of named nodes whose lines and directions are in random order."""
    graph, rng = mail(), np.random.default_rng(1)
    path = tmp_path_factory.mktemp("mail") / "mail.csv"
    rows = [
        f"n{pair[turn]},n{pair[1 - turn]},{time}"
        for pair, time, turn in zip(
            graph.edges.tolist(),
            graph.edge_data["time"].tolist(),
            rng.integers(0, 2, graph.num_edges).tolist(),
            strict=True,
        )
    ]
    path.write_text("\n".join(["source,target,time", *(rows[row] for row in rng.permutation(len(rows)))]))
    return path


def by_hand(task: te.LinkTask, path: Path) -> tuple[float, float]:
    """Return both shares from the lines of the file alone."""
    lines = [line.split(",") for line in path.read_text().splitlines()[1:]]
    times = {frozenset(line[:2]): int(line[2]) for line in lines}
    names = task.graph.labels
    assert names is not None
    train, test = (
        np.array([times[frozenset((names[u], names[v]))] for u, v in pairs.tolist()])
        for pairs in (task.graph.edges, task.test.positives)
    )
    return float((train > np.median(test)).mean()), float((train[:, None] > test).mean())


@pytest.mark.parametrize("protocol", ["existing", "uniform"])
def test_file_graph_task_and_saved_task_give_the_finding_that_the_lines_of_the_file_give(
    listed: Path, tmp_path: Path, protocol: str
) -> None:
    task = te.task(listed, protocol)
    assert isinstance(task, te.LinkTask)
    saved = task.save(tmp_path / "task")
    found: list[Finding] = [
        audit(one)["future-edges"] if isinstance(one, te.LinkTask) else audit(one, protocol)["future-edges"]
        for one in (listed, te.load(listed), task, te.load_task(saved))
    ]
    expected = by_hand(task, listed)
    for one in found:
        assert tuple(one.numbers.values()) == pytest.approx(expected)
        assert one.sentence == found[0].sentence
        assert one.looked == f"{len(task.test.positives)} test edges"


def test_times_of_a_saved_task_that_were_changed_are_noticed(tmp_path: Path) -> None:
    saved = te.task(mail(), "existing").save(tmp_path / "task")
    times = np.load(saved / "test_times.npy")
    np.save(saved / "test_times.npy", times[::-1])
    with pytest.raises(te.InputError, match="times"):
        te.load_task(saved)


def test_times_do_not_change_the_hash_of_a_task_and_tests_are_hidden_while_fitting() -> None:
    task = te.task(mail(), "existing")
    assert isinstance(task, te.LinkTask)
    assert task.test.times is not None
    assert te.tasks.Part(task.test.positives, task.test.negatives).hash == task.test.hash
    assert "test_times" not in task.for_fitting().arrays()


def test_a_random_split_looks_into_the_future_and_a_split_by_time_does_not() -> None:
    found = audit(mail(), "existing")["future-edges"]
    assert found.verdict == "look"
    assert found.number == pytest.approx(0.5, abs=0.2)
    assert "split=time" in found.advice
    fine = audit(mail(), "existing", split="time")["future-edges"]
    assert fine.verdict == "ok"
    assert fine.number == 0
    assert fine.looked.endswith("test edges")
    assert audit(te.task(mail(), "existing", split="time"))["future-edges"].sentence == fine.sentence


def test_a_split_that_does_not_know_its_times_is_skipped() -> None:
    made = by_time(mail())
    task = te.task(te.Split(made.train, made.valid, made.test, "own"), "existing")
    assert "not known" in audit(task).skipped["future-edges"]


def test_an_own_split_is_looked_at_with_the_times_of_its_graph() -> None:
    graph = mail()
    assert audit(graph, split=by_time(graph))["future-edges"].number == 0
    assert audit(te.task(by_time(graph), "existing"))["future-edges"].number == 0


def test_a_split_refuses_times_that_are_not_those_of_its_edges() -> None:
    made = by_time(mail())
    with pytest.raises(te.InputError, match="'test'"):
        te.Split(made.train, made.valid, made.test, "own", times={"test": np.arange(3)})


def test_a_graph_without_times_is_skipped() -> None:
    assert audit("karate").skipped["future-edges"] == "the edges have no times"
