"""How a verdict was made, and the command that makes it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from trueedge import datasets, methods
from trueedge.report.blocks import definitions, in_words, notes, paragraph
from trueedge.report.markup import Markup, joined, tag
from trueedge.results.record import Record
from trueedge.results.versions import not_default
from trueedge.verdict.verdict import Verdict

DATA, MODEL = "DATA", "MODEL"
STAND_INS = {
    DATA: "your data",
    MODEL: "your model: a file of vectors or scores, or a function, such as mine.py:fit",
}


def made(verdict: Verdict) -> Markup:
    """Notes on the verdict, the command that repeats it, and the machine."""
    line = command(verdict)
    stands = [f"{word} stands for {what}" for word, what in STAND_INS.items() if word in shlex.split(line)]
    records = verdict.records
    seeds = sorted({one.seed for one in records})
    first = records[0].provenance if records else {}
    known = {
        "records": f"{len(records):,}",
        "seeds": ", ".join(map(str, seeds)),
        "time": f"{verdict.seconds:,.0f} s" if verdict.seconds else "",
        **{name: in_words(first.get(name)) for name in ("device", "machine", "versions")},
    }
    return joined(
        [
            notes(verdict.notes),
            paragraph("To repeat it:"),
            tag("pre", tag("code", line), tabindex=0, role="group", aria_label="the command to repeat it"),
            paragraph(f"{'; '.join(stands)}.", quiet=True) if stands else "",
            definitions({name: text for name, text in known.items() if text}),
        ]
    )


def command(verdict: Verdict) -> str:
    """Return the command that makes the verdict again, with words in capitals for what it cannot know."""
    own = [one for one in verdict.records if one.method == verdict.model]
    first = own[0] if own else None
    words = ["trueedge", "judge", verdict.dataset if datasets.is_name(verdict.dataset) else DATA]
    known = verdict.model in {one.name for one in methods.catalogue()}
    words.append(verdict.model if known else MODEL)
    words += [] if known else ["--name", verdict.model]
    words += ["-p", ",".join(dict.fromkeys(table.first.protocol for table in verdict.tables))]
    words += ["--seeds", str(len({one.seed for one in own}) or 1)]
    settings = not_default(first) if known and first is not None else {}
    words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    words += _options([table.first for table in verdict.tables])
    return shlex.join(words)


def _options(records: Sequence[Record]) -> list[str]:
    """Return the options of protocols as words of the command."""
    return [
        word
        for one in records
        for key, value in one.options.items()
        for word in ("--option", f"{one.protocol}.{key}={value}")
    ]
