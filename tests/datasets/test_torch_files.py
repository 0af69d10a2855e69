"""What torch.save wrote is read without torch, and never obeyed."""

from __future__ import annotations

import contextlib
import io
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forged_files import memory_below
from trueedge.datasets.torch_files import read_arrays
from trueedge.errors import InputError

torch = pytest.importorskip("torch")

CONTENT = {
    "edge": np.arange(10, dtype=np.int64).reshape(5, 2),
    "year": np.array([2001, 2002, 2003], dtype=np.int32),
    "empty": np.empty((0, 2), dtype=np.int64),
    "weight": np.array([0.5, 1.5]),
}


def as_tensors() -> dict[str, object]:
    return {key: torch.from_numpy(array) for key, array in CONTENT.items()}


@pytest.mark.parametrize("zipped", [False, True], ids=["legacy", "zip"])
@pytest.mark.parametrize("make", [lambda: CONTENT, as_tensors], ids=["numpy", "tensors"])
def test_both_formats_give_back_what_was_saved(
    tmp_path: Path, zipped: bool, make: Callable[[], dict[str, object]]
) -> None:
    path = tmp_path / "saved.pt"
    torch.save(make(), path, _use_new_zipfile_serialization=zipped)
    read = read_arrays(path)
    assert list(read) == list(CONTENT)
    for key, array in CONTENT.items():
        np.testing.assert_array_equal(read[key], array)
        assert read[key].dtype == array.dtype


@pytest.mark.parametrize("zipped", [False, True], ids=["legacy", "zip"])
def test_views_of_shared_values_are_read_as_torch_reads_them(tmp_path: Path, zipped: bool) -> None:
    base = torch.arange(24).reshape(4, 6)
    saved = {
        "all": base,
        "turned": base.t(),
        "part": base[1:3, ::2],
        "one": base[2, 3],
        "kinds": base % 2 == 0,
    }
    saved |= {str(kind): base.to(kind) for kind in (torch.int8, torch.int16, torch.uint8, torch.float32)}
    path = tmp_path / "views.pt"
    torch.save(saved, path, _use_new_zipfile_serialization=zipped)
    read = read_arrays(path)
    for key, tensor in saved.items():
        np.testing.assert_array_equal(read[key], tensor.numpy())
        assert read[key].dtype == tensor.numpy().dtype


def test_torch_is_not_imported(tmp_path: Path) -> None:
    path = tmp_path / "saved.pt"
    torch.save(as_tensors(), path)
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "from trueedge.datasets.torch_files import read_arrays\n"
        f"print(read_arrays(Path({str(path)!r}))['edge'].sum())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "45"


@pytest.mark.parametrize("zipped", [False, True], ids=["legacy", "zip"])
def test_a_saved_object_that_calls_a_function_is_refused(
    tmp_path: Path, forged: object, zipped: bool
) -> None:
    path = tmp_path / "forged.pt"
    torch.save({"edge": forged}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match=r"forged\.pt asks for "):
        read_arrays(path)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("zipped", [False, True], ids=["legacy", "zip"])
def test_a_file_cut_short_is_refused(tmp_path: Path, zipped: bool) -> None:
    buffer = io.BytesIO()
    torch.save(as_tensors(), buffer, _use_new_zipfile_serialization=zipped)
    whole = buffer.getvalue()
    path = tmp_path / "cut.pt"
    for share in (0.1, 0.5, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(InputError, match=r"cut\.pt"):
            read_arrays(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    for content in (
        b"",
        b"text",
        pickle.dumps(3, 2),
        pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(7, 2),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"other\.pt"):
            read_arrays(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "nothing")
    with pytest.raises(InputError, match=r"without data\.pkl"):
        read_arrays(path)
    with pytest.raises(InputError, match=r"absent\.pt"):
        read_arrays(tmp_path / "absent.pt")


def test_big_endian_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.pt"
    header = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": False}, {})
    path.write_bytes(b"".join(pickle.dumps(part, 2) for part in header))
    with pytest.raises(InputError, match="big-endian"):
        read_arrays(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}, 2))
        archive.writestr("archive/byteorder", b"big")
    with pytest.raises(InputError, match="big-endian"):
        read_arrays(path)


def test_old_views_of_values_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "view.pt"
    header = b"".join(
        pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    path.write_bytes(header + b"(S'storage'\nctorch\nLongStorage\nS'0'\nS'cpu'\nI4\n(I1\nI2\nttQ.")
    with pytest.raises(InputError, match="a view of a tensor's values"):
        read_arrays(path)


@pytest.mark.parametrize(
    "content", [[1, 2], {"edge": [1, 2]}, {3: np.arange(2)}, {"edge": {"a": np.arange(2)}}]
)
def test_what_is_no_dict_of_arrays_is_refused(tmp_path: Path, content: object) -> None:
    path = tmp_path / "saved.pt"
    torch.save(content, path)
    with pytest.raises(InputError, match=r"saved\.pt does not contain a dict of arrays"):
        read_arrays(path)


def forged_tensor(storage: bytes, window: bytes) -> bytes:
    """A hand-made zip file with four values and a tensor that claims a window on them."""
    pickled = (
        b"(dS'edge'\nctorch._utils\n_rebuild_tensor_v2\n((S'storage'\n"
        + storage
        + b"S'0'\nS'cpu'\nI4\ntQ"
        + window
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", pickled + b"I00\nNtRs.")
        archive.writestr("archive/data/0", np.arange(4).tobytes())
    return buffer.getvalue()


LONGS = b"ctorch\nLongStorage\n"


def test_the_hand_made_tensor_is_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "made.pt"
    path.write_bytes(forged_tensor(LONGS, b"I1\n(I3\nt(I1\nt"))
    assert read_arrays(path)["edge"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("storage", "window"),
    [
        (LONGS, b"I2\n(I3\nt(I1\nt"),  # one value too many
        (LONGS, b"I0\n(I2\nt(I4\nt"),
        (LONGS, b"I-1\n(I2\nt(I1\nt"),
        (LONGS, b"I0\n(I-2\nt(I1\nt"),
        (LONGS, b"I0\n(I2\nt(I-1\nt"),
        (LONGS, b"I0\n(I2\nt(I1\nI1\nt"),
        (LONGS, b"I0\n(I99999999999\nt(I0\nt"),  # one value, repeated until memory is full
        (LONGS, b"S'0'\n(I2\nt(I1\nt"),
        (b"S'O'\n", b"I0\n(I1\nt(I1\nt"),  # values that would be taken for pointers
        (b"S'<i4'\n", b"I0\n(I1\nt(I1\nt"),  # eight values for four
    ],
)
def test_forged_tensors_are_refused(tmp_path: Path, storage: bytes, window: bytes) -> None:
    path = tmp_path / "made.pt"
    path.write_bytes(forged_tensor(storage, window))
    with pytest.raises(InputError, match=r"made\.pt is not a file of arrays"):
        read_arrays(path)


@cache
def saved(zipped: bool) -> bytes:
    # Once: addresses in memory are written too, and now and then have one digit more.
    buffer = io.BytesIO()
    torch.save(as_tensors(), buffer, _use_new_zipfile_serialization=zipped)
    return buffer.getvalue()


@pytest.mark.parametrize("zipped", [False, True], ids=["legacy", "zip"])
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_file_with_changed_bytes_is_read_or_refused(
    tmp_path: Path, zipped: bool, data: st.DataObject
) -> None:
    content = bytearray(saved(zipped))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "changed.pt"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        read_arrays(path)


def archive_of(path: Path, values: bytes, pickled: bytes, **changes: int) -> None:
    """A zip file as torch.save writes it, with other sizes in its directory."""
    with zipfile.ZipFile(path, "w", changes.pop("method", zipfile.ZIP_DEFLATED), compresslevel=9) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", values)
        for name, value in changes.items():
            setattr(archive.getinfo("archive/data/0"), name, value)


def pickled_tensor(length: int, times: int = 1) -> bytes:
    one = (
        b"S'%d'\nctorch._utils\n_rebuild_tensor_v2\n((S'storage'\nctorch\nLongStorage\nS'0'\nS'cpu'\n"
        + b"I%d\ntQI0\n(I1\nt(I1\ntI00\nNtRs" % length
    )
    return b"(d" + b"".join(one.replace(b"%d", b"%d" % at) for at in range(times)) + b"."


def test_values_of_an_archive_are_unpacked_once_however_often_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "often.pt"
    archive_of(path, bytes(8 * 10**5), pickled_tensor(10**5, times=200))
    with memory_below(5e6):
        assert len(read_arrays(path)) == 200


@pytest.mark.parametrize(
    ("values", "length", "changes", "sentence"),
    [
        (bytes(80), 10**12, {}, "80 bytes for a tensor of 1000000000000 values"),
        (bytes(80), 10**12, {"file_size": 8 * 10**12}, "unpacks to more than 1,073,741,824 bytes, from "),
        (bytes(80), 10**12, {"file_size": 8 * 10**12, "compress_size": 8 * 10**12}, "its members have"),
        # More comes out than the directory says: what it says is read, and the checksum is another.
        (bytes(10**8), 2, {"file_size": 16}, "Bad CRC-32"),
        (bytes(80), 20, {"file_size": 160}, "10 values for a tensor of 20"),
        (bytes(80), 10, {"method": zipfile.ZIP_BZIP2}, "another compression than deflate"),
    ],
)
def test_an_archive_that_claims_more_than_it_holds_is_refused_without_the_memory(
    tmp_path: Path, values: bytes, length: int, changes: dict[str, int], sentence: str
) -> None:
    path = tmp_path / "forged.pt"
    archive_of(path, values, pickled_tensor(length), **changes)
    with memory_below(5e6), pytest.raises(InputError, match=rf"forged\.pt.*({sentence})"):
        read_arrays(path)


@pytest.mark.parametrize("count", [-1, 3, 4 * 10**9, 2**62])
def test_values_that_the_legacy_format_only_claims_are_not_waited_for(tmp_path: Path, count: int) -> None:
    path = tmp_path / "forged.pt"
    torch.save({"edge": torch.arange(4)}, path, _use_new_zipfile_serialization=False)
    whole = path.read_bytes()
    at = whole.rindex((4).to_bytes(8, "little"))
    path.write_bytes(whole[:at] + count.to_bytes(8, "little", signed=True) + whole[at + 8 :])
    said = r"forged\.pt is not a file of arrays .* bytes for a tensor of 4 values"
    with memory_below(5e6), pytest.raises(InputError, match=said):
        read_arrays(path)
