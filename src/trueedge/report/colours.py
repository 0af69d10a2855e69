"""The colours of pages and pictures, for light and dark, as CSS custom properties."""

from __future__ import annotations

# The eight colours of series were searched for: no two come near each other, with all cones or with any one
# kind missing (Machado et al. 2009), and each stands out from its background by 3 : 1 (WCAG 2.2, 1.4.11).
LIGHT = {
    "page": "#f6f7f9",
    "surface": "#ffffff",
    "ink": "#15191f",
    "muted": "#56606c",
    "line": "#d5dae0",
    "grid": "#e6e9ed",
    "accent": "#0b5cad",
    "mark": "#e8f0fa",
    "heat": "#0072b2",
    "heat-below": "#c8500a",
    "ok": "#1a6b3c",
    "ok-back": "#def3e5",
    "look": "#7a4a00",
    "look-back": "#fdeecb",
    "broken": "#a51d24",
    "broken-back": "#fde3e3",
    "c1": "#175dae",
    "c2": "#e8590c",
    "c3": "#0b5a33",
    "c4": "#b04a74",
    "c5": "#15191f",
    "c6": "#8e7b4b",
    "c7": "#4293ff",
    "c8": "#6c0065",
}
DARK = {
    "page": "#0e1217",
    "surface": "#161b22",
    "ink": "#e8ecf1",
    "muted": "#a3adb9",
    "line": "#323b46",
    "grid": "#252d37",
    "accent": "#7cb8f5",
    "mark": "#1c2b3d",
    "heat": "#3d9bdb",
    "heat-below": "#e0752f",
    "ok": "#7fd8a0",
    "ok-back": "#14301f",
    "look": "#f2c26b",
    "look-back": "#37290c",
    "broken": "#ff9c9c",
    "broken-back": "#411a1d",
    "c1": "#1f78be",
    "c2": "#dd5f12",
    "c3": "#2fe3a0",
    "c4": "#dd7aa2",
    "c5": "#e8ecf1",
    "c6": "#ecd426",
    "c7": "#9ccaff",
    "c8": "#8f6152",
}
SERIES = 8


def css() -> str:
    """The rules that set every colour: by the system's choice, or by the page's own switch."""
    light, dark = (_listed(palette) for palette in (LIGHT, DARK))
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
    )


def use(name: str) -> str:
    """A colour as a CSS value, which is the light one where a picture stands outside of a page."""
    return f"var(--{name},{LIGHT[name]})"


def of_series(place: int) -> str:
    """The colour of the series at a place; they repeat after eight."""
    return use(f"c{place % SERIES + 1}")


def _listed(palette: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in palette.items())
