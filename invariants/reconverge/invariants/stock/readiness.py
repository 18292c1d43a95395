"""Whether what kubelets say of readiness is so.

Source: `pkg/kubelet/prober/`, `pkg/kubelet/status/status_manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.model.events import PodReady
from reconverge.model.local_pods import LocalContainer, LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.loops.kubelet.containers import present_course
from reconverge.model.objects import Pod
from reconverge.model.parts import Part, parts
from reconverge.model.store import Change

NEVER = frozenset({"never-ready", "crashes", "no-image"})
"""Behaviours whose readiness probe never succeeds by itself."""


def _may_tell(situation: Situation, change: Change) -> Iterable[str]:
    """Pods that have become ready, and whatever kubelets do on machines."""
    if change.kind == MACHINES:
        return ("",)
    if change.kind != "Pod" or change.after is None or not change.after.ready:
        return ()
    return () if change.before is not None and change.before.ready else ("",)


@invariant(
    "readiness-true",
    "on_step",
    family="law",
    statement="A kubelet calls a pod ready only if its containers run and its readiness probe succeeds.",
    why="Rollouts, budgets and Services all trust it: a pod that is falsely ready takes the place of one that serves.",
    remedy="See how the kubelet comes to its answer: an old one, or none at all.",
    source="pkg/kubelet/prober/worker.go; pkg/kubelet/status/status_manager.go",
    touched_by=_may_tell,
    watches=(
        "Pod",
        MACHINES,
    ),
)
def readiness_true(step: Step, _: None) -> Iterable[Violation]:
    """Judges what a kubelet takes for true on its machine, and what it reports, by the behaviour of the template."""
    if step.actor != "kubelet":
        return ()
    action = step.action
    if type(action) is Locally:
        wrong = _false_on_machine(step, action.pod) if action.pod.ready else ""
        return (_false(action.pod.key, action.node, wrong),) if wrong else ()
    found = []
    for change in step.changes:
        pod: Pod | None = change.after
        if change.kind == "Pod" and pod is not None and pod.ready and not (change.before and change.before.ready):
            wrong = _false_in_api(step, pod)
            if wrong:
                found.append(_false(pod.key, pod.node or "", wrong))
    return found


def _false(key: str, node: str, wrong: str) -> Violation:
    reference = f"pod/{key.removeprefix('default/')}"
    return Violation(reference, f"the kubelet of {node} calls {reference} ready, and {wrong}", {"node": node})


def _false_on_machine(step: Step, local: LocalPod) -> str:
    """What is wrong with a local pod that is held to be ready; empty if it is."""
    if not local.alive:
        return "its containers do not run"
    found = (_false_of_container(step, local, part, each) for part, each in local.parts() if part.role != "init")
    return next(filter(None, found), "")


def _false_of_container(step: Step, local: LocalPod, part: Part, container: LocalContainer) -> str:
    """What is wrong with one container of a pod that is held to be ready; empty if nothing is."""
    name = f"container {part.name}" if len(local.containers) > 1 else "its container"
    if container.state != "running":
        return f"{name} does not run"
    if local.forced_ready is not None and part.role == "main":
        return "" if local.forced_ready else "its readiness probe fails"
    if part.behaviour.kind in NEVER:
        return f"its template says {part.behaviour.kind}"
    now, timings = step.before.cluster.now, step.before.cluster.rules.kubelet
    probed = present_course(part, container, timings)
    if probed.ready is None:
        return "its readiness probe never succeeds"
    if now < container.since + probed.ready:
        return f"its readiness probe succeeds only {container.since + probed.ready - now:g} s later"
    if probed.unready is not None and now >= container.since + probed.unready:
        return "its readiness probe fails"
    return ""


def _false_in_api(step: Step, pod: Pod) -> str:
    """What is wrong with a report; what was so a moment ago may be reported, so that only the template counts."""
    kinds = [part.behaviour.kind for part in parts(pod.spec) if part.role != "init" and part.behaviour.kind in NEVER]
    if not kinds or any(isinstance(event, PodReady) for event in step.before.events):
        return ""
    return f"its template says {kinds[0]}"
