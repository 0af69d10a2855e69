"""Where methods run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from trueedge.errors import InputError
from trueedge.methods.method import Method


def device_used(method: Method, device: str) -> str:
    """Return where a method runs, with its settings filled in, if a device is asked for.

    A method that trains nothing says so by ``uses_device = False``: it runs on the CPU whatever is asked for.
    """
    return device if getattr(method, "uses_device", True) else "cpu"


def unused_device(methods: Sequence[Method], device: str) -> str:
    """Say that a device has no effect, if none of the methods uses it; otherwise return an empty text."""
    if device == "cpu" or any(device_used(one, device) != "cpu" for one in methods):
        return ""
    return without_effect(device, [one.name for one in methods])


def without_effect(device: str, names: Collection[str]) -> str:
    """Say that a device that was asked for is used by none of some methods."""
    who = f"{next(iter(names))} uses no device" if len(names) == 1 else "none of the methods uses a device"
    return f"the device {device} has no effect: {who}"


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
