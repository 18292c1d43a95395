"""Dumps of a live cluster: objects as they stand, times from the newest one, uids as small numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from reconverge.loading import Loaded, load_text
from reconverge.loading.decoders.pods import template_digest
from reconverge.model.objects import Deployment, Node, OwnerReference, Pod, PodDisruptionBudget, ReplicaSet

TEMPLATE: dict[str, Any] = {
    "metadata": {"creationTimestamp": None, "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "m", "image": "x", "resources": {"requests": {"cpu": "100m"}}}]},
}
HASHED: dict[str, Any] = {
    "metadata": {"creationTimestamp": None, "labels": {"app": "web", "pod-template-hash": "abc"}},
    "spec": TEMPLATE["spec"],
}


def meta(name: str, uid: str, owner: tuple[str, str, str] | None = None, **more: Any) -> dict[str, Any]:
    references = []
    if owner is not None:
        kind, owner_name, owner_uid = owner
        references = [
            {"apiVersion": "apps/v1", "kind": "Other", "name": "x", "uid": "u-other"},
            {"apiVersion": "apps/v1", "kind": kind, "name": owner_name, "uid": owner_uid, "controller": True},
        ]
    return {
        "name": name,
        "namespace": "shop",
        "uid": uid,
        "resourceVersion": "7",
        "creationTimestamp": "2024-05-01T10:00:00Z",
        "managedFields": [{"manager": "kubectl", "anything": {"f:x": {}}, "time": "2024-05-01T10:00:00Z"}],
        "ownerReferences": references,
        **more,
    }


RUNNING = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": meta("web-1", "u-pod", ("ReplicaSet", "web-abc", "u-rs"), labels={"app": "web"}),
    "spec": {**TEMPLATE["spec"], "nodeName": "n1", "priority": 5, "enableServiceLinks": True},
    "status": {
        "phase": "Running",
        "startTime": "2024-05-01T10:00:10Z",
        "unknownToUs": {"a": 1},
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2024-05-01T10:00:30Z"},
            {"type": "PodScheduled", "status": "True"},
        ],
        "containerStatuses": [{"restartCount": 2, "state": {"running": {"startedAt": "2024-05-01T10:00:20Z"}}}],
    },
}
GOING = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": meta(
        "web-2",
        "u-pod2",
        ("ReplicaSet", "web-abc", "u-rs"),
        deletionTimestamp="2024-05-01T10:05:30Z",
        deletionGracePeriodSeconds=30,
        finalizers=["a/b"],
    ),
    "spec": TEMPLATE["spec"],
    "status": {
        "phase": "Pending",
        "reason": "R",
        "message": "{{ M }}",
        "nominatedNodeName": "n2",
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"},
            {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"},
        ],
        "containerStatuses": [{"restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
    },
}
REPLICA_SET = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": meta("web-abc", "u-rs", ("Deployment", "web", "u-web")),
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": HASHED},
    "status": {"replicas": 2, "readyReplicas": 1, "fullyLabeledReplicas": 2, "observedGeneration": 1},
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": meta(
        "web",
        "u-web",
        generation=3,
        annotations={
            "deployment.kubernetes.io/revision": "4",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
    ),
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
    "status": {
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 1,
        "unavailableReplicas": 1,
        "observedGeneration": 3,
        "conditions": [
            {
                "type": "Progressing",
                "status": "True",
                "reason": "NewReplicaSetAvailable",
                "lastTransitionTime": "2024-05-01T10:00:00Z",
                "lastUpdateTime": "2024-05-01T10:00:40Z",
            }
        ],
    },
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {**meta("n1", "u-node"), "labels": {"topology.kubernetes.io/zone": "a"}},
    "spec": {"podCIDR": "10.0.0.0/24", "providerID": "x"},
    "status": {
        "allocatable": {"cpu": "3920m", "memory": "7313084Ki", "pods": "58", "ephemeral-storage": "47233297124"},
        "capacity": {"cpu": "4", "memory": "8003260Ki", "pods": "58"},
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "KubeletReady",
                "lastHeartbeatTime": "2024-05-01T10:05:00Z",
            }
        ],
        "images": [{"names": ["x"]}],
        "nodeInfo": {"kubeletVersion": "v1.34"},
    },
}
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": meta("web", "u-pdb"),
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    "status": {
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "disruptionsAllowed": 0,
        "expectedPods": 2,
        "disruptedPods": {"web-2": "2024-05-01T10:04:00Z"},
        "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods"}],
    },
}
MAKER = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": meta("agent", "u-rc"), "spec": {}}
SLICES = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta("web-x", "u-es")}


def dump() -> dict[str, Any]:
    """What kubectl prints for some objects, with the pods first."""
    items = [RUNNING, GOING, REPLICA_SET, DEPLOYMENT, NODE, BUDGET, MAKER, SLICES]
    return {"apiVersion": "v1", "kind": "List", "items": items, "metadata": {"resourceVersion": ""}}


@pytest.fixture
def loaded() -> Loaded:
    return load_text(json.dumps(dump(), indent=4), "dump.json")


@pytest.fixture
def only(loaded: Loaded) -> Callable[[type, str], Any]:
    return lambda kind, name: next(e for e in loaded.objects if isinstance(e, kind) and e.name == name)


def test_uids_are_numbered_as_they_appear_and_owners_point_at_them(only: Callable[[type, str], Any]) -> None:
    pods, replica_set, web = only(Pod, "web-1"), only(ReplicaSet, "web-abc"), only(Deployment, "web")
    assert (pods.uid, only(Pod, "web-2").uid, replica_set.uid, web.uid) == (1, 2, 3, 4)
    assert pods.owner == OwnerReference("ReplicaSet", "web-abc", 3)
    assert replica_set.owner == OwnerReference("Deployment", "web", 4)
    assert web.owner is None


def test_times_count_from_the_newest_that_is_no_deadline(only: Callable[[type, str], Any]) -> None:
    pod, going = only(Pod, "web-1"), only(Pod, "web-2")
    assert (pod.created_at, pod.started_at, pod.ready_since) == (-300, -290, -270)
    assert (going.deletion_at, going.grace, going.finalizers) == (30, 30, ("a/b",))
    (condition,) = only(Deployment, "web").status.conditions
    assert (condition.since, condition.updated_at) == (-300, -260)


def test_pods_stand_as_they_are(only: Callable[[type, str], Any]) -> None:
    pod, going = only(Pod, "web-1"), only(Pod, "web-2")
    assert (pod.node, pod.spec.node_name, pod.phase, pod.ready, pod.restarts) == ("n1", None, "Running", True, 2)
    assert (pod.spec.priority, pod.key, pod.waiting) == (5, "shop/web-1", "")
    assert (going.node, going.nominated_node, going.ready, going.waiting) == (None, "n2", False, "CrashLoopBackOff")
    assert (going.reason, going.message, going.disruption_target) == ("R", "{{ M }}", "EvictionByEvictionAPI")
    assert going.unscheduled == ("Unschedulable", "0/1 nodes")


def test_workloads_nodes_and_budgets_keep_their_status(only: Callable[[type, str], Any]) -> None:
    web, node, budget = only(Deployment, "web"), only(Node, "n1"), only(PodDisruptionBudget, "web")
    assert (web.generation, web.status.observed_generation, web.deployment_revision) == (3, 3, 4)
    assert (web.status.updated, web.status.ready, web.status.unavailable) == (2, 1, 1)
    assert only(ReplicaSet, "web-abc").status.fully_labeled == 2
    assert (node.allocatable.resources.cpu, node.allocatable.pods, node.zone) == (3920, 58, "a")
    assert budget.status.disrupted_pods == (("web-2", -60),)
    assert budget.status.condition == ("False", "InsufficientPods")
    assert dict(web.annotations) == {"deployment.kubernetes.io/revision": "4"}


def test_a_template_is_the_same_with_and_without_the_hash_label(only: Callable[[type, str], Any]) -> None:
    web, replica_set = only(Deployment, "web"), only(ReplicaSet, "web-abc")
    assert web.template.digest == replica_set.template.digest
    assert only(Pod, "web-1").template_digest == replica_set.template.digest
    assert template_digest({}) == template_digest({"metadata": {"labels": None}})


def test_what_is_computed_is_left_out_and_what_makes_pods_is_kept_aside(loaded: Loaded) -> None:
    assert loaded.skipped == {"EndpointSlice": 1, "ReplicationController": 1}
    assert [each.name for each in loaded.pod_makers] == ["agent"]
    assert len(loaded.raw) == len(loaded.objects) == 6
    assert json.loads(json.dumps(loaded.raw[0].value)) == dump()["items"][0]


def test_yaml_and_json_give_the_same_objects(loaded: Loaded) -> None:
    assert load_text(yaml.safe_dump(dump()), "dump.yaml").objects == loaded.objects
