"""The cluster autoscaler's flags, with their defaults.

Source: autoscaler `cluster-autoscaler/config/const.go`, `cluster-autoscaler/config/flags/flags.go`,
`cluster-autoscaler/clusterstate/clusterstate.go`, `cluster-autoscaler/core/static_autoscaler.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.rules import Rules
from reconverge.model.value import Seconds, Value

LEAST_WASTE, RANDOM = "least-waste", "random"


@frozen
class AutoscalerOptions(Value):
    """Times in seconds. An empty `expander` and a `cordon` of None stand for what the version does."""

    scan: Seconds = 10
    unneeded: Seconds = 600
    """How long a node must be unneeded before it is removed (scale-down-unneeded-time)."""
    unready: Seconds = 1200
    """The same for a node that is not ready (scale-down-unready-time)."""
    threshold: float = 0.5
    """Highest utilisation of a node that may be removed (scale-down-utilization-threshold)."""
    after_add: Seconds = 600
    after_failure: Seconds = 180
    after_delete: Seconds = 0
    provision: Seconds = 900
    """How long a new node may take to come (max-node-provision-time)."""
    startup: Seconds = 900
    """How long a node that is not ready counts as starting after its creation."""
    taint_delay: Seconds = 5
    eviction_retry: Seconds = 10
    eviction: Seconds = 120
    """How long evictions are tried for (max-pod-eviction-time)."""
    graceful: Seconds = 600
    """Longest grace period that an evicted pod gets (max-graceful-termination-sec)."""
    headroom: Seconds = 30
    poll: Seconds = 5
    backoff_first: Seconds = 300
    backoff_most: Seconds = 1800
    backoff_reset: Seconds = 10800
    pod_age: Seconds = 2
    """While all pods to help are younger, one more look is waited for."""
    system_pods: Seconds = 3600
    """Age from which pods of kube-system that no budget covers hold up a node no longer."""
    nodes_total: int = 0
    """Most nodes of the cluster; 0 for no bound."""
    parallel: int = 10
    parallel_drains: int = 1
    soft_taints: int = 10
    """How many nodes are marked as candidates, or unmarked, in one scan; 0 for never."""
    unready_count: int = 3
    unready_percent: int = 45
    cutoff: int = -10
    """Pods of lower priority neither trigger nor hold up anything."""
    expander: str = ""
    cordon: bool | None = None
    ignores: tuple[str, ...] = ()
    """What the simulation does not know of the scheduler's rules; see `simulation.IGNORABLE`."""
    removal_ignores: tuple[str, ...] = ()
    """What it does not know besides when it thinks of removing nodes."""

    def expands(self, rules: Rules) -> str:
        """The expander: least-waste by default since 1.33, random before."""
        return self.expander or rules.autoscaler_expander

    def cordons(self, rules: Rules) -> bool:
        """Whether a node that is to go is also cordoned: by default since 1.34."""
        return rules.autoscaler_cordons if self.cordon is None else self.cordon
