"""The report as one self-contained HTML page: nothing is loaded from anywhere, no script runs."""

from reconverge.reports.html.page import html_page

__all__ = ["html_page"]
