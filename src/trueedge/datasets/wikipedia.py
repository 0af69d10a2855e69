"""Links between Wikipedia articles on one subject, collected for MUSAE."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import SourceFile, checksums, register_listed
from trueedge.datasets.sources import locate
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError
from trueedge.graph import Graph, as_pairs

_MOST_WORDS = 100_000
_ADDRESS = "https://raw.githubusercontent.com/benedekrozemberczki/MUSAE/master/input"


def read(name: str) -> Graph:
    """Read the edges and features of a subject; links both ways are one edge, self-links are dropped."""
    edges_path, features_path = (locate(file, name) for file in _files(name))
    features = _features(features_path)
    rows = as_pairs(
        read_table(edges_path, 2, separator=",", header=True), len(features), what=str(edges_path)
    )
    return Graph.from_edges(rows, len(features), features, self_loops="drop", repeats="drop", name=name)


def _files(name: str) -> tuple[SourceFile, ...]:
    found = []
    for kind, ending in (("edges", "csv"), ("features", "json")):
        path = f"wikipedia/{name}/{name}_{kind}.{ending}"
        found.append(SourceFile(path, f"{_ADDRESS}/{kind}/{name}_{kind}.{ending}", checksums()[path]))
    return tuple(found)


def _features(path: Path) -> NDArray[np.float32]:
    """Return multi-hot features, float32 (nodes, words), from a JSON object of each node's word ids."""
    try:
        words = {int(node): list(ids) for node, ids in json.loads(path.read_text(encoding="utf-8")).items()}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path} is not a JSON object that gives each node a list of word ids") from None
    if not words or sorted(words) != list(range(len(words))):
        raise InputError(f"{path}: the nodes must be 0, 1, 2, … without a gap")
    flat = [word for node in range(len(words)) for word in words[node]]
    for word in flat:
        if type(word) is not int or not 0 <= word < _MOST_WORDS:
            raise InputError(f"{path}: {word!r} is not the id of a word")
    features = np.zeros((len(words), max(flat, default=-1) + 1), dtype=np.float32)
    features[np.repeat(np.arange(len(words)), [len(words[node]) for node in range(len(words))]), flat] = 1.0
    return features


for _name in ("chameleon", "squirrel"):
    register_listed(_name, read, _name, files=_files(_name))
