"""Compiled code is kept somewhere, whoever runs the package and wherever it lies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import trueedge
from trueedge import kernels

SCRIPT = """
import numpy as np, numba
from trueedge.kernels.arrays.csr import neighbour_lists
edges = np.array([[0, 1], [1, 2]], dtype=np.int32)
print(neighbour_lists(edges, 3)[1].tolist(), numba.config.CACHE_DIR)
"""


@pytest.mark.compiled
def test_without_a_writable_folder_kernels_still_run(tmp_path: Path) -> None:
    copy = tmp_path / "trueedge"
    shutil.copytree(
        Path(trueedge.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__", "embedded")
    )
    # A file in the folder's place keeps even root from writing there.
    (copy / "kernels" / "__pycache__").write_text("")
    (tmp_path / "temporary").mkdir()
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    variables |= {"PYTHONPATH": str(tmp_path), "HOME": "/dev/null", "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=variables, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    *numbers, folder = done.stdout.split()
    assert " ".join(numbers) == "[1, 0, 2, 1]"
    assert Path(folder).parent == tmp_path / "temporary"
    assert list(Path(folder).rglob("*.nbi"))


def test_where_the_compiler_finds_a_folder_nothing_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", False)
    assert kernels.find_cache() is None


def test_nothing_is_kept_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_is_writable", lambda folder: False)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert kernels.find_cache() is None


def test_the_temporary_folder_is_private_and_the_same_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = kernels.temporary_cache()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert kernels.temporary_cache() == folder
    monkeypatch.setattr(numba.config, "DISABLE_JIT", False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/dev/null/x")
    monkeypatch.setattr(kernels, "_is_writable", lambda place: place == folder)
    assert kernels.find_cache() == folder


@pytest.mark.parametrize("fault", ["open to all", "a link", "a file", "of someone else"])
def test_a_folder_others_could_fill_is_not_used(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    usual = kernels.temporary_cache()
    if fault == "open to all":
        usual.chmod(0o777)
    elif fault == "of someone else":
        monkeypatch.setattr(kernels, "_user", lambda: os.getuid() + 1)
        usual.rename(tmp_path / f"trueedge-compiled-{os.getuid() + 1}")
        usual = tmp_path / f"trueedge-compiled-{os.getuid() + 1}"
    else:
        usual.rmdir()
        usual.symlink_to(tmp_path) if fault == "a link" else usual.write_text("")
    own = kernels.temporary_cache()
    assert own != usual
    assert own.parent == tmp_path
    assert own.stat().st_mode & 0o777 == 0o700
