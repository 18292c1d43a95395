"""Whether kubelets start containers when their turn has come, and only then.

Source: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (computePodActions), `pkg/kubelet/container/helpers.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.facts import undisturbed
from reconverge.model.cluster import Cluster
from reconverge.model.local_pods import LocalContainer, LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.loops.kubelet.containers import has_started
from reconverge.model.parts import Part
from reconverge.model.store import Change


def _machines(situation: Situation, change: Change) -> Iterable[str]:
    return ("",) if change.kind == MACHINES else ()


@invariant(
    "containers-start-in-turn",
    "on_step",
    family="law",
    statement="A container starts only after the init containers before it have succeeded and the sidecars before it "
    "have started, and again only when its restart policy lets it and its back-off is over.",
    why="What an init container prepares is not there yet otherwise, and a crash loop takes a whole node down.",
    remedy="See which container the kubelet started, and what it took for done.",
    source="pkg/kubelet/kuberuntime/kuberuntime_manager.go; documentation of init and sidecar containers",
    touched_by=_machines,
    watches=(MACHINES,),
)
def containers_start_in_turn(step: Step, _: None) -> Iterable[Violation]:
    """Judges each container that runs after a kubelet's step and did not before."""
    action = step.action
    if type(action) is not Locally:
        return ()
    machine = step.before.cluster.machines.get(action.node)
    known = machine.pods.get(action.pod.uid) if machine is not None else None
    if known is None:
        return ()
    found = []
    both = zip(known.parts(), action.pod.containers, strict=True) if action.pod.containers else ()
    for place, ((part, before), after) in enumerate(both):
        if after.state == "running" and before.state != "running":
            wrong = _wrong_start(step.before.cluster, known, place) or _wrong_again(step, known, part, before)
            if wrong:
                found.append(_started(action, part, wrong))
    return found


def _started(action: Locally, part: Part, wrong: str) -> Violation:
    reference = f"pod/{action.pod.key.removeprefix('default/')}"
    name = f"container {part.name} of {reference}" if part.name else reference
    message = f"the kubelet of {action.node} starts {name}, and {wrong}"
    return Violation(reference, message, {"node": action.node, "container": part.name})


def _wrong_start(cluster: Cluster, known: LocalPod, place: int) -> str:
    """Which container before it is not done yet; empty if all are."""
    initialised = any(each.state != "waiting" for part, each in known.parts() if part.role == "main")
    for part, each in known.parts()[:place]:
        if part.role == "init" and (each.state != "exited" or each.exit_code != 0):
            return f"init container {part.name} has not succeeded"
        started = has_started(part, each, cluster.rules.kubelet, cluster.now)
        if part.role == "sidecar" and not initialised and not started:
            return f"sidecar {part.name} has not started"
    return ""


def _wrong_again(step: Step, known: LocalPod, part: Part, container: LocalContainer) -> str:
    """What is wrong with a container that is started again; empty if nothing is."""
    if container.state != "exited":
        return ""
    policy, now = known.spec.restart_policy, step.before.cluster.now
    if part.role != "sidecar" and (policy == "Never" or (policy == "OnFailure" and container.exit_code == 0)):
        return f"with restartPolicy {policy} it is not started again after exit code {container.exit_code}"
    if now < container.since + container.backoff:
        return f"its back-off of {container.backoff:g} s is not over"
    pod = step.before.store.pod(known.key)
    if pod is None or pod.uid != known.uid or pod.deletion_at is None:
        return ""
    # A pass that began before the deletion does not know of it, nor does a kubelet that is cut off.
    return "the pod is being deleted" if undisturbed(step) and _connected(step, pod.node or "") else ""


def _connected(step: Step, node: str) -> bool:
    """Whether the node's kubelet has heard of it."""
    machine = step.before.cluster.machines.get(node)
    return machine is not None and machine.connected
