"""Named graphs: where their files are, how they are read, and what is known of them.

A family is one module of this folder that registers cards. Families are found, not listed: every module
here is imported once, and none of them imports more than numpy before it reads a graph.
"""

from trueedge.datasets.dataset import (
    DEFAULT_PROTOCOL,
    Dataset,
    Rules,
    SourceFile,
    cards,
    get,
    is_name,
    names,
    refuse_shadowed,
    register,
)
from trueedge.datasets.loading import altered_notes, load, with_altered, without_checksum
from trueedge.datasets.sources import (
    FileCheck,
    MissingFile,
    altered,
    available,
    fingerprint,
    verify,
    warn_altered,
)
from trueedge.datasets.synthetic import (
    barabasi_albert,
    erdos_renyi,
    power_law_configuration,
    price,
    stochastic_block,
)

__all__ = [
    "DEFAULT_PROTOCOL",
    "Dataset",
    "FileCheck",
    "MissingFile",
    "Rules",
    "SourceFile",
    "altered",
    "altered_notes",
    "available",
    "barabasi_albert",
    "cards",
    "erdos_renyi",
    "fingerprint",
    "get",
    "is_name",
    "load",
    "names",
    "power_law_configuration",
    "price",
    "refuse_shadowed",
    "register",
    "stochastic_block",
    "verify",
    "warn_altered",
    "with_altered",
    "without_checksum",
]
