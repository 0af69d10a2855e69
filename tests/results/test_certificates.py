"""Certificates: what was measured can be computed again by anybody, and what was changed is found."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import trueedge as te
from forged_files import memory_below
from trueedge.errors import InputError
from trueedge.metrics import ListScores, PairScores
from trueedge.metrics.partitions import PartitionScores
from trueedge.results.certificate import choose
from trueedge.results.certificate_file import MOST_BYTES, digest, request_of, seal_of
from trueedge.results.kept_scores import describe, load_scores, save_scores, scores_path, to_keep
from trueedge.runs import Cell, run_cells
from trueedge.tasks.communities import CommunityTask


@dataclass(frozen=True)
class Awkward(te.methods.Method):
    """Scores that single precision does not hold."""

    title: ClassVar[str] = "awkward"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"

    def fit(self, task, seed=0, device="cpu"):
        return lambda pairs: 1e300 * (1 + 1e-15 * ((pairs[:, 0] * 7 + pairs[:, 1] * 3) % 101))


Awkward.name = "awkward"


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A folder with a store and three certificates: own negatives, shared ones, large scores."""
    folder = tmp_path_factory.mktemp("certified")
    store = te.Store(folder / "runs")
    for name, protocol, method in (
        ("own", "heart", "katz"),
        ("shared", "existing", "ra"),
        ("large", "uniform", Awkward()),
    ):
        options = {"k": 20} if protocol == "heart" else {}
        record = te.run("karate", protocol, method, store=store, keep_scores=True, **options)
        te.certify(record, folder / f"{name}.json", store)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def edit(path: Path, sealed: bool = True, **changes: object) -> None:
    """Change a certificate as a careful forger does, who makes the seal anew, or as a careless one."""
    card = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({**card, "seal": seal_of(card)} if sealed else card))


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file of scores, to change and save again."""
    with np.load(path) as archive:
        return dict(archive)


def failed(path: Path, **given: object) -> list[str]:
    return [check.name for check in te.verify(path, **given).differences]


@pytest.mark.parametrize("name", ["own", "shared", "large"])
def test_what_was_certified_is_verified(whole: Path, name: str) -> None:
    found = te.verify(whole / f"{name}.json")
    assert found.ok
    assert found.differences == ()
    claimed = found.certificate["metrics"]
    assert {check.name for check in found.checks} >= {f"metric {metric}" for metric in claimed}
    assert {check.name for check in found.checks} >= {"seal", "settings", "versions", "scores"}


@pytest.mark.parametrize("name", ["own", "shared", "large"])
def test_the_stored_scores_are_the_evaluated_ones_bit_for_bit(whole: Path, name: str) -> None:
    card = json.loads((whole / f"{name}.json").read_text())
    task = te.task("karate", card["protocol"], card["task_seed"], **card["options"])
    method = Awkward() if name == "large" else te.methods.create(card["method"])
    positive, negative = task.scores(method.fit(task))
    stored = arrays_of(whole / card["scores"]["file"])
    assert stored["positive"].astype(np.float64).tobytes() == positive.tobytes()
    assert stored["negative"].astype(np.float64).tobytes() == negative.tobytes()
    # The file is one that 'trueedge score' takes.
    assert task.evaluate(whole / card["scores"]["file"]) == card["metrics"]


def test_an_outside_reference_gets_the_certified_numbers(whole: Path) -> None:
    card = json.loads((whole / "shared.json").read_text())
    stored = arrays_of(whole / card["scores"]["file"])
    truth = np.repeat([1, 0], [len(stored["positive"]), len(stored["negative"])])
    scores = np.concatenate([stored["positive"], stored["negative"]])
    assert roc_auc_score(truth, scores) == pytest.approx(card["metrics"]["auc"], abs=1e-12)


def test_scores_that_fit_single_precision_take_half_the_room(whole: Path) -> None:
    cards = {name: json.loads((whole / f"{name}.json").read_text()) for name in ("own", "large")}
    for card in cards.values():
        assert {one.dtype for one in arrays_of(whole / card["scores"]["file"]).values()} == {np.dtype("<f8")}
    record = te.run("karate", "existing", "cn", store=te.Store(whole / "runs"), keep_scores=True)
    kept = arrays_of(scores_path(whole / "runs", record.provenance["kept"]))
    assert {one.dtype for one in kept.values()} == {np.dtype("<f4")}


def test_keeping_scores_changes_no_metric(whole: Path) -> None:
    kept = [record for record in te.Store(whole / "runs").records() if record.method == "katz"]
    plain = te.run("karate", "heart", "katz", k=20)
    assert kept[0].metrics == plain.metrics
    assert kept[0].key == plain.key
    assert (kept[0].ranks == plain.ranks).all()


def test_a_record_without_scores_is_run_again_for_them_and_only_once(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    cell = Cell("karate", "existing", te.methods.create("cn"))
    ranked = Cell("karate", "recommendation", te.methods.create("cn"))

    def fresh(**given: bool) -> list[bool]:
        return [outcome.fresh for outcome in run_cells([cell, ranked], store, **given)]

    assert fresh() == [True, True]
    assert fresh(keep_scores=True) == [True, True]
    assert fresh(keep_scores=True) == [False, False]
    shutil.rmtree(tmp_path / "scores")
    assert fresh(keep_scores=True) == [True, True]
    assert fresh(keep_scores=True, again=True) == [True, True]


def test_scores_are_only_kept_beside_records() -> None:
    with pytest.raises(InputError, match="no store"):
        te.run("karate", "existing", "cn", keep_scores=True)


def test_a_full_disk_costs_the_scores_and_not_the_record(tmp_path: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    store = te.Store(tmp_path)
    monkeypatch.setattr("trueedge.results.kept_scores.save_scores", full)
    record = te.run("karate", "existing", "cn", store=store, keep_scores=True)
    assert any("could not be kept" in sentence and "No space" in sentence for sentence in record.warnings)
    assert "kept" not in record.provenance
    assert len(store) == 1


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fails)
    with pytest.raises(OSError, match="No space"):
        save_scores(PairScores.check(np.ones(2), np.zeros(3)), tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_changed_score_is_found_and_the_metrics_it_moves(folder: Path) -> None:
    path = folder / "own.scores.npz"
    scores = arrays_of(path)
    scores["positive"][:3] += 100.0
    np.savez(path, **scores)
    names = failed(folder / "own.json")
    assert names[0] == "scores"
    assert "metric mrr" in names


def test_the_smallest_change_of_a_score_is_found_where_no_metric_moves(folder: Path) -> None:
    path = folder / "large.scores.npz"
    scores = arrays_of(path)
    best = max(scores.values(), key=np.max)
    best[best.argmax()] *= 1 + 1e-15
    np.savez(path, **scores)
    assert failed(folder / "large.json") == ["scores"]


def test_scores_in_another_order_are_found(folder: Path) -> None:
    path = folder / "shared.scores.npz"
    scores = arrays_of(path)
    # Every metric stays what it was: only the pairs' scores were exchanged.
    np.savez(path, positive=scores["positive"][::-1], negative=scores["negative"])
    assert failed(folder / "shared.json") == ["scores"]


def test_another_certificates_scores_are_found(folder: Path) -> None:
    shutil.copyfile(folder / "shared.scores.npz", folder / "own.scores.npz")
    (check,) = te.verify(folder / "own.json").differences
    assert check.name == "scores"
    assert "holds positive (7), negative (7), not" in check.sentence
    store = te.Store(folder / "runs")
    other = te.run("karate", "heart", "ra", store=store, keep_scores=True, k=20)
    shutil.copyfile(scores_path(folder / "runs", other.provenance["kept"]), folder / "own.scores.npz")
    assert "metric mrr" in failed(folder / "own.json")


@pytest.mark.parametrize("cut", [0, 1, 60, 127, 128, 136, -1])
def test_a_truncated_file_of_scores_is_found(folder: Path, cut: int) -> None:
    path = folder / "own.scores.npz"
    path.write_bytes(path.read_bytes()[:cut])
    (check,) = te.verify(folder / "own.json").differences
    assert check.name == "scores"
    assert re.search(r"own\.scores\.npz is (a damaged archive|not a \.npz file)", check.sentence)


def test_a_bit_turned_in_the_file_of_scores_is_found(folder: Path) -> None:
    path = folder / "own.scores.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    (check,) = te.verify(folder / "own.json").differences
    assert check.name == "scores"


def test_scores_that_are_gone_or_are_none_are_named(folder: Path) -> None:
    path = folder / "own.scores.npz"
    scores = arrays_of(path)
    width = scores["negative"].shape[1]
    text = np.full(scores["negative"].shape, "1.5")
    for changed, words in (
        ({"negative": np.full((7, width), np.nan)}, "negative scores are NaN"),
        ({"negative": text}, "numbers"),
        ({"negative": scores["negative"].astype(complex)}, "numbers"),
        ({"positive": scores["positive"][None]}, "holds "),
        ({"extra": np.ones(1)}, "holds "),
    ):
        np.savez(path, **{**scores, **changed})
        assert words in te.verify(folder / "own.json").differences[0].sentence
    np.savez(path, positive=scores["positive"])
    assert "holds " in te.verify(folder / "own.json").differences[0].sentence
    np.save(path.open("wb"), scores["positive"])
    assert "not a .npz file" in te.verify(folder / "own.json").differences[0].sentence
    # Other bytes of the same numbers are the same scores.
    np.savez_compressed(path, **{name: one.astype(">f8") for name, one in scores.items()})
    assert te.verify(folder / "own.json").ok
    path.unlink()
    assert "there is no such file" in te.verify(folder / "own.json").differences[0].sentence
    path.mkdir()
    assert "is a folder" in te.verify(folder / "own.json").differences[0].sentence


def test_nothing_is_unpickled(folder: Path, capsys) -> None:
    class Trap:
        def __reduce__(self):
            return print, ("sprung",)

    path = folder / "own.scores.npz"
    np.savez(path, positive=np.array([Trap()], dtype=object), negative=np.ones(1), allow_pickle=True)
    assert not te.verify(folder / "own.json").ok
    assert "sprung" not in capsys.readouterr().out


def npy(shape: tuple[int, ...], content: bytes = b"") -> bytes:
    """A .npy file whose head claims a shape, whatever follows."""
    head = np.lib.format.header_data_from_array_1_0(np.empty(0))
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {**head, "shape": shape})
    return file.getvalue() + content


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_huge_declared_shape_takes_no_memory(folder: Path, packed: int) -> None:
    path = folder / "own.scores.npz"
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("positive.npy", npy((1 << 50,)))
    with memory_below(5e6):
        (check,) = te.verify(folder / "own.json").differences
    assert check.name == "scores"
    said = json.loads((folder / "own.json").read_text())["scores"]
    for shapes in ({"positive": [1 << 50]}, {"positive": [1 << 29], "negative": [1 << 29, 1 << 29]}):
        edit(folder / "own.json", scores={**said, "shapes": shapes})
        with pytest.raises(InputError, match="is not a certificate"):
            te.verify(folder / "own.json")


def test_an_archive_that_unpacks_to_far_more_than_it_is_takes_no_memory(folder: Path) -> None:
    path = folder / "own.scores.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("positive.npy", "w") as member,
    ):
        member.write(npy((12_500_000,)))
        for _ in range(100):
            member.write(bytes(1_000_000))
    assert path.stat().st_size < 1_000_000
    with memory_below(2e7):
        (check,) = te.verify(folder / "own.json").differences
    assert check.name == "scores"


def test_a_member_named_twice_or_out_of_the_folder_changes_nothing(folder: Path) -> None:
    path = folder / "own.scores.npz"
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("positive.npy", npy((7,), np.arange(7.0).tobytes()))
    assert "scores" in failed(folder / "own.json")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../positive.npy", npy((7,), np.arange(7.0).tobytes()))
    assert failed(folder / "own.json") == ["scores"]
    assert not (folder.parent / "positive.npy").exists()


def test_a_changed_metric_is_found_by_its_name_and_number(folder: Path) -> None:
    metrics = json.loads((folder / "own.json").read_text())["metrics"]
    edit(folder / "own.json", metrics={**metrics, "mrr": metrics["mrr"] + 1e-9})
    (check,) = te.verify(folder / "own.json").differences
    assert check.name == "metric mrr"
    assert repr(metrics["mrr"]) in check.sentence
    assert repr(metrics["mrr"] + 1e-9) in check.sentence


def test_a_metric_that_cannot_be_is_found(folder: Path) -> None:
    metrics = json.loads((folder / "own.json").read_text())["metrics"]
    for name in ("banana", "hits@99999", "ndcg@10", "hits@K"):
        edit(folder / "own.json", metrics={**metrics, name: 0.5})
        assert failed(folder / "own.json") == [f"metric {name}"]


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"settings": {"beta": 0.9, "max_length": None}}, ["settings"]),
        ({"method": "ra"}, ["settings"]),
        ({"seed": 7}, ["settings"]),
        ({"options": {}}, ["settings"]),
        ({"versions": {"python": "2.7"}}, ["versions"]),
    ],
)
def test_a_changed_setting_is_found_even_under_a_new_seal(folder: Path, change: dict, names: list) -> None:
    edit(folder / "own.json", **change)
    assert failed(folder / "own.json") == names
    edit(folder / "own.json", sealed=False, created="long ago")
    assert failed(folder / "own.json") == ["seal", *names]


def test_a_word_changed_by_hand_breaks_the_seal(folder: Path) -> None:
    text = (folder / "own.json").read_text()
    (folder / "own.json").write_text(text.replace('"cores":', '"kernels":'))
    assert failed(folder / "own.json") == ["seal"]
    # Spaces and the order of lines say nothing.
    turned = dict(reversed(json.loads(text).items()))
    (folder / "own.json").write_text(json.dumps(turned))
    assert te.verify(folder / "own.json").ok


def test_every_field_is_under_the_seal(folder: Path) -> None:
    card = json.loads((folder / "own.json").read_text())
    for name in card:
        if name != "seal":
            assert seal_of({**card, name: "other"}) != card["seal"]
    assert digest(request_of(card)) == card["hashes"]["settings"]


def test_the_task_is_compared_where_it_is_at_hand(folder: Path, tmp_path: Path) -> None:
    for name in ("own", "shared"):
        assert te.verify(folder / f"{name}.json", "karate").ok
    names = {check.name for check in te.verify(folder / "own.json", "karate").checks}
    assert names >= {"graph", "valid", "test", "task", "size", "protocol"}
    task = te.task("karate", "heart", 0, k=20)
    assert te.verify(folder / "own.json", task).ok
    assert te.verify(folder / "own.json", task.save(tmp_path / "task")).ok


def test_another_task_is_told_apart_by_what_differs(folder: Path) -> None:
    one = folder / "own.json"
    hashes = ["graph", "valid", "test", "task"]
    assert failed(one, task=te.task("karate", "heart", 1, k=20)) == ["task_seed", "task_settings", *hashes]
    fewer = te.task("karate", "heart", 0, k=18)
    assert failed(one, task=fewer) == ["options", "task_settings", "size", "valid", "test", "task"]
    other = te.task("karate", "existing", 0)
    assert failed(one, task=other) == ["protocol", "task_settings", "size", "valid", "test", "task"]
    ranked = te.task("karate", "recommendation")
    assert "size" in failed(one, task=ranked)
    with pytest.raises(InputError, match="karat"):
        te.verify(one, "karat")


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"shards": "/tmp"}},
        {"options": {"source": "cora"}},
        {"options": {"k": "many"}},
        {"options": {"k": 10**12}},
        {"options": {"ratios": [1, "a", None]}},
        {"options": {"heuristics": [[]]}},
        {"protocol": "banana"},
        {"task_seed": -1},
    ],
    ids=range(8),
)
def test_a_task_that_cannot_be_made_is_one_sentence(folder: Path, change: dict) -> None:
    edit(folder / "own.json", **change)
    with pytest.raises(InputError) as caught:
        te.verify(folder / "own.json", "karate")
    assert "\n" not in str(caught.value)


def test_fewer_negatives_than_the_task_has_are_found_with_the_task(folder: Path) -> None:
    card = json.loads((folder / "own.json").read_text())
    scores = load_scores(folder / "own.scores.npz", card["scores"])
    assert isinstance(scores, PairScores)
    easy = PairScores(scores.positive, np.sort(scores.negative, axis=1)[:, :10])
    forge(folder / "own.json", easy, te.metrics.evaluate(easy.positive, easy.negative, ["mrr"]))
    # A forgery that is whole in itself passes: it takes the data to see it.
    assert te.verify(folder / "own.json").ok
    assert failed(folder / "own.json", task="karate") == ["size"]


def forge(path: Path, scores: te.metrics.Scores, metrics: dict[str, float]) -> None:
    """Put other scores and their metrics into a certificate, with all hashes and the seal made anew."""
    card = json.loads(path.read_text())
    save_scores(scores, path.parent / card["scores"]["file"])
    said = describe(scores)
    edit(
        path,
        scores={**card["scores"], "form": said["form"], "shapes": said["shapes"]},
        metrics=metrics,
        headline=next(iter(metrics)),
        hashes={**card["hashes"], "scores": said["scores"]},
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("{", "Expecting property name"),
        ("[]", "format"),
        ("7", "format"),
        ('{"format": "trueedge certificate", "version": 4}', "version 4"),
        ('{"format": "trueedge certificate", "version": 3}', "'dataset' is missing"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "nested too deeply"),
        ('{"a": 1, "a": 2}', "'a' occurs in it twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": 1e999}', "Out of range"),
        ('{"a": ' + "9" * 10_000 + "}", "digits"),
        (" " * (MOST_BYTES + 1), "too large for a certificate"),
        ("\udcff", "not a text file"),
    ],
    ids=range(14),
)
def test_what_is_no_certificate_is_refused_in_one_sentence(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=reason) as caught:
        te.verify(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


PLAIN = {"file": "own.scores.npz", "form": "pairs", "shapes": {"positive": [1], "negative": [1]}}


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": 7},
        {"seed": True},
        {"seed": 1.5},
        {"metrics": {}},
        {"metrics": {"mrr": "high"}},
        {"metrics": {"mrr": True}},
        {"metrics": {"mrr": 10**400}},
        {"metrics": {"mrr": 0.1, **{f"hits@{k}": 0.1 for k in range(1, 1100)}}},
        {"hashes": {}},
        {"scores": {}},
        {"kind": None},
        {"hashes": {"task": 1}},
        {"scores": {**PLAIN, "file": "../own.scores.npz"}},
        {"scores": {**PLAIN, "file": "/etc/passwd"}},
        {"scores": {**PLAIN, "file": "own\0.npz"}},
        {"scores": {**PLAIN, "file": ".."}},
        {"scores": {**PLAIN, "form": 7}},
        {"scores": {**PLAIN, "shapes": {}}},
        {"scores": {**PLAIN, "shapes": [7]}},
        {"scores": {**PLAIN, "shapes": {"positive": 7}}},
        {"scores": {**PLAIN, "shapes": {"positive": [-1]}}},
        {"scores": {**PLAIN, "shapes": {"positive": [True]}}},
        {"scores": {**PLAIN, "shapes": {"positive": [1 << 31]}}},
        {"scores": {"file": "own.scores.npy", "positives": -1, "negatives": [1]}},
        {"scores": {"file": "own.scores.npy", "positives": 2, "negatives": [3, 1]}},
        {"scores": {"file": "own.scores.npy", "positives": 2, "negatives": [2, 1, 1]}},
        {"scores": {"file": "own.scores.npy", "positives": 2, "negatives": 5}},
        {"scores": {"file": "own.scores.npy", "positives": 2, "negatives": [True]}},
        {"scores": {"file": "own.scores.npy", "positives": 0, "negatives": [1]}},
    ],
    ids=range(29),
)
def test_fields_that_cannot_be_are_refused(folder: Path, change: dict) -> None:
    edit(folder / "own.json", sealed=False, **change)
    with pytest.raises(InputError, match=r"own\.json is not a certificate"):
        te.verify(folder / "own.json")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match=r"there is no file|cannot be read|is not a regular file"):
            te.verify(path)


def test_a_record_without_scores_says_the_command_that_keeps_them(tmp_path: Path) -> None:
    store = te.Store(tmp_path / "runs")
    record = te.run("karate", "heart", "katz", 5, settings={"beta": 0.02}, store=store, task_seed=3, k=8)
    command = (
        "run trueedge run karate -p heart -m katz --set beta=0.02 --option k=8 --seed 3 --seeds 3 "
        f"--fixed-split --runs {store.folder} --keep-scores"
    )
    with pytest.raises(InputError, match="were not kept") as caught:
        te.certify(record, tmp_path / "a.json", store)
    assert str(caught.value).endswith(command)
    graph = te.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 0), (1, 4)], name="mine")
    own = te.run(graph, "uniform", "cn", store=store)
    with pytest.raises(InputError, match="run it again with --keep-scores"):
        te.certify(own, tmp_path / "a.json", store)
    assert not (tmp_path / "a.json").exists()


def test_the_command_that_is_named_computes_that_record(tmp_path: Path, monkeypatch) -> None:
    import shlex

    from trueedge.cli.app import main

    store = te.Store(tmp_path / "runs")
    record = te.run("karate", "heart", "katz", 1, settings={"beta": 0.02}, store=store, k=8)
    with pytest.raises(InputError) as caught:
        te.certify(record, tmp_path / "a.json", store)
    words = shlex.split(str(caught.value).partition("kept: run ")[2])
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    path = te.certify(choose(store, record.key), tmp_path / "a.json", store)
    assert te.verify(path, "karate").certificate["metrics"] == dict(record.test)


@pytest.mark.parametrize(
    ("dataset", "protocol", "method"),
    [("karate", "recommendation", "cn"), ("bookshop", "full-ranking", "popularity")],
)
def test_a_full_ranking_is_certified_by_the_ranks_of_what_was_hidden(
    tmp_path: Path, dataset: str, protocol: str, method: str
) -> None:
    store = te.Store(tmp_path)
    record = te.run(dataset, protocol, method, store=store, keep_scores=True)
    assert dict(record.test) == dict(te.run(dataset, protocol, method).test)
    path = te.certify(record, tmp_path / "a.json", store)
    assert te.verify(path).ok
    assert te.rerun(path).ok
    # Ranks that are all 1 agree with each other, but not with the number of relevant candidates.
    held = dict(np.load(path.with_suffix(".scores.npz")))
    held["candidates"] = held["candidates"] + 1
    np.savez(path.with_suffix(".scores.npz"), **held)
    found = {check.name for check in te.verify(path, dataset).differences}
    assert {"scores", "size"} <= found


def test_a_trial_cannot_be_certified(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    cell = Cell("karate", "heart", te.methods.create("cn"), options={"k": 8}, parts=("valid",))
    (outcome,) = run_cells([cell], store, keep_scores=True)
    with pytest.raises(InputError, match="trial"):
        te.certify(outcome.record, tmp_path / "a.json", store)
    with pytest.raises(InputError, match="no record"):
        choose(store)


def test_kept_scores_that_were_damaged_are_not_certified(folder: Path) -> None:
    store = te.Store(folder / "runs")
    record = choose(store, method="katz")
    path = scores_path(store.folder, record.provenance["kept"])
    np.savez(path, **{name: one + 1 for name, one in arrays_of(path).items()})
    with pytest.raises(InputError, match="is damaged"):
        te.certify(record, folder / "new.json", store)
    assert not (folder / "new.json").exists()
    path.unlink()
    with pytest.raises(InputError, match="are not in"):
        te.certify(record, folder / "new.json", folder / "runs")


@pytest.mark.parametrize(
    "shapes", [{}, {"form": "pairs"}, {"form": "pairs", "shapes": {"positive": [1 << 40]}}, {"shape": 7}]
)
def test_a_record_that_does_not_describe_its_scores_is_not_certified(folder: Path, shapes: dict) -> None:
    store = te.Store(folder / "runs")
    record = choose(store, method="katz")
    kept = {"scores": record.provenance["kept"]["scores"], **shapes}
    (store.folder / "scores" / f"{kept['scores']}.npy").write_bytes(b"")
    with pytest.raises(InputError, match=r"the description of the scores of .* is damaged"):
        te.certify(
            replace(record, provenance={**record.provenance, "kept": kept}), folder / "new.json", store
        )


def test_scores_that_are_no_numbers_cost_the_scores_and_not_the_record(tmp_path: Path) -> None:
    names = PartitionScores(np.array(["a", "b"]), np.zeros(2, int), np.zeros(2, int))
    kept, warnings, held = to_keep(tmp_path, names)
    assert (kept, held) == ({}, None)
    assert "the array 'communities' of scores must hold numbers, got <U1" in warnings[0]
    assert list(tmp_path.iterdir()) == []


def test_a_claim_the_scores_do_not_bear_out_is_not_certified(folder: Path) -> None:
    store = te.Store(folder / "runs")
    record = choose(store, method="katz")
    better = replace(record, metrics={**record.metrics, "test": {**record.test, "mrr": 1.0}})
    with pytest.raises(InputError, match=r"cannot be certified: the scores give mrr .* claims 1\.0"):
        te.certify(better, folder / "new.json", store)
    assert not list(folder.glob("new*"))


def test_a_certificate_is_a_json_file_that_can_be_written(folder: Path) -> None:
    store = te.Store(folder / "runs")
    record = choose(store, method="katz")
    with pytest.raises(InputError, match=r"\.json file"):
        te.certify(record, folder / "a.txt", store)
    with pytest.raises(InputError, match="cannot be written"):
        te.certify(record, folder / "own.json" / "a.json", store)
    # Again, over the old one.
    assert te.certify(record, folder / "own.json", store) == folder / "own.json"
    assert te.verify(folder / "own.json").ok


def test_the_latest_record_with_its_scores_is_chosen(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    cell = Cell("karate", "existing", te.methods.create("cn"))
    for keeps in (False, True, False):
        list(run_cells([cell], store, again=True, keep_scores=keeps))
    assert choose(store, cell.key[:8]).provenance["kept"]
    te.run("karate", "existing", "ra", store=store)
    with pytest.raises(InputError, match=rf"2 records .*\n  {cell.key[:12]}  cn on karate"):
        choose(store)
    with pytest.raises(InputError, match="no record with key zz, method cn"):
        choose(store, "zz", method="cn")


def test_verifying_needs_neither_torch_nor_data_nor_the_records(whole: Path, tmp_path: Path) -> None:
    for name in ("own.json", "own.scores.npz"):
        shutil.copyfile(whole / name, tmp_path / name)
    script = """
import socket, sys
sys.modules["torch"] = None
def refuse(*given):
    raise AssertionError("no network")
socket.socket.connect = refuse
import trueedge as te
print(te.verify("own.json").ok)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={
            "TRUEEDGE_DATA": "/nowhere",
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(te.__file__).parents[1]),
        },
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "True", done.stderr


def test_a_certificate_with_control_characters_is_refused(tmp_path: Path) -> None:
    from trueedge.results.certificate_file import FORMAT, read_certificate

    path = tmp_path / "c.json"
    for name in ("cora\u001b[2J", "cora\nOK  fake", "cora\u202e", "a\u0085b"):
        path.write_text(json.dumps({"format": FORMAT, "version": 1, "dataset": name}))
        with pytest.raises(InputError, match="control characters for a terminal"):
            read_certificate(path)
    path.write_text(json.dumps({"format": FORMAT, "version": 1, "dataset": "C:\\new"}))
    with pytest.raises(InputError, match="'protocol' is missing"):
        read_certificate(path)


def test_a_name_that_stands_twice_among_many_is_found_without_comparing_all(tmp_path: Path) -> None:
    from trueedge.results.certificate_file import _once, read_certificate

    path = tmp_path / "c.json"
    path.write_text("{" + ",".join(f'"{i}":1' for i in range(6_000)) + ',"5999":1}')
    with pytest.raises(InputError, match="'5999' occurs in it twice"):
        read_certificate(path)
    compared = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    with pytest.raises(ValueError, match="'999' occurs in it twice"):
        _once([(Name(number), 1) for number in (*range(1_000), 999)])
    assert compared < 10_000


def test_a_name_that_stands_twice_among_many_is_found(tmp_path: Path) -> None:
    from trueedge.results.certificate_file import read_certificate

    path = tmp_path / "c.json"
    path.write_text("{" + ",".join(f'"{i}":1' for i in range(60_000)) + ',"59999":1}')
    with pytest.raises(InputError, match="'59999' occurs in it twice"):
        read_certificate(path)


# What a certificate of one task's scores can claim of another kind of scores


def community_certificate(folder: Path) -> tuple[Path, CommunityTask]:
    task = CommunityTask.of(te.load("karate"), np.arange(34) % 3)
    store = te.Store(folder / "runs")
    record = te.run(task, method="eigenmap", store=store, keep_scores=True)
    return te.certify(record, folder / "communities.json", store), task


def test_clusters_of_nodes_are_certified(tmp_path: Path) -> None:
    path, task = community_certificate(tmp_path)
    assert te.verify(path, task).ok
    assert te.verify(path, task.save(tmp_path / "task")).ok
    other = CommunityTask.of(task.graph, np.arange(34) % 4)
    assert failed(path, task=other) == ["task_settings", "size", "communities", "task"]


def test_a_truth_made_to_fit_the_clusters_is_found_with_the_task(tmp_path: Path) -> None:
    path, task = community_certificate(tmp_path)
    scores = load_scores(tmp_path / "communities.scores.npz", json.loads(path.read_text())["scores"])
    assert isinstance(scores, PartitionScores)
    forge(path, replace(scores, communities=scores.clusters), {"element-centric": 1.0, "nmi": 1.0})
    assert te.verify(path).ok
    (check,) = te.verify(path, task).differences
    assert (check.name, check.sentence) == ("size", "the communities in the scores are not those of the task")


def test_scores_of_another_form_are_compared_with_the_task(folder: Path, tmp_path: Path) -> None:
    path, task = community_certificate(tmp_path)
    forge(path, PairScores.check([1.0], [0.0]), {"mrr": 1.0})
    assert te.verify(path).ok
    assert failed(path, task=task) == ["headline", "size"]
    groups = np.arange(7) % 2
    forge(folder / "own.json", PartitionScores(groups, groups, groups), {"nmi": 1.0})
    assert failed(folder / "own.json") == ["headline"]
    assert failed(folder / "own.json", task="karate") == ["headline", "size"]


ABOVE = {"candidates": [9, 9], "relevant": [2, 1], "above": [0, 3, 4], "tied": [1, 1, 2], "left_out": [0]}


@pytest.mark.parametrize(
    "change",
    [
        {"tied": [0, 1, 1]},
        {"above": [-1, 3, 4]},
        {"above": [0, 3, 8]},
        {"above": [0.5, 3.0, 4.0]},
        {"above": [0, 0, 4]},
        {"above": [[0, 3, 4]]},
        {"relevant": [2, 2]},
        {"relevant": [1 << 62, 1]},
        {"relevant": [3, 0]},
        {"relevant": [], "candidates": []},
        {"candidates": [1, 9]},
        {"candidates": [1 << 62, 9]},
        {"left_out": []},
    ],
    ids=range(13),
)
def test_forged_lists_are_refused_in_one_sentence(folder: Path, change: dict) -> None:
    arrays = {name: np.array(values) for name, values in {**ABOVE, **change}.items()}
    np.savez(folder / "own.scores.npz", **arrays)
    card = json.loads((folder / "own.json").read_text())
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    said = {**card["scores"], "form": "lists", "shapes": shapes}
    edit(folder / "own.json", scores=said, metrics={"ndcg@5": 0.5, "hitrate@3": 0.5}, headline="ndcg@5")
    check, headline = te.verify(folder / "own.json").differences
    assert (check.name, headline.name) == ("scores", "headline")
    assert "ranked lists" in check.sentence


def test_a_huge_k_of_a_list_metric_takes_no_memory(folder: Path) -> None:
    lists = ListScores.from_arrays({name: np.array(values) for name, values in ABOVE.items()})
    assert te.metrics.get("ndcg@9").value(lists) == te.metrics.get("ndcg@999999999999999999").value(lists)
    forge(folder / "own.json", lists, {"ndcg@999999999999999999": 1.0})
    with memory_below(5e6):
        assert failed(folder / "own.json") == ["metric ndcg@999999999999999999", "headline"]


def test_a_form_nobody_knows_is_named(folder: Path) -> None:
    said = json.loads((folder / "own.json").read_text())["scores"]
    edit(folder / "own.json", scores={**said, "form": "pears"})
    assert "did you mean 'pairs'" in te.verify(folder / "own.json").differences[0].sentence


# Certificates of version 0.1.0

OLD = Path(__file__).parents[1] / "fixtures" / "certificate-0.1.0"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "old")) / "karate-heart-katz-0.json"


def test_a_certificate_of_version_1_is_verified(old: Path) -> None:
    assert te.verify(old).ok
    for task in ("karate", OLD.parent / "task-0.1.0", te.task("karate", "heart", 0, k=20)):
        found = te.verify(old, task)
        assert found.ok, found.differences
    assert {check.name for check in found.checks} >= {"graph", "split", "negatives", "task", "size"}


def test_a_certificate_of_version_1_that_was_changed_is_found(old: Path) -> None:
    card = json.loads(old.read_text())
    metrics = card["metrics"]
    edit(old, metrics={**metrics, "mrr": 0.9})
    assert failed(old) == ["metric mrr"]
    edit(old, sealed=False, metrics=metrics, created="long ago")
    assert failed(old) == ["seal"]
    edit(old, method="ra")
    assert "settings" in failed(old)
    old.write_text(json.dumps(card))
    fewer, other = te.task("karate", "heart", 0, k=18), te.task("karate", "heart", 1, k=20)
    assert failed(old, task=fewer) == ["options", "task_settings", "size", "negatives", "task"]
    hashes = ["graph", "split", "negatives", "task"]
    assert failed(old, task=other) == ["task_seed", "task_settings", *hashes]
    with pytest.raises(InputError, match="version 1"):
        te.verify(old, CommunityTask.of(te.load("karate"), np.arange(34) % 2))


def test_scores_of_version_1_that_were_changed_are_found(old: Path) -> None:
    path = old.with_suffix(".scores.npy")
    content, scores = path.read_bytes(), np.load(path)
    for changed, words in (
        (np.full(len(scores), np.nan), "NaN"),
        (scores.astype(">f8"), "must hold a list of scores"),
        (scores.astype(int), "must hold a list of scores"),
        (scores[None], "must hold a list of scores"),
        (scores[:-1], "not those of 7 positives"),
        (scores + 1, "the certificate says"),
    ):
        np.save(path, changed)
        assert words in te.verify(old).differences[0].sentence
    for cut in (0, 1, 60, 127, 128, 136, -1):
        path.write_bytes(content[:cut])
        assert "is damaged" in te.verify(old).differences[0].sentence
    path.write_bytes(content + b"more")
    assert "something follows" in te.verify(old).differences[0].sentence
    path.write_bytes(npy((1 << 50,)))
    with memory_below(5e6):
        assert "is damaged" in te.verify(old).differences[0].sentence
    path.unlink()
    assert "there is no such file" in te.verify(old).differences[0].sentence


# The scores of a certificate as a file of scores


def test_the_scores_of_another_task_are_refused_by_their_number(whole: Path, tmp_path: Path) -> None:
    task = te.task("karate", "existing")
    assert (
        task.evaluate(whole / "shared.scores.npz") == te.verify(whole / "shared.json").certificate["metrics"]
    )
    scores = arrays_of(whole / "shared.scores.npz")
    # As many numbers in all, divided in another way.
    flat = np.concatenate(list(scores.values()))
    np.savez(tmp_path / "other.npz", positive=flat[:6], negative=flat[6:])
    with pytest.raises(
        InputError, match=r"other\.npz holds scores of 6 positives, but the test part .* has 7"
    ):
        task.evaluate(tmp_path / "other.npz")
    np.savez(tmp_path / "holes.npz", positive=flat[:7], negative=np.full(7, np.nan))
    with pytest.raises(InputError, match=r"7 of 7 negative scores in holes\.npz are NaN"):
        task.evaluate(tmp_path / "holes.npz")
    np.savez(tmp_path / "rows.npz", positive=flat[:7], negative=np.zeros((6, 2)))
    with pytest.raises(InputError, match="7 positive scores, but negative scores for 6"):
        task.evaluate(tmp_path / "rows.npz")
