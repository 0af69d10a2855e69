"""A cell (a data set under a protocol, a method and a seed), and how it is run."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trueedge import datasets, tasks
from trueedge.analysis.curves import training_curve
from trueedge.errors import InputError, must_be
from trueedge.graph import EdgeFormat
from trueedge.graph.any_graph import GraphLike, as_graph, holds_graph
from trueedge.methods import Method
from trueedge.methods.devices import check_device, device_used, naming_torch
from trueedge.progress import Progress
from trueedge.randomness import derive
from trueedge.results import kept_scores
from trueedge.results.packed_units import pack
from trueedge.results.record import Record, request_key
from trueedge.runs.code import Code, method_code, task_code
from trueedge.runs.named_files import is_name, named_files
from trueedge.runs.opened_files import OpenedFiles, watched_files
from trueedge.runs.provenance import peak_memory, provenance
from trueedge.runs.reuse import dependencies, digests_before
from trueedge.scorers.learned import loading
from trueedge.scorers.selections import also_select, steps_selected_by
from trueedge.tasks import ScoreWarning, Task, protocols
from trueedge.tasks.protocols import Data, Source, get
from trueedge.tasks.redraws import with_redraws
from trueedge.version import VERSION


@dataclass(frozen=True)
class Cell:
    """One method on one task with one seed.

    Attributes:
        source: a data set's name, the path of an edge list or of a folder of triples, a graph (of another
            library too, see :func:`trueedge.graph.as_graph`), a knowledge graph, a split of triples, or a
            task.
        protocol: the protocol's name; for a task its own.
        method: the method with its settings.
        seed: seeds training, and also split and negatives unless ``task_seed`` is given.
        options: the protocol's options that differ from the defaults.
        device: where trained methods train.
        task_seed: seeds split and negatives, so that they stay the same for several seeds.
        parts: the parts to evaluate; None for all. A trial of a search evaluates ``valid`` alone.
        redraws: score other draws of negatives that all positives share, for an interval of this split. An
            interval over several splits does not need them. The key is the same: see :func:`lacks_redraws`.
        also_select: metrics that take the place of the method's ``select``; the training is shared, and each
            gives a record of its own. The key is the same.
    """

    source: str | Data | Task | GraphLike
    protocol: str
    method: Method
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    task_seed: int | None = None
    parts: tuple[str, ...] | None = None
    redraws: bool = True
    also_select: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.source, Path):
            # A path is never a data set's name.
            text = str(self.source)
            object.__setattr__(self, "source", f"./{text}" if datasets.is_name(text) else text)
        if holds_graph(self.source):
            asked = EdgeFormat(bipartite=protocols.two_kinds(self.options))
            object.__setattr__(self, "source", as_graph(self.source, asked))

    @property
    def split_seed(self) -> int:
        """Return the seed of split and negatives."""
        return self.seed if self.task_seed is None else self.task_seed

    @property
    def source_key(self) -> str:
        """Return a key of the source: a data set's name and the hash of its files, or a hash of content."""
        if not isinstance(self.source, str):
            return self.source.hash
        if not datasets.is_name(self.source):
            return str(Source.of(self.source, get(self.protocol).takes).graph.hash)
        files = datasets.fingerprint(self.source, released=self.released)
        return f"{self.source} {files}".strip()

    @property
    def released(self) -> str | None:
        """Return the released negatives that the protocol reads, or None."""
        return get(self.protocol).released

    @property
    def task_key(self) -> str:
        """Return a hash of the requested task, and of the code that makes and evaluates it."""
        return request_key(
            source=self.source_key,
            protocol=self.protocol,
            options=dict(self.options),
            seed=self.split_seed,
            code=task_code(self.source, self.protocol).hash,
        )

    @property
    def key(self) -> str:
        """Return a hash of the whole request, with trueedge's version and the code of task and method."""
        return self.key_with(method_code(type(self.method)))

    def key_with(self, code: Code) -> str:
        """Return the key, with the code of the method, which takes a while to find for a user's own."""
        return request_key(
            task=self.task_key,
            method=self.method.name,
            settings=self.method.settings(),
            seed=self.seed,
            device=self.device,
            version=VERSION,
            code=code.hash,
            **({} if self.parts is None else {"parts": self.parts}),
        )

    def code(self) -> Code:
        """Return the code of method and task together, with the files that it and the settings name.

        Its hash is that of the method. It has a reason if the code of either cannot be hashed.
        """
        method, made = method_code(type(self.method)), task_code(self.source, self.protocol)
        folder = made.folder if method.folder is None else method.folder
        if folder is None:
            return method
        texts = [*self.method.settings().values(), *self.options.values()]
        named = named_files([text for text in texts if is_name(text)], folder)
        files = method.files | made.files | named
        return replace(method, reason=method.reason or made.reason, folder=folder, files=files)

    @property
    def name(self) -> str:
        """Return the name of the data set."""
        if isinstance(self.source, str):
            return self.source
        return self.source.dataset if isinstance(self.source, Task) else Source.of(self.source).name

    def others_selected(self) -> list[Cell]:
        """Return the cells that share the training: each is selected by a metric of ``also_select``."""
        selections: list[dict[str, Any]] = [{"select": metric} for metric in self.also_select]
        return [replace(self, method=replace(self.method, **one), also_select=()) for one in selections]

    def check(self) -> None:
        """Raise an InputError for a request that cannot be run, before any work is done."""
        if not isinstance(self.method, Method):
            if callable(self.method):
                raise InputError("run: method must be a method or its name; te.judge takes functions")
            raise must_be("method", "run", "a method's name, or a method with its settings", self.method)
        check_device_name(self.device, "run")
        if self.also_select and not getattr(self.method, "stop", ""):
            raise InputError(
                f"{self.method.name}: trainings that are selected by several metrics are the same only if"
                " early stopping watches one of them: set stop=mrr"
            )
        for seed in (self.seed, self.split_seed):
            derive(seed)
            if seed >= 2**63:
                raise must_be("seed", "run", "below 2**63", seed)
        if not isinstance(self.source, Task):
            chosen = get(self.protocol)
            source = Source.of(self.source, chosen.takes)
            chosen.request(source, self.split_seed, self.options)
            self.method.check_data(source.name, chosen.data)
        elif self.protocol == self.source.protocol and not self.options:
            self.method.check_data(self.source.dataset, self.source.data)
        else:
            raise InputError(f"{self.source} is made already: it takes no other protocol and no options")

    def task(self, progress: Progress | None = None) -> Task:
        """Return the task; it is made unless it was given."""
        if isinstance(self.source, Task):
            return self.source
        with warnings.catch_warnings():
            # A task's notes are kept in the warnings of its records.
            warnings.simplefilter("ignore", ScoreWarning)
            return tasks.task(self.source, self.protocol, self.split_seed, progress=progress, **self.options)


def lacks_redraws(record: Record) -> bool:
    """Return whether other draws of negatives were not scored for a record because nobody needed them."""
    return record.provenance.get("redraws") == "skipped"


def default_protocol(source: str | Data | Task | GraphLike) -> str:
    """Return the default protocol: that of the task or of the data set.

    Args:
        source: a data set's name, a graph, a task or the path of a file.
    """
    return source.protocol if isinstance(source, Task) else protocols.default_protocol(source)


@dataclass(frozen=True)
class Outcome:
    """The result of a cell: a record, or one sentence on why there is none.

    Attributes:
        cell: the cell.
        record: its record; ``record.cached`` says whether it was in the store, ``record.created`` since when.
        fresh: True for a new record, and False for one from the store.
        reason: why there is no record.
        scores: what is still to be written, after the record; :func:`trueedge.runs.drive` does it.
        others: the records of :meth:`Cell.others_selected`, in order.
    """

    cell: Cell
    record: Record | None
    fresh: bool = False
    reason: str = ""
    scores: kept_scores.ScoresToKeep | None = None
    others: tuple[Record, ...] = ()


def run_on(
    task: Task,
    cell: Cell,
    task_seconds: float,
    scores_to: Path | None = None,
    task_files: OpenedFiles | None = None,
) -> Outcome:
    """Run a cell on its task: fit the method and evaluate each requested part, once.

    Args:
        task: the cell's task.
        cell: the cell.
        task_seconds: how long it took to make the task.
        scores_to: the folder of records, if scores of the test part are to be kept. The outcome has them, not
            yet written. Those of records that share its training are not kept.
        task_files: the files that were opened to make the task.
    """
    with also_select(cell.also_select):
        outcome, scorer = _fit_and_evaluate(task, cell, task_seconds, scores_to, task_files)
    others = []
    for other in cell.others_selected():
        steps = steps_selected_by(scorer, getattr(other.method, "select", ""))
        with loading(steps):
            one, _ = _fit_and_evaluate(task, other, task_seconds, None, task_files, outcome.record)
        others += [] if one.record is None else [one.record]
    return replace(outcome, others=tuple(others))


def _fit_and_evaluate(
    task: Task,
    cell: Cell,
    task_seconds: float,
    scores_to: Path | None = None,
    task_files: OpenedFiles | None = None,
    trained: Record | None = None,
) -> tuple[Outcome, object]:
    """Fit and evaluate; return the outcome and the scorer.

    Args:
        task: the cell's task.
        cell: the cell.
        task_seconds: how long it took to make the task.
        scores_to: the folder of records, if scores are to be kept.
        task_files: the files that were opened to make the task.
        trained: the record whose training this one shares.
    """
    # Before the run: a file may be edited while it runs.
    code = cell.code()
    key = cell.key_with(code)
    named = digests_before(code)
    parts = task.part_names if cell.parts is None else cell.parts
    for part in parts:
        task.check_part(part)
    users = code.folder is not None
    with (
        peak_memory() as peak,
        warnings.catch_warnings(record=True) as caught,
        watched_files() if users else nullcontext(OpenedFiles()) as opened,
    ):
        warnings.simplefilter("always", ScoreWarning)
        start = time.perf_counter()
        method = cell.method.for_task(task)
        device = device_used(method, cell.device)
        with naming_torch():
            check_device(device)
            # The method as it was given: its fit fills in the rest, and knows what the user has set.
            scorer = cell.method.fit(task, seed=cell.seed, device=device)
        fitted = time.perf_counter()
        values, scores = kept_scores.evaluate_parts(task, scorer, parts, scores_to is not None)
        scored = time.perf_counter()
        # Methods are compared on the test part, trials of a search on the validation part.
        compared = values.get("test", values[parts[-1]])
        units = compared.units
        if "test" in values:
            units = with_redraws(task, scorer, units, cell.redraws)
    if task.headline not in values[parts[-1]]:
        raise InputError(f"the {parts[-1]} part of {task.dataset} has too few pairs for {task.headline}")
    kept, complaints, held = kept_scores.to_keep(scores_to, scores)
    remarks = (str(warning.message) for warning in caught if issubclass(warning.category, ScoreWarning))
    record = Record(
        key=key,
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
        warnings=(*task.settings.get("notes", ()), *remarks, *complaints),
        provenance={
            "source": cell.source_key,
            "given": cell.method.changed(),
            "code": code.hash,
            **dependencies(
                *(type(cell.method), cell.protocol, code, cell.code() if users else code, named),
                *(opened, task_files or OpenedFiles()),
            ),
            **provenance(task, device),
            **({} if cell.redraws or units.redraws is None else {"redraws": "skipped"}),
            **kept,
            **training_curve(scorer),
            **({} if trained is None else {"training shared with": trained.key}),
        },
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        kind=task.kind,
        units=pack(units, compared),
    )
    return Outcome(cell, record, fresh=True, scores=held), scorer


def check_device_name(device: str, owner: str) -> None:
    """Raise an InputError for what is no device, whether a method would use it or not."""
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:\d{1,3})?", device):
        raise must_be("device", owner, "'cpu', 'cuda' or 'cuda:0'", device)
