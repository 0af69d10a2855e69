"""Judge cheats, mistakes and honest models: each of the former must be named, none of the latter accused.

    python -m benchmarks.cheats [DATASET …]

The models are those of ``tests/verdict/cheats.py``. Results go to ``benchmarks/results/cheats.json``; those
that are there are not computed again.
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
    """Judge every model on every data set; each result is written at once, and not computed again."""
    known: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    models = _models()
    for name in names:
        whole = models.communities() if name == "communities" else te.load(name)
        tasks = _tasks(whole)
        rows = known.setdefault(name, {"protocols": PROTOCOLS, "seeds": SEEDS, "cheats": {}, "honest": {}})
        with tempfile.TemporaryDirectory() as folder:
            for kind, cases in (("cheats", models.CHEATS), ("honest", models.HONEST)):
                for title, make in cases.items():
                    if title in rows[kind] or (title in models.NEED_FEATURES and whole.features is None):
                        continue
                    row = rows[kind][title] = _row(title, make(whole), tasks, folder)
                    good = row["named"] if kind == "cheats" else not row["accused"]
                    said = "ok" if good else "WRONG"
                    print(f"{name:12} {kind:7} {title:32} {said:6} {row['found']}", flush=True)
                    _write(known, rows)
        print(name, rows["cheats named"], "cheats named,", rows["honest accused"], "honest models accused")


def _write(known: dict[str, Any], rows: dict[str, Any]) -> None:
    """Count what was found on a data set, and write all results."""
    named = [row["named"] for row in rows["cheats"].values()]
    accused = [row["accused"] for row in rows["honest"].values()]
    rows["cheats named"] = f"{sum(named)} of {len(named)}"
    rows["honest accused"] = f"{sum(accused)} of {len(accused)}"
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


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
        # A model that cannot be judged is not cleared.
        return {"named": named, "accused": not named, "found": "error", "sentences": [str(error)]}
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
