"""Starting from a cluster as it stands."""

from __future__ import annotations

from typing import Any

from reconverge.checker import Scenario, check
from reconverge.model.events import NodeCrashes
from reconverge.model.quiet import at_rest


def test_names_made_for_new_pods_are_none_of_the_dump(build: Any) -> None:
    """The real API server draws another name where the first one is taken."""
    scenario = build.scenario(build.deployment(replicas=2), nodes=2)
    world = scenario.world()
    store = world.start.store
    (rs,) = store.all("ReplicaSet")
    taken = store.all("Pod")[0].with_(name=f"{rs.name}-c", uid=0, owner=None, labels=())
    cluster = world.start.with_(store=store.put(taken)[0])
    cluster, _ = world.plane.strike(cluster, NodeCrashes("node-1"))
    names = {pod.name for pod in at_rest(world.plane, cluster).store.all("Pod")}
    assert f"{rs.name}-d" in names


def test_a_service_of_a_dump_has_its_endpoints_from_the_start() -> None:
    """Slices are not read; without them nobody would have been served, and so nobody could lose anything."""
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    pod = {"containers": [{"name": "web", "image": "shop/web:1"}], "nodeName": "node-1"}
    meta = {"name": "web", "labels": {"app": "web"}}
    spec = {
        "objects": [
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod, "status": status},
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}},
        ],
        "nodePools": [{"name": "node", "count": 2, "allocatable": {"cpu": "4", "memory": "8Gi"}}],
        "may": {"node-crash": 1},
        "events": 1,
        "deviations": 0,
        "check": ["service-available", "service-reachable"],
    }
    metadata = {"name": "dump"}
    document = {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": metadata, "spec": spec}
    scenario = Scenario.from_document(document)
    assert scenario.start == "as-is"
    assert {(each.invariant, each.object) for each in check(scenario).violated} == {
        ("service-available", "service/web"),
        ("service-reachable", "service/web"),
    }
