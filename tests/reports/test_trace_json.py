"""Traces go to JSON and back without a change."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.checker.trace import Difference, Pending, Stroke, Trace, TraceStep
from reconverge.reports import trace_from_json, trace_to_json
from reconverge.reports.plain import plain
from reconverge.reports.trace_json import TraceFormatError, trace_from_text, trace_text

texts = st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
mappings = st.dictionaries(texts, values, max_size=3)
times = st.integers(0, 10**6) | st.floats(0, 1e6)


def tuples(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(inner, max_size=3).map(tuple)


differences = st.builds(
    Difference, texts, st.sampled_from(["created", "changed", "removed"]), tuples(st.tuples(texts, values, values))
)
steps = st.builds(
    TraceStep,
    times,
    st.sampled_from(["event", "write", "refused", "time"]),
    texts,
    texts,
    texts,
    tuples(differences),
    texts,
)
traces = st.builds(
    Trace,
    invariant=texts,
    family=texts,
    object=texts,
    message=texts,
    facts=mappings,
    statement=texts,
    why=texts,
    remedy=texts,
    scenario=mappings,
    strokes=tuples(st.builds(Stroke, texts, mappings, tuples(mappings))),
    steps=tuples(steps),
    outcome=texts,
    repeats_from=st.none() | st.integers(0, 9),
    shortest=st.booleans(),
    minimal=st.booleans(),
    waiting=tuples(st.builds(Pending, texts, texts)),
    kubernetes=texts,
    seed=st.none() | st.integers(0, 9),
)


def types_in(thing: Any) -> Any:
    """The thing with every scalar replaced by its type and text: True and 1, 1 and 1.0 compare as different."""
    if isinstance(thing, dict):
        return {key: types_in(each) for key, each in thing.items()}
    return [types_in(each) for each in thing] if isinstance(thing, list) else (type(thing), repr(thing))


@settings(max_examples=50, deadline=None)
@given(traces)
def test_any_trace_comes_back_as_it_was(trace: Trace) -> None:
    again = trace_from_text(trace_text(trace))
    assert again == trace
    assert types_in(plain(again.facts)) == types_in(plain(trace.facts))
    assert types_in(trace_to_json(again)) == types_in(trace_to_json(trace))


def test_the_samples_come_back(samples: ModuleType) -> None:
    for trace in (samples.DRAIN, samples.CRASH, samples.BUDGET):
        assert trace_from_json(json.loads(json.dumps(trace_to_json(trace)))) == trace


def test_what_json_lacks_is_made_plain(samples: ModuleType) -> None:
    odd = {"nodes": frozenset({"b", "a"}), "pair": (1, 2), "limit": float("inf"), 3: Pending("pod/a", "why")}
    facts = trace_to_json(evolve(samples.DRAIN, facts=odd))["facts"]
    assert facts == {"nodes": ["a", "b"], "pair": [1, 2], "limit": "inf", "3": {"pod": "pod/a", "reason": "why"}}


def test_whole_seconds_have_no_fraction(samples: ModuleType) -> None:
    trace = evolve(samples.DRAIN, steps=(TraceStep(50.0, "time", "time", "50 s pass"),))
    assert '"time": 50,' in trace_text(trace)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "this is not JSON"),
        ("[]", "this is not a trace of reconverge"),
        ('{"kind": "List"}', "this is not a trace of reconverge"),
        ('{"format": "reconverge/trace/v9"}', "this is 'reconverge/trace/v9'; this version reads"),
        ('{"format": "reconverge/trace/v1"}', "this trace has no 'strokes'"),
        ('{"format": "reconverge/trace/v1", "strokes": [], "steps": 5}', "this trace is damaged"),
        ('{"format": "reconverge/trace/v1", "strokes": [], "steps": []}', "this trace is damaged"),
    ],
)
def test_what_is_no_trace_is_refused(text: str, said: str) -> None:
    with pytest.raises(TraceFormatError, match=said.replace("{", r"\{")):
        trace_from_text(text)
