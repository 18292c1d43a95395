"""What never happened and so was not tested: said out loud, so that no claim is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reconverge.checker.judge import Judge
from reconverge.checker.world import World

AFTERWARDS = frozenset(
    {"node-recover", "uncordon", "zone-recover", "resume-rollout", "loop-resume", "watch-catch-up", "proxy-resume"}
)
"""Events that only ever follow another one: in sequences of one event their absence says nothing."""


OWN_KINDS = {
    "deployment": "Deployment",
    "replicaset": "ReplicaSet",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "job": "Job",
    "disruption": "PodDisruptionBudget",
    "endpoints": "Service",
    "kube-proxy": "Service",
    "horizontal-autoscaler": "HorizontalPodAutoscaler",
    "scheduler": "Pod",
    "kubelet": "Pod",
}
"""The kind that a loop is there for: where there is one, the loop should have had something to do."""


def never_happened(
    world: World, events: Counter[str], actions: Counter[str], judge: Judge, most_events: int
) -> Iterator[str]:
    """One sentence for each event that was never possible, each idle loop, each invariant with nothing to judge."""
    yield from _idle_loops(world, events, actions)
    for allowance in world.allowances:
        if most_events == 0 or (most_events == 1 and not world.prefix and allowance.event in AFTERWARDS):
            continue
        if not events.get(allowance.event):
            yield f"{allowance.event} never happened: it was possible in no state that was reached"
    for invariant in world.invariants:
        if invariant.kind == "sometimes":
            if judge.applicable[invariant.id] and invariant.id not in judge.witnessed:
                yield f"{invariant.id} was not seen once: {invariant.statement}"
        elif not judge.applicable[invariant.id]:
            yield f"{invariant.id} was never applicable"


def _idle_loops(world: World, events: Counter[str], actions: Counter[str]) -> Iterator[str]:
    """Loops that have objects of their own and wrote nothing in all of the runs: their rules were not tried."""
    acted = {name.partition(" ")[0] for name in actions}
    for loop, kind in OWN_KINDS.items():
        if events and loop in world.plane.by_name and loop not in acted and world.start.store.count(kind):
            yield f"the {loop} loop wrote nothing: no run gave it anything to do"
