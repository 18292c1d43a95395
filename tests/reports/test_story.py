"""How steps are folded into a story."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from attrs import evolve

from reconverge.checker.trace import Difference, Trace, TraceStep
from reconverge.reports.story import beats, merged
from reconverge.reports.words import duration, facts, headline, moment, plural, sentence, value


@pytest.fixture(scope="module")
def trace(samples: ModuleType) -> Trace:
    made: Trace = evolve(samples.CRASH, steps=(), waiting=(), outcome="rest")
    return made


def write(text: str, actor: str = "replicaset", time: float = 0, **more: Any) -> TraceStep:
    return TraceStep(time, "write", actor, text, **more)


def told(trace: Trace, *steps: TraceStep, **changes: Any) -> list[str]:
    return [beat.text for beat in beats(evolve(trace, steps=steps, **changes))]


def test_status_updates_in_a_row_are_counted(trace: Trace) -> None:
    steps = [write(f"updates status of pod/{name}") for name in "abc"]
    assert told(trace, *steps) == ["3 status updates"]


def test_a_status_update_alone_is_told(trace: Trace) -> None:
    assert told(trace, write("updates status of pod/a")) == ["updates status of pod/a"]


def test_what_is_done_alike_to_several_is_told_once(trace: Trace) -> None:
    steps = [write(f"deletes pod/web-{name}") for name in ("aa", "bb", "cc")]
    assert told(trace, *steps) == ["deletes pod/web-aa, pod/web-bb, pod/web-cc"]


def test_other_actors_moments_and_verbs_are_told_apart(trace: Trace) -> None:
    steps = (
        write("deletes pod/a-1"),
        write("deletes pod/a-2", actor="podgc"),
        write("deletes pod/a-3", actor="podgc", time=5),
        write("creates pod/a-4", actor="podgc", time=5),
    )
    assert len(told(trace, *steps)) == 4


@pytest.mark.parametrize(
    ("texts", "one"),
    [
        (["binds pod/a to n1", "binds pod/b to n2"], "binds pod/a to n1, pod/b to n2"),
        (["leaves pod/a pending", "leaves pod/b pending"], "leaves pod/a, pod/b pending"),
        (["creates a pod", "creates a pod"], "creates a pod, 2 times"),
        ([f"deletes pod/{n}" for n in range(9)], "deletes pod/0, pod/1, pod/2, pod/3 and 5 more"),
    ],
)
def test_texts_are_merged_where_they_differ(texts: list[str], one: str) -> None:
    assert merged(texts) == one


def test_in_one_turn_of_an_actor_the_same_is_told_together(trace: Trace) -> None:
    steps = [write(f"{verb} pod/{name} on n1", "kubelet") for name in "ab" for verb in ("starts", "stops")]
    assert told(trace, *steps) == ["starts pod/a, pod/b on n1", "stops pod/a, pod/b on n1"]


def crash_loop(times: int) -> list[TraceStep]:
    """A pod is created and rejected, again and again."""
    pairs = [
        (write(f"creates pod/web-{n}", time=5 * n), write(f"rejects pod/web-{n}", "kubelet", 5 * n))
        for n in range(times)
    ]
    return [step for pair in pairs for step in pair]


def test_what_comes_again_and_again_is_counted(trace: Trace) -> None:
    assert told(trace, *crash_loop(20)) == [
        "creates pod/web-0",
        "rejects pod/web-0",
        "these 2 steps 19 more times, until t+1m35s",
    ]


def test_what_comes_twice_is_told_twice(trace: Trace) -> None:
    assert len(told(trace, *crash_loop(2))) == 4


def test_a_counted_part_ends_where_the_loop_begins(trace: Trace) -> None:
    texts = told(trace, *crash_loop(20), outcome="growth", repeats_from=36)
    assert texts[2:] == [
        "these 2 steps 17 more times, until t+1m25s",
        *("creates pod/web-18", "rejects pod/web-18", "creates pod/web-19", "rejects pod/web-19"),
    ]


def test_time_passes_in_the_next_lines_time(trace: Trace) -> None:
    assert told(trace, TraceStep(5, "time", "time", "5 s pass"), write("creates pod/a", time=5)) == ["creates pod/a"]


def test_what_is_odd_or_broken_is_never_folded(trace: Trace) -> None:
    steps = [write(f"updates status of pod/{name}", deviation="out of turn") for name in "ab"]
    assert len(told(trace, *steps)) == 2
    steps = [write(f"updates status of pod/{name}") for name in "abc"]
    assert told(trace, *steps, outcome="broken") == ["2 status updates", "updates status of pod/c"]


def test_the_begin_of_a_loop_is_marked(trace: Trace) -> None:
    steps = (write("a pod is created"), write("a pod is deleted"), TraceStep(5, "time", "time", "5 s pass"))
    marked = beats(evolve(trace, steps=steps, outcome="loop", repeats_from=1))
    assert [beat.repeats for beat in marked] == ["", "repeats every 5s from here"]


def test_a_loop_that_begins_after_the_last_step_marks_nothing(trace: Trace) -> None:
    assert beats(evolve(trace, steps=(write("creates pod/a"),), repeats_from=1))[0].repeats == ""


def test_an_event_tells_what_its_words_do_not(trace: Trace) -> None:
    fields = (("replicas", 3, 4), ("generation", 1, 2))
    change = Difference("deployment/web", "changed", fields)
    lease = Difference("lease/n1", "changed", (("renewedAt", 1, 2),))
    event = TraceStep(0, "event", "environment", "deployment/web is scaled to 4", "", (change, lease))
    (beat,) = beats(evolve(trace, steps=(event,)))
    assert beat.differences == (Difference("deployment/web", "changed", (("replicas", 3, 4),)),)
    assert beat.number == 1


def test_loops_say_what_they_write(trace: Trace) -> None:
    change = Difference("pod/a", "changed", (("node", None, "n1"),))
    (beat,) = beats(evolve(trace, steps=(write("binds pod/a to n1", differences=(change,)),)))
    assert beat.differences == ()


def test_an_eviction_deletes(trace: Trace) -> None:
    assert told(trace, write("evicts pod/a"), write("deletes pod/a")) == ["evicts pod/a"]


def test_a_refusal_is_told_once(trace: Trace) -> None:
    (beat,) = beats(evolve(trace, steps=(TraceStep(0, "refused", "drain", "evicts pod/a", "refused: 429 No."),)))
    assert beat.reason == "429 No."


def test_the_message_leaves_to_the_waiting_what_they_tell(samples: ModuleType) -> None:
    (waiting,) = samples.CRASH.waiting
    message = f"2 of 3 replicas are ready: {waiting.pod} is Pending: {waiting.reason}"
    long = evolve(samples.CRASH, message=message, facts={"missing": [f"{waiting.pod}: {waiting.reason}"], "wanted": 3})
    assert headline(long) == "2 of 3 replicas are ready."
    assert facts(long) == ""


def test_facts_that_nothing_else_tells_are_told(samples: ModuleType) -> None:
    assert facts(evolve(samples.CRASH, facts={"min_available": 7, "zones": ["a-1", "a-2"]})) == (
        "min available: 7, zones: a-1, a-2"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (50, "50s"), (350, "5m50s"), (3600, "1h"), (3661, "1h1m1s"), (0.5, "0.5s"), (90.25, "1m30s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
    assert moment(seconds) == f"t+{text}"


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (None, "none"), ("", "none"), (True, "true"), (3.0, "3"), ([], "none"), ([1, "a"], "1, a"),
        ({"b", "a"}, "a, b"),
        ({"a": 1}, "a=1"), (0.1, "0.1"),
    ],
)  # fmt: skip
def test_values(thing: object, text: str) -> None:
    assert value(thing) == text


def test_sentences_and_plurals() -> None:
    assert sentence("drain-completes held") == "drain-completes held."
    assert sentence("deployment/web is down") == "deployment/web is down."
    assert sentence("the drain never ends!") == "The drain never ends!"
    assert [plural(kind) for kind in ("Pod", "Ingress", "NetworkPolicy", "Gateway")] == [
        "Pods",
        "Ingresses",
        "NetworkPolicies",
        "Gateways",
    ]
