from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trueedge import InputError, splits


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Nodes 0..5; node 5 is declared by a self-loop line alone."""
    return write(tmp_path, train="0\t1\n2\t1\n5\t5\n", valid="3 0\n", test="4,2\n1,3\n")


def write(folder: Path, **texts: str) -> dict[str, Path]:
    for part, text in texts.items():
        (folder / f"{part}.txt").write_text(text)
    return {part: folder / f"{part}.txt" for part in texts}


def test_files_give_their_parts_in_their_order_and_direction(files: dict[str, Path]) -> None:
    split = splits.from_files(**files)
    assert split.train.num_nodes == 6
    assert split.train.edges.tolist() == [[0, 1], [1, 2]]
    assert split.valid.tolist() == [[3, 0]]
    assert split.test.tolist() == [[4, 2], [1, 3]]
    assert split.valid.dtype == split.test.dtype == np.int32
    assert split.name == "fixed files"
    assert any("self-loop" in note for note in split.train.notes)


def test_the_validation_file_may_be_left_out(files: dict[str, Path]) -> None:
    split = splits.from_files(train=str(files["train"]), test=str(files["test"]), name="mine")
    assert split.valid.shape == (0, 2)
    assert split.train.name == "mine"


def test_features_and_more_nodes_can_be_given(files: dict[str, Path]) -> None:
    split = splits.from_files(**files, num_nodes=8, features=np.ones((8, 3)))
    assert split.train.num_nodes == 8
    assert split.train.features is not None
    with pytest.raises(InputError, match="features have 5 rows"):
        splits.from_files(**files, features=np.ones((5, 3)))


def test_ids_that_do_not_start_at_zero_are_renumbered_over_all_files(tmp_path: Path) -> None:
    texts = {"train": "1001 1000\n1005 1005\n", "valid": "999 1001\n", "test": "1007 1000\n"}
    split = splits.from_files(**write(tmp_path, **texts), features=np.arange(5).reshape(5, 1))
    assert split.train.labels == ("999", "1000", "1001", "1005", "1007")
    assert split.train.edges.tolist() == [[1, 2]]
    assert split.valid.tolist() == [[0, 2]]
    assert split.test.tolist() == [[4, 1]]
    kept = splits.from_files(**write(tmp_path, **texts), num_nodes=1010)
    assert (kept.train.num_nodes, kept.train.labels) == (1010, None)
    assert kept.test.tolist() == [[1007, 1000]]


def test_ids_from_zero_over_all_files_stay_as_they_are(files: dict[str, Path]) -> None:
    assert splits.from_files(**files).train.labels is None


def test_names_are_ids_too(tmp_path: Path) -> None:
    texts = {"train": "u,v\nann,bob\ndan,dan\n", "valid": "bob\teve\n", "test": "ann eve\ncid bob\n"}
    split = splits.from_files(**write(tmp_path, **texts))
    assert split.train.labels == ("ann", "bob", "dan", "eve", "cid")
    assert split.valid.tolist() == [[1, 3]]
    assert split.test.tolist() == [[0, 3], [4, 1]]
    assert split.train.notes == (
        "train.txt: the first line was read as a header: u, v",
        "dropped 1 self-loop",
    )
    with pytest.raises(InputError, match=r"train\.txt, line 2: 'ann' is not a whole number"):
        splits.from_files(**write(tmp_path, **texts), num_nodes=9)


def test_where_one_file_has_names_numbers_in_the_others_are_names_as_they_are_written(tmp_path: Path) -> None:
    split = splits.from_files(**write(tmp_path, train="007 7\n7 12\n", test="007 x\n"))
    assert split.train.labels == ("007", "7", "12", "x")
    assert split.test.tolist() == [[0, 3]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"train": "70 80\n80 70\n", "test": "90 70\n"}, r"pair 2 lists the edge \(80, 70\) again"),
        ({"train": "70 80\n", "test": "90 70\n80 70\n"}, r"pair 2 is \(80, 70\), which train has too"),
        ({"train": "70 80\n", "test": "90 90\n"}, "pair 1 joins the node 90 to itself"),
        ({"train": "a b\n", "test": "b a\n"}, r"pair 1 is \(b, a\), which train has too"),
    ],
)
def test_renumbered_nodes_are_called_as_in_their_files(
    tmp_path: Path, texts: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        splits.from_files(**write(tmp_path, **texts))


def test_columns_that_are_not_read_are_said_with_their_file(tmp_path: Path) -> None:
    split = splits.from_files(**write(tmp_path, train="0 1\n", test="1 2 0.5\n"))
    assert split.train.notes == ("test.txt: only the first 2 columns are read",)


def test_an_id_past_the_given_number_names_its_file(files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=r"test\.txt, line 1: the id '4' is outside 0\.\.3"):
        splits.from_files(train=files["valid"], test=files["test"], num_nodes=4)
    with pytest.raises(InputError, match="num_nodes must be"):
        splits.from_files(**files, num_nodes="many")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": "4 2\n1 0\n"}, r"test\.txt: pair 2 is \(1, 0\), which train has too"),
        ({"valid": "1 2\n"}, r"valid\.txt: pair 1 is \(1, 2\), which train has too"),
        ({"test": "0 3\n"}, r"test\.txt: pair 1 is \(0, 3\), which valid has too"),
        ({"test": "4 2\n2 4\n"}, r"test\.txt: pair 2 is \(2, 4\), which was listed before"),
    ],
)
def test_overlapping_parts_are_refused_unless_they_are_allowed(
    tmp_path: Path, files: dict[str, Path], change: dict[str, str], message: str
) -> None:
    changed = files | write(tmp_path, **change)
    with pytest.raises(InputError, match=message + ".*overlap='allow'"):
        splits.from_files(**changed)
    split = splits.from_files(**changed, overlap="allow")
    assert len(split.test) == len(changed["test"].read_text().splitlines())


def test_a_repeated_training_edge_is_refused_or_dropped(tmp_path: Path, files: dict[str, Path]) -> None:
    changed = files | write(tmp_path, train="0 1\n5 5\n5 5\n1 0\n")
    with pytest.raises(InputError, match=r"train\.txt: pair 4 lists the edge \(1, 0\) again"):
        splits.from_files(**changed)
    assert splits.from_files(**changed, repeats="drop").train.edges.tolist() == [[0, 1]]


def test_a_positive_from_a_node_to_itself_is_refused(tmp_path: Path, files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=r"valid\.txt: pair 1 joins the node 4 to itself"):
        splits.from_files(**files | write(tmp_path, valid="4 4\n"))


def test_wrong_options_are_named(files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="overlap must be 'refuse' or 'allow', got 'maybe'"):
        splits.from_files(**files, overlap="maybe")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="repeats must be 'refuse' or 'drop', got 'keep'"):
        splits.from_files(**files, repeats="keep")  # type: ignore[arg-type]


def test_missing_and_empty_files_are_named(tmp_path: Path, files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=r"none\.txt"):
        splits.from_files(train=files["train"], test=tmp_path / "none.txt")
    with pytest.raises(InputError, match=r"test\.txt"):
        splits.from_files(**files | write(tmp_path, test=""))


@pytest.mark.data("heart/citeseer")
def test_the_released_citeseer_files_make_the_published_split(data_folder: Path) -> None:
    folder = data_folder / "heart" / "citeseer"
    split = splits.from_files(**{part: folder / f"{part}_pos.txt" for part in ("train", "valid", "test")})
    assert split.train.num_nodes == 3327
    assert (split.train.num_edges, len(split.valid), len(split.test)) == (3870, 227, 455)
