"""One small persistent map: an immutable mapping whose updates share structure.

The map is a tuple of plain dicts ("buckets"); setting a key copies one bucket and the tuple. With about the
square root of the size as the number of buckets, an update costs about a microsecond from ten entries to a
hundred thousand, needs no compiler, and lookups stay dictionary lookups.

Iteration order is a function of the map's history, never of Python's randomised string hashes; code whose
*result* depends on an order sorts by what the entries are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar, overload
from zlib import crc32

K = TypeVar("K", str, int)
V = TypeVar("V")
D = TypeVar("D")

_MOST_ALONE = 192
"""Size up to which there is one bucket: copying it costs less than finding one of several."""
_MOST_PER_BUCKET = 48
"""Average bucket size above which the number of buckets is multiplied by four."""


def _stable_hash(key: str | int) -> int:
    return key if isinstance(key, int) else crc32(key.encode())


class Map(Mapping[K, V], Generic[K, V]):
    """An immutable mapping from strings or integers to values, with cheap updates."""

    __slots__ = ("_buckets", "_size")

    _buckets: tuple[dict[K, V], ...]
    _size: int

    def __init__(self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        plain = dict(entries)
        count = 1
        while len(plain) > _MOST_ALONE and len(plain) > _MOST_PER_BUCKET * count:
            count *= 4
        self._buckets = _distribute(plain.items(), count) if count > 1 else (plain,)
        self._size = len(plain)

    @classmethod
    def _of(cls, buckets: tuple[dict[K, V], ...], size: int) -> Map[K, V]:
        new: Map[K, V] = object.__new__(cls)
        new._buckets = buckets
        new._size = size
        return new

    def _bucket(self, key: K) -> dict[K, V]:
        buckets = self._buckets
        if len(buckets) == 1:
            return buckets[0]
        return buckets[_stable_hash(key) & (len(buckets) - 1)]

    def __getitem__(self, key: K) -> V:
        buckets = self._buckets
        if len(buckets) == 1:
            return buckets[0][key]
        return buckets[_stable_hash(key) & (len(buckets) - 1)][key]

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: V | D) -> V | D: ...
    def get(self, key: K, /, default: Any = None) -> Any:
        """The value at `key`, or `default`."""
        # As `_bucket`, written out: this is called more often than anything else.
        buckets = self._buckets
        if len(buckets) == 1:
            return buckets[0].get(key, default)
        return buckets[_stable_hash(key) & (len(buckets) - 1)].get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._bucket(key)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[K]:
        for bucket in self._buckets:
            yield from bucket

    def set(self, key: K, value: V) -> Map[K, V]:
        """A map that also has `key` at `value`."""
        return self._replaced(key, {key: value})

    def _replaced(self, key: K, entry: dict[K, V]) -> Map[K, V]:
        count = len(self._buckets)
        index = _stable_hash(key) & (count - 1) if count > 1 else 0
        old = self._buckets[index]
        bucket = old | entry
        size = self._size + len(bucket) - len(old)
        if count == 1:
            if size > _MOST_ALONE:
                return self._of(_distribute(bucket.items(), 16), size)
            return self._of((bucket,), size)
        buckets = self._buckets[:index] + (bucket,) + self._buckets[index + 1 :]  # noqa: RUF005 - half the time
        # Buckets grow to about the square root of the size, so that copying one and copying the tuple stay alike.
        if size > _MOST_PER_BUCKET * count and len(bucket) > count:
            return self._of(_distribute([entry for each in buckets for entry in each.items()], count * 4), size)
        return self._of(buckets, size)

    def delete(self, key: K) -> Map[K, V]:
        """A map without `key`. Raises KeyError if it is not there."""
        count = len(self._buckets)
        index = _stable_hash(key) & (count - 1) if count > 1 else 0
        bucket = self._buckets[index].copy()
        del bucket[key]
        buckets = self._buckets[:index] + (bucket,) + self._buckets[index + 1 :]  # noqa: RUF005
        return self._of(buckets, self._size - 1)

    def discard(self, key: K) -> Map[K, V]:
        """A map without `key`, whether it was there or not."""
        return self.delete(key) if key in self else self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Map):
            return NotImplemented
        if self._size != other._size:
            return False
        return all(key in other and other[key] == value for key, value in self.items())

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"Map({dict(self)!r})"


def _distribute(entries: Iterable[tuple[K, V]], count: int) -> tuple[dict[K, V], ...]:
    buckets: tuple[dict[K, V], ...] = tuple({} for _ in range(count))
    for key, value in entries:
        buckets[_stable_hash(key) & (count - 1)][key] = value
    return buckets


EMPTY: Map[Any, Any] = Map()
"""The empty map, shared."""
