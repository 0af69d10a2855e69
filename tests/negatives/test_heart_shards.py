"""HeaRT negatives in shards: the very same as in memory, whatever happens on the way."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forged_files import CARDS, FORGED, memory_below
from trueedge import datasets
from trueedge.errors import InputError
from trueedge.kernels.negatives import hard_candidates as kernel
from trueedge.negatives import sharded
from trueedge.negatives.heart import heart
from trueedge.negatives.heart_shards import heart_shards
from trueedge.negatives.shard_files import claimed, draft_of
from trueedge.negatives.sharded import open_shards

OPTIONS = {"k": 8, "eps": 1e-4, "ends_per_shard": 5}


@pytest.fixture
def graph(random_graph):
    return random_graph(3, nodes=80, edges=200, features=6)


@pytest.fixture
def positives():
    pairs = np.random.default_rng(4).integers(0, 80, size=(40, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]]


@pytest.fixture
def filled(graph, positives, tmp_path):
    heart_shards(graph, positives, tmp_path / "negatives", **OPTIONS)
    return tmp_path / "negatives"


def in_memory(graph, positives, **changes):
    options = {key: value for key, value in (OPTIONS | changes).items() if key != "ends_per_shard"}
    return heart(graph, positives, **options)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"ties": "released"},
        {"heuristics": ("cn", "features")},
        {"known": [[0, 1], [1, 2], [5, 79], [5, 79], [3, 3]]},
        {"keep_known": True},
        {"seed": 7, "heuristics": ["ra"], "k": 60},
        {"alpha": 0.5, "eps": 1e-2},
        {"ends_per_shard": 1},
        {"ends_per_shard": 1000},
    ],
)
def test_shards_hold_what_is_made_in_memory(graph, positives, tmp_path, changes):
    options = OPTIONS | changes
    negatives = heart_shards(graph, positives, tmp_path / "negatives", **options)
    expected = in_memory(graph, positives, **changes)
    for found in (negatives.assemble(), np.asarray(negatives), open_shards(negatives.folder).assemble()):
        assert found.dtype == negatives.dtype == np.int32
        assert found.shape == expected.shape == negatives.shape
        assert (found == expected).all()
    assert negatives.num_shards == -(-len(np.unique(positives)) // options["ends_per_shard"])
    assert len(list(negatives.folder.glob("*"))) == negatives.num_shards + 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    graph = datasets.erdos_renyi(80, 200)
    asked = graph.edges[::5]
    folder = tmp_path_factory.mktemp("whole") / "negatives"
    return heart_shards(graph, asked, folder, **OPTIONS), in_memory(graph, asked)


@settings(max_examples=100, deadline=None)
@given(index=st.slices(40) | st.integers(-40, 39) | st.lists(st.integers(-40, 39), max_size=9).map(np.intp))
def test_any_part_is_that_part_of_the_whole(whole, index):
    negatives, expected = whole
    assert len(negatives) == len(expected) == 40
    assert negatives[index].shape == expected[index].shape
    assert (negatives[index] == expected[index]).all()


def test_masks_iteration_and_numbers_out_of_range_are_as_in_an_array(whole):
    negatives, expected = whole
    mask = expected[:, 0, 0] % 2 == 0
    assert (negatives[mask] == expected[mask]).all()
    assert (np.stack(list(negatives)) == expected).all()
    with pytest.raises(IndexError):
        negatives[40]


def test_the_whole_can_be_written_into_a_given_array(whole, monkeypatch):
    negatives, expected = whole
    monkeypatch.setattr(sharded, "POSITIVES_PER_BLOCK", 7)
    out = np.zeros_like(expected)
    assert negatives.assemble(out) is out
    assert (out == expected).all()
    with pytest.raises(InputError, match=r"out must be an int32 array of shape \(40, 8, 2\), got int64"):
        negatives.assemble(np.zeros(expected.shape, dtype=np.int64))
    with pytest.raises(ValueError, match="without a copy"):
        negatives.__array__(copy=False)


def test_more_shards_than_may_be_open_at_one_time_are_read_all_the_same(whole, monkeypatch):
    monkeypatch.setattr(sharded, "MAPS_AT_ONCE", 2)
    again = pickle.loads(pickle.dumps(whole[0]))
    assert again.num_shards > 2
    assert (again.assemble() == whole[1]).all()
    assert repr(again).endswith(f"(40, 8, 2), {again.num_shards} shards)")


def test_no_positives_make_no_shards(graph, tmp_path):
    negatives = heart_shards(graph, [], tmp_path, **OPTIONS)
    assert negatives.num_shards == 0
    assert negatives.assemble().shape == open_shards(tmp_path)[:].shape == (0, 8, 2)


def test_asking_again_makes_only_what_is_missing(graph, positives, filled, monkeypatch):
    before = bytes_of(filled)
    made = []
    real = kernel.corrupted_ends
    monkeypatch.setattr(kernel, "corrupted_ends", lambda *given: made.append(given[3]) or real(*given))
    heart_shards(graph, positives, filled, **OPTIONS)
    assert made == []
    (filled / "shard-00002.npy").unlink()
    (filled / "shard-00005.npy").unlink()
    heart_shards(graph, positives, filled, **OPTIONS)
    assert made == [10, 25]
    assert bytes_of(filled) == before


def test_progress_counts_all_end_nodes_up_also_those_done_before(graph, positives, filled):
    seen = []
    (filled / "shard-00003.npy").unlink()
    heart_shards(graph, positives, filled, **OPTIONS, progress=lambda *step: seen.append(step))
    total = len(np.unique(positives))
    assert seen == sorted(seen)
    assert {of for _, of in seen} == {total}
    assert seen[0] == (5, total)
    assert seen[-1] == (total, total)


def test_an_incomplete_folder_is_no_negatives_yet(filled):
    count = len(list(filled.glob("shard-*")))
    (filled / "shard-00004.npy").unlink()
    (filled / "shard-00001.npy").unlink()
    message = (
        f"is not complete: 2 of its {count} shards are missing, the first is shard-00001.npy; run the command"
    )
    with pytest.raises(InputError, match=message):
        open_shards(filled)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-60] ^= 1
    path.write_bytes(content)


DAMAGE = {
    "a flipped bit": (flip, "does not have the checksum"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-1]), "full length"),
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:150]), "not a whole .npy file"),
    "emptied": (lambda path: path.write_bytes(b""), "not a whole .npy file"),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"x"), "full length"),
    "another's": (lambda path: shutil.copy(path.with_name("shard-00003.npy"), path), "damaged"),
    "other numbers": (lambda path: np.save(path, np.zeros((3, 2))), "does not hold int32 numbers of shape"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_shard_is_named_and_made_again(graph, positives, filled, kind):
    damage, message = DAMAGE[kind]
    before = bytes_of(filled)
    damage(filled / "shard-00002.npy")
    assert bytes_of(filled) != before
    with pytest.raises(
        InputError, match=f"shard-00002.npy is damaged: .*{message}|shard-00002.npy is {message}"
    ):
        open_shards(filled)
    heart_shards(graph, positives, filled, **OPTIONS)
    assert bytes_of(filled) == before


def test_a_shard_of_the_same_shape_from_another_request_is_seen(graph, positives, filled, tmp_path):
    other = heart_shards(graph, positives, tmp_path / "other", **(OPTIONS | {"seed": 1}))
    shutil.copy(other.path(2), filled)
    # Nothing but the checksum tells: the shape is right.
    open_shards(filled, verify=False)
    with pytest.raises(InputError, match=r"shard-00002\.npy is damaged: .* checksum"):
        open_shards(filled)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 10}, "with k 8, not 10"),
        ({"eps": 1e-3}, "with eps 0.0001, not 0.001"),
        ({"alpha": 0.2}, "with alpha 0.15, not 0.2"),
        ({"seed": 1}, "with seed 0, not 1"),
        ({"ties": "released"}, "with ties 'paper', not 'released'"),
        ({"heuristics": ["ra"]}, r"with heuristics \['ppr', 'ra'\], not \['ra'\]"),
        ({"keep_known": True}, "with keep_known False, not True"),
        ({"known": [[0, 1]]}, "for other known edges"),
        ({"ends_per_shard": 6}, "with ends_per_shard 5, not 6"),
    ],
)
def test_a_folder_of_another_request_is_refused(graph, positives, filled, changes, message):
    before = bytes_of(filled)
    with pytest.raises(InputError, match=f"holds the negatives of another request: it was begun {message}"):
        heart_shards(graph, positives, filled, **(OPTIONS | changes))
    assert bytes_of(filled) == before


def test_a_folder_of_another_graph_or_of_other_positives_is_refused(graph, positives, filled, random_graph):
    with pytest.raises(InputError, match="it was begun for another graph"):
        heart_shards(graph.with_edges([[0, 79]]), positives, filled, **OPTIONS)
    with pytest.raises(InputError, match="it was begun for other positives"):
        heart_shards(graph, positives[::-1], filled, **OPTIONS)


def test_the_same_request_in_other_words_is_the_same(graph, positives, filled):
    again = OPTIONS | {"heuristics": ["ppr", "ra"], "known": np.empty((0, 2)), "seed": np.int64(0)}
    assert (heart_shards(graph, positives.tolist(), filled, **again)[:] == in_memory(graph, positives)).all()


def test_folders_of_other_things_are_left_alone(graph, positives, tmp_path):
    (tmp_path / "thesis.tex").write_text("do not touch")
    with pytest.raises(InputError, match=r"neither empty nor a folder of negatives: 'thesis\.tex' is in it"):
        heart_shards(graph, positives, tmp_path, **OPTIONS)
    with pytest.raises(InputError, match=r"thesis\.tex is a file, not a folder"):
        heart_shards(graph, positives, tmp_path / "thesis.tex", **OPTIONS)
    with pytest.raises(InputError, match=r"thesis\.tex/negatives cannot be written: "):
        heart_shards(graph, positives, tmp_path / "thesis.tex" / "negatives", **OPTIONS)
    with pytest.raises(InputError, match=r"holds no negatives in shards: it has no manifest\.json"):
        open_shards(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged: it is not JSON"),
        ("[]", "its manifest.json is something else"),
        ('{"format": "trueedge graph"}', "its manifest.json is something else"),
        (
            '{"format": "trueedge negatives in shards", "version": 2}',
            "has the format 2, this version reads 1",
        ),
        ('{"format": "trueedge negatives in shards", "version": 1}', "does not say what was asked for"),
        (
            '{"format": "trueedge negatives in shards", "version": 1, "request": {"k": "8"}}',
            "does not say what was asked for",
        ),
    ],
)
def test_a_damaged_card_is_named(filled, text, message):
    (filled / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=message):
        open_shards(filled)


def test_damaged_positives_are_named(filled):
    np.save(filled / "positives.npy", np.load(filled / "positives.npy")[::-1])
    with pytest.raises(InputError, match=r"positives\.npy is damaged: it does not hold the positives"):
        open_shards(filled)
    (filled / "positives.npy").write_bytes(b"")
    with pytest.raises(InputError, match=r"positives\.npy is missing or damaged"):
        open_shards(filled)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "many", None])
def test_a_wrong_size_of_shards_is_named(graph, positives, tmp_path, wrong):
    with pytest.raises(
        InputError, match="heart_shards: ends_per_shard must be a whole number, 1 or more, got"
    ):
        heart_shards(graph, positives, tmp_path, **(OPTIONS | {"ends_per_shard": wrong}))
    assert list(tmp_path.iterdir()) == []


def test_a_shard_that_another_is_at_is_waited_for_and_made_if_he_gives_up(graph, positives, filled, tmp_path):
    path = filled / "shard-00001.npy"
    path.unlink()
    before = bytes_of(filled)
    finished = threading.Event()

    def ask() -> None:
        heart_shards(graph, positives, filled, **OPTIONS)
        finished.set()

    with claimed(path) as file:
        assert file is not None
        file.write(b"half of it")
        other = threading.Thread(target=ask)
        other.start()
        assert not finished.wait(0.5)
        assert not path.exists()
    other.join(120)
    assert finished.is_set()
    assert bytes_of(filled).keys() == {*before, "shard-00001.npy"}
    assert (open_shards(filled)[:] == in_memory(graph, positives)).all()


def test_what_a_dead_run_left_half_written_is_written_anew(graph, positives, filled):
    before = bytes_of(filled)
    for number in (0, 4):
        path = filled / f"shard-{number:05d}.npy"
        draft_of(path).write_bytes(path.read_bytes()[:90] + b"?" * 500)
    path.unlink()
    heart_shards(graph, positives, filled, **OPTIONS)
    assert bytes_of(filled) == before


def run(tmp_path: Path, *words: str) -> dict:
    command = [sys.executable, str(Path(__file__).with_name("killed_runs.py")), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.rotating(2, group="kills")
def test_runs_killed_at_random_moments_end_with_the_same_bytes(tmp_path, thorough):
    count = 20 if thorough else 5
    happened = run(tmp_path, "random", str(tmp_path), "1", str(count))
    assert happened["killed"] == count
    assert happened["resumed"] >= count // 2


@pytest.mark.rotating(2, group="kills")
@pytest.mark.parametrize("moment", ["before fsync", "before replace", "after replace", "within write"])
def test_runs_killed_around_any_step_of_writing_a_file_end_with_the_same_bytes(tmp_path, moment):
    left = run(tmp_path, "pointed", str(tmp_path), moment)["left"]
    if moment == "before replace":
        assert left["before-replace-2"] == [".manifest.json.part", "positives.npy"]
    if moment == "within write":
        assert left["within-write-1"] == [".shard-00000.npy.part", "manifest.json", "positives.npy"]


@pytest.mark.rotating(2, group="kills")
def test_two_processes_share_the_work_and_one_finishes_alone_if_the_other_dies(tmp_path):
    happened = run(tmp_path, "shared", str(tmp_path))
    both, one_killed = (happened["made"][name] for name in ("both", "one killed"))
    for first, second in (both, one_killed):
        assert first
        assert second
        assert not set(first) & set(second)
    assert len(both[0] + both[1]) == happened["shards"] + 2
    # Who was killed may have had no time left to say what he did last.
    assert happened["shards"] + 2 - len(one_killed[0] + one_killed[1]) in (0, 1)


@pytest.mark.parametrize(("content", "sentence"), FORGED)
def test_forged_positives_are_refused_without_the_memory(filled, content, sentence):
    (filled / "positives.npy").write_bytes(content)
    said = rf"positives\.npy is missing or damaged \(it .*{sentence}"
    with memory_below(5e6), pytest.raises(InputError, match=said):
        open_shards(filled)


@pytest.mark.parametrize("content", [content for content, _ in FORGED])
def test_a_forged_shard_is_refused_without_the_memory(filled, content):
    (filled / "shard-00002.npy").write_bytes(content)
    with memory_below(5e6), pytest.raises(InputError, match=r"shard-00002\.npy is damaged: "):
        open_shards(filled)


@pytest.mark.parametrize(("content", "sentence"), CARDS, ids=["nested", "no text", "large"])
def test_a_forged_card_is_refused_without_the_memory(filled, content, sentence):
    (filled / "manifest.json").write_bytes(content)
    with memory_below(5e6), pytest.raises(InputError, match=rf"manifest\.json is damaged: it {sentence}"):
        open_shards(filled)
