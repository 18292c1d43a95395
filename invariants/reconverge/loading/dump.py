"""What objects of one dump share: a scale of time, small numbers for uids, numbers for generated names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from attrs import define, field

from reconverge.loading.document import Document
from reconverge.model.value import Seconds

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_TIME_KEYS = ("Time", "Timestamp", "At", "time")


@define
class Dump:
    """The scale that relates a dump to simulated time, which begins at 0 with its newest timestamp."""

    newest: float | None = None
    uids: dict[str, int] = field(factory=dict)
    generated: Counter[str] = field(factory=Counter)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Dump:
        """The scale of some documents: their newest timestamp, and their uids numbered as they appear."""
        dump = cls()
        listed = list(documents)
        times = [time for each in listed for time in _timestamps(_dated(each.value))]
        dump.newest = max(times, default=None)
        for each in listed:
            metadata = each.value.get("metadata")
            if isinstance(metadata, dict):
                dump.uid(metadata.get("uid"))
        return dump

    def uid(self, text: object) -> int:
        """The number of a uid, from 1, given at its first appearance; 0 for none."""
        if not isinstance(text, str) or not text:
            return 0
        return self.uids.setdefault(text, len(self.uids) + 1)

    def seconds(self, timestamp: object) -> Seconds | None:
        """A timestamp in seconds from the newest one, so negative for the past; None if it is none."""
        instant = _instant(timestamp)
        if instant is None or self.newest is None:
            return None
        difference = instant - self.newest
        return int(difference) if difference == int(difference) else difference

    def generated_name(self, prefix: str) -> str:
        """A name for an object with generateName; upstream adds five random letters, here a number from 0."""
        self.generated[prefix] += 1
        return f"{prefix}{self.generated[prefix] - 1}"


def _instant(timestamp: object) -> float | None:
    if not isinstance(timestamp, str) or not _TIMESTAMP.fullmatch(timestamp):
        return None
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return None


def _dated(value: dict[str, Any]) -> list[Any]:
    """The parts of an object in which the cluster writes times."""
    return [value.get("metadata"), value.get("status")]


def _timestamps(value: Any) -> Iterator[float]:
    """All past times in a value. A deletionTimestamp is a deadline and may lie ahead, so it does not count."""
    if isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, dict | list):
                yield from _timestamps(each)
            elif key.endswith(_TIME_KEYS) and key != "deletionTimestamp":
                instant = _instant(each)
                if instant is not None:
                    yield instant
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, dict | list):
                yield from _timestamps(each)
