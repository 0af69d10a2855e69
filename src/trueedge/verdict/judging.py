"""Judge a model: run it beside baselines under the protocols that fit the data, and say what it is worth."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trueedge.errors import must_be, unknown, whole_number
from trueedge.methods.devices import unused_device
from trueedge.progress import Progress
from trueedge.results.store import Store
from trueedge.runs import Runner
from trueedge.tasks.protocols import get as get_protocol
from trueedge.tasks.storage import is_saved, load
from trueedge.verdict import plan
from trueedge.verdict.ahead import Ahead
from trueedge.verdict.models import OwnModel, as_method, holds_scores, is_fixed
from trueedge.verdict.running import Judging
from trueedge.verdict.summing_up import sum_up
from trueedge.verdict.verdict import Verdict

MOST_SEEDS = 1_000_000


def judge(
    model: object,
    data: Any,
    protocols: Sequence[str] | str | None = None,
    seeds: int | None = None,
    *,
    name: str = "",
    store: Store | str | Path | None = None,
    device: str = "cpu",
    checks: bool = True,
    progress: Progress | None = None,
    options: dict[str, Any] | None = None,
    runner: Runner | None = None,
) -> Verdict:
    """Find out what a model is worth.

    The model is evaluated under the protocols that fit the data, beside the heuristics or other simple
    baselines, on several random splits. The verdict says what it beats, where the difference is not
    significant, where it wins and loses, and what makes its scores doubtful.

    Args:
        model: a function ``fit(task)`` or ``fit(graph)`` that returns a scorer, so that the model is trained
            on each split; a method or its name; or a scorer that is fixed: a function of pairs, vectors of
            nodes, a torch module, a file of scores, an object with ``score(pairs)``. ``"mine.py:fit"`` is
            what a file calls ``fit``.
        data: a data set's name, a file or folder, a graph, a frozen task, or several tasks.
        protocols: their names; by default ``existing``, ``heart``, ``degree-corrected``, and for small graphs
            ``recommendation``; for other data its own protocol.
        seeds: how many seeds, each with a random split, unless the data comes with one; by default five,
            fewer if a fit takes long. A fixed scorer, which cannot be trained again, has one.
        name: what to call the model; a method keeps its own name.
        store: where records are looked up and stored; None keeps them in memory.
        device: where trained methods train.
        checks: check the scorer, and audit the benchmarks.
        progress: called with a text, the runs done and their number.
        options: options of the protocols, for those that have them.
        runner: runs the cells elsewhere, such as ``te.engines.Dask(address).runner``; it needs a store.
    """
    start = time.perf_counter()
    _check_arguments(protocols, seeds, options)
    data = load(data) if isinstance(data, (str, Path)) and is_saved(data) else data
    first = plan.first_protocol(data, protocols)
    kind, flavour = plan.kinds(data, first)
    method = as_method(model, name, flavour, kind)
    fixed = is_fixed(method)
    named = [protocols] if isinstance(protocols, str) else protocols
    if named is None and holds_scores(method):
        named = [first]
    asked = plan.requests(data, named, seeds or plan.SEEDS, fixed, options)
    # A task that is made already takes no options; those of a fixed scorer are made with them.
    _check_options(options or {}, [] if plan.is_made(data) else [one.protocol for one in asked])
    large = plan.is_large(data)
    beside = plan.baselines(flavour, kind, method, large)
    kept = Store.of(store)
    ahead = None if runner is None else Ahead(runner, kept, progress)
    judging = Judging(method, beside, asked, kept, device, seeds, progress, options or {}, ahead)
    if not (isinstance(method, OwnModel) and method.takes_device):
        judging.notes += filter(None, [unused_device([method], device)])
    if large:
        judging.large = True
        judging.notes.append(plan.reduced(data, asked, beside))
    judging.run()
    return sum_up(judging, fixed, checks, time.perf_counter() - start)


def _check_arguments(protocols: object, seeds: object, options: object) -> None:
    """Raise an InputError for arguments of the wrong type, before any work is done."""
    if seeds is not None:
        whole_number("seeds", "judge", seeds, 1, MOST_SEEDS)
    listed = [protocols] if isinstance(protocols, str) else protocols
    names = isinstance(listed, (list, tuple)) and listed and all(isinstance(one, str) for one in listed)
    if protocols is not None and not names:
        raise must_be("protocols", "judge", "the name of a protocol or a list of names", protocols)
    if options is not None and not isinstance(options, Mapping):
        raise must_be("options", "judge", "a dict of options and their values", options)


def _check_options(options: Mapping[str, Any], protocols: Sequence[str]) -> None:
    """Raise an InputError for an option that none of the protocols has."""
    known = {key for name in protocols for key in get_protocol(name).options}
    for key in options:
        if key not in known:
            where = ", ".join(dict.fromkeys(protocols)) or "a task that is made already"
            raise unknown(f"option of {where}", key, known or ["(none)"])
