"""The growth of cost with the graph, as a picture with logarithmic axes."""

from __future__ import annotations

import math
from typing import Any

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 20, 50
# Told apart by those who see colours otherwise too, on white and on black.
COLOURS = ("#0f766e", "#c2410c", "#6d28d9")
INK, GRID = "#64748b", "#cbd5e1"


def picture(rows: list[dict[str, Any]]) -> str:
    """An SVG of the seconds of each series over the edges, from the rows of the scaling benchmark."""
    series: dict[str, list[tuple[float, float]]] = {}
    exponents: dict[str, float] = {}
    for row in rows:
        if row["exponent"] is not None:
            exponents[row["task"].partition(":")[0]] = row["exponent"]
            continue
        name, _, size = row["task"].rpartition(", ")
        series.setdefault(name, []).append((int(size.split()[0].replace(",", "")), row["seconds"]))
    points = [point for line in series.values() for point in line]
    sizes, times = sorted({size for size, _ in points}), [seconds for _, seconds in points]
    decades = range(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))) + 1)

    def x(size: float) -> float:
        low, high = math.log(sizes[0]), math.log(sizes[-1])
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log(size) - low) / (high - low)

    def y(seconds: float) -> float:
        share = (math.log10(seconds) - decades[0]) / (decades[-1] - decades[0])
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    marks = []
    for decade in decades:
        at = y(10**decade)
        label = f"{10**decade:g} s" if decade >= 0 else f"{10 ** (decade + 3):g} ms"
        marks.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="{GRID}"/>')
        marks.append(_text(LEFT - 8, at + 4, label, INK, "end"))
    for size in sizes:
        marks.append(_text(x(size), HEIGHT - BOTTOM + 20, f"{size / 1e6:g}M", INK, "middle"))
    marks.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "edges", INK, "middle"))
    for colour, (name, line) in zip(COLOURS, series.items(), strict=False):
        path = " ".join(f"{x(size):.1f},{y(seconds):.1f}" for size, seconds in line)
        marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        marks += [f'<circle cx="{x(s):.1f}" cy="{y(t):.1f}" r="3.5" fill="{colour}"/>' for s, t in line]
        end = y(line[-1][1])
        marks.append(_text(WIDTH - RIGHT + 12, end, name, colour, "start"))
        marks.append(_text(WIDTH - RIGHT + 12, end + 15, f"exponent {exponents[name]:.2f}", INK, "start"))
    body = "\n".join(marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' font-family="sans-serif" font-size="13">\n<title>Seconds over edges</title>\n{body}\n</svg>\n'
    )


def _text(x: float, y: float, words: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{words}</text>'
