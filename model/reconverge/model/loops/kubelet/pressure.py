"""The kubelet under pressure: what it reports, whom it evicts, and whom it does not let in.

Source: `pkg/kubelet/eviction/{eviction_manager,helpers}.go`, `pkg/kubelet/types/pod_update.go` (IsCriticalPod),
`pkg/kubelet/nodestatus/setters.go`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from reconverge.model.action import Action, Patch, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import NotFound
from reconverge.model.labels import label
from reconverge.model.likeness import pod_text
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.kubelet.actions import Forget, FromNode, Locally
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import MEMORY_PRESSURE, NO_SCHEDULE, Taint
from reconverge.model.objects.pod import MIRROR
from reconverge.model.pressure import CONDITIONS, Strain
from reconverge.model.quality import CRITICAL, best_effort, excess
from reconverge.model.value import Seconds

EVICTED = "Evicted"
"""Reason of a pod that is evicted, and of one that is not let in."""
TERMINATION_BY_KUBELET = "TerminationByKubelet"
STARVED = {"memory": "memory", "disk": "ephemeral-storage", "pid": "pids"}
"""What messages call a resource that is short."""

Victim = tuple[Pod, LocalPod]


@frozen
class Remember(Action):
    """Set what a kubelet remembers of pressure; it wakes nobody. Raises NotFound if the machine is gone."""

    node: str
    strain: Strain | None
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Only the kubelet's own memory."""
        machine = cluster.machines.get(self.node)
        if machine is None:
            raise NotFound(f"machine {self.node} not found")
        return cluster.with_(machines=cluster.machines.put(machine.with_(strain=self.strain))), ()

    def describe(self) -> str:
        """Names the node."""
        return f"looks at the resources of {self.node}"


def critical(pod: Pod) -> bool:
    """Whether a pod is critical: one of a mirror, or of a system priority."""
    return pod.spec.priority >= CRITICAL or label(pod.annotations, MIRROR) is not None


def refused(machine: Machine, pod: Pod) -> tuple[str, str] | None:
    """(reason, message) for a pod that is not let in for the kubelet's conditions, published or not; or None."""
    known = machine.strain.known if machine.strain is not None else frozenset()
    if not known or critical(pod):
        return None
    if known == {CONDITIONS["memory"]}:
        taint = Taint(MEMORY_PRESSURE, NO_SCHEDULE)
        if not best_effort(pod.spec) or any(each.tolerates(taint) for each in pod.spec.tolerations):
            return None
    conditions = " ".join(each for each in CONDITIONS.values() if each in known)
    return EVICTED, f"Pod was rejected: The node had condition: [{conditions}]. "


class EvictionManager:
    """What a kubelet does under pressure, rule by rule. `passes` is the whole."""

    def passes(self, reading: Reading, machine: Machine, plan: Plan[None]) -> tuple[Plan[None], ...]:
        """The alternatives of a node's pass: what `plan` has, the report that is due, and one eviction."""
        node = reading.store.node(machine.name)
        if node is None or machine.strain is None or not machine.connected:
            return (plan,)
        now, timings = reading.now, reading.rules.kubelet
        strain = self.lapsed(reading, machine.strain)
        dues = [at + timings.pressure_transition for _, at in strain.ended]
        actions: list[Action] = list(plan.actions)
        published = node.pressure.intersection(CONDITIONS.values())
        if published != strain.known and now >= strain.changed + timings.node_report:
            actions.append(FromNode(machine.name, _report(node, strain)))
            published = strain.known
        elif published != strain.known:
            dues.append(strain.changed + timings.node_report)
        victims = self.victims(reading, machine)
        if victims and now < strain.evicts_at:
            dues.append(strain.evicts_at)
            victims = []
        if victims:
            strain = strain.with_(evicts_at=now + timings.eviction_period)
            dues.append(strain.evicts_at)
        at_ease = not (machine.pressure or strain.known or published or strain.ended)
        kept = None if at_ease else strain
        if kept != machine.strain:
            actions.append(Remember(machine.name, kept))
        after = plan.with_(actions=tuple(actions), requeue_at=_first((plan.requeue_at, *dues)))
        several = len(victims) > 1
        return tuple(
            after.with_(actions=(*actions, *evictions(machine, *each)), choice=each[0].reference if several else "")
            for each in victims
        ) or (after,)

    def lapsed(self, reading: Reading, strain: Strain) -> Strain:
        """What is still known: a condition stays for a while after its resource is no longer short."""
        return strain.lapsed(reading.rules.kubelet, reading.now)

    def victims(self, reading: Reading, machine: Machine) -> list[Victim]:
        """The pods of which one is evicted next: those that rank first, one of each that are alike."""
        resource = next((each for each in CONDITIONS if each in machine.pressure), None)
        if resource is None or not machine.runtime:
            return []
        ranked: dict[Any, dict[str, Victim]] = {}
        for uid in sorted(machine.pods):
            local = machine.pods[uid]
            pod = reading.store.pod(local.key)
            if pod is None or pod.uid != uid or not pod.active or local.state == "stopped" or self.spared(pod):
                continue
            alike = ranked.setdefault(self.rank(resource, pod), {})
            alike.setdefault(pod_text(pod, reading.now), (pod, local))
        first = ranked[min(ranked)] if ranked else {}
        return [first[text] for text in sorted(first)]

    def spared(self, pod: Pod) -> bool:
        """Whether a pod is never evicted."""
        return critical(pod)

    def rank(self, resource: str, pod: Pod) -> tuple[Any, ...]:
        """Who goes first: more than was asked for, then low priority, then much beyond the request (disk: much use)."""
        spec = pod.spec
        if resource == "pid":
            return (spec.priority,)
        exceeds, used = excess(spec, resource)
        return not exceeds, spec.priority, (spec.requests.memory if resource == "memory" else 0) - used


def _first(dues: Iterable[Seconds | None]) -> Seconds | None:
    return min((each for each in dues if each is not None), default=None)


def _report(node: Node, strain: Strain) -> Patch:
    others = node.pressure.difference(CONDITIONS.values())
    told = " and ".join(each for each in CONDITIONS.values() if each in strain.known) or "no pressure"
    verb = f"reports {told} on node/{node.name}"
    return Patch("Node", node.key, node.uid, (("pressure", others | strain.known),), "", verb)


def evictions(machine: Machine, pod: Pod, local: LocalPod) -> tuple[Action, ...]:
    """The writes that evict one pod: it is stopped and fails; the object stays."""
    resource = next(each for each in CONDITIONS if each in machine.pressure)
    message = f"The node was low on resource: {STARVED[resource]}. "
    fields = (
        ("phase", "Failed"),
        ("reason", EVICTED),
        ("message", message),
        ("ready", False),
        ("disruption_target", TERMINATION_BY_KUBELET),
    )
    failed = Patch("Pod", pod.key, pod.uid, fields, message.strip(), f"evicts {pod.reference} for {resource} pressure")
    return (
        Locally(machine.name, local.stopped(), "stops", message.strip()),
        FromNode(machine.name, failed, failed.reason),
        Forget(machine.name, local.uid, local.key),
    )
