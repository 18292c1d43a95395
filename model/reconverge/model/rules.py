"""The rules of one Kubernetes version: timers, and switches for behaviour that changed or can be turned off.

Source: `cmd/kube-controller-manager/app/options/`, `pkg/controller/nodelifecycle/node_lifecycle_controller.go`,
`pkg/controller/podgc/gc_controller.go`, kubectl `pkg/drain/drain.go`; each field names its own.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.value import Seconds, Value

OLDEST = (1, 25)
NEWEST = (1, 36)
DEFAULT_VERSION = "1.34"


@frozen(cache_hash=True)
class KubeletTimings:
    """How long a kubelet takes, in seconds; the defaults make everything on a living machine immediate."""

    admission: Seconds = 0
    start: Seconds = 0
    """From the admission of a pod to the start of its first containers; a restart in place does not take it again."""
    stop: Seconds = 0
    stop_not_started: Seconds = 0
    release: Seconds = 0
    """From the end of a pod that the API shows to the release of what it held; more than 0 only before 1.24, as since
    then the end is reported last."""
    ready_late: Seconds = 2
    """From Running to Ready for the behaviour not-ready-first."""
    node_ready: Seconds = 0
    """From registration of a joining node to its Ready."""
    node_report: Seconds = 10
    """From the moment at which a kubelet knows of pressure to its report of it (nodeStatusUpdateFrequency)."""
    eviction_period: Seconds = 10
    """Between two passes of the eviction manager, each of which evicts one pod at most."""
    pressure_transition: Seconds = 300
    """For so long a condition stays after the pressure has ended (evictionPressureTransitionPeriod)."""
    pressure_rejection: Seconds = 1
    """From the creation of a pod to its rejection for pressure: what bounds a burst before the taint is there."""
    shutdown_grace: Seconds = 0
    """For so long a node that is shut down waits for its pods (shutdownGracePeriod); 0 is the default, no grace."""
    shutdown_grace_critical: Seconds = 0
    """The last part of it, kept for critical pods (shutdownGracePeriodCriticalPods)."""
    crash_backoff_first: Seconds = 10
    crash_backoff_most: Seconds = 300
    crash_backoff_reset: Seconds = 600


@frozen
class AutoscalerSettings:
    """Settings of the horizontal autoscaler in seconds (`pkg/controller/podautoscaler/config/v1alpha1/defaults.go`)."""

    period: Seconds = 15
    tolerance: float = 0.1
    """How far from 1 a ratio may be without effect."""
    tolerance_by_distance: bool = False
    """Up to 1.32 the distance of a ratio from 1 is compared, so that a ratio of 1.1 is just beyond 0.1."""
    own_tolerances: bool = False
    """Whether an autoscaler's own tolerances count (1.35 on)."""
    downscale_window: Seconds = 300
    cpu_initialization: Seconds = 300
    """For so long after its start a pod's CPU counts only if it is ready and has a whole sample since."""
    initial_readiness: Seconds = 30
    """A pod that is not ready and last changed within this of its start has never been ready."""
    metric_window: Seconds = 15
    """The time that one sample covers: the resolution of the metrics server."""
    pod_level_requests: bool = True
    """Whether pod-level requests count (1.34 on)."""
    ambiguous_selectors: bool = True
    """Whether an autoscaler stands still whose pods another one selects, too (1.26 on)."""


@frozen
class Rules(Value):
    """Everything that a version or a setting decides. Times in seconds, rates per second."""

    version: str = DEFAULT_VERSION
    node_monitor_period: Seconds = 5
    node_monitor_grace: Seconds = 50
    """50 since 1.31, 40 before (node-lifecycle)."""
    default_toleration: Seconds = 300
    """tolerationSeconds that admission adds for not-ready and unreachable (plugin defaulttolerationseconds)."""
    eviction_rate: float = 0.1
    secondary_eviction_rate: float = 0.01
    unhealthy_zone_threshold: float = 0.55
    large_zone: int = 50
    """Zones with more nodes keep the secondary eviction rate when partially disrupted."""
    gc_period: Seconds = 20
    gc_quarantine: Seconds = 40
    terminated_pods_kept: int = 12500
    drain_retry: Seconds = 5
    disrupted_pod_lifetime: Seconds = 120
    expectations_timeout: Seconds = 300
    scheduler_backoff_first: Seconds = 1
    scheduler_backoff_most: Seconds = 10
    burst_replicas: int = 500
    kubelet: KubeletTimings = KubeletTimings()
    evict_unready_pods: str = "healthy-budget"
    """`healthy-budget`: an unready pod may go while the budget is met; `budget-always`: the rule before 1.22 counts
    every pod against the budget."""
    autoscaler: AutoscalerSettings = AutoscalerSettings()
    autoscaler_base: str = "spec"
    """What the autoscaler takes for the present count: `spec` is spec.replicas, `status` the rule before 1.16, under
    which it is status.replicas with the surplus pods of a rollout."""
    autoscaler_expander: str = "least-waste"
    """How the cluster autoscaler chooses a group, unless its settings say: random before 1.33, least-waste since."""
    autoscaler_cordons: bool = True
    """Whether the cluster autoscaler cordons a node that it removes, unless its settings say (1.34 on)."""
    balanced_allocation_of_best_effort: bool = False
    """Whether nodes are scored for pods that ask for nothing by how evenly they are used (before 1.34)."""
    budget_status_recomputed: bool = True
    """Whether the disruption controller computes a budget's status anew when its write was refused (1.17 on). Before,
    it wrote what it had computed over the evictions that had come in between."""
    daemonset_counts_old_unavailable: bool = True
    """Whether a rollout counts old pods that are not available against a DaemonSet's maxUnavailable (1.31 on, and the
    last patches of 1.28 to 1.30). Before, each bad update takes one available pod more."""
    job_end_waits_for_pods: bool = True
    """Whether a Job is Complete or Failed only when its pods have ended, after an interim condition (1.31 on)."""
    job_pods_tracked: bool = True
    """Whether the pods of a Job are counted once and for good, held by a finalizer until then (1.23 on). Before, the
    counters were those of the pods that were still there; failures have no back-off then."""
    job_replacement_policy: bool = True
    """Whether a Job's podReplacementPolicy counts (1.29 on)."""
    message_mentions_claims: bool = True
    """Whether PodScheduled=False has a sentence of dynamic resource allocation (1.34 on)."""
    message_names_taints: bool = False
    """Whether PodScheduled=False names the taint that was not tolerated (before 1.34)."""
    message_names_volume_affinity: bool = True
    """Whether PodScheduled=False speaks of the node affinity of volumes in the words of 1.33."""
    pod_level_resources: bool = True
    """Whether the API server keeps resources of a whole pod (1.34 on)."""
    scheduler_waits_for_backoff: bool = False
    """Whether a pod in back-off is left there though the scheduler is idle (before 1.33)."""
    spread_inclusion_policies: bool = True
    """Whether nodeAffinityPolicy and nodeTaintsPolicy of a spread constraint count (1.26 on)."""
    spread_match_label_keys: bool = True
    """Whether matchLabelKeys of a spread constraint count (1.27 on)."""
    spread_min_domains: bool = True
    """Whether minDomains of a spread constraint counts (1.27 on)."""
    stale_cache_guard: bool = False
    """Whether ReplicaSet, DaemonSet, StatefulSet and Job wait until they see what they have written (1.36 on)."""
    statefulset_max_unavailable: bool = False
    """Whether maxUnavailable of a StatefulSet counts: off by default in every version."""
    taint_eviction_cancelled: bool = True
    """Whether a planned eviction is cancelled when the taints that are left are tolerated for ever (1.20 on). Before,
    only the end of all NoExecute taints cancelled it."""
    terminating_replicas: bool = False
    """Whether ReplicaSet and Deployment report status.terminatingReplicas (1.35 on)."""
    unhealthy_pod_eviction_policy: bool = True
    """Whether unhealthyPodEvictionPolicy of a budget counts (1.27 on)."""

    @classmethod
    def for_version(cls, version: str) -> Rules:
        """The rules of a version such as "1.34". Raises ValueError for one that is not known."""
        number = _parse(version)
        return cls(
            version=version,
            node_monitor_grace=50 if number >= (1, 31) else 40,
            autoscaler_cordons=number >= (1, 34),
            autoscaler_expander="least-waste" if number >= (1, 33) else "random",
            balanced_allocation_of_best_effort=number < (1, 34),
            daemonset_counts_old_unavailable=number >= (1, 31),
            job_end_waits_for_pods=number >= (1, 31),
            job_replacement_policy=number >= (1, 29),
            message_mentions_claims=number >= (1, 34),
            message_names_taints=number < (1, 34),
            message_names_volume_affinity=number >= (1, 33),
            pod_level_resources=number >= (1, 34),
            scheduler_waits_for_backoff=number < (1, 33),
            spread_inclusion_policies=number >= (1, 26),
            spread_match_label_keys=number >= (1, 27),
            spread_min_domains=number >= (1, 27),
            stale_cache_guard=number >= (1, 36),
            terminating_replicas=number >= (1, 35),
            unhealthy_pod_eviction_policy=number >= (1, 27),
            autoscaler=AutoscalerSettings(
                tolerance_by_distance=number < (1, 33),
                own_tolerances=number >= (1, 35),
                pod_level_requests=number >= (1, 34),
                ambiguous_selectors=number >= (1, 26),
            ),
        )


def _parse(version: str) -> tuple[int, int]:
    try:
        major, minor = version.removeprefix("v").split(".")[:2]
        number = int(major), int(minor)
    except ValueError:
        raise ValueError(f"{version!r} is not a Kubernetes version; write it like 1.34") from None
    if not OLDEST <= number <= NEWEST:
        raise ValueError(
            f"Kubernetes {version} is not known; known are {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        )
    return number
