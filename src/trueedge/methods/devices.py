"""Where methods run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from trueedge.errors import InputError
from trueedge.methods.method import Method


def device_used(method: Method, device: str) -> str:
    """Return where a method runs, with its settings filled in, if a device is asked for.

    A method that trains nothing says so by ``uses_device = False``: it runs on the CPU whatever is asked for.
    """
    return device if getattr(method, "uses_device", True) else "cpu"


def without_effect(device: str, names: Collection[str]) -> str:
    """Say that a device that was asked for is used by none of some methods."""
    which = f"{next(iter(names))} runs" if len(names) == 1 else "these methods run"
    return f"device {device} has no effect: {which} on the CPU"


def check_device(device: str) -> None:
    """Raise an InputError for a device that this machine does not have."""
    if device != "cpu":
        from trueedge.training.loop import check_device as check

        check(device)


@contextmanager
def naming_torch() -> Iterator[None]:
    """Say how to install torch where a method needs it and it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        how = "pip install -e '.[torch]' -c constraints.txt"
        raise InputError(f"it needs torch: run {how} in your clone of trueedge") from None
