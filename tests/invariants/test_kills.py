"""Causes that stand, and causes that do not."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import DeletePod, Patch
from reconverge.model.events import PodDeleted
from reconverge.model.eviction import EVICTED
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.loops.drain import begin_drain
from reconverge.model.loops.kubelet.actions import Forget, FromNode, Locally
from reconverge.model.objects import Lease, OwnerReference, Taint, Toleration
from reconverge.model.objects.node import NO_EXECUTE, NO_SCHEDULE, NOT_READY
from reconverge.model.persistent import EMPTY

KEY = "no-unprovoked-kill"


def deletes(lab: Any, actor: str, pod: Any, *others: Any, node: Any = None, **options: Any) -> Any:
    before = lab.situation(*([node or lab.node()] if node is not False else []), *others, pod, **options)
    return lab.step(before, actor, DeletePod(pod.key, pod.uid, disruption_target=options.get("target", "")))


@pytest.mark.parametrize(
    ("taints", "tolerations", "broken"),
    [
        ((), (), True),
        ((Taint("own", NO_SCHEDULE),), (), True),
        ((Taint("own", NO_EXECUTE),), (), False),
        ((Taint("own", NO_EXECUTE),), (Toleration("own", "Exists"),), True),
        ((Taint("own", NO_EXECUTE),), (Toleration("own", "Exists", seconds=300),), False),
        # The taint that the eviction was planned for has gone; the one that is left is tolerated for ever.
        (
            (Taint("own", NO_EXECUTE),),
            (Toleration("own", "Exists"), Toleration(NOT_READY, "Exists", seconds=300)),
            True,
        ),
    ],
)
def test_an_eviction_by_taint_needs_the_taint(
    lab: Any, taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...], broken: bool
) -> None:
    pod = lab.pod(spec=lab.spec(tolerations=tolerations))
    assert bool(lab.broken(KEY, deletes(lab, "taint-eviction", pod, node=lab.node(taints=taints)))) is broken


def test_pods_that_do_not_run_yet_are_covered_and_unbound_ones_are_not(lab: Any) -> None:
    assert lab.broken(KEY, deletes(lab, "taint-eviction", lab.pod(ready=False, phase="Pending"))) != []
    assert lab.broken(KEY, deletes(lab, "taint-eviction", lab.pod(node=None))) == []


def test_a_node_that_is_gone_is_a_cause(lab: Any) -> None:
    for actor in ("taint-eviction", "pod-gc"):
        assert lab.broken(KEY, deletes(lab, actor, lab.pod("web-a", "n9"))) == []
        assert lab.broken(KEY, deletes(lab, actor, lab.pod("web-a", "n1"))) != []


@pytest.mark.parametrize(("replicas", "broken"), [(1, False), (2, True)])
def test_a_scale_down_needs_a_surplus(lab: Any, replicas: int, broken: bool) -> None:
    rs = lab.set_of(replicas=replicas)
    pods = lab.pods_of(rs, "n1", "n1")
    found = lab.broken(KEY, deletes(lab, "replicaset", pods[0], rs, pods[1]))
    assert bool(found) is broken
    if found:
        assert "replicaset/web-new has 2 pods and wants 2" in found[0].message


@pytest.mark.parametrize(
    ("changed", "taints", "others", "broken"),
    [
        ({}, (), 0, True),
        ({}, (Taint("own", NO_SCHEDULE),), 0, True),
        ({}, (Taint("own", NO_EXECUTE),), 0, False),
        ({}, (), 1, False),
        ({"template_digest": "old"}, (), 0, False),
        ({"phase": "Failed"}, (), 0, False),
        ({"selects": {"disk": "ssd"}}, (), 0, False),
    ],
)
def test_a_daemon_set_needs_an_unfit_node_another_pod_or_a_newer_template(
    lab: Any, changed: dict[str, Any], taints: tuple[Taint, ...], others: int, broken: bool
) -> None:
    ds = lab.daemon_set()
    selects = tuple(changed.pop("selects", {}).items())
    owned = {"owner": ds.owner_reference(), "spec": lab.spec(node_selector=selects)}
    pod = lab.pod("agent-a", **{"template_digest": ds.template.digest, **owned, **changed})
    more = [lab.pod(f"agent-{number}", **owned) for number in range(others)]
    found = lab.broken(KEY, deletes(lab, "daemonset", pod, ds, *more, node=lab.node(taints=taints)))
    assert bool(found) is broken
    if found:
        assert "it is the only one of daemonset/agent there" in found[0].message


def test_an_interrupted_scale_down_is_excused(lab: Any) -> None:
    rs = lab.set_of(replicas=2)
    pods = lab.pods_of(rs, "n1", "n1")
    loops = {"replicaset": LoopState(in_flight=InFlight("default/web", (), revision=-1))}
    assert lab.broken(KEY, deletes(lab, "replicaset", pods[0], rs, pods[1], loops=loops)) == []


@pytest.mark.parametrize(("priority", "policy", "broken"), [(5, "", False), (0, "", True), (5, "Never", True)])
def test_a_preemption_needs_a_pod_of_higher_priority(lab: Any, priority: int, policy: str, broken: bool) -> None:
    spec = lab.spec(priority=priority, preemption_policy=policy or "PreemptLowerPriority")
    waiting = lab.pod("high", None, spec=spec)
    assert bool(lab.broken(KEY, deletes(lab, "scheduler", lab.pod(), waiting))) is broken


@pytest.mark.parametrize(("node", "broken"), [("n1", False), ("n2", True)])
def test_an_eviction_by_a_drain_needs_that_nodes_drain(lab: Any, node: str, broken: bool) -> None:
    loops = {"drain": LoopState(begin_drain(EMPTY, node))}
    pod = lab.pod()
    before = lab.situation(lab.node(), pod, loops=loops)
    step = lab.step(before, "drain", DeletePod(pod.key, pod.uid, disruption_target=EVICTED))
    assert bool(lab.broken(KEY, step)) is broken


def test_the_garbage_collector_needs_an_owner_that_is_gone(lab: Any) -> None:
    rs = lab.set_of()
    (pod,) = lab.pods_of(rs, "n1")
    assert lab.broken(KEY, deletes(lab, "garbage-collector", pod)) == []
    assert lab.broken(KEY, deletes(lab, "garbage-collector", pod, rs)) != []


def test_people_need_no_cause(lab: Any) -> None:
    assert lab.broken(KEY, lab.event(lab.situation(lab.node(), lab.pod()), PodDeleted("pod/web-a"))) == []


def stops(lab: Any, pod: Any, node: Any, *, state: str = "running") -> Any:
    cluster = lab.situation(node, pod).cluster
    machine = cluster.machines.get("n1")
    assert machine is not None
    held = machine.pods[pod.uid].with_(state=state)
    before = lab.situation(node, pod)
    before = before.__class__(cluster.with_(machines=cluster.machines.put(machine.with_pod(held))))
    if state == "running":
        return lab.step(before, "kubelet", Locally("n1", held.with_(state="stopped", ready=False), "stops"))
    return lab.step(before, "kubelet", Forget("n1", pod.uid, pod.key))


@pytest.mark.parametrize("state", ["running", "exited", "admitted"])
def test_a_kubelet_that_lets_go_of_a_pod_that_the_api_wants_is_found(lab: Any, state: str) -> None:
    (violation,) = lab.broken(KEY, stops(lab, lab.pod(), lab.node(), state=state))
    assert "had been admitted" in violation.message


def test_a_kubelet_may_stop_what_is_going_finished_evicted_or_gone(lab: Any) -> None:
    assert lab.broken(KEY, stops(lab, lab.pod(deletion_at=1030), lab.node())) == []
    assert lab.broken(KEY, stops(lab, lab.pod(), lab.node(taints=(Taint("k", NO_EXECUTE),)))) == []
    assert lab.broken(KEY, stops(lab, lab.pod(), lab.node(pressure=frozenset({"MemoryPressure"})))) == []
    assert lab.broken(KEY, stops(lab, lab.pod(), lab.node(), state="stopped")) == []


def test_a_rejection_is_a_kill_only_of_a_pod_that_was_taken_in(lab: Any) -> None:
    pod = lab.pod()
    patch = FromNode("n1", Patch("Pod", pod.key, pod.uid, (("phase", "Failed"), ("ready", False))))
    before = lab.situation(lab.node(), pod)
    assert lab.broken(KEY, lab.step(before, "kubelet", patch)) != []
    machine = before.cluster.machines.get("n1")
    assert machine is not None
    without = before.cluster.with_(machines=before.cluster.machines.put(machine.without_pod(pod.uid)))
    assert lab.broken(KEY, lab.step(before.__class__(without), "kubelet", patch)) == []


@pytest.mark.parametrize(("silent", "broken"), [(("n1", "n2"), True), (("n1",), False)])
def test_silence_of_all_nodes_is_no_cause_to_mark_pods_not_ready(
    lab: Any, silent: tuple[str, ...], broken: bool
) -> None:
    leases = [Lease(name=name, uid=lab.fresh(), renewed_at=900 if name in silent else None) for name in ("n1", "n2")]
    pod = lab.pod()
    mark = Patch("Pod", pod.key, pod.uid, (("ready", False),))
    before = lab.situation(lab.node("n1"), lab.node("n2"), *leases, pod)
    assert bool(lab.broken(KEY, lab.step(before, "node-lifecycle", mark))) is broken
    dead = lab.situation(lab.node("n1"), lab.node("n2"), *leases, pod, down=["n1", "n2"])
    assert lab.broken(KEY, lab.step(dead, "node-lifecycle", mark)) == []


@pytest.mark.parametrize(
    ("renewed_at", "ready", "broken"), [(None, "True", True), (900, "True", False), (None, "Unknown", False)]
)
def test_a_node_that_is_heard_from_is_no_cause_to_mark_its_pods(
    lab: Any, renewed_at: float | None, ready: str, broken: bool
) -> None:
    leases = [Lease(name="n1", uid=lab.fresh(), renewed_at=renewed_at), Lease(name="n2", uid=lab.fresh())]
    pod = lab.pod()
    mark = Patch("Pod", pod.key, pod.uid, (("ready", False),))
    objects = [lab.node("n1", ready=ready), lab.node("n2"), *leases, pod]
    assert bool(lab.broken(KEY, lab.step(lab.situation(*objects), "node-lifecycle", mark))) is broken
    # It has been heard from again since the pass began.
    loops = {"node-lifecycle": LoopState(in_flight=InFlight("n1", (), revision=-1))}
    assert lab.broken(KEY, lab.step(lab.situation(*objects, loops=loops), "node-lifecycle", mark)) == []


def test_loops_without_a_rule_of_their_own_are_not_judged(lab: Any) -> None:
    pod = lab.pod(owner=OwnerReference("Custom", "x", 3))
    assert lab.broken(KEY, deletes(lab, "custom", pod)) == []
