"""Attacks on readers of text: edge lists, pair files, splits in files, score files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.attack.mutations import (
    ODD_IDS,
    damaged,
    damaged_text,
    packed,
    random_ids,
    random_pairs,
    written,
)
from benchmarks.attack.outcomes import Case, WrongNumberError, expect, expect_values
from benchmarks.attack.plain_metrics import split_in_order, task_metrics
from benchmarks.attack.plain_text import Pairs, SenselessError, pairs_of, scores_of, unordered
from benchmarks.attack.tiny import random_graph, small_task
from trueedge.graph import Graph
from trueedge.graph.reading import read_edges, read_pair_files
from trueedge.scorers.pair_files import listed_parts
from trueedge.splits.files import from_files


def _shown(data: bytes) -> str:
    return repr(data[:120])


def _written(case: Case, name: str, pairs: Pairs) -> tuple[Path, bytes]:
    data = written(case, pairs)
    path = case.folder / name
    path.write_bytes(packed(data) if case.chance(0.2) else data)
    return path, data


def _edges(graph: Graph) -> set[frozenset[str]]:
    names = [str(node) for node in range(graph.num_nodes)] if graph.labels is None else list(graph.labels)
    return {frozenset((names[u], names[v])) for u, v in graph.edges.tolist()}


def _check_graph(case: Case, graph: Graph, data: bytes) -> None:
    """Compare a graph with what the text means; a header and dropped lines must be in the notes."""
    case.notes.extend(graph.notes)
    header = any("read as a header" in note for note in graph.notes)
    try:
        pairs = pairs_of(data, header)
    except SenselessError as error:
        raise WrongNumberError(f"read, but it has no meaning ({error}): {_shown(data)}") from None
    edges = unordered(pairs)
    expect(_edges(graph) == edges, f"{sorted(map(sorted, _edges(graph) ^ edges))} differ: {_shown(data)}")
    expect(graph.num_nodes == len({one for pair in pairs for one in pair}), f"nodes: {_shown(data)}")
    if len(edges) < len(pairs):
        expect(
            any("dropped" in note for note in graph.notes), f"nothing says what was dropped: {_shown(data)}"
        )


def styles(case: Case) -> None:
    """Write the same edges in many styles: all of them mean the same graph."""
    pairs = random_pairs(case, random_ids(case, case.number(3, 9)))
    path, data = _written(case, case.pick(["g.csv", "g.txt", "Ünï g.edges", "g"]), pairs)
    graph = Graph.from_edges(path, self_loops="drop", repeats="drop")
    expect(_edges(graph) == unordered(pairs), f"not the edges that were written: {_shown(data)}")
    _check_graph(case, graph, data)


def damage(case: Case) -> None:
    """Damage a text in its bytes."""
    pairs = random_pairs(case, random_ids(case, case.number(3, 7)))
    data = damaged_text(case, written(case, pairs))
    path = case.folder / "g.csv"
    path.write_bytes(data)
    _check_graph(case, Graph.from_edges(path, self_loops="drop", repeats="drop"), data)


def packed_damage(case: Case) -> None:
    """Damage a gzip file: its checksum must tell."""
    pairs = random_pairs(case, random_ids(case, case.number(3, 7)))
    data = damaged(case, packed(written(case, pairs)))
    path = case.folder / "g.csv.gz"
    path.write_bytes(data)
    _check_graph(case, Graph.from_edges(path, self_loops="drop", repeats="drop"), data)


def odd_ids(case: Case) -> None:
    """Put an odd id in the place of one of the ids."""
    pairs = random_pairs(case, random_ids(case, case.number(3, 7)))
    odd, at = case.pick(ODD_IDS), case.number(0, len(pairs) - 1)
    pairs[at] = (odd, pairs[at][1]) if case.chance(0.5) else (pairs[at][0], odd)
    case.tell("odd id", repr(odd))
    path, data = _written(case, "g.csv", pairs)
    _check_graph(case, Graph.from_edges(path, self_loops="drop", repeats="drop"), data)


def odd_lines(case: Case) -> None:
    """Put in a line of another kind: another separator, one column, a comment after the ids, a title."""
    pairs = random_pairs(case, [str(one) for one in range(case.number(3, 7))])
    lines = written(case, pairs).decode("utf-8-sig").splitlines()
    line = case.pick(
        ["0;1", "0,1", "0 1", "0\t1", "0", "0 1 2 3", "0 1 # x", "0 1#x", "// 0 1", "0,,1", ",0,1", "0,1,"]
    )
    line = case.pick(
        [
            line,
            "*Vertices 3",
            "p edge 3 2",
            "{0: 1}",
            "[0, 1]",
            "0->1",
            "0-1",
            "0 1\x0b2",
            "0\x0c1",
            '"0',
            "'0' 1",
        ]
    )
    lines.insert(case.number(0, len(lines)), line)
    case.tell("odd line", repr(line))
    data = "\n".join(lines).encode()
    path = case.folder / "g.txt"
    path.write_bytes(data)
    _check_graph(case, Graph.from_edges(path, self_loops="drop", repeats="drop"), data)


def strict(case: Case) -> None:
    """Read with ``refuse``, the default: self-loops and repeats may not pass."""
    pairs = random_pairs(case, random_ids(case, case.number(3, 7)))
    path, data = _written(case, "g.csv", pairs)
    listed = read_edges(path)
    case.notes.extend(listed.notes)
    expect(len(unordered(pairs)) == len(pairs), f"self-loops or repeats were accepted: {_shown(data)}")
    names = [str(node) for node in range(listed.num_nodes)] if listed.labels is None else listed.labels
    found = [(names[u], names[v]) for u, v in listed.edges.tolist()]
    expect(found == pairs, f"another order or direction: {_shown(data)}")


def counted(case: Case) -> None:
    """Give the number of nodes: ids are numbers below it, and nothing else."""
    ids = random_ids(case, case.number(3, 7))
    pairs = random_pairs(case, ids)
    path, data = _written(case, "g.csv", pairs)
    count = case.pick([len(ids), len(ids) + 3, 1, 10_001])
    graph = Graph.from_edges(path, count, self_loops="drop", repeats="drop")
    expect(graph.num_nodes == count, "another number of nodes")
    expect(_edges(graph) == unordered(pairs), f"not the edges that were written: {_shown(data)}")


def several(case: Case) -> None:
    """Read several files on the same nodes, one of them damaged."""
    ids = random_ids(case, case.number(4, 8))
    paths, contents = [], []
    for name in ("train.csv", "valid.csv", "test.csv"):
        data = written(case, random_pairs(case, ids))
        data = damaged_text(case, data) if case.chance(0.3) else data
        (case.folder / name).write_bytes(data)
        paths.append(case.folder / name)
        contents.append(data)
    read = read_pair_files(paths)
    case.notes.extend(read.notes)
    names = [str(node) for node in range(read.num_nodes)] if read.labels is None else list(read.labels)
    for path, data, found in zip(paths, contents, read.pairs, strict=True):
        header = any(note.startswith(path.name) and "header" in note for note in read.notes)
        try:
            meant = pairs_of(data, header)
        except SenselessError as error:
            raise WrongNumberError(f"{path.name} was read, but it has no meaning ({error})") from None
        if all(name.isdecimal() for name in names):
            meant = [(str(int(u)), str(int(v))) for u, v in meant]
        else:
            meant = [(row[0], row[1]) for row in _as_written(data, header)]
        expect([(names[u], names[v]) for u, v in found.tolist()] == meant, f"{path.name}: {_shown(data)}")


def _as_written(data: bytes, header: bool) -> Pairs:
    from benchmarks.attack.plain_text import rows_of

    return [(row[0], row[1]) for row in rows_of(data)[int(header) :]]


def split_files(case: Case) -> None:
    """Read a split whose parts overlap, repeat or number nodes differently."""
    ids = [str(one) for one in range(case.number(5, 9))]
    parts = {name: random_pairs(case, ids) for name in ("train", "valid", "test")}
    if case.chance(0.5):
        parts["train"] = sorted({(min(pair), max(pair)) for pair in parts["train"] if pair[0] != pair[1]})
        parts["valid"] = [("0", str(len(ids)))]
        parts["test"] = [("1", str(len(ids)))]
    for name, pairs in parts.items():
        (case.folder / f"{name}.txt").write_bytes("\n".join(map(" ".join, pairs)).encode())
    paths = {name: case.folder / f"{name}.txt" for name in parts}
    split = from_files(train=paths["train"], valid=paths["valid"], test=paths["test"])
    known = unordered(parts["train"])
    expect(_edges(split.train) == known, "the training edges differ")
    for name, found in (("valid", split.valid), ("test", split.test)):
        expect([tuple(map(str, row)) for row in found.tolist()] == parts[name], f"{name} differs")
        expect(not known & unordered(parts[name]), f"{name} has training edges")


def pair_files(case: Case) -> None:
    """Read pairs of a named or numbered graph from a text file: they are the names in the graph."""
    graph = random_graph(case.number(0, 5), 12, 20, named=case.chance(0.5))
    names = [str(node) for node in range(12)] if graph.labels is None else list(graph.labels)
    pairs = [(case.pick(names), case.pick(names)) for _ in range(case.number(1, 8))]
    if case.chance(0.3):
        pairs[0] = (case.pick(ODD_IDS), pairs[0][1])
    path, data = _written(case, "test.csv", pairs)
    found = listed_parts(path, case.pick(["positives", "negatives"]), graph)["test"]
    case.notes.extend(found.notes)
    header = any("header" in note for note in found.notes)
    meant = [tuple(row) for row in _as_written(data, header)]
    said = [tuple(names[node] for node in row) for row in found.pairs.tolist()]
    if graph.labels is None:
        meant = [tuple(str(int(one)) for one in pair) for pair in meant]
    expect(said == meant, f"{said} is read: {_shown(data)}")


def score_files(case: Case) -> None:
    """Read scores in order or with pairs, from a text that may be damaged."""
    task = small_task(case, named=case.chance(0.3))
    listed = task.pairs().tolist()
    scores = [case.number(-9, 9) / 4 for _ in listed]
    with_pairs = case.chance(0.6)
    names = [str(node) for node in range(task.num_nodes)] if task.graph.labels is None else task.graph.labels
    table = {tuple(pair): score for pair, score in zip(listed, scores, strict=True)}
    mark = case.pick([",", ";", " ", ", "] if with_pairs else ["\n"])
    lines = [f"{names[u]}{mark}{names[v]}{mark}{score}" for (u, v), score in table.items()]
    lines = lines if with_pairs else [str(score) for score in scores]
    if case.chance(0.3):
        lines.insert(0, mark.join(["source", "target", "score"]) if with_pairs else "score")
    if case.chance(0.3):
        lines.insert(
            case.number(0, len(lines)), case.pick(["# x", "", "%", "1", "nan", "0 0 1", "1,2,3,4", "1_0"])
        )
    data = case.pick(["\n", "\r\n"]).join(lines).encode()
    data = damaged_text(case, data) if case.chance(0.5) else data
    path = case.folder / case.pick(["s.csv", "s.txt", "s.tsv"])
    path.write_bytes(data)
    found = task.evaluate(path)
    try:
        rows = scores_of(data)
    except SenselessError as error:
        raise WrongNumberError(f"read, but it has no meaning ({error}): {_shown(data)}") from None
    if len(rows[0]) == 1:
        wanted = split_in_order(task.test, [float(row[0]) for row in rows])
    else:
        place = {name: node for node, name in enumerate(names)}
        numbers = {str(node): node for node in range(task.num_nodes)}
        known = place if all(one in place for row in rows for one in row[:2]) else numbers
        meant = {
            frozenset(known.get(one, int(float(one)) if one[0].isdigit() else -1) for one in row[:2]): float(
                row[2]
            )
            for row in rows
        }
        wanted = task_metrics(task.test, lambda u, v: meant[frozenset((u, v))])
    expect_values(found, wanted, _shown(data))


def bombs(case: Case) -> None:
    """Give a small file that unpacks to much: it is refused, or read as what it holds."""
    line = case.pick([b"0 1\n", b"\n", b"0", b"\0", b"# x\n", b" ", b"0,1,"])
    # More lines would be read by a kernel, which may have to be compiled first.
    data = line * (case.number(1, 2) * (5_000_000 if line in (b"\0", b" ") else 100_000))
    path = case.folder / "bomb.csv.gz"
    path.write_bytes(packed(data))
    case.tell("bomb of", line)
    _check_graph(case, Graph.from_edges(path, self_loops="drop", repeats="drop"), data)


def arrays_of_edges(case: Case) -> None:
    """Build graphs from arrays of odd types, with ids that are no ids among them."""
    count = case.number(3, 8)
    pairs = case.rng.integers(0, count, size=(case.number(1, 12), 2))
    kind = case.pick(
        ["i1", "u8", "f4", "f8", "O", "?", "S3", "c8", "m8[s]", ">i4", "list", "tuple", "torch", "turned"]
    )
    odd = case.pick([None, None, -1, 1.5, float("nan"), 2**40, 2**63, 1e300, None, "1", True])
    given: object = pairs.tolist() if kind in ("list", "tuple") or odd is not None else pairs
    if odd is not None:
        given[0][0] = odd  # type: ignore[index]
    elif kind == "turned":
        given = pairs.T
    elif kind == "torch":
        import torch

        given = torch.tensor(pairs)
    elif kind not in ("list", "tuple"):
        given = pairs.astype(kind)
    case.tell("array", kind, "with", repr(odd))
    graph = Graph.from_edges(given, count, self_loops="drop", repeats="drop")  # type: ignore[arg-type]
    expect(odd in (None, True) or odd == int(pairs[0, 0]), f"{odd!r} was accepted")
    expect(kind not in ("?", "S3", "c8", "m8[s]") or odd is not None, f"{kind} was accepted")
    expect(kind != "turned" or pairs.shape == (2, 2) or odd is not None, "a turned array was accepted")
    meant = np.array(given if kind != "torch" else pairs).astype(int)
    meant = meant[meant[:, 0] != meant[:, 1]]
    edges = {(min(pair), max(pair)) for pair in meant.tolist()}
    expect(sorted(edges) == [tuple(row) for row in graph.edges.tolist()], "other edges")


FAMILIES = (
    *(styles, damage, damage, packed_damage, odd_ids, odd_ids, odd_lines, strict, counted, several),
    *(split_files, pair_files, score_files, score_files, bombs, arrays_of_edges),
)
