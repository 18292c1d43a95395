"""One pass of the DaemonSet controller under way: its nodes and pods, and what is to be created and deleted.

Source: `pkg/controller/daemon/daemon_controller.go` (updateDaemonSet, syncNodes).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Create
from reconverge.model.daemon_pods import daemon_spec, pinned
from reconverge.model.labels import labels_of
from reconverge.model.loop import Reading
from reconverge.model.loops.daemonset.nodes import by_node, fits
from reconverge.model.loops.pod_writes import DeletePodNamed
from reconverge.model.objects import DaemonSet, Node, Pod
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.rounding import scaled
from reconverge.model.value import Seconds

BURST = 250
"""Most pods created, and deleted, in one pass (BurstReplicas)."""


@frozen
class Change:
    """What one pass does about pods: nodes that get one, pods that go, each with a reason. `choice` tells it apart."""

    create: tuple[tuple[str, str], ...] = ()
    delete: tuple[tuple[Pod, str], ...] = ()
    choice: str = ""

    def actions(self, work: Work) -> tuple[Action, ...]:
        """The writes, creations first; no more than a burst of each."""
        new = (Create(work.new_pod(node), reason) for node, reason in self.create[:BURST])
        gone = (DeletePodNamed(pod.key, pod.uid, reason=reason) for pod, reason in self.delete[:BURST])
        return (*new, *gone)


class Work:
    """What a pass has before it."""

    def __init__(self, reading: Reading, ds: DaemonSet, pods: list[Pod], hash_: str) -> None:
        self.reading = reading
        self.ds = ds
        self.hash = hash_
        self.nodes: list[Node] = reading.store.nodes()
        self.pods = by_node(pods)
        self.fits = {node.name: fits(ds, node) for node in self.nodes}
        self.now: Seconds = reading.now

    @property
    def desired(self) -> int:
        """How many nodes should run a pod."""
        return sum(run for run, _ in self.fits.values())

    @property
    def max_surge(self) -> int:
        """How many nodes may have two pods for a while: rounded up."""
        return scaled(self.ds.max_surge, self.desired, up=True)

    @property
    def max_unavailable(self) -> int:
        """How many nodes may be without an available pod: rounded up, unlike a Deployment's; 1 where both are 0.

        Source: `pkg/controller/daemon/update.go` (updatedDesiredNodeCounts).
        """
        count = scaled(self.ds.max_unavailable, self.desired, up=True)
        return 1 if self.desired and not count and not self.max_surge else count

    @property
    def surges(self) -> bool:
        """Whether a new pod comes before the old one goes (AllowsSurge)."""
        return self.ds.max_surge not in (0, "0%")

    def available(self, pod: Pod) -> bool:
        """Whether a pod has been ready for minReadySeconds."""
        return pod.available(self.ds.min_ready, self.now)

    def new_pod(self, node: str) -> Pod:
        """The pod for a node: the default scheduler binds it (CreatePodTemplate)."""
        template = self.ds.template
        return Pod(
            name=f"{self.ds.name}-",
            namespace=self.ds.namespace,
            labels=labels_of({**dict(template.labels), REVISION_HASH: self.hash}),
            annotations=template.annotations,
            owner=self.ds.owner_reference(),
            spec=pinned(daemon_spec(template.spec), node),
            template_digest=template.digest,
        )
