"""What to do about findings, where several checks say the same: their findings are then shown as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def use(protocol: str, otherwise: str) -> Callable[[Any], str]:
    """Return advice to use a protocol; other advice if it is in use already.

    Args:
        protocol: its name.
        otherwise: what to do if the task is one of this protocol.
    """

    def advice(subject: Any) -> str:
        used = str(subject.task.protocol).removesuffix("-released")
        return otherwise if used == protocol else f"Use `-p {protocol}`"

    return advice


def split_by_time(subject: Any) -> str:
    """Return advice on interactions of the future: another split, unless they are split by time already."""
    if subject.task.settings.get("split") == "time":
        return "Report these interactions separately"
    return "Use `--option split=time`"


def measure_distance(subject: Any) -> str:
    """Return advice on pairs that distance tells apart; common neighbours are named if there are any."""
    both = "Common Neighbours (`cn`) and Shortest Path"
    named = "Shortest Path (`shortest-path`)" if subject.without_common_neighbours else both
    return use("heart", f"Report {named} beside every model")(subject)


DEGREES = use("degree-corrected", "Report Preferential Attachment (`pa`) beside every model")
FEATURES = "Report Feature Cosine (`cosine`) beside every model"
ONE_RULE = "Report the MRR of one rule for each relation (`shortcut-one-rule`) beside every model"
COUNTING = "Report `entity-degree` and `relation-frequency` beside every model"
POPULARITY = "Report `popularity` beside every model"
KNOWLEDGE = "Report a model without the knowledge graph beside every model"
