"""The HTML page: what is claimed, the resilience table, each counterexample, all verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from reconverge.checker.result import Cell, Result
from reconverge.reports import words
from reconverge.reports.account import account, kinds, nodes
from reconverge.reports.html.elements import Markup, element, joined, text
from reconverge.reports.html.elements import words as tagged
from reconverge.reports.html.finding import finding
from reconverge.reports.html.style import STYLE
from reconverge.reports.summary import judged, never
from reconverge.reports.table import cell_text, grid
from reconverge.reports.terminal import grouped


def html_page(results: Sequence[Result], hints: Sequence[Sequence[str]], version: str) -> str:
    """The text of the page, with one section per result."""
    sections = [
        _result(result, told, f"r{number}")
        for number, (result, told) in enumerate(zip(results, hints, strict=True), start=1)
    ]
    title = words.listed((result.scenario for result in results), 3)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tagged("title", f"reconverge: {title}"),
        element("style", Markup(STYLE)),
    )
    footer = tagged("footer", f"reconverge {version}. Nothing is claimed beyond the bounds that are named.")
    body = element("body", element("main", *sections, footer))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _result(result: Result, hints: Sequence[str], anchor: str) -> Markup:
    parts = [tagged("h1", result.scenario), _claim(result), _header(result), _table(result, anchor)]
    for index, trace in enumerate(result.traces):
        parts.append(
            finding(
                trace,
                index + 1,
                anchor=f"{anchor}-t{index + 1}",
                also=grouped(result, index),
                hint=hints[index] if index < len(hints) else "",
            )
        )
    return element("section", *parts, _verdicts(result), _remarks(result), id=anchor)


def _claim(result: Result) -> Markup:
    parts = [text(words.claim(result))]
    expected = result.expectation
    if expected is not None and expected.met:
        wanted = f"{words.listed(expected.violated)} violated" if expected.violated else "nothing violated"
        parts.append(tagged("p", f"As expected: {wanted}."))
    elif expected is not None:
        parts += [tagged("p", f"Not as expected: {words.sentence(each)}") for each in expected.missed]
    looks = "bad" if result.exit_code else "open" if words.inconclusive(result) and expected is None else "good"
    return element("div", *parts, class_=f"claim {looks}")


def _header(result: Result) -> Markup:
    rows: list[tuple[str, Markup]] = []
    read = account(result)
    if read is not None:
        source = f" from {words.count(read.files, 'file')}" if read.files else ""
        rows.append(("read", text(f"{words.count(read.total, 'object')}{source}: {kinds(read.modelled)}")))
        if read.skipped:
            rows.append(("left out", text(f"not modelled: {kinds(read.skipped)}")))
        if read.ignored:
            rows.append(("ignored", text(f"{words.count(read.ignored, 'field')} on which nothing modelled depends")))
        if read.unsupported:
            rows.append(("unsupported", _places(read.unsupported)))
        if read.notes:
            rows.append(("notes", _places(read.notes)))
    where = nodes(result)
    if where:
        rows.append(("nodes", text(where)))
    rows.append(("rules", text(f"Kubernetes {result.kubernetes}, seed {result.seed}")))
    rows.append(("explored", text(words.reach(result))))
    return element("dl", *(joined(tagged("dt", label), element("dd", each)) for label, each in rows))


def _places(places: Sequence[str]) -> Markup:
    parts = [joined(element("br") if number else Markup(""), text(place)) for number, place in enumerate(places)]
    return element("span", *parts, class_="mono")


def _table(result: Result, anchor: str) -> Markup:
    whole = grid(result)
    if not whole.workloads:
        return Markup("")
    corner = element("th", tagged("span", "workload", class_="dim"))
    head = element("tr", corner, *(tagged("th", event, scope="col") for event in whole.events))
    rows = [
        element("tr", tagged("th", name, scope="row"), *(_cell(cell, anchor) for cell in whole.row(name)))
        for name in whole.workloads
    ]
    table = element("table", element("thead", head), element("tbody", *rows), class_="grid")
    return joined(tagged("h2", "Resilience"), element("div", table, class_="scroll"))


def _cell(cell: Cell | None, anchor: str) -> Markup:
    if cell is None or not cell.traces:
        status = "never" if cell is None else cell.status.split(" ")[0]
        return tagged("td", cell_text(cell), class_=status)
    links = [element("a", text(f"#{trace + 1}"), href=f"#{anchor}-t{trace + 1}") for trace in cell.traces]
    spaced = [joined(text(" "), link) for link in links]
    return element("td", text("✗"), *spaced, class_=cell.status.split(" ")[0], title=cell.status)


def _verdicts(result: Result) -> Markup:
    rows = []
    for each in judged(result.verdicts):
        status = "accepted" if each.accepted else each.status
        objects = words.listed(each.objects, 8)
        cells = (tagged("td", each.invariant), tagged("td", status, class_=each.status.split(" ")[0]))
        rows.append(element("tr", *cells, tagged("td", objects)))
    head = element("tr", *(tagged("th", name, scope="col") for name in ("invariant", "verdict", "objects")))
    table = element("table", element("thead", head), element("tbody", *rows))
    return joined(tagged("h2", "Verdicts"), element("div", table, class_="scroll"))


def _remarks(result: Result) -> Markup:
    accepted = [
        f"{verdict.invariant} ({verdict.object}): {verdict.accepted}" for verdict in result.verdicts if verdict.accepted
    ]
    groups = (
        ("Accepted violations", accepted),
        ("Not explored", result.not_covered),
        ("Never happened", never(result)),
        ("Warnings", result.warnings),
    )
    parts = []
    for label, sentences in groups:
        if sentences:
            items = [tagged("li", words.sentence(each)) for each in sentences]
            parts += [tagged("h2", label), element("ul", *items)]
    return joined(*parts)
