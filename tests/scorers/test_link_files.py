"""Typed links go to another program, and their scores come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import HeteroGraph
from trueedge.scorers.score_files import read_scores
from typed_graphs import small_graph

SEVERAL = "author-paper,paper-cites-paper"


def made(relation: str = "", graph: HeteroGraph | None = None) -> te.TypedLinkTask:
    found = te.task(graph or small_graph(), "typed-links", relation=relation, negatives="random")
    assert isinstance(found, te.TypedLinkTask)
    return found


def lines_of(task: te.TypedLinkTask, values: np.ndarray) -> list[str]:
    rows = task.links_in_files.rows(task.distinct_links())
    return [",".join([*row, repr(float(value))]) for row, value in zip(rows, values, strict=True)]


def wanted(task: te.TypedLinkTask, values: np.ndarray) -> dict[str, float]:
    known = {tuple(row): value for row, value in zip(task.distinct_links().tolist(), values, strict=True)}
    return dict(task.evaluate(lambda links: np.array([known[tuple(row)] for row in links.tolist()])))


@pytest.mark.parametrize("relation", ["", SEVERAL])
def test_lines_in_any_order_and_scores_in_the_order_of_the_links_give_the_same(
    relation: str, tmp_path: Path
) -> None:
    task = made(relation)
    values = np.random.default_rng(0).random(len(task.distinct_links()))
    lines = lines_of(task, values)
    assert len(lines[0].split(",")) == (4 if relation else 3)
    (tmp_path / "lines.csv").write_text("\n".join(reversed(lines)))
    (tmp_path / "order.txt").write_text("\n".join([f"# {task.pairs_title()}", *map(repr, values.tolist())]))
    np.savez(tmp_path / "order.npz", scores=values, task=task.hash)
    for name in ("lines.csv", "order.txt", "order.npz"):
        assert dict(task.evaluate(tmp_path / name)) == wanted(task, values)
        verdict = te.judge(tmp_path / name, task, checks=False)
        assert verdict.answers[0].value == wanted(task, values)["roc-auc"]


def test_a_link_and_its_reverse_have_scores_of_their_own(tmp_path: Path) -> None:
    graph = HeteroGraph.from_tables(
        {"p": 40}, {("p", "cites", "p"): [(u, (u * k + 1) % 40) for u in range(40) for k in (3, 7, 11)]}
    )
    task = made(graph=graph)
    links = task.distinct_links()
    values = links[:, 0] * 1000.0 + links[:, 2]
    (tmp_path / "s.csv").write_text("\n".join(lines_of(task, values)))
    np.save(tmp_path / "s.npy", np.column_stack([links[:, [0, 2]], values]))
    for name in ("s.csv", "s.npy"):
        assert dict(task.evaluate(tmp_path / name)) == wanted(task, values)


def test_names_of_one_type_may_be_those_of_another(tmp_path: Path) -> None:
    names = [f"n{node}" for node in range(30)]
    nodes = {"author": {"id": names}, "paper": {"id": names}}
    pairs = [(f"n{u}", f"n{(u * k) % 30}") for u in range(30) for k in (1, 7, 11)]
    graph = HeteroGraph.from_tables(
        nodes,
        {
            ("author", "writes", "paper"): dict(
                zip(("source", "target"), zip(*pairs, strict=True), strict=True)
            )
        },
    )
    task = made(graph=graph)
    values = np.arange(len(task.distinct_links()), dtype=float)
    lines = lines_of(task, values)
    assert lines[0].startswith("n")
    file = tmp_path / "s.csv"
    file.write_text("\n".join(lines))
    assert dict(task.evaluate(file)) == wanted(task, values)
    file.write_text("\n".join([*lines, "n1,nobody,1"]))
    with pytest.raises(InputError, match=rf"s.csv, line {len(lines) + 1}: no node is called 'nobody'"):
        task.evaluate(file)


@pytest.mark.parametrize("relation", ["", SEVERAL])
@pytest.mark.parametrize("numbered", [False, True])
def test_the_relation_may_be_named_or_numbered_also_if_there_is_one(
    relation: str, numbered: bool, tmp_path: Path
) -> None:
    task = made(relation)
    links, relations = task.distinct_links(), task.graph.relations
    values = np.random.default_rng(0).random(len(links))
    file = tmp_path / "s.csv"
    middle = [number if numbered else relations[number].name for number in links[:, 1].tolist()]
    rows = zip(links[:, 0], middle, links[:, 2], values.tolist(), strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    file.write_text("\n".join(lines))
    assert dict(task.evaluate(file)) == wanted(task, values)
    file.write_text("\n".join([*lines, lines[0].replace(f",{middle[0]},", ",loves,")]))
    with pytest.raises(InputError, match=rf"s.csv, line {len(lines) + 1}: no relation is called 'loves'"):
        task.evaluate(file)


def test_a_link_without_a_score_is_named_with_its_relation(tmp_path: Path) -> None:
    task = made(SEVERAL)
    links = task.distinct_links()
    file = tmp_path / "s.csv"
    file.write_text("\n".join(lines_of(task, np.ones(len(links)))[:-1]))
    u, number, v = links[-1]
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    link = f"({u}, {task.graph.relations[number].name}, {v})"
    assert str(caught.value).endswith(f"no score for 1 of {len(links)} pairs, for example {link}")


def test_scores_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    task, several = made(), made(SEVERAL)
    values = np.ones(len(several.distinct_links()))
    file = tmp_path / "s.csv"
    lines = lines_of(several, values)
    file.write_text("\n".join(lines[1:]))
    with pytest.raises(InputError, match=r"s.csv has no score for \d+ of \d+ pairs, for example \("):
        several.evaluate(file)
    file.write_text("\n".join([lines[0].replace("author-paper", "loves"), *lines]))
    with pytest.raises(InputError, match="no relation is called 'loves', there are 'author-paper'"):
        several.evaluate(file)
    file.write_text("\n".join(f"{u},{v},1" for u, _, v in several.distinct_links()))
    with pytest.raises(InputError, match="does not name relations: write lines source,relation,target,score"):
        several.evaluate(file)
    file.write_text("\n".join([f"# {several.pairs_title()}", *map(str, values)]))
    with pytest.raises(InputError, match=r"s\.csv holds scores of .* not of "):
        task.evaluate(file)
    np.savez(tmp_path / "s.npz", positive=np.ones(3), negative=np.ones(3))
    with pytest.raises(InputError, match="holds scores of 3 positives among 6 links, but the test part"):
        task.evaluate(tmp_path / "s.npz")


def test_typed_links_go_to_another_program_and_back(trueedge) -> None:
    trueedge("task", "bibliography", "-p", "typed-links", "-o", "tl")
    status, _, err = trueedge("pairs", "tl", "-o", "pairs.csv")
    assert status == 0
    assert "pairs.csv: 284 distinct pairs" in err
    first, header, *rows = Path("pairs.csv").read_text().splitlines()
    assert header == "source,target"
    Path("s.csv").write_text("\n".join(f"{row},{len(row)}" for row in rows))
    Path("order.txt").write_text("\n".join([first, *(str(len(row)) for row in rows)]))
    status, out, _ = trueedge("score", "tl", "s.csv", "--no-baselines")
    assert status == 0
    assert trueedge("score", "tl", "order.txt", "--no-baselines")[1] == out
    status, out, err = trueedge("judge", "tl", "s.csv")
    assert status == 0
    assert "s.csv holds scores of pairs" in err
    assert "s is " in out or "s beats " in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("pairs", "bibliography", "-p", "node-classification", "-o", "p.csv"),
            "the protocol node-classification predicts the classes of nodes, so it has no pairs to write",
        ),
        (
            ("negatives", "bibliography", "-p", "typed-links", "-o", "n.npz"),
            "the negatives of typed-links are part of its task: 'trueedge task' writes them",
        ),
    ],
)
def test_tasks_without_pairs_to_write_say_what_they_do(trueedge, words: tuple[str, ...], said: str) -> None:
    status, _, err = trueedge(*words)
    assert status == 1
    assert err.endswith(f"trueedge: {said}\n")


def numbered_names(order: str) -> tuple[te.TypedLinkTask, list[str]]:
    """Return a task whose nodes are called by numbers, and these names."""
    numbers = np.random.default_rng(0).permutation(30) + (1 if order == "from 1" else 0)
    names = [str(number) for number in numbers.tolist()]
    pairs = [(names[u], names[(u * k + 1) % 30]) for u in range(30) for k in (3, 7, 11)]
    ends = dict(zip(("source", "target"), map(list, zip(*pairs, strict=True)), strict=True))
    return made(graph=HeteroGraph.from_tables({"p": {"id": names}}, {("p", "cites", "p"): ends})), names


def saved(file: Path, rows: list[list[int]], values: np.ndarray) -> Path:
    pairs = np.array(rows)
    if file.suffix == ".npz":
        np.savez(file, pairs=pairs, scores=values)
    elif file.suffix == ".npy":
        np.save(file, np.column_stack([pairs, values]))
    else:
        lines = zip(pairs.tolist(), values.tolist(), strict=True)
        file.write_text("\n".join(f"{u},{v},{value!r}" for (u, v), value in lines))
    return file


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv"])
@pytest.mark.parametrize("order", ["from 0", "from 1"])
def test_ids_that_are_names_and_numbers_are_read_in_the_way_that_gives_the_scores(
    order: str, ending: str, tmp_path: Path
) -> None:
    task, names = numbered_names(order)
    links = task.distinct_links()
    values = np.random.default_rng(1).random(len(links))
    ends = links[:, [0, 2]]
    by_name = [[int(names[u]), int(names[v])] for u, v in ends.tolist()]
    for rows in (by_name, ends.tolist()):
        assert dict(task.evaluate(saved(tmp_path / f"s{ending}", rows, values))) == wanted(task, values)


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv"])
def test_ids_that_give_all_scores_as_names_and_as_numbers_are_refused(ending: str, tmp_path: Path) -> None:
    task, names = numbered_names("from 0")
    rows = [[u, v] for u in range(30) for v in range(30) if u != v]
    values = np.random.default_rng(1).random(len(rows))
    file = saved(tmp_path / f"s{ending}", rows, values)
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    place = f"{file}, line 1" if ending == ".csv" else f"s{ending}: pairs: row 0"
    assert str(caught.value) == (
        f"{place}: '0' is the number of node 0 and the name of node {names.index('0')}, and the file has as"
        " many of the scores needed either way: keep to the pairs that 'trueedge pairs' writes"
    )
    if ending == ".csv":  # below the line that 'trueedge pairs' writes, ids are names
        file.write_text(f"# {task.pairs_title()}\n{file.read_text()}")
        known = {
            (names.index(str(u)), names.index(str(v))): x for (u, v), x in zip(rows, values, strict=True)
        }
        right = np.array([known[u, v] for u, _, v in task.distinct_links().tolist()])
        assert dict(task.evaluate(file)) == wanted(task, right)


def named_task(relation: str = "") -> te.TypedLinkTask:
    """Return a task whose nodes are called by words."""
    names = [f"n{node}" for node in range(30)]
    ends = {
        k: {"source": names, "target": [names[(u * k + 1) % 30] for u in range(30)]} for k in (3, 7, 11, 13)
    }
    joined = {
        relation: {end: ends[a][end] + ends[b][end] for end in ("source", "target")}
        for relation, (a, b) in {"cites": (3, 7), "likes": (11, 13)}.items()
    }
    tables = {("p", name, "p"): table for name, table in joined.items()}
    return made(relation or "cites", HeteroGraph.from_tables({"p": {"id": names}}, tables))


@pytest.mark.parametrize(
    ("score", "said"),
    [("1_0", "'1_0' is not a number"), ("", "the score is missing"), ("x", "'x' is not a number")],
)
def test_a_bad_score_in_the_first_line_is_named(score: str, said: str, tmp_path: Path) -> None:
    task = named_task()
    lines = lines_of(task, np.random.default_rng(0).random(len(task.distinct_links())))
    file = tmp_path / "s.csv"
    first = lines[0].rsplit(",", 1)[0]
    file.write_text("\n".join([f"{first},{score}", *lines[1:]]))
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    assert str(caught.value) == f"{file}, line 1: {said}"
    file.write_text("\n".join(["source,target,score", *lines]))
    assert 0 <= task.evaluate(file)["roc-auc"] <= 1


@pytest.mark.parametrize("header", ["", "source,target,score\n"])
def test_lines_of_several_relations_without_a_relation_are_told_what_to_write(
    header: str, tmp_path: Path
) -> None:
    task = named_task("cites,likes")
    file = tmp_path / "m.csv"
    lines = [line.split(",") for line in lines_of(task, np.ones(len(task.distinct_links())))]
    file.write_text(header + "\n".join(f"{u},{v},{score}" for u, _, v, score in lines))
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    assert str(caught.value) == "m.csv does not name relations: write lines source,relation,target,score"


def test_a_bad_score_in_the_first_line_of_a_plain_graph_is_named(tmp_path: Path) -> None:
    labels = ("source", "target", "ann")
    file = tmp_path / "s.csv"
    file.write_text("ann,source,1_0\nann,target,1\n")
    with pytest.raises(InputError, match="line 1: '1_0' is not a number"):
        read_scores(file, labels)
    file.write_text("source,target,score\nann,target,1\n")
    assert read_scores(file, labels).score(np.array([[1, 2]])).tolist() == [1]
