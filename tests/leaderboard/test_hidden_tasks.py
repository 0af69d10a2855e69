"""Hidden tasks: nothing that is published tells a label, and released labels can be checked."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge import metrics
from trueedge.errors import InputError
from trueedge.graph import pair_keys
from trueedge.leaderboard.hidden.deriving import without_hints
from trueedge.leaderboard.hidden.keyed import keyed_numbers, keyed_order, keyed_share
from trueedge.leaderboard.hidden.making import hide, listed
from trueedge.leaderboard.hidden.public_folder import HiddenTask, read_submission
from trueedge.leaderboard.hidden.secret_folder import GROUPS, Secret, values_of_auc
from trueedge.methods import get as get_method

KEY = bytes(range(32))
CORA = partial(te.task, "cora", "uniform")
small_hide = partial(hide, least_units=100)


def _as_drawn(task: te.Task) -> Callable[[int], te.Task]:
    """Return what gives a fixed task out as one that a secret seed has drawn."""
    return lambda seed: replace(task, seed=seed, dataset="mine")


def _own_triples(seed: int) -> te.Task:
    known = te.datasets.load("umls")
    return te.task(replace(known, name="mine"), "filtered", seed)


@pytest.fixture(scope="module")
def hidden(tmp_path_factory) -> tuple[HiddenTask, Secret]:
    folder = tmp_path_factory.mktemp("hidden")
    found = small_hide(CORA, folder / "public", folder / "secret", closes="2999-01-31")
    return found, Secret.open(folder / "secret")


def mean(secret: Secret, submission: np.ndarray) -> float:
    return metrics.get(secret.card.metric).value(secret.scores_of(submission))


def test_a_submission_scores_as_the_task_itself_does(hidden) -> None:
    public, secret = hidden
    scorer = get_method("ra")().fit(secret.task)
    submission = public.scores(get_method("ra")().fit(public.task))
    expected = secret.task.evaluate(scorer)["auc"]
    assert mean(secret, submission) == pytest.approx(expected, abs=1e-12)


def test_candidates_are_distinct_and_have_the_smaller_node_first(hidden) -> None:
    public, _ = hidden
    candidates = public.candidates
    assert (candidates[:, 0] < candidates[:, 1]).all()
    assert len(np.unique(candidates, axis=0)) == len(candidates)


def test_position_and_node_numbers_do_not_tell_a_positive(hidden) -> None:
    public, secret = hidden
    candidates = public.candidates
    positives = len(secret.task.test.positives)
    truth = np.zeros(len(candidates), dtype=bool)
    truth[secret.places[:positives]] = True
    for guess in (np.arange(len(candidates)), np.sin(np.arange(len(candidates)))):
        auc = metrics.evaluate(guess[truth].astype(float), guess[~truth].astype(float), ["auc"])["auc"]
        # Five standard errors of an AUC of so many against so many.
        assert abs(auc - 0.5) < 5 * np.sqrt(1 / 6 / positives)


def test_nothing_in_the_public_folder_depends_on_labels_but_the_salted_hash(tmp_path: Path) -> None:
    task = te.task("cora", "uniform", 0)
    small_hide(_as_drawn(task), tmp_path / "a", tmp_path / "a-secret", key=KEY)
    # Positives and negatives change places: the same candidates with the opposite labels.
    part = type(task.test)(task.test.negatives, task.test.positives)
    turned = type(task).from_arrays(
        {**task.arrays(), "test_positives": part.positives, "test_negatives": part.negatives},
        graph=task.graph,
        dataset=task.dataset,
        protocol=task.protocol,
        seed=task.seed,
        metrics=task.metrics,
        headline=task.headline,
        settings=task.settings,
    )
    small_hide(_as_drawn(turned), tmp_path / "b", tmp_path / "b-secret", key=KEY)
    first = {
        path.relative_to(tmp_path / "a"): path.read_bytes()
        for path in (tmp_path / "a").rglob("*")
        if path.is_file()
    }
    for name, content in first.items():
        other = (tmp_path / "b" / name).read_bytes()
        if name.name == "hidden.json":
            mine, theirs = json.loads(content), json.loads(other)
            assert mine.pop("labels") != theirs.pop("labels")
            assert mine == theirs
        else:
            assert content == other, name


def test_the_labels_hash_is_salted_and_can_be_computed_again(hidden) -> None:
    public, secret = hidden
    text = f"{secret.task.hash} {public.card.candidates} {secret.places.shape}".encode()
    labels = np.ascontiguousarray(secret.places, dtype="<i8").tobytes()
    assert hashlib.sha256(secret.salt + text + labels).hexdigest() == public.card.labels
    assert len(secret.salt) == 32
    assert hashlib.sha256(text + labels).hexdigest() != public.card.labels


def test_the_secret_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    small_hide(CORA, tmp_path / "public", tmp_path / "secret")
    for path in [tmp_path / "secret", *(tmp_path / "secret").rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_other_labels_than_the_published_ones_are_noticed(tmp_path: Path) -> None:
    small_hide(CORA, tmp_path / "public", tmp_path / "secret")
    places = np.load(tmp_path / "secret" / "places.npy")
    places[[0, 1600]] = places[[1600, 0]]
    np.save(tmp_path / "secret" / "places.npy", places)
    with pytest.raises(InputError, match="labels do not have the published hash"):
        Secret.open(tmp_path / "secret")


@pytest.mark.parametrize(
    "change", [{"metric": "ap"}, {"kind": "node"}, {"shape": [3]}, {"dataset": "x"}, {"protocol": "heart"}]
)
def test_a_card_of_another_task_is_noticed_before_anything_is_judged(tmp_path: Path, change) -> None:
    small_hide(CORA, tmp_path / "public", tmp_path / "secret")
    path = tmp_path / "secret" / "secret.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError, match=r"secret is damaged: secret\.json is not the card of its task"):
        Secret.open(tmp_path / "secret")


@pytest.mark.parametrize("kind", ["U4", "c16", "f8"])
def test_places_that_are_no_numbers_of_candidates_are_refused(tmp_path: Path, kind: str) -> None:
    small_hide(CORA, tmp_path / "public", tmp_path / "secret")
    path = tmp_path / "secret" / "places.npy"
    np.save(path, np.load(path).astype(kind))
    with pytest.raises(InputError, match=r"places\.npy does not hold the places of questions"):
        Secret.open(tmp_path / "secret")
    np.save(tmp_path / "public" / "candidates.npy", np.int64(3))
    with pytest.raises(InputError, match="does not hold 2534 candidates"):
        HiddenTask.open(tmp_path / "public")


def test_changed_candidates_are_noticed(tmp_path: Path) -> None:
    small_hide(CORA, tmp_path / "public", tmp_path / "secret")
    path = tmp_path / "public" / "candidates.npy"
    np.save(path, np.load(path)[::-1])
    with pytest.raises(InputError, match="candidates do not have the published hash"):
        HiddenTask.open(tmp_path / "public")


@pytest.fixture(scope="module")
def heart():
    return te.task("cora", "heart", 0, k=40, heuristics=("ra",))


def test_the_two_halves_of_a_hard_list_do_not_meet_in_its_positive(heart) -> None:
    """HeaRT's positive is the pair whose two nodes are both in many candidates; one end alone is not."""
    task = heart
    judged = without_hints(task, KEY)

    def auc_of_counts(given) -> float:
        candidates, places = listed(given, KEY)
        counts = np.bincount(candidates.reshape(-1), minlength=given.num_nodes)
        guess = np.minimum(*counts[candidates].T).astype(float)
        return metrics.evaluate(*_divided(given, guess[places]), ["auc"])["auc"]

    assert auc_of_counts(task) > 0.7
    assert auc_of_counts(judged) < 0.6


def test_a_positive_is_not_the_one_pair_that_the_sampler_would_not_choose(heart) -> None:
    task = heart
    judged = without_hints(task, KEY)
    # Whoever has the training graph can draw HeaRT's negatives again.
    recomputed = np.unique(pair_keys(task.test.negatives.reshape(-1, 2).astype(np.int64), task.num_nodes))

    def mrr_of_strangers(given) -> float:
        pairs = pair_keys(given.pairs("test"), given.num_nodes)
        guess = (~np.isin(pairs, recomputed)).astype(float)
        return metrics.evaluate(*_divided(given, guess), ["mrr"])["mrr"]

    assert mrr_of_strangers(task) > 0.7
    # One of the eleven pairs outside of the sampler's choice, at random.
    assert mrr_of_strangers(judged) < 2.5 / (1 + judged.test.negatives.shape[1] / 2)


def _divided(task, scores):
    positive, negative = task.scores_of("test", scores)
    return positive, negative


def test_a_positive_at_one_end_keeps_only_negatives_of_that_end(heart) -> None:
    judged = without_hints(heart, KEY)
    positives, negatives = judged.test.positives, judged.test.negatives
    assert negatives.shape == (len(positives), 20, 2)
    shared = [(negatives == positives[:, None, end, None]).any(axis=2).all(axis=1) for end in (0, 1)]
    assert (shared[0] | shared[1]).all()
    assert min(one.mean() for one in shared) > 0.4
    known = pair_keys(
        np.concatenate([judged.graph.edges, positives, judged.valid.positives]).astype(np.int64),
        judged.num_nodes,
    )
    drawn = negatives[:, 10:].reshape(-1, 2).astype(np.int64)
    assert not np.isin(pair_keys(drawn, judged.num_nodes), known).any()
    assert all(len(np.unique(np.sort(row, axis=1), axis=0)) == 20 for row in negatives)


def test_published_validation_negatives_may_be_test_positives(tmp_path: Path, heart) -> None:
    """Otherwise a candidate that is also a validation negative would be known to be a negative."""
    public = small_hide(_as_drawn(heart), tmp_path / "public", tmp_path / "secret")
    assert public.task.part_names == ("valid",)
    split = te.splits.Split(
        public.task.graph, np.empty((0, 2), np.int32), public.task.valid.positives, "without the test part"
    )
    drawn = te.LinkTask.from_split(split, "uniform", 0, public.task.dataset)
    assert np.array_equal(drawn.test.negatives, public.task.valid.negatives)


def test_triples_are_asked_for_their_tails_alone(tmp_path: Path) -> None:
    public = small_hide(_own_triples, tmp_path / "public", tmp_path / "secret")
    secret = Secret.open(tmp_path / "secret")
    assert (public.candidates[:, 1] < public.task.num_relations).all()
    submission = public.scores(get_method("entity-degree")().fit(public.task))
    assert submission.shape == (len(public.candidates), public.task.num_entities)
    scorer = get_method("entity-degree")().fit(secret.task)
    assert mean(secret, submission) == pytest.approx(secret.task.evaluate(scorer)["mrr"])


def test_classes_of_nodes_can_be_hidden(tmp_path: Path) -> None:
    task = te.task(small_graph(authors=300))
    public = small_hide(_as_drawn(task), tmp_path / "public", tmp_path / "secret")
    secret = Secret.open(tmp_path / "secret")
    assert public.card.shape == (len(task.nodes["test"]), task.num_classes)
    truth = np.zeros(public.card.shape)
    truth[secret.places] = task.memberships("test")
    assert mean(secret, truth) == 1.0


def test_what_cannot_be_certified_cannot_be_hidden(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'recommend' cannot be hidden"):
        small_hide(partial(te.task, "cora", "recommendation"), tmp_path / "public", tmp_path / "secret")
    with pytest.raises(InputError, match="units: 1,000 are needed"):
        hide(partial(te.task, "karate", "uniform"), tmp_path / "public", tmp_path / "secret")
    with pytest.raises(InputError, match="in the mrr over shared negatives a few of these decide"):
        hide(partial(te.task, "cora", "existing"), tmp_path / "public", tmp_path / "secret")
    typed = partial(te.task, small_graph(authors=300), "typed-links")
    with pytest.raises(InputError, match="with negatives=two-hop: a candidate that is not two steps"):
        small_hide(typed, tmp_path / "public", tmp_path / "secret")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "said"),
    [({"public_share": 1.0}, "between 0 and 1"), ({"closes": "soon"}, "must be a day")],
)
def test_wrong_options_are_refused(tmp_path: Path, option, said) -> None:
    with pytest.raises(InputError, match=said):
        small_hide(CORA, tmp_path / "public", tmp_path / "secret", **option)


def test_labels_are_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    with pytest.raises(InputError, match="new folder"):
        small_hide(CORA, tmp_path / "public", tmp_path / "secret")


def test_the_auc_without_a_group_is_the_auc_of_the_others() -> None:
    rng = np.random.default_rng(0)
    positive, negative = rng.integers(0, 20, 70).astype(float), rng.integers(0, 18, 95).astype(float)
    found = values_of_auc(positive, negative)
    assert found.mean == pytest.approx(metrics.evaluate(positive, negative, ["auc"])["auc"])
    for group in (0, 7, GROUPS - 1):
        kept = np.delete(negative, np.s_[group::GROUPS])
        assert found.without[group] == pytest.approx(metrics.evaluate(positive, kept, ["auc"])["auc"])


def test_keyed_draws_depend_on_key_and_purpose() -> None:
    order = keyed_order(KEY, "a", 1000)
    assert sorted(order) == list(range(1000))
    assert np.array_equal(order, keyed_order(KEY, "a", 1000))
    assert not np.array_equal(order, keyed_order(KEY, "b", 1000))
    assert not np.array_equal(order, keyed_order(KEY[::-1], "a", 1000))
    assert keyed_share(KEY, "c", 1000, 300).sum() == 300
    assert np.array_equal(keyed_numbers(KEY, "d", 10)[:5], keyed_numbers(KEY, "d", 5))


SHAPE = (50,)


def _saved(path: Path, values) -> Path:
    np.save(path, values)
    return path


def test_a_submission_is_read_from_npy_and_npz(tmp_path: Path) -> None:
    values = np.linspace(-1, 1, 50)
    np.savez(tmp_path / "a.npz", scores=values)
    np.savez_compressed(tmp_path / "b.npz", scores=values)
    for path in (_saved(tmp_path / "d.npy", values), tmp_path / "a.npz", tmp_path / "b.npz"):
        assert np.array_equal(read_submission(path, SHAPE), values)
    single = values.astype(np.float32)
    assert np.array_equal(read_submission(_saved(tmp_path / "e.npy", single), SHAPE), single)


def test_raw_numbers_are_refused_since_half_as_many_doubles_would_be_read_as_singles(tmp_path: Path) -> None:
    for values in (np.zeros(25), np.zeros(50), np.zeros(50, np.float32)):
        values.tofile(tmp_path / "raw")
        with pytest.raises(InputError, match=r"neither a \.npy nor a \.npz file: write it with numpy\.save"):
            read_submission(tmp_path / "raw", SHAPE)


def _pickled(path: Path) -> None:
    np.save(path.with_suffix(".npy"), np.array([{}, print], dtype=object), allow_pickle=True)
    path.with_suffix(".npy").rename(path)


def _lying(path: Path) -> None:
    path.write_bytes(_saved(path.with_suffix(".npy"), np.zeros(50)).read_bytes().replace(b"(50,)", b"(90,)"))


def _bomb(path: Path) -> None:
    np.savez_compressed(path.with_suffix(".npz"), scores=np.zeros(10_000_000))
    path.with_suffix(".npz").rename(path)


def _two(path: Path) -> None:
    np.savez(path.with_suffix(".npz"), a=np.zeros(50), b=np.zeros(0))
    path.with_suffix(".npz").rename(path)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda path: np.zeros(49).tofile(path), "neither a .npy nor a .npz file"),
        (lambda path: path.write_bytes(b""), "neither"),
        (lambda path: _saved(path.with_suffix(".npy"), np.zeros((50, 1))).rename(path), r"shape \(50, 1\)"),
        (lambda path: _saved(path.with_suffix(".npy"), np.zeros(50, int)).rename(path), "float32 or float64"),
        (
            lambda path: _saved(path.with_suffix(".npy"), np.zeros(50, complex)).rename(path),
            "float32 or float64",
        ),
        (
            lambda path: _saved(path.with_suffix(".npy"), np.full(50, np.nan)).rename(path),
            "50 of 50 numbers are NaN or infinite",
        ),
        (lambda path: _saved(path.with_suffix(".npy"), np.full(50, np.inf)).rename(path), "NaN or infinite"),
        (
            lambda path: _saved(path.with_suffix(".npy"), np.zeros(50, np.float16)).rename(path),
            "must hold float32 or float64 numbers, not float16",
        ),
        (_pickled, "objects"),
        (_lying, "damaged"),
        (_bomb, "unpacks to"),
        (_two, "2 arrays"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(500)), "damaged archive"),
        (lambda path: path.write_bytes(b"\x1f\x8b" + bytes(300)), "neither"),
        (
            lambda path: _saved(path.with_suffix(".npy"), np.zeros(5000)).rename(path),
            "more than 50 numbers take",
        ),
    ],
)
def test_anything_but_one_finite_float_for_each_candidate_is_refused(tmp_path: Path, write, said) -> None:
    write(tmp_path / "scores")
    with pytest.raises(InputError, match=said):
        read_submission(tmp_path / "scores", SHAPE)
