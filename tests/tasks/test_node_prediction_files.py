"""Files of predicted classes, whose ids and classes may be names or numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError

COUNT = 20
WRITES = ("author", "writes", "paper")
IDS: dict[str, Callable[[int], list[Any]]] = {
    "from 1": lambda count: list(range(1, count + 1)),
    "backwards": lambda count: list(range(count))[::-1],
    "words": lambda count: [f"x{number}" for number in range(count)],
}


def task_of(
    ids: str, classes: Sequence[Any] = ("red", "green", "blue"), last: bool = False, several: bool = False
) -> tuple[te.NodeTask, list[Any], list[Any]]:
    """Return a task, the ids of the nodes that are classified, and their classes.

    The ids of both node types are the same.
    """
    rng = np.random.default_rng(1)
    labels: list[Any] = [classes[number] for number in rng.integers(0, len(classes), COUNT)]
    if several:
        labels = [[one, classes[0]] if row % 3 else [one] for row, one in enumerate(labels)]
    names = IDS[ids](COUNT)
    tables: dict[str, Any] = {"author": {"id": names, "field": labels}, "paper": {"id": names}}
    nodes = dict(reversed(tables.items())) if last else tables
    edges = {WRITES: [(names[0], names[1]), (names[2], names[3])]}
    graph = te.HeteroGraph.from_tables(nodes, edges, label="field")
    task = te.task(graph, "node-classification", ratios=(0.4, 0.2, 0.4))
    assert isinstance(task, te.NodeTask)
    return task, names, labels


def written(file: Path, ids: Sequence[Any], labels: Sequence[Any], mark: str = ",") -> Path:
    file.write_text("".join(f"{one}{mark}{label}\n" for one, label in zip(ids, labels, strict=True)))
    return file


@pytest.mark.parametrize("header", ["", "node,class\n"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("ids", ["from 1", "words"])
def test_ids_that_another_type_has_too_are_those_of_the_type_that_is_classified(
    ids: str, last: bool, header: str, tmp_path: Path
) -> None:
    task, names, labels = task_of(ids, last=last)
    order = np.random.default_rng(0).permutation(COUNT)
    file = written(tmp_path / "mine.csv", [names[row] for row in order], [labels[row] for row in order])
    file.write_text(header + file.read_text())
    assert task.evaluate(file)["accuracy"] == 1


@pytest.mark.parametrize("ids", ["from 1", "backwards"])
def test_ids_of_a_part_are_names_or_numbers_whichever_gives_all_predictions(ids: str, tmp_path: Path) -> None:
    task, names, labels = task_of(ids)
    nodes = task.nodes["test"].tolist()
    right = [labels[node] for node in nodes]
    assert task.evaluate(written(tmp_path / "numbers.csv", nodes, right))["accuracy"] == 1
    assert (
        task.evaluate(written(tmp_path / "names.csv", [names[one] for one in nodes], right))["accuracy"] == 1
    )


def test_an_id_that_is_the_number_of_one_node_and_the_name_of_another_is_refused(tmp_path: Path) -> None:
    task, names, labels = task_of("backwards")
    file = written(tmp_path / "mine.csv", names, labels)
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    assert str(caught.value) == (
        f"{file}, line 1: '19' is the number of node 19 and the name of node 0: write lines with id, name,"
        " type and class, or a .npy file"
    )
    file.write_text("".join(f"{row}\t{names[row]}\t0\t{one}\n" for row, one in enumerate(labels)))
    assert task.evaluate(file)["accuracy"] == 1


def test_a_node_with_the_name_of_another_is_refused_in_the_benchmarks_format(tmp_path: Path) -> None:
    task, names, labels = task_of("words", ("red", "green"))
    file = tmp_path / "mine.txt"
    for shift in (0, 1):
        rows = zip(range(COUNT), names[shift:] + names[:shift], labels, strict=True)
        file.write_text("".join(f"{row}\t{name}\t0\t{one}\n" for row, name, one in rows))
        if not shift:
            assert task.evaluate(file)["accuracy"] == 1
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    assert str(caught.value) == f"{file}, line 1: node 0 is called 'x0', not 'x1'"


def test_names_and_numbers_in_one_file_are_refused(tmp_path: Path) -> None:
    task, names, labels = task_of("words")
    file = written(tmp_path / "mine.csv", [*names[:5], *range(5, COUNT)], labels)
    with pytest.raises(
        InputError, match="line 6: 'x0' and '5': one is a name, the other the number of a node"
    ):
        task.evaluate(file)


def test_a_node_of_another_type_is_refused(tmp_path: Path) -> None:
    task, _, labels = task_of("words", last=True)
    file = written(tmp_path / "mine.csv", range(COUNT), labels)
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    said = "node 0 is of type 'paper': nodes of type 'author' have the numbers 20 to 39"
    assert str(caught.value) == f"{file}, line 1: {said}"
    file = written(tmp_path / "mine.csv", ["y", *range(COUNT, 2 * COUNT - 1), "y"], [*labels, "red"])
    with pytest.raises(InputError, match="line 21: 'y' is not a node of type 'author'"):
        task.evaluate(file)


@pytest.mark.parametrize("classes", [(1, 2, 3), (0, 2, 5), (2, 1, 0)])
def test_classes_that_are_numbers_are_names_or_numbers_whichever_gives_them_all(
    classes: tuple[int, ...], tmp_path: Path
) -> None:
    task, names, labels = task_of("words", classes)
    numbers = [task.classes.index(str(one)) for one in labels]
    for given in (labels, numbers):
        assert task.evaluate(written(tmp_path / "mine.csv", names, given))["accuracy"] == 1
        assert task.evaluate(np.array(given))["accuracy"] == 1


def test_a_class_that_is_the_number_of_one_and_the_name_of_another_is_refused(tmp_path: Path) -> None:
    task, names, _ = task_of("words", (1, 2, 3))
    file = written(tmp_path / "mine.csv", names, [1, 2] * (COUNT // 2))
    said = "1 is the number of the class '2' and the name of another one: give a score for each class"
    for given, what in ((file, str(file)), (np.array([1, 2] * (COUNT // 2)), "predictions")):
        with pytest.raises(InputError) as caught:
            task.evaluate(given)
        assert str(caught.value) == f"{what}: {said}"
    # The benchmark's format has numbers.
    file.write_text("".join(f"{row}\t\t0\t{row % 3}\n" for row in range(COUNT)))
    wanted = task.evaluate(np.array([row % 3 for row in range(COUNT)]))["accuracy"]
    assert task.evaluate(file)["accuracy"] == wanted


@pytest.mark.parametrize("mark", ["\t", ";", " ", ","])
def test_several_classes_are_read_from_one_column(mark: str, tmp_path: Path) -> None:
    task, names, labels = task_of("words", several=True)
    cells = [",".join(dict.fromkeys(one)) for one in labels]
    cells = [f'"{cell}"' for cell in cells] if mark == "," else cells
    assert task.evaluate(written(tmp_path / "mine.csv", names, cells, mark))["accuracy"] == 1


def test_a_node_may_have_no_predicted_class_if_it_can_have_several(tmp_path: Path) -> None:
    task, names, _ = task_of("words", several=True)
    scores = np.full((COUNT, 3), -1.0)
    scores[1:, 0] = 1
    file = written(tmp_path / "mine.tsv", names, ["", *[task.classes[0]] * (COUNT - 1)], "\t")
    assert task.evaluate(file) == task.evaluate(scores)


def test_scores_of_links_are_no_predictions_of_nodes(tmp_path: Path) -> None:
    task, *_ = task_of("words")
    file = tmp_path / "scores.csv"
    file.write_text("# trueedge pairs: mine typed-links seed 0 test 0123456789abcdef\nx0,x1,0.5\n")
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    assert str(caught.value) == (
        f"{file} holds scores of mine typed-links seed 0 test (0123456789abcdef), not predictions of nodes"
    )
    np.savez(tmp_path / "mine.npz", np.zeros(3))
    with pytest.raises(InputError, match="may hold several arrays: write the predictions to a"):
        task.evaluate(tmp_path / "mine.npz")


def test_columns_of_data_frames_and_lists_of_several_lengths_are_read_or_named() -> None:
    task, _, labels = task_of("words")
    assert task.evaluate(np.array(labels, dtype=object))["accuracy"] == 1
    with pytest.raises(InputError, match=r"need the shape \(n,\) or \(n, 3\): all rows must have one length"):
        task.evaluate([[0], [0, 1]])
    task, _, labels = task_of("words", several=True)
    with pytest.raises(InputError, match=r"need the shape \(n, 3\): all rows must have one length"):
        task.evaluate(labels)


def test_predictions_in_bfloat16_are_read() -> None:
    torch = pytest.importorskip("torch")
    task, _, labels = task_of("words")
    scores = torch.eye(3)[[task.classes.index(one) for one in labels]]
    assert task.evaluate(scores.to(torch.bfloat16))["accuracy"] == 1


@pytest.mark.parametrize("field", ["1_0", "\u0661"])
def test_scores_are_numbers_as_every_program_reads_them(field: str, tmp_path: Path) -> None:
    task, names, _ = task_of("words")
    file = written(tmp_path / "mine.csv", names, ["0.5,0.25,0.125"] * COUNT)
    assert 0 <= task.evaluate(file)["accuracy"] <= 1
    file.write_text(file.read_text().replace("0.125", field, 1))
    with pytest.raises(InputError, match=f"line 1: a score is not a number: '0.5 0.25 {field}'"):
        task.evaluate(file)
