"""A campaign's report: a page for people, tables for programs and papers."""

from spotthebot.analytics.report.files import Report, write_report

__all__ = ["Report", "write_report"]
