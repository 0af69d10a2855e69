"""Tests that ask for "way" run twice: as small graphs and files are built and read, and as large ones are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trueedge.files import digits
from trueedge.graph import tidying


@pytest.fixture(params=["as small", "as large"], scope="module")
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Whether compiled kernels build and read, however little there is."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "as large":
            patch.setattr(tidying, "EDGES_WORTH_COMPILING", 0)
            patch.setattr(tidying, "NODES_PER_EDGE_WORTH_COUNTING", 10**6)
            patch.setattr(digits, "BYTES_WORTH_COMPILING", 0)
        yield request.param
