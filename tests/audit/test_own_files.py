"""Splits and negatives of one's own: what is read as it stands, what is refused, and what is said of it."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest
from planted import benchmark, random_edges

import trueedge as te
from trueedge.audit import audit
from trueedge.audit.own_benchmark import own_benchmark
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.scorers.pair_files import listed_parts

PAIRS = random_edges(5000)
WHOLE = Graph.from_edges(PAIRS[:3600], 400, name="whole")
SPLIT = {"train": PAIRS[:3000], "valid": PAIRS[3000:3200], "test": PAIRS[3200:3600]}


def save(path: Path, pairs: object) -> Path:
    np.savetxt(path, np.asarray(pairs), fmt="%d")
    return path


def read(given: object, kind: str = "positives", graph: Graph = WHOLE) -> dict[str, list[list[int]]]:
    return {part: one.pairs.tolist() for part, one in listed_parts(given, kind, graph).items()}


WRONG = [[3, 3], [5, 6], [6, 5], [5, 6], [0, 399]]


def test_pairs_stay_as_they_are_repeated_reversed_or_of_one_node(tmp_path: Path) -> None:
    save(tmp_path / "pairs.txt", WRONG)
    np.save(tmp_path / "pairs.npy", np.array(WRONG))
    for given in (tmp_path / "pairs.txt", str(tmp_path / "pairs.npy"), WRONG, np.array(WRONG, np.uint16)):
        assert read(given) == {"test": WRONG}
        assert read(given, "negatives") == {"test": WRONG}


def test_lists_of_each_positives_own_are_read_from_arrays(tmp_path: Path) -> None:
    lists = np.random.default_rng(0).integers(0, 400, size=(4, 3, 2))
    np.save(tmp_path / "lists.npy", lists)
    assert read(tmp_path / "lists.npy", "negatives") == {"test": lists.tolist()}


def test_files_are_named_with_the_test_part_last(tmp_path: Path) -> None:
    one, two, three = (save(tmp_path / f"{name}.txt", [[at, at + 1]]) for at, name in enumerate("abc"))
    assert read(f"{one},{two},{three}") == {"train": [[0, 1]], "valid": [[1, 2]], "test": [[2, 3]]}
    assert read(f"{one}, {two}") == {"valid": [[0, 1]], "test": [[1, 2]]}
    assert read(f"{one},,{three}") == {"train": [[0, 1]], "test": [[2, 3]]}
    assert read(f"{one},{two}", "negatives") == {"valid": [[0, 1]], "test": [[1, 2]]}
    assert list(read({"test": one, "train": [[7, 8]]})) == ["train", "test"]


@pytest.mark.parametrize("names", [("train", "val", "test"), ("train_pos", "validation-pos", "Test_Edges")])
def test_a_folder_is_looked_through_by_the_names_of_its_files(tmp_path: Path, names) -> None:
    for at, name in enumerate(names):
        save(tmp_path / f"{name}.tsv", [[at, at + 1]])
    save(tmp_path / "test_neg.txt", [[9, 9]])
    (tmp_path / "readme.md").write_text("not pairs")
    assert read(tmp_path) == {"train": [[0, 1]], "valid": [[1, 2]], "test": [[2, 3]]}
    assert read(tmp_path, "negatives")["test"] == [[9, 9]]


def test_gzipped_text_and_bare_names_of_negatives_are_found(tmp_path: Path) -> None:
    (tmp_path / "test.csv.gz").write_bytes(gzip.compress(b"u,v\n1,2\n"))
    found = listed_parts(tmp_path, "negatives", WHOLE)["test"]
    assert found.pairs.tolist() == [[1, 2]]
    assert found.notes == ("test.csv.gz: the first line was read as a header: u, v",)


def test_text_has_the_names_of_nodes_and_arrays_their_numbers(tmp_path: Path) -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], labels=["ann", "bob", "7"], name="friends")
    (tmp_path / "test.txt").write_text("7 ann\nbob 7\n")
    assert read(tmp_path / "test.txt", graph=graph) == {"test": [[2, 0], [1, 2]]}
    assert read([[2, 0]], graph=graph) == {"test": [[2, 0]]}
    (tmp_path / "bad.txt").write_text("7 ann\n\nann eve\n")
    with pytest.raises(InputError, match=r"bad\.txt, line 3: 'eve' is not a node of friends"):
        read(tmp_path / "bad.txt", graph=graph)


# Ids from 1: text holds names, and an array of the same ids must not mean other nodes.


def ring_from_one(tmp_path: Path) -> tuple[Path, Graph]:
    ids = np.arange(40) + 1
    path = save(tmp_path / "ring.txt", np.column_stack([ids, np.roll(ids, -1)]))
    return path, Graph.from_edges(path)


def test_ids_from_one_are_read_as_names_and_the_graph_says_so(tmp_path: Path) -> None:
    _, graph = ring_from_one(tmp_path)
    assert graph.labels == tuple(str(node) for node in range(1, 41))
    assert graph.notes == ("the ids 1 to 40 are read as names: node numbers are 0 to 39",)


@pytest.mark.parametrize("kind", ["npy", "npz", "float"])
def test_ids_from_one_mean_the_same_nodes_in_text_and_in_arrays(tmp_path: Path, kind: str) -> None:
    _, graph = ring_from_one(tmp_path)
    pairs = np.array([[1, 40], [7, 3]])
    text = listed_parts(save(tmp_path / "pairs.txt", pairs), "negatives", graph)["test"]
    if kind == "npz":
        np.savez(tmp_path / "pairs.npz", test_negatives=pairs)
    else:
        np.save(tmp_path / "pairs.npy", pairs.astype(float) if kind == "float" else pairs)
    path = tmp_path / f"pairs.{'npz' if kind == 'npz' else 'npy'}"
    found = listed_parts(path, "negatives", graph)["test"]
    assert found.pairs.tolist() == text.pairs.tolist() == [[0, 39], [6, 2]]
    assert "its ids are read as names of nodes, as in a text file" in found.notes[0]


def test_ids_that_could_be_names_or_numbers_are_asked_about(tmp_path: Path) -> None:
    path, graph = ring_from_one(tmp_path)
    np.save(tmp_path / "pairs.npy", [[1, 39], [7, 3]])
    with pytest.raises(
        InputError, match=r"pairs\.npy: its ids 1 to 39 could be names .* or node numbers from 0"
    ):
        read(tmp_path / "pairs.npy", "negatives", graph)
    with pytest.raises(InputError, match="could be names of nodes of ring or node numbers"):
        audit(path, negatives=tmp_path / "pairs.npy")
    np.savez(tmp_path / "pairs.npz", test_negatives=[[1, 39]], labels=graph.labels)
    assert read(tmp_path / "pairs.npz", "negatives", graph) == {"test": [[1, 39]]}


def test_a_node_number_that_is_no_name_tells_for_all_files(tmp_path: Path) -> None:
    _, graph = ring_from_one(tmp_path)
    np.save(tmp_path / "valid.npy", [[0, 39]])
    np.save(tmp_path / "test.npy", [[1, 39]])
    found = listed_parts(tmp_path, "positives", graph)
    assert {part: one.pairs.tolist() for part, one in found.items()} == {
        "valid": [[0, 39]],
        "test": [[1, 39]],
    }
    assert "read as node numbers" in found["test"].notes[0]
    np.save(tmp_path / "test.npy", [[1, 40]])
    with pytest.raises(InputError, match=r"test\.npy: row 0 has the node id 40, outside 0\.\.39"):
        listed_parts(tmp_path, "positives", graph)


def test_arrays_in_memory_hold_node_numbers_and_it_is_said_where_they_could_be_names(tmp_path: Path) -> None:
    _, graph = ring_from_one(tmp_path)
    found = listed_parts(np.array([[1, 39]]), "negatives", graph)["test"]
    assert found.pairs.tolist() == [[1, 39]]
    assert "read as node numbers, although all of them are names" in found.notes[0]
    assert listed_parts(np.array([[0, 39]]), "negatives", graph)["test"].notes == ()


@pytest.mark.parametrize("ending", ["txt", "npy"])
def test_ids_from_one_for_nodes_without_names_get_a_hint(tmp_path: Path, ending: str) -> None:
    pairs = np.array([[1, 400], [2, 3]])
    path = tmp_path / f"pairs.{ending}"
    np.save(path, pairs) if ending == "npy" else save(path, pairs)
    with pytest.raises(InputError, match=r"outside 0\.\.399; do they start at 1\? Node numbers start at 0"):
        read(path, "negatives")
    with pytest.raises(InputError, match=r"outside 0\.\.399; do they start at 1\?"):
        Graph.from_edges(pairs, num_nodes=400)


def test_what_the_command_for_negatives_wrote_is_read_by_the_names_of_its_nodes(tmp_path: Path) -> None:
    graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], labels=list("abcd"))
    arrays = {"train": [[0, 1]], "test": [[1, 2]], "test_negatives": [[[2, 0]]], "labels": list("dcb")}
    np.savez(tmp_path / "made.npz", **{key: np.array(value) for key, value in arrays.items()})
    assert read(tmp_path / "made.npz", graph=graph) == {"train": [[3, 2]], "test": [[2, 1]]}
    assert read(tmp_path / "made.npz", "negatives", graph) == {"test": [[[1, 3]]]}
    with pytest.raises(InputError, match=r"made\.npz, train: 'd' is not a node of whole"):
        read(tmp_path / "made.npz")
    np.savez(tmp_path / "plain.npz", test=np.array([[5, 6]]))
    assert read(tmp_path / "plain.npz") == {"test": [[5, 6]]}
    with pytest.raises(InputError, match="has no array 'test_negatives': it holds test"):
        read(tmp_path / "plain.npz", "negatives")


def test_dictionaries_that_torch_saved_are_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"edge": torch.tensor([[1, 2]]), "edge_neg": torch.tensor([[3, 4]])}, tmp_path / "test.pt")
    assert read(tmp_path) == {"test": [[1, 2]]}
    assert read(tmp_path / "test.pt", "negatives") == {"test": [[3, 4]]}
    torch.save({"edges": torch.tensor([[1, 2]])}, tmp_path / "test.pt")
    with pytest.raises(InputError, match="has no array 'edge': it holds edges"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", "1 2\n3 400\n", r"a\.txt, line 2: the id '400' is outside 0\.\.399"),
        ("a.txt", "1 2\n3 -4\n", r"a\.txt, line 2: the id '-4' is below 0"),
        ("a.txt", "1 2\n3\n", r"a\.txt, line 2: 1 column, where line 1 has 2"),
        ("a.txt", "1 2\n3 x\n", r"a\.txt, line 2: 'x' is not a whole number"),
        ("a.txt", "", r"a\.txt is empty"),
        ("a.npy", [[1, 400]], r"a\.npy: row 0 has the node id 400, outside 0\.\.399"),
        ("a.npy", [[1.5, 2]], r"a\.npy: row 0 has 1\.5, which is not a node id"),
        ("a.npy", [[1, 2, 3]], r"a\.npy has the shape \(1, 3\), but positives have \(n, 2\)$"),
        ("a.npy", [[1, 2, 3], [4, 5, 6]], r"transpose it \(\.T\)"),
        ("a.npy", [[[1, 2]]], r"a\.npy has the shape \(1, 1, 2\), but positives have \(n, 2\)"),
        ("a.npy", ["no array", 3], r"a\.npy is not a \.npy file of numbers$"),
        ("missing.txt", None, r"missing\.txt: there is no such file"),
        ("missing.npy", None, r"missing\.npy: there is no such file"),
        ("missing.pt", None, r"missing\.pt: there is no such file"),
        ("missing.npz", None, r"missing\.npz: there is no such file"),
    ],
)
def test_what_has_no_meaning_is_refused_with_file_and_line(tmp_path: Path, name, content, sentence) -> None:
    path = tmp_path / name
    if isinstance(content, str):
        path.write_text(content)
    elif content is not None and isinstance(content[0], str):
        path.write_bytes(pickle.dumps(content))
    elif content is not None:
        np.save(path, np.array(content))
    with pytest.raises(InputError, match=sentence):
        read(path)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"test": [[0, 1]], "tset": [[0, 1]]}, "did you mean 'test'"),
        ({"valid": [[0, 1]]}, "no positives of the test part"),
        ("a,b,c,d", "lists 4 files, and positives have 3 parts at most"),
        ([[1, 2], [3]], "the rows differ in length"),
        (7, r"test positives has the shape \(\)"),
        ("", "the path of the positives is empty"),
        ("  ", "the path of the positives is empty"),
        (np.empty((0, 2), int), "an array holds no pair: there are no test positives in it"),
    ],
)
def test_what_cannot_be_parts_is_refused(given: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read(given)


def test_a_folder_in_which_two_files_could_be_meant_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no test positives: looked for test, test_pos"):
        read(tmp_path)
    save(tmp_path / "test.txt", [[0, 1]])
    save(tmp_path / "test_pos.txt", [[0, 1]])
    with pytest.raises(
        InputError, match=r"holds test\.txt and test_pos\.txt, which could both be the test pos"
    ):
        read(tmp_path)
    np.save(tmp_path / "heart_test_samples.npy", np.array([[0, 1]]))
    save(tmp_path / "test_neg.txt", [[0, 1]])
    with pytest.raises(InputError, match="could both be the test negatives: name the files"):
        read(tmp_path, "negatives")


def made(**given: object):
    return own_benchmark(given.pop("thing", WHOLE), given.pop("protocol", None), 0, {}, **given)


def test_with_training_pairs_the_graph_gives_the_nodes_and_not_the_edges() -> None:
    found = made(split={**SPLIT, "train": PAIRS[:2900]}, negatives=PAIRS[4000:4400])
    assert found.task.graph.num_edges == 2900
    assert found.task.num_nodes == 400
    assert found.whole is WHOLE
    assert found.notes[0] == "the training graph is an array (2,900 edges), not whole"
    assert "100 of the 3,600 edges of whole are in no part of the split" in found.notes
    assert "the valid part has no negatives: only its positives are examined" in found.notes
    assert "the test negatives come from an array: 400 that all positives share" in found.notes


def test_training_pairs_may_repeat_and_be_loops_which_is_told() -> None:
    train = np.concatenate([PAIRS[:3000], PAIRS[:7, ::-1], [[3, 3]], PAIRS[4900:4902]])
    found = made(split={**SPLIT, "train": train}, negatives=PAIRS[4000:4400])
    assert "an array: 1 self-loops and 7 repeated edges were dropped" in found.notes
    assert "2 pairs of the split are not edges of whole" in found.notes


def test_without_training_pairs_the_graph_is_the_training_graph() -> None:
    train = Graph.from_edges(PAIRS[:3000], 400, name="seen")
    found = made(thing=train, split={"test": SPLIT["test"]}, negatives=PAIRS[4000:4400])
    assert found.task.graph is train
    assert found.whole is None
    assert found.notes[0] == "the split has no training pairs: seen is used as the training graph"
    leaky = made(split={"test": SPLIT["test"]}, negatives=PAIRS[4000:4400])
    assert "though all 400 positives are its edges" in leaky.notes[0]
    assert audit(WHOLE, split=SPLIT["test"], negatives=PAIRS[4000:4400])["train-leak"].number == 1


def test_edges_of_no_part_among_the_negatives_are_false_negatives() -> None:
    split = {**SPLIT, "train": PAIRS[:2900]}
    found = audit(WHOLE, split=split, negatives=np.concatenate([PAIRS[4000:4380], PAIRS[2900:2920]]))
    assert found["false-negatives"].verdict == "broken"
    assert found["false-negatives"].numbers["other edges"] == 20
    assert "20 edges of no part" in found["false-negatives"].sentence


def test_a_split_alone_gets_the_negatives_of_a_protocol() -> None:
    found = audit(WHOLE, "uniform", split=SPLIT)
    split = te.Split(WHOLE.only_edges(PAIRS[:3000]), _part("valid"), _part("test"), "")
    wanted = audit(te.LinkTask.from_split(split, "uniform"))
    assert [one.numbers for one in found if one.check != "false-negatives"] == [
        one.numbers for one in wanted if one.check != "false-negatives"
    ]
    assert any("no negatives were given: uniform made them" in note for note in found.notes)
    divided = te.split(WHOLE, seed=3)
    assert audit(WHOLE, split=divided).provenance["hashes"]["graph"] == divided.train.hash


def _part(name: str) -> np.ndarray:
    return np.array(SPLIT[name], np.int32)


def test_a_leaking_split_gets_the_negatives_of_a_protocol_too() -> None:
    test = np.concatenate([SPLIT["test"], PAIRS[:40], [[3, 3]]])
    found = audit(WHOLE, split={**SPLIT, "valid": [[4, 4]], "test": test})
    assert found["train-leak"].numbers["test positives"] == 40
    assert found["self-pairs"].numbers["positives"] == 2
    with pytest.raises(
        InputError,
        match="an array, row 0: this valid positive joins a node to itself, for which heart makes no",
    ):
        audit(WHOLE, "heart", split={**SPLIT, "valid": [[4, 4]]}, k=4)
    with pytest.raises(
        InputError, match="an array, row 0: this test positive joins a node to itself, as all"
    ):
        audit(WHOLE, split={"test": [[4, 4]]})


def test_negatives_alone_take_the_place_of_a_protocols_or_a_tasks() -> None:
    task = benchmark()
    found = audit(task, negatives={"valid": task.valid.negatives, "test": task.test.negatives})
    assert [one.numbers for one in found] == [one.numbers for one in audit(task)]
    assert found.protocol == "own negatives"
    heard = audit("karate", negatives=[[0, 9]] * 30)
    assert heard.notes[0] == "no protocol was given, so existing made the split"
    assert heard["distinct-negatives"].verdict == "broken"


def test_features_may_be_given_beside_a_graph(tmp_path: Path) -> None:
    table = np.random.default_rng(0).random((400, 5))
    np.save(tmp_path / "table.npy", table)
    found = [
        audit(WHOLE, features=given)["shortcut-cosine"].number for given in (table, tmp_path / "table.npy")
    ]
    assert found[0] == found[1]
    for given, sentence in (
        (tmp_path / "none.npy", r"none\.npy: there is no such file"),
        (save(tmp_path / "table.txt", [[1]]), r"table\.txt is not a \.npy file"),
        (table[:9], "9 rows, but the graph has 400 nodes"),
    ):
        with pytest.raises(InputError, match=sentence):
            audit(WHOLE, features=given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"split": SPLIT, "negatives": PAIRS[4000:4400], "protocol": "heart"},
            "so the protocol heart would have no effect",
        ),
        ({"split": SPLIT, "negatives": PAIRS[4000:4400], "k": 4}, "so the option k would have no effect"),
        (
            {"split": SPLIT, "ratios": (0.8, 0.1, 0.1)},
            "ratios says how to split, but the split is given",
        ),
        ({"split": SPLIT, "protocol": "recommendation"}, "can be audited for Link prediction alone"),
        (
            {"split": SPLIT, "negatives": np.zeros((9, 4, 2), int)},
            "an array has negatives for 9 positives, but the",
        ),
        (
            {"split": {"test": SPLIT["test"]}, "negatives": {"valid": [[0, 1]], "test": [[0, 1]]}},
            "but no positives",
        ),
        (
            {"split": SPLIT, "negatives": np.empty((0, 2), int)},
            "an array holds no pair: there are no test negatives in it",
        ),
    ],
)
def test_what_does_not_go_together_is_one_sentence(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        audit(WHOLE, **given)


def test_a_task_keeps_its_split_and_features() -> None:
    for given in ({"split": SPLIT}, {"features": np.ones((400, 1))}):
        with pytest.raises(InputError, match=f"the task has its own {next(iter(given))}"):
            audit(benchmark(), **given)


@pytest.mark.data("planetoid", "heart/citeseer")
def test_the_released_citeseer_files_are_the_released_task_when_they_come_as_ones_own(
    data_folder: Path,
) -> None:
    folder = data_folder / "heart" / "citeseer"
    named = te.task("citeseer", "heart-released")
    samples = [folder / f"heart_{part}_samples.npy" for part in ("valid", "test")]
    found = own_benchmark("citeseer", None, 0, {}, split=folder, negatives=",".join(map(str, samples)))
    for part in ("valid", "test"):
        assert found.task.part(part).hash == named.part(part).hash
    assert (found.task.train == named.train).all()
