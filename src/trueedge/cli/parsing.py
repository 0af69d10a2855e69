"""Parse command line arguments: lists of names, key=value, methods, sources and tasks."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from trueedge import datasets, methods, tasks
from trueedge.cli import showing
from trueedge.cli.own_data import OwnData
from trueedge.datasets.sources import local_files
from trueedge.errors import InputError, listed, unknown
from trueedge.files.arrays import regular_file
from trueedge.graph import EdgeFormat, Graph, Interactions, KnowledgeGraph, as_graph
from trueedge.graph.hgb_files import is_hgb
from trueedge.graph.interaction_files import folder_format, is_file_of_interactions
from trueedge.graph.interaction_tables import names_users_and_items
from trueedge.graph.saved_graphs import is_saved_graph
from trueedge.graph.triple_files import folder_files, names_triples
from trueedge.methods import Method
from trueedge.runs.own_code import own_method
from trueedge.tasks import Task, storage
from trueedge.tasks.base import PARTS
from trueedge.tasks.protocols import Data, Shards, Source, default_protocol
from trueedge.tasks.protocols import catalogue as protocols
from trueedge.tasks.protocols import get as get_protocol
from trueedge.tasks.protocols.source import unknown_folder

# Nothing is said about the columns of an edge list.
DETECTED = EdgeFormat()
Settings = dict[str, dict[str, Any]]
NOTHING = OwnData()

# What a note says before it names the columns of an edge list.
HEADER = "was read as a header: "
# What the columns of an edge list are in a table of interactions.
ROLES = {"source": "users", "target": "items", "weight": "ratings", "time": "times"}
# The families that stand in every table of some data.
ALWAYS = {"triples": "counting", "typed": "counting,voting", "interactions": "counting"}


def names(text: str, what: str) -> list[str]:
    """Return the names in a comma-separated list, each once, in order."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise InputError(f"no {what} is named")
    return list(dict.fromkeys(found))


def value(text: str) -> Any:
    """Return a Python literal, ``true`` or ``false``, or the word itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def assignments(words: Sequence[str], owners: Mapping[str, Collection[str]], noun: str) -> Settings:
    """Return a dictionary for each owner from ``key=value`` and ``owner.key=value``.

    Args:
        words: a key without an owner goes to all owners that have it.
        owners: the names that were chosen, each with the keys it has.
        noun: what a key is, for error messages.
    """
    found: Settings = {owner: {} for owner in owners}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise InputError(f"{word!r} is not a valid {noun}: write key=value")
        if re.search(r",\s*[A-Za-z_][\w.]*=", text):
            flag = "--set" if noun == "setting" else "--option"
            raise InputError(f"{word!r} holds several {noun}s: give {flag} once for each")
        owner, dot, rest = key.partition(".")
        if dot and owner not in owners:
            raise unknown(f"chosen name in {word}", owner, owners)
        meant = [owner] if dot else [name for name, keys in owners.items() if key in keys]
        if not meant:
            known = {known for keys in owners.values() for known in keys}
            raise unknown(f"{noun} of {', '.join(owners)}", key, known or ["(none)"])
        for name in meant:
            found[name][rest if dot else key] = value(text)
    return found


def chosen_protocols(text: str | None, dataset: str) -> list[str]:
    """Return the protocols of a comma-separated list, or the data set's default.

    Args:
        text: the list; ``all`` is every protocol that needs no released files.
        dataset: what the protocols are for.
    """
    found: list[str] = []
    for word in names(default_protocol(dataset) if text is None else text, "protocol"):
        data = get_protocol(default_protocol(dataset)).takes[0]
        every = [one.name for one in protocols() if one.released is None and data in one.takes]
        found += every if word == "all" else [get_protocol(word).name]
    return list(dict.fromkeys(found))


def options(words: Sequence[str], chosen: Sequence[str]) -> Settings:
    """Return the options of each of the chosen protocols."""
    known = {name: get_protocol(name).options for name in chosen}
    if any(word.startswith("bipartite=") for word in words) and not any(
        "bipartite" in one for one in known.values()
    ):
        raise InputError(f"--bipartite is for plain graphs, which {listed(chosen)} cannot use")
    return assignments(words, known, "option")


def chosen_methods(
    text: str | None, words: Sequence[str], data: str = "graph", task: str = "link"
) -> tuple[list[Method], set[str]]:
    """Return the methods of a comma-separated list, and the names of those not chosen by family.

    Args:
        text: the list; None: the methods that every table of such data has, or the heuristics.
        words: settings, as ``name=value`` or ``method.name=value``.
        data: what they learn from: a ``graph``, ``triples`` or ``typed``.
        task: the kind of task; a family stands for its methods that can be fitted to it.
    """
    families: dict[str, list[str]] = {}
    for kind in methods.catalogue():
        if data in kind.takes and kind.can_do(task):
            families.setdefault(kind.family, []).append(kind.name)
    if text is None:
        always = ALWAYS.get(data, "heuristics").split(",")
        text = ",".join(family for family in always if family in families)
    every = [name for group in families.values() for name in group]
    others = {kind.name: kind for kind in methods.catalogue() if kind.name not in every}
    wanted: dict[str, Method] = {}
    named: set[str] = set()
    for word in names(text, "method"):
        if ":" in word:
            one = own_method(word)
            if one.name in wanted:
                raise InputError(f"{word}: another chosen method is also called {one.name!r}")
            wanted[one.name] = one
            named.add(one.name)
        elif word in families or word == "all":
            wanted.update((name, methods.create(name)) for name in families.get(word, every))
        elif word in every or word + methods.SUFFIXES.get(data, "-") in every:
            one = methods.create(word, data=data)
            wanted[one.name] = one
            named.add(one.name)
        elif word in others:
            # Refused when the data is known.
            wanted[word] = methods.create(word)
            named.add(word)
        else:
            raise unknown("method or family", word, [*every, *families, "all"])
    settings = assignments(words, {name: one.space() for name, one in wanted.items()}, "setting")
    return [_with_settings(one, settings[name]) for name, one in wanted.items()], named


def one_method(text: str) -> Method:
    """Return the method of a name of the catalogue, FILE.py:NAME or MODULE:NAME."""
    return own_method(text) if ":" in text else methods.create(text)


def with_baselines(chosen: Sequence[Method], data: str, kind: str) -> list[Method]:
    """Return methods together with those that stand in every table of such data and kind of task."""
    names = {one.name for one in chosen}
    families = ALWAYS.get(data, "").split(",")
    found = [
        one.name
        for one in methods.catalogue()
        if one.family in families and data in one.takes and one.name not in names and one.can_do(kind)
    ]
    return [*(methods.create(name) for name in found), *chosen]


def _with_settings(method: Method, settings: Mapping[str, Any]) -> Method:
    for key in settings:
        if key not in method.space():
            raise unknown(f"setting of {method.name}", key, method.space() or ["(none)"])
    return type(method)(**{**method.settings(), **settings}) if settings else method


def source(text: str, columns: EdgeFormat = DETECTED, takes: Sequence[str] = ("graph",)) -> str | Data:
    """Return a data set's name, or what is in a file or folder: a graph, triples, interactions; print notes.

    Args:
        text: the name, or the path.
        columns: for an edge list, whether it has a header, and the columns to read.
        takes: what the protocol takes; see :meth:`trueedge.tasks.protocols.Source.of`.
    """
    datasets.refuse_shadowed(text)
    if "graph" not in takes and not datasets.is_name(text) and Path(text).exists():
        found = Source.of(_with_columns(text, columns, takes), takes)
        if isinstance(found.given, KnowledgeGraph):  # tasks of other data repeat the notes of their files
            for sentence in found.given.notes:
                showing.note(f"{text}: {sentence}")
        return text if found.given is None else found.given
    if Path(text).is_file():
        graph = as_graph(text, columns)
        for sentence in graph.notes:
            showing.note(f"{text}: {sentence}")
        headers = [one.partition(HEADER)[2].split(", ") for one in graph.notes]
        if any(map(names_users_and_items, headers)):
            showing.note(f"{text}: read as edges; for recommendation, use the protocol full-ranking")
        elif any(map(names_triples, headers)):
            showing.note(f"{text}: read as edges; for a knowledge graph, use the protocol filtered")
        return graph
    if datasets.is_name(text):
        return text
    if Path(text).is_dir():
        if any(storage.shards_of(Path(text), part).is_dir() for part in PARTS):
            raise InputError(f"{text} is incomplete: run the command that started it again to resume")
        typed = is_hgb(text) or folder_format(Path(text)) is not None
        if typed or folder_files(Path(text)) is not None:
            return text  # a protocol for plain graphs refuses it
        if is_saved_graph(text):
            return _saved_graph(text)
        raise InputError(unknown_folder(Path(text)))
    existing_file(text, "/" in text or bool(Path(text).suffix))
    datasets.get(text)
    return text


def _saved_graph(text: str) -> str | Data:
    """Return the plain graph saved in a folder, and print its notes; another graph is left to others."""
    found = Source.of(Path(text)).given
    if not isinstance(found, Graph):
        return text
    for sentence in found.notes:
        showing.note(f"{text}: {sentence}")
    return found


def _with_columns(text: str, columns: EdgeFormat, takes: Sequence[str]) -> str | Data:
    """Return interactions or triples of a file whose header or columns are given, else its path."""
    if not _names_columns(columns):
        return text
    table = Path(text).is_file() and not is_file_of_interactions(Path(text))
    if "interactions" in takes and table:
        given: dict[str, Any] = {ROLES[role]: column for role, column in columns.columns.items()}
        return Interactions.from_table(text, header=columns.header, **given)
    if "triples" in takes and table and not columns.columns:
        name = Path(text).name.split(".")[0]
        return KnowledgeGraph.from_triples(text, header=columns.header, repeats="drop", name=name)
    raise InputError(f"{_options_of(columns)} for edge lists and tables of interactions, which {text} is not")


def _names_columns(columns: EdgeFormat) -> bool:
    """Return whether something is said that only an edge list has: a header or columns."""
    return bool(columns.columns) or columns.header is not None


def _options_of(columns: EdgeFormat) -> str:
    """Return the options that were given for an edge list, with a verb."""
    given = [f"--{role}" for role in columns.columns]
    given += {None: [], True: ["--header"], False: ["--no-header"]}[columns.header]
    return f"{listed(given)} {'is' if len(given) == 1 else 'are'}"


def existing_file(text: str, is_path: bool = True) -> None:
    """Refuse a folder, a pipe or a device, and, if the text is surely a path, a file that is not there."""
    if Path(text).exists():
        regular_file(Path(text))
    elif is_path:
        raise InputError(f"there is no file {text}")


def input_files(text: str) -> list[Path]:
    """Return the files behind an edge list, a saved task, a data set's name, or comma-separated files."""
    path = Path(text)
    if os.path.isfile(path):
        return [path]
    if (path / "task.json").is_file():
        return storage.files_of(path)
    if os.path.isdir(path):
        # A page on the pairs in a folder may lie among them, and be written again.
        return [one for one in path.iterdir() if one.suffix not in (".html", ".json")]
    if datasets.is_name(text):
        return local_files(text)
    return [Path(word.strip()) for word in text.split(",") if word.strip()]


def saved_task(
    text: str, protocol: str | None, words: Sequence[str] = (), columns: EdgeFormat = DETECTED
) -> Task | None:
    """Return the task saved in a folder, or None; refuse another protocol or options for it."""
    if (columns.source is None) != (columns.target is None):
        given, other = ("source", "target") if columns.target is None else ("target", "source")
        raise InputError(f"--{given} is given, but --{other} is not: give both columns, or neither")
    if _names_columns(columns) and not Path(text).is_file():
        raise InputError(f"{_options_of(columns)} for an edge list, but {text} is not a file")
    if not storage.is_saved(text):
        return None
    made = tasks.load(text)
    if protocol not in (None, made.protocol):
        raise InputError(f"the task in {text} is made already, under {made.protocol}, not {protocol}")
    if words:
        raise InputError(f"the task in {text} is made already: it takes no --option {words[0]}")
    return made


def task(
    text: str,
    protocol: str | None,
    seed: int,
    words: Sequence[str] = (),
    progress: Any = None,
    shards: Shards | None = None,
    columns: EdgeFormat = DETECTED,
    own: OwnData = NOTHING,
) -> Task:
    """Return a saved task, or the task of a data set or file under a protocol."""
    made = saved_task(text, protocol, words, columns)
    if made is not None:
        own.refuse_with(text)
        for sentence in made.settings.get("notes", ()):
            showing.note(f"{text}: {sentence}")
        return made
    chosen = get_protocol(default_protocol(text) if protocol is None else protocol).name
    found = own.of(source(text, columns, get_protocol(chosen).takes))
    given = options(own.words(words, found), [chosen])[chosen]
    return tasks.task(found, chosen, seed, progress=progress, shards=shards, **given)
