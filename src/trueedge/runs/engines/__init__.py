"""Engines that run cells on many machines, and shares of cells for job arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueedge.runs.engines.dask import Dask

__all__ = ["Dask"]


def __getattr__(name: str) -> Any:
    if name == "Dask":
        from trueedge.runs.engines.dask import Dask

        return Dask
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
