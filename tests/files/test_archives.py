"""Archives that hold two files of one name are refused: programs differ in which of them they read."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.datasets.torch_files import read_arrays
from trueedge.errors import InputError
from trueedge.files.archives import read_archive


def archive(path: Path, *members: tuple[str, bytes]) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as made:
        warnings.simplefilter("ignore")  # Python warns of the second file of a name
        for name, content in members:
            made.writestr(name, content)
    return path


def npy(*values: float) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(values))
    return stream.getvalue()


def test_an_archive_with_scores_twice_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "scores.npz", ("scores.npy", npy(1, 2)), ("scores.npy", npy(2, 1)))
    with pytest.raises(InputError, match=r"scores\.npz holds scores twice"):
        read_archive(path)
    with pytest.raises(InputError, match=r"scores\.npz holds scores twice"):
        te.task("karate", "existing").evaluate(path)


def test_scores_of_a_certificate_that_are_there_twice_are_refused(tmp_path: Path) -> None:
    store = te.Store(tmp_path / "runs")
    record = te.run("karate", "existing", "ra", store=store, keep_scores=True)
    path = te.certify(record, tmp_path / "ra.json", store)
    kept = tmp_path / "ra.scores.npz"
    with zipfile.ZipFile(kept) as held:
        members = [(name, held.read(name)) for name in held.namelist()]
    archive(kept, *members, members[0])
    (check,) = (one for one in te.verify(path).checks if one.name == "scores")
    assert (check.ok, "holds positive twice" in check.sentence) == (False, True)


def test_a_torch_file_with_a_member_twice_is_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"edge": torch.tensor([[1, 2]])}, tmp_path / "test.pt")
    with zipfile.ZipFile(tmp_path / "test.pt") as held:
        members = [(name, held.read(name)) for name in held.namelist()]
    values = next(one for one in members if one[0].endswith("/data/0"))
    archive(tmp_path / "test.pt", *members, values)
    with pytest.raises(InputError, match=r"test\.pt holds test/data/0 twice"):
        read_arrays(tmp_path / "test.pt")


def test_an_archive_that_is_too_large_names_its_arrays_if_there_are_several(tmp_path: Path) -> None:
    path = archive(tmp_path / "scores.npz", ("scores.npy", npy(*range(60))), ("pairs.npy", npy(*range(60))))
    sizes = r"unpacks to 1,216 bytes, and 700 at most are expected"
    with pytest.raises(InputError, match=rf"scores\.npz holds 2 arrays, pairs, scores, and {sizes}"):
        read_archive(path, most=700)
    path = archive(tmp_path / "one.npz", ("scores.npy", npy(*range(60))))
    with pytest.raises(InputError, match=r"one\.npz unpacks to 608 bytes"):
        read_archive(path, most=400)
