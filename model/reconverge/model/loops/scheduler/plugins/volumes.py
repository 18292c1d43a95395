"""Volumes: where a pod's claims let it run, and what is written of them before it is bound.

Source: `pkg/scheduler/framework/plugins/volumebinding/{volume_binding,binder}.go`,
`pkg/scheduler/framework/plugins/volumezone/volume_zone.go`,
`pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Update, Written
from reconverge.model.cluster import Cluster
from reconverge.model.labels import label
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import REGION, ZONE
from reconverge.model.objects.storage import ONE_POD, PersistentVolumeClaim
from reconverge.model.resources import Usage
from reconverge.model.volumes import choose, claims_of, class_of, volume_of

_IMMEDIATE = Failure(
    "VolumeBinding", ("pod has unbound immediate PersistentVolumeClaims",), resolvable=False, of_pod=True
)
_NOTHING_TO_BIND = Failure(
    "VolumeBinding", ("node(s) didn't find available persistent volumes to bind",), resolvable=False
)
_ELSEWHERE = Failure("VolumeBinding", ("node(s) didn't match PersistentVolume's node affinity",), resolvable=False)
_ELSEWHERE_OLD = Failure("VolumeBinding", ("node(s) had volume node affinity conflict",), resolvable=False)
_ZONE = Failure("VolumeZone", ("node(s) had no available volume zone",), resolvable=False)
_IN_USE = Failure(
    "VolumeRestrictions",
    ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",),
)


@frozen
class PreBind(Action):
    """What is written of a claim or a volume before its pod is bound. `key` and `uid` are the pod's.

    Source: `pkg/scheduler/framework/plugins/volumebinding/binder.go` (bindAPIUpdate).
    """

    key: str
    uid: int
    write: Update
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """The claim or the volume must still be as the cycle has read it."""
        return self.write.apply(cluster)

    def describe(self) -> str:
        """As the write describes itself."""
        return self.write.describe()


def _unbound(cycle: Cycle) -> list[PersistentVolumeClaim]:
    return [claim for claim in claims_of(cycle.store, cycle.pod) if not claim.bound]


def prebind(cycle: Cycle, node: Node) -> tuple[Action, ...]:
    """The writes before a pod is bound to a node: which volume each claim gets, or where one is to be made for it."""
    if not cycle.pod.spec.claims:
        return ()
    writes: list[Action] = []
    for claim, volume in choose(cycle.store, _unbound(cycle), node) or ():
        if volume is not None and volume.claim != claim.key:
            verb = f"keeps {volume.reference} for {claim.reference}"
            update = Update(volume, volume.with_(claim=claim.key), "", verb)
        elif volume is None and claim.selected_node != node.name:
            verb = f"selects {node.name} for {claim.reference}"
            update = Update(claim, claim.with_(selected_node=node.name), "", verb)
        else:
            continue
        writes.append(PreBind(cycle.pod.key, cycle.pod.uid, update, f"{cycle.pod.reference} goes to {node.name}"))
    return tuple(writes)


class VolumeBinding(Filter):
    """Bound volumes must be usable on the node; for unbound claims there must be a volume, or one can be made there."""

    name = "VolumeBinding"

    def prepare(self, cycle: Cycle) -> Check | None:
        claims = claims_of(cycle.store, cycle.pod)
        if not claims:
            return None
        store = cycle.store
        going = next((claim for claim in claims if claim.terminating), None)
        if going is not None:
            said = f'persistentvolumeclaim "{going.name}" is being deleted'
            failure = Failure("VolumeBinding", (said,), resolvable=False, of_pod=True)
            cycle.checks.insert(0, lambda node, usage, delta: failure)
            return None
        unbound = [claim for claim in claims if not claim.bound]
        if any((found := class_of(store, claim)) is None or not found.delays for claim in unbound):
            # A PreFilter that says no: no filter of any node is asked.
            cycle.checks.insert(0, lambda node, usage, delta: _IMMEDIATE)
            return None
        volumes = [volume for claim in claims if (volume := volume_of(store, claim)) is not None]
        elsewhere = _ELSEWHERE if cycle.rules.message_names_volume_affinity else _ELSEWHERE_OLD

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            if any(not volume.reaches(node.labels, node.name) for volume in volumes):
                return elsewhere
            if unbound and choose(store, unbound, node) is None:
                return _NOTHING_TO_BIND
            return None

        return check


class VolumeZone(Filter):
    """Bound volumes with labels of zone or region fit nodes with those labels; a node that has none fits."""

    name = "VolumeZone"
    node_only = False

    def prepare(self, cycle: Cycle) -> Check | None:
        wanted: list[tuple[str, frozenset[str]]] = []
        for claim in claims_of(cycle.store, cycle.pod):
            volume = volume_of(cycle.store, claim)
            for key in (ZONE, REGION):
                value = label(volume.labels, key) if volume is not None else None
                if value:
                    wanted.append((key, frozenset(value.split("__"))))
        if not wanted:
            return None

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            places = dict(node.labels)
            if ZONE not in places and REGION not in places:
                return None
            return None if all(places.get(key) in values for key, values in wanted) else _ZONE

        return check


class VolumeRestrictions(Filter):
    """A ReadWriteOncePod claim is for one pod at a time, in the whole cluster."""

    name = "VolumeRestrictions"

    def prepare(self, cycle: Cycle) -> Check | None:
        pod = cycle.pod
        alone = {claim.name for claim in claims_of(cycle.store, pod) if ONE_POD in claim.access_modes}
        if not alone:
            return None

        def uses(other: Pod) -> bool:
            return other.namespace == pod.namespace and other.key != pod.key and not alone.isdisjoint(other.spec.claims)

        bound = [other for other in cycle.pods.objects.values() if other.node is not None and not other.terminal]
        assumed = [other for some in cycle.assumed.values() for other in some]
        count = sum(uses(other) for other in (*bound, *assumed))

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            left = count + sum(sign for other, sign in delta if uses(other))
            return _IN_USE if left > 0 else None

        return check
