"""Wrong rules about the containers inside a pod."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Reading
from reconverge.model.loops.kubelet import Kubelet, containers, pods
from reconverge.model.machines import Machine

Case = Mapping[str, Any]


class StartsAllAtOnce(Kubelet):
    """Containers do not wait for init containers."""

    def turn(self, reading: Reading, machine: Machine, local: LocalPod) -> pods.Turn:
        found = super().turn(reading, machine, local)
        waiting = tuple(place for place, each in enumerate(local.containers) if each.state == "waiting")
        return pods.Turn(waiting) if waiting else found


class DoesNotBackOff(Kubelet):
    """A container that has ended is started again at once."""

    def turn(self, reading: Reading, machine: Machine, local: LocalPod) -> pods.Turn:
        found = super().turn(reading, machine, local)
        ended = tuple(place for place, each in enumerate(local.containers) if each.state == "exited")
        return pods.Turn(ended) if found.due is not None else found


class LooksAtMainContainersOnly(Kubelet):
    """A sidecar that does not run does not make its pod unready."""

    def probe(self, reading: Reading, local: LocalPod) -> bool:
        timings, now = reading.rules.kubelet, reading.now
        return local.state == "running" and all(
            containers.is_ready(part, each, local.forced_ready, timings, now)
            for part, each in local.parts()
            if part.role == "main"
        )


class WaitsForSidecars(Kubelet):
    """A pod has not ended as long as a sidecar runs."""

    def phase_of_end(self, local: LocalPod) -> str:
        return "" if local.alive else super().phase_of_end(local)


class NeverKills(Kubelet):
    """Liveness is probed without consequence."""

    def ended(self, reading: Reading, local: LocalPod) -> tuple[LocalPod, str] | None:
        found = super().ended(reading, local)
        return None if found is not None and "probe" in found[1] else found


class GivesUpOnImages(Kubelet):
    """What once waits for an image waits for ever: nobody is told that the registry is back."""

    def turn(self, reading: Reading, machine: Machine, local: LocalPod) -> pods.Turn:
        found = super().turn(reading, machine, local)
        pod = reading.store.pod(local.key)
        return pods.Turn() if pod is not None and pod.waiting == pods.IMAGE else found


def job(*containers: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {"annotations": {"reconverge/behaviour": "exit-0"}},
        "spec": {"containers": [{"name": "work", "image": "shop/job:1"}], "restartPolicy": "Never", **spec},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "import"}, "spec": {"template": template}}


SIDECAR = {"name": "proxy", "image": "shop/proxy:1", "restartPolicy": "Always"}
PROBED = {
    "name": "c",
    "image": "shop/app:1",
    "readinessProbe": {"httpGet": {"port": 80}},
    "livenessProbe": {"httpGet": {"port": 80}},
}
ONE = "1x4cpu,16Gi"

CASES: list[Case] = [
    {
        "wrong": StartsAllAtOnce,
        "caught": "containers-start-in-turn",
        "deployment": {"pod": {"initContainers": [{"name": "migrate", "image": "shop/app:1"}]}},
        "nodes": ONE,
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": DoesNotBackOff,
        "caught": "containers-start-in-turn",
        "deployment": {},
        "nodes": ONE,
        "may": {"container-crash": 2},
        "events": 2,
        "trace": ["container-crash deployment/web#0", "container-crash deployment/web#0"],
    },
    {
        "wrong": LooksAtMainContainersOnly,
        "caught": "readiness-true",
        "deployment": {"pod": {"initContainers": [SIDECAR]}},
        "nodes": ONE,
        "may": {"container-crash": {"container": "proxy", "times": 2}},
        "events": 2,
        "trace": ["container-crash deployment/web#0 proxy", "container-crash deployment/web#0 proxy"],
    },
    {
        "wrong": WaitsForSidecars,
        "caught": "job-completes",
        "objects": [job(initContainers=[SIDECAR])],
        "nodes": ONE,
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": NeverKills,
        "caught": "replicas-restored",
        "deployment": {"pod": {"containers": [PROBED]}},
        "nodes": ONE,
        "may": {"container-hang": 1},
        "trace": ["container-hang deployment/web#0"],
    },
    {
        "wrong": GivesUpOnImages,
        "caught": "rollout-completes",
        "deployment": {"pod": {"containers": [{"name": "c", "image": "shop/app:latest"}]}},
        "nodes": ONE,
        "steps": [{"registry-down": {}}, {"rollout": {"workload": "deployment/web"}}, {"registry-back": {}}],
        "events": 0,
        "trace": ["registry-down", "rollout deployment/web", "registry-back"],
    },
]


@pytest.mark.parametrize("case", CASES, ids=[case["wrong"].__name__ for case in CASES])
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
