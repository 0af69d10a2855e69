"""Pages and pictures from records and findings."""

from trueedge.report.records_page import report, write

__all__ = ["report", "write"]
