"""One scheduling cycle: everything that plugins may read while a node is sought for one pod.

Source: `pkg/scheduler/schedule_one.go`, `pkg/scheduler/framework/runtime/framework.go`
(RunFilterPluginsWithNominatedPods).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reconverge.model.labels import Labels, Selector
from reconverge.model.loop import Reading
from reconverge.model.loops.scheduler.accounting import Accounting
from reconverge.model.loops.scheduler.memory import SchedulerMemory
from reconverge.model.loops.scheduler.nodes import Nodes
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.pod import TERMINAL_PHASES
from reconverge.model.persistent import EMPTY
from reconverge.model.resources import Usage


class Cycle:
    """The view, the pod, and the pods that count on nodes: those bound in the view and those assumed."""

    def __init__(
        self, reading: Reading, memory: SchedulerMemory, pod: Pod, nodes: Nodes, accounting: Accounting
    ) -> None:
        self.store = reading.store
        self.now = reading.now
        self.rules = reading.rules
        self.memory = memory
        self.pod = pod
        self.nodes = nodes
        self.accounting = accounting
        self.request = accounting.request(pod)
        self.pods = self.store.table("Pod")
        self.assumed = self._assumed() if memory.assumed else {}
        self.usage = accounting.usage(self.store, self.assumed)
        self.nominated = self._nominated() if memory.nominated else {}
        self.checks: list[Check] = []
        self._per_node: dict[tuple[str, Selector | None], dict[str, int]] = {}

    def prepare(self, filters: Sequence[Filter]) -> None:
        """Runs PreFilter: what remains to be checked per node."""
        for each in filters:
            check = each.prepare(self)
            if check is not None:
                self.checks.append(check)

    def pods_on(self, node: str) -> list[Pod]:
        """The pods that count on a node."""
        return self.accounting.pods_on(self.store, self.assumed, node)

    def failure(self, node: Node, delta: Delta = ()) -> Failure | None:
        """Why the node does not pass, or None.

        Pods of the same or a higher priority that are nominated to it count as if they were there; and it must pass
        without them, too, for they may never come.
        """
        added = self.nominated.get(node.name)
        if added:
            failure = self._failure(node, (*delta, *((pod, 1) for pod in added)))
            if failure is not None:
                return failure
        return self._failure(node, delta)

    def _failure(self, node: Node, delta: Delta) -> Failure | None:
        usage = self._usage(node.name, delta)
        for check in self.checks:
            failure = check(node, usage, delta)
            if failure is not None:
                return failure
        return None

    def _usage(self, node: str, delta: Delta) -> Usage:
        usage = self.usage(node)
        for pod, sign in delta:
            usage = self.accounting.changed(usage, pod, sign)
        return usage

    def search(self, nodes: Sequence[Node], wanted: int) -> tuple[list[Node], dict[str, Failure]]:
        """The first `wanted` nodes that pass, and the failures of those looked at on the way."""
        passing: list[Node] = []
        failures: dict[str, Failure] = {}
        checks, usage_of, nominated = self.checks, self.usage, self.nominated
        for node in nodes:
            failure = None
            if nominated and node.name in nominated:
                failure = self.failure(node)
            else:
                usage = usage_of(node.name)
                for check in checks:
                    failure = check(node, usage, ())
                    if failure is not None:
                        break
            if failure is not None:
                failures[node.name] = failure
                continue
            passing.append(node)
            if len(passing) >= wanted:
                break
        return passing, failures

    def per_node(self, namespace: str, selector: Selector | None) -> dict[str, int]:
        """How many pods of a namespace that a selector matches each node holds; Terminating ones do not count."""
        mark = (namespace, selector)
        counts = self._per_node.get(mark)
        if counts is None:
            counts = self._per_node[mark] = {}
            for pod in self.matching((namespace,), selector):
                if pod.deletion_at is None and pod.node is not None:
                    counts[pod.node] = counts.get(pod.node, 0) + 1
        return counts

    def matching(self, namespaces: Sequence[str] | None, selector: Selector | None) -> Iterator[Pod]:
        """The pods that count on some node and that a selector matches, in no meaningful order.

        `namespaces` None means all. Terminating pods are among them.
        """
        if selector is None:
            return
        # Pods of one template share their labels, which is quicker to see than to compare.
        labels: Labels | None = None
        matches = False
        for pod in self._candidates(namespaces, selector):
            if pod.labels is not labels:
                labels = pod.labels
                matches = selector.matches(labels)
            if matches and pod.node is not None and pod.phase not in TERMINAL_PHASES:
                yield pod
        for some in self.assumed.values():
            for pod in some:
                if (namespaces is None or pod.namespace in namespaces) and selector.matches(pod.labels):
                    yield pod

    def _candidates(self, namespaces: Sequence[str] | None, selector: Selector) -> Iterable[Pod]:
        table = self.pods
        objects = table.objects
        if namespaces is not None and selector.match_labels:
            for namespace in namespaces:
                keys = min(
                    (table.keys_at("label", f"{namespace}/{key}={value}") for key, value in selector.match_labels),
                    key=len,
                )
                yield from (objects[key] for key in keys)
        elif namespaces is None:
            yield from objects.values()
        else:
            yield from (pod for pod in objects.values() if pod.namespace in namespaces)

    def with_terms(self) -> Iterator[Pod]:
        """The pods that count on some node and have any term of pod affinity or anti-affinity of their own."""
        objects = self.pods.objects
        for key in self.pods.keys_at("affinity", ""):
            pod = objects[key]
            if pod.node is not None and not pod.terminal:
                yield pod
        for some in self.assumed.values():
            for pod in some:
                affinity = pod.spec.affinity
                if affinity.pod_required or affinity.anti_required or affinity.pod_preferred or affinity.anti_preferred:
                    yield pod

    def _assumed(self) -> dict[str, tuple[Pod, ...]]:
        """Assumed pods by node, as far as the view still shows them without one."""
        found: dict[str, tuple[Pod, ...]] = {}
        for key in sorted(self.memory.assumed):
            binding = self.memory.assumed[key]
            pod = self.store.pod(key)
            if pod is not None and pod.uid == binding.uid and pod.node is None:
                found[binding.node] = (*found.get(binding.node, ()), pod.with_(node=binding.node))
        return found

    def _nominated(self) -> dict[str, tuple[Pod, ...]]:
        """Other pods by the node they are nominated to, of the pod's priority or higher."""
        found: dict[str, tuple[Pod, ...]] = {}
        nominated = self.memory.nominated or EMPTY
        for key in sorted(nominated):
            pod = self.store.pod(key)
            if pod is None or key == self.pod.key or pod.node is not None or key in self.memory.assumed:
                continue
            if pod.spec.priority >= self.pod.spec.priority:
                node = nominated[key]
                found[node] = (*found.get(node, ()), pod)
        return found
