"""The keys that one level of an object may have, and what becomes of each.

Source: the field lists of the API types that each decoder names.
"""

from __future__ import annotations

from attrs import frozen


@frozen
class Schema:
    """The keys of one level of an object. An `open` one tolerates keys that are not listed (status, opaque parts)."""

    name: str
    read: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    unsupported: frozenset[str] = frozenset()
    open: bool = False

    @property
    def known(self) -> frozenset[str]:
        """Every listed key."""
        return self.read | self.ignored | self.unsupported


def schema(name: str, read: str = "", ignored: str = "", unsupported: str = "", open_: bool = False) -> Schema:
    """A schema from words separated by spaces."""
    return Schema(name, frozenset(read.split()), frozenset(ignored.split()), frozenset(unsupported.split()), open_)


ANYTHING = Schema("anything", open=True)
