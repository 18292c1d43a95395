"""Zones as the node lifecycle controller keeps them: how many nodes are well, and how fast it may taint them.

Source: `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (ComputeZoneState, handleDisruption,
setLimiterInZone), `pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go` (SwapLimiter),
component-helpers `node/topology/helpers.go` (GetZoneKey).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.labels import label
from reconverge.model.loops.node_lifecycle.taints import awaits_no_execute
from reconverge.model.objects import Node
from reconverge.model.objects.node import REGION
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.value import Seconds, Value

INITIAL = "Initial"
NORMAL = "Normal"
PARTIAL = "PartialDisruption"
FULL = "FullDisruption"

EXCLUDE_DISRUPTION = "node.kubernetes.io/exclude-disruption"
"""Label of nodes that are not counted when a zone's state is computed."""


def zone_of(node: Node) -> str:
    """The zone key of a node, `region:zone`; ":" for nodes without both labels."""
    return f"{label(node.labels, REGION) or ''}:{node.zone}"


@frozen
class Standing:
    """What of a node the zones depend on."""

    zone: str
    counted: bool
    ready: bool
    waiting: bool
    """Whether it waits for a NoExecute taint."""


def standing_of(node: Node) -> Standing:
    """The standing of a node."""
    counted = label(node.labels, EXCLUDE_DISRUPTION) is None
    return Standing(zone_of(node), counted, node.ready == "True", awaits_no_execute(node))


@frozen
class Zone(Value):
    """One zone: counts of its nodes, its state, its token bucket of one token, and who waits for a token.

    `rate` is nodes per second; 0 means that nobody is tainted. `token_at` is when the token is there.
    """

    rate: float
    members: int = 0
    counted: int = 0
    not_ready: int = 0
    state: str = INITIAL
    token_at: Seconds = 0
    waiting: Map[str, None] = EMPTY

    def may_taint(self, now: Seconds) -> bool:
        """Whether somebody waits and the token is there."""
        return self.rate > 0 and self.token_at <= now and len(self.waiting) > 0

    def next_token(self) -> Seconds | None:
        """When the next node may be tainted; None if nobody waits, or nobody is tainted."""
        return self.token_at if self.rate > 0 and self.waiting else None

    def without_token(self, now: Seconds) -> Zone:
        """The zone after its token was taken."""
        return self.with_(token_at=now + 1 / self.rate)

    def at_rate(self, rate: float, now: Seconds) -> Zone:
        """The zone with another rate. The new bucket is empty if the old one was, or let nobody through."""
        if rate == self.rate:
            return self
        if rate <= 0:
            return self.with_(rate=0.0, token_at=0)
        had_token = self.rate > 0 and self.token_at <= now
        return self.with_(rate=rate, token_at=now if had_token else now + 1 / rate)

    def counting(self, name: str, standing: Standing, sign: int) -> Zone:
        """The zone with a node added (`sign` 1) or taken out (-1)."""
        waiting = self.waiting.discard(name)
        return self.with_(
            members=self.members + sign,
            counted=self.counted + (sign if standing.counted else 0),
            not_ready=self.not_ready + (sign if standing.counted and not standing.ready else 0),
            waiting=waiting.set(name, None) if sign > 0 and standing.waiting else waiting,
        )


Zones = Map[str, Zone]


def recounted(zones: Zones, name: str, before: Standing | None, after: Standing | None, rate: float) -> Zones:
    """The zones after a node changed; `rate` is the rate of a zone that is new. Zones without nodes are dropped."""
    if before is not None:
        left = zones[before.zone].counting(name, before, -1)
        zones = zones.set(before.zone, left)
    if after is not None:
        zone = zones.get(after.zone)
        zones = zones.set(after.zone, (zone or Zone(rate)).counting(name, after, 1))
    if before is not None and zones[before.zone].members == 0:
        zones = zones.delete(before.zone)
    return zones
