"""Mutated files: what is read must be what they say, as independent parsers find it, or they are refused."""

from __future__ import annotations

from benchmarks.attack import reader_files, reader_folders, reader_text
from benchmarks.attack.outcomes import Family

COUNTS = {"quick": 45, "nightly": 1300}
#: Some families are listed several times, and so are run more often.
FAMILIES: dict[str, Family] = {
    f"{one.__name__.replace('_', ' ')}{' ' * at}": one
    for at, one in enumerate((*reader_text.FAMILIES, *reader_files.FAMILIES, *reader_folders.FAMILIES))
}
