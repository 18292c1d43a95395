"""What invariants are judged on: a situation, a step between two, and the quiet run at the end.

Besides the cluster they know what the start was and which events have happened, so that an invariant can tell a
rollout's doing from a failure's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.events import Event
from reconverge.model.store import Change, Store

Outcome = Literal["rest", "loop", "growth", "unfinished"]


@frozen
class Situation:
    """A cluster at one moment of a run, and the events that have struck so far, in order."""

    cluster: Cluster
    events: tuple[Event, ...] = ()
    start: Cluster | None = None
    """The cluster before the first event, or None while it is being set up."""

    @property
    def store(self) -> Store:
        """The API objects."""
        return self.cluster.store


@frozen
class Step:
    """One step: what was done, by whom, and the cluster before and after it.

    `event` is set if the environment or an operator did it, `action` if a control loop wrote it (both None when only
    time passed). `actor` is the loop's name, "environment", or "time".
    """

    before: Situation
    after: Situation
    actor: str
    changes: tuple[Change, ...] = ()
    event: Event | None = None
    action: Action | None = None


@frozen
class Quiet:
    """The end of the quiet run after the last event: everything at rest, or a loop, or growth without end.

    `before` is the situation just after the last event; `repeating` are the steps of one round of a loop, as
    (actor, action) pairs, empty at rest.
    """

    before: Situation
    after: Situation
    outcome: Outcome = "rest"
    repeating: tuple[tuple[str, Action], ...] = ()
    facts: Mapping[str, Any] = field(factory=dict)

    @property
    def cluster(self) -> Cluster:
        """The cluster at the end."""
        return self.after.cluster

    @property
    def store(self) -> Store:
        """The API objects at the end."""
        return self.after.cluster.store

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the run."""
        return self.after.events
