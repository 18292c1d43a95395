"""What a binding must satisfy, and what kubelets and tidying loops must not undo."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Bind, DeletePod, Patch
from reconverge.model.labels import Requirement, Selector, labels_of
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.loops.kubelet.actions import FromNode
from reconverge.model.objects import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from reconverge.model.objects.node import HOSTNAME, NO_SCHEDULE, ZONE
from reconverge.model.objects.storage import PersistentVolume, PersistentVolumeClaim

WEB = Selector(labels_of({"app": "web"}))
ANTI = Affinity(anti_required=(PodAffinityTerm(HOSTNAME, WEB),))
NEAR = Affinity(pod_required=(PodAffinityTerm(ZONE, Selector(labels_of({"app": "db"}))),))
IN_B = Affinity(node_required=(NodeSelectorTerm((Requirement(ZONE, "In", ("b",)),)),))
EVEN = (TopologySpreadConstraint(ZONE, 1, True, WEB),)


def bound(lab: Any, spec: dict[str, Any], *others: Any, node: dict[str, Any] | None = None) -> Any:
    """The step that binds a new pod to n1 of zone a, beside n2 of zone b."""
    pod = lab.pod("web-new", None, spec=lab.spec(**spec))
    nodes = [lab.node("n1", "a", **(node or {})), lab.node("n2", "b")]
    return lab.step(lab.situation(*nodes, *others, pod), "scheduler", Bind(pod.key, pod.uid, "n1"))


BAD = [
    ("selector", {"node_selector": labels_of({"disk": "ssd"})}, {}),
    ("affinity", {"affinity": IN_B}, {}),
    ("taint", {}, {"taints": (Taint("k", NO_SCHEDULE),)}),
    ("unschedulable", {}, {"unschedulable": True}),
    ("too-small", {"cpu": 5000}, {}),
    ("capacity", {"cpu": 3900}, {}),
    ("capacity", {}, {"pods": 1}),
    ("spread", {"spread": EVEN}, {}),
    ("anti-affinity", {"affinity": ANTI}, {}),
    ("no-company", {"affinity": NEAR}, {}),
    ("no-label", {"spread": (TopologySpreadConstraint("rack", 1, True, WEB),)}, {}),
]


@pytest.mark.parametrize(("kind", "spec", "node"), BAD)
def test_a_binding_against_a_rule_is_found(lab: Any, kind: str, spec: dict[str, Any], node: dict[str, Any]) -> None:
    (violation,) = lab.broken("placement-honoured", bound(lab, spec, lab.pod("web-a", "n1"), node=node))
    assert violation.facts["broken"] == [kind]
    assert violation.object == "pod/web-new"


def disk(place: str, mode: str = "ReadWriteOnce", **claim: Any) -> list[Any]:
    """Claim data and its volume, which is in one zone by its affinity or by an old label (label:a)."""
    by_label = place.startswith("label:")
    where = {"labels": labels_of({ZONE: place.removeprefix("label:")})} if by_label else {"affinity": in_zone(place)}
    volume = PersistentVolume(name="v", uid=90, claim="default/data", phase="Bound", **where)
    bound_to = {"volume": "v", "phase": "Bound", "access_modes": (mode,), **claim}
    return [volume, PersistentVolumeClaim(name="data", uid=91, **bound_to)]


def in_zone(zone: str) -> Any:
    return (NodeSelectorTerm((Requirement(ZONE, "In", (zone,)),)),) if zone else None


@pytest.mark.parametrize(
    ("objects", "broken"),
    [
        (disk("b"), True),
        (disk("label:b"), True),
        (disk("a"), False),
        (disk("label:a__b"), False),
        (disk(""), False),
        (disk("b", phase="Pending"), False),
        ([], False),
    ],
)
def test_a_binding_goes_where_the_pods_bound_volumes_are(lab: Any, objects: list[Any], broken: bool) -> None:
    found = lab.broken("placement-honoured", bound(lab, {"claims": ("data",)}, *objects))
    assert [each.facts["broken"] for each in found] == ([["volume"]] if broken else [])


@pytest.mark.parametrize(
    ("objects", "broken"),
    [
        (disk("b"), True),
        (disk("c"), False),
        (disk("b", phase="Pending"), False),
        (disk("b", "ReadWriteOncePod"), False),
        (disk("b")[:1], False),
    ],
)
def test_a_pod_that_waits_beside_the_node_of_its_volume_is_found(lab: Any, objects: list[Any], broken: bool) -> None:
    """n1 is full; n2 of zone b has room."""
    pod = lab.pod("web-new", None, spec=lab.spec(claims=("data",)))
    nodes = [lab.node("n1", "a", pods=0), lab.node("n2", "b")]
    found = lab.broken("pending-pods-placed", lab.quiet(lab.situation(*nodes, *objects, pod)))
    assert [each.facts["node"] for each in found] == (["n2"] if broken else [])


GOOD = [
    ({"node_selector": labels_of({HOSTNAME: "n1"})}, {}),
    ({"tolerations": (Toleration(operator="Exists"),)}, {"taints": (Taint("k", NO_SCHEDULE),), "unschedulable": True}),
    ({"cpu": 3500}, {}),
    ({"spread": (TopologySpreadConstraint(ZONE, 2, True, WEB),)}, {}),
    ({"spread": (TopologySpreadConstraint(ZONE, 1, False, WEB),)}, {}),
]


@pytest.mark.parametrize(("spec", "node"), GOOD)
def test_a_binding_within_the_rules_is_not(lab: Any, spec: dict[str, Any], node: dict[str, Any]) -> None:
    assert lab.broken("placement-honoured", bound(lab, spec, lab.pod("web-a", "n1"), node=node)) == []


def test_anti_affinity_of_the_pod_that_is_there_counts(lab: Any) -> None:
    there = lab.pod("web-a", "n1", spec=lab.spec(affinity=ANTI))
    (violation,) = lab.broken("placement-honoured", bound(lab, {}, there))
    assert "pod/web-a" in violation.message


def test_the_first_pod_of_a_group_may_go_anywhere(lab: Any) -> None:
    together = Affinity(pod_required=(PodAffinityTerm(ZONE, WEB),))
    assert lab.broken("placement-honoured", bound(lab, {"affinity": together})) == []
    (violation,) = lab.broken("placement-honoured", bound(lab, {"affinity": together}, lab.pod("web-a", "n2")))
    assert violation.facts["broken"] == ["no-company"]


def test_terminating_pods_hold_room_and_keep_apart_but_are_not_spread(lab: Any) -> None:
    going = lab.pod("web-a", "n1", deletion_at=1030)
    assert lab.broken("placement-honoured", bound(lab, {"spread": EVEN}, going)) == []
    assert lab.broken("placement-honoured", bound(lab, {"affinity": ANTI}, going)) != []
    assert lab.broken("placement-honoured", bound(lab, {"cpu": 3900}, going)) != []


def test_a_host_port_is_taken_for_every_address(lab: Any) -> None:
    wants = {"host_ports": (("10.0.0.1", "TCP", 80),)}
    for address, protocol, clashes in (("0.0.0.0", "TCP", True), ("10.0.0.2", "TCP", False), ("", "UDP", False)):
        there = lab.pod("web-a", "n1", spec=lab.spec(host_ports=((address, protocol, 80),)))
        assert bool(lab.broken("placement-honoured", bound(lab, wants, there))) is clashes


def test_what_changed_under_an_interrupted_pass_is_excused_but_not_what_only_bindings_change(lab: Any) -> None:
    pod = lab.pod("web-new", None, spec=lab.spec(cpu=3900))
    loops = {"scheduler": LoopState(in_flight=InFlight(pod.key, (), revision=-1))}
    for other, broken in (([], False), ([lab.pod("web-a", "n1")], True)):
        before = lab.situation(lab.node(unschedulable=True), *other, pod, loops=loops)
        assert (
            bool(lab.broken("placement-honoured", lab.step(before, "scheduler", Bind(pod.key, pod.uid, "n1"))))
            is broken
        )


def rejection(lab: Any, pod: Any, *others: Any, reason: str = "OutOfcpu") -> Any:
    patch = Patch("Pod", pod.key, pod.uid, (("phase", "Failed"), ("reason", reason), ("message", "no room")))
    return lab.step(lab.situation(lab.node(), *others, pod), "kubelet", FromNode("n1", patch))


def test_a_kubelet_that_rejects_what_fits_by_the_store_disagrees(lab: Any) -> None:
    finished = lab.pod("job-a", "n1", phase="Succeeded", ready=False, spec=lab.spec(cpu=3000))
    pod = lab.pod("job-b", "n1", phase="Pending", ready=False, spec=lab.spec(cpu=3000))
    (violation,) = lab.broken("admission-agrees", rejection(lab, pod, finished))
    assert "no room" in violation.message


def test_a_kubelet_that_rejects_what_does_not_fit_is_right(lab: Any) -> None:
    running = lab.pod("job-a", "n1", spec=lab.spec(cpu=3000))
    pod = lab.pod("job-b", "n1", phase="Pending", ready=False, spec=lab.spec(cpu=3000))
    assert lab.broken("admission-agrees", rejection(lab, pod, running)) == []


def test_a_pod_that_names_its_node_was_not_scheduled(lab: Any) -> None:
    pod = lab.pod("job-b", "n1", phase="Pending", ready=False, spec=lab.spec(node_name="n1"))
    assert lab.broken("admission-agrees", rejection(lab, pod)) == []


@pytest.mark.parametrize("full", [True, False])
def test_tidying_up_needs_room_elsewhere(lab: Any, full: bool) -> None:
    pod = lab.pod("web-a", "n1")
    other = lab.node("n2", cpu=400 if full else 4000)
    before = lab.situation(lab.node("n1"), other, pod)
    step = lab.step(before, "descheduler", DeletePod(pod.key, pod.uid, disruption_target="EvictionByEvictionAPI"))
    assert bool(lab.broken("removal-has-room", step)) is full
    assert lab.broken("removal-has-room", lab.step(before, "drain", DeletePod(pod.key, pod.uid))) == []
