"""Names do not matter: a cluster with its nodes renamed is the same state, and settles into the same states."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.checker.scenario import Scenario
from reconverge.model.canonical import fingerprint
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import EVENTS, Cordon, Event
from reconverge.model.persistent import Map
from reconverge.model.quiet import at_rest, steps
from reconverge.model.rules import Rules
from reconverge.model.standard import standard_control_plane

NODE = re.compile(r"node-[0-9]\b")


def renamed(value: Any, names: dict[str, str]) -> Any:
    """A value with every name of a node in it, alone or in a longer text, replaced."""
    match value:
        case str():
            return NODE.sub(lambda found: names.get(found[0], found[0]), value)
        case Rules():
            return value
        case Map():
            return Map((renamed(key, names), renamed(each, names)) for key, each in value.items())
        case dict():
            return {renamed(key, names): renamed(each, names) for key, each in value.items()}
        case tuple():
            return tuple(renamed(each, names) for each in value)
        case frozenset():
            return frozenset(renamed(each, names) for each in value)
    if attrs.has(type(value)):
        fields = [field for field in attrs.fields(type(value)) if field.init]
        return type(value)(**{field.alias: renamed(getattr(value, field.name), names) for field in fields})
    return value


# Small clusters, and what happens to them --------------------------------------------------------------------

apart = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}
spread = [
    {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Two to four nodes in one or two zones, a Deployment, perhaps another one, a budget and a Service."""
    rules: dict[str, Any] = draw(st.sampled_from([{}, {"affinity": apart}, {"topologySpreadConstraints": spread}]))
    slow: dict[str, str] = draw(
        st.sampled_from([{}, {"reconverge/stops-after": "20"}, {"reconverge/behaviour": "not-ready-first"}])
    )
    objects = [deployment("web", draw(st.integers(1, 3)), rules, slow)]
    if draw(st.booleans()):
        objects.append(deployment("api", draw(st.integers(1, 2)), {}, {}))
    selector = {"matchLabels": {"app": "web"}}
    if draw(st.booleans()):
        spec = {"selector": selector, "maxUnavailable": 1}
        objects.append(
            {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}
        )
    if draw(st.booleans()):
        service = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
        objects.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": service})
    zones = draw(st.sampled_from([[], ["a"], ["a", "b"]]))
    room = {"cpu": draw(st.sampled_from(["900m", "2"])), "memory": "8Gi", "pods": 110}
    pool = {"name": "node", "count": draw(st.integers(2, 4)), "zones": zones, "allocatable": room}
    spec = {"objects": objects, "nodePools": [pool], "may": {}}
    return {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "names"}, "spec": spec}


def deployment(name: str, replicas: int, pod: dict[str, Any], annotations: dict[str, str]) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": "400m"}}}
    metadata = {"labels": labels, "annotations": annotations}
    template = {"metadata": metadata, "spec": {"containers": [container], **pod}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


BY_OPERATORS = ("node-delete", "drain", "cordon", "uncordon", "rollout", "scale")
KINDS = (*BY_OPERATORS, "node-crash", "node-recover", "node-partition", "kubelet-restart")


def candidates(cluster: Cluster, kind: str) -> list[Event]:
    return list(EVENTS[kind].candidates(cluster, {}))


def after(plane: ControlPlane, cluster: Cluster, event: Event, most: int | None = None) -> Cluster:
    """The cluster at rest after an event, or after so many steps."""
    struck, _ = plane.strike(cluster, event)
    if most is None:
        return at_rest(plane, struck)
    for moved in islice(steps(plane, struck), most):
        struck = moved.cluster
    return struck


happenings = st.tuples(st.sampled_from(KINDS), st.integers(0, 7), st.none() | st.integers(0, 60))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(documents(), st.permutations(range(4)), st.lists(happenings, max_size=4))
def test_settling_commutes_with_renaming_nodes(
    document: dict[str, Any], order: list[int], choices: list[tuple[str, int, int | None]]
) -> None:
    """Each event strikes at rest, or where the stretch after an operator's doing was broken off after some steps.

    After failures it strikes at rest: what the API does not show yet cannot decide in which order loops take nodes.
    """
    plane = standard_control_plane()
    cluster = Scenario.from_document(document).world(plane).start
    given_names = sorted(cluster.store.table("Node").objects)
    places = [place for place in order if place < len(given_names)]
    names = {name: given_names[place] for name, place in zip(given_names, places, strict=True)}
    for kind, choice, most in choices:
        mirror = renamed(cluster, names)
        if plane.next(cluster) is None:
            assert fingerprint(plane, mirror) == fingerprint(plane, cluster)
        possible = candidates(cluster, kind)
        if possible:
            event = possible[choice % len(possible)]
            rested, other = after(plane, cluster, event), after(plane, mirror, renamed(event, names))
            assert fingerprint(plane, other) == fingerprint(plane, rested), f"{event} under {names}"
            cluster = rested if most is None or kind not in BY_OPERATORS else after(plane, cluster, event, most)


def test_a_difference_that_is_none_of_names_is_seen(studio: Any) -> None:
    plane = standard_control_plane()
    start = studio.scenario(studio.deployment(), nodes="2x4cpu,16Gi@a").world(plane).start
    (pod,) = start.store.all("Pod")
    moved = start.with_(store=start.store.put(pod.with_(node="node-2"))[0])
    cordoned = after(plane, start, Cordon(pod.node))
    other = after(plane, start, Cordon("node-2"))
    assert fingerprint(plane, moved) != fingerprint(plane, start)
    assert fingerprint(plane, cordoned) != fingerprint(plane, other)
