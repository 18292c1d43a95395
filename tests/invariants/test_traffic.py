"""Whether traffic arrives by the rules that the nodes have, and whether these become right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.events import ContainerCrashes, Drain, NodeCrashes, ProxyStalls, Scale
from reconverge.model.loop import MACHINES, LoopState
from reconverge.model.loops.kube_proxy import KubeProxy
from reconverge.model.objects import Endpoint, Service
from reconverge.model.objects.node import NO_SCHEDULE, Taint
from reconverge.model.persistent import Map
from reconverge.model.proxy import Backend, Proxy, Route
from reconverge.model.store import Change

LOSSES = ("no-request-lost", "traffic-reaches-pods")
REACHED = "service-reachable"
CRASH = NodeCrashes("n1")
LOOPS = {"kube-proxy": LoopState()}


class World:
    """deployment/web behind service/web: pods a on n1 and b on n2 at the start, and rules as they should be."""

    def __init__(self, lab: Any, nodes: Iterable[str] = ("n1", "n2"), **service: Any) -> None:
        self.lab = lab
        self.deployment = lab.deployment(2)
        self.set = lab.set_of(self.deployment)
        self.pods = lab.pods_of(self.set, "n1", "n2", ready_since=0)
        self.nodes = [lab.node(name) for name in nodes]
        self.service: Service = lab.service()[0].with_(**service)
        self.start = self.at(*self.pods)

    def at(self, *pods: Any, rules: Any = None, down: Iterable[str] = (), **nodes: Any) -> Any:
        """These pods, all listed; `rules` by node replace those that are right, `nodes` by name the nodes."""
        listed = self.lab.service()[1].with_(endpoints=tuple(_endpoint(each) for each in pods))
        there = [nodes.get(node.name, node) for node in self.nodes]
        objects = [*there, self.deployment, self.set, *pods, self.service, listed]
        cluster = self.lab.cluster(*objects, loops=LOOPS, down=down)
        loop, machines = KubeProxy(), cluster.machines
        for name, machine in cluster.machines.by_name.items():
            routes = loop.routes(cluster.store, name)
            if rules is not None and name in rules:
                routes = Map({self.service.key: rules[name]})
            machines = machines.put(machine.with_(proxy=Proxy(routes)))
        return cluster.with_(machines=machines)

    def situation(self, cluster: Any, *events: Any) -> Situation:
        return Situation(cluster, events, self.start)

    def broken(self, id_: str, cluster: Any, *events: Any) -> list[str]:
        return [each.message for each in self.lab.broken(id_, self.situation(cluster, *events))]


def _endpoint(pod: Any) -> Endpoint:
    going = pod.deletion_at is not None
    return Endpoint(pod.key, pod.node, pod.ready and not going, pod.ready, going, "a", pod.uid)


def to(*pods: Any) -> Route:
    """A rule that leads to these pods from inside."""
    return Route(tuple(Backend(pod.key, pod.uid, pod.node) for pod in pods))


# Requests that are lost ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("id_", LOSSES)
def test_a_rule_that_leads_to_a_pod_that_has_stopped_is_a_violation(lab: Any, id_: str) -> None:
    world = World(lab)
    first, second = world.pods
    assert world.broken(id_, world.at(second)) == []
    (said,) = world.broken(id_, world.at(second, rules={"n2": to(first, second)}))
    assert said == "n2 sends requests for service/web to pod/web-new-a, which has stopped on n1"


@pytest.mark.parametrize("id_", LOSSES)
def test_a_terminating_pod_that_still_runs_loses_nothing(lab: Any, id_: str) -> None:
    world = World(lab)
    going = world.pods[0].with_(deletion_at=1030.0)
    rules = {name: to(*world.pods) for name in ("n1", "n2")}
    assert world.broken(id_, world.at(going, world.pods[1], rules=rules)) == []


def test_a_pod_of_the_same_name_has_another_address(lab: Any) -> None:
    world = World(lab)
    new = world.pods[0].with_(uid=lab.fresh())
    assert world.broken(LOSSES[0], world.at(new)) == []
    assert world.broken(LOSSES[0], world.at(new, rules={"n2": to(world.pods[0])})) != []


def test_a_node_that_is_off_sends_nothing(lab: Any) -> None:
    world = World(lab)
    rules = {"n1": to(*world.pods), "n2": to(world.pods[1])}
    assert world.broken(LOSSES[1], world.at(*world.pods, rules=rules, down=["n1"])) == []
    (said,) = world.broken(LOSSES[1], world.at(*world.pods, down=["n1"]))
    assert said == "n2 sends requests for service/web to pod/web-new-a, which was on n1, which is down"


@pytest.mark.parametrize(("event", "judged"), [(Drain("n1"), True), (CRASH, False), (ProxyStalls("n2"), False)])
def test_only_one_of_the_two_is_about_failures(lab: Any, event: Any, judged: bool) -> None:
    world = World(lab)
    cluster = world.at(world.pods[1], rules={"n2": to(*world.pods)})
    assert bool(world.broken("no-request-lost", cluster, event)) is judged
    assert world.broken("traffic-reaches-pods", cluster, event) != []


def test_a_proxy_that_cannot_follow_is_told(lab: Any) -> None:
    world = World(lab)
    cluster = world.at(world.pods[1], rules={"n2": to(*world.pods)})
    machine = cluster.machines.by_name["n2"]
    for hindered, words in (
        (machine.with_(proxy=machine.proxy.with_(stalled=True)), " (its kube-proxy has stalled)"),
        (machine.with_(reachable=False), " (it is cut off from the API server)"),
    ):
        (said,) = world.broken(LOSSES[1], cluster.with_(machines=cluster.machines.put(hindered)))
        assert said.endswith(words)


def test_what_no_load_balancer_sends_to_a_node_is_not_lost_there(lab: Any) -> None:
    for kind, lost in (("NodePort", True), ("LoadBalancer", False)):
        world = World(lab, type=kind, external_traffic_policy="Local")
        first, second = world.pods
        old = Route(to(second).internal, to(first).internal, local_ready=False)
        assert bool(world.broken(LOSSES[0], world.at(second, rules={"n1": old}))) is lost


@pytest.mark.parametrize("id_", [*LOSSES, REACHED])
def test_changes_touch_the_services_whose_traffic_they_concern(lab: Any, id_: str) -> None:
    world = World(lab)
    before, situation = world.start.machines.by_name["n1"], world.situation(world.start)

    def touched(after: Any) -> list[str]:
        return list(lab.registry[id_].touched_by(situation, Change(MACHINES, "n1", before, after)))

    key = world.service.key
    assert touched(before.without_pod(world.pods[0].uid)) == [key]
    local = before.pods[world.pods[0].uid]
    assert touched(before.with_pod(local.with_(state="stopped", ready=False))) == [key]
    assert touched(before.with_(powered=False)) == [key]
    assert touched(before.with_(proxy=Proxy())) == [key]
    assert touched(before.with_(proxy=Proxy(before.proxy.routes, stalled=True))) == []
    assert touched(before.with_pod(local.with_(since=1))) == []


def test_a_pod_that_was_not_ready_and_stops_touches_the_services_that_lead_to_it(lab: Any) -> None:
    world = World(lab)
    before = world.start.machines.by_name["n1"]
    local = before.pods[world.pods[0].uid].with_(ready=False)
    change = Change(MACHINES, "n1", before.with_pod(local), before.with_pod(local.with_(state="stopped")))
    assert lab.registry[LOSSES[0]].touched_by(world.situation(world.start), change) == (world.service.key,)


# Services that cannot be reached ------------------------------------------------------------------------------


def test_one_backend_that_serves_is_enough(lab: Any) -> None:
    world = World(lab)
    assert world.broken(REACHED, world.at(world.pods[1], rules={"n2": to(*world.pods)}), Drain("n1")) == []
    (said,) = world.broken(REACHED, world.at(world.pods[1], rules={"n2": to(world.pods[0])}), Drain("n1"))
    assert said == ("service/web cannot be reached from n2: its rule leads to pod/web-new-a, which has stopped on n1")
    (said,) = world.broken(REACHED, world.at(world.pods[1], rules={"n1": to(), "n2": to()}), Drain("n1"))
    assert said.endswith("from n1 (nor in 1 other ways): the node has no endpoint for it (policy Cluster)")


def test_who_scales_to_one_pod_knows_that_it_can_go(lab: Any) -> None:
    world = World(lab)
    scaled = Scale("deployment/web", 1)
    world.deployment = world.deployment.with_(replicas=1)
    shut = world.at(world.pods[1], rules={"n1": to(), "n2": to()})
    assert world.broken(REACHED, shut, scaled, CRASH) == []
    assert world.broken(REACHED, shut, CRASH) != []


def test_two_failures_are_more_than_was_promised(lab: Any) -> None:
    world = World(lab)
    cluster = world.at(world.pods[1], rules={"n2": to(world.pods[0])})
    assert world.broken(REACHED, cluster, CRASH) != []
    assert world.broken(REACHED, cluster, CRASH, ContainerCrashes("deployment/web#0")) == []


def test_ready_is_not_yet_serving(lab: Any) -> None:
    for ready_since, broken in ((980, True), (960, False)):
        world = World(lab)
        pod = world.pods[0].with_(ready_since=ready_since, spec=lab.spec(serves_after=30))
        found = world.broken(REACHED, world.at(pod), Drain("n2"))
        assert bool(found) is broken
        assert all("which does not serve yet" in each for each in found)


@pytest.mark.parametrize(("policy", "shut"), [("Local", ["through the NodePort of n1"]), ("Cluster", [])])
def test_a_node_port_under_local_is_shut_where_no_pod_is(lab: Any, policy: str, shut: list[str]) -> None:
    world = World(lab, ("n1", "n2", "n3"), type="NodePort", external_traffic_policy=policy)
    found = world.broken(REACHED, world.at(world.pods[1]), Drain("n1"))
    assert [each.partition(" reached ")[2] for each in found] == [
        f"{way}: the node has no endpoint for it (policy Local)" for way in shut
    ]


@pytest.mark.parametrize("policy", ["Local", "Cluster"])
def test_a_load_balancer_goes_round_the_node_without_pods(lab: Any, policy: str) -> None:
    world = World(lab, ("n1", "n2", "n3"), type="LoadBalancer", external_traffic_policy=policy)
    assert world.broken(REACHED, world.at(world.pods[1]), Drain("n1")) == []


def test_a_load_balancer_of_nodes_that_all_go_is_shut(lab: Any) -> None:
    world = World(lab, type="LoadBalancer")
    taints = (Taint("ToBeDeletedByClusterAutoscaler", NO_SCHEDULE),)
    n1, n2 = lab.node("n1", taints=taints), lab.node("n2", taints=taints)
    (said,) = world.broken(REACHED, world.at(*world.pods, n1=n1, n2=n2), Drain("n1"))
    assert said == "service/web cannot be reached through its load balancer: no node passes its health check"
    assert world.broken(REACHED, world.at(*world.pods, n1=n1), Drain("n1")) == []
    inside_only = to(world.pods[1])
    (said,) = world.broken(REACHED, world.at(world.pods[1], n2=n2, rules={"n1": inside_only}), Drain("n1"))
    assert said.endswith("through its load balancer: none of n1 leads to a pod that serves")
    touched = lab.registry[REACHED].touched_by(world.situation(world.start), Change("Node", "n1", None, None))
    assert touched == [world.service.key]


def test_who_was_not_reached_at_the_start_loses_nothing(lab: Any) -> None:
    world = World(lab)
    world.start = world.at()
    assert world.broken(REACHED, world.at(), Drain("n1")) == []
    assert lab.broken(REACHED, Situation(world.at(), (Drain("n1"),))) == []


def test_a_headless_service_has_no_rules_to_judge(lab: Any) -> None:
    world = World(lab, headless=True)
    cluster = world.at(rules={"n1": to(world.pods[0])})
    assert [world.broken(each, cluster, Drain("n1")) for each in (*LOSSES, REACHED)] == [[], [], []]


# Rules that become right --------------------------------------------------------------------------------------


def end(world: World, cluster: Any, outcome: str = "rest") -> list[Any]:
    found: list[Any] = world.lab.broken("routes-converge", world.lab.quiet(Situation(cluster), outcome))
    return found


@pytest.mark.parametrize(
    "service",
    [
        {},
        {"type": "NodePort"},
        {"type": "LoadBalancer", "external_traffic_policy": "Local"},
        {"internal_traffic_policy": "Local"},
        {"traffic_distribution": "PreferClose"},
        {"traffic_distribution": "PreferSameNode"},
    ],
    ids=str,
)
@pytest.mark.parametrize("going", [(), (0,), (1,), (0, 1)], ids=str)
def test_right_rules_are_right(lab: Any, service: dict[str, Any], going: tuple[int, ...]) -> None:
    world = World(lab, ("n1", "n2", "n3"), **service)
    pods = [each.with_(deletion_at=1030.0) if place in going else each for place, each in enumerate(world.pods)]
    assert end(world, world.at(*pods)) == []
    assert end(world, world.at(*pods, rules={"n3": Route((Backend("default/x", 1, "n1"),))})) != []


def test_rules_that_are_not_what_endpoints_ask_for_are_a_violation(lab: Any) -> None:
    world = World(lab)
    cluster = world.at(*world.pods, rules={"n2": to(world.pods[0])})
    (violation,) = end(world, cluster)
    assert violation.object == "node/n2"
    assert violation.message == "the rules of n2 for service/web are not what its endpoints ask for"
    assert end(world, cluster, "loop") == []
    assert end(world, cluster.with_(loops={"kube-proxy": LoopState(paused=True)})) == []


@pytest.mark.parametrize("change", [{"powered": False}, {"reachable": False}, "stalled"], ids=str)
def test_who_cannot_follow_is_not_judged(lab: Any, change: Any) -> None:
    world = World(lab)
    cluster = world.at(*world.pods, rules={"n2": to()})
    machine = cluster.machines.by_name["n2"]
    machine = machine.with_(**change) if change != "stalled" else machine.with_(proxy=machine.proxy.with_(stalled=True))
    assert end(world, cluster.with_(machines=cluster.machines.put(machine))) == []


def test_rules_of_a_service_that_is_gone_are_a_violation(lab: Any) -> None:
    world = World(lab)
    cluster = world.at(*world.pods)
    store, _ = cluster.store.remove("Service", world.service.key)
    assert [each.object for each in end(world, cluster.with_(store=store))] == ["node/n1", "node/n2"]


def test_where_no_proxy_is_modelled_nothing_is_judged(lab: Any) -> None:
    world = World(lab)
    for id_ in (*LOSSES, REACHED, "routes-converge"):
        assert lab.registry[id_].applicable(world.situation(world.start), world.service)
        assert not lab.registry[id_].applicable(world.situation(world.start.with_(loops={})), world.service)
