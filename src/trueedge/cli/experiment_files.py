"""Experiments in TOML files: the options of a command under the names that they have on the command line."""

from __future__ import annotations

import inspect
import re
import textwrap
import tomllib
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.models import ArgumentInfo, OptionInfo

from trueedge.errors import InputError, unknown
from trueedge.files.arrays import regular_file

ENDING = ".toml"
#: The tables that hold one experiment each.
SEVERAL = "experiment"
MOST_BYTES = 1 << 20
# The time that tomllib takes grows with the square of a key's parts: a minute for 30,000 of them.
MOST_PARTS = 100
TOO_DEEP = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]+[ \t]*\.[ \t]*){{{MOST_PARTS}}}""")
WIDTH = 100
# What a file of defaults names where a command has no default.
EXAMPLES = {"dataset": "cora", "model": "ppr"}
NOUNS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}


@dataclass(frozen=True)
class Key:
    """A key of an experiment: an argument or option of a command.

    Attributes:
        name: what it is called in a file: the option without its dashes.
        parameter: the parameter of the command's function.
        kind: the type of its value.
        many: whether it may be given several times, as ``key=value``: a table in a file.
        argument: whether it has a place on the command line instead of a name.
        default: the value if it is not given.
        help: what it is.
        default_said: what happens without it, in words, if it has no default value.
        low: the smallest number that is allowed.
    """

    name: str
    parameter: str
    kind: type
    many: bool
    argument: bool
    default: Any
    help: str
    default_said: str = ""
    low: float | None = None

    def check(self, value: Any, where: str) -> Any:
        """Return a value as the command takes it, or raise an InputError that names file and key."""
        if (
            self.kind in (str, Path)
            and isinstance(value, list)
            and all(isinstance(one, str) for one in value)
        ):
            if not any(one.strip() for one in value):
                raise InputError(f"{where}: {self.name} is empty: give a value, or leave it out")
            return ",".join(value)
        if self.kind is str and isinstance(value, int) and not isinstance(value, bool):
            return str(value)  # the number of a column
        fits = isinstance(value, str if self.kind is Path else self.kind)
        if not fits or (isinstance(value, bool) and self.kind is not bool):
            raise InputError(f"{where}: {self.name} must be {NOUNS[self.kind]}, got {value!r}")
        if isinstance(value, str) and not value.strip():
            raise InputError(f"{where}: {self.name} is empty: give a value, or leave it out")
        if self.low is not None and value < self.low:
            raise InputError(f"{where}: {self.name} must be at least {self.low}, got {value}")
        return value


@dataclass(frozen=True)
class Experiment:
    """One run of a command.

    Attributes:
        dataset: the first argument of the command.
        defaults: the values of other parameters, which the command line may replace.
        words: options that may be given several times; those of the command line come after them.
    """

    dataset: str
    defaults: Mapping[str, Any]
    words: tuple[str, ...]


def keys_of(command: Callable[..., Any]) -> dict[str, Key]:
    """Return the keys of a command by name, in the order of its parameters."""
    found = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, info = typing.get_args(parameter.annotation)[:2]
        if not isinstance(info, (ArgumentInfo, OptionInfo)):
            continue
        default = None if parameter.default is parameter.empty else parameter.default
        name = _name(parameter.name, info)
        found[name] = Key(
            name=name,
            parameter=parameter.name,
            kind=_plain(kind),
            many=_is_list(kind),
            argument=isinstance(info, ArgumentInfo),
            default=default,
            help=info.help or "",
            default_said=info.show_default if isinstance(info.show_default, str) else "",
            low=info.min,
        )
    return found


def read_experiments(
    path: Path, command: str, keys: Mapping[str, Key], other_commands: Mapping[str, Sequence[str]]
) -> list[Experiment]:
    """Return the experiments in a file.

    Args:
        path: the file. Its keys are those of the command. Each table ``[[experiment]]`` is one experiment,
            with the keys above it and its own.
        command: the name of the command.
        keys: its keys.
        other_commands: the names of the keys of other commands.
    """
    content = _parsed(path)
    tables = content.pop(SEVERAL, [{}])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise InputError(f"{path}: write [[{SEVERAL}]] for each experiment, with two brackets on each side")
    shared = _known(content, path, command, keys, other_commands)
    found = []
    for table in tables:
        own = _known(table, path, command, keys, other_commands)
        merged = {
            name: {**shared[name], **own[name]}
            if isinstance(shared.get(name), dict) and isinstance(own.get(name), dict)
            else own.get(name, shared.get(name))
            for name in {**shared, **own}
        }
        found.append(_experiment(merged, path, keys))
    return found


def default_file(command: str, keys: Mapping[str, Key]) -> str:
    """Return a file with every key of a command, its default and what it is."""
    lines = [
        f"# The options of 'trueedge {command}' and their defaults.",
        f"# Change what you like, and run it with: trueedge {command} FILE{ENDING}",
        "# Options on the command line win over the file. Paths are relative to the working folder.",
    ]
    for key in sorted(keys.values(), key=lambda one: one.many):
        said = f" Default: {key.default_said}." if key.default_said else ""
        lines += ["", *textwrap.wrap(key.help + said, WIDTH, initial_indent="# ", subsequent_indent="# ")]
        if key.many:
            lines.append(f"[{key.name}]")
        elif key.argument:
            lines.append(f"{key.name} = {_written(EXAMPLES.get(key.name, ''))}")
        elif key.default is None or key.default == "":
            lines.append(f"# {key.name} = <{NOUNS[key.kind]}>")
        else:
            lines.append(f"{key.name} = {_written(key.default)}")
    first = next(key.name for key in keys.values() if key.argument)
    lines += [
        "",
        f"# Several experiments: one [[{SEVERAL}]] each, with the keys above and its own.",
        f"# [[{SEVERAL}]]",
        f'# {first} = "citeseer"',
    ]
    return "\n".join(lines) + "\n"


def _parsed(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if regular_file(path).stat().st_size > MOST_BYTES:
        raise InputError(f"{path} has more than {MOST_BYTES:,} bytes, which is no file of experiments")
    try:
        text = path.read_bytes().decode()
        if TOO_DEEP.search(text):
            raise InputError(f"{path}: a key has more than {MOST_PARTS} parts")
        return tomllib.loads(text)
    except InputError:
        raise
    except (UnicodeDecodeError, RecursionError):
        raise InputError(f"{path} is not a TOML file") from None
    except ValueError as error:  # also a number with too many digits
        raise InputError(f"{path} is not valid TOML: {error}") from None


def _known(
    content: Mapping[str, Any],
    path: Path,
    command: str,
    keys: Mapping[str, Key],
    others: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return values by the names of keys, or raise an InputError for a name that is none."""
    found = {}
    for name, value in content.items():
        plain = name.replace("_", "-")
        if plain not in keys:
            elsewhere = [other for other, names in others.items() if plain in names]
            if elsewhere:
                raise InputError(
                    f"{path}: {name} is an option of trueedge {elsewhere[0]}, not of trueedge {command}"
                )
            wrong = unknown(f"option of trueedge {command}", name, keys)
            raise InputError(f"{path}: {wrong}")
        found[plain] = value
    return found


def _experiment(values: Mapping[str, Any], path: Path, keys: Mapping[str, Key]) -> Experiment:
    words: list[str] = []
    defaults: dict[str, Any] = {}
    for name, value in values.items():
        key = keys[name]
        if key.many:
            for word in _words(value, key, path):
                words += [f"--{name}", word]
        else:
            defaults[key.parameter] = key.check(value, str(path))
    first = next(key for key in keys.values() if key.argument)
    if first.parameter not in defaults:
        raise InputError(f"{path}: {first.name} is missing: say what the experiment is about")
    if defaults[first.parameter].startswith("-"):
        raise InputError(f"{path}: {first.name} must not start with a dash, as options do")
    return Experiment(defaults.pop(first.parameter), defaults, tuple(words))


def _words(value: Any, key: Key, path: Path) -> Iterator[str]:
    """Yield ``key=value`` for each entry of a table or list."""
    if isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, dict):
                yield from (f"{name}.{rest}" for rest in _words(one, key, path))
            elif key.name == "space" and isinstance(one, list):
                yield f"{name}={','.join(map(_plain_text, one))}"
            else:
                yield f"{name}={_plain_text(one)}"
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        yield from value
    else:
        raise InputError(f"{path}: {key.name} must be a table of keys and values, got {value!r}")


def _plain_text(value: Any) -> str:
    """Return a value as it is written on the command line."""
    if isinstance(value, list):
        return repr(tuple(value))
    return value if isinstance(value, str) else str(value)


def _written(value: Any) -> str:
    """Return a default as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else f'"{value}"'


def _name(parameter: str, info: ArgumentInfo | OptionInfo) -> str:
    long = [one for one in info.param_decls or () if one.startswith("--")]
    return long[0].partition("/")[0].lstrip("-") if long else parameter.strip("_").replace("_", "-")


def _plain(kind: Any) -> type:
    """Return the type of a value: str for ``str | None`` and for ``list[str]``."""
    inner = [one for one in typing.get_args(kind) if one is not types.NoneType]
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is list:
        return _plain(inner[0])
    return typing.cast(type, kind)


def _is_list(kind: Any) -> bool:
    return typing.get_origin(kind) is list or any(_is_list(one) for one in typing.get_args(kind))
