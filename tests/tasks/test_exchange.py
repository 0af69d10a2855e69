"""Pairs for other programs, and scores from them: nothing tells labels, and nothing is of another task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.scorers.pair_titles import PairsTitle, title_of_lines


@pytest.fixture(scope="module")
def task() -> te.LinkTask:
    return te.task("karate", "existing")


def named_club() -> te.Graph:
    return replace(te.load("karate"), name="club", labels=tuple(map(str, range(34))))


def score(pairs: np.ndarray) -> np.ndarray:
    """A score that no two pairs share and that does not depend on the direction."""
    return np.sin(1000.0 * pairs.min(axis=1) + pairs.max(axis=1))


# The pairs


@pytest.mark.parametrize(("protocol", "options"), [("existing", {}), ("heart", {"k": 6}), ("triplet", {})])
def test_distinct_pairs_are_those_of_the_part_sorted_and_in_one_direction(protocol, options) -> None:
    task = te.task("karate", protocol, **options)
    for part in task.part_names:
        pairs = task.distinct_pairs(part)
        assert pairs.dtype == np.int64
        assert {tuple(pair) for pair in pairs.tolist()} == {
            tuple(sorted(pair)) for pair in task.pairs(part).tolist()
        }
        assert pairs.tolist() == sorted(map(list, {tuple(pair) for pair in pairs.tolist()}))
        assert (pairs[:, 0] < pairs[:, 1]).all()


def test_distinct_pairs_do_not_tell_which_are_positives(task: te.LinkTask) -> None:
    part = task.test
    count = min(len(part.positives), len(part.negatives))
    turned = te.Part(part.negatives[:count, ::-1].copy(), part.positives[:count])
    plain = te.Part(part.positives[:count], part.negatives[:count])
    one, other = (replace(task, parts={"test": listed}) for listed in (plain, turned))
    np.testing.assert_array_equal(one.distinct_pairs(), other.distinct_pairs())


def test_a_part_that_is_not_there_has_no_pairs(task: te.LinkTask) -> None:
    for call in (task.distinct_pairs, task.pairs_title):
        with pytest.raises(InputError, match="did you mean 'test'"):
            call("tset")


# Titles


def test_a_title_is_read_again(task: te.LinkTask) -> None:
    title = task.pairs_title("test")
    assert title == f"trueedge pairs: karate existing seed 0 test {task.hash[:16]}"
    found = PairsTitle("karate existing seed 0", "test", task.hash[:16])
    assert title_of_lines(["", "# another comment", f"#{title}", "0.5"]) == found
    assert title_of_lines([f"# {title}\r"]) == found
    assert title_of_lines(["0.5", f"# {title}"]) is None
    assert title_of_lines([f"# {title} and more"]) is None


@pytest.mark.parametrize("name", ["my graph", "two\nlines", "bell\x07", "a # b", " ", "seed 1 test"])
def test_the_title_of_any_name_is_one_line_that_is_read_again(name: str) -> None:
    task = te.task(replace(te.load("karate"), name=name), "existing")
    title = task.pairs_title()
    assert title.isprintable()
    found = title_of_lines([f"# {title}"])
    assert found is not None
    assert str(found) == title
    assert (found.part, found.hash) == ("test", task.hash[:16])


# Scores


def write(path: Path, values: np.ndarray, *lines: str) -> Path:
    path.write_text("\n".join([*lines, *map(repr, values.tolist())]) + "\n")
    return path


@pytest.mark.parametrize(
    "form", ["text", "csv", "line in npz", "hash in npz", "short hash in npz", "bytes in npz"]
)
def test_scores_in_the_order_of_the_distinct_pairs_are_those_of_the_pairs(
    form: str, task: te.LinkTask, tmp_path: Path
) -> None:
    values, title = score(task.distinct_pairs("test")), task.pairs_title("test")
    if form in ("text", "csv"):
        head = [f"# {title}", "score"] if form == "csv" else [f"# {title}"]
        path = write(tmp_path / f"scores.{'csv' if form == 'csv' else 'txt'}", values, *head)
    else:
        said = {"line in npz": title, "hash in npz": task.hash, "short hash in npz": task.hash[:16]}
        np.savez(tmp_path / "scores.npz", scores=values, task=said.get(form, f"# {title}".encode()))
        path = tmp_path / "scores.npz"
    assert task.evaluate(path) == task.evaluate(score)
    assert te.check_scorer(path, task).ok


def test_scores_by_pair_need_no_title(task: te.LinkTask, tmp_path: Path) -> None:
    pairs = task.distinct_pairs("test")[::-1, ::-1]
    np.savez(tmp_path / "table.npz", scores=score(pairs), pairs=pairs)
    np.save(tmp_path / "table.npy", np.column_stack([pairs, score(pairs)]))
    for name in ("table.npz", "table.npy"):
        assert task.evaluate(tmp_path / name) == task.evaluate(score)


def test_scores_by_name_and_in_order_are_the_same_for_a_graph_with_names(tmp_path: Path) -> None:
    karate = te.load("karate")
    task = te.task(replace(karate, labels=tuple(f"p{node}" for node in range(34))), "existing")
    pairs = task.distinct_pairs()
    flat = write(tmp_path / "flat.txt", score(pairs), f"# {task.pairs_title()}")
    table = tmp_path / "table.csv"
    rows = [
        f"p{u},p{v},{value!r}" for (u, v), value in zip(pairs.tolist(), score(pairs).tolist(), strict=True)
    ]
    table.write_text("\n".join([f"# {task.pairs_title()}", "source,target,score", *rows]))
    assert task.evaluate(flat) == task.evaluate(table) == task.evaluate(score)


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "npy", "npz"])
def test_scores_that_do_not_say_of_which_pairs_they_are_are_refused(
    ending: str, task: te.LinkTask, tmp_path: Path
) -> None:
    path = tmp_path / f"scores.{ending}"
    # As version 0.1 wrote them, positives first: of all orders, the one that must not pass.
    values = score(task.pairs("test"))
    if ending == "npy":
        np.save(path, values)
    elif ending == "npz":
        np.savez(path, scores=values)
    else:
        write(path, values)
    with pytest.raises(InputError, match="does not say of which pairs: write lines u,v,score") as caught:
        task.evaluate(path)
    said = str(caught.value)
    assert "\n" not in said
    assert "keep the first line of the file that 'trueedge pairs' wrote" in said
    assert "a .npz file with 'positive' and 'negative'" in said


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (lambda: te.task("karate", "existing", seed=1), "karate existing seed 1 test"),
        (lambda: te.task("karate", "triplet"), "karate triplet seed 0 test"),
        (lambda: te.task(named_club(), "existing"), "club existing seed 0 test"),
    ],
    ids=["another seed", "another protocol", "other names"],
)
def test_scores_of_another_task_are_refused_with_both_names(
    other, name: str, task: te.LinkTask, tmp_path: Path
) -> None:
    made = other()
    pairs = made.distinct_pairs()
    flat = write(tmp_path / "flat.txt", score(pairs), f"# {made.pairs_title()}")
    ours = f"karate existing seed 0 test ({task.hash[:16]})"
    sentence = f"holds scores of {name} ({made.hash[:16]}), not of {ours}"
    with pytest.raises(InputError) as caught:
        task.evaluate(flat)
    assert str(caught.value) == f"flat.txt {sentence}"
    np.savez(tmp_path / "flat.npz", scores=score(pairs), task=made.hash)
    with pytest.raises(InputError, match=rf"of a task with the hash {made.hash[:16]}, not of karate"):
        task.evaluate(tmp_path / "flat.npz")
    # A table that says it is of another task is refused too, though its pairs might be there.
    table = tmp_path / "table.csv"
    rows = [f"{u},{v},1" for u, v in task.distinct_pairs().tolist()]
    table.write_text("\n".join([f"# {made.pairs_title()}", *rows]))
    with pytest.raises(InputError) as caught:
        task.evaluate(table)
    assert str(caught.value) == f"table.csv {sentence}"


def test_scores_of_the_other_part_are_refused(task: te.LinkTask, tmp_path: Path) -> None:
    path = write(
        tmp_path / "valid.txt", score(task.distinct_pairs("valid")), f"# {task.pairs_title('valid')}"
    )
    assert task.evaluate(path, "valid") == task.evaluate(score, "valid")
    with pytest.raises(
        InputError, match=r"of karate existing seed 0 valid .*, not of karate existing seed 0 test"
    ):
        task.evaluate(path)


def test_a_bare_hash_is_refused_where_both_parts_have_as_many_pairs(
    task: te.LinkTask, tmp_path: Path
) -> None:
    twice = replace(task, parts={"valid": task.test, "test": task.test})
    pairs = twice.distinct_pairs()
    np.savez(tmp_path / "s.npz", scores=score(pairs), task=twice.hash)
    with pytest.raises(InputError, match="does not say of which part its scores are") as caught:
        twice.evaluate(tmp_path / "s.npz")
    assert twice.pairs_title("test") in str(caught.value)
    np.savez(tmp_path / "s.npz", scores=score(pairs), task=twice.pairs_title("test"))
    assert twice.evaluate(tmp_path / "s.npz") == twice.evaluate(score)


def test_another_number_of_scores_is_refused(task: te.LinkTask, tmp_path: Path) -> None:
    pairs = task.distinct_pairs()
    path = write(tmp_path / "short.txt", score(pairs)[1:], f"# {task.pairs_title()}")
    with pytest.raises(
        InputError,
        match=rf"holds {len(pairs) - 1} scores, but the test part of karate has {len(pairs)} distinct",
    ):
        task.evaluate(path)


@pytest.mark.parametrize("said", ["cora", "0" * 15, ["a", "b"], 7, ""])
def test_a_task_that_is_no_hash_is_refused(said: object, task: te.LinkTask, tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", scores=score(task.distinct_pairs()), task=said)
    with pytest.raises(InputError, match=r"'task' in s\.npz must be the first line of a file"):
        task.evaluate(tmp_path / "s.npz")


def test_the_scores_of_a_certificate_are_evaluated_as_before(task: te.LinkTask, tmp_path: Path) -> None:
    kept = task.scores(score)
    np.savez(tmp_path / "kept.npz", positive=kept.positive, negative=kept.negative)
    assert task.evaluate(tmp_path / "kept.npz") == task.evaluate(score)
    report = " ".join(str(te.check_scorer(tmp_path / "kept.npz", task)).split())
    assert "scores without pairs: write lines u,v,score" in report


def test_a_recommendation_says_what_to_do_with_scores_without_pairs(tmp_path: Path) -> None:
    path = write(tmp_path / "s.txt", np.arange(5.0))
    with pytest.raises(InputError, match=r"s\.txt, line 1: 1 column: a line has a node, a partner and"):
        te.task("karate", "recommendation").evaluate(path)


@pytest.mark.parametrize(
    ("head", "order"),
    [("score,u,v", (2, 0, 1)), ("u,score,v", (0, 2, 1)), ("id,source,prediction,target", (0, 0, 2, 1))],
)
@pytest.mark.parametrize("named", [False, True])
def test_a_header_says_which_column_is_the_score(
    head: str, order: tuple[int, ...], named: bool, task: te.LinkTask, tmp_path: Path
) -> None:
    if named:
        graph = task.graph
        names = [f"n{node}" for node in range(graph.num_nodes)]
        task = te.task(te.Graph.from_edges(graph.edges, graph.num_nodes, labels=names), "existing")
    # Whole numbers below the number of nodes, which could be nodes.
    scores = np.arange(len(task.distinct_pairs("test"))) % 9
    rows = np.column_stack([task.distinct_pairs("test"), scores]).astype(str)
    if named:
        rows[:, :2] = np.char.add("n", rows[:, :2])
    (tmp_path / "s.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    expected = task.evaluate(tmp_path / "s.csv")
    (tmp_path / "s.csv").write_text(f"{head}\n" + "".join(",".join(row[[*order]]) + "\n" for row in rows))
    assert task.evaluate(tmp_path / "s.csv") == expected


def test_ranks_of_pairs_are_not_taken_for_scores(task: te.LinkTask, tmp_path: Path) -> None:
    rows = "".join(f"{u},{v},{row}\n" for row, (u, v) in enumerate(task.distinct_pairs("test").tolist()))
    (tmp_path / "s.csv").write_text(f"u,v,rank\n{rows}")
    with pytest.raises(
        InputError, match=r"s.csv, line 1: 'rank' is not a score, where more is better: negate"
    ):
        task.evaluate(tmp_path / "s.csv")


def test_users_and_items_that_share_ids_are_scored_by_the_names_of_their_columns(tmp_path: Path) -> None:
    edges = tmp_path / "sales.csv"
    pairs = [(u, i) for u in range(1, 30) for i in range(1, 20) if (u * i) % 5 < 2]
    edges.write_text("user_id,item_id\n" + "".join(f"{u},{i}\n" for u, i in pairs))
    task = te.task(edges, "existing")
    names = [[task.graph.labels[node].split()[1] for node in pair] for pair in task.distinct_pairs("test")]
    rows = [(u, i, str((7 * int(u) + 3 * int(i)) % 31)) for u, i in names]
    path = tmp_path / "s.csv"
    path.write_text("".join(f"{u},{i},{s}\n" for u, i, s in rows))
    expected = task.evaluate(path)
    for head, order in (("item,user,score", (1, 0, 2)), ("item_id,user_id,mine", (1, 0, 2))):
        path.write_text(f"{head}\n" + "".join(",".join(row[at] for at in order) + "\n" for row in rows))
        assert task.evaluate(path) == expected
