"""Whether what kubelets say of readiness is so.

Source: `pkg/kubelet/prober/`, `pkg/kubelet/status/status_manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.model.events import PodReady
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.objects import Pod
from reconverge.model.store import Change

NEVER = frozenset({"never-ready", "crashes"})
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
    if local.forced_ready is not None:
        return "" if local.forced_ready else "its readiness probe fails"
    kind = local.spec.behaviour.kind
    if kind in NEVER:
        return f"its template says {kind}"
    ready_at = local.since + step.before.cluster.rules.kubelet.ready_late
    if kind == "not-ready-first" and step.before.cluster.now < ready_at:
        return f"its readiness probe succeeds only {ready_at - step.before.cluster.now:g} s later"
    return ""


def _false_in_api(step: Step, pod: Pod) -> str:
    """What is wrong with a report; what was so a moment ago may be reported, so that only the template counts."""
    kind = pod.spec.behaviour.kind
    if kind not in NEVER or any(isinstance(event, PodReady) for event in step.before.events):
        return ""
    return f"its template says {kind}"
