"""Judge cheats, mistakes and honest models: each of the former must be named, none of the latter accused.

    python -m benchmarks.cheats [DATASET …]

The models are those of ``tests/verdict/cheats.py``. Results go to ``benchmarks/results/cheats.json``.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import trueedge as te
from trueedge.errors import InputError
from trueedge.tasks import LinkTask
from trueedge.verdict import Verdict, judge

PROTOCOLS = ("existing", "heart", "degree-corrected")
SEEDS = 2
FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "cheats.json"


def main(names: list[str]) -> None:
    """Judge every model on every data set, print a line for each, and write all results."""
    known: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    models = _models()
    for name in names:
        whole = models.communities() if name == "communities" else te.load(name)
        tasks = _tasks(whole)
        rows = known[name] = {"cheats": {}, "honest": {}, "protocols": PROTOCOLS, "seeds": SEEDS}
        with tempfile.TemporaryDirectory() as folder:
            for kind, cases in (("cheats", models.CHEATS), ("honest", models.HONEST)):
                for title, make in cases.items():
                    if title in models.NEED_FEATURES and whole.features is None:
                        continue
                    row = _row(title, make(whole), tasks, folder)
                    rows[kind][title] = row
                    good = row["named"] if kind == "cheats" else not row["accused"]
                    print(
                        f"{name:12} {kind:7} {title:32} {'ok' if good else 'WRONG':6} {row['found']}",
                        flush=True,
                    )
        rows["cheats named"] = f"{sum(r['named'] for r in rows['cheats'].values())} of {len(rows['cheats'])}"
        rows["honest accused"] = (
            f"{sum(r['accused'] for r in rows['honest'].values())} of {len(rows['honest'])}"
        )
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")
        print(name, rows["cheats named"], "cheats named,", rows["honest accused"], "honest models accused")


def _models() -> ModuleType:
    path = FOLDER.parent / "tests" / "verdict" / "cheats.py"
    spec = importlib.util.spec_from_file_location("cheats", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["cheats"] = module
    spec.loader.exec_module(module)
    return module


def _tasks(source: Any) -> list[LinkTask]:
    """Return the tasks of all protocols and seeds, so that they are made once."""
    # With all nodes and a validation part, as the other protocols have them.
    options: dict[str, dict[str, Any]] = {"degree-corrected": {"component": "all", "valid": 0.05}}
    return [
        te.task(source, protocol, seed, **options.get(protocol, {}))
        for seed in range(SEEDS)
        for protocol in PROTOCOLS
    ]


def _row(title: str, case: Any, tasks: list[LinkTask], folder: str) -> dict[str, Any]:
    start = time.process_time()
    asked = tasks if case.data is None else _tasks(case.data)
    try:
        verdict = judge(case.model, asked, seeds=1, name=title, store=folder)
    except InputError as error:
        named = case.named == "error" and "withheld" in str(error)
        return {"named": named, "accused": False, "found": "error", "sentences": [str(error)]}
    found = _found(verdict)
    return {
        "named": case.named in found,
        "accused": not verdict.ok,
        "found": ", ".join(found),
        "sentences": [one.sentence for one in verdict.suspicions],
        "answer": verdict.sentence,
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def _found(verdict: Verdict) -> list[str]:
    """Return what a verdict names: doubts, and checks of the scorer."""
    checks = () if verdict.check is None else verdict.check.findings
    names = [one.name for one in verdict.suspicions] + [one.name for one in checks if one.level != "ok"]
    return list(dict.fromkeys(names))


if __name__ == "__main__":
    main(sys.argv[1:] or ["communities", "cora"])
