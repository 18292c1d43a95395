"""StorageClasses, volumes, claims and attachments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import LoadError, load_text
from reconverge.model.labels import Requirement
from reconverge.model.objects import NodeSelectorTerm, StatefulSet
from reconverge.model.objects.node import ZONE
from reconverge.model.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment

Read = Callable[[str], Any]

CLASS = """\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: ebs.csi.aws.com
parameters: {type: gp3}
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Ki}}}
"""
SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  selector: {matchLabels: {app: db}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: disk, resources: {requests: {storage: 2Ki}}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: postgres}]}
"""


def volume(spec: str, status: str = "") -> str:
    return f"apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: v}}\nspec: {{{spec}}}\nstatus: {{{status}}}\n"


def test_a_class_is_read_with_its_defaults(read_one: Read) -> None:
    found = read_one(CLASS)
    assert isinstance(found, StorageClass)
    assert (found.key, found.binding_mode, found.reclaim_policy) == ("disk", "Immediate", "Delete")
    assert (found.default, found.delays, found.reach, found.zones) == (True, False, "zone", ())


def test_of_a_class_the_zones_and_the_kind_of_its_volumes_count(read_one: Read) -> None:
    topology = f"allowedTopologies: [{{matchLabelExpressions: [{{key: {ZONE}, values: [b, a]}}]}}]\n"
    found = read_one(CLASS + topology + "volumeBindingMode: WaitForFirstConsumer\n")
    assert (found.delays, found.zones) == (True, ("a", "b"))
    assert read_one(CLASS.replace("ebs.csi", "efs.csi")).reach == "anywhere"
    assert read_one(CLASS.replace("ebs.csi.aws.com", "rancher.io/local-path")).reach == "node"


def test_a_volume_is_read(read_one: Read) -> None:
    expression = f"{{key: {ZONE}, operator: In, values: [a]}}"
    affinity = f"nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}}}"
    found = read_one(volume(f"capacity: {{storage: 1Ki}}, csi: {{driver: ebs.csi.aws.com}}, {affinity}"))
    assert isinstance(found, PersistentVolume)
    assert (found.capacity, found.access_modes, found.reclaim_policy) == (1024, ("ReadWriteOnce",), "Retain")
    assert found.affinity == (NodeSelectorTerm((Requirement(ZONE, "In", ("a",)),)),)
    assert (found.exclusive, found.claim, found.phase) == (True, "", "Available")


def test_a_bound_volume_of_a_dump_stays_bound(read_one: Read) -> None:
    found = read_one(volume("nfs: {server: s, path: /}, claimRef: {namespace: shop, name: data}", "phase: Bound"))
    assert (found.claim, found.phase, found.exclusive) == ("shop/data", "Bound", False)


def test_volumes_of_file_systems_are_not_attached(read_one: Read) -> None:
    assert not read_one(volume("csi: {driver: efs.csi.aws.com}")).attachable
    assert not read_one(volume("csi: {driver: ebs.csi.aws.com}, accessModes: [ReadWriteMany]")).exclusive


def test_a_claim_is_read(read_one: Read) -> None:
    found = read_one(CLAIM + "status: {phase: Bound}\n")
    assert isinstance(found, PersistentVolumeClaim)
    assert (found.request, found.access_modes, found.storage_class) == (1024, ("ReadWriteOncePod",), None)
    assert found.bound
    assert read_one(CLAIM.replace("spec: {", 'spec: {storageClassName: "", ')).storage_class == ""


def test_an_attachment_has_the_name_of_its_volume(read_one: Read) -> None:
    found = read_one(
        "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-1}\n"
        "spec: {attacher: ebs, nodeName: n1, source: {persistentVolumeName: v}}\n"
    )
    assert found == VolumeAttachment(name="v", node="n1")


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(LoadError, match='has no mode "RWO"; there are ReadWriteOnce'):
        load_text(CLAIM.replace("ReadWriteOncePod", "RWO"), "a.yaml")


def test_claims_count_where_storage_is_described_and_only_there() -> None:
    alone = load_text("---\n".join((SET, CLAIM)), "a.yaml")
    assert [each.path for each in alone.accounting.unsupported] == ["spec.volumeClaimTemplates", "spec"]
    assert [each.object for each in alone.accounting.unsupported][1] == "persistentvolumeclaim/data"
    described = load_text("---\n".join((SET, CLAIM, CLASS)), "a.yaml")
    assert described.accounting.unsupported == ()
    (db,) = (each for each in described.objects if isinstance(each, StatefulSet))
    assert [(each.name, each.request, each.storage_class) for each in db.claims] == [("data", 2048, "disk")]
