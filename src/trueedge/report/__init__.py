"""Pages and pictures of records, studies and audits."""

from trueedge.report.critical_difference import critical_difference
from trueedge.report.records_page import report, write

__all__ = ["critical_difference", "report", "write"]
