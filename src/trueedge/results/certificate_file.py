"""Read the file of a certificate, and hash what is in it; its claims are verified elsewhere."""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, NoReturn

from trueedge.errors import InputError
from trueedge.files.whole import read_whole
from trueedge.results.kept_scores import MOST_SCORES

FORMAT = "trueedge certificate"
# Version 3 also seals the names of nodes; version 1 was that of trueedge 0.1.
VERSION = 3
# A certificate has about three thousand bytes and a dozen metrics; a far larger file is not a certificate.
MOST_BYTES = 1 << 20
MOST_METRICS = 1000
# With so few objects and lists, values cannot be nested too deeply to be hashed.
FLAT = 100

# Control characters, which a certificate shown on a terminal must not hold: escaped by JSON, or verbatim.
_CONTROLS = re.compile(r"\\[bfnrtu]|[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

# The request; the hash of the settings is over these fields.
REQUEST = ("dataset", "protocol", "options", "method", "settings", "seed", "task_seed", "device")
# The hashes in every certificate; the others are of the data of its task.
HASHES = ("task", "scores", "settings", "versions")
HASHES_OF_VERSION_1 = ("graph", "split", "negatives")
FIELDS: dict[str, type] = {
    **dict.fromkeys(("dataset", "protocol", "method", "headline", "device", "key", "created", "seal"), str),
    **dict.fromkeys(("options", "settings", "metrics", "scores", "versions", "hashes"), dict),
    **dict.fromkeys(("seed", "task_seed"), int),
}


def digest(values: Any) -> str:
    """Return a SHA-256 of a JSON value in a fixed layout: keys sorted, no spaces, ASCII."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def request_of(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a certificate that says what was run."""
    return {name: card[name] for name in REQUEST}


def seal_of(card: Mapping[str, Any]) -> str:
    """Return the hash of everything in a certificate but the seal itself."""
    return digest({name: value for name, value in card.items() if name != "seal"})


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate, or raise an InputError for other files; its claims are not verified here."""
    try:
        text = _text(path)
        card = _DECODER.decode(text)
        if text.count("{") + text.count("[") > FLAT:
            # Fails for values that are nested too deeply.
            digest(card)
        # Without an escape, texts are in the file as they are.
        texts = text if "\\" not in text else json.dumps(card, ensure_ascii=False).replace("\\\\", "")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a certificate: it is not a text file") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).split("\n")[0]
        if isinstance(error, json.JSONDecodeError):
            reason = f"it is not JSON: {reason}" if text.strip() else "it is empty"
        raise InputError(f"{path} is not a certificate: {reason}") from None
    complaint = _complaint(card, bool(_CONTROLS.search(texts)))
    if complaint:
        raise InputError(f"{path} is not a certificate: {complaint}")
    return dict(card)


def _text(path: Path) -> str:
    """Return the text of a regular file that is not too large."""
    try:
        about, content = read_whole(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"there is no file {path}") from None
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"{path} is not a regular file")
    if content is None:
        raise InputError(f"{path} has {about.st_size} bytes: it is too large for a certificate")
    return content.decode()


def _complaint(card: Any, has_controls: bool) -> str:
    """Return why a JSON value is not a certificate, or nothing.

    Args:
        card: the value.
        has_controls: whether a text in it has control characters.
    """
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        return f"it does not say 'format': '{FORMAT}'"
    version = card.get("version")
    if version is None:
        return "it has no version"
    if type(version) is not int or not 1 <= version <= VERSION:
        return f"it has the version {version!r}, but this release reads versions up to {VERSION}"
    if has_controls:
        return "a text in it has control characters for a terminal"
    for name, kind in FIELDS.items():
        value = card.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            return f"{name!r} is missing or not of type {kind.__name__}"
    for name in HASHES + (HASHES_OF_VERSION_1 if version == 1 else ()):
        if not isinstance(card["hashes"].get(name), str):
            return f"it has no hash of the {name}"
    if not all(isinstance(value, str) for value in card["hashes"].values()):
        return "one of its hashes is not a text"
    if version > 1 and not isinstance(card.get("kind"), str):
        return "'kind' is missing or not of type str"
    return _complaint_of_claims(card["metrics"], card["headline"]) or complaint_of_scores(card["scores"])


def _complaint_of_claims(metrics: Mapping[str, Any], headline: str) -> str:
    if headline not in metrics:
        return f"it does not claim its headline {headline!r}"
    if len(metrics) > MOST_METRICS:
        return f"it claims {len(metrics)} metrics"
    for name, value in metrics.items():
        # Compared, not converted: the file may hold a whole number of any length.
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 2**63:
            return f"its {name!r} is not a number"
    return ""


def complaint_of_scores(scores: Mapping[str, Any]) -> str:
    """Return what is wrong with a description of scores (file, form, shapes), or nothing."""
    file = scores.get("file")
    # A file may be written on one system and read on another: a name for both.
    if not isinstance(file, str) or not file.strip(".") or PureWindowsPath(file).name != file:
        return f"its scores are in {file!r}, which is not the name of a file in its folder"
    if "form" not in scores:
        return _complaint_of_pairs(scores.get("positives"), scores.get("negatives"))
    shapes = scores.get("shapes")
    if not isinstance(scores["form"], str) or not isinstance(shapes, dict) or not shapes:
        return "it does not say what form its scores have"
    for shape in shapes.values():
        if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
            return "it does not say how many scores there are"
        if math.prod(shape) > MOST_SCORES:
            return f"it claims more than {MOST_SCORES} scores"
    return ""


def _complaint_of_pairs(positives: Any, negatives: Any) -> str:
    shape = [positives, *negatives] if isinstance(negatives, list) else []
    if len(shape) not in (2, 3) or not all(type(size) is int and 0 < size <= MOST_SCORES for size in shape):
        return "it does not say how many scores of positives and negatives there are"
    if len(shape) == 3 and shape[0] != shape[1]:
        return f"it has {shape[0]} positives, but negatives for {shape[1]}"
    if shape[0] + math.prod(shape[1:]) > MOST_SCORES:
        return f"it claims more than {MOST_SCORES} scores"
    return ""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, and refuse repeated keys, since readers differ in which value they use."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"{counts.most_common(1)[0][0]!r} occurs in it twice")
    return found


def _finite(text: str) -> float:
    """Return a number, and refuse one that is too large for float64."""
    value = float(text)
    if math.isinf(value):
        raise ValueError("Out of range float values are not JSON compliant")
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse_constant, parse_float=_finite)
