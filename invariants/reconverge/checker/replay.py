"""Replaying a trace without any search, and playing an ordinary run."""

from __future__ import annotations

import json
from pathlib import Path

from reconverge.checker.build_trace import trace_of
from reconverge.checker.runner import Play, run
from reconverge.checker.scenario import Scenario
from reconverge.checker.scenario_file import step_event
from reconverge.checker.schedule import deviation_from
from reconverge.checker.trace import Stroke, Trace
from reconverge.checker.walks import random_plays
from reconverge.loading import Loaded, parse_document_text
from reconverge.model.control_plane import ControlPlane


class ReplayError(Exception):
    """A trace that does not do what it says: other rules, another version, or edited by hand."""


def replay(trace: Trace, *, plane: ControlPlane | None = None, folder: Path | None = None) -> Trace:
    """The trace made anew by playing its events. Raises ReplayError if the same promise is not broken."""
    scenario = Scenario.from_document(trace.scenario, folder)
    world = scenario.world(plane)
    plays = tuple(play_from(stroke, scenario.loaded) for stroke in trace.strokes)
    if not trace.invariant:
        return trace_of(world, plays, None, document=trace.scenario, kubernetes=trace.kubernetes, seed=trace.seed)
    result = run(world, plays, world.judge(trace.invariant), until=trace.invariant)
    found = next((each for _, each in result.found if each.violation.object == trace.object), None)
    if found is None:
        raise ReplayError(f"{trace.title} is not broken when the {len(plays)} events are played again")
    return trace_of(
        world, plays, found, document=trace.scenario, kubernetes=trace.kubernetes,
        shortest=trace.shortest, minimal=trace.minimal, seed=trace.seed,
    )  # fmt: skip


def play_from(stroke: Stroke, loaded: Loaded | None = None) -> Play:
    """The play that a trace has kept. Raises LoadError for an event that does not exist."""
    fields = parse_document_text(json.dumps({stroke.event: dict(stroke.arguments)}), "trace")
    event = step_event(fields, loaded if loaded is not None else Loaded())
    return Play(event, tuple(deviation_from(each) for each in stroke.deviations))


def simulate(scenario: Scenario, seed: int = 0, *, length: int = 5) -> Trace:
    """An ordinary run: the scenario's fixed steps, and then some random events among those that may happen."""
    world = scenario.world()
    plays = random_plays(world, seed=seed, length=length)
    return trace_of(world, plays, None, document=scenario.document, kubernetes=scenario.rules.version, seed=seed)
