"""What is promised of disks and claims, on situations put together by hand."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Create, Delete, Patch
from reconverge.model.loop import LoopState
from reconverge.model.loops.attach_detach import AttachDetachMemory
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.objects.node import OUT_OF_SERVICE, Taint
from reconverge.model.objects.storage import (
    ATTACHMENT,
    CLAIM,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from reconverge.model.persistent import Map

LOOP = "attach-detach"


def disk(**fields: Any) -> list[Any]:
    """A disk that is bound to claim data."""
    volume = PersistentVolume(name="v", uid=7, claim="default/data", phase="Bound", **fields)
    return [volume, PersistentVolumeClaim(name="data", uid=8, volume="v", phase="Bound")]


def user(lab: Any, **fields: Any) -> Any:
    """A pod with claim data on n1."""
    return lab.pod("wiki", "n1", spec=lab.spec(claims=("data",)), **fields)


def on_n1(lab: Any, *objects: Any, node: dict[str, Any] | None = None, waited: float = 0, **options: Any) -> Any:
    """The disk attached to n1, with other objects; unmounting has been waited for so long."""
    nodes = [lab.node("n1", **(node or {})), lab.node("n2")]
    memory = AttachDetachMemory(Map({"v": 1000 - waited} if waited else {}))
    attached = VolumeAttachment(name="v", uid=9, node="n1")
    given = [*nodes, *options.pop("disk", disk()), attached, *objects]
    return lab.situation(*given, loops={LOOP: LoopState(memory)}, **options)


def detached(lab: Any, before: Any) -> Any:
    return lab.broken("disk-on-one-node", lab.step(before, LOOP, Delete(ATTACHMENT, "v", 9)))


def without(situation: Any, pod: Any) -> Any:
    """The same after the pod's object has been removed by force: only its machine knows it."""
    store, _ = situation.store.remove("Pod", pod.key)
    return situation.__class__(situation.cluster.with_(store=store))


def test_a_disk_stays_where_a_pod_uses_it(lab: Any) -> None:
    (found,) = detached(lab, on_n1(lab, user(lab)))
    assert found.message == "persistentvolume/v is taken from node n1, where pod/wiki uses it"
    assert not detached(lab, on_n1(lab))


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"deletion_at": 1030}, True),
        ({"phase": "Pending", "ready": False}, True),
        ({"phase": "Pending", "ready": False, "deletion_at": 1030}, False),
        ({"phase": "Failed", "ready": False}, False),
    ],
)
def test_it_may_go_once_its_pod_has_ended_or_never_started(lab: Any, fields: dict[str, Any], broken: bool) -> None:
    assert bool(detached(lab, on_n1(lab, user(lab, **fields)))) == broken


def test_a_disk_that_moves_leaves_a_node(lab: Any) -> None:
    before = on_n1(lab, user(lab))
    move = Patch(ATTACHMENT, "v", 9, (("node", "n2"),))
    (found,) = lab.broken("disk-on-one-node", lab.step(before, LOOP, move))
    assert "taken from node n1 for node n2" in found.message


@pytest.mark.parametrize(
    ("node", "waited", "broken"),
    [
        ({}, 0, True),
        ({}, 400, True),
        ({"ready": "Unknown"}, 0, True),
        ({"ready": "Unknown"}, 359, True),
        ({"ready": "Unknown"}, 360, False),
        ({"taints": (Taint(OUT_OF_SERVICE, "NoExecute"),)}, 0, False),
    ],
)
def test_a_disk_that_is_mounted_waits_six_minutes_for_a_sick_node(
    lab: Any, node: dict[str, Any], waited: float, broken: bool
) -> None:
    pod = user(lab)
    assert bool(detached(lab, without(on_n1(lab, pod, node=node, waited=waited), pod))) == broken


def test_a_disk_of_a_node_that_is_gone_is_free(lab: Any) -> None:
    before = on_n1(lab, user(lab))
    store, _ = before.store.remove("Node", "n1")
    assert not detached(lab, before.__class__(before.cluster.with_(store=store)))


def test_what_several_nodes_may_have_is_not_judged(lab: Any) -> None:
    assert not detached(lab, on_n1(lab, user(lab), disk=disk(access_modes=("ReadWriteMany",))))


def test_a_loop_with_an_old_view_is_forgiven(lab: Any) -> None:
    before = on_n1(lab, user(lab))
    stalled = {LOOP: LoopState(AttachDetachMemory(), stalled={"Pod": before.store.table("Pod")})}
    assert not detached(lab, before.__class__(before.cluster.with_(loops=stalled)))


@pytest.mark.parametrize(("where", "broken"), [("n1", False), ("n2", True), ("", True)])
def test_a_pod_starts_where_its_disk_is(lab: Any, where: str, broken: bool) -> None:
    attached = [VolumeAttachment(name="v", uid=9, node=where)] if where else []
    pod = user(lab, phase="Pending", ready=False)
    before = lab.situation(lab.node("n1"), lab.node("n2"), *disk(), *attached, pod)
    local = before.cluster.machines.get("n1").pods[pod.uid]
    step = lab.step(before, "kubelet", Locally("n1", local.with_(state="running"), "starts"))
    assert bool(lab.broken("disk-on-one-node", step)) == broken


# Claims ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deleted", "node", "broken"),
    [(True, "n1", "which pod/wiki uses"), (True, None, ""), (False, None, "which nobody has deleted")],
)
def test_a_claim_goes_when_it_is_deleted_and_free(lab: Any, deleted: bool, node: str | None, broken: str) -> None:
    claim = PersistentVolumeClaim(name="data", uid=8, deletion_at=990 if deleted else None)
    before = lab.situation(lab.node("n1"), claim, lab.pod("wiki", node, spec=lab.spec(claims=("data",))))
    found = removed(lab, before, "pvc-protection")
    assert [each.message for each in found] == (
        [f"pvc-protection removes persistentvolumeclaim/data, {broken}"] if broken else []
    )
    assert not removed(lab, before, "gitops")


def removed(lab: Any, before: Any, actor: str) -> Any:
    """What is said of a claim's removal; the checker judges what is gone as it was."""
    step = lab.step(before, actor, Delete(CLAIM, "default/data", 8))
    return list(lab.registry["claims-kept"].judge(step, before.store.get(CLAIM, "default/data")))


@pytest.mark.parametrize(
    ("there", "mounted", "broken"),
    [
        (("data-db-0",), ("data-db-0",), ""),
        ((), ("data-db-0",), "pod/db-0 comes before its claim data-db-0"),
        (("data-db-0",), (), "pod/db-0 comes without its claim data-db-0"),
        (("data-db-0", "data-db-1"), ("data-db-1",), "pod/db-0 comes without its claim data-db-0"),
    ],
)
def test_a_member_comes_with_its_own_claims(
    lab: Any, there: tuple[str, ...], mounted: tuple[str, ...], broken: str
) -> None:
    sts = lab.stateful_set(claims=(PersistentVolumeClaim(name="data"),))
    claims = [PersistentVolumeClaim(name=name, uid=lab.fresh()) for name in there]
    pod = lab.pod("db-0", None, owner=sts.owner_reference(), spec=lab.spec(claims=mounted))
    given = [lab.node("n1"), sts, *claims]
    before = lab.situation(*given, StorageClass(name="disk", uid=lab.fresh()))
    found = lab.broken("ordinals-have-claims", lab.step(before, "statefulset", Create(pod)))
    assert [each.message for each in found] == ([broken] if broken else [])
    assert not lab.broken("ordinals-have-claims", lab.step(before, "gitops", Create(pod)))
    assert not lab.broken("ordinals-have-claims", lab.step(lab.situation(*given), "statefulset", Create(pod)))
