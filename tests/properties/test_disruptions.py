"""Budgets, drains, pending pods, capacity, spread, and the loss of nodes."""

from __future__ import annotations

from typing import Any

SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
}

HONOURS_TAINTS = {
    "topologySpreadConstraints": [{**SPREAD["topologySpreadConstraints"][0], "nodeTaintsPolicy": "Honor"}]
}
FAILING = {"key": "gpu", "value": "broken", "effect": "NoExecute"}
APART = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
}


def test_evictions_keep_what_the_budget_asks(make: Any, holds: Any) -> None:
    web = make.deployment(3), make.budget(minAvailable=2)
    holds("budget-honoured", *web, may={"evict": 2, "drain": 1}, events=2, deviations=0)
    holds("budget-honoured", make.deployment(2), make.budget(minAvailable=1), may={"evict": 2}, events=2)


def test_evictions_alone_keep_as_many_healthy(make: Any, holds: Any) -> None:
    web = make.deployment(2), make.budget(minAvailable=1)
    holds("healthy-floor", *web, may={"evict": 2, "drain": 2}, events=2, deviations=0)


def test_a_budget_limits_nothing_but_evictions(make: Any, breaks: Any) -> None:
    web = make.deployment(2), make.budget(minAvailable=2)
    for invariant, may, found in [
        ("budget-kept", {"delete-pod": 1}, ["delete-pod deployment/web#0"]),
        ("healthy-floor", {"scale": {"replicas": 1}}, ["scale deployment/web 1"]),
        ("healthy-floor", {"node-crash": {"node": "n-1"}}, ["node-crash n-1"]),
        ("healthy-floor", {"pod-unready": 1}, ["pod-unready deployment/web#0"]),
        ("healthy-floor", {"taint": {"node": "n-1", "times": 1, **FAILING}}, ["taint n-1 gpu broken NoExecute"]),
    ]:
        assert breaks(invariant, *web, may=may, deviations=0) == found
    rolls = make.deployment(2, surge=0, unavailable=1), make.budget(minAvailable=2)
    assert breaks("budget-kept", *rolls, may={"rollout": 1}, deviations=0) == ["rollout deployment/web"]


def test_a_pod_of_higher_priority_does_not_keep_a_budget_where_it_has_no_choice(
    make: Any, breaks: Any, holds: Any
) -> None:
    web = make.deployment(1, pod={"priorityClassName": "low"}), make.budget(minAvailable=1)
    shop = make.other("shop", pod={"priorityClassName": "high"})
    two = make.deployment(2, pod={"priorityClassName": "low"}), make.budget(minAvailable=1)
    classes = make.priority("low", 1), make.priority("high", 2)
    scale = {"may": {"scale": {"workload": "deployment/shop", "replicas": 2}}, "deviations": 0}
    assert breaks("budget-kept", *classes, *web, shop, nodes="2x500m,8Gi", **scale) == ["scale deployment/shop 2"]
    holds("budget-kept", *classes, *two, shop, nodes="3x500m,8Gi", **scale)


def test_a_drain_completes_where_one_may_go_and_there_is_room(make: Any, holds: Any) -> None:
    holds("drain-completes", make.deployment(2), make.budget(maxUnavailable=1), may={"drain": 1})


def test_a_budget_without_slack_stops_a_drain(make: Any, breaks: Any) -> None:
    web = make.deployment(1), make.budget(minAvailable=1)
    (drain,) = breaks("drain-completes", *web, may={"drain": 1}, deviations=0)
    assert drain.startswith("drain n-")


def test_an_unreachable_kubelet_stops_a_drain(make: Any, breaks: Any) -> None:
    found = breaks("drain-completes", make.deployment(2), may={"node-partition": 1, "drain": 1}, events=2, deviations=0)
    assert found == ["node-partition n-1", "drain n-1"]


def test_exact_capacity_stops_the_drain_of_the_second_node(make: Any, breaks: Any) -> None:
    """Evicted from the first node both pods are on the second; nothing moves back, and there is no room elsewhere."""
    web = make.deployment(2), make.budget(minAvailable=1)
    found = breaks("drain-completes", *web, nodes="2x1cpu,8Gi", may={"drain": 2}, events=2, deviations=0)
    assert [each.split()[0] for each in found] == ["drain", "drain"]


def test_a_pending_pod_that_fits_is_placed(make: Any, holds: Any) -> None:
    may = {"node-crash": 1, "scale": 1, "cordon": 1}
    holds("pending-pods-placed", make.deployment(2), nodes="2x1cpu,8Gi", may=may, events=2, deviations=0)
    holds("pending-pods-placed", make.deployment(1), nodes="2x1cpu,8Gi", may=may)


def test_a_pending_pod_needs_capacity(make: Any, breaks: Any) -> None:
    found = breaks("replicas-restored", make.deployment(2), nodes="1x1cpu,8Gi", may={"scale": 1}, deviations=0)
    assert found == ["scale deployment/web 3"]


def test_a_pending_pod_needs_nodes_that_its_affinity_allows(make: Any, breaks: Any, holds: Any) -> None:
    more = {"may": {"scale": {"replicas": 3}}, "deviations": 0}
    found = breaks("replicas-restored", make.deployment(2, pod=APART), **more)
    assert found == ["scale deployment/web 3"]
    holds("replicas-restored", make.deployment(2, pod=APART), nodes="3x2cpu,8Gi", **more)


def test_a_pending_pod_needs_the_zone_of_its_disk(make: Any, breaks: Any, holds: Any) -> None:
    claims = {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": make.claim()["spec"]}]}
    lost = {"nodes": "4x1cpu,8Gi@a,b", "may": {"instance-terminated": {"node": ["n-1", "n-3"], "times": 2}}}
    found = breaks("replicas-restored", make.disks(), make.stateful(2, **claims), events=2, deviations=0, **lost)
    assert sorted(found) == ["instance-terminated n-1", "instance-terminated n-3"]
    holds("replicas-restored", make.stateful(2), events=2, deviations=0, **lost)
    holds("replicas-restored", make.disks(), make.stateful(2, **claims), events=1, deviations=0, **lost)


def test_an_autoscaler_adds_nodes_for_pending_pods_up_to_its_maximum(make: Any, breaks: Any, holds: Any) -> None:
    spec = {"nodePools": [{**make.pool("1x1cpu,8Gi"), "min": 1, "max": 2}], "deviations": 0}
    holds("replicas-restored", make.deployment(2), may={"scale": {"replicas": [3, 4]}}, **spec)
    found = breaks("replicas-restored", make.deployment(2), may={"scale": {"replicas": [3, 4, 5]}}, **spec)
    assert found == ["scale deployment/web 5"]


def test_requests_stay_within_what_nodes_have(make: Any, holds: Any) -> None:
    may = {"scale": 1, "node-crash": 1, "node-reboot": 1, "rollout": 1}
    holds("requests-within-capacity", make.deployment(3), nodes="2x1cpu,8Gi", may=may, events=2, deviations=0)
    holds("requests-within-capacity", make.deployment(2), nodes="1x1cpu,8Gi", may={"scale": 1, "node-reboot": 1})


def test_a_kubelet_rejects_what_two_schedulers_place_and_nothing_that_one_does(
    make: Any, breaks: Any, holds: Any
) -> None:
    """The second has not seen what the first has assumed; that requests fit is kept by the kubelet."""
    scale, overlap = {"scale": {"replicas": 2}}, {"leader-overlap": {"loop": "scheduler", "times": 1}}
    holds("never-rejected", make.deployment(0), nodes="2x500m,8Gi", may={**scale, "node-reboot": 1}, events=2)
    two = {"may": {**scale, **overlap}, "events": 2}
    found = breaks("never-rejected", make.deployment(0), nodes="2x500m,8Gi", **two)
    assert found == ["scale deployment/web 2", "leader-overlap scheduler"]
    holds("requests-within-capacity", make.deployment(0), nodes="2x500m,8Gi", **two)


def test_a_binding_honours_the_spread(make: Any, holds: Any) -> None:
    web = make.deployment(4, pod=SPREAD)
    holds("placement-honoured", web, nodes="2x2cpu,8Gi@a,b", may={"scale": 1, "rollout": 1}, events=2, deviations=0)


def test_nobody_restores_the_spread_after_a_smaller_size(make: Any, breaks: Any) -> None:
    """Rule 6 of the victims: among pods that are equally old any may go, and zones are not looked at."""
    web = make.deployment(4, pod=SPREAD)
    found = breaks("placement-at-rest", web, nodes="4x2cpu,8Gi@a,b", may={"scale": {"replicas": 2}})
    assert found == ["scale deployment/web 2"]


def test_nobody_restores_it_either_after_a_zone_was_away(make: Any, breaks: Any) -> None:
    may = {"zone-outage": {"zone": "a", "times": 1}, "zone-recover": 1}
    web = make.deployment(2, pod=HONOURS_TAINTS)
    found = breaks("placement-at-rest", web, nodes="2x2cpu,8Gi@a,b", may=may, events=2, deviations=0)
    assert found == ["zone-outage a", "zone-recover a"]


def test_a_lost_node_is_made_up_for_where_there_is_room(make: Any, holds: Any) -> None:
    may = {"node-crash": 1, "node-partition": 1, "instance-terminated": 1, "node-recover": 1}
    holds("replicas-restored", make.deployment(2), nodes="3x2cpu,8Gi", may=may, events=2, deviations=0)


def test_a_lost_node_is_not_made_up_for_without_room(make: Any, breaks: Any) -> None:
    (crash,) = breaks("replicas-restored", make.deployment(2), nodes="2x500m,8Gi", may={"node-crash": 1}, deviations=0)
    assert crash.startswith("node-crash n-")


def test_a_lost_node_is_made_up_for_once_its_controllers_run_again(make: Any, holds: Any) -> None:
    may = {"node-crash": 1, "loop-pause": 1, "leader-lost": 1, "etcd-member-lost": 1}
    holds("replicas-restored", make.deployment(2), nodes="3x2cpu,8Gi", may=may, events=2, deviations=0)


def test_a_lost_node_is_not_made_up_for_without_a_quorum(make: Any, breaks: Any) -> None:
    may = {"node-crash": 1, "etcd-member-lost": {"members": 2, "times": 1}}
    found = breaks("replicas-restored", make.deployment(2), nodes="3x2cpu,8Gi", may=may, events=2, deviations=0)
    assert found == ["etcd-member-lost 2", "node-crash n-1"]


def test_evictions_stop_when_most_nodes_of_a_small_zone_are_lost(make: Any, breaks: Any) -> None:
    """Three of four: partial disruption, rate 0. There is room on the fourth, and nothing is moved there."""
    spec = {"nodes": "4x2cpu,8Gi", "may": {"node-crash": 3}, "events": 3, "deviations": 0}
    found = breaks("replicas-restored", make.deployment(4), **spec)
    assert [each.split()[0] for each in found] == ["node-crash"] * 3
