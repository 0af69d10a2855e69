"""The figures of records as files, for papers and slides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from trueedge.analysis.slices import can_be_sliced, slices
from trueedge.analysis.tables import Table, latest, tables
from trueedge.errors import InputError
from trueedge.files.writing import replacing
from trueedge.progress import Progress
from trueedge.report.over_datasets import over_datasets
from trueedge.report.plots import figure, groups_figure, new_figure
from trueedge.report.tuned_names import Trials, renamed, renamed_groups
from trueedge.results.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg")
# The same figure is the same file: no date, no random names.
SAME = {"svg.hashsalt": "trueedge", "svg.fonttype": "none"}


def write_figures(
    records: Iterable[Record], folder: str | Path, *, slowest: float = 60.0, progress: Progress | None = None
) -> list[Path]:
    """Write every figure of some records as PNG and SVG; return the paths.

    There is a figure of the intervals of each table, of its groups of test units, and of the mean ranks over
    data sets of each protocol. Files of the same name are replaced.

    Args:
        records: of any data sets, protocols, methods and seeds.
        folder: where the files are written; it is made if it does not exist.
        slowest: in seconds, the slowest task that is made again for groups; negative for no groups.
        progress: called with a text, the work done and the work in all.
    """
    new_figure()
    every = list(records)
    made = tables(latest(every))
    if not made:
        raise InputError("there is no record to draw")
    written: list[Path] = []
    for name, draw in _figures(made, Trials(every), slowest, progress):
        try:
            drawn = draw()
        except InputError:
            # Such as groups of data that are not on this machine: the report says why.
            continue
        number, unused = 1, name
        while Path(folder) / f"{unused}{ENDINGS[0]}" in written:
            number += 1
            unused = f"{name}-{number}"
        written += [_save(drawn, Path(folder) / f"{unused}{ending}") for ending in ENDINGS]
    return written


def _figures(
    made: list[Table], trials: Trials, slowest: float, progress: Progress | None
) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Yield the name of each figure, and what draws it."""
    called = []
    for place, one in enumerate(made):
        if progress is not None:
            progress(f"figures of {one.where}", place, len(made))
        names = trials.names(one)
        shown = renamed(one, names)
        called.append(shown)
        yield f"intervals-{_name(one.where)}", partial(figure, shown)
        if slowest >= 0 and can_be_sliced(one.first.kind):
            found = renamed_groups(slices(one.records, most_seconds=slowest), names)
            yield f"groups-{_name(one.where)}", partial(groups_figure, shown, found, new_figure())
    for compared in over_datasets(called):
        # With fewer data sets no difference could be found.
        if compared.test is None or len(compared.datasets) < compared.needed:
            continue
        same = [one for one in called if (one.protocol, one.headline) == (compared.protocol, compared.metric)]
        yield f"ranks-{_name(compared.protocol)}", partial(figure, same, "ranks")


def _save(drawn: Figure, path: Path) -> Path:
    from matplotlib import rc_context

    with rc_context(SAME), replacing(path, "the figure") as draft:
        # PNG files have no date of their own.
        metadata = {"Date": None} if path.suffix == ".svg" else None
        drawn.savefig(draft, format=path.suffix[1:], dpi=200, metadata=metadata)
    return path


def _name(text: str) -> str:
    """Return a name for a file."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "figure"
