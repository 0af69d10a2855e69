"""Words of the command line: lists of names, key=value, sources and tasks."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, tasks
from trueedge.errors import InputError, unknown
from trueedge.graph import Graph, as_pairs
from trueedge.graph.reading import read_pairs
from trueedge.methods import Method
from trueedge.tasks import Task
from trueedge.tasks.protocols import get as get_protocol


def names(text: str, what: str) -> list[str]:
    """The names in a comma-separated list, each once, in order."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise InputError(f"no {what} is named")
    return list(dict.fromkeys(found))


def value(text: str) -> Any:
    """A Python literal, ``true`` or ``false``, or the word itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def assignments(words: Sequence[str], owners: Sequence[str], flag: str) -> dict[str, dict[str, Any]]:
    """A dictionary for each owner from ``key=value``, meant for all of them, and ``owner.key=value``."""
    found: dict[str, dict[str, Any]] = {owner: {} for owner in owners}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise InputError(f"{flag} takes key=value, got {word!r}")
        owner, dot, rest = key.partition(".")
        if dot:
            if owner not in found:
                raise unknown(f"chosen name for {flag} {word}", owner, owners)
            found[owner][rest] = value(text)
        else:
            for chosen in found.values():
                chosen[key] = value(text)
    return found


def chosen_methods(text: str, words: Sequence[str]) -> tuple[list[Method], set[str]]:
    """The methods of a list of names and families, with settings, and which of them were named themselves."""
    families: dict[str, list[str]] = {}
    for kind in methods.catalogue():
        families.setdefault(kind.family, []).append(kind.name)
    every = [name for group in families.values() for name in group]
    wanted: list[str] = []
    named: set[str] = set()
    for word in names(text, "method"):
        if word in families or word == "all":
            wanted += families.get(word, every)
        elif word in every:
            wanted.append(word)
            named.add(word)
        else:
            raise unknown("method or family", word, [*every, *families, "all"])
    wanted = list(dict.fromkeys(wanted))
    settings = assignments(words, wanted, "--set")
    return [methods.create(name, settings[name]) for name in wanted], named


def source(text: str) -> str | Graph:
    """A data set's name, or the graph in a file."""
    if Path(text).is_file():
        return Graph.from_edges(text, self_loops="drop", repeats="drop")
    if text.partition(":")[0] in {card.name for card in datasets.cards()}:
        return text
    if "/" in text or Path(text).suffix:
        raise InputError(f"there is no file {text}")
    datasets.get(text)
    return text


def labelled_pairs(path: Path, graph: Graph) -> NDArray[np.int64]:
    """The pairs of a file as node numbers, where the graph's own file may use other names."""
    if graph.labels is None:
        return as_pairs(read_pairs(path), graph.num_nodes, str(path))
    place = {label: node for node, label in enumerate(graph.labels)}
    pairs = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0][0] in "#%":
            continue
        for word in words[:2]:
            if word not in place:
                raise InputError(f"{path}, line {number}: {word!r} is no node of {graph.name}")
        if len(words) < 2:
            raise InputError(f"{path}, line {number}: one id where a pair should be")
        pairs.append((place[words[0]], place[words[1]]))
    return as_pairs(pairs, graph.num_nodes, str(path))


def task(text: str, protocol: str, seed: int, words: Sequence[str] = (), progress: Any = None) -> Task:
    """The task in a folder, or a data set (or file) under a protocol."""
    if (Path(text) / "task.json").is_file():
        return tasks.load(text)
    if Path(text).is_dir():
        raise InputError(f"{text} holds no task: there is no task.json in it")
    get_protocol(protocol)
    options = assignments(words, [protocol], "--option")[protocol]
    return tasks.task(source(text), protocol, seed, progress=progress, **options)
