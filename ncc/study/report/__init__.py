"""Reports of an evaluation: an HTML page that needs no other file and no net, and tables for a terminal."""

from ncc.study.report.classification import classification_report
from ncc.study.report.coarsening import coarsening_report
from ncc.study.report.devices import device_report

__all__ = ["classification_report", "coarsening_report", "device_report"]
