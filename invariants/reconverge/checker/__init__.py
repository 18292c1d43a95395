"""Drives the model through sequences of events and judges them: search, reduction, traces, verdicts."""

from reconverge.checker.check import check
from reconverge.checker.machine import InvariantBroken, state_machine
from reconverge.checker.replay import ReplayError, replay, simulate
from reconverge.checker.result import Bounds, Exploration, Result, Verdict
from reconverge.checker.scenario import Expected, Scenario, ScenarioError
from reconverge.checker.trace import Trace, TraceStep
from reconverge.checker.world import Allowance, World
from reconverge.model.standard import loops_of_kinds, standard_control_plane

__all__ = [
    "Allowance",
    "Bounds",
    "Expected",
    "Exploration",
    "InvariantBroken",
    "ReplayError",
    "Result",
    "Scenario",
    "ScenarioError",
    "Trace",
    "TraceStep",
    "Verdict",
    "World",
    "check",
    "loops_of_kinds",
    "replay",
    "simulate",
    "standard_control_plane",
    "state_machine",
]
