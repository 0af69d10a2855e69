"""Every file of tests has a name of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_no_two_files_of_tests_share_a_name() -> None:
    # Without packages, pytest imports one of them and refuses the other, if one process runs both.
    count = Counter(path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")
    assert not [name for name, times in count.items() if times > 1]
