"""Tasks of triples: filtered ranks, the forms of scorers, saved tasks, certificates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from triples_twin import inductive_task, random_task, twin

import trueedge as te
from trueedge.errors import InputError
from trueedge.splits import TripleSplit
from trueedge.tasks import TripleTask, load
from trueedge.tasks.query_properties import relation_categories

SHAPE = (12, 3, 12)


def table_of_scores(seed: int, shape=SHAPE, values: int = 6) -> np.ndarray:
    """The score of every triple, of few values, so that there are ties."""
    return np.random.default_rng(seed).integers(0, values, size=shape).astype(np.float64)


class Sides:
    """A scorer with a method for either side."""

    def __init__(self, scores: np.ndarray) -> None:
        self.scores, self.asked = scores, 0

    def score_tails(self, heads, relations):
        self.asked += len(heads)
        return self.scores[heads, relations]

    def score_heads(self, tails, relations):
        self.asked += len(tails)
        return self.scores[:, relations, tails].T


def same_ranks(scores, expected) -> None:
    for name, values in expected.items():
        assert getattr(scores, name).tolist() == values, name


@given(
    seed=st.integers(0, 10**6),
    part=st.sampled_from(["valid", "test"]),
    sides=st.sampled_from(["both", "tail", "head"]),
    values=st.integers(1, 50),
)
@settings(max_examples=30, deadline=None)
def test_ranks_equal_those_of_plain_loops(seed: int, part: str, sides: str, values: int) -> None:
    task, scores = random_task(seed, sides=sides), table_of_scores(seed, values=values)
    expected = twin(task, part, lambda *triple: scores[triple])
    same_ranks(task.scores(Sides(scores), part), expected)


@given(seed=st.integers(0, 10**6), filter=st.sampled_from(["all", "facts"]))
@settings(max_examples=15, deadline=None)
def test_inductive_ranks_equal_those_of_plain_loops(seed: int, filter: str) -> None:
    task = inductive_task(seed, filter=filter)
    for part, entities in (("valid", 12), ("test", 10)):
        scores = table_of_scores(seed, (entities, 3, entities))
        same_ranks(task.scores(Sides(scores), part), twin(task, part, lambda *one, s=scores: s[one]))


def test_equal_queries_are_asked_once() -> None:
    task, scorer = random_task(relations=1), Sides(table_of_scores(0, (12, 1, 12)))
    task.scores(scorer)
    queries = task.queries()
    assert len(np.unique(queries, axis=0)) < len(queries)
    assert scorer.asked == len(np.unique(queries, axis=0))


def test_all_forms_of_a_scorer_get_the_same_ranks() -> None:
    torch = pytest.importorskip("torch")
    task, scores = random_task(), table_of_scores(3)

    def of_both(heads, relations):
        relations, inverse = relations % 3, relations >= 3
        return np.where(inverse[:, None], scores[:, relations, heads].T, scores[heads, relations])

    class Candidates:
        def score_candidates(self, queries):
            return of_both(queries[:, 0], queries[:, 1])

    class Triples:
        def score_triples(self, triples):
            return scores[tuple(triples.T)]

    class Module(torch.nn.Module):
        def forward(self, heads, relations):
            return torch.from_numpy(of_both(heads.numpy(), relations.numpy()))

    class OfTriples(torch.nn.Module):
        def forward(self, triples):
            return torch.from_numpy(scores[tuple(triples.numpy().T)])

    queries = task.queries()
    forms = [
        of_both,
        lambda triples: scores[tuple(triples.T)],
        Candidates(),
        Triples(),
        Module(),
        OfTriples(),
        of_both(queries[:, 0], queries[:, 1]),
        torch.from_numpy(of_both(queries[:, 0], queries[:, 1])),
    ]
    expected = twin(task, "test", lambda *triple: scores[triple])
    for form in forms:
        same_ranks(task.scores(form), expected)


@pytest.mark.parametrize("function", ["distmult", "complex", "transe", "transe-l2", "rotate"])
def test_embeddings_score_as_their_formula(function: str) -> None:
    task, rng = random_task(1), np.random.default_rng(1)
    entities = rng.normal(size=(12, 8))
    relations = rng.normal(size=(3, 4 if function == "rotate" else 8))
    turned = entities[:, :4] + 1j * entities[:, 4:]

    def score(head, relation, tail):
        h, t, r = entities[head], entities[tail], relations[relation]
        if function == "distmult":
            return round(float((h * r * t).sum()), 9)
        if function == "complex":
            return round(float((turned[head] * (r[:4] + 1j * r[4:]) * turned[tail].conj()).sum().real), 9)
        if function == "rotate":
            return round(-float(np.abs(turned[head] * np.exp(1j * r) - turned[tail]).sum()), 9)
        gap = h + r - t
        return round(-float(np.abs(gap).sum() if function == "transe" else np.sqrt((gap**2).sum())), 9)

    same_ranks(task.scores(te.TripleEmbeddings(function, entities, relations)), twin(task, "test", score))


def test_embeddings_of_twice_the_relations_score_heads_by_the_inverse_ones() -> None:
    task, rng = random_task(2), np.random.default_rng(2)
    entities, relations = rng.normal(size=(12, 4)), rng.normal(size=(6, 4))
    heads = np.einsum("nd,rd,md->rnm", entities, relations[3:], entities)
    found = task.scores(te.TripleEmbeddings("distmult", entities, relations))
    ours = found.answer[len(task.parts["test"]) :]
    h, r, t = task.parts["test"].T
    np.testing.assert_allclose(ours, heads[r, t, h])


@pytest.mark.parametrize(
    ("scorer", "sentence"),
    [
        (lambda heads, relations: np.zeros((len(heads), 11)), r"must score 12 entities .* \(\d+, 11\)"),
        (lambda heads, relations: np.zeros(len(heads)), r"must score 12 entities"),
        (lambda triples: np.zeros((len(triples), 1)), r"must answer \d+ triples with shape"),
        (lambda heads, relations: np.full((len(heads), 12), np.nan), "are NaN"),
        (lambda heads, relations: np.full((len(heads), 12), np.inf), "infinite"),
        (lambda heads, relations: np.full((len(heads), 12), "a"), "real numbers|not numbers"),
        (lambda heads, relations: np.ones((3, 12))[relations], r"no inverse relations.*score_heads"),
        (lambda a, b, c: None, "takes 3 arguments"),
        (np.zeros((3, 12)), r"must have the shape \(queries, entities\)"),
        (3, "a scorer of triples is"),
        (Sides, "is a class"),
        (te.TripleEmbeddings("distmult", np.ones((12, 2)), np.ones((4, 2))), "embeddings of 4"),
    ],
)
def test_a_scorer_that_does_not_fit_gets_one_sentence(scorer, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as refused:
        random_task().evaluate(scorer)
    assert "\n" not in str(refused.value)


def test_embeddings_of_too_few_entities_are_refused_by_their_number() -> None:
    with pytest.raises(InputError, match="there are 12 entities, but embeddings of 11"):
        random_task().evaluate(te.TripleEmbeddings("distmult", np.ones((11, 2)), np.ones((3, 2))))


def test_constant_scores_have_the_mean_rank_and_a_warning() -> None:
    task = random_task()
    with pytest.warns(te.errors.ScoreWarning, match="all entities have the same score"):
        found = task.evaluate(lambda heads, relations: np.zeros((len(heads), 12)))
    assert found["adjusted-mrr"] < 0.1
    assert found["amri"] == pytest.approx(0.0)
    assert found["mrr.optimistic"] == 1.0


@pytest.mark.parametrize("make", [random_task, inductive_task])
def test_a_saved_task_is_the_same_after_loading(make, tmp_path) -> None:
    task = make()
    read = load(task.save(tmp_path / "task"))
    assert read.hash == task.hash
    assert read.hashes == task.hashes
    for part in task.part_names:
        np.testing.assert_array_equal(read.queries(part), task.queries(part))
        np.testing.assert_array_equal(read.truth(part)["negatives"], task.truth(part)["negatives"])
    assert read.graph_for("test").entities == task.graph_for("test").entities


@pytest.mark.parametrize("make", [random_task, inductive_task])
def test_an_altered_saved_task_is_refused(make, tmp_path) -> None:
    folder = make().save(tmp_path / "task")
    for path in sorted(folder.rglob("*.npy")):
        kept = path.read_bytes()
        array = np.load(path)
        if not array.size:
            continue
        array.flat[-1] = 0 if array.flat[-1] else 1
        np.save(path, array)
        with pytest.raises(InputError):
            load(folder)
        path.write_bytes(kept)
    card = folder / "graph" / "graph.json"
    card.write_text(card.read_text().replace('"1"', '"one"', 1))
    with pytest.raises(InputError):
        load(folder)


def test_the_task_without_its_test_part_hides_all_of_it() -> None:
    fitting = inductive_task().for_fitting()
    assert fitting.part_names == ("valid",)
    assert fitting.test_graph is None
    assert not len(fitting.known)
    with pytest.raises(InputError, match="withheld"):
        fitting.queries("test")
    with pytest.raises(InputError, match="withheld"):
        fitting.targets("test")


def test_every_query_has_its_properties() -> None:
    task = te.task("umls")
    found = task.properties()
    assert {len(values) for values in found.values()} == {len(task.queries())}
    assert sorted(set(found["side"])) == ["head", "tail"]
    half = len(task.parts["test"])
    np.testing.assert_array_equal(found["relation"][:half], found["relation"][half:])
    head, relation, tail = task.parts["test"][7]
    train = task.graph.triples
    same = train[(train[:, 1] == relation) & (train[:, 2] == tail)]
    assert task.degrees("test")[7] == len(same)
    same = train[(train[:, 1] == relation) & (train[:, 0] == head)]
    assert task.degrees("test")[7 + half] == len(same)
    assert found["in-degree of the answer"][7] == (train[:, 2] == tail).sum()
    assert found["out-degree of the answer"][7] == (train[:, 0] == tail).sum()
    assert found["in-degree of the answer"][7 + half] == (train[:, 0] == head).sum()


def test_relation_categories_count_heads_and_tails() -> None:
    triples = [(0, 0, 1), (2, 0, 3)]
    triples += [(0, 1, 1), (0, 1, 2), (0, 1, 3)]
    triples += [(1, 2, 0), (2, 2, 0)]
    triples += [(a, 3, b) for a in (0, 1) for b in (2, 3)]
    graph = te.KnowledgeGraph.from_triples(triples)
    assert relation_categories(graph).tolist() == ["1-1", "1-N", "N-1", "N-N"]


@pytest.mark.parametrize("protocol", ["filtered", "inductive"])
def test_a_record_of_triples_is_certified_verified_reported_and_exported(
    protocol: str, trueedge, tmp_path: Path
) -> None:
    data = "nations" if protocol == "filtered" else str(_inductive_folder(tmp_path))
    jobs = "1" if protocol == "filtered" else "2"
    kept = ("-m", "relation-frequency", "--keep-scores", "--jobs", jobs, "--seeds", "2")
    status, out, err = trueedge("run", data, "-p", protocol, *kept)
    assert status == 0, err
    assert "relation-frequency" in out
    assert "entity-degree" in out
    status, _, err = trueedge("certify", "-m", "relation-frequency", "--seed", "1", "-o", "one.json")
    assert status == 0, err
    assert trueedge("verify", "one.json")[0] == 0
    status, out, err = trueedge("verify", "one.json", "--task", data)
    assert status == 0, out + err
    status, out, err = trueedge("verify", "one.json", "--task", data, "--rerun")
    assert status == 0, out + err
    status, _, err = trueedge("report", "-o", "page.html")
    assert status == 0, err
    page = (tmp_path / "page.html").read_text()
    # Groups need the task again, which only a named data set gives.
    if protocol == "filtered":
        assert all(name in page for name in ("relation category", "tail-relation degree"))
    assert trueedge("export", "all.csv")[0] == 0


def _inductive_folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for folder, letter in (("mine", "a"), ("mine_ind", "b")):
        place = tmp_path / folder
        place.mkdir()
        triples = rng.permutation(
            [f"{letter}{h}\tr{r}\t{letter}{t}" for h in range(9) for t in range(9) for r in range(2)]
        )
        for part, lines in zip(("train", "valid", "test"), np.split(triples, [100, 130]), strict=True):
            (place / f"{part}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path / "mine"


def test_a_certificate_with_other_degrees_or_candidates_is_refused(trueedge, tmp_path: Path) -> None:
    trueedge("run", "nations", "-m", "entity-degree", "--keep-scores")
    trueedge("certify", "-m", "entity-degree", "-o", "one.json")
    with np.load(tmp_path / "one.scores.npz") as file:
        arrays = dict(file)
    (name,) = [one for one in arrays if one.endswith("negatives")]
    arrays[name] = arrays[name] + 1
    np.savez(tmp_path / "one.scores.npz", **arrays)
    status, out, _ = trueedge("verify", "one.json", "--task", "nations")
    assert status == 1
    assert "the numbers of candidates in the scores are not those of the task" in out


def test_known_answers_of_a_withheld_part_are_withheld() -> None:
    task = te.task("nations")
    with pytest.raises(InputError, match="withheld"):
        task.for_fitting().known_answers("test")
    with pytest.raises(InputError, match="no part is called 'tset'"):
        task.known_answers("tset")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"test": [(0, 3, 1)]}, "test triples, row 0: the relation is 3, it must be from 0 to 2"),
        ({"test": [(0, 0, 1), (-1, 0, 1)]}, "test triples, row 1: the head is -1"),
        ({"valid": [(0, 0, 12)]}, "valid triples, row 0: the tail is 12, it must be from 0 to 11"),
        ({"test": [(0.5, 0, 1)]}, "test triples, row 0: the head is 0.5, not a whole number"),
        ({"test": [(0, 0)]}, r"test triples must have the shape \(m, 3\)"),
        ({"test": []}, "the split has no test triples"),
        ({"test": [(0, 0, 1), (2, 0, 1), (0, 0, 1)]}, "test triples, row 2: the triple occurs again"),
        ({"known": [(0, 9, 0)]}, "known triples, row 0: the relation is 9"),
        ({"facts": te.KnowledgeGraph.from_triples([("x", "new", "y")])}, "must have the relations of random"),
        (
            {"facts": te.KnowledgeGraph.from_triples([(0, 2, 1)], entities=["a\nb", "c"])},
            r"the name 'a\\nb' has a line break or is not text",
        ),
        (
            {"facts": te.KnowledgeGraph.from_triples([(0, 2, 1)], entities=["a\ud800", "c"])},
            "has a line break or is not text",
        ),
    ],
)
def test_a_split_that_does_not_fit_its_graph_gets_one_sentence(changes, sentence: str) -> None:
    graph = random_task().graph
    arrays = {"valid": np.array([(0, 0, 1)]), "test": np.array([(1, 0, 1)]), **changes}
    split = TripleSplit(**{"train": graph, "name": "mine", **{k: _as_array(v) for k, v in arrays.items()}})
    with pytest.raises(InputError, match=sentence):
        TripleTask.from_split(split, overlaps=True)


def _as_array(value):
    return np.array(value) if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"test": np.empty((0, 3), dtype=np.int32)}, "there are no test triples"),
        ({"valid": np.empty((0, 3), dtype=np.int32)}, "there are no valid triples"),
    ],
)
def test_a_saved_task_without_triples_is_refused(parts, sentence: str, tmp_path) -> None:
    task = random_task()
    folder = replace(task, parts={**task.parts, **parts}).save(tmp_path / "task")
    with pytest.raises(InputError, match=sentence):
        load(folder)


def test_a_saved_task_of_one_entity_is_refused(tmp_path) -> None:
    graph = te.KnowledgeGraph.from_triples([("a", "r", "a")])
    one = np.zeros((1, 3), dtype=np.int32)
    folder = replace(random_task(), graph=graph, parts={"test": one}).save(tmp_path / "task")
    with pytest.raises(InputError, match="has one entity"):
        load(folder)
