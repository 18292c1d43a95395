"""What a machine runs short of, and what its kubelet makes of that before anybody else hears of it.

Source: `pkg/kubelet/eviction/{eviction_manager,helpers}.go`.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from reconverge.model.rules import KubeletTimings
from reconverge.model.value import Seconds, Value

CONDITIONS = {"memory": "MemoryPressure", "disk": "DiskPressure", "pid": "PIDPressure"}
"""The condition of a node by the resource that is short, in the order in which a kubelet relieves them."""


@frozen
class Strain(Value):
    """What a kubelet remembers of pressure on its machine.

    `known` are the conditions that it holds for true, `changed` is when they last changed. `ended` has the resources
    that are no longer short, and since when: their conditions stay for the transition period.
    """

    known: frozenset[str] = frozenset()
    changed: Seconds = 0
    ended: tuple[tuple[str, Seconds], ...] = ()
    evicts_at: Seconds = 0
    """When the next pass that may evict a pod is due."""

    def begun(self, resource: str, now: Seconds) -> Strain:
        """As it is known when a resource becomes short."""
        known = self.known | {CONDITIONS[resource]}
        ended = tuple(each for each in self.ended if each[0] != resource)
        return self.with_(known=known, changed=self.changed if known == self.known else now, ended=ended)

    def over(self, resource: str, now: Seconds) -> Strain:
        """As it is known when a resource is no longer short."""
        return self.with_(ended=tuple(sorted((*self.ended, (resource, now)))))

    def lapsed(self, timings: KubeletTimings, now: Seconds) -> Strain:
        """Without the conditions whose transition period is over."""
        gone = tuple(each for each in self.ended if each[1] + timings.pressure_transition <= now)
        if not gone:
            return self
        known = self.known - {CONDITIONS[resource] for resource, _ in gone}
        return self.with_(known=known, changed=now, ended=tuple(each for each in self.ended if each not in gone))

    def relative(self, timings: KubeletTimings, now: Seconds) -> tuple[Any, ...]:
        """Its content with moments as what is left until then."""
        return (
            sorted(self.known),
            max(0, self.changed + timings.node_report - now),
            [(resource, at - now) for resource, at in self.ended],
            max(0, self.evicts_at - now),
        )
