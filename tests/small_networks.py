"""A data folder with three grown networks under published names, and made-up published numbers."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

from trueedge.datasets.random_graphs import price
from trueedge.studies.degree_bias.auc import LEARNED, TOPOLOGY

NETWORKS = {"polbooks": (105, 441), "netscience": (379, 914), "maayan-foodweb": (183, 2434)}


def write_networks(folder: Path) -> None:
    """Write the networks and both published files to a folder that becomes the data folder."""
    place = folder / "networks"
    place.mkdir()
    for number, (name, size) in enumerate(NETWORKS.items()):
        grown = price(*size, 2.5 + number / 2, seed=number)
        lines = "".join(f"{u} {v}\n" for u, v in grown.edges.tolist())
        (place / f"{name}.edges.gz").write_bytes(gzip.compress(lines.encode()))
    with (place / "published_auc.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["network", "negatives", "method", "auc"])
        for name in NETWORKS:
            for sampler in ("uniform", "degreeBiased", "heart"):
                for place_in_list, entry in enumerate((*TOPOLOGY, *LEARNED)):
                    rows.writerow([name, sampler, entry.theirs, 0.71 - 0.01 * place_in_list])
    with (place / "published_stats.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["network", "lognorm_sigma", "n_nodes"])
        rows.writerows(
            [name, 1.0 + number / 10, size[0]] for number, (name, size) in enumerate(NETWORKS.items())
        )
