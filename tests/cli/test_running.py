"""Runs: options, own methods, saved tasks, the store, Ctrl-C."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge import runs

OWN = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from trueedge.methods import Method, setting

@dataclass(frozen=True)
class Degrees(Method):
    name: ClassVar[str] = "own-degrees"
    title: ClassVar[str] = "Degrees"
    family: ClassVar[str] = "own"
    citation: ClassVar[str] = "none"
    power: float = setting(1.0, "of the degrees", low=0.0)

    def fit(self, task, seed=0, device="cpu"):
        degrees = task.graph.degrees.astype(float) ** self.power
        return lambda pairs: degrees[pairs[:, 0]] * degrees[pairs[:, 1]]

class Nameless(Method):
    def fit(self, task, seed=0, device="cpu"):
        return len

root = Degrees(power=0.5)

@dataclass(frozen=True)
class Dies(Degrees):
    name: ClassVar[str] = "own-dies"

    def fit(self, task, seed=0, device="cpu"):
        import os
        os._exit(int(self.power))

@dataclass(frozen=True)
class Parent(Degrees):
    name: ClassVar[str] = "own-parent"

    def fit(self, task, seed=0, device="cpu"):
        import multiprocessing
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.map(abs, [-3]) == [3]
        return super().fit(task, seed, device)

def made():
    @dataclass(frozen=True)
    class Inner(Degrees):
        name: ClassVar[str] = "own-inner"
    return Inner

Hidden = made()

def plain(pairs):
    return pairs.sum(axis=1)
"""


@pytest.fixture
def own(trueedge, monkeypatch) -> Path:
    """A file with a method of the user's own; it leaves the catalogue after the test."""
    from trueedge.methods import method

    method.METHODS.discover()
    monkeypatch.setattr(method.METHODS, "_entries", dict(method.METHODS._entries))
    path = Path("own.py")
    path.write_text(OWN)
    return path


def test_an_unqualified_key_is_for_those_that_have_it(trueedge, tmp_path: Path) -> None:
    words = ("-p", "existing,heart", "-m", "cn,katz", "--set", "beta=0.01", "--option", "k=8")
    status, out, _ = trueedge("run", "karate", *words)
    assert status == 0
    assert "karate · existing  test" in out
    assert "karate · heart (k=8)  test" in out
    assert "katz (beta=0.01)" in out
    records = te.Store(tmp_path / "runs").records()
    assert {r.protocol: dict(r.options) for r in records} == {"existing": {}, "heart": {"k": 8}}
    assert (
        trueedge(
            "run", "karate", "-p", "heart,triplet", "-m", "cn", "--option", "heart.k=10", "--seeds", "1"
        )[0]
        == 0
    )


def test_a_method_of_ones_own_runs_and_is_checked(trueedge, own: Path) -> None:
    status, out, _ = trueedge("run", "karate", "-p", "existing", "-m", "pa,own.py:Degrees,cn", "--seeds", "1")
    assert status == 0
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:]}
    assert rows["own-degrees"] == rows["pa"]
    assert (
        "own-degrees (power=2)"
        in trueedge(
            "run", "karate", "-p", "existing", "-m", "own.py:Degrees", "--set", "power=2", "--seeds", "1"
        )[1]
    )
    assert (
        "own-degrees (power=0.5)"
        in trueedge("run", "karate", "-p", "existing", "-m", "own.py:root", "--seeds", "1")[1]
    )
    for name in ("Degrees", "root"):
        status, out, _ = trueedge("check", "karate", f"own.py:{name}")
        assert status == 0
        assert f"own.py:{name}: nothing broken, 1 to look at" in out


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("own.py:plain", "is a function, not a subclass"),
        ("own.py:Nameless", "has no name"),
        ("own.py:Nobody", "does not define 'Nobody'"),
        ("own.py:Degrees,own.py:root", "another chosen method is also called 'own-degrees'"),
        ("other.py:X", "there is no file other.py"),
        ("wrong.py:X", "wrong.py cannot be imported: RuntimeError: out of luck"),
        ("leaving.py:X", "leaving.py cannot be imported: SystemExit: 3"),
        ("typo.py:X", "typo.py cannot be imported: SyntaxError"),
        ("no_such_module_here:X", "the module no_such_module_here cannot be imported: ModuleNotFoundError"),
        (":X", "':X' names no object: write FILE.py:NAME or MODULE:NAME"),
    ],
)
def test_code_that_is_no_method_is_one_sentence(trueedge, own: Path, word: str, sentence: str) -> None:
    Path("wrong.py").write_text("raise RuntimeError('out of luck\\nand of lines')")
    Path("leaving.py").write_text("raise SystemExit(3)")
    Path("typo.py").write_text("def f(:\n")
    status, out, err = trueedge("run", "karate", "-m", word)
    assert (status, out) == (1, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_a_saved_task_is_run_under_its_own_protocol(trueedge, tmp_path: Path) -> None:
    trueedge("task", "karate", "-p", "existing", "--seed", "4", "-o", "frozen")
    status, out, _ = trueedge("run", "frozen", "-m", "ra", "--seeds", "1")
    assert status == 0
    assert "karate · existing" in out
    (record,) = te.Store(tmp_path / "runs").records()
    assert record.provenance["task"] == te.load_task("frozen").hash
    assert trueedge("run", "frozen", "-p", "existing", "-m", "ra", "--seeds", "1")[0] == 0
    status, _, err = trueedge("run", "frozen", "-p", "heart", "-m", "ra", "--seeds", "1")
    assert status == 1
    assert "made already, under existing, not heart" in err
    status, _, err = trueedge("run", "frozen", "--option", "ratio=2", "--seeds", "1")
    assert status == 1
    assert "takes no --option ratio=2" in err


def test_a_folder_with_a_data_sets_name_does_not_hide_it(trueedge) -> None:
    Path("karate").mkdir()
    assert trueedge("run", "karate", "-p", "existing", "-m", "cn", "--seeds", "1")[0] == 0


def test_again_computes_anew_and_records_show_the_latest(trueedge, tmp_path: Path) -> None:
    words = ("run", "karate", "-p", "existing", "-m", "cn", "--seeds", "1")
    _, table, err = trueedge(*words)
    assert "1 record in" in err
    _, _, err = trueedge(*words, "--again")
    assert "1 new, 0 cached" in err
    assert len(te.Store(tmp_path / "runs")) == 2
    status, out, err = trueedge("records")
    assert status == 0
    assert out == table
    assert "one seed" in out
    assert "1 record in" in err


def test_all_protocols_are_those_without_released_files(trueedge) -> None:
    status, out, err = trueedge(
        "run", "karate", "-p", "all", "-m", "cn", "--option", "heart.k=8", "--seeds", "1"
    )
    assert status == 0
    every = te.tasks.protocols.catalogue()
    names = {one.name for one in every if one.released is None and "graph" in one.takes}
    assert {line.split()[2] for line in out.splitlines() if " · " in line} == names
    assert "not run" not in err


def test_what_was_found_about_scores_and_the_file_is_told(trueedge) -> None:
    edges = te.load("karate").edges.tolist()
    Path("club.csv").write_text("from,to\n1,1\n" + "".join(f"{u},{v}\n" for u, v in edges))
    _, _, err = trueedge("run", "club.csv", "-p", "existing", "-m", "cn,pa", "--seeds", "1")
    assert err.count("dropped 1 self-loop") == 1
    (ties,) = [line for line in err.splitlines() if line.startswith("ties between")]
    share = te.run("club.csv", "existing", "cn").warnings
    percent = next(w for w in share if " test: " in w and "comparisons" in w).split(": ")[1].split()[0]
    assert ties.endswith(f"cn {percent}")
    assert "of the comparisons" not in err


def test_ctrl_c_keeps_the_records_and_ends_with_130(trueedge, monkeypatch) -> None:
    run_one = runs.InProcess.run_one

    def stopped(self, cell, *others):
        if cell.method.name == "ra":
            raise KeyboardInterrupt
        return run_one(self, cell, *others)

    monkeypatch.setattr(runs.InProcess, "run_one", stopped)
    status, out, err = trueedge("run", "karate", "-p", "existing", "-m", "cn,ra", "--seeds", "1")
    assert (status, out) == (130, "")
    assert err == "stopped; 1 record in runs/records.sqlite\n"


def test_ctrl_c_elsewhere_ends_with_130_too(trueedge, monkeypatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(te.tasks, "load", stop)
    trueedge("task", "karate", "-p", "existing", "-o", "frozen")
    assert trueedge("check", "frozen", "cn") == (130, "", "stopped\n")


def test_pairs_are_written_in_the_order_scores_are_read_in(trueedge) -> None:
    lines = [f"p{u},p{v}" for u, v in te.load("karate").edges.tolist()]
    Path("graph.csv").write_text("\n".join(["source,target", *lines]))
    trueedge("task", "graph.csv", "-p", "existing", "-o", "frozen")
    task = te.load_task("frozen")
    for part in ("valid", "test"):
        assert trueedge("pairs", "frozen", "-o", "out/pairs.csv", "--part", part)[0] == 0
        title, header, *rows = csv.reader(Path("out/pairs.csv").read_text().splitlines())
        assert title == [f"# {task.pairs_title(part)}"]
        assert header == ["source", "target"]
        labels = task.graph.labels
        assert rows == [[labels[u], labels[v]] for u, v in task.distinct_pairs(part).tolist()]
    trueedge("pairs", "karate", "-p", "existing", "-o", "plain.csv")
    plain = te.task("karate", "existing").distinct_pairs()
    assert np.array_equal(np.loadtxt("plain.csv", delimiter=",", skiprows=2, dtype=int), plain)


def test_a_warning_about_scores_is_a_sentence(trueedge) -> None:
    task = te.task("karate", "existing")
    np.savetxt("same.txt", np.zeros(len(task.distinct_pairs())), header=task.pairs_title())
    status, _, err = trueedge("score", "karate", "same.txt", "-p", "existing", "--no-baselines")
    assert status == 0
    assert err == "karate existing test: all scores are 0: they separate nothing\n"


def test_methods_side_by_side_come_with_intervals_and_tie_groups(trueedge) -> None:
    status, out, err = trueedge("run", "cora", "-p", "uniform", "-m", "ra,ppr,pa")
    assert status == 0
    assert "5 seeds" in out.splitlines()[0]
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert lines["method"][:5] == ["method", "auc", "95", "%", "group"]
    low, high = map(float, lines["ra"][2].split("–"))
    assert low < float(lines["ra"][1].partition("±")[0]) < high
    # PPR is twenty points above the others.
    assert lines["ppr"][3] not in (lines["ra"][3], lines["pa"][3])
    assert "95 % intervals over splits\nShared letter:" in out + err


def test_one_seed_is_labelled_and_gets_no_letters(trueedge) -> None:
    words = ("run", "karate", "-p", "existing", "-m", "ra,pa", "--seeds", "1")
    status, out, err = trueedge(*words)
    assert status == 0
    assert out.splitlines()[0].endswith("one seed, this split only")
    assert "group" not in out.splitlines()[1]
    assert err.splitlines()[:2] == [
        "95 % intervals over test positives and negatives, this split only",
        "Letters need at least 3 seeds of each method: run with --seeds 5",
    ]


def test_methods_that_may_take_long_get_one_seed_by_default(trueedge) -> None:
    status, _, err = trueedge("run", "karate", "-p", "existing", "-m", "ra,fastrp")
    assert status == 0
    assert "one seed, since fastrp may take long: run with --seeds 5 to compare methods" in err
    assert "2 records" in err


def test_data_that_does_not_fit_the_protocol_is_refused_before_a_word_on_seeds(trueedge) -> None:
    status, _, err = trueedge("run", "bibliography", "-p", "heart", "-m", "majority")
    assert status == 1
    assert err.startswith("trueedge: the protocol heart needs a plain graph")


def test_a_device_without_effect_is_mentioned_once(trueedge) -> None:
    said = "the device cuda has no effect: ra uses no device"
    words = ("-p", "existing", "--seeds", "1", "--device", "cuda")
    status, _, err = trueedge("run", "karate", "-m", "ra", *words)
    assert (status, err.count(said)) == (0, 1)
    err = trueedge("run", "karate", "-m", "ra,cn", *words)[2]
    assert "the device cuda has no effect: none of the methods uses a device" in err
    status, out, _ = trueedge("judge", "karate", "ra", *words)
    assert (status, out.count(said)) == (0, 1)


def test_a_large_graph_gets_one_seed_by_default(trueedge, monkeypatch) -> None:
    from trueedge.cli import running

    monkeypatch.setattr(running, "MOST_QUICK_EDGES", 77)
    assert (
        "since so large a graph may take long" in trueedge("run", "karate", "-p", "existing", "-m", "ra")[2]
    )


def test_a_ranking_of_all_nodes_has_intervals_over_nodes(trueedge) -> None:
    status, out, err = trueedge("run", "karate", "-p", "recommendation", "-m", "ra,cn", "--seeds", "1")
    assert status == 0
    assert "95 %" in out.splitlines()[1]
    assert "95 % intervals over test nodes, this split only" in err


def test_another_task_of_the_same_name_gets_a_table_of_its_own(trueedge, tmp_path: Path) -> None:
    te.task("karate", "existing", seed=5).save(tmp_path / "other")
    trueedge("run", "karate", "-p", "existing", "-m", "ra,cn", "--runs", "rr", "--seeds", "1")
    trueedge("run", "other", "-m", "ra,cn", "--runs", "rr", "--seeds", "1")
    _, out, _ = trueedge("records", "--runs", "rr")
    assert out.count("karate · existing") == 2


def test_an_auc_of_one_split_gets_no_letters_and_of_several_it_does(trueedge) -> None:
    words = ("run", "karate", "-p", "uniform", "-m", "ra,cn")
    _, out, err = trueedge(*words, "--seeds", "1")
    assert "group" not in out.splitlines()[1]
    assert "95 % intervals over test positives and negatives, this split only" in out + err
    assert "Letters need at least 3 seeds of each method: run with --seeds 5" in out + err
    _, out, _ = trueedge(*words, "--seeds", "3")
    assert "group" in out.splitlines()[1]


def test_an_edited_method_is_not_pooled_with_what_it_was(trueedge, own: Path) -> None:
    words = ("run", "karate", "-p", "existing", "-m", "own.py:Degrees")
    trueedge(*words, "--seeds", "5")
    own.write_text(OWN.replace("* degrees[", "+ degrees["))
    _, table, _ = trueedge(*words, "--seeds", "2")
    status, out, err = trueedge("records")
    assert status == 0
    assert out == table
    assert "2 seeds" in out
    assert "3 records of an earlier version of own-degrees are left out" in err
    assert trueedge("report", "-o", "r.html", "--no-slices")[0] == 0
    assert "3 records of an earlier version of own-degrees are left out" in Path("r.html").read_text()


def test_a_method_of_ones_own_that_fails_is_told_and_the_others_run(trueedge, own: Path) -> None:
    code = OWN.replace("degrees = task", "degrees = task.nothing")
    own.write_text(code)
    line = next(i for i, text in enumerate(code.splitlines(), 1) if "task.nothing" in text)
    status, out, err = trueedge("run", "karate", "-p", "existing", "-m", "own.py:Degrees,ra", "--seeds", "2")
    assert status == 1
    assert "ra " in out
    assert "not run: own-degrees under existing: its code raised AttributeError" in err
    assert f"(own.py, line {line})" in err
    assert "Traceback" not in err
    assert err.count("not run") == 1


def test_a_k_too_large_for_several_seeds_is_one_sentence_with_the_smallest_limit(trueedge) -> None:
    limits = {}
    for seed in range(5):
        with pytest.raises(te.errors.InputError) as refused:
            te.task("karate", "heart", seed=seed, k=60)
        limits[seed] = int(str(refused.value).rpartition(" ")[2])
    assert len(set(limits.values())) > 1
    words = ("run", "karate", "-p", "heart", "-m", "cn,ra", "--seeds", "5", "--option")
    status, _, err = trueedge(*words, "k=60")
    assert status == 1
    (sentence,) = [line for line in err.splitlines() if line.startswith("not run")]
    assert sentence.startswith("not run: cn, ra under heart: heart: k is 60")
    least = min(limits.values())
    assert sentence.endswith(f"; the largest possible k is {least}, the smallest of 5 seeds")


def test_reasons_of_seeds_name_them_and_many_are_counted() -> None:
    from trueedge.cli.running import _reasons
    from trueedge.runs import Cell, Outcome

    def outcome(name: str, seed: int, reason: str) -> Outcome:
        return Outcome(Cell("karate", "heart", te.methods.create(name), seed), None, reason=reason)

    failed = [outcome("cn", 0, "x"), outcome("cn", 1, "y"), outcome("ra", 0, "x"), outcome("pa", 1, "x")]
    assert _reasons(failed, 2) == [
        "not run: cn, ra under heart, seed 0: x",
        "not run: cn under heart, seed 1: y",
        "not run: pa under heart, seed 1: x",
    ]
    assert _reasons([outcome("cn", seed, "x") for seed in range(9)], 10) == [
        "not run: cn under heart, 9 of 10 seeds: x"
    ]
    none = "no k is possible with this positive"
    limits = [outcome("cn", 0, "the largest possible k is 8"), outcome("cn", 1, none)]
    assert _reasons(limits, 2) == [f"not run: cn under heart: {none}"]
    assert _reasons([], 3) == []


@pytest.mark.rotating(4, group="processes")
def test_several_jobs_leave_the_same_table_and_store(own: Path, trueedge) -> None:
    words = ("-p", "existing", "-m", "cn,katz,own.py:Degrees", "--seeds", "2")
    _, alone, _ = trueedge("run", "karate", *words, "--runs", "alone")
    status, together, err = trueedge("run", "karate", *words, "--runs", "together", "--jobs", "2")
    assert status == 0
    assert together == alone
    assert "6 records in together/records.sqlite: 6 new, 0 cached" in err
    _, _, err = trueedge("run", "karate", *words, "--runs", "together", "--jobs", "3")
    assert "0 new, 6 cached" in err


def test_checkpoints_do_not_go_with_several_jobs(trueedge) -> None:
    status, _, err = trueedge(
        "run", "karate", "-m", "cn", "--jobs", "2", "--checkpoints", "here", "--seeds", "1"
    )
    assert status == 1
    assert "--checkpoints needs one job" in err


@pytest.mark.rotating(4, group="processes")
def test_a_process_that_dies_costs_its_own_cell_only(own: Path, trueedge) -> None:
    words = ("-p", "existing", "-m", "own.py:Dies,cn", "--set", "own-dies.power=7", "--seeds", "2")
    status, out, err = trueedge("run", "karate", *words, "--jobs", "2")
    assert status == 1
    assert "cn" in out
    assert "not run: own-dies under existing: its process died with status 7\n" in err
    assert "2 records in runs/records.sqlite: 2 new, 0 cached" in err


@pytest.mark.rotating(4, group="processes")
def test_a_method_may_start_processes_of_its_own(own: Path, trueedge) -> None:
    status, _, err = trueedge(
        "run", "karate", "-p", "existing", "-m", "own.py:Parent", "--jobs", "2", "--seeds", "1"
    )
    assert status == 0, err


def test_a_class_that_no_process_can_find_is_named(own: Path, trueedge) -> None:
    assert trueedge("run", "karate", "-p", "existing", "-m", "own.py:Hidden", "--seeds", "1")[0] == 0
    words = ("-m", "own.py:Hidden", "--jobs", "2", "--runs", "others")
    status, _, err = trueedge("run", "karate", "-p", "existing", *words)
    assert status == 1
    assert "own-inner: no other process can import the class made.<locals>.Inner" in err


def test_a_field_that_is_no_setting_is_named(own: Path, trueedge) -> None:
    own.write_text(
        OWN.replace('power: float = setting(1.0, "of the degrees", low=0.0)', "power: float = 1.0")
    )
    status, _, err = trueedge("run", "karate", "-p", "existing", "-m", "own.py:Degrees", "--seeds", "1")
    assert status == 1
    assert "own-degrees: power has no range" in err


@pytest.mark.rotating(4, group="processes")
def test_a_reader_that_has_seen_enough_costs_neither_notes_nor_status(tmp_path: Path) -> None:
    for name, status in (("cn", 0), ("cosine,cn", 1)):
        command = [
            sys.executable,
            "-m",
            "trueedge",
            "run",
            "karate",
            "-p",
            "existing",
            "-m",
            name,
            "--seeds=1",
        ]
        ran = subprocess.Popen(
            [*command, "--runs", str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        ran.stdout.close()
        said = ran.stderr.read()
        assert ran.wait(timeout=120) == status, said
        assert "1 record in" in said
        assert ("skipped cosine" in said) is (status == 1)


def test_intervals_over_edges_and_over_splits_are_told_apart(trueedge) -> None:
    trueedge("run", "karate", "-p", "existing", "-m", "cn,ra", "--seeds", "3")
    trueedge("run", "karate", "-p", "existing", "-m", "pa", "--seeds", "1")
    _, _, err = trueedge("records")
    assert "95 % intervals over splits (pa: over test positives and negatives, this split only)" in err


@pytest.mark.parametrize("command", ["reproduce", "datasets", "task", "run"])
def test_examples_are_indented(command: str, trueedge) -> None:
    _, out, _ = trueedge(command, "--help")
    lines = out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.strip() == "Example:")
    assert lines[at + 1].startswith(f"     trueedge {command}")


def test_a_method_of_ones_own_needs_only_a_name_and_fit(trueedge, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from typing import ClassVar\n"
        "import numpy as np\n"
        "from trueedge.methods import Method\n"
        "class Short(Method):\n"
        "    name: ClassVar[str] = 'short-of-words'\n"
        "    takes: ClassVar[tuple[str, ...]] = ('triples',)\n"
        "    def fit(self, task, seed=0, device='cpu'):\n"
        "        return lambda heads, relations: np.sin(np.add.outer(heads, np.arange(task.num_entities)))\n"
    )
    status, out, err = trueedge("run", "nations", "-m", "mine.py:Short", "--seeds", "1")
    assert status == 0, err
    assert "short-of-words" in out


def test_methods_lists_the_methods_of_a_family(trueedge) -> None:
    status, out, _ = trueedge("methods", "counting")
    assert status == 0
    assert "entity-degree" in out
    assert "relation-frequency" in out
    assert "katz" not in out
