"""Pages and figures of records, studies, audits and verdicts."""

from trueedge.report.critical_difference import critical_difference
from trueedge.report.figure_files import write_figures
from trueedge.report.plots import figure
from trueedge.report.records_page import report, write

__all__ = ["critical_difference", "figure", "report", "write", "write_figures"]
