"""Clusters whose nodes have other rules are other clusters; names of nodes and pods make none."""

from __future__ import annotations

from typing import Any

from reconverge.model import events as e
from reconverge.model.canonical import fingerprint, node_classes
from reconverge.model.objects import Endpoint, EndpointSlice
from reconverge.model.persistent import Map
from reconverge.model.proxy import Backend, Proxy, Route


def print_of(made: Any) -> bytes:
    return fingerprint(made.plane, made.cluster)


def with_rules(made: Any, node: str, *pods: Any) -> None:
    """Gives a node rules that lead to these pods."""
    backends = tuple(Backend(pod.key, pod.uid, pod.node) for pod in pods)
    machine = made.machine(node).with_(proxy=Proxy(Map({"default/web": Route(backends)})))
    made.cluster = made.cluster.with_(machines=made.cluster.machines.put(machine))


def test_a_stalled_proxy_is_not_one_that_works(routed: Any) -> None:
    made = routed(replicas=0)
    before = print_of(made)
    assert len(set(node_classes(made.plane, made.cluster).values())) == 1
    made.happens(e.ProxyStalls("n1"))
    assert print_of(made) != before
    assert len(set(node_classes(made.plane, made.cluster).values())) == 2
    made.happens(e.ProxyResumes("n1"))
    made.settle()
    assert print_of(made) == before


def test_rules_that_are_behind_are_not_those_that_are_not(routed: Any) -> None:
    made = routed(names=("n1", "n2", "n3"))
    before = print_of(made)
    with_rules(made, "n3")
    assert print_of(made) != before


def test_names_of_pods_make_no_difference(routed: Any) -> None:
    """A node has rules of a moment in which its own pod was not there; the other pod has this name or that one."""
    prints, names = set(), set()
    for replaced in (False, True):
        made = routed(stops=0)
        if replaced:
            made.happens(e.PodDeleted("deployment/web#0"))
        pods = {pod.node: pod for pod in made.pods()}
        assert sorted(pods) == ["n1", "n2"]
        with_rules(made, "n2", pods["n1"])
        prints.add(print_of(made))
        names.add(pods["n1"].name)
    assert (len(prints), len(names)) == (1, 2)


def test_one_pod_that_all_old_rules_lead_to_is_not_one_each(routed: Any) -> None:
    """The two pods are alike, and so are the two sets of old rules by what they lead to."""
    same, each = routed(names=("n1", "n2", "n3", "n4"), replicas=2), routed(names=("n1", "n2", "n3", "n4"), replicas=2)
    free = sorted({"n1", "n2", "n3", "n4"} - {pod.node for pod in same.pods()})
    first, second = same.pods()
    with_rules(same, free[0], first)
    with_rules(same, free[1], first)
    first, second = each.pods()
    with_rules(each, free[0], first)
    with_rules(each, free[1], second)
    assert print_of(same) != print_of(each)


def test_which_of_two_nodes_leads_to_which_of_two_pods_makes_a_difference(routed: Any) -> None:
    """The pods are alike, but not the nodes that they run on, nor the nodes whose rules lead to them."""
    prints = set()
    for places in ((0, 1), (1, 0)):
        made = routed(names=("n1", "n2", "n3", "n4"))
        made.happens(e.Cordon("n1"), e.Cordon("n3"))
        pods = sorted(made.pods(), key=lambda pod: str(pod.node))
        assert [pod.node for pod in pods] == ["n1", "n2"]
        with_rules(made, "n3", pods[places[0]])
        with_rules(made, "n4", pods[places[1]])
        prints.add(print_of(made))
    assert len(prints) == 2


def test_rules_for_a_pod_that_is_gone_are_not_rules_for_one_that_runs(routed: Any) -> None:
    prints = set()
    for uid in (0, 1_000_000):
        made = routed()
        pod = made.pods()[0]
        with_rules(made, "n1", pod.with_(uid=uid or pod.uid))
        prints.add(print_of(made))
    assert len(prints) == 2


def test_a_slice_that_lists_a_pod_that_is_gone_is_not_one_that_does_not(lab: Any) -> None:
    made = lab.of(lab.node("n1"))
    made.settle()
    plain = print_of(made)
    gone = EndpointSlice(name="mine", endpoints=(Endpoint("default/web-a", "n1", True, True, False, uid=77),))
    made.put(gone)
    made.settle()
    assert print_of(made) != plain
