"""Whatever is read, it gives objects or one LoadError, never another exception; JSON and YAML agree."""

from __future__ import annotations

import copy
import json
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.loading import LoadError, load_text
from reconverge.loading.scalars import plain
from reconverge.loading.yaml_text import parse_yaml

CONTAINER = {
    "name": "m",
    "image": "x",
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": 2}},
    "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP", "hostIP": ""}],
    "readinessProbe": {"httpGet": {"port": 80}},
    "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
}
EXPRESSION = {"key": "a", "operator": "In", "values": ["b"]}
TERM = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [EXPRESSION]}, "namespaceSelector": {}}
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
POD_SPEC = {
    "containers": [CONTAINER],
    "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}],
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [EXPRESSION]}]},
            PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [EXPRESSION]}}],
        },
        "podAntiAffinity": {REQUIRED: [TERM], PREFERRED: [{"weight": 1, "podAffinityTerm": TERM}]},
    },
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}],
    "topologySpreadConstraints": [{"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
    "schedulingGates": [{"name": "g"}],
    "nodeSelector": {"a": "b"},
    "overhead": {"cpu": "1m"},
    "hostNetwork": True,
    "priority": 3,
}
META = {
    "name": "a",
    "uid": "u",
    "labels": {"a": "b"},
    "annotations": {"c": "d"},
    "creationTimestamp": "2024-01-01T00:00:00Z",
    "deletionTimestamp": "2024-01-01T00:00:30Z",
    "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "w", "controller": True}],
    "finalizers": ["f"],
}
SELECTOR = {"matchLabels": {"a": "b"}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}, "annotations": {"reconverge/behaviour": "ready"}}, "spec": POD_SPEC}
CONDITION = {"type": "Ready", "status": "True", "reason": "R", "lastTransitionTime": "2024-01-01T00:00:00Z"}
STATUS = {
    "conditions": [CONDITION],
    "replicas": 1,
    "containerStatuses": [{"restartCount": 1, "state": {"waiting": {}}}],
}
OBJECTS: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Pod", "metadata": META, "spec": POD_SPEC, "status": {**STATUS, "phase": "Running"}},
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": META,
        "spec": {
            "replicas": 1,
            "selector": SELECTOR,
            "template": TEMPLATE,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
        },
        "status": STATUS,
    },
    {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": META,
        "spec": {"selector": SELECTOR, "template": TEMPLATE},
    },
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": META,
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}], "unschedulable": True},
        "status": {"allocatable": {"cpu": "4", "memory": "1Gi", "pods": "10"}, "conditions": [CONDITION]},
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": META,
        "spec": {"minAvailable": "50%", "selector": SELECTOR},
        "status": {"conditions": [CONDITION], "disruptedPods": {"x": "2024-01-01T00:00:00Z"}},
    },
    {"apiVersion": "v1", "kind": "Service", "metadata": META, "spec": {"selector": {"a": "b"}, "type": "ClusterIP"}},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": META, "value": 5},
]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "x", "3", "25%", "1Gi", "{{ x }}", "${X}", "2024-01-01T00:00:00Z", "9999-99-99T99:99:99Z"])
    | st.text(max_size=5)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in steps for place in places(each, (*path, key)))]


@st.composite
def changed_objects(draw: st.DrawFn) -> dict[str, Any]:
    """An object with one part replaced by anything, or left out."""
    changed: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(OBJECTS)))
    *way, last = draw(st.sampled_from([place for place in places(changed) if place]))
    target: Any = changed
    for step in way:
        target = target[step]
    if draw(st.booleans()):
        target[last] = draw(VALUES)
    else:
        del target[last]
    return changed


def outcome(text: str, name: str) -> object:
    try:
        return load_text(text, name).objects
    except LoadError as error:
        return error.message, error.suggestion


def test_the_objects_that_are_changed_are_good() -> None:
    for each in OBJECTS:
        assert len(load_text(json.dumps(each), "a.json").objects) == 1


@given(changed_objects())
@settings(max_examples=150, deadline=None)
def test_an_object_with_one_part_changed_is_read_or_refused(changed: dict[str, Any]) -> None:
    assert outcome(json.dumps(changed), "a.json") is not None


@given(changed_objects())
@settings(max_examples=100, deadline=None)
def test_yaml_and_json_agree(changed: dict[str, Any]) -> None:
    text = yaml.safe_dump(changed, default_style='"', allow_unicode=True)
    assert parse_yaml(text, "a.yaml") == [changed]


@given(st.text(alphabet=st.sampled_from("ab:-#{}[]&*!|>'\"%@`,? \n\t1.\x00\x85\ufeff\u2028\ud800é"), max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    assert outcome(text, "a.yaml") is not None
    assert outcome(f"apiVersion: v1\nkind: Pod\n{text}", "a.yaml") is not None
    assert outcome("{" + text, "a.yaml") is not None


@given(st.text(alphabet="0123456789xobeE._+-", max_size=12))
def test_any_plain_scalar_has_a_value(text: str) -> None:
    value = plain(text)
    assert value == text or isinstance(value, int | float) or value is None
