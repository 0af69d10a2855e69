"""Attacks on folders: Planetoid's pickles, OGB's archives, HeaRT's released files, saved graphs."""

from __future__ import annotations

import io
import json
import os
import pickle
import pickletools
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.attack.mutations import damaged, damaged_text, packed
from benchmarks.attack.outcomes import Case, WrongNumberError, expect
from benchmarks.attack.tiny import random_graph
from trueedge.datasets import ogb, planetoid
from trueedge.graph import Graph
from trueedge.splits import releases

CORPUS = "citeseer"


@contextmanager
def _data_folder(folder: Path) -> Iterator[None]:
    """Let the package look for data in a folder, and nowhere else."""
    places = {"TRUEEDGE_DATA": str(folder), "TRUEEDGE_CACHE": str(folder / "cache")}
    absent = mock.Mock(side_effect=OSError("there is no network"))
    with mock.patch.dict(os.environ, places), mock.patch.object(urllib.request, "urlopen", absent):
        yield


def _edges(graph: Graph) -> set[tuple[int, int]]:
    return {(u, v) for u, v in graph.edges.tolist()}


def _tidy(pairs: Any) -> set[tuple[int, int]]:
    return {(min(u, v), max(u, v)) for u, v in pairs if u != v}


def planetoid_folder(case: Case) -> None:
    """Damage one of Planetoid's files: the edges are those that its pickle says."""
    from scipy.sparse import csr_matrix

    count, known = case.number(6, 9), 4
    lists = {node: sorted({(node + step) % count for step in (1, 2)}) for node in range(count)}
    table = (case.rng.random((count, 3)) < 0.5).astype(np.float32)
    order = known + case.rng.permutation(count - known)
    protocol = case.pick([0, 2, 2, 4])
    contents = {
        "graph": pickle.dumps(lists, protocol=protocol),
        "allx": pickle.dumps(csr_matrix(table[:known]), protocol=protocol),
        "tx": pickle.dumps(csr_matrix(table[order]), protocol=protocol),
        "test.index": "".join(f"{node}\n" for node in order).encode(),
    }
    hurt = case.pick(["graph", "graph", *contents])
    change = damaged_text if hurt == "test.index" else damaged
    contents[hurt] = change(case, contents[hurt]) if case.chance(0.85) else contents[hurt]
    case.tell("in", hurt, "protocol", protocol)
    folder = case.folder / "planetoid" / CORPUS
    folder.mkdir(parents=True)
    for name, data in contents.items():
        (folder / f"ind.{CORPUS}.{name}").write_bytes(data)
    with _data_folder(case.folder):
        graph = planetoid.read(CORPUS, CORPUS)
    case.notes.extend(graph.notes)
    meant = _plain_lists(contents["graph"])
    expect(_edges(graph) == _tidy((u, v) for u, row in meant.items() for v in row), "other edges")
    expect(graph.num_nodes == len(meant), "another number of nodes")


def _plain_lists(data: bytes) -> dict[int, list[int]]:
    """Return the dict of lists of a pickle by following its few opcodes, with no object made."""
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    mark = object()
    for opcode, argument, _ in pickletools.genops(data):
        name = opcode.name
        if name in ("BININT1", "BININT2", "BININT", "INT", "LONG", "LONG1", "LONG4"):
            stack.append(argument)
        elif name in ("EMPTY_LIST", "EMPTY_DICT"):
            stack.append([] if name == "EMPTY_LIST" else {})
        elif name == "MARK":
            stack.append(mark)
        elif name in ("LIST", "DICT", "APPENDS", "SETITEMS", "APPEND", "SETITEM"):
            single = {"APPEND": 1, "SETITEM": 2}.get(name, 0)
            at = len(stack) - single if single else len(stack) - 1 - stack[::-1].index(mark)
            items = stack[at + (not single) :]
            del stack[at:]
            if name in ("LIST", "DICT"):
                stack.append([] if name == "LIST" else {})
            if isinstance(stack[-1], list):
                stack[-1].extend(items)
            else:
                stack[-1].update(zip(items[::2], items[1::2], strict=True))
        elif name in ("BINPUT", "LONG_BINPUT", "PUT", "MEMOIZE"):
            memo[len(memo) if name == "MEMOIZE" else argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET"):
            stack.append(memo[argument])
        elif name == "POP":
            stack.pop()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name not in ("PROTO", "FRAME", "STOP"):
            raise WrongNumberError(f"a graph was read from a pickle with the opcode {name}")
    found: dict[int, list[int]] = stack[-1]
    return found


def ogb_folder(case: Case) -> None:
    """Damage one of OGB's files: all of them have checksums, so the edges are those that were written."""
    import torch

    count = case.number(6, 12)
    layout = ogb.LAYOUTS["ogbl-ddi"]
    every = case.rng.permutation([(u, v) for u in range(count) for v in range(u)])
    parts = {"train": every[:8], "valid": every[8:11], "test": every[11:]}
    text = "".join(f"{u},{v}\n" for u, v in parts["train"])
    contents = {
        "raw/num-node-list.csv.gz": packed(f"{count}\n".encode()),
        "raw/edge.csv.gz": packed(text.encode()),
    }
    for name in ("valid", "test"):
        stream = io.BytesIO()
        torch.save({"edge": torch.tensor(parts[name]), "edge_neg": torch.tensor(parts[name])}, stream)
        contents[f"split/target/{name}.pt"] = stream.getvalue()
    hurt = case.pick(list(contents))
    if hurt.endswith("edge.csv.gz") and case.chance(0.7):
        text = damaged_text(case, text.encode()).decode("latin1")
        contents[hurt] = packed(text.encode("latin1"))
    elif case.chance(0.8):
        contents[hurt] = damaged(case, contents[hurt])
    case.tell("in", hurt)
    for name, data in contents.items():
        path = case.folder / "ogb" / layout.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with _data_folder(case.folder):
        graph, valid, test = ogb.read_parts(layout.name)
    case.notes.extend(graph.notes)
    expect(_edges(graph) == _tidy(_plain_rows(text, ",")), f"training edges of {text!r}")
    expect(graph.num_nodes == count, "another number of nodes")
    for found, name in ((valid, "valid"), (test, "test")):
        expect(found.pairs.tolist() == parts[name].tolist(), f"other pairs in {name}")


def _plain_rows(text: str, mark: str | None) -> list[tuple[int, int]]:
    """Return the rows of whole numbers of a text; a ``#`` begins a comment, also after numbers."""
    rows = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        fields = line.split("#")[0].strip()
        if fields:
            words = [word.strip() for word in fields.split(mark)]
            if len(words) != 2 or not all(word.lstrip("+-").isdigit() and word.isascii() for word in words):
                raise WrongNumberError(f"{fields!r} was read as two whole numbers")
            rows.append((int(words[0]), int(words[1])))
    return rows


def heart_folder(case: Case) -> None:
    """Damage one of HeaRT's released files: what is read is what the file says, or it is refused."""
    count = 8
    every = case.rng.permutation([(u, v) for u in range(count) for v in range(u)])
    parts = {"train_pos": every[:9], "valid_pos": every[9:12], "test_pos": every[12:16]}
    parts |= {"valid_neg": every[16:19], "test_neg": every[19:23]}
    texts = {name: "".join(f"{u}\t{v}\n" for u, v in rows).encode() for name, rows in parts.items()}
    hurt = case.pick(list(texts))
    texts[hurt] = damaged_text(case, texts[hurt]) if case.chance(0.9) else texts[hurt]
    case.tell("in", hurt, repr(texts[hurt][:60]))
    folder = case.folder / "heart" / CORPUS
    folder.mkdir(parents=True)
    for name, data in texts.items():
        (folder / f"{name}.txt").write_bytes(data)
    with _data_folder(case.folder):
        release = releases.released(CORPUS)
    meant = {name: _plain_rows(data.decode("utf-8"), None) for name, data in texts.items()}
    expect(_edges(release.split.train) == _tidy(meant["train_pos"]), "other training edges")
    found = {"valid_pos": release.split.valid, "test_pos": release.split.test}
    found |= {f"{part}_neg": pairs for part, pairs in release.negatives.items()}
    for name, pairs in found.items():
        expect([tuple(row) for row in pairs.tolist()] == meant[name], f"other pairs in {name}")


def saved_graphs(case: Case) -> None:
    """Damage a saved graph: its hash must tell, and whatever is read is what was saved."""
    graph = random_graph(case.number(0, 3), 9, 14, features=2, named=case.chance(0.5))
    folder = case.folder / "graph"
    graph.save(folder)
    path = case.pick(sorted(folder.iterdir()))
    if path.suffix == ".json" and case.chance(0.6):
        card = json.loads(path.read_text())
        key = case.pick(list(card))
        value: Any = case.pick([None, 0, -1, 1, 10**30, "x", [], {}, True, ["a"], 1.5])
        card[key] = value
        case.tell("graph.json,", key, "is", value)
        path.write_text(json.dumps(card))
    elif case.chance(0.2):
        how = case.pick(["removed", "a folder", "of another graph"])
        case.tell(path.name, how)
        path.unlink()
        if how == "a folder":
            path.mkdir()
        elif how == "of another graph":
            random_graph(7, 9, 14, features=2).save(case.folder / "other")
            shutil.copy(case.folder / "other" / path.name, path)
    else:
        case.tell("in", path.name)
        path.write_bytes(damaged(case, path.read_bytes()))
    found = Graph.load(folder, mmap=case.chance(0.5))
    expect(found.num_nodes == graph.num_nodes and _edges(found) == _edges(graph), "other edges")
    expect(np.array_equal(np.asarray(found.features), np.asarray(graph.features)), "other features")
    if path.suffix == ".json":
        # Names and notes are for people; the labels decide which node is which.
        expect(found.labels == graph.labels, f"other labels: {found.labels}")


FAMILIES = (planetoid_folder, ogb_folder, heart_folder, saved_graphs, saved_graphs)
