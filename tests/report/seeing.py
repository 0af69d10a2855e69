"""How colours look: contrast, and to eyes without one kind of cone."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency,
# 2009, at full severity.
EYES = {
    "all cones": np.eye(3),
    "no long": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no medium": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no short": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def channels(colour: str) -> Array:
    """Red, green and blue from 0 to 1, of ``#rrggbb`` or ``rgb(r, g, b)``."""
    if colour.startswith("#"):
        return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.array([float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]])


def linear(colour: Array) -> Array:
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(one: str | Array, other: str | Array) -> float:
    """The ratio of WCAG 2, from 1 to 21."""
    lights = []
    for colour in (one, other):
        values = channels(colour) if isinstance(colour, str) else colour
        lights.append(float(linear(values) @ np.array([0.2126, 0.7152, 0.0722])))
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def over(top: str, below: str, opacity: float) -> Array:
    """A colour seen through another, as browsers mix them."""
    return opacity * channels(top) + (1 - opacity) * channels(below)


def distance(one: str, other: str, eyes: str) -> float:
    """How far apart two colours look, in CIELAB."""
    seen = [_lab(np.clip(EYES[eyes] @ linear(channels(colour)), 0, 1)) for colour in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def _lab(rgb: Array) -> Array:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (to_xyz @ rgb) / np.array([0.9505, 1.0, 1.089])
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
