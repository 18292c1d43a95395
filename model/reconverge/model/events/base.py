"""What an event is: something that the environment or an operator does to the cluster, with a stable name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import fields, frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.objects import ApiObject
from reconverge.model.value import Value

if TYPE_CHECKING:
    from reconverge.model.control_plane import ControlPlane

Options = Mapping[str, Any]
"""Arguments that a scenario fixes for an event kind; a list is a choice."""


@frozen
class Event(Value):
    """One thing that happens. Fields name objects by stable symbols, so that an event means the same anywhere."""

    name: ClassVar[str]
    """As scenarios write it, in kebab-case."""
    summary: ClassVar[str]
    """What it is, for `list events`."""
    voluntary: ClassVar[bool] = False
    """Whether an operator does it on purpose (a disruption that budgets may restrain)."""
    failure: ClassVar[bool] = False
    """Whether it is a failure of the environment."""
    allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The words that an argument may be, where they are few."""

    def enabled(self, cluster: Cluster) -> bool:
        """Whether it can happen now."""
        raise NotImplementedError

    def apply(self, cluster: Cluster) -> Written:
        """The cluster just after it, and the changes that watches will deliver."""
        raise NotImplementedError

    def strike(self, plane: ControlPlane, cluster: Cluster) -> Written:
        """The cluster after the event with its watches delivered. Only events of the loops themselves override it."""
        after, changes = self.apply(cluster)
        return plane.notify(after, changes), changes

    def describe(self) -> str:
        """A clause for people: "node n1 crashes"."""
        raise NotImplementedError

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """The events of this kind that make sense now, with the arguments that `options` leaves open."""
        raise NotImplementedError

    def arguments(self) -> dict[str, Any]:
        """The arguments by name, as a scenario writes them; those at their defaults are left out."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(type(self))
            if getattr(self, field.name) != field.default
        }

    def __str__(self) -> str:
        return self.describe()


def choices(options: Options, name: str, otherwise: Any) -> list[Any]:
    """What an argument may be: what the options fix (a list is a choice), or else all of `otherwise`."""
    given = options.get(name)
    if given is None:
        return list(otherwise)
    return list(given) if isinstance(given, (list, tuple)) else [given]


def edited(cluster: Cluster, before: ApiObject, **changes: Any) -> Written:
    """The cluster with an object's spec changed by a person or tool; its generation goes up."""
    after = before.with_(**changes, generation=before.generation + 1)
    store, change = cluster.store.put(after)
    return cluster.with_(store=store), (change,)


def combined(first: Written, then: Written) -> Written:
    """Two writes as one: the second was made from the cluster after the first."""
    return then[0], (*first[1], *then[1])
