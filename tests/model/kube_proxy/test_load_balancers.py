"""Which nodes get the traffic of a load balancer (cloud-provider controllers/service, pkg/proxy/healthcheck)."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.labels import labels_of
from reconverge.model.load_balancers import balanced, balanced_nodes, passes_check
from reconverge.model.machines import Machine
from reconverge.model.objects import Service
from reconverge.model.objects.node import NO_SCHEDULE, Taint
from reconverge.model.persistent import Map
from reconverge.model.proxy import Proxy, Route

EXCLUDED = labels_of({"node.kubernetes.io/exclude-from-external-load-balancers": ""})
LEAVES = (Taint("ToBeDeletedByClusterAutoscaler", NO_SCHEDULE),)


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({}, True),
        ({"unschedulable": True}, True),
        ({"ready": "False"}, True),
        ({"ready": "Unknown"}, True),
        ({"taints": (Taint("db", NO_SCHEDULE),)}, True),
        ({"taints": LEAVES}, False),
        ({"labels": EXCLUDED}, False),
        ({"deletion_at": 30}, False),
    ],
    ids=str,
)
def test_which_nodes_a_load_balancer_knows(lab: Any, fields: dict[str, Any], known: bool) -> None:
    assert balanced(lab.node("n1").with_(**fields)) is known


def test_nodes_are_known_in_order(lab: Any) -> None:
    made = lab.of(lab.node("n2"), lab.node("n1"), lab.node("n3", taints=LEAVES))
    assert [node.name for node in balanced_nodes(made.cluster.store)] == ["n1", "n2"]


@pytest.mark.parametrize(("policy", "local_ready"), [("Cluster", False), ("Local", True), ("Local", False)])
def test_a_health_check_asks_the_proxy(lab: Any, policy: str, local_ready: bool) -> None:
    service = Service(name="web", type="LoadBalancer", external_traffic_policy=policy)
    machine = Machine("n1", proxy=Proxy(Map({"default/web": Route(local_ready=local_ready)})))
    node = lab.node("n1")
    passes = policy == "Cluster" or local_ready
    assert passes_check(service, node, machine) is passes
    assert not passes_check(service, node, machine.with_(powered=False))
    assert not passes_check(service, node, machine.with_(proxy=None))
    # Under Cluster the check fails before the node goes; under Local only the endpoints count.
    assert passes_check(service, node.with_(taints=LEAVES), machine) is (passes and policy == "Local")
    assert passes_check(service, node.with_(deletion_at=30), machine) is (passes and policy == "Local")
    assert passes_check(service, node.with_(unschedulable=True, ready="Unknown"), machine) is passes


def test_a_service_that_the_node_has_no_rule_for_fails_the_check_of_local(lab: Any) -> None:
    service = Service(name="web", type="LoadBalancer", external_traffic_policy="Local")
    assert not passes_check(service, lab.node("n1"), Machine("n1", proxy=Proxy()))
