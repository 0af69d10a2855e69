"""Two graphs of one name have two names on a page, and nothing else is renamed."""

from __future__ import annotations

import re
from dataclasses import replace

from made_up import record, records

from trueedge.analysis.tables import tables
from trueedge.report import report
from trueedge.report.naming import method_looks, told_apart
from trueedge.results.record import Record

HASHES = ("48caafc014f0c896edfce6af", "0c390abe20cbd127e76b2e42")


def of_graph(source: str, **changed: object) -> Record:
    made = record("roads", **changed)  # type: ignore[arg-type]
    return replace(made, provenance={**made.provenance, "source": source})


def changed_file() -> list[Record]:
    return [
        of_graph(source, method=method, protocol=protocol)
        for source in HASHES
        for method in ("cn", "ra")
        for protocol in ("existing", "heart")
    ]


def test_a_changed_file_is_told_apart_by_the_hash_of_its_graph() -> None:
    renamed, called = told_apart([*changed_file(), record("other")])
    names = dict.fromkeys(one.dataset for one in renamed)
    assert list(names) == ["roads (48caafc0)", "roads (0c390abe)", "other"]
    assert called == {"roads (48caafc0)": "roads", "roads (0c390abe)": "roads"}


def test_dates_are_told_where_they_differ() -> None:
    dated = [
        replace(one, created=f"2026-0{1 + HASHES.index(one.provenance['source'])}-03T00:00:00+00:00")
        for one in changed_file()
    ]
    names = {one.dataset for one in told_apart(dated)[0]}
    assert names == {"roads (48caafc0, 2026-01-03)", "roads (0c390abe, 2026-02-03)"}


def test_files_that_differ_between_protocols_alone_keep_their_name() -> None:
    found = [of_graph(HASHES[0], protocol="existing"), of_graph(HASHES[1], protocol="heart-released")]
    assert told_apart(found) == (found, {})
    assert told_apart([]) == ([], {})


def test_records_that_keep_no_hash_are_told_apart_too() -> None:
    names = [one.dataset for one in told_apart([of_graph("a"), of_graph("b")])[0]]
    assert len(set(names)) == 2
    assert all(re.fullmatch(r"roads \([0-9a-f]{8}\)", name) for name in names)


def test_no_two_headings_of_a_page_are_the_same() -> None:
    text = report(changed_file())
    for part in (r"<h3>(.*?)</h3>", r"<figcaption>(.*?)</figcaption>", r'id="(figure-[^"]*)"'):
        found = re.findall(part, text)
        assert len(found) > 2
        assert len(found) == len(set(found)), part
    assert "Link prediction on roads<" in text
    assert "Rank by protocol, roads (48caafc0)" in text
    assert "roads (48caafc0): roads is not a named data set" in text


def test_a_method_has_one_look_for_all_tables_of_a_data_set() -> None:
    looks = method_looks(tables(records(2, 3, 4, 1)))
    assert list(looks) == ["data-0", "data-1"]
    for known in looks.values():
        assert sorted(known.values()) == [0, 1, 2, 3]
