"""Whether a kubelet that runs short of something evicts whom it should, one after the other.

Source: `pkg/kubelet/eviction/{eviction_manager,helpers}.go`; documentation of node-pressure eviction (pod selection).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.facts import knew_better
from reconverge.model.events import PressureChanges
from reconverge.model.labels import label
from reconverge.model.loops.kubelet.actions import FromNode
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.pod import MIRROR
from reconverge.model.parts import parts
from reconverge.model.pressure import CONDITIONS
from reconverge.model.quality import usage
from reconverge.model.store import Change

LOOP = "kubelet"
EVICTED, BY_KUBELET = "Evicted", "TerminationByKubelet"
SYSTEM_PRIORITY = 2_000_000_000
WORDS = {"memory": "memory", "disk": "ephemeral-storage", "pid": "pids"}
"""What the message of an eviction calls the resource that was short."""


def _evicts(change: Change) -> bool:
    """Whether a change of a pod is its eviction by its kubelet."""
    before, after = change.before, change.after
    return (
        change.kind == "Pod"
        and after is not None
        and after.reason == EVICTED
        and after.disruption_target == BY_KUBELET
        and before is not None
        and before.reason != EVICTED
    )


def _relieved(change: Change) -> frozenset[str]:
    """The conditions of pressure that a Node ceases to report by a change."""
    if change.kind != "Node" or change.before is None or change.after is None:
        return frozenset()
    gone: frozenset[str] = change.before.pressure - change.after.pressure
    return gone


def _node_of(situation: Situation, change: Change) -> tuple[str, ...]:
    if change.kind == "Node":
        return (change.key,) if _relieved(change) else ()
    return (change.after.node,) if _evicts(change) and change.after.node is not None else ()


@invariant(
    "eviction-in-order",
    "on_step",
    for_each="Node",
    family="law",
    statement="A kubelet evicts one pod at a time, only under pressure, never a critical one, and the first by rank: "
    "use beyond the request, then low priority, then most use; a condition stays for five minutes after its pressure.",
    why="The order is what requests and priorities are for: who keeps to a request is not evicted for a neighbour.",
    remedy="See what the kubelet took for the pods' usage, requests and priorities.",
    source="pkg/kubelet/eviction/{eviction_manager,helpers}.go; documentation of node-pressure eviction",
    touched_by=_node_of,
    watches=("Node", "Pod"),
)
def eviction_in_order(step: Step, node: Node) -> Iterable[Violation]:
    """Judges what a kubelet reports, with its machine as it was just before."""
    machine = step.before.cluster.machines.get(node.name)
    if step.actor != LOOP or machine is None:
        return ()
    found = []
    for change in step.changes:
        wrong = ""
        if _evicts(change):
            wrong = _wrong(step, machine, change.after)
        elif _relieved(change):
            wrong = _too_soon(step, machine, _relieved(change))
        if wrong:
            found.append(Violation(node.reference, wrong, {"object": change.object.reference}))
    return found if found and knew_better(step) else ()


def _wrong(step: Step, machine: Machine, pod: Pod) -> str:
    """What is wrong with an eviction, in a sentence; empty if nothing is."""
    evicts = f"{machine.name} evicts {pod.reference}"
    resource = next((each for each, word in WORDS.items() if f": {word}." in pod.message), "")
    if resource not in machine.pressure and PressureChanges(machine.name, resource, on=False) not in step.before.events:
        return f"{evicts}, and is not short of {resource or 'anything'}"
    if _critical(pod):
        return f"{evicts}, which is critical"
    if _another_follows(step):
        return f"{evicts}, and another pod in the same pass"
    mine = _rank(resource, pod)
    others = [each for each in _candidates(step, machine, pod) if _rank(resource, each) < mine]
    if not others:
        return ""
    first = min(others, key=lambda each: (_rank(resource, each), each.key))
    return f"{evicts} for {resource}, and {first.reference} ranks before it"


def _critical(pod: Pod) -> bool:
    return pod.spec.priority >= SYSTEM_PRIORITY or label(pod.annotations, MIRROR) is not None


def _another_follows(step: Step) -> bool:
    """Whether the pass goes on to evict another pod."""
    state = step.before.cluster.loops.get(LOOP)
    flight = state.in_flight if state is not None else None
    rest = flight.actions[1:] if flight is not None else ()
    fields = [dict(getattr(each.action, "fields", ())) for each in rest if isinstance(each, FromNode)]
    return any(each.get("reason") == EVICTED for each in fields)


def _candidates(step: Step, machine: Machine, but: Pod) -> list[Pod]:
    """The other pods that the machine could give up instead."""
    found = []
    for uid in sorted(machine.pods):
        local = machine.pods[uid]
        pod = step.before.store.pod(local.key)
        if pod is None or pod.uid != uid or not pod.active or local.state == "stopped":
            continue
        if pod.uid != but.uid and not _critical(pod):
            found.append(pod)
    return found


def _rank(resource: str, pod: Pod) -> tuple[Any, ...]:
    """Lower ranks go first."""
    spec = pod.spec
    if resource == "pid":
        return (spec.priority,)
    used = sum(usage(each, resource) for each in parts(spec) if each.role != "init")
    asked = spec.requests.memory if resource == "memory" else spec.requests.ephemeral_storage
    within = asked > 0 and used <= asked
    return within, spec.priority, asked - used if resource == "memory" else -used


def _too_soon(step: Step, machine: Machine, gone: frozenset[str]) -> str:
    """What is wrong with a Node's reporting a condition no more: a sentence; empty if nothing is.

    When a shortage ended is kept nowhere for long. One that an event has ended has done so since the start at most.
    """
    start, now = step.before.start, step.before.cluster.now
    stays = step.before.cluster.rules.kubelet.pressure_transition
    for resource, condition in CONDITIONS.items():
        if condition not in gone:
            continue
        if resource in machine.pressure:
            return f"{machine.name} reports {condition} no more, and is short of {resource}"
        ended = PressureChanges(machine.name, resource, on=False) in step.before.events
        if ended and start is not None and now < start.now + stays:
            since = f"{now - start.now:g} s after it ended at most"
            return f"{machine.name} reports {condition} no more, {since}, and it stays for {stays:g} s"
    return ""
