"""How much memory there is, and that a text does not take more than its edges need."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

import trueedge
from forged_files import memory_below
from trueedge.errors import InputError
from trueedge.files import bounds, memory
from trueedge.graph import Graph, read_edges


def packed_lines(lines: list[bytes], times: int, rounds: int = 1) -> bytes:
    """Return gzip data of the same lines again and again, without making all of them."""
    return gzip.compress(b"".join(lines) * times) * rounds


@pytest.mark.parametrize("line", [b"0 1\n", b"\n", b"# nothing\n", b"alice bob\n"])
def test_a_small_file_of_very_many_lines_is_refused(tmp_path: Path, monkeypatch, line: bytes) -> None:
    monkeypatch.setattr(bounds, "FEW_LINES", few := 1 << 16)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(packed_lines([line], few // 4, 5))
    with (
        memory_below(30 * few + 2 * 1032 * bounds.PIECE),
        pytest.raises(InputError, match=r"bomb\.csv\.gz unpacks to 81,920 lines, from [\d,]+ bytes: nearly"),
    ):
        Graph.from_edges(path, self_loops="drop", repeats="drop")


def test_lines_that_unpack_to_a_gigabyte_are_refused_before_any_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(packed_lines([b"0 1\n"], 1 << 22, 54))
    assert 875_000 < path.stat().st_size < 900_000
    with memory_below(6e7), pytest.raises(InputError, match="unpacks to more than 268,435,456 bytes"):
        read_edges(path)


def test_a_small_file_of_very_many_scores_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt.gz"
    path.write_bytes(packed_lines([b"0.5\n"], bounds.FEW_LINES // 4, 5))
    task = trueedge.task("karate", "existing")
    with memory_below(1e8), pytest.raises(InputError, match="unpacks to 5,242,880 lines"):
        task.evaluate(path)


def test_lines_that_repeat_each_other_are_read_where_they_are_few(tmp_path: Path) -> None:
    (tmp_path / "again.csv.gz").write_bytes(packed_lines([b"0 1\n", b"1 2\n"], 50_000))
    assert read_edges(tmp_path / "again.csv.gz", repeats="drop").edges.tolist() == [[0, 1], [1, 2]]


def test_a_file_with_more_lines_than_memory_holds_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"0 1\n" * 2_000_000)
    monkeypatch.setattr(bounds, "free_memory", lambda: 10**8)
    said = r"long\.txt, with 2,000,000 lines, needs 144 MB of memory, but 100 MB are free"
    with memory_below(3e7), pytest.raises(InputError, match=said):
        read_edges(path, repeats="drop")
    path.write_bytes(b"0 alice\n" * 500_000)
    with memory_below(8e7), pytest.raises(InputError, match=r"long\.txt, with 500,000 lines, needs 200 MB"):
        read_edges(path, repeats="drop")


def test_a_file_that_unpacks_to_more_than_memory_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "long.gz"
    path.write_bytes(packed_lines([b"%d %d\n" % (i, i + 1) for i in range(10**5)], 2))
    monkeypatch.setattr(bounds, "free_memory", lambda: 10**6)
    with pytest.raises(InputError, match=r"long\.gz unpacks to more than 0 MB, but 1 MB of memory are free"):
        read_edges(path)


def test_a_file_larger_than_memory_is_not_read(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "sparse.txt"
    path.write_bytes(b"0 1\n")
    # It takes no room on the disk.
    with path.open("r+b") as file:
        file.truncate(10**12)
    monkeypatch.setattr(bounds, "free_memory", lambda: 10**10)
    with pytest.raises(InputError, match=r"sparse\.txt needs 1,000 GB of memory, but 10 GB are free"):
        read_edges(path)


def test_the_limit_of_the_process_counts() -> None:
    script = """
import resource
from trueedge.files.memory import free_memory
resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, resource.RLIM_INFINITY))
print(free_memory())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 3 * 10**9


@pytest.mark.parametrize(
    ("group", "files", "left"),
    [
        ("0::/a/b", {"a/memory.max": "5000", "a/memory.current": "2000"}, 3000),
        ("0::/a", {"a/memory.max": "max", "a/memory.current": "2000"}, None),
        (
            "0::/a",
            {"memory.max": "900", "memory.current": "100", "memory.stat": "inactive_file 50\nanon 7"},
            850,
        ),
        ("4:memory:/a", {"memory/memory.limit_in_bytes": "7", "memory/memory.usage_in_bytes": "9"}, 0),
        ("3:cpu:/a\n\nnonsense", {}, None),
    ],
)
def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch, group: str, files, left) -> None:
    (tmp_path / "cgroup").write_text(group)
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "meminfo").write_text("MemTotal: 99 kB\nMemAvailable:    40 kB\nSwapFree: 10 kB\n")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "GROUP_FOLDERS", tmp_path)
    monkeypatch.setattr(memory, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_of_process", lambda: None)
    assert memory.free_memory() == (50 * 1024 if left is None else left)


def test_a_system_that_does_not_say_has_enough(monkeypatch) -> None:
    monkeypatch.setattr(memory, "_read", lambda path: "")
    assert memory.free_memory() is None or memory.free_memory() > 0

    def nothing(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", nothing)
    assert memory.free_memory() is None


def test_sizes_are_shown_with_a_unit() -> None:
    assert [memory.as_size(size) for size in (3 * 10**8, 2**33, 12 * 10**9)] == [
        "300 MB",
        "8.6 GB",
        "12 GB",
    ]
