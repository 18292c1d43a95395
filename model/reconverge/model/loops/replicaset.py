"""The ReplicaSet controller: keeps as many pods as a ReplicaSet asks for.

Source: `pkg/controller/replicaset/replica_set.go`, `pkg/controller/controller_utils.go` (expectations, ranking).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconverge.model.action import Action, Create, Patch
from reconverge.model.errors import ApiError
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.expectations import Expectations, expecting, lowered, satisfied, withdrawn
from reconverge.model.loops.ownership import adoptable, owner_keys_for_orphan, releasable
from reconverge.model.loops.pod_writes import DeletePodNamed
from reconverge.model.loops.victims import ranked_victims
from reconverge.model.objects import Condition, Pod, ReplicaSet, ReplicaSetStatus
from reconverge.model.persistent import EMPTY
from reconverge.model.store import Change
from reconverge.model.value import Seconds

REPLICA_FAILURE = "ReplicaFailure"
FAILED_CREATE = "FailedCreate"


class ReplicaSetController(ControlLoop[Expectations]):
    """Creates and deletes pods until the active ones are as many as spec.replicas, and reports status."""

    name = "replicaset"
    watches = frozenset({"ReplicaSet", "Pod"})
    guarded = True
    source = "pkg/controller/replicaset/replica_set.go"

    def start(self) -> Expectations:
        """No expectations: a restarted controller trusts its first list."""
        return EMPTY

    def relist(self, reading: Reading) -> Iterable[str]:
        """All ReplicaSets."""
        return sorted(reading.store.table("ReplicaSet").objects)

    def observe(self, memory: Expectations, change: Change, reading: Reading) -> tuple[Expectations, Iterable[str]]:
        """Lowers expectations by what the pod watch shows, and wakes the owner."""
        if change.kind == "ReplicaSet":
            return (memory if change.after is not None else memory.discard(change.key)), (change.key,)
        before: Pod | None = change.before
        pod: Pod = change.object
        if pod.owner is None or (before is not None and before.owner is None):
            woken = tuple(owner_keys_for_orphan(reading.store, "ReplicaSet", pod))
        else:
            woken = ()
        if pod.owner is None or pod.owner.kind != "ReplicaSet":
            if before is not None and before.owner is not None and before.owner.kind == "ReplicaSet":
                woken = (*woken, f"{before.namespace}/{before.owner.name}")
            return memory, woken
        key = f"{pod.namespace}/{pod.owner.name}"
        if before is not None and change.after is not None and _alike(before, pod):
            return memory, woken
        return lowered(memory, "ReplicaSet", change), (key, *woken)

    def failed(self, memory: Expectations, action: Action, error: ApiError) -> Expectations:
        """A refused create or delete is expected no longer; the rest of the batch was not tried."""
        return withdrawn(memory, action)

    def sync(self, reading: Reading, memory: Expectations, key: str) -> Sequence[Plan[Expectations]]:
        """Adopt and release, create or delete the difference if expectations are satisfied, then report."""
        rs = reading.store.replica_set(key)
        if rs is None:
            return (Plan(memory.discard(key)),)
        owned, claims = self.claimed(reading, rs)
        active = [pod for pod in owned if pod.active]
        batches: list[tuple[str, tuple[Action, ...]]] = [("", ())]
        if self.may_manage(reading, rs, memory):
            batches = self.manage(reading, rs, active)
        status = self.status(reading, rs, active, owned)
        report = self._report(rs, status)
        requeue = self.next_available(reading, rs, active)
        plans = []
        for choice, actions in batches:
            remembered = self.expecting(reading, memory, key, actions)
            # Claiming a pod changes neither status nor the ReplicaSet, so one pass does both.
            plans.append(Plan(remembered, (*claims, *actions, *report), requeue, choice))
        return plans

    def denied(self, reading: Reading, action: Action, rest: tuple[Action, ...], error: ApiError) -> tuple[Action, ...]:
        """The status report is made all the same, and says that a creation has failed (calculateStatus)."""
        left = super().denied(reading, action, rest, error)
        if not isinstance(action, Create) or action.object.owner is None:
            return left
        rs = reading.store.replica_set(f"{action.object.namespace}/{action.object.owner.name}")
        if rs is None:
            return left
        reports = [each for each in left if isinstance(each, Patch) and each.kind == "ReplicaSet"]
        status = dict(reports[0].fields)["status"] if reports else rs.status.with_(conditions=())
        known = [each for each in rs.status.conditions if each.type == REPLICA_FAILURE]
        failed = known or [Condition(REPLICA_FAILURE, "True", FAILED_CREATE, reading.now, reading.now)]
        report = self._report(rs, status.with_(conditions=tuple(failed)), str(error))
        return (*(each for each in left if each not in reports), *report)

    def may_manage(self, reading: Reading, rs: ReplicaSet, memory: Expectations) -> bool:
        """Whether this pass may create or delete pods."""
        return rs.deletion_at is None and satisfied(memory, rs.key, reading)

    def claimed(self, reading: Reading, rs: ReplicaSet) -> tuple[list[Pod], tuple[Action, ...]]:
        """The pods that are this set's, and the writes that adopt matching orphans and release strangers."""
        owned = reading.store.pods_of(rs.uid)
        released = [pod for pod in owned if releasable(pod, rs.selector)]
        adopted = [] if rs.terminating else adoptable(reading.store, rs.namespace, rs.selector)
        actions = [
            Patch(
                "Pod",
                pod.key,
                pod.uid,
                (("owner", None),),
                "its labels no longer match the selector",
                f"releases {pod.reference}",
            )
            for pod in released
        ] + [
            Patch(
                "Pod",
                pod.key,
                pod.uid,
                (("owner", rs.owner_reference()),),
                "its labels match the selector",
                f"adopts {pod.reference}",
            )
            for pod in adopted
        ]
        kept = [pod for pod in owned if pod not in released] if released else owned
        return kept + adopted, tuple(actions)

    def manage(self, reading: Reading, rs: ReplicaSet, active: list[Pod]) -> list[tuple[str, tuple[Action, ...]]]:
        """The alternatives of (choice, creations or deletions) that bring the active pods to spec.replicas."""
        difference = len(active) - rs.replicas
        if difference < 0:
            return [("", self.creations(reading, rs, -difference))]
        if difference > 0:
            return self.deletions(reading, rs, active, difference)
        return [("", ())]

    def creations(self, reading: Reading, rs: ReplicaSet, count: int) -> tuple[Action, ...]:
        """New pods. The real controller, too, stops at the first error: it sends batches of 1, 2, 4 ... pods."""
        count = min(count, reading.rules.burst_replicas)
        have = rs.replicas - count
        return tuple(
            Create(self.new_pod(rs), f"{rs.replicas} wanted, {have + number} there") for number in range(count)
        )

    def new_pod(self, rs: ReplicaSet) -> Pod:
        """A pod of the set's template."""
        return Pod(
            name=f"{rs.name}-",
            namespace=rs.namespace,
            labels=rs.template.labels,
            annotations=rs.template.annotations,
            owner=rs.owner_reference(),
            spec=rs.template.spec,
            template_digest=rs.template.digest,
        )

    def deletions(
        self, reading: Reading, rs: ReplicaSet, active: list[Pod], count: int
    ) -> list[tuple[str, tuple[Action, ...]]]:
        """The victims of a scale-down; several alternatives where the ranking leaves pods equal."""
        reason = f"{rs.replicas} wanted, {len(active)} there"
        return [
            (choice, tuple(DeletePodNamed(pod.key, pod.uid, reason=reason) for pod in victims))
            for choice, victims in ranked_victims(reading, rs, active, min(count, reading.rules.burst_replicas))
        ]

    def expecting(self, reading: Reading, memory: Expectations, key: str, actions: tuple[Action, ...]) -> Expectations:
        """Expectations set before the writes are sent."""
        return expecting(memory, key, actions, reading)

    def status(self, reading: Reading, rs: ReplicaSet, active: list[Pod], owned: list[Pod]) -> ReplicaSetStatus:
        """Counts over the pods as they were before this pass's writes."""
        template = set(rs.template.labels)
        return ReplicaSetStatus(
            replicas=len(active),
            fully_labeled=sum(template <= set(pod.labels) for pod in active),
            ready=sum(pod.ready for pod in active),
            available=sum(pod.available(rs.min_ready, reading.now) for pod in active),
            terminating=sum(pod.terminating and not pod.terminal for pod in owned)
            if reading.rules.terminating_replicas
            else None,
            observed_generation=rs.generation,
            conditions=tuple(each for each in rs.status.conditions if each.type != REPLICA_FAILURE),
        )

    def _report(self, rs: ReplicaSet, status: ReplicaSetStatus, reason: str = "") -> tuple[Action, ...]:
        if status == rs.status:
            return ()
        fields = (("status", status),)
        counts = f"{status.replicas} pods, {status.ready} ready, {status.available} available"
        return (Patch("ReplicaSet", rs.key, rs.uid, fields, reason or counts, f"updates status of {rs.reference}"),)

    def next_available(self, reading: Reading, rs: ReplicaSet, active: list[Pod]) -> Seconds | None:
        """When the next ready pod will have been ready for minReadySeconds."""
        if not rs.min_ready:
            return None
        return min(
            (
                pod.ready_since + rs.min_ready
                for pod in active
                if pod.ready and pod.ready_since + rs.min_ready > reading.now
            ),
            default=None,
        )

    def marks(self, memory: Expectations, reading: Reading) -> Iterable[tuple[str, str, object]]:
        """Unsatisfied expectations."""
        for key, expected in memory.items():
            if not expected.satisfied(reading.now):
                yield "ReplicaSet", key, (expected.creations, len(expected.deletions))


def _alike(before: Pod, after: Pod) -> bool:
    """Whether an update of a pod cannot change anything for its ReplicaSet."""
    return (
        before.phase == after.phase
        and before.ready == after.ready
        and before.ready_since == after.ready_since
        and before.deletion_at == after.deletion_at
        and before.labels == after.labels
        and before.owner == after.owner
    )
