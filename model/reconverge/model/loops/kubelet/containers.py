"""The life of one container on a machine: readiness, exit, back-off, restart.

Source: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (doBackOff), client-go `util/flowcontrol/backoff.go`,
`pkg/kubelet/container/helpers.go` (ShouldContainerBeRestarted), `pkg/kubelet/prober/`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.local_pods import KILLED, LocalContainer, LocalPod
from reconverge.model.loops.kubelet.probes import Course, course
from reconverge.model.parts import Part
from reconverge.model.rules import KubeletTimings
from reconverge.model.value import Seconds

EXITS = {"exit-0": 0, "exit-1": 1, "crashes": 1}
"""The exit code of each behaviour that ends by itself."""
OOM_KILLED = "OOMKilled"


@frozen
class Exit:
    """That a container ends: when, with which exit code, and why."""

    at: Seconds
    code: int
    why: str


def present_course(part: Part, container: LocalContainer, timings: KubeletTimings) -> Course:
    """What the probes of a running container come to."""
    hung = container.hung_at
    return course(part, None if hung is None else max(hung - container.since, 0), timings)


def is_ready(part: Part, container: LocalContainer, forced: bool | None, timings: KubeletTimings, now: Seconds) -> bool:
    """Whether a container is ready now: it runs, has started, and its readiness probe succeeds or there is none."""
    if container.state != "running":
        return False
    if forced is not None and part.role == "main":
        return forced
    known = present_course(part, container, timings)
    if known.ready is None or now < container.since + known.ready:
        return False
    return known.unready is None or now < container.since + known.unready


def desired_readiness(local: LocalPod, timings: KubeletTimings, now: Seconds) -> bool:
    """Whether all containers of a pod that is past its initialisation are ready now."""
    if local.state != "running":
        return False
    return all(
        is_ready(part, each, local.forced_ready, timings, now) for part, each in local.parts() if part.role != "init"
    )


def has_started(part: Part, container: LocalContainer, timings: KubeletTimings, now: Seconds) -> bool:
    """Whether the startup probe of a running container has succeeded, or there is none."""
    started = present_course(part, container, timings).started
    return container.state == "running" and started is not None and now >= container.since + started


def exit_of(part: Part, container: LocalContainer, grace: Seconds, timings: KubeletTimings) -> Exit | None:
    """The end that a running container comes to if nothing else happens: by itself, or killed for its probes."""
    if container.state != "running":
        return None
    behaviour, found = part.behaviour, []
    if behaviour.kind in EXITS:
        code = EXITS[behaviour.kind]
        found.append(Exit(container.since + behaviour.exits_after, code, f"exit code {code}"))
    if exceeds_limit(part):
        found.append(Exit(container.since + behaviour.exits_after, KILLED, f"{OOM_KILLED}, exit code {KILLED}"))
    known = present_course(part, container, timings)
    if known.killed is not None:
        killed = container.since + known.killed + stop_time(part, grace, timings)
        found.append(Exit(killed, KILLED, f"killed, for its {known.failing} probe failed {known.failures} times"))
    return min(found, key=lambda each: each.at, default=None)


def exceeds_limit(part: Part) -> bool:
    """Whether the program needs more memory than its container may have."""
    limit, needs = part.container.limits.memory, part.behaviour.memory
    return limit > 0 and (part.behaviour.kind == "out-of-memory" or (needs is not None and needs > limit))


def stop_time(part: Part, grace: Seconds, timings: KubeletTimings) -> Seconds:
    """How long a container takes to end once it is told to: the preStop hook first; never more than the grace."""
    return min(max(part.container.pre_stop + part.behaviour.stops_after, timings.stop), grace)


def next_change(
    part: Part, container: LocalContainer, forced: bool | None, grace: Seconds, timings: KubeletTimings, now: Seconds
) -> Seconds | None:
    """When a running container next changes by itself: started, ready, not ready or ended."""
    if container.state != "running":
        return None
    known = present_course(part, container, timings)
    after = [known.started]
    if forced is None or part.role != "main":
        after += [known.ready, known.unready]
    moments = [container.since + each for each in after if each is not None]
    ends = exit_of(part, container, grace, timings)
    if ends is not None:
        moments.append(ends.at)
    return min((each for each in moments if each > now), default=None)


def restarts(part: Part, container: LocalContainer, policy: str) -> bool:
    """Whether an exited container is started again in place; a sidecar always is, an init container if it failed."""
    if part.role == "sidecar":
        return True
    if part.role == "init":
        return container.exit_code != 0 and policy != "Never"
    return policy == "Always" or (policy == "OnFailure" and container.exit_code != 0)


def restart_at(container: LocalContainer) -> Seconds:
    """When an exited container may be started again: the back-off counts from the exit."""
    return container.since + container.backoff


def restarted(container: LocalContainer, timings: KubeletTimings, now: Seconds) -> LocalContainer:
    """The container started again, and the next back-off: 10 s, doubling to 300 s."""
    longer = min(container.backoff * 2, timings.crash_backoff_most)
    return LocalContainer("running", now, container.restarts + 1, longer or timings.crash_backoff_first)


def exited(container: LocalContainer, code: int, timings: KubeletTimings, now: Seconds) -> LocalContainer:
    """The container ended; a long run clears the back-off."""
    ran = now - container.since
    backoff = 0 if ran > timings.crash_backoff_reset else container.backoff
    return LocalContainer("exited", now, container.restarts, backoff, code)
