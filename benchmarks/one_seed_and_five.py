"""Whether what one seed says is taken back by five seeds.

python -m benchmarks.one_seed_and_five        20 data sets and protocols, a table; --json FILE keeps it

All heuristics are run with five seeds, each with its own split. The table of each single seed is then
compared with the table of all five: two methods without a shared letter in the first are a claim that one of
them is better. So are the words of a verdict, with each heuristic in turn as the model that is judged.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from itertools import combinations, product
from pathlib import Path

from trueedge import methods
from trueedge.analysis.tables import Table, tables
from trueedge.results import Record, Store
from trueedge.runs import Cell, drive, runner_for
from trueedge.verdict.answers import answer

DATASETS = (
    *("karate", "netscience", "polbooks", "foodweb-baydry", "maayan-foodweb", "sociopatterns-infectious"),
    *("cora", "citeseer", "opsahl-ucsocial", "ca-GrQc"),
)
PROTOCOLS = ("existing", "heart")
SEEDS = 5


@dataclass(frozen=True)
class Count:
    """What the tables of single seeds claim, and what the table of all seeds says about it.

    Attributes:
        dataset: the data set.
        protocol: the protocol.
        claims: pairs of methods without a shared letter, over all single seeds.
        missing: claims about pairs that share a letter in the table of all seeds.
        turned: claims that the means over all seeds turn round.
        reversed: claims that the letters of all seeds turn round.
        words: what verdicts on one seed claim, over all single seeds: that a model is better or worse than
            another, on this split.
        words_missing: such claims that verdicts on all seeds do not make.
        words_reversed: such claims that verdicts on all seeds turn round.
    """

    dataset: str
    protocol: str
    claims: int
    missing: int
    turned: int
    reversed: int
    words: int
    words_missing: int
    words_reversed: int


def count(
    dataset: str, protocol: str, names: Iterable[str] | None = None, store: Store | None = None
) -> Count:
    """Run methods with five seeds, and compare the tables of one seed with that of all."""
    chosen = names or [one.name for one in methods.catalogue() if one.family == "heuristics"]
    by_seed = list(_records(dataset, protocol, chosen, store).values())
    (whole,) = tables([record for records in by_seed for record in records])
    claims = [claim for records in by_seed for claim in _claims(tables(records)[0])]
    confirmed = set(_claims(whole))
    order = [line.label for line in whole.lines]
    words = [claim for records in by_seed for claim in _words(tables(records)[0])]
    sure = _words(whole)
    return Count(
        *(dataset, protocol, len(claims)),
        missing=sum((one, other) not in confirmed for one, other in claims),
        turned=sum(order.index(one) > order.index(other) for one, other in claims),
        reversed=sum((other, one) in confirmed for one, other in claims),
        words=len(words),
        words_missing=sum(claim not in sure for claim in words),
        words_reversed=sum((other, one) in sure for one, other in words),
    )


def _records(
    dataset: str, protocol: str, names: Iterable[str], store: Store | None
) -> dict[int, list[Record]]:
    chosen = [methods.create(name) for name in names]
    cells = [Cell(dataset, protocol, method, seed) for seed in range(SEEDS) for method in chosen]
    found: dict[int, list[Record]] = {seed: [] for seed in range(SEEDS)}
    with runner_for(1) as runner:
        for _, outcome in drive(cells, store, runner):
            # Some heuristics need node features.
            if outcome.record is not None:
                found[outcome.cell.seed].append(outcome.record)
    return found


def _claims(table: Table) -> list[tuple[str, str]]:
    """Return the pairs of methods whose letters say that the first is better."""
    if table.compared is None:
        return []
    lettered = [(line.label, set(line.estimate.letters)) for line in table.lines if line.estimate is not None]
    return [
        (one, other)
        for (one, first), (other, second) in combinations(lettered, 2)
        if first and second and first.isdisjoint(second)
    ]


def _words(table: Table) -> set[tuple[str, str]]:
    """Return the pairs of which verdicts say that the first is better, with each method as the model."""
    labels = [line.label for line in table.lines]
    found = set()
    for model in labels:
        said = answer(table, model)
        if said is not None and said.place == "above":
            found |= {(model, other) for other in labels if other != model}
        elif said is not None and said.place == "below":
            found |= {(other, model) for other in said.beside}
    return found


def main(arguments: list[str] | None = None) -> None:
    """Count on all data sets and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--runs", type=Path, help="a folder for the records, to use them again")
    chosen = parser.parse_args(arguments)
    names = [field.name for field in fields(Count)][2:]
    print("letters: claims, not in five seeds, turned round by means, by letters")
    print("words: claims, not in five seeds, turned round; in all")
    rows = []
    for dataset, protocol in product(DATASETS, PROTOCOLS):
        row = count(dataset, protocol, store=None if chosen.runs is None else Store(chosen.runs))
        rows.append(row)
        numbers = " ".join(f"{getattr(row, name):6}" for name in names)
        print(f"{numbers}  {dataset} · {protocol}", flush=True)
    print(" ".join(f"{sum(getattr(row, name) for row in rows):6}" for name in names), " all")
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
