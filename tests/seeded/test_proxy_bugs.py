"""Wrong rules of kube-proxy, and of the endpoints controller as the proxies see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.endpoints import EndpointsController
from reconverge.model.loops.kube_proxy import KubeProxy
from reconverge.model.objects import Endpoint, Pod
from reconverge.model.store import Change

Case = Mapping[str, Any]


class KeepsTerminating(KubeProxy):
    """Endpoints that still serve while they terminate get traffic though others are ready."""

    def ready(self, endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
        return tuple(each for each in endpoints if each.ready or (each.serving and each.terminating))


class NoFallback(KubeProxy):
    """Where no endpoint is ready, those that still serve get nothing."""

    def fallback(self, endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
        return ()


class FallsBackToRemote(KubeProxy):
    """A node without endpoints of its own sends what it should keep local to other nodes."""

    def own(self, endpoints: Iterable[Endpoint], node: str) -> tuple[Endpoint, ...]:
        listed = tuple(endpoints)
        return super().own(listed, node) or listed


class SendsToUnready(KubeProxy):
    """Where no endpoint is ready, any that is listed gets traffic."""

    def fallback(self, endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
        return tuple(endpoints)


class MissesTheReturn(KubeProxy):
    """A node that is connected again does not look at what it has missed."""

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        return (None, ()) if change.kind == "Machine" else super().observe(memory, change, reading)


class OnlyAdds(KubeProxy):
    """Endpoints that have gone stay in the rules."""

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        assert reading.machines is not None
        machine = reading.machines.get(key)
        old = machine.proxy.routes if machine is not None and machine.proxy is not None else {}
        new = self.routes(reading.store, key)
        less = any(len(route.internal) < len(old[name].internal) for name, route in new.items() if name in old)
        return (Plan(None),) if less else super().sync(reading, memory, key)


class ServingDropped(EndpointsController):
    """A Terminating pod does not count as serving, though it answers requests."""

    def endpoint(self, pod: Pod, publish_not_ready: bool) -> Endpoint | None:
        found = super().endpoint(pod, publish_not_ready)
        return found.with_(serving=found.serving and not found.terminating) if found is not None else None


class ReadyUntilTheEnd(EndpointsController):
    """A Terminating pod stays ready: it gets new traffic until it has gone."""

    def ready(self, serving: bool, terminating: bool, publish_not_ready: bool) -> bool:
        return publish_not_ready or serving


SLOW = {"annotations": {"reconverge/stops-after": "10"}}
PROXIES: Case = {"service": True, "loops": {"kube-proxy": {}}, "nodes": "2x4cpu,16Gi", "may": {"delete-pod": 1}}
ONE: Case = {**PROXIES, "deployment": {"replicas": 1, **SLOW}, "trace": ["delete-pod deployment/web#0"]}
TWO: Case = {**PROXIES, "deployment": {"replicas": 2, **SLOW}, "trace": ["delete-pod deployment/web#0"]}
LOCAL: Case = {
    **PROXIES,
    "deployment": {"replicas": 2, **SLOW},
    "service": {"type": "NodePort", "externalTrafficPolicy": "Local"},
    "may": {"drain": 1},
    "trace": ["drain node-1"],
}

CASES: list[Case] = [
    {"wrong": KeepsTerminating, "caught": "no-request-lost", **TWO},
    {"wrong": NoFallback, "caught": "service-reachable", **ONE},
    {"wrong": FallsBackToRemote, "caught": "routes-converge", **LOCAL},
    {
        "wrong": SendsToUnready,
        "caught": "routes-converge",
        **PROXIES,
        "deployment": {"replicas": 1},
        "may": {"pod-unready": 1},
        "trace": ["pod-unready deployment/web#0"],
    },
    {
        "wrong": MissesTheReturn,
        "caught": "routes-converge",
        **PROXIES,
        "deployment": {"replicas": 1},
        "may": {"proxy-stall": 1, "scale": {"times": 1, "replicas": 2}, "proxy-resume": 1},
        "events": 3,
        "trace": ["proxy-stall node-1", "scale deployment/web 2", "proxy-resume node-1"],
    },
    {
        "wrong": OnlyAdds,
        "caught": "no-request-lost",
        **TWO,
        "may": {"scale": {"times": 1, "replicas": 1}},
        "trace": ["scale deployment/web 1"],
    },
    {"wrong": ServingDropped, "caught": "service-reachable", **ONE},
    {"wrong": ReadyUntilTheEnd, "caught": "no-request-lost", **TWO},
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
