"""How long the methods of KG-Mixup's tables are trained here: all of them take the same number of steps.

The paper trains a model alone for up to 500 epochs, then starts again from its vectors for 250 to 400 with
synthetic triples: KG-Mixup takes about twice as many epochs as what it is compared with. Here every method
takes about 44,000 steps of the optimizer, each with 512 queries or triples. KG-Mixup divides them between its
two stages. A step with synthetic triples takes twice the time of others.
"""

from __future__ import annotations

from math import ceil
from typing import Any

STEPS = 44_000
BATCH_SIZE = 512
# The share of these steps that KG-Mixup takes for its pre-training: the first part of the training of
# the model alone.
PRETRAINING = 0.55
# The learning rate falls to this share within a training: published rates that fall do so in more epochs,
# and rates that do not fall leave a short training far from its end.
FALL = 0.1
# The share of a training after which weights are averaged, and the number of validation checks.
AVERAGED_FROM = 0.6
CHECKS = 8
# Queries and triples of the training part in both directions.
SIZES = {
    "fb15k-237": (149_689, 544_230),
    "codex-m": (101_136, 371_168),
    "nell-995": (132_643, 299_356),
}
# Other methods against degree bias: the published code always trains them with all entities, and takes a
# focal exponent of 1 with a factor that is held fixed.
OTHERS: dict[str, dict[str, Any]] = {
    "oversampling": {"objective": "1-n"},
    "reweighting": {"objective": "1-n"},
    "focal": {"objective": "1-n", "focal": 1.0, "fixed_factor": True},
}
# Where batches of the model alone hold triples, as published; elsewhere they hold queries.
OF_TRIPLES = {("codex-m", "conve"), ("nell-995", "conve")}
# Two to four times the published ones, since batches are four times as large.
RATES = {
    ("fb15k-237", "conve"): 0.002,
    ("fb15k-237", "tucker"): 0.002,
    ("codex-m", "conve"): 0.001,
    ("codex-m", "tucker"): 0.002,
    ("nell-995", "conve"): 0.001,
    ("nell-995", "tucker"): 0.002,
}
# The second stage starts from new weights. With the published rates, 10 to 100 times lower, it would take
# hundreds of epochs.
SECOND_RATES = {
    ("fb15k-237", "conve"): 0.001,
    ("fb15k-237", "tucker"): 0.001,
    ("codex-m", "conve"): 0.0005,
    ("codex-m", "tucker"): 0.001,
    ("nell-995", "conve"): 0.0005,
    ("nell-995", "tucker"): 0.001,
}
# KG-Mixup without mixing, and without averaging.
PARTS: dict[str, dict[str, Any]] = {
    "swa": {"synthetic_weight": 0.0},
    "augmentation": {"average_from": 0},
}


def settings(dataset: str, name: str) -> dict[str, Any]:
    """Return the settings of a method of the tables on a data set.

    Args:
        name: as in ``conve``, ``conve/averaged`` (the weights of the model alone are averaged),
            ``conve+oversampling``, ``conve+kgmixup`` or ``conve+kgmixup/swa``.
    """
    model, _, addition = name.partition("/")[0].partition("+")
    part = name.partition("/")[2]
    if addition == "kgmixup":
        # As in the published code, synthetic triples have no tail bias.
        return {"tail_bias": False, **_two_stages(dataset, model), **PARTS.get(part, {})}
    return _one_stage(dataset, model, addition, part == "averaged")


def steps_of(dataset: str, name: str) -> int:
    """Return how many steps a method of the tables takes on a data set, over all stages."""
    model, _, addition = name.partition("/")[0].partition("+")
    chosen = settings(dataset, name)
    if addition == "kgmixup":
        first = chosen["pretrain_epochs"] * _steps_per_epoch(dataset, model)
        return int(first + chosen["epochs"] * _steps(SIZES[dataset][1]))
    return int(chosen["epochs"] * _steps_per_epoch(dataset, model, addition))


def _one_stage(dataset: str, model: str, addition: str, averaged: bool) -> dict[str, Any]:
    if dataset not in SIZES:
        return {}
    epochs = round(STEPS / _steps_per_epoch(dataset, model, addition))
    chosen = {
        "epochs": epochs,
        "evaluate_every": ceil(epochs / CHECKS),
        # Never stop early: budgets are equal.
        "patience": epochs,
        "batch_size": BATCH_SIZE,
        "learning_rate": RATES[dataset, model],
        "decay": _decay(epochs),
        **OTHERS.get(addition, {}),
    }
    if averaged:
        chosen |= {"average_from": _first_averaged(epochs), "average_every": max(1, epochs // 50)}
    return chosen


def _two_stages(dataset: str, model: str) -> dict[str, Any]:
    if dataset not in SIZES:
        return {}
    alone = _one_stage(dataset, model, "", averaged=False)
    epochs = round((1 - PRETRAINING) * STEPS / _steps(SIZES[dataset][1]))
    second = {
        "epochs": epochs,
        "evaluate_every": ceil(epochs / CHECKS),
        "patience": epochs,
        "batch_size": BATCH_SIZE,
        "learning_rate": SECOND_RATES[dataset, model],
        "decay": _decay(epochs),
        "average_from": _first_averaged(epochs),
        "average_every": 1,
        "average_rate": 0.0,
    }
    first = {**alone, "epochs": round(PRETRAINING * alone["epochs"])}
    return second | {f"pretrain_{key}": value for key, value in first.items()}


def _steps_per_epoch(dataset: str, model: str, addition: str = "") -> int:
    queries, triples = SIZES[dataset]
    of_triples = (dataset, model) in OF_TRIPLES and addition not in OTHERS
    return _steps(triples if of_triples else queries)


def _steps(items: int) -> int:
    return ceil(items / BATCH_SIZE)


def _decay(epochs: int) -> float:
    return float(round(FALL ** (1 / epochs), 4))


def _first_averaged(epochs: int) -> int:
    return int(AVERAGED_FROM * epochs) + 1
