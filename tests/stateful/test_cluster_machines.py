"""Hypothesis plays random sequences of events against small clusters; every law must hold in all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from reconverge.checker import InvariantBroken, Scenario, standard_control_plane, state_machine
from reconverge.invariants.stock import stock
from reconverge.model.loops.replicaset import ReplicaSetController

WITHOUT_EXPLAIN = tuple(phase for phase in Phase if phase is not Phase.explain)
LAWS = [each.id for each in stock() if each.family == "law" and each.default and not each.needs]


def deployment(name: str, replicas: int, **spec: Any) -> dict[str, Any]:
    """A Deployment as a manifest."""
    labels = {"app": name}
    container = {"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "500m"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec},
    }


def budget(name: str, **spec: Any) -> dict[str, Any]:
    """A PodDisruptionBudget as a manifest."""
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": selector, **spec},
    }


def scenario(*objects: dict[str, Any], nodes: int = 3, may: dict[str, Any] | None = None, check: list[str]) -> Scenario:
    """A scenario of some objects on equal nodes in two zones."""
    pool = {
        "name": "node", "count": nodes, "zones": ["a", "b"], "allocatable": {"cpu": "2", "memory": "8Gi", "pods": 10},
    }  # fmt: skip
    spec: dict[str, Any] = {"objects": list(objects), "nodePools": [pool], "check": check}
    if may is not None:
        spec["may"] = may
    return Scenario.from_document(
        {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "machine"}, "spec": spec}
    )


SHOP = scenario(deployment("web", 3), budget("web", minAvailable=2), check=LAWS)
ROUGH = scenario(
    deployment("web", 2, strategy={"type": "Recreate"}),
    deployment("api", 2, strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
    may={
        # Never all three nodes at once: then pods that run are marked not ready, as a real control plane does.
        "node-crash": 1, "node-recover": 3, "node-partition": 1, "node-reboot": 2, "kubelet-restart": 2,
        "container-crash": 3, "delete-pod": 3, "rollout": {"behaviour": ["ready", "never-ready"]}, "rollback": 2,
        "scale": 4, "cordon": 2, "uncordon": 2, "drain": 2, "pause-rollout": 1, "resume-rollout": 1,
        "loop-restart": 2, "loop-pause": 1,
    },
    check=LAWS,
)  # fmt: skip
ROUTED = scenario(
    deployment("web", 2),
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {
            "type": "NodePort",
            "selector": {"app": "web"},
            "ports": [{"port": 80}],
            "externalTrafficPolicy": "Local",
            "trafficDistribution": "PreferClose",
        },
    },
    may={
        "proxy-stall": 2, "proxy-resume": 2, "node-partition": 1, "node-crash": 1, "node-recover": 2, "delete-pod": 2,
        "scale": 2, "pod-unready": 1, "pod-ready": 1, "drain": 1, "node-delete": 1,
        "loop-restart": {"loop": "kube-proxy"},
        "loop-pause": {"loop": ["endpoints", "kube-proxy"]}, "loop-resume": {},
    },
    check=[*LAWS, "routes-converge"],
)  # fmt: skip
DISK = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "disk", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "ebs.csi.aws.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
MEMBER = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "app", "image": "db:1"}]}}
DISKS = scenario(
    DISK,
    {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "db"}},
            "template": MEMBER,
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM}],
        },
    },
    may={
        "node-crash": 1, "node-partition": 1, "node-recover": 2, "node-delete": 1, "node-reboot": 1, "drain": 2,
        "uncordon": 1, "delete-pod": 2, "force-delete-pod": 2, "rollout": 1, "scale": 2, "kubelet-restart": 1,
        "delete": {"object": ["persistentvolumeclaim/data-db-0", "statefulset/db"]},
        "loop-restart": {"loop": ["attach-detach", "pvc-protection"]}, "watch-stall": {"loop": "attach-detach"},
    },
    check=["disk-on-one-node", "claims-kept", "ordinals-have-claims"],
)  # fmt: skip
PROBE = {"httpGet": {"port": 80}}
PROGRAMS = {
    "reconverge/starts-after": "15s", "reconverge/exits-after.migrate": "4s", "reconverge/stops-after.proxy": "5s",
}  # fmt: skip
CONTAINERS = {
    "initContainers": [
        {"name": "migrate", "image": "shop/app:1"},
        {"name": "proxy", "image": "shop/proxy:1", "restartPolicy": "Always", "startupProbe": PROBE},
    ],
    "containers": [
        {
            "name": "app", "image": "shop/app:1", "startupProbe": {**PROBE, "failureThreshold": 5},
            "readinessProbe": PROBE, "livenessProbe": PROBE, "resources": {"limits": {"memory": "1Gi"}},
        },
        {"name": "log", "image": "shop/log", "lifecycle": {"preStop": {"sleep": {"seconds": 3}}}},
    ],
}  # fmt: skip
NESTED = scenario(
    deployment("web", 2, template={
        "metadata": {"labels": {"app": "web"}, "annotations": PROGRAMS}, "spec": CONTAINERS,
    }),
    may={
        "container-crash": {"container": ["app", "log", "proxy"], "times": 3},
        "container-hang": {"container": ["app", "proxy"], "times": 2}, "out-of-memory": 2, "node-out-of-memory": 2,
        "registry-down": 1, "registry-back": 1, "network-plugin-down": 1, "network-unavailable": 1,
        "node-reboot": 2, "kubelet-restart": 2, "node-crash": 1, "node-recover": 3, "runtime-hang": 1,
        "delete-pod": 2, "rollout": {"behaviour": ["ready", "no-image", "hangs", "out-of-memory"], "times": 2},
        "rollback": 1, "node-shutdown": 1, "loop-restart": {"loop": "kubelet"},
    },
    check=LAWS,
)  # fmt: skip
WORLDS = {"shop": SHOP, "rough": ROUGH, "routed": ROUTED, "nested": NESTED, "disks": DISKS}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
def test_laws_hold_whatever_happens(world: Scenario) -> None:
    machine = state_machine(world)
    run_state_machine_as_test(machine, settings=_settings(max_examples=9, steps=8))


@pytest.mark.campaign
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
def test_laws_hold_in_a_long_campaign(world: Scenario) -> None:
    run_state_machine_as_test(state_machine(world), settings=_settings(max_examples=60, steps=15))


def test_each_kind_of_event_is_a_rule_of_its_own() -> None:
    machine = state_machine(SHOP)
    assert {"node_crash", "drain", "rollout", "scale", "zone_outage"} <= set(vars(machine))


class CountsTheDying(ReplicaSetController):
    """Wrong: pods that are being deleted count as active, so nothing replaces them while they linger."""

    def manage(self, reading: Any, rs: Any, active: Any) -> Any:
        """Counts every pod of the set."""
        return super().manage(reading, rs, reading.store.pods_of(rs.uid))


def test_a_failure_shows_the_reduced_trace() -> None:
    world = scenario(deployment("web", 2), may={"node-crash": 2, "rollout": 2, "scale": 2}, check=["replicas-restored"])
    plane = standard_control_plane().replacing(CountsTheDying())
    machine: type[RuleBasedStateMachine] = state_machine(world, plane=plane)
    with pytest.raises(InvariantBroken) as broken:
        run_state_machine_as_test(machine, settings=_settings(max_examples=60, steps=6))
    assert [stroke.event for stroke in broken.value.trace.strokes] == ["node-crash"]
    assert "node node-1 crashes" in str(broken.value)


def _settings(*, max_examples: int, steps: int) -> settings:
    return settings(
        max_examples=max_examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        phases=WITHOUT_EXPLAIN,
        suppress_health_check=list(HealthCheck),
    )
