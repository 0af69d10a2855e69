"""Every embedding model with every method against degree bias: ``conve+kgmixup``, ``distmult+focal``, ….

The classes are made here, one per combination, from what the files of this folder define. Their code is that
of the two classes they are derived from.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trueedge.methods.kg.bias import BiasMethod
from trueedge.methods.kg.embedding import EmbeddingModel


def combine(model: type[EmbeddingModel], bias: type[BiasMethod], module: str = __name__) -> type[BiasMethod]:
    """Return the class of an embedding model that is trained with a method against degree bias.

    The class must become an attribute of ``module`` under its own name, so that it can be pickled.
    """
    members: dict[str, Any] = {
        "__module__": module,
        "__doc__": f"{model.title} with {bias.addition}.\n\n{inspect.getdoc(bias)}",
        "name": f"{model.name}+{bias.suffix}",
        "title": f"{model.title} + {bias.addition}",
        "defaults": {**model.defaults, **bias.__dict__.get("defaults", {})},
        "base": model,
    }
    made = type(f"{model.__name__}With{bias.__name__}", (bias.fitting(model), model), members)
    return dataclass(frozen=True)(made)


def _classes() -> Iterator[type]:
    """Yield the classes that the other files of this folder define."""
    package = __name__.rpartition(".")[0]
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if found.name == __name__ or found.ispkg:
            continue
        for one in vars(importlib.import_module(found.name)).values():
            if isinstance(one, type) and one.__module__ == found.name:
                yield one


_FOUND = tuple(_classes())
VARIANTS = {
    variant.__name__: variant
    for variant in (
        combine(model, bias)
        for model in _FOUND
        if issubclass(model, EmbeddingModel) and "name" in vars(model)
        for bias in _FOUND
        if issubclass(bias, BiasMethod) and "suffix" in vars(bias)
    )
}
globals().update(VARIANTS)
