"""What to do next, by what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueedge.verdict.verdict import Verdict

MUCH_DEGREE = 0.4
FEW_SPLITS = 3


def advice(verdict: Verdict, fixed: bool) -> list[str]:
    """Return what to do next, most important first."""
    said = []
    if not verdict.ok:
        said.append(
            "First find out whether the doubts are justified; until then, report none of these numbers"
        )
    below = [one for one in verdict.answers if one.place == "below"]
    tied = [one for one in verdict.answers if one.place == "tied"]
    above = [one for one in verdict.answers if one.place == "above"]
    if below and not above:
        said.append(f"Use {below[0].best}: it is better here, and needs no training")
    elif tied and not above:
        said.append(f"{tied[0].best} does as well: a model that must be trained has to be clearly better")
    elif above and (below or tied):
        worst = (below or tied)[0]
        said.append(f"Report {worst.protocol} beside {above[0].protocol}: they disagree about this model")
    elif above:
        said.append("Report all protocols with their intervals: the model is better under each of them")
    if verdict.degree_share is not None and verdict.degree_share > MUCH_DEGREE:
        said.append("Report degree-corrected results: much of this AUC is knowing the degrees of nodes")
    if fixed:
        said.append("Give a function fit(task) that trains the model on task.graph, to get several splits")
    elif any(one.place == "unknown" for one in verdict.answers):
        said.append("Run more splits (seeds=5): one split is too few for an interval")
    if verdict.warnings:
        protocols = ", ".join(dict.fromkeys(protocol for protocol, _ in verdict.warnings))
        said.append(f"Look at the audit of {protocols} before you compare with published numbers")
    return said
