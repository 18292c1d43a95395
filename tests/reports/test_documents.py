"""JSON, JUnit, SARIF, Markdown, HTML and ITF: well-formed, complete, and the same every time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from attrs import evolve

from reconverge.checker.result import Expectation, Result, Verdict
from reconverge.reports.html import html_page
from reconverge.reports.itf import itf
from reconverge.reports.json_document import document, document_text, documents
from reconverge.reports.junit import junit_text
from reconverge.reports.kinds import KINDS, Job
from reconverge.reports.markdown import markdown
from reconverge.reports.sarif import sarif_text
from reconverge.reports.trace_json import trace_from_json

Compare = Callable[[str, str], None]
HINTS = [["reconverge replay a.json", "reconverge replay b.json"]]
NASTY = "<script>alert('x')</script> & \"quoted\" | `code` \x00\x1b[31m ]]> 🚀"


@pytest.fixture
def nasty(samples: ModuleType) -> Result:
    """A result with names and messages that every format must keep apart from its own marks."""
    trace = evolve(samples.CRASH, message=NASTY, object=NASTY, why=NASTY, facts={"x": NASTY + "1"})
    verdict = Verdict("replicas-restored", NASTY, "violated", "objective", NASTY, 0)
    made: Result = samples.result(scenario=NASTY, traces=(trace,), verdicts=(verdict,), warnings=(NASTY,), table=())
    return made


def test_the_json_document(samples: ModuleType, transcript: Compare) -> None:
    transcript("document.json", document_text([samples.result()], "1.2.3"))


def test_the_json_document_has_what_is_promised(samples: ModuleType) -> None:
    data = json.loads(document_text([samples.result()], "1.2.3"))
    assert data["reconverge"] == "1.2.3"
    assert data["explored"]["bounds"] == {"events": 2, "deviations": 1}
    assert {"mode", "complete", "states", "transitions", "sequences"} <= set(data["explored"])
    for verdict in data["verdicts"]:
        assert {"invariant", "object", "status", "family", "message", "trace"} <= set(verdict)
    assert trace_from_json(data["traces"][1]) == samples.CRASH


def test_verdicts_are_sorted_in_the_json_document(samples: ModuleType) -> None:
    result = samples.result()
    backwards = evolve(result, verdicts=result.verdicts[::-1])
    assert document(result, "1") == document(backwards, "1")


def test_several_results_are_one_json_document(samples: ModuleType) -> None:
    data = documents([samples.clean(), samples.result()], "1")
    assert data["format"] == "reconverge/results/v1"
    assert data["exit_code"] == 1
    assert [each["exit_code"] for each in data["results"]] == [0, 1]


def test_the_markdown(samples: ModuleType, transcript: Compare) -> None:
    transcript("report.md", markdown([samples.result()], HINTS))


def test_the_junit_file(samples: ModuleType, transcript: Compare) -> None:
    transcript("junit.xml", junit_text([samples.result()], HINTS))


def test_junit_counts_what_it_holds(samples: ModuleType) -> None:
    (suite,) = Xml.fromstring(junit_text([samples.result()], HINTS))
    cases = suite.findall("testcase")
    assert int(suite.get("tests", "")) == len(cases)
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure")) == 3
    assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped")) == 3


def test_what_is_expected_is_no_failure_in_junit(samples: ModuleType) -> None:
    expected = Expectation(("drain-completes", "replicas-restored of deployment/web"), ())
    (suite,) = Xml.fromstring(junit_text([samples.result(expectation=expected)], HINTS))
    names = [case.get("name") for case in suite.findall("testcase") if case.find("failure") is not None]
    assert names == ["replicas-restored: deployment/cart"]


def test_a_missed_expectation_fails_in_junit(samples: ModuleType) -> None:
    (suite,) = Xml.fromstring(junit_text([samples.missed()], [[]]))
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("message") == "drain-completes held, but should be violated"


def test_sarif(samples: ModuleType) -> None:
    (run,) = json.loads(sarif_text([samples.result()], "1.2.3"))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "budget-kept",
        "drain-completes",
        "replicas-restored",
    ]
    assert [each["ruleId"] for each in run["results"]].count("replicas-restored") == 2
    (accepted,) = [each for each in run["results"] if "suppressions" in each]
    assert accepted["suppressions"] == [{"kind": "external", "justification": "known until June"}]
    assert len({each["partialFingerprints"]["reconverge/v1"] for each in run["results"]}) == 4
    flow = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert flow[0]["location"]["message"]["text"] == "t+0s operator: kubectl drain workers-1 begins"


def test_itf(samples: ModuleType) -> None:
    data = itf(samples.DRAIN, "1")
    assert data["loop"] == 6
    assert len(data["states"]) == len(samples.DRAIN.steps)
    assert all(set(state) == {"#meta", *data["vars"]} for state in data["states"])
    assert data["states"][0]["changes"][0]["fields"] == [{"name": "unschedulable", "before": False, "after": True}]


class Page(HTMLParser):
    """Collects tags, attributes that lead elsewhere, and whether every element is closed."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)


def test_the_html_page_is_well_formed_and_needs_nothing_else(samples: ModuleType) -> None:
    text = html_page([samples.result(), samples.clean()], [*HINTS, []], "1.2.3")
    page = Page(text)
    assert page.open == []
    assert not page.tags & {"script", "link", "img", "iframe"}
    assert "url(" not in text
    assert len(page.ids) == len(set(page.ids))
    assert [link for link in page.links if link.removeprefix("#") not in page.ids] == []


def test_the_html_page_shows_lanes_and_steps(samples: ModuleType) -> None:
    text = html_page([samples.result()], HINTS, "1.2.3")
    assert text.count("<svg") == 2
    for word in (
        "node-lifecycle",
        "taint-eviction",
        "t+5m50s",
        "repeats every 5s from here",
        "reconverge replay a.json",
    ):
        assert word in text


def test_no_format_lets_names_through_as_marks(nasty: Result) -> None:
    page = html_page([nasty], [["x"]], "1")
    assert "<script>" not in page
    assert Page(page).open == []
    Xml.fromstring(junit_text([nasty], [["x"]]))
    json.loads(sarif_text([nasty], "1"))
    json.loads(document_text([nasty], "1"))
    assert not re.search(r"(?<!\\)<script>", markdown([nasty], [["x"]]))
    assert "\\<script\\>" in markdown([nasty], [["x"]])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_report_is_the_same_every_time(samples: ModuleType, kind: str) -> None:
    job = Job([samples.result(), samples.missed()], [*HINTS, []], "1.2.3")
    assert KINDS[kind](job) == KINDS[kind](job) != ""
