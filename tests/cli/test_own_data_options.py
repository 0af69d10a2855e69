"""Features, a split of one's own and two kinds of nodes: every command takes them and uses them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te

COMMANDS = {
    "run": ("-m", "ppr", "--seeds", "1"),
    "judge": ("ppr", "--seeds", "1"),
    "tune": ("-m", "katz", "--trials", "1", "--seeds", "1"),
    "task": ("-o", "made"),
    "pairs": ("-o", "pairs.csv"),
    "negatives": ("-o", "negatives.npz"),
    "audit": (),
    "check": ("ppr",),
    "recommend": ("-m", "ppr", "-o", "lists.csv"),
}
READERS = [name for name in COMMANDS if name != "recommend"]


@pytest.fixture
def files(trueedge) -> te.Split:
    """The karate club as a file with times, a table of features, and a split, in the working folder."""
    graph = te.load("karate")
    edges = graph.edges.tolist()
    Path("club.csv").write_text(
        "a,b,when\n" + "".join(f"{u},{v},{row}\n" for row, (u, v) in enumerate(edges))
    )
    np.save("features.npy", np.eye(graph.num_nodes, dtype=np.float32) + 1)
    split = te.split(graph, (0.7, 0.1, 0.2), seed=9)
    Path("mine").mkdir()
    for part, pairs in (("train", split.train.edges), ("valid", split.valid), ("test", split.test)):
        np.savetxt(f"mine/{part}.txt", pairs, fmt="%d")
    return split


@pytest.fixture
def purchases(trueedge) -> Path:
    """A file of users and items that share their ids, in the working folder."""
    path = Path("purchases.csv")
    rows = [(user, item) for user in range(1, 13) for item in range(1, 10) if (user * 5 + item * 3) % 7 < 3]
    path.write_text("kind_a,kind_b\n" + "".join(f"{user},{item}\n" for user, item in rows))
    return path


@pytest.mark.usefixtures("files")
@pytest.mark.rotating(3)
@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("split", [(), ("--split", "mine")], ids=["", "split"])
def test_rows_of_features_of_other_nodes_are_noted_once(
    trueedge, command: str, split: tuple[str, ...]
) -> None:
    rows = [f"{node},1.5,{node / 4}\n" for node in (*range(34), 77, 78)]
    Path("features.csv").write_text("node,x,y\n" + "".join(rows))
    own = ("--features", "features.csv", *split)
    status, _, err = trueedge(command, "club.csv", *COMMANDS[command], "-p", "existing", *own)
    assert status == 0, err
    said = "left out 2 rows of features.csv: the graph has no such nodes, the first is '77' (line 36)"
    assert err.count(said) == 1


@pytest.mark.usefixtures("files")
@pytest.mark.rotating(4)
@pytest.mark.parametrize("command", READERS)
def test_features_and_a_split_are_taken(trueedge, command: str) -> None:
    own = ("--features", "features.npy", "--split", "mine")
    words = ("-m", "cosine") if command == "run" else COMMANDS[command]
    status, _, err = trueedge(command, "club.csv", *words, "-p", "existing", *own)
    assert status == 0, err
    assert "not run" not in err
    if command == "task":
        made = te.load_task("made")
        assert made.graph.features is not None
        assert made.test.positives.tolist() == np.loadtxt("mine/test.txt", dtype=int).tolist()
    if command == "negatives":
        assert np.load("negatives.npz")["test"].tolist() == np.loadtxt("mine/test.txt", dtype=int).tolist()


@pytest.mark.usefixtures("files")
@pytest.mark.rotating(3)
@pytest.mark.parametrize("command", READERS)
def test_a_column_of_times_makes_a_split_by_time(trueedge, command: str) -> None:
    words = ("-p", "existing", "--source", "a", "--target", "1", "--time", "when")
    by_time = () if command in ("pairs", "check") else ("--option", "split=time")
    status, _, err = trueedge(command, "club.csv", *COMMANDS[command], *words, *by_time)
    assert status == 0, err
    if command == "task":
        made = te.load_task("made")
        assert "time" in str(made.settings["split"])


@pytest.mark.usefixtures("purchases")
@pytest.mark.rotating(4)
@pytest.mark.parametrize("command", COMMANDS)
def test_two_kinds_of_nodes_are_told_apart_by_every_command(trueedge, command: str) -> None:
    words = (command, "purchases.csv", *COMMANDS[command], "-p", "existing")
    status, _, err = trueedge(*words, "--bipartite")
    assert status == 0, err
    assert "purchases.csv: bipartite: 12 kind_a nodes and 9 kind_b nodes" in err
    if command == "task":
        made = te.load_task("made")
        ends = np.array(made.graph.labels)[made.test.negatives]
        assert {name.split()[0] for name in ends[:, 0]} == {"kind_a"}
        assert {name.split()[0] for name in ends[:, 1]} == {"kind_b"}
    if command == "pairs":
        assert all(line.startswith("kind_a ") for line in Path("pairs.csv").read_text().splitlines()[2:])
    if command == "recommend":
        lines = Path("lists.csv").read_text().splitlines()[1:]
        assert all((line.split(",")[0][5] != line.split(",")[2][5]) for line in lines)


@pytest.mark.usefixtures("purchases")
@pytest.mark.parametrize("word", ["bipartite=yes", "existing.bipartite=yes"])
def test_the_option_of_the_protocol_says_the_same_as_the_flag(trueedge, word: str) -> None:
    words = ("purchases.csv", "-p", "existing")
    status, flagged, err = trueedge("task", *words, "-o", "flag", "--bipartite")
    assert status == 0, err
    status, optioned, err = trueedge("task", *words, "-o", "option", "--option", word)
    assert status == 0, err
    assert flagged == optioned


@pytest.mark.usefixtures("purchases")
def test_one_kind_of_nodes_is_read_if_the_user_says_so(trueedge) -> None:
    status, _, err = trueedge("task", "purchases.csv", "-p", "existing", "-o", "made", "--no-bipartite")
    assert status == 0, err
    assert te.load_task("made").num_nodes == 12


@pytest.mark.usefixtures("purchases")
def test_pairs_of_a_split_are_found_by_column(trueedge) -> None:
    Path("test.txt").write_text("1,2\n1,5\n")
    words = ("--bipartite", "--split", "test.txt", "-p", "existing", "-o", "made")
    status, _, err = trueedge("task", "purchases.csv", *words)
    assert status == 0, err
    made = te.load_task("made")
    named = [[made.graph.labels[node] for node in pair] for pair in made.test.positives.tolist()]
    assert named == [["kind_a 1", "kind_b 2"], ["kind_a 1", "kind_b 5"]]


@pytest.mark.usefixtures("purchases")
@pytest.mark.parametrize("command", ["run", "judge"])
def test_heuristics_that_are_0_by_construction_are_named_once(trueedge, command: str) -> None:
    words = ("ppr",) if command == "judge" else ("-m", "cn,ppr")
    status, out, err = trueedge(
        command, "purchases.csv", *words, "-p", "existing,uniform", "--seeds", "1", "--bipartite"
    )
    assert status == 0, err
    assert (out + err).count("cn, aa, ra and jaccard are 0 by construction") == 1


@pytest.mark.usefixtures("purchases")
def test_a_protocol_of_users_and_items_needs_no_flag(trueedge) -> None:
    words = ("purchases.csv", "-p", "full-ranking", "-m", "popularity", "--bipartite")
    status, _, err = trueedge("run", *words)
    assert status == 1
    assert err.endswith("--bipartite is for plain graphs, which full-ranking cannot use\n")


@pytest.mark.parametrize("flag", [("--features", "x.npy"), ("--split", "mine"), ("--bipartite",)])
def test_what_is_given_beside_a_saved_task_is_refused(trueedge, flag: tuple[str, ...]) -> None:
    te.task("karate", "existing").save("made")
    for command in ("run", "judge", "tune"):
        model = ("cn",) if command == "judge" else ("-m", "cn")
        status, _, err = trueedge(command, "made", *model, *flag)
        assert status == 1
        assert f"{flag[0]} is for graphs, but made is a task that is made already" in err


@pytest.mark.usefixtures("purchases")
def test_the_flag_changes_nothing_where_the_sides_are_read_with_the_file(trueedge) -> None:
    words = ("purchases.csv", "-m", "ppr", "-p", "existing", "--seeds", "1")
    Path("purchases.csv").write_text(Path("purchases.csv").read_text().replace("kind_a,kind_b", "user,item"))
    assert trueedge("run", *words)[0] == 0
    status, out, err = trueedge("run", *words, "--bipartite")
    assert status == 0, err
    assert "0 new" in err
    assert "bipartite=yes" not in out
    assert "bipartite=no" in trueedge("run", *words, "--no-bipartite")[1]


def test_features_of_a_typed_graph_are_refused_by_its_name(trueedge) -> None:
    np.savetxt("x.csv", np.eye(3), delimiter=",")
    te.load("bibliography:authors=60").save("mine")
    _, _, err = trueedge("run", "mine", "-m", "majority", "--features", "x.csv")
    assert err.endswith(
        "--features is for plain graphs, and bibliography:authors=60,seed=0 is a typed graph\n"
    )


def test_majority_is_no_reason_for_a_warning(trueedge) -> None:
    for words in (("run", "bibliography:authors=60", "-m", "majority"), ("audit", "bibliography:authors=60")):
        _, out, err = trueedge(*words)
        assert "separate nothing" not in out + err
