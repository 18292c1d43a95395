"""What Deployments promise, and what only seems to be promised."""

from __future__ import annotations

from typing import Any

GOOD_OR_BAD = {"rollout": {"behaviour": ["ready", "never-ready"], "times": 2}}
SLOW = {"reconverge/stops-after": "30"}
APART = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
}


def test_sets_want_no_more_than_surge_allows_in_rollouts(make: Any, holds: Any) -> None:
    holds("specs-within-surge", make.deployment(3), may=GOOD_OR_BAD, events=2, deviations=0)
    holds("specs-within-surge", make.deployment(2), may=GOOD_OR_BAD)


def test_a_smaller_size_leaves_sets_above_it_for_a_moment(make: Any, breaks: Any) -> None:
    assert breaks("specs-within-surge", make.deployment(3), may={"scale": {"replicas": 1}}) == [
        "scale deployment/web 1"
    ]


def test_pods_that_live_on_stay_within_surge(make: Any, holds: Any) -> None:
    may = {**GOOD_OR_BAD, "delete-pod": 1}
    holds("rollout-ceiling", make.deployment(2), may=may, events=2, deviations=0)
    holds("rollout-ceiling", make.deployment(1), may=may)


def test_with_terminating_pods_there_are_more_than_surge_allows(make: Any, breaks: Any) -> None:
    found = breaks(
        "rollout-ceiling-terminating", make.deployment(4, annotations=SLOW), may={"rollout": 1}, deviations=0
    )
    assert found == ["rollout deployment/web"]


def test_a_rollout_alone_keeps_the_minimum_available(make: Any, holds: Any) -> None:
    holds("available-floor", make.deployment(3), may=GOOD_OR_BAD, events=2, deviations=0)
    holds("available-floor", make.deployment(1), nodes="1x2cpu,8Gi", may=GOOD_OR_BAD)
    holds("available-floor", make.deployment(4, minReadySeconds=30), may={"rollout": 1}, deviations=0)


def test_a_node_that_fails_takes_more_than_the_minimum_away(make: Any, breaks: Any) -> None:
    found = breaks("available-floor", make.deployment(4), may={"node-crash": 1, "rollout": 1}, events=2, deviations=0)
    assert found == ["node-crash n-1"]


def test_what_a_rollout_removes_is_never_below_the_minimum_even_so(make: Any, holds: Any) -> None:
    holds("rollout-floor", make.deployment(4), may={"node-crash": 1, "rollout": 1}, events=2, deviations=0)


def test_a_rollout_completes_where_there_is_room(make: Any, holds: Any) -> None:
    holds("rollout-completes", make.deployment(3), may={"rollout": 2}, events=2, deviations=0)
    holds("rollout-completes", make.deployment(1), may={"rollout": 2}, events=2)


def test_a_rollout_without_room_for_its_surge_never_ends(make: Any, breaks: Any) -> None:
    """D=3: one in surge, none unavailable; the cluster is full."""
    found = breaks("rollout-completes", make.deployment(3), nodes="1x1500m,8Gi", may={"rollout": 1}, deviations=0)
    assert found == ["rollout deployment/web"]


def test_with_one_unavailable_the_same_rollout_ends(make: Any, holds: Any) -> None:
    full = {"nodes": "1x1500m,8Gi", "may": {"rollout": 1}, "deviations": 0}
    holds("rollout-completes", make.deployment(3, unavailable=1), **full)


def test_as_many_nodes_as_replicas_that_keep_apart_stop_a_rollout(make: Any, breaks: Any) -> None:
    found = breaks("rollout-completes", make.deployment(2, pod=APART), may={"rollout": 1}, deviations=0)
    assert found == ["rollout deployment/web"]


def test_a_disk_of_one_node_stops_a_rollout_with_surge_and_no_recreation(make: Any, breaks: Any, holds: Any) -> None:
    mount = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    disk = make.disks(), make.claim()
    web, again = make.deployment(1, pod=mount), make.deployment(1, pod=mount, strategy={"type": "Recreate"})
    found = breaks("rollout-completes", *disk, web, may={"rollout": 1}, deviations=0)
    assert found == ["rollout deployment/web"]
    holds("rollout-completes", *disk, again, may={"rollout": 1}, deviations=0)


def test_a_budget_stops_no_rollout(make: Any, holds: Any) -> None:
    rolls = make.deployment(2, surge=0, unavailable=1), make.budget(minAvailable=2)
    holds("rollout-completes", *rolls, may={"rollout": 1})


def test_a_terminating_pod_on_a_dead_node_stops_a_recreation(make: Any, breaks: Any) -> None:
    web = make.deployment(1, strategy={"type": "Recreate"})
    found = breaks("rollout-completes", web, may={"node-crash": 1, "rollout": 1}, events=2, deviations=0)
    crash, rollout = sorted(found)
    assert crash.startswith("node-crash n-")
    assert rollout == "rollout deployment/web"


def test_a_service_of_two_is_there_through_a_rollout(make: Any, holds: Any) -> None:
    holds("service-available", make.deployment(2), make.service(), may={"rollout": 2}, events=2, deviations=0)
    holds("service-available", make.deployment(2), make.service(), nodes="1x2cpu,8Gi", may={"rollout": 1})


def test_a_service_of_one_is_there_only_because_none_may_be_unavailable(make: Any, holds: Any, breaks: Any) -> None:
    holds("service-available", make.deployment(1), make.service(), may={"rollout": 1})
    found = breaks("service-available", make.deployment(1, surge=0, unavailable=1), make.service(), may={"rollout": 1})
    assert found == ["rollout deployment/web"]


def test_a_bad_rollout_is_undone_by_going_back(make: Any, holds: Any) -> None:
    steps = [{"rollout": {"workload": "deployment/web", "behaviour": "never-ready"}}]
    holds("replicas-restored", make.deployment(3), steps=steps, may={"rollback": 1})
