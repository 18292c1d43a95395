"""Which nodes need a pod, and which pods are too many: the part of a pass that knows no rollout.

Source: `pkg/controller/daemon/daemon_controller.go` (manage, podsShouldBeOnNode).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.daemon_pods import target_node
from reconverge.model.loops.daemonset.nodes import oldest_first, updated
from reconverge.model.loops.daemonset.work import Change, Work
from reconverge.model.objects import Pod
from reconverge.model.persistent import Map
from reconverge.model.value import Seconds

FIRST_BACKOFF: Seconds = 1
MOST_BACKOFF: Seconds = 15 * 60


@frozen
class Backoff:
    """How long after `since` the next failed pod on a node is left alone, in seconds."""

    seconds: Seconds
    since: Seconds

    @property
    def until(self) -> Seconds:
        """When a failed pod may be deleted again."""
        return self.since + self.seconds

    def expired(self, now: Seconds) -> bool:
        """Whether it is forgotten: nothing has failed for twice the longest back-off."""
        return now - self.since > 2 * MOST_BACKOFF


Backoffs = Map[str, Backoff]
"""By `namespace/name|node`."""


class Manager:
    """The rules for one node, each a method."""

    def change(self, work: Work, backoffs: Backoffs) -> tuple[Change, Backoffs, Seconds | None]:
        """What to create and delete, the back-offs after it, and when a back-off that was met ends."""
        create: list[tuple[str, str]] = []
        delete: list[tuple[Pod, str]] = []
        again: list[Seconds] = []
        for node in work.nodes:
            run, go_on = work.fits[node.name]
            pods = work.pods.get(node.name)
            if run and not pods:
                create.append((node.name, f"node {node.name} has no pod"))
            elif go_on and pods:
                failed, backoffs = self.failed(work, node.name, pods, backoffs, again)
                delete += failed
                needs, excess = self.kept(work, run, pods)
                create += [(node.name, f"node {node.name} has no pod that stays")] if needs else []
                delete += excess
            elif not go_on:
                delete += [(pod, "its node is not fit for it") for pod in pods or () if pod.deletion_at is None]
        delete += self.without_node(work)
        return Change(tuple(create), tuple(delete)), backoffs, min(again, default=None)

    def failed(
        self, work: Work, node: str, pods: list[Pod], backoffs: Backoffs, again: list[Seconds]
    ) -> tuple[list[tuple[Pod, str]], Backoffs]:
        """Finished pods, to be deleted: failed ones only when the node's back-off has passed."""
        key = f"{work.ds.key}|{node}"
        gone: list[tuple[Pod, str]] = []
        for pod in pods:
            if pod.deletion_at is not None or not pod.terminal:
                continue
            if pod.phase == "Failed":
                entry = backoffs.get(key)
                entry = None if entry is None or entry.expired(work.now) else entry
                if entry is not None and work.now < entry.until:
                    again.append(entry.until)
                    continue
                backoffs = backoffs.set(key, self.next_backoff(entry, work.now))
            gone.append((pod, f"it is {pod.phase}"))
        return gone, backoffs

    def next_backoff(self, entry: Backoff | None, now: Seconds) -> Backoff:
        """1 s at first, then doubling to 15 minutes (flowcontrol.Backoff)."""
        return Backoff(FIRST_BACKOFF if entry is None else min(entry.seconds * 2, MOST_BACKOFF), now)

    def kept(self, work: Work, run: bool, pods: list[Pod]) -> tuple[bool, list[tuple[Pod, str]]]:
        """Whether the node needs a pod although it has some, and the pods that are too many."""
        live = [pod for pod in sorted(pods, key=oldest_first) if pod.deletion_at is None and not pod.terminal]
        if not work.surges:
            return False, [(pod, "its node has an older one") for pod in live[1:]]
        if not live:
            return run, []
        return False, self.excess_in_surge(work, live)

    def excess_in_surge(self, work: Work, live: list[Pod]) -> list[tuple[Pod, str]]:
        """With maxSurge the oldest of each revision stay; the old one goes when unready or no longer needed."""
        if len(live) == 1:
            return []
        new = [pod for pod in live if updated(pod, work.hash)]
        old = [pod for pod in live if not updated(pod, work.hash)]
        excess = [(pod, "its node has an older one") for pod in (*new[1:], *old[1:])]
        if new and old:
            if not old[0].ready:
                excess.append((old[0], "it is of an old revision and not ready"))
            elif work.available(new[0]):
                excess.append((old[0], "the new pod on its node is available"))
        return excess

    def without_node(self, work: Work) -> list[tuple[Pod, str]]:
        """Pods that wait for a node that is gone (getUnscheduledPodsWithoutNode)."""
        return [
            (pod, f"node {target_node(pod)} is gone")
            for node in sorted(work.pods)
            if node not in work.fits
            for pod in work.pods[node]
            if pod.node is None
        ]
