"""What a description of node pools comes to, and what its readers share."""

from __future__ import annotations

from attrs import frozen

from reconverge.loading.errors import Note, quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.loading.instances import EKS, Instance, instance
from reconverge.loading.pools import EXAMPLE, NodePool

INSTEAD = f"describe the nodes instead: nodePools of a scenario with allocatable, or --nodes {EXAMPLE}"
"""What to do about a pool whose machines are not known."""


@frozen
class Described:
    """Node pools, and remarks on what was assumed of them. `cluster` is the name of the cluster they belong to."""

    pools: tuple[NodePool, ...] = ()
    remarks: tuple[Note, ...] = ()
    cluster: str = ""

    def __add__(self, other: Described) -> Described:
        return Described((*self.pools, *other.pools), (*self.remarks, *other.remarks), other.cluster or self.cluster)


def known_machine(fields: Fields, key: str, name: str) -> Instance:
    """The machine type of that name, which stands at a key. Raises LoadError that says what to write instead."""
    machine = instance(name)
    if machine is None:
        raise fields.error(f'"{name}" is not a known machine type; {INSTEAD}', key, quoted_nearest(name, EKS))
    return machine


def sizes(
    fields: Fields, names: tuple[str, str, str], minimum: int | None, maximum: int | None, count: int | None
) -> None:
    """Raises LoadError unless minimum <= count <= maximum, as far as they are given; `names` are those of the three."""
    for low, high, low_name, high_name in (
        (minimum, maximum, names[0], names[1]),
        (minimum, count, names[0], names[2]),
        (count, maximum, names[2], names[1]),
    ):
        if low is not None and high is not None and low > high:
            raise fields.error(f"{low_name} ({low}) must not be more than {high_name} ({high})".strip())
