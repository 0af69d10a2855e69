"""Values for each unit in a record: exact to the last bit, small, and read with suspicion."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import trueedge as te
from forged_files import memory_below
from ranks_in_records import ranks_as_units
from trueedge.errors import InputError
from trueedge.metrics import PairScores, UnitValues, measure
from trueedge.results.packed_units import pack, unpack, unpack_ends, unpack_redraws
from trueedge.results.record import Record

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def record() -> Record:
    return te.run("karate", "existing", "ra", seed=0)


@given(
    tables=st.integers(1, 60).flatmap(
        lambda count: st.lists(
            arrays(np.float64, count, elements=finite | st.sampled_from([0.0, -0.0, 1.0, 5e-324])),
            min_size=1,
            max_size=4,
        )
    )
)
def test_every_bit_of_every_value_comes_back(tables: list[np.ndarray]) -> None:
    units = UnitValues("node", {f"m{number}": table for number, table in enumerate(tables)})
    packed = json.loads(json.dumps(pack(units)))
    assert (packed["unit"], packed["count"]) == ("node", len(tables[0]))
    for name, table in units.values.items():
        found = unpack(packed, name)
        assert found is not None
        assert found.dtype == np.float64
        assert found.tobytes() == table.tobytes()
    assert unpack(packed, "m9") is None


@pytest.mark.parametrize("count", [255, 256, 257, 65_535, 65_536, 65_537])
def test_as_many_distinct_values_as_a_code_holds_come_back(count: int) -> None:
    values = np.random.default_rng(0).permutation(count).astype(np.float64)
    found = unpack(pack(UnitValues("node", {"a": values, "b": -values})), "b")
    assert np.array_equal(found, -values)


def test_nodes_and_other_draws_come_back() -> None:
    ends = np.random.default_rng(0).integers(0, 300, size=(9, 2))
    drawn = {"a": np.array([0.1, 0.25, 1 / 3]), "unknown": np.ones(2)}
    packed = json.loads(json.dumps(pack(UnitValues("positive", {"a": np.arange(9.0)}, ends, drawn))))
    assert np.array_equal(unpack_ends(packed), ends)
    assert unpack_redraws(packed, "a").tobytes() == drawn["a"].tobytes()
    assert unpack_redraws(packed, "unknown").size == 0
    bare = pack(UnitValues("node", {"a": np.arange(9.0)}))
    assert unpack_ends(bare) is None
    assert unpack_redraws(bare, "a") is None


def test_damaged_nodes_and_draws_are_refused_in_words(record: Record) -> None:
    text = pack(UnitValues("x", {"a": np.array([np.nan])}, redraws={"a": np.array([np.nan])}))["redraws"]["a"]
    for part in ({"ends": {"width": "<u1", "codes": record.units["ends"]["codes"][:-8]}}, {"redraws": []}):
        damaged = replace(record, units={**record.units, **part})
        with pytest.raises(InputError, match="are damaged: run it again"):
            _ = (damaged.ends, damaged.redraws("mrr"))
    for bad in ("no text", text, 7):
        with pytest.raises(InputError, match="are damaged: run it again"):
            replace(record, units={**record.units, "redraws": {"mrr": bad}}).redraws("mrr")


def test_nothing_to_keep_is_nothing() -> None:
    assert pack(UnitValues("node")) == {}
    assert unpack({}, "mrr") is None


def test_metrics_of_ranks_take_little_more_room_than_the_ranks() -> None:
    # Measured, in characters of JSON for nine metrics of 100,000 positives, against the ranks alone as
    # version 0.1.0 wrote them: 192,560 and 175,492 with 100 negatives each; 1,032,796 and 380,712 with
    # 100,000 shared ones, where nearly every rank differs.
    rng = np.random.default_rng(0)
    names = ["mrr", "hits@1", "hits@3", "hits@10", "hits@50", "hits@100", "rank-hits@20", "auc", "mr"]
    for negative in (rng.normal(size=(100_000, 100)), rng.normal(size=100_000)):
        scores = PairScores.check(rng.normal(1.0, 1.0, 100_000), negative)
        size = len(json.dumps(pack(measure(scores, names).units)))
        before = len(json.dumps(ranks_as_units(scores.ranks.mean)))
        assert size < 3 * before


def text(array: Any) -> str:
    return base64.b64encode(zlib.compress(np.asarray(array).tobytes())).decode()


def packed_with(**changes: Any) -> dict[str, Any]:
    """Values of three units with something changed in their one group."""
    group = {"width": "<u1", "codes": text(np.array([0, 1, 0], "<u1")), "values": {"mrr": text([0.5, 1.0])}}
    count = changes.pop("count", 3)
    return {"unit": "positive", "count": count, "groups": [{**group, **changes}]}


def cut(packed: str, length: int) -> str:
    return base64.b64encode(base64.b64decode(packed)[:length]).decode()


GROUP = packed_with()["groups"][0]


@pytest.mark.parametrize(
    "units",
    [
        packed_with(width="<u8"),
        packed_with(width="<f8"),
        packed_with(width=["<u1"]),
        packed_with(width="O"),
        packed_with(width="<u2"),
        packed_with(count=2),
        packed_with(count=4),
        packed_with(count=0),
        packed_with(count=-1),
        packed_with(count=True),
        packed_with(count=10**400),
        packed_with(count="3"),
        packed_with(codes=text(np.array([0, 2, 0], "<u1"))),
        packed_with(codes=text(np.array([0, 255, 0], "<u1"))),
        packed_with(codes=cut(GROUP["codes"], 6)),
        packed_with(codes=cut(GROUP["codes"], -1)),
        packed_with(codes=""),
        packed_with(codes="not base64!"),
        packed_with(codes=7),
        packed_with(codes=None),
        packed_with(values={"mrr": cut(GROUP["values"]["mrr"], -2)}),
        packed_with(values={"mrr": text(np.arange(7, dtype="<u1"))}),
        packed_with(values={"mrr": text(np.zeros(0))}),
        packed_with(values={"mrr": None}),
        packed_with(values={"mrr": text(np.arange(100.0))}),
        packed_with(values=["mrr"]),
        packed_with(values=None),
        {"unit": "positive", "count": 3, "groups": 5},
        {"unit": "positive", "count": 3, "groups": [5]},
        {"unit": "positive", "count": 3, "groups": [{}]},
        {"unit": "positive", "groups": [GROUP]},
    ],
    ids=range(31),
)
def test_damaged_values_are_named_in_one_sentence(record: Record, units: dict[str, Any]) -> None:
    damaged = replace(record, units=units)
    with pytest.raises(
        InputError, match="values for each positive in the record of ra on karate are damaged"
    ):
        damaged.unit_values("mrr")


def test_what_unpacks_to_far_more_than_there_are_units_takes_no_memory(record: Record) -> None:
    bomb = text(np.zeros(60_000_000, "<u1"))
    for units in (
        packed_with(codes=bomb),
        packed_with(values={"mrr": bomb}),
        {"unit": "positive", "packed_ranks": bomb},
    ):
        most = 1.5e8 if "packed_ranks" in units else 1e7
        with memory_below(most), pytest.raises(InputError, match="are damaged"):
            replace(record, units=units).unit_values("mrr")


def test_values_of_the_last_bit_are_those_of_the_evaluation(random_graph) -> None:
    task = te.task(random_graph(0, 40, 200), "uniform")
    record = te.run(task, method="ra")
    found = task.evaluate(te.methods.create("ra").fit(task))
    assert {name for group in record.units["groups"] for name in group["values"]} == set(found.units.values)
    for name, values in found.units.values.items():
        assert record.unit_values(name).tobytes() == values.tobytes()
        assert values.mean() == pytest.approx(record.test.get(name, values.mean()), abs=1e-12)
