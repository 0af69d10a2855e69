"""Running cells: a task, a method, a seed; a record each."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trueedge.progress import Progress
from trueedge.version import VERSION
from trueedge import datasets, methods, tasks
from trueedge.errors import InputError, must_be
from trueedge.graph import Graph
from trueedge.methods import Method
from trueedge.randomness import derive
from trueedge.results import kept_scores
from trueedge.analysis.curves import training_curve
from trueedge.runs.failures import told
from trueedge.runs.provenance import code_hash, peak_memory, provenance
from trueedge.results.record import Record, pack_ranks, request_key
from trueedge.results.store import Store
from trueedge.tasks import ScoreWarning, Task
from trueedge.tasks.protocols import Source, get



@dataclass(frozen=True)
class Cell:
    """One thing to run.

    Attributes:
        source: a data set's name, the path of an edge list, a graph, or a task that is made already.
        protocol: the protocol's name; for a task its own.
        method: the method with its settings.
        seed: for training, and for split and negatives unless ``task_seed`` is given.
        options: the protocol's options that are not the default.
        device: where learned methods train.
        task_seed: for split and negatives, where they shall stay fixed over seeds.
        parts: the only parts to judge, where it is not all: a trial of a search leaves the test part alone.
    """

    source: str | Graph | Task
    protocol: str
    method: Method
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    task_seed: int | None = None
    parts: tuple[str, ...] | None = None

    @property
    def split_seed(self) -> int:
        """The seed of split and negatives."""
        return self.seed if self.task_seed is None else self.task_seed

    @property
    def source_key(self) -> str:
        """What tells sources apart: a data set's name and the content of its files, or of a graph or task."""
        if not isinstance(self.source, str):
            return self.source.hash
        if self.source.partition(":")[0] not in datasets.names():
            return Source.of(self.source).graph.hash
        files = datasets.fingerprint(self.source, released=self.released)
        return f"{self.source} {files}".strip()

    @property
    def released(self) -> bool:
        """Whether the protocol reads released files."""
        return self.protocol.endswith("-released")

    @property
    def task_key(self) -> str:
        """The same for cells that share a task."""
        return request_key(
            source=self.source_key, protocol=self.protocol, options=dict(self.options), seed=self.split_seed
        )

    @property
    def key(self) -> str:
        """The same for the same request to the same version of trueedge and the same code of the method."""
        return request_key(
            task=self.task_key,
            method=self.method.name,
            settings=self.method.settings(),
            seed=self.seed,
            device=self.device,
            version=VERSION,
            code=code_hash(type(self.method)),
            **({} if self.parts is None else {"parts": self.parts}),
        )

    @property
    def name(self) -> str:
        """What to call the data set."""
        if isinstance(self.source, str):
            return self.source
        return self.source.dataset if isinstance(self.source, Task) else self.source.name

    def check(self) -> None:
        """Refuse a cell that cannot be, before any work is done."""
        if not isinstance(self.method, Method):
            raise must_be("method", "run", "a method's name, or a method with its settings", self.method)
        if not re.fullmatch(r"cpu|cuda(:\d+)?", self.device):
            raise must_be("device", "run", "'cpu' or 'cuda'", self.device)
        for seed in (self.seed, self.split_seed):
            derive(seed)
            if seed >= 2**63:
                raise must_be("seed", "run", "below 2**63", seed)
        if not isinstance(self.source, Task):
            get(self.protocol).request(Source.of(self.source), self.split_seed, self.options)
        elif self.protocol != self.source.protocol or self.options:
            raise InputError(f"{self.source} is made already: it takes no other protocol and no options")

    def task(self, progress: Progress | None = None) -> Task:
        """The task: made now, unless it was given."""
        if isinstance(self.source, Task):
            return self.source
        return tasks.task(self.source, self.protocol, self.split_seed, progress=progress, **self.options)


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: a record, or the sentence why it could not run.

    Attributes:
        cell: what was asked for.
        record: the finished record, or None.
        fresh: whether it was computed now, not found in the store.
        reason: why there is no record.
    """

    cell: Cell
    record: Record | None
    fresh: bool = False
    reason: str = ""


def _altered(cell: Cell) -> list[str]:
    """A sentence for each file of the data set that is not the published one."""
    if not isinstance(cell.source, str) or cell.source.partition(":")[0] not in datasets.names():
        return []
    files = datasets.altered(cell.source, released=cell.released)
    return [f"{path} is not the published file" for path in files]


def _given(method: Method) -> list[str]:
    """The names of the settings that are not the default: what was asked for before others were filled in."""
    return [f.name for f in fields(method) if getattr(method, f.name) != f.default]


def run(
    source: str | Graph | Task,
    protocol: str | None = None,
    method: str | Method = "ra",
    seed: int = 0,
    *,
    settings: Mapping[str, Any] | None = None,
    device: str = "cpu",
    store: Store | None = None,
    task_seed: int | None = None,
    keep_scores: bool = False,
    **options: Any,
) -> Record:
    """Fit a method on a data set under a protocol and judge it.

    Args:
        source: a data set's name, the path of an edge list, a graph, or a task that is made already.
        protocol: the protocol's name; ``heart`` where none is given, or the task's own.
        method: a method's name, or a method with its settings.
        seed: for split, negatives and training.
        settings: settings of a method given by name.
        device: where learned methods train.
        store: where the record is kept; a request that is there already is not run again.
        task_seed: a fixed seed for split and negatives.
        keep_scores: keep the scores of the test part in the store, to be certified.
        options: the protocol's options.
    """
    if isinstance(method, str):
        method = methods.create(method, settings)
    elif settings:
        raise InputError("run: settings go with a method's name; this method has its settings already")
    if protocol is None:
        protocol = source.protocol if isinstance(source, Task) else "heart"
    cell = Cell(source, protocol, method, seed, options, device, task_seed)
    (outcome,) = run_cells([cell], store, keep_scores=keep_scores, go_on=False)
    if outcome.record is None:
        raise InputError(outcome.reason)
    return outcome.record


def run_cells(
    cells: Iterable[Cell],
    store: Store | None = None,
    progress: Progress | None = None,
    again: bool = False,
    keep_scores: bool = False,
    go_on: bool = True,
) -> Iterator[Outcome]:
    """Run cells in order and yield what became of each as soon as it is known.

    Cells that share a task should stand next to each other: it is made once, and not at all where every
    record is in the store already. Each record is stored before the next cell begins.

    Args:
        cells: what to run.
        store: where records are kept and looked up.
        progress: called with a stage's name, the work done and the work in all.
        again: compute what is in the store anew; the older record stays beside the new one.
        keep_scores: keep the scores of the test part too; a record that is there without them is computed
            anew.
        go_on: an exception in the code of a method that is not trueedge's own is the reason why its cell
            could not run; where False it is raised.
    """
    if keep_scores and store is None:
        raise InputError("scores are kept beside records: there is no store to keep them in")
    scores_to = store.folder if store is not None and keep_scores else None
    task_key, task, seconds = "", None, 0.0
    for cell in cells:
        cell.check()
        found = kept(cell, store, again, keep_scores)
        if found is not None:
            yield found
            continue
        try:
            if task is None or cell.task_key != task_key:
                start = time.perf_counter()
                task = cell.task(progress)
                task_key, seconds = cell.task_key, time.perf_counter() - start
            with told(cell.method) if go_on else nullcontext():
                record = run_on(task, cell, seconds, scores_to)
        except InputError as error:
            yield Outcome(cell, None, reason=str(error))
            continue
        if store is not None:
            store.append(record)
        yield Outcome(cell, record, fresh=True)


def kept(cell: Cell, store: Store | None, again: bool = False, keep_scores: bool = False) -> Outcome | None:
    """The outcome that is in the store already, with its scores where they are asked for, or None."""
    found = store.find(cell.key) if store is not None and not again else None
    if store is None or found is None or (keep_scores and not kept_scores.settled(found, store.folder)):
        return None
    # The same graph may have come under another name.
    return Outcome(cell, replace(found, dataset=cell.name))


def run_on(task: Task, cell: Cell, task_seconds: float, scores_to: Path | None = None) -> Record:
    """Run a cell on its task: fit once, judge validation and test each once, or the parts asked for.

    Scores are kept where a folder of records is given.
    """
    parts = task.part_names if cell.parts is None else cell.parts
    for part in parts:
        task.check_part(part)
    with peak_memory() as peak, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ScoreWarning)
        start = time.perf_counter()
        method = cell.method.for_task(task)
        try:
            scorer = method.fit(task, seed=cell.seed, device=cell.device)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise InputError("it needs torch, which comes with: pip install 'trueedge[torch]'") from None
        fitted = time.perf_counter()
        values, scores = kept_scores.judge(task, scorer, parts, scores_to is not None)
        scored = time.perf_counter()
    if task.headline not in values[parts[-1]]:
        raise InputError(f"the {parts[-1]} part of {task.dataset} has too few pairs for {task.headline}")
    kept, complaints = kept_scores.keep(scores_to, task, scores)
    remarks = (str(warning.message) for warning in caught if issubclass(warning.category, ScoreWarning))
    return Record(
        key=cell.key,
        dataset=task.dataset,
        protocol=cell.protocol,
        options=dict(cell.options),
        method=method.name,
        settings=method.settings(),
        seed=int(cell.seed),
        task_seed=int(task.seed),
        headline=task.headline,
        metrics={part: dict(measured) for part, measured in values.items()},
        seconds={"task": task_seconds, "fit": fitted - start, "score": scored - fitted},
        peak_memory=peak.memory,
        warnings=(*_altered(cell), *remarks, *complaints),
        provenance={
            "source": cell.source_key,
            "given": _given(cell.method),
            "code": code_hash(type(cell.method)),
            **provenance(task, cell.device),
            **kept,
            **training_curve(scorer),
        },
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        packed_ranks=pack_ranks(getattr(values.get("test"), "ranks", None)),
    )
