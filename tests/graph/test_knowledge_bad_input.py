"""Faults in folders of triples and in arrays: each gets one clear sentence, or is handled and said."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError, ScoreWarning

GOOD = {
    "train": "a\tr\tb\nb\tr\tc\nc\ts\ta\nd\tr\ta\na\ts\td\n",
    "valid": "a\tr\tc\n",
    "test": "b\ts\ta\nc\tr\td\n",
}
UNSEEN = {"train": "x\tr\ty\ny\ts\tz\nz\tr\tx\n", "valid": "x\ts\tz\n", "test": "y\tr\tx\n"}
Text = str | bytes | None


def write(folder: Path, files: dict[str, Text]) -> Path:
    """Write the parts of a folder; a part that is None is missing."""
    folder.mkdir()
    for part, text in files.items():
        if text is not None:
            (folder / f"{part}.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def changed(**parts: Text) -> Callable[[Path], Path]:
    """A folder with some parts changed."""
    return lambda place: write(place / "mine", {**GOOD, **parts})


def inductive(**parts: Text) -> Callable[[Path], Path]:
    """An inductive pair of folders, with some parts of the second one changed."""

    def make(place: Path) -> Path:
        write(place / "mine_ind", {**UNSEEN, **parts})
        return write(place / "mine", GOOD)

    return make


def _cut_gzip(place: Path) -> Path:
    folder = write(place / "mine", {**GOOD, "train": None})
    (folder / "train.txt.gz").write_bytes(gzip.compress(GOOD["train"].encode())[:-9])
    return folder


def _damaged_gzip(place: Path) -> Path:
    folder = write(place / "mine", {**GOOD, "train": None})
    packed = bytearray(gzip.compress(GOOD["train"].encode()))
    packed[-6] ^= 255
    (folder / "train.txt.gz").write_bytes(packed)
    return folder


def _twice(place: Path) -> Path:
    folder = write(place / "mine", GOOD)
    (folder / "train.tsv").write_text("x\tr\ty\n")
    return folder


def _pipe(place: Path) -> Path:
    folder = write(place / "mine", {**GOOD, "train": None})
    os.mkfifo(folder / "train.txt")
    return folder


def _folder(place: Path) -> Path:
    folder = write(place / "mine", {**GOOD, "train": None})
    (folder / "train.txt").mkdir()
    return folder


def _valid_pipe(place: Path) -> Path:
    folder = write(place / "mine", {**GOOD, "valid": None})
    os.mkfifo(folder / "valid.txt")
    return folder


def _valid_nowhere(place: Path) -> Path:
    folder = write(place / "mine", {**GOOD, "valid": None})
    (folder / "valid.txt").symlink_to("nowhere.txt")
    return folder


FAULTS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no train file": (changed(train=None), "mine is not a folder of triples: it has no train.txt"),
    "no test file": (changed(test=None), "mine is not a folder of triples: it has no test.txt"),
    "neither": (changed(train=None, test=None), "it has no train.txt and no test.txt"),
    "empty train file": (changed(train=""), "train.txt is empty: it has no triples"),
    "blank test file": (changed(test="\n\n"), "test.txt is empty: it has no triples"),
    "only a header": (changed(test="head\trelation\ttail\n"), "test.txt is empty: it has no triples"),
    "two columns": (
        changed(train="a\tb\n"),
        "train.txt, line 1: a triple has three columns, this line has 2",
    ),
    "four columns": (changed(valid="\na\tr\tb\t1\n"), "valid.txt, line 2: a triple has three columns"),
    "missing relation": (changed(train="a\tr\tb\na\t\tb\n"), "train.txt, line 2: the relation is missing"),
    "missing tail": (changed(test="a\tr\t\n"), "test.txt, line 1: the tail is missing"),
    "binary file": (changed(train=bytes(range(256))), "the byte '0x80' is not UTF-8 text"),
    "Latin-1": (changed(train="é\tr\tb\n".encode("latin1")), "line 1: the byte '0xe9' is not UTF-8 text"),
    "UTF-16": (changed(train=GOOD["train"].encode("utf16")), "is not UTF-8 text"),
    "NUL": (changed(train="a\tr\t\0b\n"), "train.txt, line 1: there is a NUL byte: save it as UTF-8 text"),
    "UTF-16 without its mark": (changed(train=GOOD["train"].encode("utf-16-le")), "not as UTF-16"),
    "an empty last column": (changed(train="a\tr\tb\t\n"), r"this line has 4 columns: 'a\tr\tb\t'"),
    "a test graph without test triples": (
        inductive(test=None),
        "mine_ind is not a folder of triples: it has no test.txt, so it cannot be the test graph of mine:"
        " complete it, or use the protocol filtered",
    ),
    "two separators": (changed(train="a\tr\tb\nb r c\n"), "line 2: a triple has three columns"),
    "N-Triples": (changed(train="<a> <r> <b> .\n"), "line 1: a triple has three columns, this line has 4"),
    "test in train": (changed(test="a\tr\tb\n"), "1 of 1 test triples is in train too: (a, r, b)"),
    "valid in train": (changed(valid="a\tr\tb\n"), "1 of 1 valid triples is in train too: (a, r, b)"),
    "test in valid": (changed(test="a\tr\tc\n"), "1 of 1 test triples is in valid too: (a, r, c)"),
    "one entity": (changed(train="a\tr\ta\n", valid=None, test="a\ts\ta\n"), "mine has one entity"),
    "cut gzip": (_cut_gzip, "train.txt.gz is a damaged gzip file"),
    "damaged gzip": (_damaged_gzip, "train.txt.gz is a damaged gzip file"),
    "train.txt and train.tsv": (_twice, "mine has both train.txt and train.tsv: leave one of them"),
    "a pipe": (_pipe, "mine is not a folder of triples: train.txt is not a regular file"),
    "validation triples in a pipe": (_valid_pipe, "mine/valid.txt is not a regular file"),
    "a link to nowhere": (_valid_nowhere, "mine/valid.txt is not a regular file"),
    "a comment": (
        changed(train="# three words\n" + GOOD["train"]),
        "train.txt, line 1: a line that begins with # may be a comment",
    ),
    "a comment with commas": (
        changed(train="# a, b, c\n" + GOOD["train"].replace("\t", ",")),
        "train.txt, line 1: a line that begins with # may be a comment",
    ),
    "a long name": (
        changed(train="x" * 1000 + "\tr\tb\n" + GOOD["train"], test="x" * 1000 + "\tr\tb\n"),
        "in train too: ('" + "x" * 57 + "...', r, b)",
    ),
    "a folder": (_folder, "mine is not a folder of triples: train.txt is not a regular file"),
    "test in the test graph": (
        inductive(test="x\tr\ty\n"),
        "1 of 1 test triples is in the test graph too: (x, r, y)",
    ),
    "bad line in the test graph": (
        inductive(train="x\ty\n"),
        "mine_ind/train.txt, line 1: a triple has three",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_folder_gets_one_sentence(name: str, tmp_path: Path) -> None:
    make, sentence = FAULTS[name]
    with pytest.raises(InputError) as refused:
        te.task(make(tmp_path))
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["no test file", "two columns", "test in train", "cut gzip", "a pipe"])
def test_the_command_says_the_same(name: str, trueedge, tmp_path: Path) -> None:
    make, sentence = FAULTS[name]
    make(tmp_path)
    status, _, err = trueedge("run", "mine")
    assert status == 1
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err


HANDLED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "CRLF": (changed(train=GOOD["train"].replace("\n", "\r\n")), ""),
    "BOM": (changed(train="\ufeff" + GOOD["train"]), ""),
    "spaces": (changed(train=GOOD["train"].replace("\t", " ")), ""),
    "commas": (changed(train=GOOD["train"].replace("\t", ",")), ""),
    "no last newline": (changed(train=GOOD["train"].rstrip()), ""),
    "header": (
        changed(train="head\trelation\ttail\n" + GOOD["train"]),
        "train.txt: line 1 was read as a header: head, relation, tail",
    ),
    "header after #": (
        changed(train="# head\trelation\ttail\n" + GOOD["train"]),
        "train.txt: line 1 was read as a header: # head, relation, tail",
    ),
    "header in another order": (
        changed(
            train="Object\tpredicate\tsubject\n"
            + "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in GOOD["train"].splitlines())
        ),
        "train.txt: line 1 was read as a header: Object, predicate, subject",
    ),
    "name after #": (changed(train="#a\tr\tb\n" + GOOD["train"]), ""),
    "repeated triple": (changed(train=GOOD["train"] + "a\tr\tb\n"), "a repeated triple was dropped"),
    "repeated triples": (
        changed(train=GOOD["train"] + "a\tr\tb\na\tr\tb\n"),
        "2 repeated triples were dropped",
    ),
    "self-loop": (changed(train=GOOD["train"] + "a\tr\ta\n"), ""),
    "relation only in test": (
        changed(test=GOOD["test"] + "a\tnew\tb\n"),
        "one test triple has a relation without a training triple",
    ),
    "entity only in test": (
        changed(test="new\tr\tb\na\tr\tnew\n"),
        "2 test triples have an entity without a training triple",
    ),
    "shared entity": (
        inductive(train=UNSEEN["train"] + "a\tr\ty\n"),
        "one entity of the test graph is also in the training graph: a",
    ),
    "entity without a fact": (
        inductive(test="y\tr\tx\nw\tr\tx\n"),
        "one test triple has an entity without a fact in the test graph",
    ),
    "new relation": (
        inductive(train=UNSEEN["train"] + "x\tnew\ty\n"),
        "one relation of the test graph has no training triple",
    ),
}


@pytest.mark.parametrize("name", HANDLED)
def test_what_can_be_handled_is_said_and_changes_nothing_else(name: str, tmp_path: Path) -> None:
    make, note = HANDLED[name]
    folder = make(tmp_path)
    if note:
        with pytest.warns(ScoreWarning, match=note):
            task = te.task(folder)
        assert any(note in one for one in task.settings["notes"])
    else:
        task = te.task(folder)
        assert "notes" not in task.settings
    same = ("CRLF", "BOM", "spaces", "commas", "no last newline", "repeated triple")
    if name in (*same, "header", "header in another order"):
        other = tmp_path / "other"
        other.mkdir()
        clean = te.task(write(other / "mine", GOOD))
        assert task.hashes == clean.hashes
    assert np.isfinite(task.evaluate(te.methods.create("relation-frequency").fit(task))["mrr"])


def test_a_test_graph_that_is_not_complete_does_not_matter_to_a_named_protocol(tmp_path: Path) -> None:
    folder = inductive(test=None)(tmp_path)
    assert te.task(folder, "filtered").num_entities == 4


def test_letters_in_another_order_are_a_triple(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", {**GOOD, "train": "t\tr\ts\n" + GOOD["train"]})
    assert {"t", "s"} <= set(te.task(folder).graph.entities)


class Frame:
    """What a data frame looks like to a reader."""

    def __init__(
        self, rows: list[tuple[object, ...]], columns: int = 3, names: tuple[str, ...] | None = None
    ) -> None:
        self.rows, self.columns = rows, list(range(columns) if names is None else names)

    def to_numpy(self) -> np.ndarray:
        return np.array(self.rows, dtype=object)


@pytest.mark.parametrize(
    ("triples", "options", "sentence"),
    [
        (Frame([("a", "r", float("nan"))]), {}, "row 0: a name is missing"),
        (Frame([("a", "r")], 2), {}, "three columns, this one has 2"),
        ([("a", "r", "b"), ("a", None, "b")], {}, "row 1: a name is missing"),
        ([("a", "r", " ")], {}, "row 0: a name is missing"),
        ([(b"a", b"r", b"b")], {}, "b'a' is not text"),
        (np.array([[0, 0, 1], [0, 0, -1]]), {}, "row 1: the tail is -1, it must be from 0"),
        (np.array([[0, 0.5, 1]]), {}, "row 0: the relation is 0.5, not a whole number"),
        (np.array([[0, 0, np.nan]]), {}, "row 0: the tail is nan, not a whole number"),
        (np.array([[0, 0, 1e300]]), {}, r"row 0: the tail is 1e\+300, not a whole number"),
        ([(0, 0, 1), (0, 0, 1.5)], {}, "row 1: the tail is 1.5, not a whole number"),
        (np.array([[0, 0, 2**40]]), {}, "row 0: the tail is 1099511627776"),
        (np.array([[0, 1]]), {}, r"shape \(m, 3\)"),
        (np.array([0, 1, 2]), {}, r"shape \(m, 3\)"),
        (np.array([[True, False, True]]), {}, "whole numbers, got values of type bool"),
        (np.array([[1j, 0, 0]]), {}, "whole numbers, got values of type complex128"),
        ([(0, 1, 2), (1, 2)], {}, r"row 1: a triple is \(head, relation, tail\)"),
        (["abc"], {}, "row 0: a triple is"),
        ([{"head": "a", "relation": "r", "tail": "b"}], {}, "row 0: a triple is .* got {'head': 'a'"),
        ([{"a", "r", "b"}], {}, "row 0: a triple is"),
        ([(True, False, True)], {}, "row 0: a name is a text or a number, got True"),
        ([("a", 1j, "b")], {}, "row 0: a name is a text or a number, got 1j"),
        ([("a", ["r", "s"], "b")], {}, "row 0: a name is a text or a number, got"),
        ([("a", "r", np.arange(99).reshape(9, 11))], {}, "row 0: a name is a text or a number, got array"),
        (np.full((1, 3, 3), "a"), {}, "row 0: a name is a text or a number, got array"),
        (np.array([[np.float32("nan"), "r", "b"]], dtype=object), {}, "row 0: a name is missing"),
        ([(0, 0, 1)], {"entities": 5}, "labels must be a list of names, got int"),
        ([], {}, "there are no triples"),
        (None, {}, "got NoneType"),
        ([(0, 0, 1), (0, 0, 1)], {}, r"row 1: \(0, 0, 1\) occurs again; repeats='drop'"),
        ([(0, 0, 3)], {"num_entities": 2}, "the tail is 3, it must be from 0 to 1"),
        ([(0, 0, 3)], {"entities": ["a", "b"]}, "the tail is 3, it must be from 0 to 1"),
        ([(0, 0, 1)], {"entities": ["a", "a"]}, "two entities are called 'a'"),
        ([("a", "r", "b")], {"entities": ["a", "c"]}, "'b' is not one of the 2 given entity names"),
        ([("a", "r", "b")], {"num_relations": 4}, "num_relations is 4, but there are 1 relations"),
        ([(0, 0, 1)], {"repeats": "keep"}, "repeats must be 'refuse' or 'drop', got 'keep'"),
        ("no/such/file.txt", {}, "there is no such file"),
    ],
)
def test_a_fault_in_given_triples_gets_one_sentence(triples, options, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as refused:
        te.KnowledgeGraph.from_triples(triples, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("folder", "protocol", "options", "sentence"),
    [
        (changed(), "inductive", {}, "mine is not inductive: there is no folder mine_ind with train.txt"),
        (inductive(test=None), "inductive", {}, "mine is not inductive: there is no folder mine_ind"),
        (changed(), "filtered", {"ratios": (0.5, 0.25, 0.25)}, "mine has its own split: ratios would have"),
        (
            changed(),
            "filtered",
            {"sides": "tails"},
            "sides must be one of 'both', 'tail', 'head', got 'tails'",
        ),
        (changed(), "filtered", {"filter": "all"}, "filter"),
        (inductive(), "inductive", {"filter": "none"}, "filter must be one of 'all', 'facts', got 'none'"),
        (changed(), "heart", {}, "the protocol heart needs a plain graph, and mine is a knowledge graph"),
    ],
)
def test_what_does_not_fit_a_folder_gets_one_sentence(folder, protocol, options, sentence, tmp_path) -> None:
    with pytest.raises(InputError, match=sentence):
        te.task(folder(tmp_path), protocol, **options)


@pytest.mark.parametrize("separator", [",", " "])
def test_a_name_may_hold_a_mark_that_separates_other_files(separator: str, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    path.write_text(separator.join(["a", "likes;much", "b"]) + "\n" + separator.join(["b", "r", "a"]) + "\n")
    assert te.KnowledgeGraph.from_triples(path).relations == ("likes;much", "r")


def test_the_command_names_the_protocol_that_a_folder_or_a_file_of_triples_needs(
    trueedge, tmp_path: Path
) -> None:
    write(tmp_path / "mine", GOOD)
    _, _, err = trueedge("run", "mine", "-p", "heart", "-m", "cn")
    assert "the protocol heart needs a plain graph, and mine is a knowledge graph" in err
    (tmp_path / "triples.tsv").write_text(
        "".join(f"{n}\tr\t{(n + s) % 40}\n" for n in range(40) for s in (1, 2))
    )
    _, _, err = trueedge("run", "triples.tsv", "-m", "distmult")
    assert "which two are the ends of an edge" in err
    assert "for triples, use the protocol filtered" in err
    (tmp_path / "names.tsv").write_text("".join(f"{n}\tr{n % 3}\tx{n + 1}\n" for n in range(40)))
    _, _, err = trueedge("audit", "names.tsv")
    assert "names.tsv has 3 columns, 0 to 2, and no header" in err
    assert "for triples, use the protocol filtered" in err


def test_a_method_with_a_twin_for_triples_names_it() -> None:
    with pytest.raises(InputError, match=r"umls is a knowledge graph: use nbfnet-kg$"):
        te.methods.get("nbfnet")().fit(te.task("umls"))


def test_one_relation_is_not_a_plural() -> None:
    graph = te.KnowledgeGraph.from_triples([("a", "r", "b")])
    assert repr(graph) == "KnowledgeGraph(triples: 2 entities, 1 relation, 1 triple)"


@pytest.mark.parametrize(
    "names", [("head", "tail", "relation"), ("relation", "head", "tail"), ("Source", "TARGET", "type")]
)
def test_the_columns_of_a_frame_are_taken_by_their_usual_names(names: tuple[str, ...]) -> None:
    rows = [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a")]
    places = [0, 1, 2] if names[1] == "relation" else [1, 0, 2] if names[0] == "relation" else [0, 2, 1]
    frame = Frame([tuple(row[place] for place in places) for row in rows], names=names)
    found = te.KnowledgeGraph.from_triples(frame)
    assert found.relations == ("r", "s")
    assert found.hash == te.KnowledgeGraph.from_triples(rows).hash
    other = Frame(rows, names=("x", "y", "z"))
    assert te.KnowledgeGraph.from_triples(other).hash == found.hash
