"""Wrong rules of the loops that look after disks and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from reconverge.model.action import Delete, Patch
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.attach_detach import AttachDetachController, AttachDetachMemory
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.loops.persistent_volume import PersistentVolumeController
from reconverge.model.loops.pvc_protection import ClaimProtection
from reconverge.model.loops.statefulset import StatefulSetController
from reconverge.model.loops.statefulset.ordinals import claims_of_ordinal, ordinal
from reconverge.model.loops.statefulset.pass_ import Pass
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.storage import ATTACHMENT, CLAIM, PersistentVolume, PersistentVolumeClaim, StorageClass
from reconverge.model.store import Store
from reconverge.model.value import Seconds

Case = Mapping[str, Any]


class LastOneGetsIt(AttachDetachController):
    """A disk is moved to the node whose pod asks for it last."""

    def sync(self, reading: Reading, memory: AttachDetachMemory, key: str) -> Sequence[Plan[AttachDetachMemory]]:
        volume: PersistentVolume | None = reading.store.get("PersistentVolume", key)
        attached = reading.store.get(ATTACHMENT, key)
        wanted = self.wanted(reading, volume) if volume is not None else []
        if attached is None or not wanted or wanted[-1] == attached.node:
            return super().sync(reading, memory, key)
        move = Patch(ATTACHMENT, key, attached.uid, (("node", wanted[-1]),), "", f"attaches it to {wanted[-1]}, too")
        return (Plan(memory, (move,)),)


class TakenFromTheDying(AttachDetachController):
    """A pod that is being deleted needs its disk no more, whatever it still writes."""

    def wants(self, pod: Pod) -> bool:
        return super().wants(pod) and pod.deletion_at is None

    def mounted(self, reading: Reading, node: str, volume: PersistentVolume) -> bool:
        return False


class MountsForgotten(AttachDetachController):
    """A disk may go as soon as the API knows no pod that uses it, whatever its kubelet has mounted."""

    def mounted(self, reading: Reading, node: str, volume: PersistentVolume) -> bool:
        return False


class ForcedAtOnce(AttachDetachController):
    """A disk is taken from an unhealthy node without the wait."""

    def may_detach(self, node: Node | None, mounted: bool, waited: Seconds) -> str:
        return super().may_detach(node, mounted, 360)


class StartsWithout(Kubelet):
    """A pod starts whether its disk is there or not."""

    def lacks_volumes(self, reading: Reading, machine: Machine, pod: Pod | None, local: Any) -> str:
        return ""


class FirstConsumerIgnored(PersistentVolumeController):
    """A volume is made before anybody knows where its first pod can run."""

    def delayed(self, store: Store, claim: PersistentVolumeClaim, found: StorageClass) -> Plan[None]:
        zone, terms = self.places(store, found)[0]
        return self.provision(store, claim, found, terms, zone)


class Unprotected(ClaimProtection):
    """A deleted claim goes at once."""

    def user(self, store: Store, claim: PersistentVolumeClaim) -> Pod | None:
        return None


class NoClaims(StatefulSetController):
    """Claims are left to somebody else."""

    def process_replica(self, work: Pass, number: int) -> bool:
        work.sts = work.sts.with_(claims=())
        return super().process_replica(work, number)


class ClaimsLast(StatefulSetController):
    """A pod is made before its claims."""

    def process_replica(self, work: Pass, number: int) -> bool:
        done = super().process_replica(work, number)
        work.actions.reverse()
        return done


class ClaimsFollow(StatefulSetController):
    """The claims of a condemned pod are deleted with it."""

    def process_condemned(self, work: Pass, pod: Pod) -> bool:
        done = super().process_condemned(work, pod)
        for each in claims_of_ordinal(work.sts, ordinal(pod)) if pod.key in work.deleted else ():
            claim = work.store.get(CLAIM, each.key)
            work.actions += [Delete(CLAIM, claim.key, claim.uid)] if claim is not None else []
        return done


def disk() -> dict[str, Any]:
    meta = {"name": "disk", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    given = {"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta, **given}


DATA = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def claim() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": DATA}


def stateful_set() -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "shop/db:1"}]}}
    spec = {
        "replicas": 2,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": template,
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": DATA}],
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}


MOUNTS = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
WIKI: dict[str, Any] = {
    "caught": "disk-on-one-node",
    "deployment": {"pod": MOUNTS},
    "objects": [disk(), claim()],
    "nodes": "2x4cpu,16Gi@a",
}
CUT_OFF: dict[str, Any] = {
    "events": 2,
    "may": {"node-partition": 1, "force-delete-pod": 1},
    "trace": ["node-partition node-1", "force-delete-pod deployment/web#0"],
}
ROLLOUT: dict[str, Any] = {"may": {"rollout": 1, "drain": 1}, "trace": ["rollout deployment/web"]}
DATABASE: dict[str, Any] = {"objects": [disk(), stateful_set()], "nodes": "1x4cpu,16Gi@a"}

CASES: list[Case] = [
    {**WIKI, **ROLLOUT, "wrong": LastOneGetsIt},
    {**WIKI, **ROLLOUT, "wrong": StartsWithout},
    {**WIKI, "wrong": TakenFromTheDying, "may": {"drain": 1}, "trace": ["drain node-1"]},
    {**WIKI, **CUT_OFF, "wrong": MountsForgotten},
    {**WIKI, **CUT_OFF, "wrong": ForcedAtOnce},
    {
        "wrong": FirstConsumerIgnored,
        "caught": "replicas-restored",
        "deployment": {"replicas": 0, "pod": {**MOUNTS, "nodeSelector": {"topology.kubernetes.io/zone": "b"}}},
        "objects": [disk(), claim()],
        "nodes": "2x4cpu,16Gi@a,b",
        "may": {"scale": {"replicas": 1}},
        "trace": ["scale deployment/web 1"],
    },
    {
        **WIKI,
        "wrong": Unprotected,
        "caught": "claims-kept",
        "may": {"delete": {"object": "persistentvolumeclaim/data"}},
        "trace": ["delete persistentvolumeclaim/data"],
    },
    {**DATABASE, "wrong": NoClaims, "caught": "ordinals-have-claims", "start": "empty", "trace": []},
    {**DATABASE, "wrong": ClaimsLast, "caught": "ordinals-have-claims", "start": "empty", "trace": []},
    {
        **DATABASE,
        "wrong": ClaimsFollow,
        "caught": "claims-kept",
        "start": "empty",
        "may": {"scale": {"replicas": 1}},
        "trace": ["scale statefulset/db 1"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
