"""Faults in folders and archives in HGB's format: each gets one clear sentence."""

from __future__ import annotations

import os
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from trueedge.errors import InputError
from trueedge.graph.hgb_files import is_hgb, read_hgb

GOOD: dict[str, str | bytes | None] = {
    "node.dat": "0\tann\t0\t1,0.5\n1\tbob\t0\t0,2.5\n2\tp\t1\n3\tq\t1\n4\tr\t1\n",
    "link.dat": "0\t2\t0\t1\n1\t3\t0\t1.0\n1\t4\t0\t1\n2\t3\t1\t1\n",
    "info.dat": """{"node.dat": {"node type": {"0": "author", "1": "paper"}},
"link.dat": {"link type": {"0": {"start": "0", "end": "1", "meaning": "writes"},
                           "1": {"start": 1, "end": 1, "meaning": "cites"}}},
"label.dat": {"node type": {"1": {"0": "x", "1": "y", "2": "z"}}}}""",
    "label.dat": "2\tp\t1\t0\n4\tr\t1\t2\n",
    "label.dat.test": "3\tq\t1\t1\n",
}
PAIRS = "mine_ini_0_label.txt"
NEEDED_NODES = "3 or 4 columns separated by tabs are needed (id, name, type and, if there are any, features)"
NEEDED_LINKS = "4 columns separated by tabs are needed (head, tail, relation, weight)"
NEEDED_LABELS = "4 columns separated by tabs are needed (id, name, type, labels)"


def write(place: Path, **parts: str | bytes | None) -> Path:
    """Write a folder with some files changed; one that is None is missing."""
    folder = place / "mine"
    folder.mkdir()
    named = {name.replace("__", "."): text for name, text in parts.items()}
    for name, text in {**GOOD, **named}.items():
        if text is not None:
            (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


# The file and what replaces it, and the sentence after "FOLDER/".
FILES: dict[str, tuple[dict[str, str | bytes | None], str]] = {
    "no links": ({"link__dat": None}, "mine has no file link.dat"),
    "empty links": ({"link__dat": ""}, "mine/link.dat is empty"),
    "blank nodes": (
        {"node__dat": " \n\n"},
        "mine/node.dat, line 1: " + NEEDED_NODES + ", this line has 1 column",
    ),
    "empty nodes": ({"node__dat": "\n\r\n\n"}, "mine/node.dat is empty"),
    "empty labels": ({"label__dat": ""}, "mine/label.dat is empty"),
    "empty test labels": ({"label__dat__test": "\n"}, "mine/label.dat.test is empty"),
    "binary nodes": (
        {"node__dat": b"0\ta\t0\n1\tb\0\t0\n"},
        "mine/node.dat, line 2: there is a NUL byte: save it as UTF-8 text, not as UTF-16 or binary data",
    ),
    "latin-1 names": (
        {"node__dat": b"0\ta\t0\n1\tb\xe9\t0\n"},
        "mine/node.dat, line 2: the byte '0xe9' is not UTF-8 text",
    ),
    "UTF-16 links": (
        {"link__dat": "0\t2\t0\t1\n".encode("utf-16")},
        "mine/link.dat, line 1: the byte '0xff' is not UTF-8 text; it seems to be UTF-16: save it as UTF-8",
    ),
    "gap in ids": (
        {"node__dat": "0\ta\t0\n1\tb\t0\n3\tc\t1\n"},
        "mine/node.dat, line 3: ids must be 0, 1, 2, … without gaps: 3 is there, but not 2",
    ),
    "ids from 1": (
        {"node__dat": "1\ta\t0\n2\tb\t1\n"},
        "mine/node.dat, line 1: ids must be 0, 1, 2, … without gaps: 1 is there, but not 0",
    ),
    "repeated id": (
        {"node__dat": "0\ta\t0\n1\tb\t0\n1\tc\t1\n"},
        "mine/node.dat, line 3: the id 1 occurs again",
    ),
    "negative id": (
        {"node__dat": "-1\ta\t0\n"},
        "mine/node.dat, line 1: the id '-1' is not a whole number, 0 or more",
    ),
    "id that is a name": (
        {"node__dat": "a\ta\t0\n"},
        "mine/node.dat, line 1: the id 'a' is not a whole number, 0 or more",
    ),
    "huge id": (
        {"node__dat": "0\ta\t0\n99999999999999999999\tb\t0\n"},
        "mine/node.dat, line 2: the id '99999999999999999999' is too large",
    ),
    "type that is a name": (
        {"node__dat": "0\ta\tauthor\n"},
        "mine/node.dat, line 1: the type 'author' is not a whole number, 0 or more",
    ),
    "type that info does not name": (
        {"node__dat": "0\ta\t0\n1\tb\t0\n2\tc\t1\n3\td\t7\n"},
        "mine/node.dat, line 4: info.dat has no node type 7, only 0 to 1",
    ),
    "gap in types": (
        {"node__dat": "0\ta\t0\n1\tb\t2\n", "info__dat": None},
        "mine/node.dat, line 2: no node has type 1; types must be numbered without gaps",
    ),
    "types that are mixed": (
        {"node__dat": "0\ta\t0\n1\tb\t1\n2\tc\t0\n"},
        "mine/node.dat, line 3: node 2 has type 0, but node 1 has type 1: ids must be grouped by type,"
        " in the order of the types",
    ),
    "node with 2 columns": (
        {"node__dat": "0\ta\t0\n1\tb\n"},
        f"mine/node.dat, line 2: {NEEDED_NODES}, this line has 2 columns",
    ),
    "node with 5 columns": (
        {"node__dat": "0\ta\t0\t1,2\t3\n"},
        f"mine/node.dat, line 1: {NEEDED_NODES}, this line has 5 columns",
    ),
    "nodes separated by spaces": (
        {"node__dat": "0 a 0\n"},
        f"mine/node.dat, line 1: {NEEDED_NODES}, this line has 1 column",
    ),
    "ragged features": (
        {"node__dat": "0\ta\t0\t1,2\n1\tb\t0\t1,2,3\n2\tp\t1\n"},
        "mine/node.dat, line 2: this node has 3 features, but other nodes of type 0 have 2",
    ),
    "missing features": (
        {"node__dat": "0\ta\t0\t1,2\n1\tb\t0\n2\tp\t1\n"},
        "mine/node.dat, line 2: this node has 0 features, but other nodes of type 0 have 2",
    ),
    "feature that is a word": (
        {"node__dat": "0\ta\t0\t1,2\n1\tb\t0\t1,x2\n"},
        "mine/node.dat, line 2: the feature 'x2' is not a number",
    ),
    "empty feature": (
        {"node__dat": "0\ta\t0\t1,,2\n"},
        "mine/node.dat, line 1: the feature '' is not a number",
    ),
    "comma at the end": (
        {"node__dat": "0\ta\t0\t1,2,\n"},
        "mine/node.dat, line 1: the feature '' is not a number",
    ),
    "NaN": (
        {"node__dat": "0\ta\t0\t1,nan\n"},
        "mine/node.dat, line 1: the feature 'nan' is not a finite float32",
    ),
    "infinity": (
        {"node__dat": "0\ta\t0\t-inf,1\n"},
        "mine/node.dat, line 1: the feature '-inf' is not a finite float32",
    ),
    "too large for float32": (
        {"node__dat": "0\ta\t0\t1,1e39\n"},
        "mine/node.dat, line 1: the feature '1e39' is not a finite float32",
    ),
    "just too large for float32": (
        {"node__dat": "0\ta\t0\t1,3410000000000000000e20\n"},
        "mine/node.dat, line 1: the feature '3410000000000000000e20' is not a finite float32",
    ),
    "underscore in a feature": (
        {"node__dat": "0\ta\t0\t1_0,1\n"},
        "mine/node.dat, line 1: the feature '1_0' is not a number",
    ),
    "link with 3 columns": (
        {"link__dat": "0\t2\t0\t1\n0\t3\t0\n"},
        f"mine/link.dat, line 2: {NEEDED_LINKS}, this line has 3 columns",
    ),
    "link with 5 columns": (
        {"link__dat": "0\t2\t0\t1\t1\n"},
        f"mine/link.dat, line 1: {NEEDED_LINKS}, this line has 5 columns",
    ),
    "negative head": (
        {"link__dat": "-3\t2\t0\t1\n"},
        "mine/link.dat, line 1: the head '-3' is not a whole number, 0 or more",
    ),
    "weight that is a word": (
        {"link__dat": "0\t2\t0\tone\n"},
        "mine/link.dat, line 1: the weight 'one' is not a number",
    ),
    "weight that is NaN": (
        {"link__dat": "0\t2\t0\tnan\n"},
        "mine/link.dat, line 1: the weight 'nan' is not a number",
    ),
    "link to an unknown node": (
        {"link__dat": "0\t2\t0\t1\n0\t17\t0\t1\n"},
        "mine/link.dat, line 2: the tail 17 is not a node, there are 0 to 4",
    ),
    "test link to an unknown node": (
        {"link__dat__test": "9\t3\t0\t1\n"},
        "mine/link.dat.test, line 1: the head 9 is not a node, there are 0 to 4",
    ),
    "relation that info does not name": (
        {"link__dat": "0\t2\t0\t1\n2\t3\t5\t1\n"},
        "mine/link.dat, line 2: info.dat has no relation 5, only 0 to 1",
    ),
    "gap in relations": (
        {"link__dat": "0\t2\t0\t1\n2\t3\t5\t1\n", "info__dat": None},
        "mine/link.dat, line 2: relation 5 is there, but not 1: relations must have no gaps",
    ),
    "test link of an unknown relation": (
        {"link__dat__test": "0\t2\t0\t1\n0\t3\t44\t1\n", "info__dat": None},
        "mine/link.dat.test, line 2: no link of link.dat has relation 44, only 0, 1",
    ),
    "relation with other ends": (
        {"link__dat": "0\t2\t0\t1\n2\t3\t1\t1\n2\t0\t0\t1\n"},
        "mine/link.dat, line 3: this link leads from type 1 to 0, but the first link of relation 0 leads from"
        " type 0 to 1",
    ),
    "test link with other ends": (
        {"link__dat__test": "2\t0\t0\t1\n"},
        "mine/link.dat.test, line 1: this link leads from type 1 to 0, but the first link of relation 0 leads"
        " from type 0 to 1",
    ),
    "label out of range": (
        {"label__dat": "2\tp\t1\t0\n4\tr\t1\t3\n"},
        "mine/label.dat, line 2: the label 3 is out of range: info.dat names 3 classes",
    ),
    "label beyond reason": (
        {"label__dat": "2\tp\t1\t1000000000\n", "info__dat": None},
        "mine/label.dat, line 1: the label 1000000000 is out of range: there are 2 labelled nodes",
    ),
    "negative label": (
        {"label__dat": "2\tp\t1\t-1\n"},
        "mine/label.dat, line 1: the label '-1' is not a whole number, 0 or more",
    ),
    "missing label": (
        {"label__dat": "2\tp\t1\t\n"},
        "mine/label.dat, line 1: the label '' is not a whole number, 0 or more",
    ),
    "label twice": ({"label__dat": "2\tp\t1\t1,1\n"}, "mine/label.dat, line 1: the labels '1,1' repeat one"),
    "label of an unknown node": (
        {"label__dat": "8\tp\t1\t0\n"},
        "mine/label.dat, line 1: there is no node 8, only 0 to 4",
    ),
    "label with a wrong type": (
        {"label__dat": "2\tp\t0\t0\n", "label__dat__test": None},
        "mine/label.dat, line 1: node 2 has type 1, not 0",
    ),
    "labels of two types": (
        {"label__dat": "2\tp\t1\t0\n0\tann\t0\t0\n"},
        "mine/label.dat, line 2: node 0 has type 0, but node 2 has type 1: only one node type can have"
        " labels",
    ),
    "node with two label lines": (
        {"label__dat": "2\tp\t1\t0\n2\tp\t1\t1\n"},
        "mine/label.dat, line 2: node 2 has labels already, in label.dat, line 1",
    ),
    "test node among the training labels": (
        {"label__dat__test": "2\tp\t1\t0\n"},
        "mine/label.dat.test, line 1: node 2 has labels already, in label.dat, line 1",
    ),
    "label with 3 columns": (
        {"label__dat": "2\t1\t0\n"},
        f"mine/label.dat, line 1: {NEEDED_LABELS}, this line has 3 columns",
    ),
    "test labels alone": ({"label__dat": None}, "mine/label.dat.test is there, but label.dat is missing"),
    "info that is not JSON": (
        {"info__dat": '{\n\n"node.dat": x}'},
        "mine/info.dat, line 3: this is not JSON: Expecting value",
    ),
    "info that is a list": ({"info__dat": "[1, 2]"}, "mine/info.dat must be a JSON object, got '[1, 2]'"),
    "deep info": ({"info__dat": "[" * 200_000}, "mine/info.dat is nested too deeply"),
    "gap in the types of info": (
        {"info__dat": '{"node.dat": {"0": "a", "2": "b"}}'},
        "mine/info.dat: node.dat must number its node types 0, 1, 2, … without gaps, but 1 is missing",
    ),
    "type without nodes": (
        {"info__dat": '{"node.dat": {"0": "a", "1": "b", "2": "c"}}'},
        "mine/info.dat names the node type 2, but no node has it",
    ),
    "no nodes and no info": (
        {"node__dat": None, "info__dat": None},
        "mine has no file node.dat, and info.dat does not state the node types that each relation connects",
    ),
    "no nodes, and an end of two types": (
        {"node__dat": None, "link__dat": "0\t2\t0\t1\n2\t3\t1\t1\n0\t3\t1\t1\n"},
        "mine/link.dat, line 3: node 0 would have type 1, but by an earlier link it has type 0",
    ),
    "no nodes, and an id without a link": (
        {"node__dat": None, "link__dat": "0\t2\t0\t1\n2\t3\t1\t1\n"},
        "mine has no file node.dat, and no link says the type of node 1",
    ),
    "no nodes, and a huge id": (
        {"node__dat": None, "link__dat": "0\t2\t0\t1\n2\t2000000000\t1\t1\n"},
        "mine/link.dat, line 2: the id 2000000000 is too large for 2 links",
    ),
    "test pairs with two lines": (
        {PAIRS: "0 1\n2 3\n"},
        f"mine/{PAIRS} must have three lines (heads, tails, labels), but it has 2",
    ),
    "test pairs of unequal length": (
        {PAIRS: "0 1\n2\n1 0\n"},
        f"mine/{PAIRS}, line 2: there are 1 tails, but 2 heads",
    ),
    "test pair with a wrong type": (
        {PAIRS: "0 1\n2 1\n1 0\n"},
        f"mine/{PAIRS}, line 2: the tail '1' is not a whole number from 2 to 4",
    ),
    "test pair with a label of 2": (
        {PAIRS: "0 1\n2 3\n1 2\n"},
        f"mine/{PAIRS}, line 3: the label '2' is not a whole number from 0 to 1",
    ),
    "test pairs of an unknown relation": (
        {"x_ini_7_label.txt": "0\n1\n1\n"},
        "mine/x_ini_7_label.txt: there is no relation 7",
    ),
}


@pytest.mark.parametrize("fault", FILES)
def test_a_fault_in_a_folder_gets_one_sentence(fault: str, tmp_path: Path) -> None:
    parts, sentence = FILES[fault]
    folder = write(tmp_path, **parts)
    assert is_hgb(folder)
    with pytest.raises(InputError) as caught:
        read_hgb(folder)
    assert str(caught.value) == f"{tmp_path}/{sentence}"


def packed(place: Path, folder: str = "Mine/", **more: str) -> Path:
    path = place / "mine.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**GOOD, **more}.items():
            archive.writestr(name if "/" in name or "\\" in name else folder + name, text or "")
    return path


def _truncated(place: Path) -> Path:
    path = packed(place)
    path.write_bytes(path.read_bytes()[:-60])
    return path


def _damaged(place: Path) -> Path:
    path = packed(place)
    data = bytearray(path.read_bytes())
    # Behind the header of the first member and its name.
    data[30 + len("Mine/node.dat") + 9] ^= 255
    path.write_bytes(data)
    return path


def _bomb(place: Path) -> Path:
    path = packed(place)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02", 0, data.index(b"Mine/link.dat", data.index(b"PK\x01\x02")))
    struct.pack_into("<I", data, at + 24, 3 << 30)
    path.write_bytes(data)
    return path


def _twice(place: Path) -> Path:
    path = packed(place)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("Mine/link.dat", "0\t2\t0\t1\n")
    return path


def _encrypted(place: Path) -> Path:
    path = packed(place)
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 4)
    path.write_bytes(data)
    return path


def _bzip2(place: Path) -> Path:
    path = place / "mine.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("link.dat", "0\t1\t0\t1\n" * 100)
    return path


def _no_zip(place: Path) -> Path:
    path = place / "mine.zip"
    path.write_text("0 1\n")
    return path


def _without_links(place: Path) -> Path:
    path = place / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/readme.txt", "nothing")
    return path


def _in_capitals(place: Path) -> Path:
    path = place / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Mine/LINK.DAT", "0\t2\t0\t1\n")
    return path


def _of_macos(place: Path) -> Path:
    path = place / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__MACOSX/link.dat", "x")
    return path


def _empty(place: Path) -> Path:
    path = place / "mine.zip"
    zipfile.ZipFile(path, "w").close()
    return path


ARCHIVES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "truncated": (_truncated, " is a damaged archive: 'File is not a zip file'"),
    "damaged member": (_damaged, "/Mine/node.dat is damaged: "),
    "bomb": (_bomb, " unpacks to more than 1,073,741,824 bytes, from "),
    "member twice": (_twice, " holds Mine/link.dat twice"),
    "encrypted": (_encrypted, ", Mine/node.dat is encrypted"),
    "other compression": (_bzip2, " is an archive with another compression than deflate"),
    "no archive": (_no_zip, " is neither a folder nor a zip archive"),
    "archive of something else": (
        _without_links,
        " has no file link.dat, as archives of typed graphs do: it has 'a/readme.txt'; unpack files of"
        " another format",
    ),
    "archive of macOS alone": (
        _of_macos,
        " has no file link.dat, only what macOS adds to archives ('__MACOSX/link.dat')",
    ),
    "archive of names in capitals": (
        _in_capitals,
        " has no file link.dat, only 'Mine/LINK.DAT': write its name in lower case",
    ),
    "empty archive": (_empty, " has no file link.dat, as archives of typed graphs do: it is empty"),
    "absolute name": (
        lambda place: packed(place, **{"/etc/passwd": "x"}),
        " holds '/etc/passwd', a name that leads out of the archive",
    ),
    "name with ..": (
        lambda place: packed(place, **{"Mine/../../link.dat": "x"}),
        " holds 'Mine/../../link.dat', a name that leads out of the archive",
    ),
    "name of Windows": (
        lambda place: packed(place, **{"..\\link.dat": "x"}),
        " holds '..\\\\link.dat', a name that leads out of the archive",
    ),
    "drive of Windows": (
        lambda place: packed(place, **{"C:/link.dat": "x"}),
        " holds 'C:/link.dat', a name that leads out of the archive",
    ),
    "two data sets": (
        lambda place: packed(place, **{"Other/link.dat": "0\t1\t0\t1\n"}),
        " holds several data sets, in 'Mine' and 'Other': unpack it, and give one folder",
    ),
    "fault in a member": (
        lambda place: packed(place, **{"link.dat": "0\t2\t0\n"}),
        f"/Mine/link.dat, line 1: {NEEDED_LINKS}, this line has 3 columns",
    ),
}


@pytest.mark.parametrize("fault", ARCHIVES)
def test_a_fault_in_an_archive_gets_one_sentence(fault: str, tmp_path: Path) -> None:
    make, sentence = ARCHIVES[fault]
    with pytest.raises(InputError) as caught:
        read_hgb(make(tmp_path))
    assert str(caught.value).startswith(f"{tmp_path}/mine.zip{sentence}")
    assert "\n" not in str(caught.value)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = write(tmp_path, link__dat=None)
    os.mkfifo(folder / "link.dat")
    with pytest.raises(InputError, match="is a pipe or a device: a regular file is needed"):
        read_hgb(folder)


def test_a_missing_path_and_other_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_hgb(tmp_path / "nothing")
    with pytest.raises(InputError, match="read_hgb: a path is needed, got int"):
        read_hgb(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_damage_of_any_kind_raises_an_input_error_of_one_line(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    odd = [
        b"\t",
        b"\n",
        b",",
        b"-",
        b"e",
        b"nan",
        b"\r",
        b"\0",
        b"\xff",
        b"{",
        b'"',
        b"99999999999",
        b"1e400",
        b"_",
    ]
    sentences = []
    for number in range(60):
        files = {name: bytearray(str(text).encode()) for name, text in GOOD.items()}
        files[PAIRS] = bytearray(b"0 0 1\n4 3 2\n1 0 0\n")
        for data in rng.sample(list(files.values()), 2):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(6)] = rng.choice(odd)
        path = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, bytes(data))
        packed = bytearray(path.read_bytes())
        if number % 2:
            packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
        path.write_bytes(packed)
        try:
            read_hgb(path)
        except InputError as error:
            sentences.append(str(error))
    assert len(sentences) > 30
    assert max(map(len, sentences)) < 400
    assert not any("\n" in one for one in sentences)
