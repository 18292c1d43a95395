"""The containers of one pod together: whose turn it is, what it waits for, and how it ends.

Init containers run one after the other, each to its end; a sidecar among them only has to have started. Then all others
start at once. Source: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (computePodActions),
`pkg/kubelet/kuberuntime/kuberuntime_container.go` (computeInitContainerActions), `pkg/kubelet/kubelet_pods.go`
(getPhase), `pkg/kubelet/images/image_manager.go`.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from reconverge.model.local_pods import TERMINATED, LocalContainer, LocalPod
from reconverge.model.loops.kubelet import containers
from reconverge.model.loops.kubelet.volumes import CREATING
from reconverge.model.machines import Machine
from reconverge.model.parts import Part
from reconverge.model.rules import KubeletTimings
from reconverge.model.value import Seconds

CRASH_LOOP = "CrashLoopBackOff"
IMAGE = "ImagePullBackOff"
INITIALISING = "PodInitializing"

HasImage = Callable[[Part, LocalContainer], bool]


@frozen
class Turn:
    """Which containers start now, by place; when the next may; and why others wait, in the words of a pod's status."""

    starts: tuple[int, ...] = ()
    due: Seconds | None = None
    waiting: str = ""


NOBODY = Turn()
"""Nobody's turn: what is to run runs."""


def turn(local: LocalPod, has_image: HasImage, timings: KubeletTimings, now: Seconds) -> Turn:
    """Whose turn it is in a pod that has been admitted."""
    if local.state == "running" and len(local.containers) == 1:
        return NOBODY
    starts: list[int] = []
    dues: list[Seconds] = []
    waiting = ""
    for place, (part, each) in enumerate(local.parts()):
        blocks = part.role == "init" or (part.role == "sidecar" and not _begun(local))
        if each.state == "running":
            if blocks and not (part.role == "sidecar" and containers.has_started(part, each, timings, now)):
                waiting = INITIALISING
                break
            continue
        if each.state == "exited" and not containers.restarts(part, each, local.spec.restart_policy):
            if part.role == "init" and each.exit_code != 0:
                break
            continue
        if each.state == "exited" and now < containers.restart_at(each):
            dues.append(containers.restart_at(each))
            waiting = _of_role(part, CRASH_LOOP)
        elif not has_image(part, each):
            waiting = _of_role(part, IMAGE)
        else:
            starts.append(place)
        if blocks:
            waiting = waiting or INITIALISING
            break
    return Turn(tuple(starts), min(dues, default=None), waiting)


def without_network(local: LocalPod) -> Turn:
    """Nobody's turn in a pod whose network is not ready: nothing is started there, for the first time or again."""
    if all(each.state == "running" for each in local.containers):
        return NOBODY
    return Turn(waiting="" if _begun(local) else CREATING)


def _begun(local: LocalPod) -> bool:
    """Whether the initialisation has been over once."""
    return any(each.state != "waiting" for part, each in local.parts() if part.role == "main")


def _of_role(part: Part, why: str) -> str:
    return why if part.role == "main" else f"Init:{why}"


def started(local: LocalPod, places: tuple[int, ...], timings: KubeletTimings, now: Seconds) -> LocalPod:
    """The pod with some of its containers started, for the first time or again."""
    after = list(local.containers)
    for place in places:
        each = after[place]
        if each.state == "exited":
            after[place] = containers.restarted(each, timings, now)
        else:
            after[place] = LocalContainer("running", now, each.restarts)
    return local.with_containers(tuple(after))


def ended(local: LocalPod, timings: KubeletTimings, now: Seconds) -> tuple[LocalPod, str] | None:
    """The pod with the containers ended whose end has come, and why; None if there is none."""
    after, why = list(local.containers), []
    for place, (part, each) in enumerate(local.parts()):
        ends = containers.exit_of(part, each, local.spec.termination_grace, timings)
        if ends is not None and ends.at <= now:
            after[place] = containers.exited(each, ends.code, timings, now)
            why.append(f"{part.name}: {ends.why}" if len(after) > 1 else ends.why)
    if not why:
        return None
    return local.with_containers(tuple(after)), "; ".join(why)


def phase_of_end(local: LocalPod) -> str:
    """Succeeded or Failed if no container that matters runs or will run again; empty otherwise."""
    mains = []
    for part, each in local.parts():
        ended_for_good = each.state == "exited" and not containers.restarts(part, each, local.spec.restart_policy)
        if part.role == "init" and ended_for_good and each.exit_code != 0:
            return "Failed"
        if part.role == "main":
            if not ended_for_good:
                return ""
            mains.append(each)
    return "Failed" if any(each.exit_code for each in mains) else "Succeeded" if mains else ""


def all_ended(local: LocalPod, code: int, timings: KubeletTimings, now: Seconds) -> LocalPod:
    """The pod with everything ended that still runs, with one exit code."""
    after = [
        containers.exited(each, code, timings, now) if each.state == "running" else each for each in local.containers
    ]
    return local.with_containers(tuple(after))


def signalled(local: LocalPod, timings: KubeletTimings, now: Seconds) -> LocalPod:
    """The pod after the stop signal: what ran has ended well where it would be started again, else by the signal."""
    return all_ended(local, 0 if local.spec.restart_policy == "Always" else TERMINATED, timings, now)


def next_change(local: LocalPod, timings: KubeletTimings, now: Seconds) -> Seconds | None:
    """When a running container next changes by itself."""
    grace = local.spec.termination_grace
    moments = [
        containers.next_change(part, each, local.forced_ready, grace, timings, now) for part, each in local.parts()
    ]
    return min((each for each in moments if each is not None), default=None)


def stop_time(local: LocalPod, grace: Seconds, timings: KubeletTimings) -> Seconds:
    """How long a pod takes to stop, in seconds: sidecars are told after the others, the last one first."""
    together, then = 0.0, 0.0
    for part, each in local.parts():
        if each.state != "running":
            continue
        time = containers.stop_time(part, grace, timings)
        if part.role == "sidecar":
            then += part.container.pre_stop + part.behaviour.stops_after
        else:
            together = max(together, time)
    return min(max(together + then, timings.stop), grace)


def image_finder(machine: Machine, registry: bool) -> HasImage:
    """Whether a container's image is on the machine or can be pulled.

    Without the registry an image is there if a container of the machine has been started from it; images that nothing
    uses any more are taken to be collected.
    """

    def has_image(part: Part, container: LocalContainer) -> bool:
        if part.behaviour.kind == "no-image":
            return False
        image = part.container.image
        if registry or not image:
            return True
        if part.container.pulls_always:
            return False
        return container.state == "exited" or image in _images(machine)

    return has_image


def _images(machine: Machine) -> set[str]:
    return {
        part.container.image
        for local in machine.pods.values()
        for part, each in local.parts()
        if each.state in ("running", "exited")
    }
