"""What to do next, by what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueedge.errors import listed

if TYPE_CHECKING:
    from trueedge.verdict.verdict import Verdict

MUCH_DEGREE = 0.4
SIMPLE = ", and needs no training"
UNTRAINED = ("heuristics", "counting", "voting")
# What to do about a doubt or a check of the scorer, by its name.
REMEDIES = {
    "adjacency": "Score pairs by a model that was trained without validation and test edges",
    "perfect": "Look for the answers of the test part among what the model reads",
    "test-edges": "Train on the training graph alone: a function fit(task) gets it as task.graph",
    "outside-knowledge": "Let fit(task) use task.graph and task.features, and nothing from outside",
    "validation-edges": "Use validation edges for selection alone, not for training",
    "features": "Leave out the features, or make them without validation and test edges",
    "chance": "Improve the model before you compare it: random scores do about as well",
    "upside-down": "Negate the scores, if they are distances; otherwise train longer",
    "epoch-limit": "Train for more epochs",
    "batch": "Score pairs one by one: put the network into evaluation mode",
    "single": "Score pairs one by one: put the network into evaluation mode",
    "order": "Return the scores in the order of the pairs",
    "direction": "Let (u, v) and (v, u) have the same score",
    "saturation": "Return the logits, not probabilities",
    "rounding": "Return the scores before they are rounded",
}


def advice(verdict: Verdict, fixed: bool, noun: str = "splits") -> list[str]:
    """Return what to do next, most important first.

    Args:
        verdict: what was found.
        fixed: whether the model is a scorer that is not fitted to each split.
        noun: what more seeds give: ``splits``, or only ``seeds`` on data with one split.
    """
    found = [one.name for one in verdict.suspicions]
    found += (
        [] if verdict.check is None else [one.name for one in verdict.check.findings if one.level != "ok"]
    )
    remedies = list(dict.fromkeys(REMEDIES[name] for name in found if name in REMEDIES))
    if not verdict.ok:
        return ["Report none of these numbers before the doubts are settled", *remedies]
    return [
        *remedies,
        *_by_answers(verdict, fixed, noun),
        *_by_degree(verdict),
        *_for_certainty(verdict, fixed, noun),
        *_audits(verdict),
    ]


def _by_answers(verdict: Verdict, fixed: bool, noun: str) -> list[str]:
    """Return what follows from the place of the model among the baselines."""
    below, tied, above = (
        [one for one in verdict.answers if one.place == place] for place in ("below", "tied", "above")
    )
    simple = "" if verdict.model in _untrained() else SIMPLE
    if below and not above:
        # The best baseline by its mean need not be one that is significantly better.
        first = next((one for one in below if one.best in one.beside), below[0])
        better = first.best if first.best in first.beside else first.beside[0]
        where = "here" if len(verdict.answers) == 1 else f"under {first.protocol}"
        return [f"Use {better}: it is better {where}{simple}"]
    if tied and not above and all(one.equal for one in tied):
        return [f"Consider {tied[0].best}: it does as well here{simple}"]
    if tied and not above and fixed:
        # Its scores are of one split; what to do about that is said below.
        return []
    if tied and not above:
        # A split by time has no other seeds.
        more = "Hold out more edges" if "split=time" in tied[0].protocol else f"Run more {noun} (--seeds 10)"
        return [f"{more} to tell it from {tied[0].best}"]
    if above and (below or tied):
        other = (below or tied)[0]
        return [f"Report {other.protocol} beside {above[0].protocol}: they disagree about this model"]
    if not above or any(one.name == "chance" for one in verdict.suspicions):
        return []
    if len(verdict.answers) == 1:
        return [f"Report {above[0].metric.upper()} with its interval: the model is ahead"]
    return ["Report every protocol with its interval: the model is ahead under each of them"]


def _untrained() -> set[str]:
    """Return the names of the methods that need no training."""
    from trueedge import methods

    return {one.name for one in methods.catalogue() if one.family in UNTRAINED}


def _by_degree(verdict: Verdict) -> list[str]:
    if verdict.degree_share is None or verdict.degree_share <= MUCH_DEGREE:
        return []
    return ["Report degree-corrected results: much of this AUC is knowing the degrees of nodes"]


def _for_certainty(verdict: Verdict, fixed: bool, noun: str) -> list[str]:
    """Return how to get more splits or seeds, if there are too few."""
    if fixed:
        return [f"Give a function fit(task) that trains the model on task.graph, to get several {noun}"]
    unknown = [one for one in verdict.answers if one.place == "unknown"]
    if not unknown:
        return []
    if "split=time" in unknown[0].protocol:
        return [f"Use {unknown[0].metric.upper()} with care: one split by time gives it no interval"]
    return [f"Run more {noun} (seeds=5, or --seeds 5): these are too few for an interval"]


def _audits(verdict: Verdict) -> list[str]:
    """Return which benchmarks to look at before numbers are compared with published ones."""
    broken = [(protocol, one) for protocol, one in verdict.warnings if one.verdict == "broken"]
    protocols = list(dict.fromkeys(protocol for protocol, _ in broken))
    if not protocols:
        return []
    return [f"Read the audit of {listed(protocols)} before you compare these numbers with published ones"]
