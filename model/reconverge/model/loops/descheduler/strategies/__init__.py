"""The strategies of the descheduler, one file each."""

from __future__ import annotations

from reconverge.model.loops.descheduler.policy import DeschedulerPolicy
from reconverge.model.loops.descheduler.strategies.duplicates import RemoveDuplicates
from reconverge.model.loops.descheduler.strategies.node_affinity import RemovePodsViolatingNodeAffinity
from reconverge.model.loops.descheduler.strategies.spread import RemovePodsViolatingTopologySpreadConstraint
from reconverge.model.loops.descheduler.strategies.strategy import Strategy
from reconverge.model.loops.descheduler.strategies.utilization import LowNodeUtilization


def strategies_of(policy: DeschedulerPolicy) -> tuple[Strategy, ...]:
    """The strategies that a policy switches on: those that only remove come before those that balance."""
    found: list[Strategy] = []
    if policy.node_affinity is not None:
        found.append(RemovePodsViolatingNodeAffinity(policy.node_affinity))
    if policy.duplicates is not None:
        found.append(RemoveDuplicates(policy.duplicates))
    if policy.low_utilization is not None:
        found.append(LowNodeUtilization(policy.low_utilization))
    if policy.spread is not None:
        found.append(RemovePodsViolatingTopologySpreadConstraint(policy.spread))
    return tuple(found)


__all__ = [
    "LowNodeUtilization",
    "RemoveDuplicates",
    "RemovePodsViolatingNodeAffinity",
    "RemovePodsViolatingTopologySpreadConstraint",
    "Strategy",
    "strategies_of",
]
