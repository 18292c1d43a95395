"""Pod: what runs, where, and how far it has come.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/v1/defaults.go`, `pkg/controller/controller_utils.go` (predicates).
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Labels, Selector, label
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.placement import Affinity, Toleration, TopologySpreadConstraint
from reconverge.model.resources import NOTHING, Resources
from reconverge.model.value import Seconds, Value

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a mirror pod: its node runs it from a file."""
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})


BEHAVIOURS = {
    "ready": "runs and answers its probes; the default",
    "never-ready": "runs, and its readiness probe never succeeds",
    "not-ready-first": "is ready a little after its start (rule kubelet-ready-late)",
    "exit-0": "ends well after exits-after",
    "exit-1": "is ready, and ends with an error after exits-after",
    "crashes": "is never ready, and ends with an error after exits-after",
    "hangs": "runs on after exits-after, and answers no probe any more",
    "out-of-memory": "exceeds its memory limit after exits-after, and is killed",
    "no-image": "cannot be started: its image cannot be pulled",
}
"""What the program in a container may be like."""


@frozen
class Behaviour:
    """How a container behaves; the model's stand-in for the program inside.

    `kind` is one of BEHAVIOURS. Durations are seconds: `starts_after` from start to the first answer to a probe,
    `serves_after` from ready to really serving, `stops_after` from the stop signal to the exit (never more than the
    grace period), `exits_after` from start to what the kind says. `memory` and `disk` are what the container uses, in
    bytes; None for what it asks for. One that uses more memory than its limit is killed after `exits_after`.
    """

    kind: str = "ready"
    serves_after: Seconds = 0
    stops_after: Seconds = 0
    exits_after: Seconds = 1
    starts_after: Seconds = 0
    memory: int | None = None
    disk: int | None = None


@frozen
class Probe:
    """A probe of a container; seconds, and numbers of results in a row. Defaults: `pkg/apis/core/v1/defaults.go`."""

    initial_delay: Seconds = 0
    period: Seconds = 10
    success: int = 1
    failure: int = 3


@frozen
class Container(Value):
    """One container of a pod: requests, and what the kubelet has to know of it."""

    name: str
    requests: Resources = NOTHING
    limits: Resources = NOTHING
    host_ports: tuple[tuple[str, str, int], ...] = ()
    """(address, protocol, port) of each hostPort."""
    restart_policy: str = ""
    """`Always` on an init container makes it a sidecar."""
    readiness: Probe | None = None
    liveness: Probe | None = None
    startup: Probe | None = None
    pre_stop: Seconds = 0
    """How long the preStop hook takes, as far as it is known: it comes before the stop signal."""
    image: str = ""
    pulls_always: bool = False
    """Whether every start asks the registry for the image (imagePullPolicy Always)."""
    behaviour: Behaviour | None = None
    """What is said of this container alone; None for what is said of its pod, or is usual for its role."""


@frozen(cache_hash=True)
class PodSpec(Value):
    """The part of a pod that its author writes; shared by all pods of one template."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Resources = NOTHING
    pod_requests: tuple[tuple[str, int], ...] = ()
    """Pod-level requests by resource name; each replaces the containers' sum for that resource."""
    node_name: str | None = None
    node_selector: Labels = ()
    affinity: Affinity = Affinity()
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[TopologySpreadConstraint, ...] = ()
    priority_class: str = ""
    priority: int = 0
    preemption_policy: str = "PreemptLowerPriority"
    termination_grace: Seconds = 30
    active_deadline: Seconds | None = None
    """For so long the pod may be active on its node before its kubelet fails it; None for no limit."""
    restart_policy: str = "Always"
    scheduler_name: str = "default-scheduler"
    scheduling_gates: tuple[str, ...] = ()
    host_network: bool = False
    volumes: tuple[str, ...] = ()
    """Kinds of the pod's volumes that matter to others, such as `emptyDir` and `hostPath`."""
    claims: tuple[str, ...] = ()
    """Names of the PersistentVolumeClaims that the pod mounts."""
    behaviour: Behaviour = Behaviour()
    """How the containers that are not init containers behave, where nothing is said of one alone."""
    requests: Resources = NOTHING
    """The effective request, computed once by `reconverge.model.requests.effective`."""


@frozen(cache_hash=True)
class PodTemplate(Value):
    """A workload's pod template. `digest` identifies its content: equal digests are equal templates."""

    labels: Labels = ()
    annotations: Labels = ()
    spec: PodSpec = PodSpec()
    digest: str = ""


@frozen(kw_only=True)
class Pod(ApiObject):
    """A pod as the API knows it; what really runs is in `reconverge.model.machines`."""

    kind: ClassVar[str] = "Pod"

    spec: PodSpec = PodSpec()
    template_digest: str = ""
    node: str | None = None
    """spec.nodeName: written once, by a binding or at creation."""
    nominated_node: str | None = None
    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    ready: bool = False
    ready_since: Seconds = 0
    """When the Ready condition last changed."""
    started_at: Seconds | None = None
    """status.startTime: when the kubelet took the pod in."""
    restarts: int = 0
    """The most restarts of a container that is not an init container."""
    sidecar_restarts: int = 0
    """The most restarts of a sidecar."""
    restarts_beside: int = 0
    """The restarts of all containers but those that `restarts` counts."""
    exit_codes: tuple[tuple[str, int], ...] = ()
    """(container, exit code) of each container of a finished pod; reported with the terminal phase."""
    waiting: str = ""
    """Why a container waits, such as CrashLoopBackOff."""
    grace: Seconds | None = None
    """deletionGracePeriodSeconds once the deletion has begun."""
    disruption_target: str = ""
    """Reason of the DisruptionTarget condition, such as EvictionByEvictionAPI."""
    unscheduled: tuple[str, str] | None = None
    """(reason, message) of PodScheduled=False."""
    finalizers: tuple[str, ...] = ()

    @property
    def terminal(self) -> bool:
        """Whether the phase is Succeeded or Failed."""
        return self.phase in TERMINAL_PHASES

    @property
    def active(self) -> bool:
        """Whether controllers count the pod: neither terminal nor being deleted."""
        return self.deletion_at is None and self.phase not in TERMINAL_PHASES

    def available(self, min_ready: Seconds, now: Seconds) -> bool:
        """Whether the pod has been ready for `min_ready` seconds; does not look at deletion."""
        return self.ready and (min_ready == 0 or self.ready_since + min_ready <= now)

    @property
    def restarts_in_all(self) -> int:
        """The restarts of all containers together."""
        return self.restarts + self.restarts_beside

    @property
    def deletion_cost(self) -> int:
        """The pod-deletion-cost annotation; 0 if it is absent or no number."""
        try:
            return int(label(self.annotations, DELETION_COST) or 0)
        except ValueError:
            return 0


def pod_selector_matches(selector: Selector | None, pod: Pod) -> bool:
    """Whether a selector that may be absent matches the pod; an absent one matches nothing."""
    return selector is not None and selector.matches(pod.labels)
