"""Which volume a claim gets, and where its pod may run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.labels import Requirement, labels_of
from reconverge.model.objects import NodeSelectorTerm
from reconverge.model.objects.node import ZONE
from reconverge.model.objects.storage import CLAIM, VOLUME, PersistentVolume
from reconverge.model.rules import Rules

Make = Callable[..., Any]
MOUNTS = {"claims": ("data",)}


def in_zone(zone: str) -> tuple[NodeSelectorTerm, ...]:
    return (NodeSelectorTerm((Requirement(ZONE, "In", (zone,)),)),)


def test_a_waiting_claim_gets_a_volume_in_the_zone_of_its_first_pod(
    start: Make, lab: Any, disk: Make, claim: Make
) -> None:
    cluster = start(lab.node("n1", zone="a"), disk(), claim())
    cluster.settle()
    assert not cluster.get(CLAIM, "data").bound
    cluster.put(lab.pod("web", spec=MOUNTS))
    written = [what for _, what in cluster.settle()]
    assert written[:2] == ["selects n1 for persistentvolumeclaim/data", "binds pod/web to n1"]
    assert cluster.get(VOLUME, "pvc-data").affinity == in_zone("a")
    assert cluster.get("Pod", "web").phase == "Running"
    assert cluster.get("VolumeAttachment", "pvc-data").node == "n1"


def test_the_zone_of_an_immediate_volume_is_chance(start: Make, lab: Any, disk: Make, claim: Make) -> None:
    cluster = start(lab.node("n1", zone="a"), lab.node("n2", zone="b"), disk("Immediate"), claim())
    assert [plan.choice for plan in cluster.passes_of("persistent-volume", "default/data")] == ["a", "b"]
    restricted = start(lab.node("n1", zone="a"), lab.node("n2", zone="b"), disk("Immediate", zones=("b",)), claim())
    assert [plan.choice for plan in restricted.passes_of("persistent-volume", "default/data")] == ["b"]


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.32", "node(s) had volume node affinity conflict"),
        ("1.34", "node(s) didn't match PersistentVolume's node affinity"),
    ],
)
def test_a_pod_does_not_leave_the_zone_of_its_volume(
    start: Make, lab: Any, disk: Make, claim: Make, version: str, said: str
) -> None:
    bound = claim(volume="v", phase="Bound")
    volume = PersistentVolume(name="v", claim="default/data", phase="Bound", affinity=in_zone("b"))
    rules = Rules.for_version(version)
    cluster = start(lab.node("n1", zone="a"), disk(), bound, volume, lab.pod("web", spec=MOUNTS), rules=rules)
    cluster.settle()
    assert cluster.get("Pod", "web").unscheduled[1].startswith(f"0/1 nodes are available: 1 {said}.")
    cluster.put(lab.node("n2", zone="b"))
    cluster.settle()
    assert cluster.get("Pod", "web").node == "n2"


def test_a_pod_waits_for_immediate_claims(start: Make, lab: Any, claim: Make) -> None:
    other = PersistentVolume(name="small", capacity=1)
    cluster = start(lab.node("n1"), claim(storage_class=""), other, lab.pod("web", spec=MOUNTS))
    cluster.settle()
    said = cluster.get("Pod", "web").unscheduled[1]
    assert said.startswith("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
    cluster.put(PersistentVolume(name="big", capacity=20))
    cluster.settle()
    assert cluster.get(CLAIM, "data").volume == "big"
    assert cluster.get("Pod", "web").phase == "Running"


def test_of_the_volumes_that_will_do_the_smallest_is_taken_once(start: Make, lab: Any, disk: Make, claim: Make) -> None:
    volumes = [
        PersistentVolume(name=name, capacity=size, storage_class="disk", affinity=in_zone(zone))
        for name, size, zone in (("large", 30, "a"), ("fits", 10, "a"), ("elsewhere", 5, "b"))
    ]
    pods = [lab.pod(name, spec={"claims": (name,)}) for name in ("one", "two")]
    nothing = disk(provisioner="kubernetes.io/no-provisioner")
    cluster = start(lab.node("n1", zone="a"), nothing, claim("one"), claim("two"), *volumes, *pods)
    cluster.settle()
    assert {cluster.get(CLAIM, name).volume for name in ("one", "two")} == {"fits", "large"}
    cluster.put(claim("three"))
    cluster.put(lab.pod("three", spec={"claims": ("three",)}))
    cluster.settle()
    assert "1 node(s) didn't find available persistent volumes to bind" in cluster.get("Pod", "three").unscheduled[1]


def test_labels_of_a_volume_name_its_zones(start: Make, lab: Any, claim: Make) -> None:
    labels = labels_of({ZONE: "b__c"})
    volume = PersistentVolume(name="v", claim="default/data", phase="Bound", labels=labels)
    pod = lab.pod("web", spec=MOUNTS)
    cluster = start(lab.node("n1", zone="a"), volume, claim(volume="v", phase="Bound"), pod)
    cluster.settle()
    assert "1 node(s) had no available volume zone" in cluster.get("Pod", "web").unscheduled[1]


def test_a_claim_for_one_pod_has_one_pod(start: Make, lab: Any, disk: Make, claim: Make) -> None:
    alone = claim(access_modes=("ReadWriteOncePod",))
    pods = [lab.pod(name, spec=MOUNTS) for name in ("one", "two")]
    cluster = start(lab.node("n1"), disk(), alone, *pods)
    cluster.settle()
    (waiting,) = (pod for pod in cluster.pods() if pod.node is None)
    said = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    assert f"1 {said}" in waiting.unscheduled[1]
    cluster.remove("Pod", "one" if waiting.name == "two" else "two")
    cluster.settle()
    assert cluster.get("Pod", waiting.name).phase == "Running"


@pytest.mark.parametrize(("policy", "left"), [("Delete", None), ("Retain", "Released")])
def test_what_becomes_of_a_volume_whose_claim_is_gone(
    start: Make, lab: Any, disk: Make, claim: Make, policy: str, left: str | None
) -> None:
    cluster = start(lab.node("n1", zone="a"), disk("Immediate", reclaim_policy=policy), claim())
    cluster.settle()
    cluster.remove(CLAIM, "data")
    cluster.settle()
    volume = cluster.get(VOLUME, "pvc-data")
    assert (volume.phase if volume is not None else None) == left
    cluster.put(claim())
    cluster.settle()
    assert cluster.get(CLAIM, "data").volume == ("pvc-data" if left is None else "pvc-data-2")


def test_claims_of_storage_that_nobody_describes_constrain_nothing(
    start: Make, lab: Any, disk: Make, claim: Make
) -> None:
    pod = lab.pod("web", spec=MOUNTS)
    for objects in ((claim(), pod), (disk(), pod), (disk(default=False), claim(storage_class="other"), pod)):
        cluster = start(lab.node("n1"), *objects)
        cluster.settle()
        assert cluster.get("Pod", "web").phase == "Running", objects


def test_a_selected_node_that_is_gone_is_given_up(start: Make, lab: Any, disk: Make, claim: Make) -> None:
    cluster = start(lab.node("n1", zone="a"), disk(), claim(selected_node="gone"), lab.pod("web", spec=MOUNTS))
    cluster.settle()
    assert cluster.get("Pod", "web").node == "n1"


def test_a_volume_taken_by_somebody_else_meanwhile_makes_the_pod_wait(
    start: Make, lab: Any, disk: Make, claim: Make
) -> None:
    volume = PersistentVolume(name="v", capacity=10, storage_class="disk")
    cluster = start(lab.node("n1", zone="a"), disk(), claim(), volume)
    cluster.settle()
    cluster.put(lab.pod("web", spec=MOUNTS))
    while not cluster.cluster.loops["scheduler"].in_flight:
        cluster.step()
    cluster.report(VOLUME, "v", claim="default/other")
    cluster.settle()
    assert [str(each) for each in cluster.refused] == ["409 persistentvolume/v has been modified since it was read"]
    assert cluster.get(CLAIM, "data").volume == "pvc-data"
    assert cluster.get("Pod", "web").phase == "Running"
