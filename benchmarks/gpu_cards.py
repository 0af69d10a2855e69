"""Write what a benchmark of a device measured, with versions and machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from trueedge.runs.provenance import machine, versions


def write_card(path: str, card: Mapping[str, Any], device: str) -> None:
    """Write a JSON file with measurements, versions and the machine they were made on."""
    place: dict[str, Any] = dict(machine())
    if device.startswith("cuda"):
        place["accelerator"] = torch.cuda.get_device_name(device)
    Path(path).write_text(json.dumps({**card, "versions": versions(), "machine": place}, indent=1))
