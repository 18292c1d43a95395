"""The eviction API, rule by rule (apiserver pkg/registry/core/pod/storage/eviction.go)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model.action import Action, Update
from reconverge.model.cluster import Cluster
from reconverge.model.errors import Conflict, InternalError, NotFound
from reconverge.model.eviction import EVICTED, Evict, EvictionRefused, eviction
from reconverge.model.labels import Selector, labels_of
from reconverge.model.objects import BudgetStatus, Pod, PodDisruptionBudget
from reconverge.model.rules import Rules
from reconverge.model.store import Store

WEB = labels_of({"app": "web"})
RULES = Rules()


def pod(name: str = "web-a", **fields: Any) -> Pod:
    running = {"labels": WEB, "node": "n1", "phase": "Running", "ready": True, "started_at": 0}
    return Pod(name=name, **{**running, **fields})


def budget(name: str = "web", *, healthy: int, desired: int, allowed: int | None = None, **fields: Any) -> Any:
    allowed = max(0, healthy - desired) if allowed is None else allowed
    condition = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    status = BudgetStatus(healthy, desired, allowed, healthy, (), 1, condition)
    return PodDisruptionBudget(name=name, **{"selector": Selector(WEB), "status": status, **fields})


def cluster_of(*objects: Any, rules: Rules = RULES) -> Cluster:
    store = Store({})
    for each in objects:
        store, _ = store.put(each)
    return Cluster(store=store, now=100, rules=rules)


def request(cluster: Cluster, name: str = "web-a") -> tuple[Action, ...]:
    target = cluster.store.pod(f"default/{name}")
    assert target is not None
    return eviction(cluster.store, target, cluster.rules, "drain")


def evict(cluster: Cluster, name: str = "web-a") -> Cluster:
    for action in request(cluster, name):
        cluster, _ = action.apply(cluster)
    return cluster


def status_of(cluster: Cluster, name: str = "web") -> BudgetStatus:
    found = cluster.store.budget(f"default/{name}")
    assert found is not None
    return found.status


def terminating(cluster: Cluster, name: str = "web-a") -> bool:
    found = cluster.store.pod(f"default/{name}")
    return found is None or found.terminating


def test_a_pod_without_a_budget_is_marked_and_then_deleted() -> None:
    """Recording 25: the DisruptionTarget condition is seen before the pod is Terminating."""
    cluster = cluster_of(pod())
    mark, delete = request(cluster)
    marked, _ = mark.apply(cluster)
    assert not terminating(marked)
    assert marked.store.all("Pod")[0].disruption_target == EVICTED
    assert terminating(delete.apply(marked)[0])
    after = evict(cluster).store.pod("default/web-a")
    assert after is not None
    assert (after.deletion_at, after.grace, after.disruption_target) == (130, 30, EVICTED)


def test_the_decision_with_the_decrement_is_one_write_and_condition_and_deletion_follow() -> None:
    """Recording 18: disruptionsAllowed falls with the eviction itself, before the pod is Terminating."""
    cluster = cluster_of(pod(), budget(healthy=3, desired=2))
    decide, mark, delete = request(cluster)
    cluster, changes = decide.apply(cluster)
    assert [change.kind for change in changes] == ["PodDisruptionBudget"]
    assert status_of(cluster) == BudgetStatus(3, 2, 0, 3, (("web-a", 100),), 1, ("False", "InsufficientPods"))
    cluster, changes = mark.apply(cluster)
    assert [change.after.disruption_target for change in changes] == [EVICTED]
    assert not terminating(cluster)
    cluster, changes = delete.apply(cluster)
    assert [change.kind for change in changes] == ["Pod"]
    assert terminating(cluster)


def test_the_condition_stays_while_disruptions_are_left() -> None:
    """Recording 20: maxUnavailable 30% of 4 lets two go; after the first the condition is still SufficientPods."""
    cluster = evict(cluster_of(pod(), budget(healthy=4, desired=2)))
    assert (status_of(cluster).disruptions_allowed, status_of(cluster).condition) == (1, ("True", "SufficientPods"))


def test_a_refusal_has_the_text_of_the_api() -> None:
    cluster = cluster_of(pod(), budget(healthy=2, desired=2))
    with pytest.raises(EvictionRefused) as refused:
        evict(cluster)
    assert refused.value.code == 429
    assert refused.value.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert refused.value.cause == "The disruption budget web needs 2 healthy pods and has 2 currently"
    assert str(refused.value).endswith("budget. The disruption budget web needs 2 healthy pods and has 2 currently")


def test_a_budget_that_was_changed_and_not_looked_at_yet_refuses() -> None:
    cluster = cluster_of(pod(), budget(healthy=3, desired=1, generation=2))
    with pytest.raises(EvictionRefused) as refused:
        evict(cluster)
    assert refused.value.cause == "The disruption budget web is still being processed by the server."


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_p4_a_pod_that_does_not_run_goes_whatever_the_budget_says(phase: str) -> None:
    cluster = evict(cluster_of(pod(phase=phase, ready=False), budget(healthy=1, desired=2)))
    assert terminating(cluster)
    assert status_of(cluster).disrupted_pods == ()


def test_a_pending_pod_without_a_node_is_removed_at_once() -> None:
    cluster = evict(cluster_of(pod(phase="Pending", ready=False, node=None), budget(healthy=1, desired=1)))
    assert cluster.store.pod("default/web-a") is None


def test_a_terminating_pod_is_not_counted_again() -> None:
    before = cluster_of(pod(deletion_at=110, grace=30), budget(healthy=3, desired=2))
    after = evict(before)
    assert status_of(after) == status_of(before)
    assert [each.deletion_at for each in after.store.all("Pod")] == [110]


def test_p5_an_unready_pod_goes_without_a_decrement_while_the_budget_is_met() -> None:
    """Recording 23: disruptionsAllowed is 0, the unready pod goes, the status is not written."""
    cluster = cluster_of(pod(ready=False), budget(healthy=1, desired=1))
    after = evict(cluster)
    assert terminating(after)
    assert status_of(after) == status_of(cluster)


def test_p6_an_unready_pod_stays_below_the_budget_unless_the_policy_is_always_allow() -> None:
    """Recording 21, and the application whose broken pods are protected by their own budget."""
    below = budget(healthy=0, desired=1)
    with pytest.raises(EvictionRefused, match="needs 1 healthy pods and has 0 currently"):
        evict(cluster_of(pod(ready=False), below))
    assert terminating(evict(cluster_of(pod(ready=False), below.with_(unhealthy_pod_eviction="AlwaysAllow"))))


def test_always_allow_does_not_help_a_ready_pod() -> None:
    with pytest.raises(EvictionRefused):
        evict(cluster_of(pod(), budget(healthy=1, desired=1, unhealthy_pod_eviction="AlwaysAllow")))


def test_a_budget_that_asks_for_no_healthy_pod_is_never_met() -> None:
    """Only with desiredHealthy above 0 does the unready pod pass; with 0 of 0 the answer is 429."""
    with pytest.raises(EvictionRefused, match="needs 0 healthy pods and has 0 currently"):
        evict(cluster_of(pod(ready=False), budget(healthy=0, desired=0)))


def test_before_1_22_an_unready_pod_counted_like_any_other() -> None:
    old = Rules(evict_unready_pods="budget-always")
    with pytest.raises(EvictionRefused):
        evict(cluster_of(pod(ready=False), budget(healthy=2, desired=2), rules=old))
    spent = evict(cluster_of(pod(ready=False), budget(healthy=3, desired=2), rules=old))
    assert status_of(spent).disruptions_allowed == 0


def test_p7_a_pod_under_two_budgets_is_never_evicted() -> None:
    """Recording 24."""
    cluster = cluster_of(pod(), budget("one", healthy=2, desired=1), budget("two", healthy=2, desired=1))
    with pytest.raises(InternalError) as error:
        evict(cluster)
    assert error.value.code == 500
    assert error.value.message == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    )


def test_an_empty_selector_matches_all_and_an_absent_one_none() -> None:
    with pytest.raises(EvictionRefused):
        evict(cluster_of(pod(), budget(healthy=1, desired=1, selector=Selector())))
    assert terminating(evict(cluster_of(pod(), budget(healthy=1, desired=1, selector=None))))


def test_a_budget_of_another_namespace_does_not_count() -> None:
    assert terminating(evict(cluster_of(pod(), budget(healthy=1, desired=1, namespace="other"))))


def test_a_pod_that_is_gone_or_another_is_not_evicted() -> None:
    cluster = cluster_of(pod())
    with pytest.raises(NotFound, match='pods "web-b" not found'):
        Evict("default/web-b", 1).apply(cluster)
    with pytest.raises(Conflict):
        Evict("default/web-a", 99).apply(cluster)


def test_the_first_write_decides_on_the_store_as_it_is() -> None:
    """The caller saw a budget that has gone since: the decision marks, and the second write finds nothing to do."""
    cluster = cluster_of(pod(), budget(healthy=3, desired=2))
    decide, mark, delete = request(cluster)
    store, _ = cluster.store.remove("PodDisruptionBudget", "default/web")
    cluster, changes = decide.apply(cluster.with_(store=store))
    assert [change.kind for change in changes] == ["Pod"]
    assert mark.apply(cluster) == (cluster, ())
    assert terminating(delete.apply(cluster)[0])


def test_a_budget_that_the_caller_did_not_see_is_spent_all_the_same() -> None:
    cluster = cluster_of(pod())
    decide, delete = request(cluster)
    store, _ = cluster.store.put(budget(healthy=3, desired=2))
    cluster, changes = decide.apply(cluster.with_(store=store))
    assert [change.kind for change in changes] == ["PodDisruptionBudget"]
    assert terminating(delete.apply(cluster)[0])
    assert status_of(cluster).disruptions_allowed == 0


def test_a_status_computed_before_an_eviction_cannot_be_written_after_it() -> None:
    """The race in which the controller's late write gave back what the evictions had taken."""
    cluster = cluster_of(pod(), pod("web-b"), budget(healthy=3, desired=2))
    read = cluster.store.budget("default/web")
    assert read is not None
    late = Update(read, read.with_(status=status_of(cluster)))
    cluster = evict(cluster)
    with pytest.raises(Conflict):
        late.apply(cluster)
    with pytest.raises(EvictionRefused):
        evict(cluster, "web-b")


@given(healthy=st.integers(0, 6), desired=st.integers(0, 6), wanted=st.lists(st.integers(0, 5), max_size=12))
def test_no_more_ready_pods_go_than_the_published_status_allows(healthy: int, desired: int, wanted: list[int]) -> None:
    names = [f"web-{number}" for number in range(6)]
    cluster = cluster_of(*[pod(name) for name in names], budget(healthy=healthy, desired=desired))
    allowed = status_of(cluster).disruptions_allowed
    for number in wanted:
        try:
            cluster = evict(cluster, names[number])
        except EvictionRefused:
            assert status_of(cluster).disruptions_allowed == 0
    gone = [name for name in names if terminating(cluster, name)]
    assert len(gone) == min(allowed, len(set(wanted)))
    assert status_of(cluster).disruptions_allowed == allowed - len(gone)
    assert [name for name, _ in status_of(cluster).disrupted_pods] == gone
