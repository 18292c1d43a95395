"""The stock invariants: what people expect of any cluster, and of the configuration that they wrote.

`stock()` has them all in the fixed order of `STOCK`: laws and objectives of single steps and states first, then those
of the quiet run, then those of the whole exploration. Ids are stable.
"""

from __future__ import annotations

from reconverge.invariants.kinds import Invariant, Registry
from reconverge.invariants.stock import (
    attachments,
    autoscaling,
    budgets,
    containers,
    cronjobs,
    drains,
    endpoints,
    evictions,
    ingress,
    jobs,
    kills,
    machines,
    namespaces,
    node_groups,
    ordinals,
    ownership,
    pending,
    placement,
    readiness,
    rest,
    restoration,
    rollout_ends,
    rollouts,
    routes,
    scaling,
    services,
    settled,
    surplus,
    traffic,
    witnesses,
)

STOCK: tuple[Invariant, ...] = (
    machines.pod_on_one_node,
    machines.requests_within_capacity,
    placement.placement_honoured,
    placement.admission_agrees,
    budgets.budget_honoured,
    budgets.budget_kept,
    rollouts.rollout_ceiling,
    rollouts.rollout_ceiling_terminating,
    rollouts.rollout_floor,
    ownership.one_controller,
    ordinals.ordered_pods,
    jobs.job_accounting,
    cronjobs.cronjob_concurrency,
    readiness.readiness_true,
    containers.containers_start_in_turn,
    attachments.disk_on_one_node,
    attachments.claims_kept,
    attachments.ordinals_have_claims,
    namespaces.quota_honoured,
    namespaces.limits_honoured,
    autoscaling.autoscaler_bounds,
    autoscaling.scaling_has_cause,
    scaling.scaling_within_policy,
    kills.no_unprovoked_kill,
    evictions.eviction_in_order,
    placement.removal_has_room,
    node_groups.drained_before_removed,
    drains.moved_once,
    services.service_available,
    traffic.service_reachable,
    traffic.no_request_lost,
    traffic.traffic_reaches_pods,
    restoration.replicas_restored,
    surplus.no_surplus,
    rollout_ends.rollout_completes,
    jobs.job_completes,
    jobs.job_succeeds,
    cronjobs.cronjob_runs,
    cronjobs.cronjob_history,
    drains.drain_completes,
    pending.pending_pods_placed,
    settled.placement_at_rest,
    autoscaling.autoscaler_settles,
    node_groups.unneeded_nodes_removed,
    ingress.ingress_served,
    endpoints.endpoints_true,
    routes.routes_converge,
    ownership.orphans_removed,
    rest.no_livelock,
    rest.bounded_churn,
    witnesses.some_rollout_completes,
    witnesses.some_drain_completes,
)
"""Every stock invariant, in the order in which they are listed and judged."""

__all__ = ["STOCK", "stock"]


def stock() -> Registry:
    """A registry of all stock invariants. Those with `default` False are checked only where a scenario names them."""
    return Registry(STOCK)
