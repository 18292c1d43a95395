"""The disruption controller: keeps the status of PodDisruptionBudgets.

Source: `pkg/controller/disruption/disruption.go`, component-helpers `apps/poddisruptionbudget/helpers.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from reconverge.model.action import Action, Patch, Update
from reconverge.model.eviction import ALLOWED, NOT_ALLOWED, matching_budgets
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import BudgetStatus, OwnerReference, Pod, PodDisruptionBudget
from reconverge.model.objects.workloads import IntOrPercent
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds

SYNC_FAILED = ("False", "SyncFailed")
WITHOUT_SCALE = {"DaemonSet": "daemonsets.apps", "Job": "jobs.batch", "CronJob": "cronjobs.batch", "Node": "nodes"}
"""Kinds that own pods and have no scale subresource, with the name by which the controller complains of them."""

ANY_OF = ","
"""Between the budgets of a key of which one is chosen."""

Disrupted = tuple[tuple[str, Seconds], ...]


class SyncFailure(Exception):
    """The status cannot be computed; the controller then allows no disruption."""


@frozen
class Expected:
    """How many pods there should be, and how many of them healthy."""

    pods: int
    healthy: int


def scaled_up(value: IntOrPercent, total: int) -> int:
    """A count as it is; a percentage of `total`, rounded up. Raises SyncFailure for a text that is no percentage.

    Source: apimachinery `pkg/util/intstr/intstr.go` (GetScaledValueFromIntOrPercent).
    """
    if isinstance(value, int):
        return value
    if not value.endswith("%") or not value[:-1].isdigit():
        raise SyncFailure(f'invalid value for IntOrString: invalid type: string is not a percentage: "{value}"')
    return -(-total * int(value[:-1]) // 100)


class DisruptionController(ControlLoop[None]):
    """Recomputes a budget's status from the pods that it matches. Keys are budgets.

    It is woken by pods and budgets only. It reads the scale of the pods' controllers but is not told of their changes:
    scaling raises `desiredHealthy` when the first pod follows. A subclass that adds those kinds to `watches` is woken.
    """

    name = "disruption"
    watches = frozenset({"Pod", "PodDisruptionBudget"})
    source = "pkg/controller/disruption/disruption.go"

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A budget wakes itself; a pod the budgets that `budgets_of_pod` names; a controller those of its pods."""
        if change.kind == "PodDisruptionBudget":
            return None, (change.key,)
        if change.kind == "Pod":
            return None, self.budgets_of_pod(reading.store, change.object)
        return None, self._budgets_of_controller(reading.store, change.key.partition("/")[0])

    def relist(self, reading: Reading) -> Iterable[str]:
        """All budgets."""
        return sorted(reading.store.table("PodDisruptionBudget").objects)

    def budgets_of_pod(self, store: Store, pod: Pod) -> Sequence[str]:
        """The key that a pod's change wakes: of several budgets that match, any one, but only one (getPdbForPod).

        So the status of the others stays old until something else wakes them. The key then names them all, and the
        pass has one alternative for each. Kubernetes looks at the pod's labels after the change only: a budget that a
        relabelled pod left is not woken.
        """
        matching = [budget.key for budget in matching_budgets(store, pod)]
        return [ANY_OF.join(matching)] if matching else []

    def _budgets_of_controller(self, store: Store, namespace: str) -> Sequence[str]:
        return [budget.key for budget in store.in_namespace("PodDisruptionBudget", namespace)]

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """Writes the status if it differs; looks again when a pod that was to be deleted may have been kept."""
        keys = key.split(ANY_OF)
        if len(keys) == 1:
            return self._sync_one(reading, key)
        chosen = ((each.partition("/")[2], self._sync_one(reading, each)[0]) for each in keys)
        return [plan.with_(choice=name) for name, plan in chosen]

    def _sync_one(self, reading: Reading, key: str) -> tuple[Plan[None]]:
        budget = reading.store.budget(key)
        if budget is None:
            return (Plan(None),)
        try:
            status = self.status(reading, budget)
        except SyncFailure as failure:
            failed = self.failed_status(budget.status)
            return (Plan(None, self.writes(reading, budget, failed, str(failure)), note=str(failure)),)
        recheck = min((since for _, since in status.disrupted_pods), default=None)
        requeue_at = None if recheck is None else recheck + reading.rules.disrupted_pod_lifetime
        return (Plan(None, self.writes(reading, budget, status, _summary(status)), requeue_at),)

    def writes(
        self, reading: Reading, budget: PodDisruptionBudget, status: BudgetStatus, reason: str
    ) -> tuple[Action, ...]:
        """The update (updatePdbStatus), made on the version that was read: an eviction in between makes it fail.

        Before 1.17 a refused update was made again with the status computed before (kubernetes/kubernetes#82149).
        """
        if status == budget.status:
            return ()
        if not reading.rules.budget_status_recomputed:
            verb = f"updates status of {budget.reference}"
            return (Patch(budget.kind, budget.key, budget.uid, (("status", status),), reason, verb),)
        return (Update(budget, budget.with_(status=status), reason),)

    # The rules, one each -------------------------------------------------------------------------------------

    def status(self, reading: Reading, budget: PodDisruptionBudget) -> BudgetStatus:
        """The status from scratch, but for the evictions granted whose deletion has not been seen (trySync)."""
        pods = reading.store.pods_matching(budget.namespace, budget.selector)
        expected = self.expected(reading.store, budget, pods)
        disrupted = self.still_disrupted(budget.status.disrupted_pods, pods, reading)
        names = {name for name, _ in disrupted}
        healthy = sum(1 for pod in pods if self.healthy(pod, pod.name in names))
        allowed = self.allowed(healthy, expected)
        return BudgetStatus(
            healthy,
            expected.healthy,
            allowed,
            expected.pods,
            disrupted,
            budget.generation,
            ALLOWED if allowed > 0 else NOT_ALLOWED,
        )

    def failed_status(self, before: BudgetStatus) -> BudgetStatus:
        """The status when it cannot be computed: no disruption allowed, the rest as it was (failSafe)."""
        return evolve(before, disruptions_allowed=0, condition=SYNC_FAILED)

    def healthy(self, pod: Pod, disrupted: bool) -> bool:
        """Whether a pod counts: ready, not being deleted, not about to be (countHealthyPods)."""
        return pod.ready and pod.deletion_at is None and not disrupted

    def allowed(self, healthy: int, expected: Expected) -> int:
        """How many may go now; none while no pod is expected, so that first pods are safe (updatePdbStatus)."""
        return max(0, healthy - expected.healthy) if expected.pods > 0 else 0

    def still_disrupted(self, before: Disrupted, pods: Iterable[Pod], reading: Reading) -> Disrupted:
        """The granted evictions still to be waited for: of pods neither gone nor deleting, younger than 120 s.

        Source: buildDisruptedPodMap. At exactly the end of that time an entry goes.
        """
        if not before:
            return ()
        staying = {pod.name for pod in pods if pod.deletion_at is None}
        lifetime = reading.rules.disrupted_pod_lifetime
        return tuple((name, at) for name, at in before if name in staying and at + lifetime > reading.now)

    def expected(self, store: Store, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> Expected:
        """Expected and desired-healthy pods (getExpectedPodCount).

        A number as minAvailable is compared with the pods that match, Terminating and terminal ones too; everything
        else is a part of what the pods' controllers are scaled to. Percentages are rounded up, either way.
        """
        if budget.max_unavailable is not None:
            total = self.expected_scale(store, pods)
            return Expected(total, max(0, total - self.scaled(budget.max_unavailable, total)))
        if isinstance(budget.min_available, int):
            return Expected(len(pods), budget.min_available)
        if budget.min_available is not None:
            total = self.expected_scale(store, pods)
            return Expected(total, self.scaled(budget.min_available, total))
        return Expected(0, 0)

    def scaled(self, value: IntOrPercent, total: int) -> int:
        """A count, or a percentage of the expected pods, rounded up."""
        return scaled_up(value, total)

    def expected_scale(self, store: Store, pods: Iterable[Pod]) -> int:
        """The summed scale of the pods' controllers, each once (getExpectedScale).

        Pods without a controller are skipped: under such a budget alone nothing is expected and nothing may go.
        Raises SyncFailure for a pod whose controller is gone or has no scale.
        """
        scales: dict[int, int] = {}
        asked: set[int] = set()
        for pod in pods:
            if pod.owner is None or pod.owner.uid in asked:
                continue
            asked.add(pod.owner.uid)
            found = self.scale(store, pod.namespace, pod.owner)
            if found is None:
                raise SyncFailure(f'found no controllers for pod "{pod.name}"')
            scales[found[0]] = found[1]
        return sum(scales.values())

    def scale(self, store: Store, namespace: str, owner: OwnerReference) -> tuple[int, int] | None:
        """(uid, replicas) of the controller that a pod's owner stands for; None if it is gone.

        A ReplicaSet stands for its Deployment if that exists (getPodDeployment), any other kind for itself. Raises
        SyncFailure for a kind without a scale subresource.
        """
        if owner.kind in WITHOUT_SCALE:
            raise SyncFailure(f"{WITHOUT_SCALE[owner.kind]} does not implement the scale subresource")
        found = store.get(owner.kind, f"{namespace}/{owner.name}")
        if found is None or found.uid != owner.uid:
            return None
        if owner.kind == "ReplicaSet" and found.owner is not None and found.owner.kind == "Deployment":
            deployment = store.deployment(f"{namespace}/{found.owner.name}")
            if deployment is not None and deployment.uid == found.owner.uid:
                return deployment.uid, deployment.replicas
        replicas = getattr(found, "replicas", None)
        if replicas is None:
            raise SyncFailure(f"{owner.kind.lower()}s does not implement the scale subresource")
        return found.uid, int(replicas)


def _summary(status: BudgetStatus) -> str:
    allowed = status.disruptions_allowed
    return (
        f"{status.current_healthy} of {status.expected_pods} expected pods healthy, {status.desired_healthy} desired: "
        f"{allowed} disruption{'' if allowed == 1 else 's'} allowed"
    )
