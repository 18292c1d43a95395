"""One run of the descheduler: what its strategies see, and what they have evicted so far.

Source: the descheduler's `pkg/descheduler/evictions/evictions.go`, `pkg/descheduler/pod/pods.go`.
"""

from __future__ import annotations

from collections import Counter

from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError
from reconverge.model.eviction import eviction
from reconverge.model.likeness import pod_text
from reconverge.model.loop import Reading
from reconverge.model.loops.descheduler.evictor import Evictor
from reconverge.model.loops.descheduler.fit import NodeFit
from reconverge.model.loops.descheduler.policy import DeschedulerPolicy
from reconverge.model.objects import Node, Pod
from reconverge.model.store import Store
from reconverge.model.value import Seconds


class Run:
    """Lives for one pass only. Each eviction is rehearsed, so that what the API will refuse is left out of the plan.

    The real descheduler makes those requests, too, and goes on to the next pod when one is refused.
    """

    def __init__(self, reading: Reading, policy: DeschedulerPolicy, evictor: Evictor, fit: NodeFit) -> None:
        self.policy = policy
        self.evictor = evictor
        self.fit = fit
        self.actions: list[Action] = []
        self.refused: list[str] = []
        self._rehearsal = Cluster(store=reading.store, now=reading.now, rules=reading.rules)
        self.nodes = [node for node in reading.store.nodes() if node.ready == "True"]
        """The nodes that it looks at: the ready ones, cordoned and tainted ones too."""
        self._per_node: Counter[str] = Counter()
        self._per_namespace: Counter[str] = Counter()

    @property
    def store(self) -> Store:
        """The store as it will be after the evictions so far."""
        return self._rehearsal.store

    @property
    def now(self) -> Seconds:
        """The time."""
        return self._rehearsal.now

    def pods_on(self, node: Node) -> list[Pod]:
        """The pods on a node that may be evicted, the oldest first."""
        return self.in_order([pod for pod in self.store.pods_on(node.name) if self.evictor.may_evict(pod)])

    def in_order(self, pods: list[Pod]) -> list[Pod]:
        """Pods by age, then by what they are, then by name."""
        return sorted(pods, key=lambda pod: (pod.created_at, pod_text(pod, self.now), pod.key))

    def evict(self, pod: Pod, reason: str) -> bool:
        """Evicts a pod unless settings, limits or the API forbid it; whether it will go."""
        if not self.evictor.may_evict(pod) or self._exceeds(pod):
            return False
        if self.policy.evictor.node_fit and not self.fit.fits_elsewhere(self.store, pod, self.nodes):
            return False
        actions = eviction(self.store, pod, self._rehearsal.rules, reason)
        after = self._rehearsal
        try:
            for action in actions:
                after, _ = action.apply(after)
        except ApiError as error:
            self.refused.append(f"{pod.reference}: {error}")
            return False
        self._rehearsal = after
        self.actions.extend(actions)
        self._per_node[pod.node or ""] += 1
        self._per_namespace[pod.namespace] += 1
        return True

    def _exceeds(self, pod: Pod) -> bool:
        """Whether one more would be above a limit of the run."""
        limits = self.policy.evictor
        counted = (
            (self._per_node[pod.node or ""], limits.most_per_node),
            (self._per_namespace[pod.namespace], limits.most_per_namespace),
            (self._per_node.total(), limits.most),
        )
        return any(most is not None and count >= most for count, most in counted)
