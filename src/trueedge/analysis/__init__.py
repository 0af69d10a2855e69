"""Analyse records: summaries, comparisons, tables, slices, rankings, figures."""

from trueedge.analysis.summary import Row, summarise

__all__ = ["Row", "summarise"]
