"""The report as JUnit XML: one test suite per result, one test case per invariant and object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from reconverge.checker.result import Result, Verdict
from reconverge.reports import words
from reconverge.reports.counterexample import counterexample
from reconverge.reports.page import Page, plain_text
from reconverge.reports.terminal import grouped

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(results: Sequence[Result], hints: Sequence[Sequence[str]]) -> str:
    """The text of a JUnit file."""
    root = Xml.Element("testsuites", name="reconverge")
    for result, told in zip(results, hints, strict=True):
        root.append(_suite(result, told))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(result: Result, hints: Sequence[str]) -> Xml.Element:
    cases = [_case(verdict, result, hints) for verdict in result.verdicts]
    if result.expectation is not None:
        cases.append(_expectation(result))
    failures = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    suite = Xml.Element(
        "testsuite", name=_clean(result.scenario), tests=str(len(cases)), failures=str(failures), errors="0",
        skipped=str(skipped),
    )  # fmt: skip
    properties = Xml.SubElement(suite, "properties")
    for name, value in (("claim", words.claim(result)), ("kubernetes", result.kubernetes), ("seed", result.seed)):
        Xml.SubElement(properties, "property", name=name, value=_clean(str(value)))
    suite.extend(cases)
    return suite


def _case(verdict: Verdict, result: Result, hints: Sequence[str]) -> Xml.Element:
    name = f"{verdict.invariant}: {verdict.object}" if verdict.object else verdict.invariant
    case = Xml.Element("testcase", classname=_clean(result.scenario), name=_clean(name))
    if verdict.status == "violated" and not verdict.accepted and _is_expected(verdict, result):
        Xml.SubElement(case, "system-out").text = _clean(f"violated, as expected: {verdict.message}")
    elif verdict.status == "violated" and not verdict.accepted:
        failure = Xml.SubElement(case, "failure", type=verdict.family, message=_clean(verdict.message))
        failure.text = _clean(_body(verdict, result, hints))
    elif verdict.status != "held":
        reason = f"accepted: {verdict.accepted}" if verdict.accepted else verdict.status
        Xml.SubElement(case, "skipped", message=_clean(reason))
    return case


def _is_expected(verdict: Verdict, result: Result) -> bool:
    expected = result.expectation.violated if result.expectation is not None else ()
    return any(each in (verdict.invariant, f"{verdict.invariant} of {verdict.object}") for each in expected)


def _expectation(result: Result) -> Xml.Element:
    case = Xml.Element("testcase", classname=_clean(result.scenario), name="expectation")
    missed = result.expectation.missed if result.expectation is not None else ()
    if missed:
        text = "; ".join(missed)
        Xml.SubElement(case, "failure", type="expectation", message=_clean(text)).text = _clean(words.claim(result))
    return case


def _body(verdict: Verdict, result: Result, hints: Sequence[str]) -> str:
    if verdict.trace is None:
        return verdict.message
    hint = hints[verdict.trace] if verdict.trace < len(hints) else ""
    trace = result.traces[verdict.trace]
    also = grouped(result, verdict.trace)
    lines = counterexample(trace, Page(100), number=verdict.trace + 1, also=also, hint=hint)
    return "\n" + plain_text(lines)


def _clean(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
