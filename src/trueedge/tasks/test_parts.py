"""Which tasks have the same test part, told by their hashes alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from trueedge.tasks.storage import KINDS


def hash_of_test_part(kind: str, hashes: Mapping[str, object], task: str) -> str:
    """Return a hash of the test part: of its units if these may stay the same, or else of the whole task.

    Each of several seeds may divide the same training nodes in its own way, and be evaluated on the same
    published test nodes. These are then the units of one sample, so that an interval holds their variance.

    Args:
        kind: the kind of the task.
        hashes: the hashes of its arrays by name, as records, certificates and tasks hold them.
        task: the hash of the whole task.
    """
    found = KINDS.find(kind)
    names = () if found is None else found.test_units
    if not names or not all(name in hashes for name in names):
        return task
    return hashlib.sha256(" ".join(str(hashes[name]) for name in names).encode()).hexdigest()
