"""Whole reports at fixed widths, without colour; then single facts about them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
from attrs import evolve
from rich.console import Console

from reconverge.checker.result import Bounds, Cell, Coverage, Exploration, Verdict
from reconverge.checker.trace import TraceStep
from reconverge.reports.page import ASCII, UNICODE, Page
from reconverge.reports.terminal import report, report_text, reports, trace_report
from reconverge.reports.words import claim

Compare = Callable[[str, str], None]
HINTS = (
    "reconverge replay .reconverge/traces/shop-drain-completes.json",
    "reconverge replay .reconverge/traces/shop-replicas-restored.json",
)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("glyphs", ["unicode", "ascii"])
def test_a_result_with_findings(samples: ModuleType, transcript: Compare, width: int, glyphs: str) -> None:
    page = Page(width, ASCII if glyphs == "ascii" else UNICODE)
    transcript(f"findings-{width}-{glyphs}.txt", report_text(samples.result(), page, hints=HINTS))


@pytest.mark.parametrize("width", [80, 120])
def test_a_result_without_findings(samples: ModuleType, transcript: Compare, width: int) -> None:
    transcript(f"clean-{width}.txt", report_text(samples.clean(), Page(width)))


def test_a_missed_expectation(samples: ModuleType, transcript: Compare) -> None:
    transcript("missed-80.txt", report_text(samples.missed()))


def test_an_invariant_that_breaks_in_a_step(samples: ModuleType, transcript: Compare) -> None:
    result = samples.result(
        traces=(samples.BUDGET,),
        verdicts=(Verdict("budget-honoured", "poddisruptionbudget/web", "violated", "law", "", 0),),
        table=(),
    )
    transcript("broken-80.txt", report_text(result))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_no_line_is_longer_than_the_page_but_what_people_copy(samples: ModuleType, width: int) -> None:
    lines = report_text(samples.result(), Page(width), hints=HINTS).splitlines()
    assert [line for line in lines if len(line) > width and "reconverge replay" not in line] == []


def test_no_line_ends_in_blanks(samples: ModuleType) -> None:
    assert [line for line in report_text(samples.result()).splitlines() if line != line.rstrip()] == []


def test_an_ascii_page_has_ascii_only(samples: ModuleType) -> None:
    assert report_text(samples.result(), Page(80, ASCII)).isascii()


def test_colour_changes_no_character(samples: ModuleType) -> None:
    lines = report(samples.result(), Page(80))
    console = Console(width=80, force_terminal=True, color_system="truecolor", no_color=False)
    with console.capture() as caught:
        for line in lines:
            console.print(line, soft_wrap=True, highlight=False, markup=False)
    assert "\x1b[" in caught.get()
    assert "".join(f"{line.plain}\n" for line in lines) == report_text(samples.result(), Page(80))


@pytest.mark.parametrize(
    ("exploration", "said"),
    [
        (
            Exploration("exhaustive", True, 4120, 1, 1, 1, Bounds(2, 1), (Bounds(2, 1),)),
            "No violation found for every sequence of at most 2 events and 1 deviation (4,120 states, complete).",
        ),
        (
            Exploration("exhaustive", True, 7, 1, 1, 1, Bounds(1, 0), (Bounds(1, 0),)),
            "No violation found for every sequence of at most 1 event and no deviation (7 states, complete).",
        ),
        (
            Exploration("exhaustive", True, 1, 1, 1, 1, Bounds(0, 0), (Bounds(0, 0),)),
            "No violation found for the start itself, with no free event and no deviation (1 state, complete).",
        ),
        (
            Exploration("exhaustive", False, 9, 1, 1, 1, Bounds(2, 1), (Bounds(1, 1), Bounds(2, 0))),
            "No violation found for every sequence of at most 1 event and 1 deviation, and of at most 2 events and no "
            "deviation (9 states, complete).",
        ),
        (
            Exploration("exhaustive", False, 9, 1, 1, 1, Bounds(2, 1)),
            "Inconclusive: no violation found, but the search was cut short. Explored: sequences of at most 2 events "
            "and 1 deviation (9 states, cut short).",
        ),
        (
            Exploration("random", False, 90, 1, 100, 4000, Bounds(2, 1), seed=7),
            "No violation found in 100 random sequences from seed 7 (90 states, 4,000 steps); what was not drawn is "
            "not judged.",
        ),
    ],
)
def test_a_claim_names_its_bounds(samples: ModuleType, exploration: Exploration, said: str) -> None:
    assert claim(samples.clean(exploration=exploration)) == said


def test_what_stayed_open_is_never_claimed(samples: ModuleType) -> None:
    open_ = samples.clean(verdicts=(Verdict("drain-completes", "node/a", "inconclusive", "objective"),))
    assert claim(open_).startswith("Inconclusive: ")


def test_no_report_says_safe(samples: ModuleType) -> None:
    texts = [report_text(each) for each in (samples.result(), samples.clean(), samples.missed())]
    assert [text for text in texts if " safe" in text.lower()] == []


def test_a_wide_table_is_split_into_blocks(samples: ModuleType) -> None:
    names = [f"some-long-event-{number}" for number in range(8)]
    cells = tuple(Cell("deployment/web", name, "held") for name in names)
    lines = report_text(samples.clean(table=cells), Page(80)).splitlines()
    heads = [line for line in lines if "some-long-event" in line]
    assert len(heads) > 1
    assert " ".join(heads).split() == names


def test_violated_cells_are_brief_where_that_saves_a_block(samples: ModuleType) -> None:
    cells = tuple(Cell("deployment/web", f"event-{n}", "violated", (0, 1)) for n in range(6))
    text = report_text(samples.result(table=cells), Page(80))
    assert "  deployment/web  #1 #2" in text
    assert "#n violated, as shown below" in text


def test_of_many_workloads_those_that_hold_are_told_in_a_line(samples: ModuleType) -> None:
    cells = [Cell(f"deployment/w{number:02}", "drain", "held") for number in range(40)]
    cells[7] = evolve(cells[7], status="violated", traces=(0,))
    text = report_text(samples.result(table=tuple(cells)), Page(80))
    assert "39 more workloads, where nothing is violated" in text
    assert "violated #1" in text


def test_several_results_are_brief_about_what_is_as_it_should_be(samples: ModuleType, transcript: Compare) -> None:
    lines = reports([samples.clean(), samples.missed()], Page(80))
    transcript("several-80.txt", "".join(f"{line.plain}\n" for line in lines))


def test_an_ordinary_run_is_shown_without_verdict(samples: ModuleType) -> None:
    run = evolve(samples.CRASH, invariant="", object="", message="", statement="", why="", remedy="")
    text = "\n".join(line.plain for line in trace_report(run, Page(80)))
    assert "A run without violation" in text
    assert "Everything is at rest here." in text
    assert "does not hold" not in text


def test_what_never_happened_for_one_reason_is_told_together(samples: ModuleType) -> None:
    why = "it was possible in no state that was reached"
    never = tuple(f"{name} never happened: {why}" for name in ("uncordon", "node-recover"))
    coverage = Coverage({}, {}, {}, (*never, "job-completes was never applicable"))
    text = report_text(samples.clean(coverage=coverage), Page(120))
    assert f"never happened    uncordon, node-recover: {why}.\n" in text
    assert "never applicable" not in text


def test_the_same_steps_are_shown_once(samples: ModuleType) -> None:
    twice = (samples.DRAIN, evolve(samples.DRAIN, invariant="no-livelock", object="cluster"))
    text = report_text(samples.result(traces=twice))
    assert text.count("repeats every 5s from here") == 1
    assert "#2 no-livelock: cluster" in text
    assert "It breaks in the very steps of #1." in text


def test_everything_shows_every_step(samples: ModuleType) -> None:
    lines = trace_report(samples.CRASH, Page(120), everything=True)
    shown = " ".join(" ".join(line.plain.split()) for line in lines)
    assert [step.text for step in samples.CRASH.steps if step.text not in shown] == []


def test_a_long_run_loses_its_middle(samples: ModuleType) -> None:
    steps = tuple(TraceStep(n, "write", "replicaset", f"writes {'abcdefghijk'[n % 11]}") for n in range(500))
    text = "\n".join(line.plain for line in trace_report(evolve(samples.CRASH, steps=steps), Page(80)))
    assert "441 more steps, until t+8m" in text
    assert len(text.splitlines()) < 100


def test_loops_that_had_nothing_to_do_are_told_of_together(samples: ModuleType) -> None:
    one = "the kubelet loop wrote nothing: no run gave it anything to do"
    other = one.replace("kubelet", "scheduler")
    text = report_text(samples.clean(coverage=Coverage({}, {}, {}, (one, other))), Page(120))
    assert "The loops kubelet, scheduler wrote nothing: no run gave them anything to do.\n" in text
    text = report_text(samples.clean(coverage=Coverage({}, {}, {}, (one,))), Page(120))
    assert "The kubelet loop wrote nothing: no run gave it anything to do.\n" in text
