"""The commands and their status: 0 for success, 1 for wrong input, 2 for wrong usage, 130 for Ctrl-C."""

from __future__ import annotations

import errno
import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import typer
from rich.markup import escape

from trueedge.cli import (
    auditing,
    catalogues,
    certifying,
    configuring,
    engines,
    hiding,
    judging,
    leaderboard,
    making,
    own_boards,
    plain_marks,
    predicting,
    recommending,
    records,
    reporting,
    reproducing,
    running,
    serving,
    showing,
    tuning,
)
from trueedge.errors import InputError, ScoreWarning, StoreWarning
from trueedge.version import VERSION

# The commands whose options may be in a file.
WITH_FILES = ("run", "judge", "tune")

app = typer.Typer(
    name="trueedge",
    help="Find out what a link predictor is really worth.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; wrong input is one sentence on stderr."""
    with showing.lasting_streams():
        _run()


def _run() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A terminal without UTF-8 gets plain marks, not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=plain_marks.HANDLER)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            for category in (ScoreWarning, StoreWarning):
                warnings.simplefilter("always", category)
            _refuse_empty(sys.argv[1:])
            _parser()(prog_name="trueedge")
    except InputError as error:
        showing.note(f"trueedge: {error}", style="")
        sys.exit(1)
    except MemoryError as error:
        detail = f": {error}" if str(error) else ""
        showing.note(f"trueedge: there is not enough memory{detail}", style="")
        sys.exit(1)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO)
        unnamed = "the output cannot be written: " if full else ""
        where = unnamed if error.filename is None else f"{error.filename}: "
        showing.note(f"trueedge: {where}{error.strerror or error}", style="")
        sys.exit(1)


@functools.cache
def _parser() -> Callable[..., Any]:
    """Return the commands with their options, which are read from the functions once per process."""
    return typer.main.get_command(app)


def _refuse_empty(words: Sequence[str]) -> None:
    """Refuse an argument or option without a value, as a variable that is not set leaves behind."""
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if word.startswith("--") and word.endswith("="):
            before, word = word[:-1], ""
        if not word.strip():
            what = (
                before
                if before.startswith("-")
                else f"the argument after {before!r}"
                if before
                else "the first argument"
            )
            raise InputError(f"{what} is empty: give a value, or leave it out")


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What was found about scores and records is for the user; other warnings are for programmers."""
    if issubclass(category, (ScoreWarning, StoreWarning)):
        showing.note(str(message))
    else:
        told = warnings.formatwarning(message, category, filename, lineno, line)
        print(told, end="", file=file or sys.stderr)


def _stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """End with status 130 on Ctrl-C."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            showing.note("stopped")
            raise typer.Exit(130) from None

    return run


def _help(command: Callable[..., None]) -> str:
    """The docstring with each paragraph on one line, for the window to break; indented lines stay."""
    text = re.sub(r"(?<!\n)\n(?![\n ])", " ", inspect.getdoc(command) or "")
    # Typer takes away what all lines but the first are indented by: the last, which shows nothing, is not.
    return f"{escape(text)}\n\N{ZERO WIDTH SPACE}"


for _module in (
    catalogues,
    running,
    tuning,
    records,
    making,
    judging,
    recommending,
    predicting,
    auditing,
    reproducing,
    certifying,
    reporting,
    configuring,
    serving,
    engines,
):
    for _command in _module.COMMANDS:
        _name = _command.__name__.rstrip("_")
        _class = configuring.ConfiguredCommand if _name in WITH_FILES else None
        app.command(name=_name, cls=_class, help=_help(_command))(_stoppable(_command))


# Commands of two words: ``trueedge leaderboard check``.
GROUPS = {
    "leaderboard": (
        "Make, check and build a leaderboard from certificates.",
        (leaderboard, own_boards, hiding),
    )
}
for _name, (_title, _modules) in GROUPS.items():
    _group = typer.Typer(name=_name, help=_title, no_args_is_help=True, rich_markup_mode="rich")
    for _command in (one for _module in _modules for one in _module.COMMANDS):
        _group.command(name=_command.__name__.rstrip("_"), help=_help(_command))(_stoppable(_command))
    app.add_typer(_group)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"trueedge {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Find out what a link predictor is really worth."""
