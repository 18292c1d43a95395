"""What became of the fields of the objects that were read."""

from __future__ import annotations

from attrs import define, field, frozen

_MOST_NAMED = 8
"""How many unsupported fields a summary names; a dump repeats one for each pod."""


@frozen
class UnsupportedField:
    """A field that would matter and is not modelled: its place, its path, and what it means to leave it out."""

    where: str
    path: str
    object: str = ""

    def __str__(self) -> str:
        return f"{self.where} {self.path}".strip()


@frozen
class Accounting:
    """How many fields were read, ignored because nothing modelled depends on them, or are not supported."""

    read: int = 0
    ignored: int = 0
    unsupported: tuple[UnsupportedField, ...] = ()

    def __add__(self, other: Accounting) -> Accounting:
        return Accounting(self.read + other.read, self.ignored + other.ignored, (*self.unsupported, *other.unsupported))

    def __str__(self) -> str:
        text = f"read {self.read}, ignored {self.ignored}, unsupported {len(self.unsupported)}"
        named = [str(each) for each in self.unsupported[:_MOST_NAMED]]
        if len(self.unsupported) > _MOST_NAMED:
            named.append(f"and {len(self.unsupported) - _MOST_NAMED} more")
        return f"{text}: {', '.join(named)}" if named else text


@define
class Ledger:
    """Counts fields while objects are decoded."""

    read: int = 0
    ignored: int = 0
    unsupported: list[UnsupportedField] = field(factory=list)

    def total(self) -> Accounting:
        """What has been counted so far."""
        return Accounting(self.read, self.ignored, tuple(self.unsupported))
