"""What the project must be able to show: worlds in a few words, and films of runs in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconverge.checker.runner import Observer, Play, Struck, run
from reconverge.checker.scenario import Scenario
from reconverge.checker.schedule import Taken
from reconverge.loading import parse_pools
from reconverge.model.cluster import Cluster
from reconverge.model.events import Event
from reconverge.model.objects import Pod

ROOT = Path(__file__).resolve().parents[2]


class Scene(NamedTuple):
    """One moment of a film: seconds since the first event, and the cluster."""

    at: float
    cluster: Cluster

    @property
    def pods(self) -> dict[int, Pod]:
        """The pods by uid."""
        return {pod.uid: pod for pod in self.cluster.store.all("Pod")}


class Film(list[Scene]):
    """Every step of a run, the start first."""

    def first(self, shows: Callable[[Scene], bool]) -> float:
        """When something is first to be seen. Raises StopIteration if it never is."""
        return next(scene.at for scene in self if shows(scene))

    def ever(self, shows: Callable[[Scene], bool]) -> bool:
        """Whether something is ever to be seen."""
        return any(shows(scene) for scene in self)


def deployment(name: str = "web", replicas: int = 1, **pod: Any) -> dict[str, Any]:
    """A Deployment whose pods ask for 500m; `pod` are further fields of their spec."""
    labels = {"app": name}
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": "500m"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **pod}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def budget(**spec: Any) -> dict[str, Any]:
    """A PodDisruptionBudget over the pods of Deployment web."""
    selector = {"matchLabels": {"app": "web"}}
    metadata = {"name": "web"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": {"selector": selector, **spec},
    }


class Studio:
    """Makes scenarios, and films of what happens in them."""

    deployment = staticmethod(deployment)
    budget = staticmethod(budget)
    root = ROOT

    def document(self, *objects: Mapping[str, Any], nodes: str, **spec: Any) -> dict[str, Any]:
        """A scenario document with nodes in a few words, such as 3x4cpu,16Gi@a,b,c."""
        given = {"objects": list(objects), "nodePools": self.pools(nodes), "may": {}, **spec}
        metadata = {"name": "must-show"}
        return {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": metadata, "spec": given}

    def scenario(self, *objects: Mapping[str, Any], nodes: str, **spec: Any) -> Scenario:
        """The scenario of such a document."""
        return Scenario.from_document(self.document(*objects, nodes=nodes, **spec))

    def pools(self, words: str) -> list[dict[str, Any]]:
        """Node pools as a scenario file writes them."""
        found = []
        for pool in (pool for word in words.split() for pool in parse_pools(word)):
            resources = pool.allocatable.resources
            room = {"cpu": f"{resources.cpu}m", "memory": str(resources.memory), "pods": pool.allocatable.pods}
            found.append({"name": pool.name, "count": pool.count, "zones": list(pool.zones), "allocatable": room})
        return found

    def film(self, scenario: Scenario, *events: Event) -> Film:
        """What happens after each event and in the end, step by step."""
        world = scenario.world()
        begun = world.start.now
        film = Film([Scene(0, world.start)])

        def struck(each: Struck) -> None:
            film.append(Scene(each.after.now - begun, each.after))

        def taken(each: Taken) -> None:
            film.append(Scene(each.after.now - begun, each.after))

        done = run(world, [Play(event) for event in events], world.judge("none"), observer=Observer(struck, taken))
        assert len(done.plays) == len(events)
        return film


@pytest.fixture
def studio() -> Studio:
    return Studio()
