"""The eviction API: removing a pod only as far as its disruption budget allows.

One request is up to three writes of the API server, so that a crash or an event can fall between them: the budget is
checked and decremented at once (`Evict`), then the pod gets its DisruptionTarget condition, then it is deleted.
Source: `pkg/registry/core/pod/storage/eviction.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, DeletePod, MarkDisrupted, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError, Conflict, InternalError, NotFound, TooManyRequests
from reconverge.model.objects import BudgetStatus, Pod, PodDisruptionBudget
from reconverge.model.objects.pod import pod_selector_matches
from reconverge.model.rules import Rules
from reconverge.model.store import Store
from reconverge.model.value import Seconds

EVICTED = "EvictionByEvictionAPI"
"""Reason of the DisruptionTarget condition of an evicted pod."""
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
ALLOWED = ("True", "SufficientPods")
NOT_ALLOWED = ("False", "InsufficientPods")


class EvictionRefused(TooManyRequests):
    """429. `message` is the API's own, the same for every budget; `cause` is the detail that says which and why."""

    def __init__(self, cause: str) -> None:
        super().__init__(REFUSED)
        self.cause = cause

    def __str__(self) -> str:
        return f"{self.code} {self.message} {self.cause}"


def matching_budgets(store: Store, pod: Pod) -> list[PodDisruptionBudget]:
    """The budgets whose selector matches the pod, ordered by name. An empty selector matches every pod."""
    budgets = store.in_namespace("PodDisruptionBudget", pod.namespace)
    return [budget for budget in budgets if pod_selector_matches(budget.selector, pod)]


@frozen
class Evict(Action):
    """POST of an Eviction, up to its first write: takes one disruption from the budget, or marks a pod that needs none.

    `deletes` says that nothing follows in the plan: then this write deletes, too, whatever the decision. Raises
    NotFound, Conflict if the uid is another, EvictionRefused (429), InternalError (500) for a pod under two budgets.
    Its methods are the rules of the API, one each.
    """

    key: str
    uid: int
    reason: str = ""
    grace: Seconds | None = None
    deletes: bool = False

    def apply(self, cluster: Cluster) -> Written:
        """Decides on the store as it is now: concurrent evictions cannot take the same disruption twice."""
        pod = self._pod(cluster.store)
        budget = self.budget_to_spend(cluster.store, pod, cluster.rules)
        if budget is None:
            return (self.deletion() if self.deletes else self.mark()).apply(cluster)
        self.check(budget)
        store, change = cluster.store.put(budget.with_(status=self.spent(budget.status, pod, cluster.now)))
        after = cluster.with_(store=store)
        if not self.deletes:
            return after, (change,)
        after, changes = self.deletion().apply(after)
        return after, (change, *changes)

    def describe(self) -> str:
        """Names the pod."""
        return f"evicts pod/{self.key.removeprefix('default/')}"

    def mark(self) -> MarkDisrupted:
        """The condition that says why the pod goes (addConditionAndDeletePod)."""
        return MarkDisrupted(self.key, self.uid, EVICTED, self.reason)

    def deletion(self) -> DeletePod:
        """The DELETE of a granted eviction, with the pod's own grace period unless the request has one."""
        return DeletePod(self.key, self.uid, self.grace, self.reason, EVICTED)

    def budget_to_spend(self, store: Store, pod: Pod, rules: Rules) -> PodDisruptionBudget | None:
        """The budget that has to allow the eviction; None if none has to. Raises InternalError for two budgets."""
        if self.ignores_budgets(pod):
            return None
        budgets = self.budgets(store, pod)
        if len(budgets) > 1:
            raise InternalError(SEVERAL_BUDGETS)
        if not budgets or (not pod.ready and self.unready_may_go(budgets[0], rules)):
            return None
        return budgets[0]

    def budgets(self, store: Store, pod: Pod) -> list[PodDisruptionBudget]:
        """The budgets that guard the pod (getPodDisruptionBudgets)."""
        return matching_budgets(store, pod)

    def ignores_budgets(self, pod: Pod) -> bool:
        """Whether the pod's removal disrupts nothing: terminal, Pending or already being deleted (canIgnorePDB)."""
        return pod.terminal or pod.phase == "Pending" or pod.deletion_at is not None

    def unready_may_go(self, budget: PodDisruptionBudget, rules: Rules) -> bool:
        """Whether an unready pod goes without taking a disruption (unhealthyPodEvictionPolicy).

        The default policy lets it go only while the budget is met, so an application below its budget keeps its
        broken pods. Before 1.22 unready pods were treated as any other, before 1.27 there was no other policy.
        """
        if rules.evict_unready_pods == "budget-always":
            return False
        if budget.unhealthy_pod_eviction == "AlwaysAllow" and rules.unhealthy_pod_eviction_policy:
            return True
        status = budget.status
        return status.current_healthy >= status.desired_healthy > 0

    def check(self, budget: PodDisruptionBudget) -> None:
        """Raises EvictionRefused if the budget's published status does not allow one more disruption."""
        status = budget.status
        if status.observed_generation < budget.generation:
            raise EvictionRefused(f"The disruption budget {budget.name} is still being processed by the server.")
        if status.disruptions_allowed <= 0:
            raise EvictionRefused(
                f"The disruption budget {budget.name} needs {status.desired_healthy} healthy pods "
                f"and has {status.current_healthy} currently"
            )

    def spent(self, status: BudgetStatus, pod: Pod, now: Seconds) -> BudgetStatus:
        """The status with one disruption taken, and the pod remembered until the controller sees it deleted."""
        allowed = status.disruptions_allowed - 1
        disrupted = {**dict(status.disrupted_pods), pod.name: now}
        return BudgetStatus(
            status.current_healthy,
            status.desired_healthy,
            allowed,
            status.expected_pods,
            tuple(sorted(disrupted.items())),
            status.observed_generation,
            NOT_ALLOWED if allowed == 0 else status.condition,
        )

    def _pod(self, store: Store) -> Pod:
        pod = store.pod(self.key)
        name = self.key.partition("/")[2]
        if pod is None:
            raise NotFound(f'pods "{name}" not found')
        if pod.uid != self.uid:
            raise Conflict(f"pod/{name} is another pod now")
        return pod


def eviction(
    store: Store,
    pod: Pod,
    rules: Rules,
    reason: str = "",
    grace: Seconds | None = None,
    request: type[Evict] = Evict,
) -> tuple[Action, ...]:
    """The writes of one eviction request, for a plan: two if the pod needs no budget as the caller sees it, else three.

    Should the store differ by then, the first write still decides rightly. `grace` None is the pod's own period.
    `request` is for rules other than Kubernetes' own.
    """
    first = request(pod.key, pod.uid, reason, grace)
    try:
        needs_budget = first.budget_to_spend(store, pod, rules) is not None
    except ApiError:
        return (first,)
    if not needs_budget:
        return (first, first.deletion())
    return (first, first.mark(), first.deletion())
