"""Resource amounts, and what one pod asks for.

Source: component-helpers `resource/helpers.go` (effective requests), `pkg/scheduler/framework/types.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen


@frozen
class Resources:
    """Amounts of resources: CPU in millicores, memory and ephemeral storage in bytes, extended ones in units."""

    cpu: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    extended: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: Resources) -> Resources:
        return Resources(
            self.cpu + other.cpu,
            self.memory + other.memory,
            self.ephemeral_storage + other.ephemeral_storage,
            _combine(self.extended, other.extended, 1),
        )

    def __sub__(self, other: Resources) -> Resources:
        return Resources(
            self.cpu - other.cpu,
            self.memory - other.memory,
            self.ephemeral_storage - other.ephemeral_storage,
            _combine(self.extended, other.extended, -1),
        )

    def largest(self, other: Resources) -> Resources:
        """The larger amount of each resource."""
        mine, theirs = dict(self.extended), dict(other.extended)
        extended = {name: max(mine.get(name, 0), theirs.get(name, 0)) for name in sorted({*mine, *theirs})}
        return Resources(
            max(self.cpu, other.cpu),
            max(self.memory, other.memory),
            max(self.ephemeral_storage, other.ephemeral_storage),
            tuple(extended.items()),
        )

    def amounts(self) -> tuple[tuple[str, int], ...]:
        """Every resource by its Kubernetes name, zero amounts too, in a fixed order."""
        return (
            ("cpu", self.cpu),
            ("memory", self.memory),
            ("ephemeral-storage", self.ephemeral_storage),
            *self.extended,
        )

    def amount(self, name: str) -> int:
        """The amount of the resource called `name`; 0 if it is not there."""
        return dict(self.amounts()).get(name, 0)


NOTHING = Resources()


def _combine(
    left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...], sign: int
) -> tuple[tuple[str, int], ...]:
    if not left and not right:
        return ()
    total = dict(left)
    for name, amount in right:
        total[name] = total.get(name, 0) + sign * amount
    return tuple(sorted((name, amount) for name, amount in total.items() if amount))


def total(amounts: Iterable[Resources]) -> Resources:
    """The sum of some amounts."""
    result = NOTHING
    for each in amounts:
        result = result + each
    return result


@frozen
class Capacity:
    """What a node can hold: resources and the number of pods."""

    resources: Resources
    pods: int = 110


@frozen
class Usage:
    """What is held on a node: summed requests, number of pods, and host ports as (address, protocol, port)."""

    requests: Resources = NOTHING
    nonzero_cpu: int = 0
    nonzero_memory: int = 0
    pods: int = 0
    ports: tuple[tuple[str, str, int], ...] = ()


NO_USAGE = Usage()
