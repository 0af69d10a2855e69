"""Run commands from files of experiments, and print such a file with every default."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from trueedge.cli import showing
from trueedge.cli.experiment_files import ENDING, Experiment, Key, default_file, keys_of, read_experiments
from trueedge.errors import InputError, unknown

#: The commands that take a file of experiments, with their keys.
COMMANDS_WITH_FILES: dict[str, dict[str, Key]] = {}
# Where a context keeps its experiments, and the words of the command line.
FOUND = "trueedge.experiments"
STOPPED = 130


class ConfiguredCommand(TyperCommand):
    """A command whose first argument may be a file of experiments."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        assert self.callback is not None
        # A command with options of an engine has a signature of its own.
        command = inspect.unwrap(self.callback, stop=lambda one: hasattr(one, "__signature__"))
        COMMANDS_WITH_FILES[str(self.name)] = keys_of(command)

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the command line; a file of experiments gives the values that are not on it."""
        keys = COMMANDS_WITH_FILES[str(self.name)]
        place = next((at for at in range(len(args)) if _is_file(args, at, keys)), None)
        if place is None:
            return super().make_context(info_name, args, parent, **extra)
        others = {name: list(known) for name, known in COMMANDS_WITH_FILES.items() if name != self.name}
        found = read_experiments(Path(args[place]), str(self.name), keys, others)
        if not found:
            raise InputError(f"{args[place]} holds no experiment")
        contexts = [
            super(ConfiguredCommand, self).make_context(
                info_name, _words(args, place, one), parent, default_map=dict(one.defaults), **extra
            )
            for one in found
        ]
        contexts[0].meta[FOUND] = (args[place], contexts)
        return contexts[0]

    def invoke(self, ctx: Any) -> Any:
        """Run the experiments one after the other; the status is that of the worst."""
        file, contexts = ctx.meta.pop(FOUND, ("", [ctx]))
        if len(contexts) == 1:
            return super().invoke(contexts[0])
        status = 0
        for number, context in enumerate(contexts, 1):
            showing.note(f"{file}: experiment {number} of {len(contexts)}, {context.params['dataset']}")
            try:
                with context:
                    super().invoke(context)
            except typer.Exit as stop:
                status = max(status, stop.exit_code)
                if stop.exit_code == STOPPED:
                    raise
            except InputError as error:
                raise InputError(f"{file}, experiment {number}: {error}") from None
        if status:
            raise typer.Exit(status)
        return None


def _is_file(args: list[str], at: int, keys: Mapping[str, Key]) -> bool:
    """Return whether a word is a file of experiments, and not the value of an option."""
    if not args[at].endswith(ENDING) or args[at].startswith("-"):
        return False
    before = args[at - 1] if at else ""
    flags = {
        f"{dashes}{name}" for name, key in keys.items() if key.kind is bool for dashes in ("--", "--no-")
    }
    return not before.startswith("-") or before in flags or "=" in before


def _words(args: list[str], place: int, one: Experiment) -> list[str]:
    """Return the command line with what the file says: its data set in place of the file."""
    return [*one.words, *args[:place], one.dataset, *args[place + 1 :]]


def config(
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="run, judge or tune.", show_default=True)
    ] = "run",
) -> None:
    """Print a file with every option of a command and its default, to change and to run.

    Example:
        trueedge config > experiment.toml
        trueedge run experiment.toml --seeds 10
    """
    if command not in COMMANDS_WITH_FILES:
        raise unknown("command with a file of experiments", command, COMMANDS_WITH_FILES)
    print(default_file(command, COMMANDS_WITH_FILES[command]), end="")


COMMANDS = (config,)
