"""Attacks on readers of binary files (.npy, .npz, .pt, pickles) and on paths that are no plain file."""

from __future__ import annotations

import io
import os
import socket
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.mutations import damaged, flipped, truncated
from benchmarks.attack.outcomes import Case, expect, expect_values
from benchmarks.attack.plain_metrics import split_in_order, task_metrics
from benchmarks.attack.tiny import random_graph, small_task
from trueedge import results
from trueedge.datasets.pickles import read_pickle
from trueedge.datasets.torch_files import read_arrays
from trueedge.errors import InputError
from trueedge.files.archives import read_archive
from trueedge.files.arrays import map_array, read_array
from trueedge.graph import Graph, read_edges
from trueedge.graph.reading import read_pair_files, read_pairs
from trueedge.scorers.pair_files import listed_parts
from trueedge.scorers.score_files import read_scores
from trueedge.splits.files import from_files
from trueedge.tasks import storage

KINDS = ("<i4", "<i8", ">i4", "<f8", "<u2", "|b1", "<f2", "<c16", "<M8[s]", "|S3", "<U2")


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def _npz(compressed: bool, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


def _same(found: Any, wanted: Any, what: str) -> None:
    # Bytes, so that NaN equals NaN and -0.0 differs from 0.0.
    equal = (
        found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()
    )
    expect(equal, f"{what}: {found.dtype}{found.shape} is read, {wanted.dtype}{wanted.shape} is there")


def _random_array(case: Case) -> Any:
    shape = case.pick([(4, 2), (3,), (2, 3, 2), (0, 2), (1, 1), ()])
    array = case.rng.integers(0, 100, size=shape).astype(case.pick(KINDS))
    return np.asfortranarray(array) if case.chance(0.3) else array


def npy(case: Case) -> None:
    """Damage a .npy file: what is read is what numpy reads from the same bytes."""
    data = _npy(_random_array(case))
    data = case.pick([damaged, _forged_head, lambda _, same: same])(case, data)
    path = case.folder / "a.npy"
    path.write_bytes(data)
    found = case.pick([read_array, map_array])(path)
    _same(np.asarray(found), np.load(io.BytesIO(data), allow_pickle=False), "an array")


def _forged_head(case: Case, data: bytes) -> bytes:
    shape = case.pick(
        ["(1000000000000, 2)", "(-1, 2)", "(2,)", "()", "(4, 2,)", "[4, 2]", "(4, True)", "4", "(0, 0)"]
    )
    dtype = case.pick(["<i8", "|O", ">i4", "<f8", "V8", "<i4", "object", "i8,i8", "<U1", "|V0"])
    case.tell("head", shape, dtype)
    text = (
        f"{{'descr': '{dtype}', 'fortran_order': {case.pick(['True', 'False', '1'])}, 'shape': {shape}, }}\n"
    )
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data[-64:]


def npz(case: Case) -> None:
    """Damage a .npz file, whose members have checksums: what is read is what was written."""
    arrays = {name: _random_array(case) for name in ("scores", "pairs", "labels")[: case.number(1, 3)]}
    data = damaged(case, _npz(case.chance(0.5), **arrays))
    path = case.folder / "a.npz"
    path.write_bytes(data)
    found = read_archive(path)
    expect(
        set(found) <= set(arrays) or _renamed(data, found),
        f"{sorted(found)} is read, {sorted(arrays)} is there",
    )
    for name in set(found) & set(arrays):
        _same(found[name], arrays[name], name)


def _renamed(data: bytes, found: dict[str, Any]) -> bool:
    """Return whether the archive itself says these names: a name has no checksum."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.removesuffix(".npy") for name in archive.namelist()} >= set(found)


def torch_files(case: Case) -> None:
    """Damage a file of torch.save in either format; what is read is what torch reads from the same bytes."""
    import torch

    arrays: dict[str, Any] = {
        "edge": torch.tensor(case.rng.integers(0, 9, size=(4, 2))),
        "edge_neg": torch.tensor(case.rng.integers(0, 9, size=(5, 2))).t().contiguous().t(),
        "weight": torch.tensor(case.rng.random(4), dtype=torch.float32),
    }
    stream = io.BytesIO()
    new = case.chance(0.5)
    torch.save(arrays, stream, _use_new_zipfile_serialization=new)
    data = case.pick([damaged, flipped, flipped, lambda _, same: same])(case, stream.getvalue())
    case.tell("new format" if new else "legacy format")
    path = case.folder / "a.pt"
    path.write_bytes(data)
    found = read_arrays(path)
    if new:
        wanted = {name: tensor.numpy() for name, tensor in arrays.items()}
        expect(set(found) <= set(wanted), f"{sorted(found)} is read")
    else:
        try:
            loaded = torch.load(io.BytesIO(data), weights_only=True)
        except Exception as error:
            # Torch checks more, such as what the storage says of its device.
            case.tell("torch refuses it:", type(error).__name__)
            return
        wanted = {name: tensor.numpy() for name, tensor in loaded.items()}
        expect(set(found) == set(wanted), f"{sorted(found)} is read")
    for name, array in found.items():
        _same(array, np.ascontiguousarray(wanted[name]), name)


def pickles(case: Case) -> None:
    """Read a pickle that asks for a function, or that is damaged: nothing may be called."""
    import pickle

    touched = case.folder / "touched"

    class Evil:
        def __reduce__(self) -> Any:
            return case.pick(
                [(os.mkdir, (str(touched),)), (eval, (f"__import__('os').mkdir({str(touched)!r})",))]
            )

    content = case.pick([Evil(), [Evil()], {0: [1], 1: Evil()}, {"a": np.arange(3)}, {0: [1], 1: [0]}])
    data = pickle.dumps(content, protocol=case.pick([0, 2, 4, 5]))
    data = damaged(case, data) if case.chance(0.4) else data
    try:
        read_pickle(io.BytesIO(data), "a pickle")
    finally:
        expect(not touched.exists(), "a pickle ran its function")


def array_scores(case: Case) -> None:
    """Give scores in an array or an archive, of odd types and shapes, or damaged."""
    task = small_task(case)
    listed = task.pairs()
    scores = case.rng.integers(-9, 9, size=len(listed)) / 4.0
    form = case.pick(["order", "table", "archive", "archive of pairs", "certificate", "swapped"])
    kind = case.pick(["f8", "f4", ">f8", "f2", "g"])
    positives = len(task.test.positives)
    content: dict[str, Callable[[], bytes]] = {
        "order": lambda: _npy(scores.astype(kind)),
        "table": lambda: _npy(np.column_stack([listed, scores]).astype(kind)),
        "swapped": lambda: _npy(np.column_stack([scores, listed]).astype(kind)),
        "archive": lambda: _npz(case.chance(0.5), scores=scores.astype(kind)),
        "archive of pairs": lambda: _npz(
            case.chance(0.5), scores=scores, pairs=listed[:, :: case.pick([1, -1])]
        ),
        "certificate": lambda: _npz(
            False,
            positive=scores[:positives],
            negative=scores[positives:].reshape(task.test.negatives.shape[:-1]),
        ),
    }
    data = content[form]()
    hurt = case.chance(0.4)
    data = damaged(case, data) if hurt else data
    case.tell(form, kind)
    path = case.folder / ("s.npy" if form in ("order", "table", "swapped") else "s.npz")
    path.write_bytes(data)
    found = task.evaluate(path)
    expect(form != "swapped" or hurt, "columns in another order were accepted")
    if path.suffix == ".npz":
        read = dict(np.load(io.BytesIO(data)))
        table = (
            read["scores"]
            if "scores" in read
            else np.concatenate([read["positive"], read["negative"].ravel()])
        )
        rows = read.get("pairs")
    else:
        table, rows = np.load(io.BytesIO(data)), None
        if table.ndim == 2:
            table, rows = table[:, 2], table[:, :2]
    if rows is None:
        expect_values(found, split_in_order(task.test, table.astype(float).tolist()), "scores in order")
        return
    meant = {frozenset(map(int, row)): float(one) for row, one in zip(rows.tolist(), table, strict=True)}
    expect_values(found, task_metrics(task.test, lambda u, v: meant[frozenset((u, v))]), "a table of scores")


def one_based_arrays(case: Case) -> None:
    """Give the ids of a 1-based edge list in an array: refused, noted, or read as these ids."""
    count = case.number(4, 9)
    path = case.folder / "g.csv"
    path.write_text("".join(f"{node},{node % count + 1}\n" for node in range(1, count + 1)))
    graph = Graph.from_edges(path)
    pairs = case.rng.integers(1, count, size=(3, 2)) if case.chance(0.7) else np.array([[1, count]])
    given = case.folder / "test.npy"
    np.save(given, pairs)
    found = listed_parts(given, "positives", graph)["test"]
    case.notes.extend(found.notes)
    labels = list(graph.labels or ())
    read = [[int(labels[node]) for node in row] for row in found.pairs.tolist()]
    expect(found.notes or read == pairs.tolist(), f"{pairs.tolist()} is read as {read}")


def _special(case: Case, path: Path) -> str:
    """Put something in the place of a file."""
    kind = case.pick(
        ["fifo", "folder", "loop", "null", "nothing", "empty", "dangling", "socket", "below a file", "nul"]
    )
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "null":
        path.symlink_to(os.devnull)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "dangling":
        path.symlink_to(case.folder / "not here")
    elif kind == "socket":
        # A socket's name may have about a hundred characters.
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.path.relpath(path) if len(str(path)) > 100 else str(path))
    elif kind == "below a file":
        (case.folder / "file").write_bytes(b"0 1\n")
    return kind


def special_files(case: Case) -> None:
    """Give a pipe, a folder, a link to itself, a device or no file at all: each is refused."""
    name = case.pick(
        ["g.csv", "s.npy", "s.npz", "s.pt", "s.txt", "c.json", "long" * 70 + ".csv", "new\nline.csv"]
    )
    path = case.folder / name
    if len(name) < 200:
        kind = _special(case, path)
        path = {"below a file": case.folder / "file" / name, "nul": Path(f"{path}\0x")}.get(kind, path)
        case.tell(kind)
    graph = random_graph(1, 6, 8)
    task = small_task(case)
    readers: dict[str, Callable[[], object]] = {
        "Graph.from_edges": lambda: Graph.from_edges(path),
        "read_edges": lambda: read_edges(path),
        "read_pairs": lambda: read_pairs(path),
        "read_pair_files": lambda: read_pair_files([path, path]),
        "from_files": lambda: from_files(train=path, test=path),
        "read_scores": lambda: read_scores(path),
        "evaluate": lambda: task.evaluate(path),
        "listed_parts": lambda: listed_parts(path, "positives", graph),
        "read_array": lambda: read_array(path),
        "read_archive": lambda: read_archive(path),
        "read_arrays": lambda: read_arrays(path),
        "Graph.load": lambda: Graph.load(path),
        "load_task": lambda: storage.load(path),
        "verify": lambda: results.verify(path),
    }
    reader = case.pick(list(readers))
    case.tell(reader, repr(name[:20]))
    readers[reader]()
    expect(False, "there is nothing to read, and it was read")


def forged_archives(case: Case) -> None:
    """Give archives that claim too much, name members twice, or are packed in other ways."""
    stream = io.BytesIO()
    kind = case.pick(
        ["twice", "lzma", "bzip2", "zeros", "huge head", "not npy", "path", "no ending", "truncated"]
    )
    method = {"lzma": zipfile.ZIP_LZMA, "bzip2": zipfile.ZIP_BZIP2}.get(kind, zipfile.ZIP_DEFLATED)
    array = np.arange(6.0)
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr(
            "scores.npy", _npy(array) if kind != "huge head" else _forged_head(case, _npy(array))
        )
        if kind == "twice":
            archive.writestr("scores.npy", _npy(array[::-1].copy()))
        if kind == "zeros":
            archive.writestr("zeros.npy", _npy(np.zeros(case.number(1, 4) * 10**6)))
        if kind in ("path", "no ending", "not npy"):
            named = {"path": "../../x.npy", "no ending": "x", "not npy": "x.npy"}[kind]
            archive.writestr(named, b"hello")
    data = truncated(case, stream.getvalue()) if kind == "truncated" else stream.getvalue()
    case.tell(kind)
    path = case.folder / "a.npz"
    path.write_bytes(data)
    found = read_archive(path)
    expect(kind != "twice", "an archive with two arrays of one name was read")
    if "scores" in found and kind != "huge head":
        _same(found["scores"], array, kind)
    if not found:
        raise InputError("nothing is read")


FAMILIES = (
    *(npy, npz, torch_files, torch_files, pickles, array_scores, one_based_arrays, special_files),
    *(special_files, forged_archives),
)
