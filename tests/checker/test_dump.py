"""Starting from a cluster as it stands."""

from __future__ import annotations

from typing import Any

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
