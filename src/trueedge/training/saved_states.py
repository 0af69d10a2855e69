"""The state of a trained model as plain arrays, and back."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from trueedge.errors import InputError
from trueedge.scorers.history import History
from trueedge.scorers.learned import Arrays, Step


def state_of(model: nn.Module | None) -> dict[str, NDArray[np.generic]] | None:
    """Return the weights and buffers of a model as arrays by name; None for no model."""
    if model is None:
        return None
    return {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}


def load_state(model: nn.Module, saved: Step) -> History:
    """Load a saved training into an untrained model, and return its history.

    A training on the way, whose model the scorer does not use, has only a history.

    Args:
        model: the model, as the method builds it.
        saved: the weights and buffers, and the history.
    """
    if saved.history is None:
        raise InputError("it holds arrays where the method trains a model")
    arrays = saved.arrays()
    if arrays is not None:
        load_arrays(model, arrays)
    return saved.history


def load_arrays(model: nn.Module, arrays: Arrays) -> None:
    """Give a model its weights and buffers; arrays of other names, shapes or types are refused."""
    own = model.state_dict()
    if own.keys() != arrays.keys():
        name = sorted(own.keys() ^ arrays.keys())[0]
        where = "has no" if name in own else "has an unknown"
        raise InputError(f"its model {where} weight {name!r}")
    state = {}
    for name, value in own.items():
        given = torch.from_numpy(np.ascontiguousarray(arrays[name]).reshape(arrays[name].shape))
        if given.shape != value.shape or given.dtype != value.dtype:
            raise InputError(
                f"the weight {name!r} should be {value.dtype} of the shape {tuple(value.shape)}, and is"
                f" {given.dtype} of the shape {tuple(given.shape)}"
            )
        # Whole numbers are ids, which compiled loops do not check: they come from the graph, not from a file.
        number = value.is_floating_point() or value.dtype == torch.bool
        ids = not number and not name.endswith("num_batches_tracked")
        if ids and not torch.equal(given, value.cpu()):
            raise InputError(f"the ids in {name!r} are not those of the training graph")
        state[name] = given
    model.load_state_dict(state)
