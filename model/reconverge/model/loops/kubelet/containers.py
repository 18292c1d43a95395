"""The life of one pod's containers on a machine: start, readiness, exit, back-off, stop.

Source: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (doBackOff), `pkg/kubelet/kubelet_pods.go` (getPhase),
client-go `util/flowcontrol/backoff.go`, `pkg/kubelet/container/helpers.go` (ShouldContainerBeRestarted).
"""

from __future__ import annotations

from reconverge.model.machines import LocalPod
from reconverge.model.rules import KubeletTimings
from reconverge.model.value import Seconds


def desired_readiness(local: LocalPod, timings: KubeletTimings, now: Seconds) -> bool:
    """Whether the readiness probe succeeds now."""
    if local.state != "running":
        return False
    if local.forced_ready is not None:
        return local.forced_ready
    kind = local.spec.behaviour.kind
    if kind == "not-ready-first":
        return now >= local.since + timings.ready_late
    return kind in ("ready", "exit-0", "exit-1")


def next_change(local: LocalPod, timings: KubeletTimings, now: Seconds) -> Seconds | None:
    """When readiness or state will change by itself."""
    behaviour = local.spec.behaviour
    moments = []
    if local.state == "running":
        if behaviour.kind == "not-ready-first" and local.forced_ready is None:
            moments.append(local.since + timings.ready_late)
        if behaviour.kind in ("exit-0", "exit-1", "crashes"):
            moments.append(local.since + behaviour.exits_after)
    return min((moment for moment in moments if moment > now), default=None)


def exit_of(local: LocalPod, now: Seconds) -> int | None:
    """The exit code with which the program has ended by now of itself, or None while it goes on."""
    behaviour = local.spec.behaviour
    if local.state != "running" or behaviour.kind not in ("exit-0", "exit-1", "crashes"):
        return None
    if now < local.since + behaviour.exits_after:
        return None
    return 0 if behaviour.kind == "exit-0" else 1


def restarts(local: LocalPod) -> bool:
    """Whether exited containers are started again in place, by restartPolicy."""
    policy = local.spec.restart_policy
    return policy == "Always" or (policy == "OnFailure" and local.exit_code != 0)


def restart_at(local: LocalPod) -> Seconds:
    """When exited containers may be started again: the back-off counts from the exit."""
    return local.since + local.backoff


def restarted(local: LocalPod, timings: KubeletTimings, now: Seconds) -> LocalPod:
    """The pod with its containers started again, and the next back-off: 10 s, doubling to 300 s."""
    longer = min(local.backoff * 2, timings.crash_backoff_most) if local.backoff else timings.crash_backoff_first
    return local.with_(state="running", since=now, restarts=local.restarts + 1, backoff=longer, ready=False)


def exited(local: LocalPod, code: int, timings: KubeletTimings, now: Seconds) -> LocalPod:
    """The pod with its containers ended; a long run clears the back-off."""
    ran = now - local.since
    backoff = 0 if ran > timings.crash_backoff_reset else local.backoff
    return local.with_(state="exited", since=now, exit_code=code, backoff=backoff, ready=False)
