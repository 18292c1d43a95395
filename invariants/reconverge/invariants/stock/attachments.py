"""Disks, and who has them: one node at a time, for as long as something there uses them.

Source: `pkg/controller/volume/attachdetach/reconciler/reconciler.go`, `pkg/kubelet/volumemanager/volume_manager.go`
(WaitForAttachAndMount), `pkg/controller/volume/pvcprotection/pvc_protection_controller.go`; the documentation of
persistent volumes (access modes, storage object in use protection).
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.facts import knew_better
from reconverge.model.loop import MACHINES
from reconverge.model.machines import Machine
from reconverge.model.objects import Pod, StatefulSet
from reconverge.model.objects.node import OUT_OF_SERVICE
from reconverge.model.objects.storage import ATTACHMENT, CLAIM, VOLUME, PersistentVolume, PersistentVolumeClaim
from reconverge.model.store import Change, Store
from reconverge.model.volumes import described

LOOP = "attach-detach"
LONGEST_WAIT = 360
"""Seconds that a disk waits for an unhealthy node to unmount it."""
OF_CLAIMS = frozenset({"pvc-protection", "persistent-volume", "statefulset"})
"""Loops that look after claims."""


# Disks -------------------------------------------------------------------------------------------------------


def _disks(situation: Situation, change: Change) -> Iterable[str]:
    """The volume of an attachment, and the volumes of pods that a machine begins to run."""
    if change.kind == ATTACHMENT:
        return (change.key,)
    if change.kind != MACHINES:
        return ()
    return tuple(
        claim.volume
        for key, name in _begun(change.before, change.after)
        if (claim := situation.store.get(CLAIM, f"{key.partition('/')[0]}/{name}")) is not None
        and claim.phase == "Bound"
    )


def _begun(before: Machine | None, after: Machine | None) -> list[tuple[str, str]]:
    """(key of a pod, name of a claim of it) of the pods that have begun to run on a machine between two moments."""
    if before is None or after is None or before.pods is after.pods:
        return []
    found = []
    for uid, pod in after.pods.items():
        was = before.pods.get(uid)
        if pod.spec.claims and pod.alive and was is not None and was.state == "admitted":
            found += [(pod.key, name) for name in pod.spec.claims]
    return sorted(found)


@invariant(
    "disk-on-one-node",
    "on_step",
    for_each=VOLUME,
    family="law",
    statement="A disk is attached to one node at a time, stays there while a pod has it mounted (unless the node is "
    "gone, out of service, or has been unhealthy for six minutes), and no pod starts where its disk is not.",
    why="Two nodes that write to the same file system destroy it.",
    remedy="See what the attach/detach controller took for unmounted, and whether somebody forced it.",
    source="pkg/controller/volume/attachdetach/reconciler/reconciler.go; "
    "pkg/kubelet/volumemanager/volume_manager.go (WaitForAttachAndMount)",
    touched_by=_disks,
    watches=(ATTACHMENT, MACHINES),
    needs=LOOP,
)
def disk_on_one_node(step: Step, volume: PersistentVolume) -> Iterable[Violation]:
    """Judges attachments that are taken away or moved by a control loop, and pods that begin to run."""
    if step.event is not None or not volume.exclusive:
        return ()
    found = []
    for change in step.changes:
        if change.kind == ATTACHMENT and change.key == volume.name:
            found += _leaves(step, volume, change)
        elif change.kind == MACHINES:
            found += _starts_without(step, volume, change)
    return found if found and knew_better(step) else ()


def _leaves(step: Step, volume: PersistentVolume, change: Change) -> list[Violation]:
    """What is wrong with a disk's leaving a node; a new attachment takes it from nobody."""
    before, after = change.before, change.after
    if before is None or (after is not None and after.node == before.node):
        return []
    why = _must_stay(step, volume, before.node)
    if not why:
        return []
    to = "" if after is None else f" for node {after.node}"
    message = f"{volume.reference} is taken from node {before.node}{to}, {why}"
    return [Violation(volume.reference, message, {"node": before.node, "to": "" if after is None else after.node})]


def _must_stay(step: Step, volume: PersistentVolume, name: str) -> str:
    """Why a disk must not leave a node yet: a clause; empty if it may."""
    store = step.before.store
    node = store.node(name)
    if node is None or any(taint.key == OUT_OF_SERVICE for taint in node.taints):
        return ""
    user = next((pod for pod in store.pods_on(name) if _uses(store, volume, pod) and _needs(pod)), None)
    if user is not None:
        return f"where {user.reference} uses it"
    mounted = _mounted(step, volume, name)
    if not mounted:
        return ""
    if node.ready == "True":
        return f"where {mounted} still has it mounted"
    waited = _waited(step, volume)
    return "" if waited >= LONGEST_WAIT else f"where {mounted} still has it mounted, after {waited:g} s"


def _needs(pod: Pod) -> bool:
    """Whether a bound pod needs its volumes: it has not ended, and is not deleted before it has started."""
    return not pod.terminal and not (pod.deletion_at is not None and pod.phase == "Pending")


def _uses(store: Store, volume: PersistentVolume, pod: Pod) -> bool:
    claim = store.get(CLAIM, volume.claim) if volume.claim else None
    if claim is None or claim.phase != "Bound" or claim.volume != volume.name:
        return False
    return bool(claim.namespace == pod.namespace and claim.name in pod.spec.claims)


def _mounted(step: Step, volume: PersistentVolume, node: str) -> str:
    """A pod that has the disk mounted on the node's machine; empty if there is none."""
    machine = step.before.cluster.machines.get(node)
    namespace, _, name = volume.claim.partition("/")
    held = machine.pods if machine is not None else {}
    for uid in sorted(held):
        pod = held[uid]
        if name in pod.spec.claims and pod.key.startswith(f"{namespace}/") and pod.state != "admitted":
            return f"pod/{pod.key.removeprefix('default/')}"
    return ""


def _waited(step: Step, volume: PersistentVolume) -> float:
    """For how long the disk has been wanted on its node no more: as long as its controller has noted that."""
    state = step.before.cluster.loops.get(LOOP)
    noted = getattr(state.memory, "requested", {}) if state is not None else {}
    now = step.before.cluster.now
    return now - float(noted.get(volume.name, now))


def _starts_without(step: Step, volume: PersistentVolume, change: Change) -> list[Violation]:
    """The pods that begin to run on a machine to which their disk is not attached."""
    store = step.before.store
    attached = store.get(ATTACHMENT, volume.name)
    where = attached.node if attached is not None else ""
    found = []
    for key, name in _begun(change.before, change.after):
        if where == change.key or volume.claim != f"{key.partition('/')[0]}/{name}":
            continue
        pod = f"pod/{key.removeprefix('default/')}"
        place = f"attached to node {where}" if where else "attached to no node"
        message = f"{pod} starts on node {change.key}, and {volume.reference} is {place}"
        found.append(Violation(volume.reference, message, {"pod": pod, "node": change.key, "attached": where}))
    return found


# Claims ------------------------------------------------------------------------------------------------------


@invariant(
    "claims-kept",
    "on_step",
    for_each=CLAIM,
    family="law",
    statement="A claim goes only when somebody has deleted it and no pod on a node uses it any more.",
    why="With the claim goes its volume, and with the volume the data of a pod that still runs.",
    remedy="See who removed it, and which pods the protection of claims in use took for gone.",
    source="pkg/controller/volume/pvcprotection/pvc_protection_controller.go; documentation of StatefulSets (volumes "
    "are not deleted with their pods)",
    watches=(CLAIM,),
    needs=LOOP,
)
def claims_kept(step: Step, claim: PersistentVolumeClaim) -> Iterable[Violation]:
    """Judges the loops that look after claims; what an owner takes along, or a person by force, is theirs."""
    if step.actor not in OF_CLAIMS or step.after.store.get(CLAIM, claim.key) is not None:
        return ()
    wrong = _still_wanted(step.before.store, claim)
    if not wrong or not knew_better(step):
        return ()
    message = f"{step.actor} removes {claim.reference}, {wrong}"
    return (Violation(claim.reference, message, {"by": step.actor}),)


def _still_wanted(store: Store, claim: PersistentVolumeClaim) -> str:
    if not claim.terminating:
        return "which nobody has deleted"
    for pod in store.all("Pod"):
        if pod.node is not None and pod.namespace == claim.namespace and claim.name in pod.spec.claims:
            return f"which {pod.reference} uses"
    return ""


# Claims of ordinals ------------------------------------------------------------------------------------------


def _set_of_new_pod(situation: Situation, change: Change) -> Iterable[str]:
    owner = change.object.owner if change.kind == "Pod" and change.before is None else None
    return (f"{change.object.namespace}/{owner.name}",) if owner is not None and owner.kind == "StatefulSet" else ()


def _has_claims(situation: Situation, sts: StatefulSet) -> bool:
    return bool(sts.claims) and described(situation.store)


@invariant(
    "ordinals-have-claims",
    "on_step",
    for_each="StatefulSet",
    family="law",
    statement="A StatefulSet makes the claims of an ordinal before its pod, and the pod uses just these.",
    why="A member that comes up on another's disk, or on none, has lost its data.",
    remedy="See which claims the controller made, and by what names.",
    source="pkg/controller/statefulset/stateful_pod_control.go (createPersistentVolumeClaims); documentation of "
    "StatefulSets (stable storage)",
    applies=_has_claims,
    touched_by=_set_of_new_pod,
    watches=("Pod",),
    needs=LOOP,
)
def ordinals_have_claims(step: Step, sts: StatefulSet) -> Iterable[Violation]:
    """Judges the pods that the StatefulSet controller creates, where storage is described."""
    if step.actor != "statefulset":
        return
    for change in step.changes:
        pod = change.after
        if change.kind != "Pod" or change.before is not None or pod.owner is None or pod.owner.uid != sts.uid:
            continue
        number = pod.name.rpartition("-")[2]
        for template in sts.claims:
            name = f"{template.name}-{sts.name}-{number}"
            if name not in pod.spec.claims:
                wrong = f"{pod.reference} comes without its claim {name}"
            elif step.before.store.get(CLAIM, f"{sts.namespace}/{name}") is None:
                wrong = f"{pod.reference} comes before its claim {name}"
            else:
                continue
            yield Violation(sts.reference, wrong, {"pod": pod.reference, "claim": name})
