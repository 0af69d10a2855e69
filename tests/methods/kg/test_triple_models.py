"""Every embedding model scores by its formula, learns a planted rule, and repeats itself."""

from __future__ import annotations

import functools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.errors import InputError, ScoreWarning  # noqa: E402
from trueedge.graph.knowledge import KnowledgeGraph  # noqa: E402
from trueedge.methods import catalogue, create, get  # noqa: E402
from trueedge.methods.kg.bias import BiasMethod  # noqa: E402
from trueedge.methods.kg.embedding import EmbeddingModel  # noqa: E402
from trueedge.splits.triples import TripleSplit  # noqa: E402
from trueedge.tasks.triples import TripleTask  # noqa: E402
from trueedge.training import Checkpoint, seeded, use_callbacks  # noqa: E402

MODELS = sorted(
    kind.name for kind in catalogue() if issubclass(kind, EmbeddingModel) and not issubclass(kind, BiasMethod)
)
SMALL = {"dim": 12, "epochs": 6, "evaluate_every": 2, "learning_rate": 0.01, "batch_size": 32}
QUICK = {
    "conve": {"height": 3, "filters": 2},
    "compgcn": {"height": 3, "filters": 2},
    "tucker": {"relation_dim": 4},
}
VARIANTS = {
    "transe": [{"norm": 2}, {"objective": "1-n"}],
    "rotate": [{"objective": "1-k"}],
    "compgcn": [
        {"composition": one, "decoder": decoder, "layers": 2}
        for one, decoder in (("sub", "distmult"), ("mult", "conve"), ("corr", "distmult"))
    ],
    "rgcn": [{"layers": 1, "bases": 2}],
    "conve": [{"unit_entities": True}],
    "tucker": [{"unit_entities": True, "bias": True}, {"core": "uniform"}],
}
CASES = [
    pytest.param(name, settings, id="-".join([name, *map(str, settings.values())]))
    for name in MODELS
    for settings in ({}, *VARIANTS.get(name, []))
]


@functools.cache
def task() -> TripleTask:
    """Entities 0 to 29 in three groups: relation 0 leads to the next of a group, 1 back, 2 to its group."""
    rows = []
    for entity in range(30):
        group = entity // 10
        for step in (1, 2, 3):
            other = group * 10 + (entity + step) % 10
            rows += [(entity, 0, other), (other, 1, entity)]
        rows.append((entity, 2, 30 + group))
    triples = np.random.default_rng(0).permutation(np.array(rows, dtype=np.int32))
    graph = KnowledgeGraph.from_triples(triples[:-40], 33, 3, name="groups")
    valid, test = triples[-40:-20], triples[-20:]
    return TripleTask.from_split(TripleSplit(graph, valid, test, "own"))


def made(name, **settings):
    return create(name, {**SMALL, **QUICK.get(name.partition("+")[0], {}), **settings})


def model_of(name, **settings):
    method = made(name, **settings).for_task(task())
    method.check()
    with seeded(1):
        model = method.build(task().graph)
        # Far from their first values, which are all alike in norms and biases.
        for parameter in model.parameters():
            parameter.data += 0.1 * torch.randn(parameter.shape)
        for buffer in (part for part in model.modules() if isinstance(part, torch.nn.BatchNorm1d)):
            buffer.running_mean.normal_()
            buffer.running_var.uniform_(0.5, 2)
    return model.double().eval()


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_scores_of_all_entities_are_those_of_each(name, settings):
    model = model_of(name, **settings)
    with torch.no_grad():
        tables = model.encode()
        query = model.query(torch.arange(7), torch.arange(7) % 6, tables)
        everything = model.score_all(query, tables)
        each = model.score_some(query, torch.arange(33).expand(7, 33), tables)
    torch.testing.assert_close(everything, each, rtol=1e-10, atol=1e-10)


def complex_parts(vectors):
    return vectors[:, : vectors.shape[1] // 2] + 1j * vectors[:, vectors.shape[1] // 2 :]


def normed(values, norm):
    mean, var = norm.running_mean.numpy(), norm.running_var.numpy()
    scale, shift = norm.weight.detach().numpy(), norm.bias.detach().numpy()
    if values.ndim == 4:
        mean, var, scale, shift = (one[:, None, None] for one in (mean, var, scale, shift))
    return (values - mean) / np.sqrt(var + norm.eps) * scale + shift


def conve_query(head, relation, part):
    image = np.concatenate([head.reshape(1, 1, *part.shape), relation.reshape(1, 1, *part.shape)], axis=2)
    image = normed(image, part.input_norm)[0, 0]
    weight, bias = (one.detach().numpy() for one in (part.convolution.weight, part.convolution.bias))
    rows, columns = image.shape[0] - 2, image.shape[1] - 2
    maps = np.zeros((1, len(weight), rows, columns))
    for f in range(len(weight)):
        for i in range(rows):
            for j in range(columns):
                maps[0, f, i, j] = (image[i : i + 3, j : j + 3] * weight[f, 0]).sum() + bias[f]
    maps = np.maximum(normed(maps, part.map_norm), 0)
    linear = part.linear.weight.detach().numpy() @ maps.ravel() + part.linear.bias.detach().numpy()
    return np.maximum(normed(linear[None], part.output_norm)[0], 0)


def formula(name, model, head, relation, tail):
    """The score of a triple in plain numpy, from the vectors that the model computes."""
    tables = model.encode()
    e, r = tables.entities.detach().numpy(), tables.relations.detach().numpy()
    h, q, t = e[[head]], r[[relation]], e[[tail]]
    bias = 0.0 if getattr(model, "bias", None) is None else float(model.bias[tail])
    if name in ("distmult", "rgcn"):
        return (h * q * t).sum() + bias
    if name == "complex":
        return np.real(complex_parts(h) * complex_parts(q) * complex_parts(t).conj()).sum()
    if name == "transe":
        return model.margin - np.linalg.norm((h + q - t)[0], ord=model.norm)
    if name == "rotate":
        return model.margin - np.abs(complex_parts(h) * np.exp(1j * q) - complex_parts(t)).sum()
    if name == "tucker":
        core = model.core.detach().numpy()
        x = normed(h, model.head_norm)[0]
        y = np.einsum("r,i,rij->j", q[0], x, core)
        return normed(y[None], model.query_norm)[0] @ t[0] + bias
    part = model.convolutional if name == "conve" else model.decoder
    made_query = (h * q)[0] if part is None else conve_query(h, q, part)
    return made_query @ t[0] + bias


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_scores_equal_the_formula_in_plain_numpy(name, settings):
    model = model_of(name, **settings)
    with torch.no_grad():
        tables = model.encode()
        heads, relations = torch.tensor([0, 5, 31, 9]), torch.tensor([0, 4, 5, 2])
        scores = model.score_all(model.query(heads, relations, tables), tables).numpy()
        for row, (head, relation) in enumerate(zip(heads.tolist(), relations.tolist(), strict=True)):
            for tail in (0, 7, 32):
                expected = formula(name, model, head, relation, tail)
                assert scores[row, tail] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_rgcn_states_equal_a_loop_over_triples():
    model = model_of("rgcn", layers=2, bases=2)
    rows = task().graph.both_directions.tolist()
    states = model.entities.detach().numpy()
    for number, layer in enumerate(model.layers):
        states = np.maximum(states, 0) if number else states
        matrices = np.einsum("rb,bij->rij", layer.coefficients.detach().numpy(), layer.bases.detach().numpy())
        new = states @ layer.own.weight.detach().numpy().T + layer.own.bias.detach().numpy()
        for h, r, t in rows:
            count = sum(r == r2 and t == t2 for _, r2, t2 in rows)
            new[t] += states[h] @ matrices[r] / count
        states = new
    np.testing.assert_allclose(model.encode().entities.detach().numpy(), states, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("composition", ["sub", "mult", "corr"])
def test_compgcn_states_equal_a_loop_over_triples(composition):
    model = model_of("compgcn", composition=composition, layers=2)
    rows = task().graph.both_directions.tolist()
    e, r = (table.detach().numpy() for table in (model.entities, model.relations))

    def composed(entity, relation):
        if composition == "corr":
            size = len(entity)
            return np.array(
                [sum(entity[i] * relation[(k + i) % size] for i in range(size)) for k in range(size)]
            )
        return entity - relation if composition == "sub" else entity * relation

    for layer in model.layers:
        weights = [part.detach().numpy() for part in (layer.forwards, layer.backwards, layer.own)]
        new = np.array([composed(one, layer.loop.detach().numpy()[0]) for one in e]) @ weights[2]
        for h, q, t in rows:
            same = [row for row in rows if (row[1] < 3) == (q < 3)]
            into, out = sum(row[2] == t for row in same), sum(row[0] == h for row in same)
            new[t] += composed(e[h], r[q]) @ weights[0 if q < 3 else 1] / np.sqrt(into * out)
        e, r = np.tanh(normed(new / 3, layer.norm)), r @ layer.of_relations.detach().numpy()
    tables = model.encode()
    np.testing.assert_allclose(tables.entities.detach().numpy(), e, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tables.relations.detach().numpy(), r, rtol=1e-6, atol=1e-7)


EPOCHS = {"tucker": 60, "rgcn": 60, "rotate": 60}
LEARNING = {
    "tucker": {"dropout_1": 0.0, "dropout_2": 0.0, "dropout_3": 0.1},
    "rotate": {"learning_rate": 0.05, "margin": 4.0},
    "transe": {"learning_rate": 0.05, "margin": 4.0},
    "conve": {"dim": 48, "height": 6, "filters": 8, "dropout_3": 0.1},
    "compgcn": {"decoder": "distmult"},
}
# Products of three vectors find an entity's group, but not the direction of a relation within it.
UNDIRECTED = ("distmult", "rgcn", "compgcn")


@pytest.mark.parametrize("name", MODELS)
def test_a_planted_rule_is_learned(name):
    settings = {"dim": 24, "evaluate_every": 10, "epochs": EPOCHS.get(name, 40), **LEARNING.get(name, {})}
    scorer = made(name, **settings).fit(task())
    # Chance is the mean reciprocal rank of about 25 candidates: 0.15.
    assert task().evaluate(scorer)["mrr"] > (0.25 if name in UNDIRECTED else 0.4)
    assert scorer.history.losses[-1] < scorer.history.losses[0]


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(name, settings):
    queries = task().queries("test")
    answers = [
        made(name, epochs=2, **settings).fit(task(), seed).score_tails(*queries.T).numpy().tobytes()
        for seed in (3, 3, 4)
    ]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize("name", MODELS)
def test_a_killed_training_goes_on_to_the_same_bits(name, tmp_path):
    method, queries = made(name, average_from=2, average_every=1), task().queries("test")
    whole = method.fit(task()).score_tails(*queries.T)
    checkpoint = Checkpoint(tmp_path / "state.pt")

    def kill(epoch, *_):
        if epoch == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), use_callbacks(kill, checkpoint):
        method.fit(task())
    epochs = []
    with use_callbacks(lambda epoch, *_: epochs.append(epoch), checkpoint):
        again = method.fit(task())
    assert epochs[0] == 5
    assert torch.equal(again.score_tails(*queries.T), whole)


@pytest.mark.rotating(1)
@pytest.mark.parametrize("name", ["conve", "tucker", "conve+kgmixup"])
def test_vectors_of_entities_have_length_one_if_asked_also_when_they_are_averaged(name):
    for settings in ({"average_from": 0}, {"average_from": 2, "average_every": 1, "keep": "last"}):
        model = made(name, unit_entities=True, **settings).fit(task()).model
        lengths = model.encode().entities.norm(dim=1)
        torch.testing.assert_close(lengths, torch.ones_like(lengths))
    free = made(name).fit(task()).model.entities.detach().norm(dim=1)
    assert float((free - 1).abs().max()) > 0.1


def test_the_core_of_tucker_starts_small_and_its_first_relations_are_unit_vectors_beside_unit_entities():
    with seeded(0):
        model = made("tucker", unit_entities=True).for_task(task()).build(task().graph)
        wide = made("tucker", core="uniform").for_task(task()).build(task().graph)
    assert float(model.core.detach().std()) == pytest.approx((2 / (12 * 12 + 4 * 12)) ** 0.5, rel=0.15)
    assert float(wide.core.detach().abs().max()) == pytest.approx(1.0, abs=0.02)
    for table in (model.entities, model.relations):
        torch.testing.assert_close(table.norm(dim=1), torch.ones(len(table)))


def test_averaged_batch_norms_have_the_statistics_of_the_averaged_weights():
    scorer = made("conve", average_from=2, average_every=1, keep="last", batch_size=8).fit(task())
    norm, model = scorer.model.convolutional.input_norm, scorer.model
    asked = np.unique(task().graph.both_directions[:, :2], axis=0)
    images = torch.cat([model.entities[asked[:, 0]], model.relations[asked[:, 1]]], dim=1).detach()
    assert float(norm.running_mean) == pytest.approx(float(images.mean()), abs=0.02)
    assert float(norm.running_var) == pytest.approx(float(images.var()), rel=0.05)


def test_complex_finds_the_answers_of_umls():
    umls = te.task("umls", "filtered")
    assert umls.evaluate(create("complex", {"epochs": 20}).fit(umls))["mrr"] > 0.8


def test_a_scorer_names_an_id_that_it_does_not_have():
    scorer = made("distmult", epochs=1).fit(task())
    with pytest.raises(InputError, match="no entity has the id 33: the model has 33"):
        scorer.score_tails(np.array([0, 33]), np.array([0, 0]))
    with pytest.raises(InputError, match="no relation has the id 6"):
        scorer.score_tails(np.array([0]), np.array([6]))
    assert scorer.score_tails(np.array([], dtype=int), np.array([], dtype=int)).shape == (0, 33)


def test_settings_that_do_not_fit_together_are_named():
    for name, settings, said in (
        ("complex", {"dim": 7}, "dim must be even"),
        ("rotate", {"dim": 7}, "dim must be even"),
        ("conve", {"dim": 14, "height": 3}, "dim must be height times 3 or more"),
        ("compgcn", {"dim": 4, "height": 2}, "dim must be height times 3 or more"),
    ):
        with pytest.raises(InputError, match=said):
            made(name, **settings).fit(task())


def test_other_tasks_are_refused(random_graph):
    plain = te.task(random_graph(1, nodes=30, edges=90), "existing")
    with pytest.raises(InputError, match="learns from a knowledge graph"):
        create("complex").fit(plain)
    with pytest.raises(InputError, match="fit takes a task"):
        create("complex").fit("umls")


def test_entities_without_vectors_are_refused():
    graph = KnowledgeGraph.from_triples(np.array([[0, 0, 1], [1, 1, 2], [0, 2, 2]]), 3, 3, name="others")
    scorer = made("distmult", epochs=1).fit(task())
    with pytest.raises(InputError, match="cannot score those of others"):
        scorer.with_graph(graph)


def test_without_a_validation_part_the_last_epoch_is_kept():
    given = task()
    split = TripleSplit(given.graph, given.parts["valid"][:0], given.parts["test"], "own")
    scorer = made("distmult").fit(TripleTask.from_split(split))
    assert scorer.history.best is None
    assert len(scorer.history.losses) == 6


def test_published_settings_fill_what_the_user_left_open():
    from types import SimpleNamespace

    fb = SimpleNamespace(dataset="fb15k-237", protocol="filtered")
    filled = get("tucker")(dropout_1=0.25).for_task(fb)
    assert (filled.learning_rate, filled.relation_dim, filled.dropout_1) == (5e-4, 200, 0.25)
    assert get("conve")().for_task(SimpleNamespace(dataset="own", protocol="filtered")).learning_rate == 1e-3


def test_a_batch_norm_gets_two_queries_at_least():
    queries = len(np.unique(task().graph.both_directions[:, :2], axis=0))
    scorer = made("conve", epochs=1, batch_size=queries - 1).fit(task())
    assert np.isfinite(scorer.history.losses).all()
    with pytest.raises(InputError, match="batch_size must be 2 or more"):
        made("conve", batch_size=1).fit(task())
    assert made("distmult", epochs=1, batch_size=1).fit(task()).history.losses


@pytest.mark.parametrize(
    ("name", "settings", "unused"),
    [
        ("complex", {"negatives": 5, "temperature": 2.0}, ["negatives=5", "temperature=2.0"]),
        ("complex", {"negatives": 5, "objective": "1-k"}, []),
        ("complex", {}, []),
        ("transe", {"negatives": 5, "label_smoothing": 0.2}, ["label_smoothing=0.2"]),
        # The pre-training compares with all entities, the training with sampled ones, and both use the share.
        ("complex+kgmixup", {"negatives": 5, "label_smoothing": 0.2}, []),
    ],
)
def test_settings_that_the_objective_does_not_use_are_named(name, settings, unused) -> None:
    method = create(name, settings)
    found = method.without_effect(task())
    assert [one.split()[1] for one in found] == unused
    assert all("has no effect with the objective" in one for one in found)


def test_a_setting_without_effect_is_said_once_and_kept_in_the_record() -> None:
    method = create("distmult", {**SMALL, "epochs": 1, "objective": "1-n", "negatives": 5})
    with pytest.warns(ScoreWarning, match="distmult: negatives=5 has no effect with the objective 1-n"):
        method.fit(task())
    with pytest.warns(ScoreWarning, match="distmult: negatives=5 has no effect with the objective 1-n"):
        method.for_task(task()).fit(task())
    said = [one for one in te.run(task(), method=method).warnings if "no effect" in one]
    assert said == ["distmult: negatives=5 has no effect with the objective 1-n"]
