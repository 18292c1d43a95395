"""Seeded bugs: control planes with one wrong rule, each of which the stock invariants must tell on.

A case is plain data, so that a module's table reads as one:

    wrong       the class with the wrong rule: a control loop, or a part of one that `loop` makes a loop of
    loop        makes a control loop with the part, given its class; left out if `wrong` is one
    caught      the invariant that is broken by it, and by nothing else in this scenario
    trace       the smallest sequence that shows it: one text per event, as `story` writes it
    nodes       node pools in a few words, such as 3x4cpu,16Gi@a,b,c
    deployment  what sets Deployment web apart: `replicas`, other fields of its spec, and `pod` (pod spec), `labels`,
                `annotations` of its template; `deployments` has several by name
    budget      spec of a PodDisruptionBudget over the pods of web; `service` True puts a Service before them
    objects     further objects, as manifests
    may, events, deviations, start, placement, kubernetes   as in a scenario file; events 1 and deviations 0 unless told
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.checker.check import check
from reconverge.checker.result import Result, Verdict
from reconverge.checker.scenario import Scenario
from reconverge.checker.trace import Stroke
from reconverge.loading import parse_pools
from reconverge.model.control_plane import ControlPlane
from reconverge.model.standard import standard_control_plane

Case = Mapping[str, Any]


def deployment(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A Deployment whose pods ask for 500m and are labelled app=<name>."""
    own = {key: value for key, value in given.items() if key not in ("pod", "labels", "annotations", "cpu")}
    labels = {"app": name, **given.get("labels", {})}
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": given.get("cpu", "500m")}}}
    metadata = {"labels": labels, "annotations": given.get("annotations", {})}
    template = {"metadata": metadata, "spec": {"containers": [container], **given.get("pod", {})}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template, **own}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def objects(case: Case) -> list[dict[str, Any]]:
    """The manifests of a case."""
    named = {**({"web": case["deployment"]} if "deployment" in case else {}), **case.get("deployments", {})}
    found = [deployment(name, given) for name, given in named.items()]
    web: dict[str, Any] = {"matchLabels": {"app": "web"}}
    if "budget" in case:
        budget = {"selector": web, **case["budget"]}
        meta = {"name": "web"}
        found.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": budget})
    if case.get("service"):
        service = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
        found.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": service})
    return [*found, *case.get("objects", ())]


def pools(words: str) -> list[dict[str, Any]]:
    """Node pools as a scenario file writes them; several are separated by spaces."""
    found = []
    for pool in (pool for word in words.split() for pool in parse_pools(word)):
        resources = pool.allocatable.resources
        room = {"cpu": f"{resources.cpu}m", "memory": str(resources.memory), "pods": pool.allocatable.pods}
        found.append({"name": pool.name, "count": pool.count, "zones": list(pool.zones), "allocatable": room})
    return found


def scenario(case: Case) -> Scenario:
    """The scenario of a case."""
    spec: dict[str, Any] = {"objects": objects(case), "events": 1, "deviations": 0, "may": {}}
    if "nodes" in case:
        spec["nodePools"] = pools(case["nodes"])
    spec.update({key: case[key] for key in KEPT if key in case})
    metadata = {"name": str(case["caught"])}
    document = {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": metadata, "spec": spec}
    made = Scenario.from_document(document)
    assert made.loaded is not None
    assert not made.loaded.notes
    return made


KEPT = ("nodePools", "may", "events", "deviations", "start", "placement", "kubernetes", "rules", "steps")


def story(stroke: Stroke) -> str:
    """One event with its arguments and the deviations after it: `scale deployment/web 3, tie 0 1`."""
    words = [stroke.event, *(str(value) for value in stroke.arguments.values())]
    odd = [
        f", {kind} {' '.join(str(number) for number in numbers.values())}"
        for deviation in stroke.deviations
        for kind, numbers in deviation.items()
    ]
    return " ".join(words) + "".join(odd)


def verdicts(result: Result, invariant: str) -> list[Verdict]:
    """What is said of one invariant."""
    return [each for each in result.verdicts if each.invariant == invariant]


def plane_with(case: Case) -> ControlPlane:
    """The standard control plane with the wrong loop in its place, or beside the others if it is an optional one."""
    wrong = case["wrong"]
    loop = case["loop"](wrong) if "loop" in case else wrong()
    plane = standard_control_plane()
    return plane.replacing(loop) if loop.name in plane.by_name else plane.including(loop)


@pytest.fixture
def tells_on() -> Callable[[Case], None]:
    """Checks that the suite finds the seeded bug by exactly the trace, and that the right rule keeps the promise."""

    def judge(case: Case) -> None:
        given = scenario(case)
        found = check(given, mode="exhaustive", plane=plane_with(case))
        broken = [each for each in verdicts(found, case["caught"]) if each.status == "violated"]
        assert broken, f"{case['caught']} holds; violated: {[each.invariant for each in found.violated]}"
        number = broken[0].trace
        assert number is not None
        trace = found.traces[number]
        assert [story(stroke) for stroke in trace.strokes] == case["trace"]
        assert trace.minimal
        right = check(given, mode="exhaustive")
        assert right.exploration.complete
        assert {each.status for each in verdicts(right, case["caught"])} == {"held"}

    return judge


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Cases are named after the wrong rule."""
    return val["wrong"].__name__ if argname == "case" and isinstance(val, Mapping) else None
