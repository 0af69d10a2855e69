"""Links between Wikipedia articles on one subject, collected for MUSAE."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Dataset, Rules, SourceFile, register
from trueedge.datasets.sources import locate
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError
from trueedge.graph import Graph, as_pairs

_MOST_WORDS = 100_000
_ADDRESS = "https://raw.githubusercontent.com/benedekrozemberczki/MUSAE/master/input"
_CHECKSUMS = {
    "chameleon": (
        "b90d671846530ea7c0f6f6d0e3be98eb512ecd8e9741811940fe4029d991b266",
        "a958c2158cb81bb05cc01f5605ffb3449a7b20b389c8f1e94a0da61dbed6bdbe",
    ),
    "squirrel": (
        "574b9d083635377c368e9431a29121773500f57edb8b4602f69544e6b5fe0da8",
        "34512ff7981f36811d830d6bf5c7116a671f40e3210f26a276d9792001acffc0",
    ),
}


def read(name: str) -> Graph:
    """Read the edges and features of a subject; links both ways are one edge, self-links are dropped.

    Args:
        name: ``chameleon`` or ``squirrel``.
    """
    edges_path, features_path = (locate(file, name) for file in _files(name))
    features = _features(features_path)
    rows = as_pairs(
        read_table(edges_path, 2, separator=",", header=True), len(features), what=str(edges_path)
    )
    return Graph.from_edges(rows, len(features), features, self_loops="drop", repeats="drop", name=name)


def _files(name: str) -> tuple[SourceFile, SourceFile]:
    edges, features = _CHECKSUMS[name]
    return (
        SourceFile(f"wikipedia/{name}/{name}_edges.csv", f"{_ADDRESS}/edges/{name}_edges.csv", edges),
        SourceFile(
            f"wikipedia/{name}/{name}_features.json", f"{_ADDRESS}/features/{name}_features.json", features
        ),
    )


def _features(path: Path) -> NDArray[np.float32]:
    """Multi-hot rows from a JSON object of node ids and the ids of their words."""
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


for _name, _counts in {"chameleon": (2277, 31371, 3132), "squirrel": (5201, 198353, 3148)}.items():
    register(
        Dataset(
            name=_name,
            family="wikipedia",
            title=f"Wikipedia articles around {_name}s; an edge is a link, a feature is a noun",
            num_nodes=_counts[0],
            num_edges=_counts[1],
            num_features=_counts[2],
            licence="GPL-3.0 (the repository that holds it)",
            source="https://github.com/benedekrozemberczki/MUSAE",
            citation="Rozemberczki et al., Multi-Scale Attributed Node Embedding, J. Complex Networks 2021",
            read=partial(read, _name),
            files=_files(_name),
            rules=Rules(heart_eps=1e-5),
        )
    )
