"""Published tables as code, with the published numbers next to ours."""

from trueedge.studies.evidence import check_evidence, write
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Comparison, Finding, Plan, Study, Tuning, catalogue, get

__all__ = [
    "Comparison",
    "Finding",
    "Plan",
    "PublishedValue",
    "Study",
    "Tuning",
    "catalogue",
    "check_evidence",
    "get",
    "published",
    "write",
]
