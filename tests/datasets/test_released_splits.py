"""The split and negatives that HeaRT's authors released."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from forged_files import FORGED, memory_below
from trueedge import datasets, splits
from trueedge.datasets import MissingFile
from trueedge.errors import InputError
from trueedge.splits import releases

TRAIN = "0\t1\n1\t2\n2\t3\n2707\t2707\n"
VALID = np.array([[0, 2], [4, 1]])
TEST = np.array([[3, 0]])


def samples(positives: np.ndarray, k: int = 4) -> np.ndarray:
    """Negatives of the right form: half of them keep the source, half the target."""
    table = np.repeat(positives[:, None], k, axis=1)
    table[:, : k // 2, 1] = 10 + np.arange(k // 2)
    table[:, k // 2 :, 0] = 20 + np.arange(k - k // 2)
    return table


def lay_out(folder: Path, name: str = "cora", **changes: object) -> None:
    place = folder / "heart" / name
    place.mkdir(parents=True)
    content: dict[str, object] = {
        "train_pos": TRAIN,
        "valid_pos": "0\t2\n4\t1\n",
        "test_pos": "3\t0\n",
        "valid_neg": "5\t6\n7\t8\n",
        "test_neg": "9\t9\n",
        "heart_valid_samples": samples(VALID),
        "heart_test_samples": samples(TEST),
    } | changes
    for key, value in content.items():
        if isinstance(value, np.ndarray):
            np.save(place / f"{key}.npy", value)
        elif isinstance(value, bytes):
            (place / f"{key}.npy").write_bytes(value)
        elif isinstance(value, str):
            (place / f"{key}.txt").write_text(value)


def test_the_released_citeseer_is_read_whole(data_folder: Path) -> None:
    release = splits.released("citeseer")
    hard = splits.released("citeseer", "heart")
    whole = datasets.load("citeseer")
    split = release.split
    assert split.train.num_nodes == 3327
    assert split.train.num_edges == 3870
    assert split.train.notes == ("dropped 48 self-loops",)
    assert (split.train.degrees[whole.degrees == 0] == 0).all()
    assert split.name == "as released"
    shapes = {"valid": 227, "test": 455}
    assert {part: len(getattr(split, part)) for part in shapes} == shapes
    assert {part: found.shape for part, found in release.negatives.items()} == {
        part: (count, 2) for part, count in shapes.items()
    }
    assert {part: found.shape for part, found in hard.negatives.items()} == {
        part: (count, 500, 2) for part, count in shapes.items()
    }
    for array in (split.valid, split.test, release.negatives["test"], hard.negatives["test"]):
        assert array.dtype == np.int32
    assert hard.split.hash == split.hash
    parts = np.concatenate([split.train.edges, np.sort(split.valid, axis=1), np.sort(split.test, axis=1)])
    np.testing.assert_array_equal(np.unique(parts, axis=0), whole.edges)
    assert split.train.features is not None
    np.testing.assert_array_equal(split.train.features, whole.features)
    assert {check.state for check in datasets.verify("citeseer")} == {"ok"}


def test_rows_keep_their_order_and_direction(own_data: Path) -> None:
    lay_out(own_data)
    release = splits.released("cora")
    train = release.split.train
    assert train.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert train.num_nodes == 2708
    assert train.notes == ("dropped 1 self-loop",)
    assert release.split.valid.tolist() == VALID.tolist()
    assert release.split.test.tolist() == TEST.tolist()
    assert release.negatives["test"].tolist() == [[9, 9]]
    np.testing.assert_array_equal(splits.released("cora", "heart").negatives["valid"], samples(VALID))
    assert train.features is not None
    np.testing.assert_array_equal(train.features, datasets.load("cora").features)


@pytest.mark.parametrize(
    ("protocol", "absent"),
    [("existing-released", "heart_valid_samples.npy"), ("heart-released", "valid_neg.txt")],
)
def test_a_protocol_needs_only_the_files_it_reads(own_data: Path, protocol: str, absent: str) -> None:
    lay_out(own_data, test_neg="9\t8\n")
    (own_data / "heart/cora" / absent).unlink()
    task = te.task("cora", protocol)
    assert isinstance(task, te.LinkTask)
    assert task.test.positives.tolist() == TEST.tolist()
    other = {"existing-released": "heart-released", "heart-released": "existing-released"}[protocol]
    with pytest.raises(MissingFile, match=re.escape(absent)):
        te.task("cora", other)


@pytest.mark.parametrize("protocol", ["existing-released", "heart-released"])
def test_each_file_is_read_once(own_data: Path, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(own_data, test_neg="9\t8\n")
    read: list[str] = []
    for name in ("read_table", "read_array"):
        real = getattr(releases, name)

        def counted(path: Path, *given: object, real: Callable[..., object] = real) -> object:
            read.append(path.name)
            return real(path, *given)

        monkeypatch.setattr(releases, name, counted)
    te.task("cora", protocol)
    negatives = {"existing-released": "{}_neg.txt", "heart-released": "heart_{}_samples.npy"}[protocol]
    parts = [negatives.format(part) for part in ("valid", "test")]
    assert sorted(read) == sorted(["train_pos.txt", "valid_pos.txt", "test_pos.txt", *parts])


def test_features_are_left_out_with_a_note_where_they_cannot_be_had(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(own_data, "pubmed")

    def unreachable(*arguments: object, **options: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    train = splits.released("pubmed").split.train
    assert train.num_nodes == 19717
    assert train.features is None
    assert train.notes[-1] == "without features: the files of pubmed are not here"


def test_other_names_and_absent_folders_are_refused(own_data: Path) -> None:
    with pytest.raises(
        InputError, match="no split released by HeaRT is called 'karate'; there are: citeseer, cora"
    ):
        splits.released("karate")
    with pytest.raises(InputError, match="kind of negatives released for cora is called 'hard'"):
        splits.released("cora", "hard")
    with pytest.raises(
        MissingFile, match=r"heart/cora/train_pos\.txt is not in .*no longer answers; put it at"
    ):
        splits.released("cora")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"train_pos": "0\t1\n1\t2708\n"}, "row 1 has the node id 2708, outside 0..2707"),
        ({"train_pos": "0\t1\n1\t-2\n"}, "row 1 has the node id -2"),
        ({"train_pos": "0\t1\n1\n"}, "line 2 has 1 values, not 2"),
        ({"valid_pos": "0\t2\n4\t4\n"}, "row 1 joins node 4 to itself"),
        ({"test_pos": "3\tx\n"}, "line 1 has 'x'"),
        ({"test_neg": "3\t9999\n"}, "row 0 has the node id 9999"),
        ({"heart_test_samples": samples(VALID)}, "has the shape (2, 4, 2), but 1 positives need (1, k, 2)"),
        ({"heart_test_samples": samples(TEST)[0]}, "has the shape (4, 2)"),
        ({"heart_test_samples": samples(TEST) + 5000}, "has the node id 5003"),
        ({"heart_test_samples": samples(TEST) * 0.5}, "which is not a node id"),
        ({"heart_test_samples": samples(TEST)[:, ::-1]}, "row 0 do not belong to the positive (3, 0)"),
        ({"heart_valid_samples": samples(VALID)[::-1]}, "row 0 do not belong to the positive (0, 2)"),
        ({"heart_test_samples": b"not numpy"}, "is not a numpy file of numbers"),
        ({"heart_test_samples": b""}, "is not a numpy file of numbers"),
    ],
)
def test_files_that_do_not_fit_are_refused(own_data: Path, changes: dict[str, object], said: str) -> None:
    lay_out(own_data, **changes)
    negatives = "heart" if "samples" in next(iter(changes)) else "shared"
    with pytest.raises(InputError, match=re.escape(said)):
        splits.released("cora", negatives)


def test_pickled_negatives_are_refused(own_data: Path, tmp_path: Path, forged: object) -> None:
    lay_out(own_data)
    objects = np.empty(1, dtype=object)
    objects[0] = forged
    np.save(own_data / "heart/cora/heart_test_samples.npy", objects, allow_pickle=True)
    with pytest.raises(InputError, match="is not a numpy file of numbers"):
        splits.released("cora", "heart")
    assert not (tmp_path / "owned").exists()


def packed_array() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=samples(VALID))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        packed_array(),
        packed_array()[:40],
        b"",
        b"\x93NUMPY\x01\x00\x10\x00{'descr': (((((\n",
        b"\x93NUMPY\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00",
        b"\x93NUMPY\x09\x00",
        b"\x80\x04N.",
    ],
    ids=["zip", "cut zip", "empty", "brackets", "NUL", "version", "pickle"],
)
def test_samples_that_are_no_array_are_refused(own_data: Path, content: bytes) -> None:
    lay_out(own_data, heart_valid_samples=content)
    with pytest.raises(InputError, match=r"heart_valid_samples\.npy is not a numpy file of numbers: "):
        splits.released("cora", "heart")


@pytest.mark.parametrize(("content", "sentence"), FORGED)
def test_samples_that_claim_more_than_they_hold_are_refused_without_the_memory(
    own_data: Path, content: bytes, sentence: str
) -> None:
    lay_out(own_data, heart_valid_samples=content)
    datasets.get("cora").load()
    said = rf"heart_valid_samples\.npy is not a numpy file of numbers: it .*{sentence}"
    with memory_below(8e7), pytest.raises(InputError, match=said):
        splits.released("cora", "heart")


def test_files_without_a_known_checksum_are_said_quietly(own_data: Path) -> None:
    lay_out(own_data, test_neg="9\t8\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", te.DataWarning)
        task = te.task("cora", "existing-released")
    names = ("train_pos.txt", "valid_pos.txt", "test_pos.txt", "valid_neg.txt", "test_neg.txt")
    assert task.settings["files_without_checksum"] == tuple(f"heart/cora/{name}" for name in names)
    assert "notes" not in task.settings
    assert "files_without_checksum" not in te.task("cora", "existing").settings
