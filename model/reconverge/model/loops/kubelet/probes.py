"""When the probes of a container succeed and fail, in seconds after its start, from how its program behaves.

A probe runs at every multiple of its period from the start on, but not before its initial delay. Liveness and readiness
wait for the startup probe. Source: `pkg/kubelet/prober/{worker,prober_manager}.go`.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor, inf

from attrs import frozen

from reconverge.model.objects import Probe
from reconverge.model.parts import Part
from reconverge.model.rules import KubeletTimings
from reconverge.model.value import Seconds

READY_AT_ALL = frozenset({"ready", "not-ready-first", "exit-0", "exit-1", "hangs", "out-of-memory"})
"""Behaviours of programs whose readiness probe ever succeeds."""


@frozen
class Course:
    """What the probes of one container come to, in seconds after its start; None for never.

    `started`: the startup probe succeeds. `killed`: a probe has failed so often that the container is stopped, and
    `failing` says which and `failures` how often. `ready` to `unready`: the readiness probe counts as succeeding.
    """

    started: Seconds | None = 0
    killed: Seconds | None = None
    failing: str = ""
    failures: int = 0
    ready: Seconds | None = 0
    unready: Seconds | None = None


@lru_cache(maxsize=4096)
def course(part: Part, hung: Seconds | None, timings: KubeletTimings) -> Course:
    """The course of a container that hangs so long after its start, or, with None, as its behaviour says."""
    container, behaviour = part.container, part.behaviour
    begins = behaviour.starts_after
    ends = hung if hung is not None else behaviour.exits_after if behaviour.kind == "hangs" else inf
    started = _startup(container.startup, begins, ends)
    if started is None:
        assert container.startup is not None
        return Course(None, _kill(container.startup, 0), "startup", container.startup.failure, None)
    killed = _liveness(container.liveness, started, begins, ends)
    late = timings.ready_late if behaviour.kind == "not-ready-first" else 0
    ready, unready = _readiness(container.readiness, started, max(begins, late) if container.readiness else late, ends)
    if behaviour.kind not in READY_AT_ALL or (ready is not None and killed is not None and killed <= ready):
        ready = None
    if killed is None or container.liveness is None:
        return Course(started, ready=ready, unready=unready)
    return Course(started, killed, "liveness", container.liveness.failure, ready, unready)


def _first(probe: Probe, moment: Seconds) -> Seconds:
    """When the probe first runs at or after a moment."""
    return ceil(max(moment, probe.initial_delay) / probe.period) * probe.period


def _kill(probe: Probe, moment: Seconds) -> Seconds:
    """When a probe that fails from a moment on has failed often enough."""
    return _first(probe, moment) + (probe.failure - 1) * probe.period


def _killed_after(probe: Probe, ends: Seconds, started: Seconds) -> Seconds:
    """When a probe has failed often enough that was answered up to a moment, the moment itself included."""
    first = max((floor(ends / probe.period) + 1) * probe.period, _first(probe, started))
    return first + (probe.failure - 1) * probe.period


def _startup(probe: Probe | None, begins: Seconds, ends: Seconds) -> Seconds | None:
    if probe is None:
        return 0
    succeeds = _first(probe, begins)
    return succeeds if succeeds <= ends and succeeds <= _kill(probe, 0) else None


def _liveness(probe: Probe | None, started: Seconds, begins: Seconds, ends: Seconds) -> Seconds | None:
    """When a program that answers from `begins` to `ends`, both included, has been found dead."""
    if probe is None:
        return None
    if _kill(probe, started) < begins:
        return _kill(probe, started)
    return None if ends == inf else _killed_after(probe, ends, started)


def _readiness(
    probe: Probe | None, started: Seconds, begins: Seconds, ends: Seconds
) -> tuple[Seconds | None, Seconds | None]:
    """From when to when a program counts as ready; without a probe it does as long as it runs."""
    if probe is None:
        return max(started, begins), None
    ready = _first(probe, max(started, begins)) + (probe.success - 1) * probe.period
    if ready > ends:
        return None, None
    return ready, None if ends == inf else _killed_after(probe, ends, started)
