"""Named graphs: where their files are, how they are read, and what is known of them.

A family is one module of this folder that registers cards. Families are found, not listed: every module
here is imported once, and none of them imports more than numpy before it reads a graph.
"""

from trueedge.datasets.dataset import (
    Dataset,
    Release,
    Rules,
    SourceFile,
    cards,
    get,
    is_name,
    load,
    names,
    register,
)
from trueedge.datasets.heart import released
from trueedge.datasets.sources import FileCheck, MissingFile, altered, available, fingerprint, verify
from trueedge.datasets.synthetic import (
    barabasi_albert,
    erdos_renyi,
    power_law_configuration,
    price,
    stochastic_block,
)

__all__ = [
    "Dataset",
    "FileCheck",
    "MissingFile",
    "Release",
    "Rules",
    "SourceFile",
    "altered",
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
    "register",
    "released",
    "stochastic_block",
    "verify",
]
