"""Protocols: options, sources, and that the same seed gives the same task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.tasks.protocols import Protocol, Request, catalogue, default_protocol, register
from trueedge.tasks.protocols.protocol import PROTOCOLS

OWN_GRAPH = [p.name for p in catalogue() if p.released is None and p.data == "graph"]
SMALL = {"heart": {"k": 10}}
# Other test files register methods of their own.
BUILT_IN = [kind for kind in te.methods.catalogue() if kind.__module__.startswith("trueedge.")]
WITHOUT_FEATURES = [kind.name for kind in BUILT_IN if not kind.needs_features and "graph" in kind.takes]


@pytest.mark.parametrize("protocol", OWN_GRAPH)
def test_the_same_seed_gives_the_same_task_and_another_seed_another(protocol: str) -> None:
    options = SMALL.get(protocol, {})
    tasks = [te.task("karate", protocol, seed=seed, **options) for seed in (1, 1, 2)]
    assert tasks[0].hash == tasks[1].hash != tasks[2].hash


@pytest.mark.rotating(10)
@pytest.mark.parametrize("method", WITHOUT_FEATURES)
@pytest.mark.parametrize("protocol", OWN_GRAPH)
def test_every_method_that_needs_no_features_runs_under_every_protocol(protocol: str, method: str) -> None:
    task, kind = te.task("karate", protocol, **SMALL.get(protocol, {})), te.methods.get(method)
    # A trained method shows in two epochs that it runs.
    settings = {"epochs": 2} if "epochs" in kind.space() else {}
    values = task.evaluate(kind(**settings).fit(task))
    assert set(values) == set(task.metrics)
    assert all(0 <= value <= 1 for value in values.values()), values


@pytest.mark.parametrize("protocol", catalogue(), ids=lambda p: p.name)
def test_every_option_has_help_and_every_protocol_its_paper(protocol) -> None:
    assert set(protocol.options) == set(protocol.help)
    assert protocol.citation
    assert protocol.title


def test_an_unknown_option_gets_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean 'keep_connected'"):
        te.task("karate", "uniform", keep_conected=True)


@pytest.mark.parametrize(
    ("protocol", "options", "culprit"),
    [
        ("uniform", {"keep_connected": "Fales"}, "keep_connected"),
        ("heart", {"k": "ten"}, "k"),
        ("heart", {"k": 2.5}, "k"),
        ("uniform", {"fraction": "much"}, "fraction"),
        ("existing", {"ratios": 0.1}, "ratios"),
        ("uniform", {"component": "smallest"}, "component"),
        ("degree-corrected", {"degrees": "some"}, "degrees"),
        ("triplet", {"keep": "neither"}, "keep"),
        ("heart", {"alpha": None}, "alpha"),
        ("heart", {"eps": "x"}, "eps"),
        ("heart", {"heuristics": 5}, "heuristics"),
        ("uniform", {"fraction": 10**400}, "fraction"),
        ("uniform", {"ratio": 10**400}, "ratio"),
    ],
)
def test_an_option_of_a_wrong_kind_is_named(protocol: str, options: dict, culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        te.task("karate", protocol, **options)


@pytest.mark.parametrize("source", [3, None, {"a": "b"}, ["cora"]])
def test_a_source_that_is_neither_name_nor_graph_is_refused(source) -> None:
    with pytest.raises(
        InputError, match=r"a graph of networkx, scipy, PyG or pandas, got|shape \(n, 2\), got"
    ):
        te.task(source, "uniform")


SHADOWED = r"karate is both a data set and a (file|saved task) here: write \./karate for the \1"


@pytest.mark.parametrize(
    "use",
    [
        te.load,
        te.task,
        te.run,
        te.audit.audit,
        lambda name: te.task(name, "uniform"),
        lambda name: te.audit.audit(name, split={"test": [[0, 1]]}),
    ],
    ids=["load", "task", "run", "audit", "a protocol", "a split"],
)
@pytest.mark.parametrize("what", ["file", "task"])
def test_a_name_that_is_both_a_data_set_and_something_here_is_refused(
    use, what, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if what == "file":
        (tmp_path / "karate").write_text("0 1\n1 2\n2 0\n")
    else:
        te.task("karate", "existing").save(tmp_path / "karate")
    with pytest.raises(InputError, match=SHADOWED):
        use("karate")


def test_the_path_says_which_is_meant(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "karate").write_text("0 1\n1 2\n2 0\n2 3\n3 4\n4 0\n")
    assert te.task("./karate", "uniform").num_nodes == 5
    (tmp_path / "cora").mkdir()
    assert te.task("cora", "uniform").num_nodes == 2485


def test_a_file_is_a_source_too(tmp_path) -> None:
    path = tmp_path / "club.csv"
    path.write_text("".join(f"{u},{v}\n" for u, v in te.load("karate").edges.tolist()))
    task = te.task(path, "uniform")
    assert task.dataset == "club"
    assert task.hash == te.task(str(path), "uniform").hash == te.task("karate", "uniform").hash
    with pytest.raises(InputError, match="there is no file"):
        te.task(tmp_path / "none.csv", "uniform")


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean 'heart'"):
        te.task("karate", "haert")
    with pytest.raises(InputError, match="did you mean 'cora'"):
        te.task("coar", "heart")


def test_the_released_protocols_refuse_a_graph_of_ones_own(random_graph) -> None:
    with pytest.raises(InputError, match="heart-released reads released files: give a data set's name"):
        te.task(random_graph(0), "heart-released")
    with pytest.raises(InputError, match="reads released files"):
        te.LinkTask.from_split(te.split(random_graph(0)), "existing-released")


def test_a_protocol_knows_its_kind_its_files_and_its_module() -> None:
    found = {one.name: one for one in catalogue()}
    kinds = {"link", "recommend", "triples", "nodes", "typed-links", "items"}
    assert {one.kind for one in found.values()} == kinds
    assert {name: one.released for name, one in found.items() if one.released} == {
        "existing-released": "shared",
        "heart-released": "heart",
    }
    assert found["heart"].module == "trueedge.tasks.protocols.hard"
    assert found["uniform"].module == found["recommendation"].module == "trueedge.tasks.protocols.degree_bias"


def test_a_protocol_of_any_kind_is_what_makes_a_task() -> None:
    made = te.task("karate", "uniform")
    asked = []

    def make(request: Request) -> te.tasks.Task:
        asked.append(request)
        return made

    about = {"title": "a test", "citation": "none", "headline": "auc", "options": {"size": 3}}
    with PROTOCOLS.restored():
        own = register(Protocol(name="mine", kind="node", make=make, **about))
        assert own.module == __name__
        assert te.task("karate", "mine", seed=5, size=4) is made
        with pytest.raises(InputError, match="the protocol mine cannot use your own split"):
            te.LinkTask.from_split(te.split(te.load("karate")), "mine")
    (request,) = asked
    assert (request.source.name, request.seed, request.options) == ("karate", 5, {"size": 4})


def test_a_data_set_names_its_default_protocol(tmp_path, random_graph) -> None:
    assert {card.protocol for card in te.datasets.cards()} == {
        "heart",
        "filtered",
        "inductive",
        "node-classification",
        "typed-links",
        "full-ranking",
    }
    assert default_protocol("cora") == default_protocol("price:nodes=99") == "heart"
    assert default_protocol(tmp_path / "mine.csv") == default_protocol(random_graph(0)) == "heart"
    card = replace(te.datasets.get("karate"), name="own-club", protocol="uniform")
    with te.datasets.dataset.DATASETS.restored():
        te.datasets.register(card)
        assert default_protocol("own-club") == te.task("own-club").protocol == "uniform"


def test_k_shrinks_to_what_a_small_graph_allows_and_that_is_said() -> None:
    with pytest.warns(te.ScoreWarning, match="^heart: k = 34, the most this graph allows, instead of 500"):
        task = te.task("karate")
    assert isinstance(task, te.LinkTask)
    assert task.settings["k"] == 34
    assert task.valid.negatives.shape[1] == task.test.negatives.shape[1] == 34
    assert task.hash == te.task("karate", "heart", k=34).hash
    with pytest.raises(InputError, match="the largest possible k is 34"):
        te.task("karate", "heart", k=36)
    with pytest.raises(InputError, match="heart: k is 500, but node 33 has only 18 candidates"):
        te.task("karate", "heart", k=500)
    record = te.run("karate", method="cn")
    assert record.warnings[0] == "heart: k = 34, the most this graph allows, instead of 500"


def test_k_is_not_mentioned_where_it_is_possible(recwarn) -> None:
    task = te.task("erdos-renyi:nodes=700,edges=900", "heart", heuristics=("cn",))
    assert task.settings["k"] == 500
    assert "notes" not in task.settings
    assert not recwarn.list


def test_where_no_k_is_possible_the_error_stays() -> None:
    complete = te.Graph.from_edges([(u, v) for u in range(8) for v in range(u)])
    train, none = complete.only_edges(complete.edges[1:]), np.empty((0, 2), dtype=np.int32)
    split = te.Split(train, none, complete.edges[:1], "one edge")
    with pytest.raises(InputError, match="no k is possible with this positive"):
        te.LinkTask.from_split(split)


def test_progress_is_told_by_stage() -> None:
    seen: list[tuple[str, int, int]] = []
    te.task("karate", "heart", k=10, progress=lambda *report: seen.append(report))
    assert {name for name, _, _ in seen} == {"negatives of valid", "negatives of test"}
    assert all(0 <= done <= total for _, done, total in seen)


def test_hard_negatives_keep_one_end_and_avoid_known_edges() -> None:
    task = te.task("karate", "heart", k=20)
    whole = task.graph.with_edges(task.valid.positives)
    for part in ("valid", "test"):
        chosen = task.part(part)
        sources, targets = chosen.negatives[:, :10], chosen.negatives[:, 10:]
        assert (sources[:, :, 0] == chosen.positives[:, :1]).all()
        assert (targets[:, :, 1] == chosen.positives[:, 1:]).all()
        known = whole if part == "test" else task.graph
        assert not known.has_edges(chosen.negatives.reshape(-1, 2)).any()


def test_the_degree_protocols_keep_the_largest_component() -> None:
    graph = te.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (5, 6)], num_nodes=8)
    task = te.task(graph, "uniform", fraction=0.2)
    assert task.num_nodes == 4
    assert te.task(graph, "uniform", fraction=0.2, component="all").num_nodes == 8


def test_degree_correction_takes_the_degree_bias_away() -> None:
    graph = te.load("barabasi-albert:nodes=3000,attach=5,seed=1")
    values = {}
    for protocol in ("uniform", "degree-corrected"):
        task = te.task(graph, protocol)
        values[protocol] = task.evaluate(te.methods.get("pa")().fit(task))["auc"]
    assert values["uniform"] > 0.7
    assert abs(values["degree-corrected"] - 0.5) < 0.06


def test_a_validation_part_can_be_asked_for() -> None:
    task = te.task("karate", "uniform", valid=0.1)
    assert len(task.valid.positives) == 7
    assert task.part_names == ("valid", "test")


def test_settings_of_a_task_are_its_record() -> None:
    task = te.task("cora", "heart", k=4)
    assert task.settings["eps"] == 1e-7
    assert task.settings["heuristics"] == ("ra", "ppr", "features")
    assert isinstance(task.settings["split"], str)
    assert np.issubdtype(task.test.negatives.dtype, np.int32)
