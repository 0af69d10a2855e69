"""Files of the splits that HeaRT's authors released for Cora, Citeseer and Pubmed."""

from __future__ import annotations

from trueedge.datasets.dataset import SourceFile, checksums

_POSITIVES = ("train_pos.txt", "valid_pos.txt", "test_pos.txt")
_NEGATIVES = {
    "shared": ("valid_neg.txt", "test_neg.txt"),
    "heart": ("heart_valid_samples.npy", "heart_test_samples.npy"),
}


def heart_release(name: str) -> dict[str, tuple[SourceFile, ...]]:
    """Return the files of the split HeaRT released for a data set, by the negatives they hold."""
    return {
        kind: tuple(_file(name, file) for file in (*_POSITIVES, *files)) for kind, files in _NEGATIVES.items()
    }


def _file(name: str, file: str) -> SourceFile:
    path = f"heart/{name}/{file}"
    note = "the address HeaRT's authors gave for it no longer answers"
    return SourceFile(path, sha256=checksums().get(path), note=note)
