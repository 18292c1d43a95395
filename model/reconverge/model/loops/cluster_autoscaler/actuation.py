"""Removing one node: mark it, wait, evict its pods, wait until they are gone, let the cloud delete it; or give up.

Source: autoscaler `cluster-autoscaler/core/scaledown/actuation/{actuator,drain,delete_in_batch}.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from reconverge.model.action import Action
from reconverge.model.eviction import eviction
from reconverge.model.likeness import pod_text
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.cluster_autoscaler.drainability import is_daemon
from reconverge.model.loops.cluster_autoscaler.memory import (
    ABORTING,
    ASKING,
    DELAYING,
    DELETING,
    EVICTED,
    EVICTING,
    MARKING,
    REFUSED,
    WAITING,
    AutoscalerMemory,
    Deletion,
    PodEviction,
)
from reconverge.model.loops.cluster_autoscaler.options import AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.scale_down import Movable
from reconverge.model.loops.cluster_autoscaler.view import View
from reconverge.model.loops.cluster_autoscaler.writes import MarkToBeDeleted, Unmark
from reconverge.model.loops.node_group.actions import TerminateInstance
from reconverge.model.objects import Node, Pod
from reconverge.model.persistent import Map
from reconverge.model.store import Store
from reconverge.model.value import Seconds

Plans = Sequence[Plan[AutoscalerMemory]]


class ActuationRules:
    """The removal of a node, step by step. Its key is the node's name."""

    options: AutoscalerOptions

    def movable(self, view: View, store: Store, node: str, remaining: dict[str, int]) -> Movable:
        """The pods that would have to move, if none holds up the node."""
        raise NotImplementedError

    # Steps ---------------------------------------------------------------------------------------------------

    def mark(self, reading: Reading, name: str, deletion: Deletion, why: str) -> Action:
        """The write with which a removal begins."""
        return MarkToBeDeleted(name, deletion.uid, self.options.cordons(reading.rules), why)

    def remove(self, view: View, memory: AutoscalerMemory, name: str) -> Plans:
        """One pass for a node that is being removed."""
        deletion = memory.deletions[name]
        node = view.store.node(name)
        if node is None or node.uid != deletion.uid:
            return (Plan(memory.without_deletion(name), note="the node is gone"),)
        if deletion.phase == ABORTING:
            return self.abort(view, memory, node, deletion.error)
        if deletion.phase == DELAYING:
            if deletion.due is not None and view.now < deletion.due:
                return (Plan(memory, requeue_at=deletion.due),)
            return self.begin_drain(view, memory, node, deletion)
        if deletion.phase == EVICTING:
            return self.evict(view, memory, node, deletion)
        if deletion.phase == WAITING:
            return self.wait(view, memory, node, deletion)
        return (Plan(memory),)

    def begin_drain(self, view: View, memory: AutoscalerMemory, node: Node, deletion: Deletion) -> Plans:
        """After the delay it is looked at once more what is on the node."""
        moved = self.movable(view, view.store, node.name, {})
        if moved.blocker is not None:
            return self.abort(view, memory, node, f"{moved.blocker.reference} holds it up: {moved.verdict.reason}")
        if not deletion.drains:
            if moved.pods:
                return self.abort(view, memory, node, "pods have come to a node that was empty")
            return self.delete(view, memory, node, deletion)
        pods = {pod.key: PodEviction(pod.uid) for pod in moved.pods}
        pods |= {pod.key: PodEviction(pod.uid, daemon=True) for pod in self.daemons(view.store, node.name)}
        due = view.now + self.options.eviction
        return self.evict(view, memory, node, deletion.with_(phase=EVICTING, due=due, since=view.now, pods=Map(pods)))

    def daemons(self, store: Store, node: str) -> list[Pod]:
        """The pods of DaemonSets, which are asked to go, too, as far as they will (daemonset-eviction)."""
        return [pod for pod in store.pods_on(node) if is_daemon(pod) and pod.active]

    def evict(self, view: View, memory: AutoscalerMemory, node: Node, deletion: Deletion) -> Plans:
        """Asks for every pod that is due; one that is refused is asked for again every ten seconds for two minutes."""
        deletion = self.progressed(view, deletion)
        asked = {key: each for key, each in deletion.pods.items() if each.state in (ASKING, REFUSED)}
        if not asked:
            due = view.now + self.options.graceful + self.options.headroom
            return self.wait(view, memory, node, deletion.with_(phase=WAITING, due=due, since=view.now))
        assert deletion.due is not None
        ready = [key for key, each in asked.items() if each.state == ASKING or _comes(each, view.now)]
        if ready:
            return (self.request(view, memory, node, deletion, ready),)
        if view.now >= deletion.due:
            refused = min(asked)
            return self.abort(view, memory, node, f"pod/{refused.partition('/')[2]} was not evicted in time")
        moments = [each.retry_at for each in asked.values() if each.retry_at is not None]
        return (Plan(memory.with_deletion(node.name, deletion), requeue_at=min((*moments, deletion.due))),)

    def request(
        self, view: View, memory: AutoscalerMemory, node: Node, deletion: Deletion, due: Sequence[str]
    ) -> Plan[AutoscalerMemory]:
        """The eviction requests for some pods, those of DaemonSets last."""
        pods = [pod for pod in map(view.store.pod, due) if pod is not None]
        pods.sort(key=lambda pod: (deletion.pods[pod.key].daemon, pod_text(pod, view.now), pod.key))
        entries = deletion.pods
        for pod in pods:
            entries = entries.set(pod.key, entries[pod.key].with_(state=ASKING, asked_at=view.now, retry_at=None))
        actions = [action for pod in pods for action in self.evictions(view, pod, node.name)]
        deletion = deletion.with_(pods=entries)
        return Plan(memory.with_deletion(node.name, deletion), tuple(actions), deletion.due)

    def evictions(self, view: View, pod: Pod, node: str) -> tuple[Action, ...]:
        """The writes of one eviction request; a very long grace period is cut short."""
        grace = self.options.graceful if pod.spec.termination_grace > self.options.graceful else None
        return eviction(view.store, pod, view.reading.rules, f"node/{node} is to be removed", grace)

    def progressed(self, view: View, deletion: Deletion) -> Deletion:
        """The removal with what has become of its pods: those that go count as evicted, and the others are gone."""
        pods = deletion.pods
        for key in sorted(pods):
            pod, known = view.store.pod(key), pods[key]
            if pod is None or pod.uid != known.uid or pod.terminal:
                pods = pods.delete(key)
            elif pod.deletion_at is not None and known.state != EVICTED:
                pods = pods.set(key, known.with_(state=EVICTED, retry_at=None))
        return deletion.with_(pods=pods)

    def wait(self, view: View, memory: AutoscalerMemory, node: Node, deletion: Deletion) -> Plans:
        """Until the evicted pods are gone, which is looked for every five seconds; leftovers end the removal."""
        deletion = self.progressed(view, deletion)
        left = sorted(key for key, each in deletion.pods.items() if not each.daemon)
        assert deletion.due is not None
        if not left:
            at = self.poll_at(view, deletion)
            if at <= view.now:
                return self.delete(view, memory, node, deletion)
            return (Plan(memory.with_deletion(node.name, deletion), requeue_at=at),)
        if view.now >= deletion.due:
            return self.abort(view, memory, node, f"pod/{left[0].partition('/')[2]} has not gone in time")
        return (Plan(memory.with_deletion(node.name, deletion), requeue_at=deletion.due),)

    def poll_at(self, view: View, deletion: Deletion) -> Seconds:
        """The next moment at which the autoscaler looks whether all pods have gone."""
        polls = ceil((view.now - deletion.since) / self.options.poll)
        return deletion.since + polls * self.options.poll

    def delete(self, view: View, memory: AutoscalerMemory, node: Node, deletion: Deletion) -> Plans:
        """The cloud is told to delete the instance, which makes its group smaller."""
        memory = memory.with_deletion(node.name, deletion.with_(phase=DELETING, due=None, pods=Map()))
        reason = "everything on it has gone" if deletion.drains else "it is empty"
        return (Plan(memory, (TerminateInstance(node.name, reason, shrinks=True),)),)

    def abort(self, view: View, memory: AutoscalerMemory, node: Node, why: str) -> Plans:
        """The mark is taken back, and nothing is removed for a while."""
        memory = memory.without_deletion(node.name).with_(failed_at=view.now)
        return (Plan(memory, (Unmark(node.name, node.uid, self.options.cordons(view.reading.rules), why),)),)

    # What happens to it --------------------------------------------------------------------------------------

    def marked(self, memory: AutoscalerMemory, name: str, now: Seconds) -> AutoscalerMemory:
        """The memory after the mark of a node has been seen: the delay begins."""
        deletion = memory.deletions.get(name)
        if deletion is None or deletion.phase != MARKING:
            return memory
        return memory.with_deletion(name, deletion.with_(phase=DELAYING, due=now + self.options.taint_delay))

    def touched(self, memory: AutoscalerMemory, key: str, now: Seconds) -> tuple[AutoscalerMemory, list[str]]:
        """The memory after a pod has changed, and the nodes whose removal waits for it."""
        woken = []
        for name in sorted(memory.deletions):
            if key in memory.deletions[name].pods:
                memory = self.retried(memory, name, [key], now)
                woken.append(name)
        return memory, woken

    def retried(self, memory: AutoscalerMemory, name: str, keys: Sequence[str], now: Seconds) -> AutoscalerMemory:
        """The memory with refused pods of a node due again, at the next of the moments at which they are asked for."""
        deletion = memory.deletions[name]
        pods = deletion.pods
        for key in keys:
            pod = pods[key]
            if pod.state == REFUSED and pod.retry_at is None:
                every = self.options.eviction_retry
                again = pod.asked_at + every * max(1, ceil((now - pod.asked_at) / every))
                pods = pods.set(key, pod.with_(retry_at=again))
        return memory.with_deletion(name, deletion.with_(pods=pods)) if pods is not deletion.pods else memory

    def refused(self, memory: AutoscalerMemory, key: str, uid: int, answer: str) -> AutoscalerMemory:
        """The memory after an eviction was refused; a pod of a DaemonSet is let be."""
        for name in sorted(memory.deletions):
            deletion = memory.deletions[name]
            pod = deletion.pods.get(key)
            if pod is None or pod.uid != uid or pod.state != ASKING:
                continue
            if pod.daemon:
                return memory.with_deletion(name, deletion.with_(pods=deletion.pods.delete(key)))
            pods = deletion.pods.set(key, pod.with_(state=REFUSED, answer=answer))
            return memory.with_deletion(name, deletion.with_(pods=pods))
        return memory


def _comes(pod: PodEviction, now: Seconds) -> bool:
    return pod.retry_at is not None and pod.retry_at <= now
