"""Read and verify a certificate: every hash and every metric, from its file and its scores alone."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from trueedge import tasks
from trueedge.errors import InputError, unknown
from trueedge.files.text import as_path
from trueedge.graph import Graph
from trueedge.metrics import Scores, get
from trueedge.results.kept_scores import MOST_SCORES, load_scores
from trueedge.tasks import LinkTask, Task
from trueedge.tasks.protocols import get as get_protocol
from trueedge.tasks.storage import is_saved

FORMAT = "trueedge certificate"
VERSION = 2
# A certificate has about three thousand bytes and a dozen metrics; a far larger file is not a certificate.
MOST_BYTES = 1 << 20
MOST_METRICS = 1000

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
# Sums of the same numbers may differ between processors, but only in their last bits.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Check:
    """One number or hash that was compared.

    Attributes:
        name: which one: ``seal``, ``settings``, ``versions``, ``scores``, ``metric`` and its name; with a
            task ``protocol``, ``size``, the parts of the task (``graph``, ``test``, …) and ``task``.
        ok: whether it agrees with the certificate.
        sentence: what was found.
    """

    name: str
    ok: bool
    sentence: str


@dataclass(frozen=True)
class Verification:
    """The result of verifying a certificate.

    Attributes:
        path: the certificate's file.
        certificate: its content.
        checks: what was compared, in order.
    """

    path: Path
    certificate: Mapping[str, Any]
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Return whether everything agrees with the certificate."""
        return not self.differences

    @property
    def differences(self) -> tuple[Check, ...]:
        """Return the checks that failed."""
        return tuple(check for check in self.checks if not check.ok)


def verify(path: str | Path, task: Task | Graph | str | Path | None = None) -> Verification:
    """Recompute a certificate's hashes and metrics from its own scores.

    This needs no data set, no torch and no network. With a task, the hashes of graph, split and negatives are
    compared too.

    Args:
        path: the ``.json`` file; its scores are in the same folder.
        task: a task, the folder of a saved one, or a source (data set, edge list, graph) to make it
            from with the certificate's protocol, options and seed.
    """
    path = as_path(path, "verify")
    card = read_certificate(path)
    try:
        scores: Scores | InputError = load_scores(path.parent / card["scores"]["file"], card["scores"])
    except InputError as error:
        scores = error
    checks = [*_content(card), *_scores(card, scores)]
    if task is not None:
        checks += _task(card, _made(card, task), scores)
    return Verification(path, card, tuple(checks))


def _content(card: Mapping[str, Any]) -> Iterator[Check]:
    """Check the hashes of the certificate's own content."""
    yield _same("seal", card["seal"], seal_of(card), "its contents")
    yield _same("settings", card["hashes"]["settings"], digest(request_of(card)), "what was run")
    yield _same("versions", card["hashes"]["versions"], digest(card["versions"]), "the versions")


def _scores(card: Mapping[str, Any], scores: Scores | InputError) -> Iterator[Check]:
    """Check the scores, and each metric computed from them."""
    if isinstance(scores, InputError):
        yield Check("scores", False, str(scores))
        return
    yield _same("scores", card["hashes"]["scores"], scores.hash, f"the scores in {card['scores']['file']}")
    for name, claimed in card["metrics"].items():
        yield _metric(name, claimed, scores)


def _metric(name: str, claimed: float, scores: Scores) -> Check:
    where = f"metric {name}"
    try:
        found = get(name).value(scores)
    except InputError as error:
        return Check(where, False, f"{name} cannot be computed: {error}")
    if math.isclose(found, claimed, rel_tol=ROUNDING, abs_tol=ROUNDING):
        return Check(where, True, f"{name} is {found!r}")
    return Check(where, False, f"the scores give {name} {found!r}, but the certificate claims {claimed!r}")


def _made(card: Mapping[str, Any], task: Task | Graph | str | Path) -> Task:
    """Return the task to compare with; it is made as the certificate says unless it was given."""
    if isinstance(task, (str, Path)) and is_saved(task):
        task = tasks.load(task)
    if not isinstance(task, Task):
        known = get_protocol(card["protocol"]).options
        for key in card["options"]:
            # Checked here, since an unknown key could be another argument of the function below.
            if key not in known:
                raise unknown(f"option of the protocol {card['protocol']}", key, known or ["(none)"])
        task = tasks.task(task, card["protocol"], card["task_seed"], **card["options"])
    if not task.keeps_scores:
        raise InputError(f"a task under {task.protocol} keeps no scores, so it has no certificates")
    return task


def _task(card: Mapping[str, Any], task: Task, scores: Scores | InputError) -> Iterator[Check]:
    """Check what needs the data: protocol, size and truth of the test part, hashes."""
    ours, theirs = task.protocol, card["protocol"]
    differs = "" if ours == theirs else f", but the certificate says {theirs}"
    yield Check("protocol", not differs, f"{task.dataset} has the protocol {ours}{differs}")
    # Otherwise fewer negatives, or other labels, than the task has would pass with the task's own hashes.
    trouble = str(scores) if isinstance(scores, InputError) else task.mismatch(scores, "test")
    yield Check("size", not trouble, trouble or f"the scores are of the test part of {task.dataset}")
    parts = {name: value for name, value in task.hashes.items() if name not in HASHES}
    if card["version"] == 1:
        if not isinstance(task, LinkTask):
            raise InputError(f"{task} has no positives and negatives, as a certificate of version 1 needs")
        parts = {"graph": task.graph.hash, **_hashes_of_version_1(task)}
    for name, value in {**parts, "task": task.hash}.items():
        what = f"the {name} of {task.dataset} under {task.protocol}"
        yield _same(name, card["hashes"].get(name, "missing"), value, what)


def _hashes_of_version_1(task: LinkTask) -> dict[str, str]:
    """Return the SHA-256 of a task's split (training graph and positives) and of its negatives."""
    split, negatives = hashlib.sha256(task.graph.hash.encode()), hashlib.sha256()
    for name, part in sorted(task.parts.items()):
        for digest_of, array in ((split, part.positives), (negatives, part.negatives)):
            digest_of.update(f"{name} {array.shape}".encode())
            digest_of.update(np.ascontiguousarray(array, dtype="<i4").reshape(-1).view(np.uint8).data)
    return {"split": split.hexdigest(), "negatives": negatives.hexdigest()}


def _same(name: str, claimed: str, found: str, what: str) -> Check:
    if claimed == found:
        return Check(name, True, f"the hash of {what} is {found}")
    return Check(name, False, f"the hash of {what} is {found}, but the certificate says {claimed}")


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
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(f"{path} has {size} bytes: it is too large for a certificate")
        card = json.loads(
            path.read_bytes().decode(), object_pairs_hook=_once, parse_constant=_refuse_constant
        )
        # Fails for values that are nested too deeply or hold invalid text.
        digest(card)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).split("\n")[0]
        raise InputError(f"{path} is not a certificate: {reason}") from None
    complaint = _complaint(card)
    if complaint:
        raise InputError(f"{path} is not a certificate: {complaint}")
    return dict(card)


def _complaint(card: Any) -> str:
    """Return why a JSON value is not a certificate, or nothing."""
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        return f"it does not say 'format': '{FORMAT}'"
    version = card.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        return f"it has the version {version!r}, but this release reads versions up to {VERSION}"
    if _CONTROLS.search(json.dumps(card, ensure_ascii=False).replace("\\\\", "")):
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
    if not isinstance(file, str) or Path(file).name != file or not file.strip("."):
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


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")
