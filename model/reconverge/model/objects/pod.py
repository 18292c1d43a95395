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

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})


@frozen
class Behaviour:
    """How the containers of a pod behave; the model's stand-in for the program inside.

    `kind` is ready, never-ready, not-ready-first, exit-0, exit-1 or crashes. Durations are seconds: `serves_after`
    from ready to really serving, `stops_after` from the stop signal to the exit (never more than the grace
    period), `exits_after` from start to exit for exit-0, exit-1 and crashes.
    """

    kind: str = "ready"
    serves_after: Seconds = 0
    stops_after: Seconds = 0
    exits_after: Seconds = 1


@frozen
class Container:
    """One container of a pod: requests, and what the kubelet has to know of it."""

    name: str
    requests: Resources = NOTHING
    limits: Resources = NOTHING
    host_ports: tuple[tuple[str, str, int], ...] = ()
    """(address, protocol, port) of each hostPort."""
    restart_policy: str = ""
    """`Always` on an init container makes it a sidecar."""
    probes: frozenset[str] = frozenset()
    """Which of readiness, liveness and startup probes it has."""


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
    restart_policy: str = "Always"
    scheduler_name: str = "default-scheduler"
    scheduling_gates: tuple[str, ...] = ()
    host_network: bool = False
    volumes: tuple[str, ...] = ()
    """Kinds of the pod's volumes that matter to others, such as `emptyDir` and `hostPath`."""
    claims: tuple[str, ...] = ()
    """Names of the PersistentVolumeClaims that the pod mounts."""
    behaviour: Behaviour = Behaviour()
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
    waiting: str = ""
    """Why the container waits, such as CrashLoopBackOff."""
    grace: Seconds | None = None
    """deletionGracePeriodSeconds once the deletion has begun."""
    disruption_target: str = ""
    """Reason of the DisruptionTarget condition, such as EvictionByEvictionAPI."""
    unscheduled: tuple[str, str] | None = None
    """(reason, message) of PodScheduled=False."""
    finalizers: tuple[str, ...] = ()
    exit_codes: tuple[tuple[str, int], ...] = ()
    """(container, exit code) of each container of a finished pod; reported with the terminal phase."""

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
    def deletion_cost(self) -> int:
        """The pod-deletion-cost annotation; 0 if it is absent or no number."""
        try:
            return int(label(self.annotations, DELETION_COST) or 0)
        except ValueError:
            return 0


def pod_selector_matches(selector: Selector | None, pod: Pod) -> bool:
    """Whether a selector that may be absent matches the pod; an absent one matches nothing."""
    return selector is not None and selector.matches(pod.labels)
