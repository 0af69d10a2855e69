"""The commands and their errors: status 0 for success, 1 for wrong input, 2 for wrong usage."""

from __future__ import annotations

import sys

import typer

import trueedge
from trueedge.cli import catalogues, judging, making, reproducing, running
from trueedge.errors import InputError

app = typer.Typer(
    name="trueedge",
    help="Find out what a link predictor is really worth.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (catalogues, running, making, judging, reproducing):
    for command in module.COMMANDS:
        app.command(name=command.__name__.rstrip("_"))(command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"trueedge {trueedge.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Find out what a link predictor is really worth."""


def main() -> None:
    """Run the command line; wrong input is one sentence on stderr."""
    try:
        app()
    except InputError as error:
        print(f"trueedge: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("trueedge: stopped; every finished cell is kept", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
