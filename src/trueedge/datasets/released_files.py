"""Where the splits are that HeaRT's authors released for Cora, Citeseer and Pubmed."""

from __future__ import annotations

from trueedge.datasets.dataset import SourceFile

# Only Citeseer's files could be obtained, so only they have checksums.
_CHECKSUMS = {
    "heart/citeseer/train_pos.txt": "1e97ad3a73ecfeb69489aa6d92d02dc44c2925b4056a8e4cd4b548f1c0ebaa27",
    "heart/citeseer/valid_pos.txt": "11ad6734a54824d84a3dfcede53bcd6b3051c012f4c44add04891858dacd968c",
    "heart/citeseer/test_pos.txt": "9a9e06bc89cfc090f35093ecfc4dd5e5e6b979f6be3442c8450f140af127898f",
    "heart/citeseer/valid_neg.txt": "28bc7d0e168ed82bd8dad4822bc00872f1fdc48fc4f98a41a4c79af7960cdf46",
    "heart/citeseer/test_neg.txt": "625f43c40585c770bf8ae335766cb1402bd1f225c5cd9c3ab426f2fd61334202",
    "heart/citeseer/heart_valid_samples.npy": (
        "89cdc6fd98e059e2be200025174762c2ee82f86703152bb733271322b8fb3e65"
    ),
    "heart/citeseer/heart_test_samples.npy": (
        "fed77fda471126e038f0abd9cf42c8b2b9f1491c4c1cd4dd7d2c258a5239fd10"
    ),
}
_POSITIVES = ("train_pos.txt", "valid_pos.txt", "test_pos.txt")
_NEGATIVES = {
    "shared": ("valid_neg.txt", "test_neg.txt"),
    "heart": ("heart_valid_samples.npy", "heart_test_samples.npy"),
}


def heart_release(name: str) -> dict[str, tuple[SourceFile, ...]]:
    """Return the files of the split HeaRT released for a data set, by the negatives they hold.

    Args:
        name: ``cora``, ``citeseer`` or ``pubmed``.
    """
    return {
        kind: tuple(_file(name, file) for file in (*_POSITIVES, *files)) for kind, files in _NEGATIVES.items()
    }


def _file(name: str, file: str) -> SourceFile:
    path = f"heart/{name}/{file}"
    note = "the address HeaRT's authors gave for it no longer answers"
    return SourceFile(path, sha256=_CHECKSUMS.get(path), note=note)
