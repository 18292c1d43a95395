"""Claims that are deleted while pods use them."""

from __future__ import annotations

from typing import Any

from reconverge.model.events import ObjectDeleted, PodDeleted


def test_a_claim_in_use_stays_until_its_pod_is_gone(start: Any, lab: Any, disk: Any, claim: Any) -> None:
    made = start(lab.node("n1"), disk(), claim(), lab.pod("p", spec={"claims": ("data",)}))
    made.settle()
    made.happens(ObjectDeleted("persistentvolumeclaim/data"))
    found = made.get("PersistentVolumeClaim", "data")
    assert found is not None
    assert found.terminating
    assert made.get("Pod", "p").phase == "Running"
    made.happens(PodDeleted("pod/p"))
    assert made.get("PersistentVolumeClaim", "data") is None
    assert made.cluster.store.all("PersistentVolume") == [], "reclaimed with its claim"


def test_a_claim_that_nobody_uses_goes_at_once(start: Any, lab: Any, disk: Any, claim: Any) -> None:
    made = start(lab.node("n1"), disk(), claim())
    made.settle()
    made.happens(ObjectDeleted("persistentvolumeclaim/data"))
    assert made.get("PersistentVolumeClaim", "data") is None


def test_no_new_pod_gets_a_claim_that_is_being_deleted(start: Any, lab: Any, disk: Any, claim: Any) -> None:
    made = start(lab.node("n1"), disk(), claim(), lab.pod("p", spec={"claims": ("data",)}))
    made.settle()
    made.happens(ObjectDeleted("persistentvolumeclaim/data"))
    made.put(lab.pod("q", spec={"claims": ("data",)}))
    made.settle()
    _, message = made.get("Pod", "q").unscheduled
    assert 'persistentvolumeclaim "data" is being deleted' in message
    assert not ObjectDeleted("persistentvolumeclaim/data").enabled(made.cluster)
