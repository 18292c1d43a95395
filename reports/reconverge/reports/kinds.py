"""The kinds of report that can be written to a file, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from reconverge.checker.result import Result


@frozen
class Job:
    """What a report is made of: results, the commands that replay their traces, and the version that made them."""

    results: Sequence[Result]
    hints: Sequence[Sequence[str]]
    """Per result, one per trace."""
    version: str


def _dot(job: Job) -> str:
    from reconverge.reports.dot import dot_text

    return dot_text(job.results)


def _html(job: Job) -> str:
    from reconverge.reports.html import html_page

    return html_page(job.results, job.hints, job.version)


def _itf(job: Job) -> str:
    from reconverge.reports.itf import itf_text

    return itf_text(job.results, job.version)


def _json(job: Job) -> str:
    from reconverge.reports.json_document import document_text

    return document_text(job.results, job.version)


def _junit(job: Job) -> str:
    from reconverge.reports.junit import junit_text

    return junit_text(job.results, job.hints)


def _markdown(job: Job) -> str:
    from reconverge.reports.markdown import markdown

    return markdown(job.results, job.hints)


def _sarif(job: Job) -> str:
    from reconverge.reports.sarif import sarif_text

    return sarif_text(job.results, job.version)


def _text(job: Job) -> str:
    from reconverge.reports.terminal import report_text

    return "\n".join(report_text(each, hints=hints) for each, hints in zip(job.results, job.hints, strict=True))


KINDS: dict[str, Callable[[Job], str]] = {
    "dot": _dot,
    "html": _html,
    "itf": _itf,
    "json": _json,
    "junit": _junit,
    "markdown": _markdown,
    "sarif": _sarif,
    "text": _text,
}
"""The text of a report of each kind."""
