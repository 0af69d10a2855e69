"""Families of methods in studies, as in other commands."""

from __future__ import annotations

import pytest

from trueedge.errors import InputError, nearest
from trueedge.studies.study import chosen

TABLE = ["cn", "katz", "gcn/published", "gcn", "ncn", "target-degree"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ((), TABLE),
        (("heuristics",), ["cn", "katz"]),
        (("gnn", "cn"), ["cn", "gcn/published", "gcn"]),
        (("gcn",), ["gcn"]),
        (("gcn/published", "heuristics"), ["cn", "katz", "gcn/published"]),
    ],
)
def test_a_family_stands_for_its_methods_in_the_table(asked: tuple[str, ...], found: list[str]) -> None:
    assert chosen(asked, TABLE, "method of a table") == found


@pytest.mark.parametrize("name", ["embeddings", "gat"])
def test_a_method_or_family_that_is_not_in_the_table_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"no method of a table is called '{name}'"):
        chosen((name,), TABLE, "method of a table")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("gnc", "gcn"), ("GCN", "gcn"), ("ncnn", "ncn"), ("kazt", "katz"), ("heart-relesed", None), ("", None)],
)
def test_letters_that_changed_places_are_put_back_first(name: str, meant: str | None) -> None:
    assert nearest(name, TABLE) == meant


def test_a_name_stands_for_the_class_of_that_name_for_the_data_of_the_table() -> None:
    assert chosen(("gcn", "han"), ("han", "gcn-hetero", "gtn"), "method of a table") == ["han", "gcn-hetero"]
    assert chosen(("gcn",), ("gcn", "gcn-hetero"), "method of a table") == ["gcn"]
