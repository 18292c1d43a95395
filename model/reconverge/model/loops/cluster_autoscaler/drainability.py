"""Whether a pod may be moved when its node is removed: one rule each, and the first that says something decides.

Source: autoscaler `cluster-autoscaler/simulator/drainability/rules/`, `cluster-autoscaler/simulator/drain.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import frozen

from reconverge.model.eviction import matching_budgets
from reconverge.model.labels import label
from reconverge.model.loops.cluster_autoscaler.options import AutoscalerOptions
from reconverge.model.objects import Pod
from reconverge.model.objects.pod import MIRROR
from reconverge.model.store import Store
from reconverge.model.value import Seconds

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SYSTEM = "kube-system"
LONG_TERMINATING: Seconds = 30
"""How long after its grace period a Terminating pod counts no more."""
REPLICATED = frozenset({"ReplicationController", "DaemonSet", "Job", "ReplicaSet", "StatefulSet"})
LOCAL = frozenset({"emptyDir", "hostPath"})

SKIP, OK, BLOCK = "skip", "ok", "block"


@frozen
class Verdict:
    """`skip`: as if the pod were not there; `ok`: it is moved; `block`: it holds up its node, for the reason given.

    `until` is when the verdict changes by itself, if it does.
    """

    outcome: str
    reason: str = ""
    until: Seconds | None = None


@frozen
class Case:
    """What a rule looks at; `remaining` is how many disruptions each budget still allows in this scan."""

    store: Store
    pod: Pod
    now: Seconds
    options: AutoscalerOptions
    remaining: dict[str, int]


def mirror(case: Case) -> Verdict | None:
    """A static pod's mirror goes with its node."""
    return Verdict(SKIP) if label(case.pod.annotations, MIRROR) is not None else None


def long_terminating(case: Case) -> Verdict | None:
    """A pod that should have gone long ago is not waited for."""
    over = overdue_at(case.pod)
    return Verdict(SKIP) if over is not None and over < case.now else None


def owner_missing(case: Case) -> Verdict | None:
    """A pod whose controller has been deleted would not come back."""
    owner = case.pod.owner
    if owner is None or owner.kind not in REPLICATED:
        return None
    found = case.store.get(owner.kind, f"{case.pod.namespace}/{owner.name}")
    if found is not None and found.uid == owner.uid:
        return None
    return Verdict(BLOCK, f"its {owner.kind} is gone")


def of_daemon_set(case: Case) -> Verdict | None:
    """A pod of a DaemonSet belongs to its node."""
    return Verdict(OK) if is_daemon(case.pod) else None


def safe(case: Case) -> Verdict | None:
    """The owner of the pod has said that it may go."""
    return Verdict(OK) if label(case.pod.annotations, SAFE_TO_EVICT) == "true" else None


def finished(case: Case) -> Verdict | None:
    """A pod that has ended loses nothing."""
    return Verdict(OK) if case.pod.terminal else None


def replicated(case: Case) -> Verdict | None:
    """A pod that no controller owns would not come back."""
    owner = case.pod.owner
    if owner is not None and owner.kind in REPLICATED:
        return None
    return Verdict(BLOCK, "no controller would create it again")


def system(case: Case) -> Verdict | None:
    """A pod of kube-system that no budget covers is left in peace while it is young."""
    pod = case.pod
    if pod.namespace != SYSTEM or matching_budgets(case.store, pod):
        return None
    until = pod.created_at + case.options.system_pods
    return Verdict(BLOCK, "it is in kube-system and no budget covers it", until) if case.now < until else None


def unsafe(case: Case) -> Verdict | None:
    """The owner of the pod has said that it may not go."""
    return Verdict(BLOCK, 'it is annotated safe-to-evict: "false"') if refuses(case.pod) else None


def local_storage(case: Case) -> Verdict | None:
    """A pod with data on its node would lose it."""
    found = sorted(LOCAL.intersection(case.pod.spec.volumes))
    return Verdict(BLOCK, f"it has local storage ({', '.join(found)})") if found else None


def budget(case: Case) -> Verdict | None:
    """A budget that allows nothing more holds up its pods."""
    for each in matching_budgets(case.store, case.pod):
        if case.remaining.get(each.key, each.status.disruptions_allowed) < 1:
            return Verdict(BLOCK, f"{each.reference} allows no disruption")
    return None


Rule = Callable[[Case], Verdict | None]
RULES: tuple[Rule, ...] = (
    mirror, long_terminating, owner_missing, of_daemon_set, safe, finished, replicated, system, unsafe, local_storage,
    budget,
)  # fmt: skip
"""The rules in their order."""


def verdict(case: Case, rules: Iterable[Rule] = RULES) -> Verdict:
    """What the first rule says that says something; a pod that none speaks of is moved."""
    for rule in rules:
        said = rule(case)
        if said is not None:
            return said
    return Verdict(OK)


def is_daemon(pod: Pod) -> bool:
    """Whether a DaemonSet owns the pod."""
    return pod.owner is not None and pod.owner.kind == "DaemonSet"


def refuses(pod: Pod) -> bool:
    """Whether the pod is annotated as one that is not to be evicted."""
    return label(pod.annotations, SAFE_TO_EVICT) == "false"


def overdue_at(pod: Pod) -> Seconds | None:
    """When a Terminating pod should have gone by all means; None for one that is not Terminating."""
    if pod.deletion_at is None:
        return None
    return pod.deletion_at + pod.spec.termination_grace + LONG_TERMINATING
