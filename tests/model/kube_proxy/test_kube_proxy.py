"""The rules on a node are what its kube-proxy has last seen."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model import events as e
from reconverge.model.control_plane import Read
from reconverge.model.errors import Unreachable
from reconverge.model.loops.kube_proxy import SyncRules
from reconverge.model.objects.node import ZONE
from reconverge.model.proxy import Backend

FIRST = "deployment/web#0"


def pods_of(made: Any) -> list[str]:
    return [pod.name for pod in made.pods() if pod.deletion_at is None]


def dead(made: Any, node: str) -> list[str]:
    """Pods of which nothing runs any more, to which a node sends traffic."""
    alive = {uid for one in made.cluster.machines.by_name.values() for uid, pod in one.pods.items() if pod.alive}
    return [each.pod for each in made.machine(node).proxy.routes["default/web"].backends if each.uid not in alive]


def test_every_node_has_rules_for_every_pod(routed: Any, leads: Any) -> None:
    made = routed()
    assert leads(made, "n1") == leads(made, "n2") == pods_of(made)
    backends = made.machine("n1").proxy.routes["default/web"].internal
    assert set(backends) == {Backend(pod.key, pod.uid, pod.node) for pod in made.pods()}


def test_rules_follow_a_pod_that_goes_before_it_has_stopped(routed: Any, leads: Any) -> None:
    made = routed()
    going = made.pods()[0].name
    made.strikes(e.PodDeleted(FIRST))
    made.quiet_now()
    assert made.local(going).alive
    assert going not in leads(made, "n1")
    made.settle()
    assert leads(made, "n1") == pods_of(made)


def test_a_pod_may_have_stopped_before_the_rules_follow(routed: Any) -> None:
    made = routed(stops=0)
    made.strikes(e.LoopPauses("kube-proxy"), e.PodDeleted(FIRST))
    made.quiet_now()
    assert len(dead(made, "n1")) == len(dead(made, "n2")) == 1
    made.happens(e.LoopResumes("kube-proxy"))
    assert dead(made, "n1") == dead(made, "n2") == []


@pytest.mark.parametrize(
    ("event", "end", "still"),
    [
        (e.NodePartitioned("n1"), e.NodeRecovers("n1"), True),
        (e.ProxyStalls("n1"), e.ProxyResumes("n1"), True),
        (e.NodeCrashes("n1"), e.NodeRecovers("n1"), True),
        (e.KubeletRestarts("n1"), None, False),
    ],
    ids=str,
)
def test_who_does_not_see_the_api_keeps_the_old_rules(
    routed: Any, leads: Any, event: e.Event, end: e.Event | None, still: bool
) -> None:
    made = routed(names=("n1", "n2", "n3"), replicas=3)
    before = leads(made, "n1")
    made.happens(event, e.Scale("deployment/web", 4))
    made.quiet_now()
    assert len(leads(made, "n2")) == 4
    assert (leads(made, "n1") == before) is still
    if end is not None:
        made.happens(end)
        made.settle()
        assert leads(made, "n1") == leads(made, "n2")


def test_a_stall_begins_and_ends_once(routed: Any) -> None:
    made = routed()
    assert not e.ProxyResumes("n1").enabled(made.cluster)
    made.happens(e.ProxyStalls("n1"))
    assert not e.ProxyStalls("n1").enabled(made.cluster)
    assert str(e.ProxyStalls("n1")) == "the kube-proxy of node n1 stalls"
    assert str(e.ProxyResumes("n1")) == "the kube-proxy of node n1 goes on"
    made.happens(e.ProxyResumes("n1"))
    assert e.ProxyStalls("n1").enabled(made.cluster)
    made.happens(e.NodeCrashes("n1"))
    assert not e.ProxyStalls("n1").enabled(made.cluster)
    assert not e.ProxyStalls("n9").enabled(made.cluster)


def test_where_no_proxy_is_modelled_none_can_stall(lab: Any) -> None:
    made = lab.of(lab.node("n1"))
    made.settle()
    assert made.machine().proxy is None
    assert list(e.ProxyStalls.candidates(made.cluster, {})) == []


def test_a_proxy_that_stalls_in_the_middle_of_a_pass_writes_nothing(routed: Any) -> None:
    made = routed()
    rules = made.machine("n1").proxy.routes
    made.happens(e.ProxyStalls("n1"))
    with pytest.raises(Unreachable):
        SyncRules("n1", rules).apply(made.cluster)
    made.happens(e.ProxyResumes("n1"), e.NodeCrashes("n1"))
    with pytest.raises(Unreachable):
        SyncRules("n1", rules).apply(made.cluster)


@pytest.mark.parametrize("service", [{"headless": True}, {"type": "ExternalName", "selector": None}])
def test_a_service_without_an_address_has_no_rules(routed: Any, service: dict[str, Any]) -> None:
    assert "default/web" not in routed(service=service).machine("n1").proxy.routes


def test_rules_go_with_their_service(routed: Any) -> None:
    made = routed()
    made.remove("Service", "web")
    made.settle()
    assert dict(made.machine("n1").proxy.routes) == {}
    assert made.written[-1][1] == "updates the rules of n2"


def test_a_pass_that_finds_nothing_new_writes_nothing(routed: Any) -> None:
    made = routed()
    assert made.plane.plans(made.cluster, Read("kube-proxy", "n1"))[0].actions == ()
    made.happens(e.LoopRestarts("kube-proxy"))
    assert made.settle() == []


def test_new_rules_are_nothing_to_the_kubelet(routed: Any) -> None:
    made = routed()
    made.cluster = made.plane.rewake(made.cluster, "kube-proxy", ["n1"])
    machine = made.machine("n1")
    old = machine.with_(proxy=machine.proxy.with_(routes=machine.proxy.routes.discard("default/web")))
    made.cluster = made.cluster.with_(machines=made.cluster.machines.put(old))
    made.quiet_now()
    assert made.written[-1][1] == "updates the rules of n1"
    assert not made.cluster.loops["kubelet"].busy


def test_a_node_whose_zone_is_another_prefers_others(routed: Any, leads: Any) -> None:
    made = routed(names=("n1", "n2"), service={"traffic_distribution": "PreferClose"})
    assert len(leads(made, "n1")) == 2
    made.happens(e.LabelChanges("n1", ((ZONE, "b"),)))
    made.settle()
    (own,) = leads(made, "n1")
    assert made.get("Pod", own).node == "n1"
    assert own not in leads(made, "n2")


def test_what_changes_is_told(routed: Any) -> None:
    made = routed()
    made.actions.clear()
    made.happens(e.Scale("deployment/web", 1))
    made.settle()
    told = [each.reason for each in made.actions if isinstance(each, SyncRules)]
    assert told == [f"service/web to pod/{pods_of(made)[0]}"] * 2
