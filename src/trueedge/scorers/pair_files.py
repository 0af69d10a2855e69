"""Read the user's own pairs as they are, with repeats, reversed pairs, leaks and self-loops."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, unknown
from trueedge.files.archives import listing, read_archive
from trueedge.files.arrays import read_array, regular_file
from trueedge.files.columns import read_columns
from trueedge.files.text import open_text
from trueedge.graph import Graph, as_pairs
from trueedge.graph.bipartite import names_by_side
from trueedge.graph.reading import read_pair_files
from trueedge.scorers.node_ids import AS_NUMBERS, NAMES, NUMBERS, all_names, are_names, by_name

Kind = Literal["positives", "negatives"]
PARTS: dict[Kind, tuple[str, ...]] = {"positives": ("train", "valid", "test"), "negatives": ("valid", "test")}
ENDINGS = (".txt", ".csv", ".tsv", ".edges", ".npy", ".pt")
# Names of files, the most specific first; those of HeaRT and OGB are among them.
STEMS: dict[Kind, tuple[tuple[str, ...], ...]] = {
    "positives": (("{}", "{}_pos", "{}_positives", "{}_edges"),),
    "negatives": (("{}_neg", "{}_negs", "{}_negatives", "{}_neg_edges", "heart_{}_samples"), ("{}",)),
}
OTHER_NAMES = {"valid": ("valid", "val", "validation")}
# The names in OGB's dictionaries.
IN_TORCH_FILES: dict[Kind, str] = {"positives": "edge", "negatives": "edge_neg"}


@dataclass(frozen=True, eq=False)
class Listed:
    """Pairs as a user listed them.

    Attributes:
        pairs: int32 (n, 2), or (P, K, 2) if each positive has its own.
        origin: the file's name, or another description.
        notes: choices made while reading, a sentence each.
        text: the file, if it is a text file.
        named: whether that file has names of nodes instead of numbers.
    """

    pairs: NDArray[np.int32]
    origin: str
    notes: tuple[str, ...] = ()
    text: Path | None = None
    named: bool = False

    def place(self, row: int) -> str:
        """Return the place of a row in words: the file and the line, or the row of an array."""
        if self.text is None:
            return f"{self.origin}, row {row}"
        lines = read_columns(open_text(self.text), names_only=self.named, numbers_only=not self.named).lines
        return f"{self.origin}, line {int(lines[row])}"


def listed_parts(given: object, kind: Kind, graph: Graph) -> dict[str, Listed]:
    """Return the pairs of each part, always with ``test``; faults that an audit can find are accepted.

    Args:
        given: a folder; a file; comma-separated files with the test part last; a .npz file with an array for
            each part; an array; or a dictionary of files and arrays by part.
        kind: ``positives`` (train, valid, test) or ``negatives`` (valid, test).
        graph: the graph. Text files hold the names of its nodes, arrays their numbers. Files of arrays may
            hold names that are whole numbers, but not ids that could be either.
    """
    if isinstance(given, Mapping):
        for part in given:
            if part not in PARTS[kind]:
                raise unknown(f"part of {kind}", part, PARTS[kind])
        found = {part: given[part] for part in PARTS[kind] if given.get(part) is not None}
    elif isinstance(given, (str, os.PathLike)):
        found = _by_path(os.fspath(given), kind)
    else:
        found = {"test": given}
    if "test" not in found:
        raise InputError(f"there are no {kind} of the test part")
    names = _names(graph) if graph.labels is not None else None
    read = {part: _read(one, kind) for part, one in found.items()}
    named = False
    if names is not None:
        bare = {
            one.what: one.array for one in read.values() if isinstance(one, _Array) and one.labels is None
        }
        named = are_names(bare, graph, names)
    listed = {part: _listed(one, part, kind, graph, names, named) for part, one in read.items()}
    for part, one in listed.items():
        if not one.pairs.size:
            raise InputError(f"{one.origin} holds no pair: there are no {part} {kind} in it")
    return listed


def _by_path(text: str, kind: Kind) -> dict[str, Any]:
    if not text.strip():
        raise InputError(f"the path of the {kind} is empty: name a folder or a file")
    path = Path(text)
    # Several long names in a row can be too long for a path, for which its own methods would fail.
    if os.path.isdir(path):
        return dict(_in_folder(path, kind))
    if os.path.exists(path) or "," not in text:
        return _in_archive(path, kind) if path.suffix.lower() == ".npz" else {"test": path}
    words = [word.strip() for word in text.split(",")]
    parts = PARTS[kind]
    if len(words) > len(parts):
        raise InputError(f"{text!r} lists {len(words)} files, and {kind} have {len(parts)} parts at most")
    return {part: Path(word) for part, word in zip(parts[-len(words) :], words, strict=True) if word}


def _in_folder(folder: Path, kind: Kind) -> dict[str, Path]:
    """Return the file of each part, found by its name."""
    files: dict[str, list[Path]] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}") from None
    for path in paths:
        plain = Path(path.name.removesuffix(".gz"))
        if os.path.isfile(path) and plain.suffix.lower() in ENDINGS:
            files.setdefault(plain.stem.lower().replace("-", "_"), []).append(path)
    found: dict[str, Path] = {}
    for stems in STEMS[kind]:
        # Next to a file with a specific name, a file with a general one may hold anything.
        found = found or _named(files, stems, kind, folder)
    if "test" not in found:
        looked = ", ".join(stem.format("test") for stems in STEMS[kind] for stem in stems)
        raise InputError(
            f"{folder} holds no test {kind}: looked for {looked}, with the endings {', '.join(ENDINGS)}"
        )
    return found


def _named(files: dict[str, list[Path]], stems: tuple[str, ...], kind: Kind, folder: Path) -> dict[str, Path]:
    found = {}
    for part in PARTS[kind]:
        wanted = [stem.format(name) for name in OTHER_NAMES.get(part, (part,)) for stem in stems]
        named = [path for stem in wanted for path in files.get(stem, ())]
        if len(named) > 1:
            both = " and ".join(path.name for path in named[:2])
            raise InputError(f"{folder} holds {both}, which could both be the {part} {kind}: name the files")
        if named:
            found[part] = named[0]
    return found


def _in_archive(path: Path, kind: Kind) -> dict[str, Any]:
    """Return the arrays of a file that ``trueedge negatives`` wrote, with its names of nodes, if any."""
    arrays = read_archive(path)
    labels = arrays.get("labels")
    if labels is not None and labels.ndim != 1:
        raise InputError(f"{path}: labels must be a list of names, got the shape {labels.shape}")
    ending = "_negatives" if kind == "negatives" else ""
    found = {part: arrays[part + ending] for part in PARTS[kind] if part + ending in arrays}
    if "test" not in found:
        raise InputError(f"{path} has no array 'test{ending}': it holds {listing(arrays)}")
    return {
        part: _Array(array, f"{path.name}, {part}{ending}", f"{path.name}, {part}{ending}", labels)
        for part, array in found.items()
    }


@dataclass(frozen=True, eq=False)
class _Array:
    """An array of a file: how notes and errors call it, and the names of its nodes, if any."""

    array: NDArray[Any]
    origin: str
    what: str
    labels: NDArray[Any] | None = None


def _read(given: Any, kind: Kind) -> Any:
    """Return the array of a file; anything else as it is."""
    if not isinstance(given, (str, os.PathLike)):
        return given
    path = regular_file(Path(given))
    if path.suffix.lower() not in (".npy", ".pt"):
        return path
    return _Array(_array(path, kind), path.name, str(path))


def _listed(
    given: Any, part: str, kind: Kind, graph: Graph, names: dict[str, int] | None, named: bool
) -> Listed:
    """Return pairs with node numbers; ``named`` says that ids in files of arrays are names."""
    if isinstance(given, Path):
        written, notes = text_pairs(given, graph, names)
        return Listed(written.astype(np.int32), given.name, notes, given, names is not None)
    if not isinstance(given, _Array):
        pairs = _checked(given, kind, f"{part} {kind}", graph.num_nodes)
        unclear = names is not None and all_names(np.unique(pairs), names)
        return Listed(pairs, "an array", (f"the {part} {kind}: {AS_NUMBERS}",) if unclear else ())
    if given.labels is not None:
        numbers = _checked(given.array, kind, given.what, len(given.labels))
        place = names or {str(node): node for node in range(graph.num_nodes)}
        missing = [str(label) for label in given.labels if str(label) not in place]
        if missing:
            raise InputError(f"{given.origin}: {missing[0]!r} is not a node of {graph.name}")
        renumbered = np.array([place[str(label)] for label in given.labels], dtype=np.int32)
        return Listed(renumbered[numbers], given.origin)
    array = by_name(given.array, names) if named and names is not None else given.array
    note = () if names is None else (f"{given.origin}: {NAMES if named else NUMBERS}",)
    return Listed(_checked(array, kind, given.what, graph.num_nodes), given.origin, note)


def _names(graph: Graph) -> dict[str, int]:
    return {label: node for node, label in enumerate(graph.labels or ())}


def text_pairs(
    path: Path, graph: Graph, names: dict[str, int] | None = None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Read the pairs of a text file, by the names of a graph's nodes or, if it has none, their numbers.

    Args:
        path: a file with one pair per line.
        graph: the graph.
        names: the number of each name, if known.

    Returns:
        int64 (n, 2), and notes on the file.
    """
    if graph.labels is None:
        read = read_pair_files([path], graph.num_nodes)
        return read.pairs[0], read.notes
    names = names or _names(graph)
    text = open_text(path)
    columns = read_columns(text, names_only=True)
    # In a bipartite graph, the column tells user 1 from item 1.
    sides = names_by_side(graph) or ({}, {})
    numbers = [
        np.array([names.get(name, side.get(name, -1)) for name in columns.names or ()], dtype=np.int64)
        for side in sides
    ]
    pairs: NDArray[np.int64] = np.column_stack([numbers[end][columns.ids[:, end]] for end in (0, 1)])
    if (pairs < 0).any():
        row, column = (int(i) for i in np.argwhere(pairs < 0)[0])
        name = (columns.names or ())[columns.ids[row, column]]
        raise text.error(int(columns.lines[row]), f"{name!r} is not a node of {graph.name}")
    return pairs, tuple(f"{path.name}: {note}" for note in columns.notes)


def _array(path: Path, kind: Kind) -> NDArray[Any]:
    if path.suffix.lower() == ".npy":
        return read_array(path)
    from trueedge.datasets.torch_files import read_arrays

    arrays = read_arrays(path)
    key = IN_TORCH_FILES[kind]
    if key not in arrays:
        raise InputError(f"{path} has no array {key!r}: it holds {listing(arrays)}")
    return arrays[key]


def _checked(values: Any, kind: Kind, what: str, num_nodes: int) -> NDArray[np.int32]:
    """Return pairs as int32, or raise an InputError for a wrong shape or unknown nodes."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{what}: the rows differ in length") from None
    shapes = "(n, 2)" if kind == "positives" else "(M, 2) or (P, K, 2)"
    if array.ndim not in ((2,) if kind == "positives" else (2, 3)) or array.shape[-1] != 2:
        turned = "; transpose it (.T)" if array.ndim == 2 and array.shape[0] == 2 else ""
        raise InputError(f"{what} has the shape {array.shape}, but {kind} have {shapes}{turned}")
    through = f"{what}, its lists one after another" if array.ndim == 3 else what
    return as_pairs(array.reshape(-1, 2), num_nodes, through).astype(np.int32).reshape(array.shape)
