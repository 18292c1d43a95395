"""Schedules of CronJobs: which minutes they name, and the next and the latest of those.

Moments are seconds of a calendar that begins with 1970-01-01 00:00 in the schedule's own time zone, which has no
leap seconds and no summer time.
Source: robfig/cron `parser.go` (ParseStandard), `spec.go` (Next, dayMatches), `constantdelay.go`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from math import floor

from attrs import frozen

from reconverge.model.value import Seconds

EPOCH = 1_704_067_200
"""The calendar moment (Monday, 2024-01-01 00:00 UTC) of a cluster's second 0, where no dump says another."""

MOST_DAYS = 5 * 366
"""How far ahead a moment is sought; a schedule without one in five years has none."""
_DAY = 1440
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 6, _WEEKDAYS),
)
DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS = {"h": 3600, "m": 60, "s": 1}


@frozen
class Schedule:
    """The values of each field, in order. `any_day`: whether a field of days is `*`, so that both have to match.

    With `every` it is a fixed time between two moments instead, in seconds.
    """

    minutes: tuple[int, ...] = ()
    hours: tuple[int, ...] = ()
    days: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    weekdays: tuple[int, ...] = ()
    any_day: bool = True
    every: Seconds = 0

    def next(self, after: Seconds) -> Seconds | None:
        """The first moment later than one; None if there is none in five years."""
        if self.every:
            return after + self.every
        day, minute = divmod(floor(after / 60) + 1, _DAY)
        times = _times(self.minutes, self.hours)
        for place in range(day, day + MOST_DAYS):
            found = bisect_left(times, minute)
            if found < len(times) and self._has(place):
                return (place * _DAY + times[found]) * 60
            minute = 0
        return None

    def latest(self, since: Seconds, until: Seconds) -> Seconds | None:
        """The last moment later than `since` and not later than `until`, or None."""
        if self.every:
            passed = floor((until - since) / self.every)
            return since + passed * self.every if passed > 0 else None
        day, minute = divmod(floor(until / 60), _DAY)
        times = _times(self.minutes, self.hours)
        first = floor(since / 60 / _DAY)
        for place in range(day, first - 1, -1):
            found = bisect_right(times, minute)
            if found and self._has(place):
                moment = (place * _DAY + times[found - 1]) * 60
                return moment if moment > since else None
            minute = _DAY
        return None

    def _has(self, day: int) -> bool:
        """Whether a day, counted from 1970-01-01, is one of the schedule (dayMatches)."""
        month, of_month = _civil(day)
        if month not in self.months:
            return False
        by_month, by_week = of_month in self.days, (day + 4) % 7 in self.weekdays
        return (by_month and by_week) if self.any_day else (by_month or by_week)


@lru_cache(maxsize=256)
def _times(minutes: tuple[int, ...], hours: tuple[int, ...]) -> tuple[int, ...]:
    """The minutes of a day, in order."""
    return tuple(hour * 60 + minute for hour in hours for minute in minutes)


@lru_cache(maxsize=4096)
def _civil(day: int) -> tuple[int, int]:
    """The month and the day of month of a day counted from 1970-01-01, in the Gregorian calendar."""
    of_era = (day + 719_468) % 146_097
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    # Months are counted from March, so that the leap day is the last of the year.
    month = (5 * of_year + 2) // 153
    return (month + 3 if month < 10 else month - 9), of_year - (153 * month + 2) // 5 + 1


def parsed_schedule(text: str) -> Schedule:
    """The schedule that a text names. Raises ValueError with a clause that says what is wrong."""
    words = DESCRIPTORS.get(text.strip().lower(), text).split()
    if words and words[0].startswith("@"):
        return _every(words)
    if "TZ=" in text:
        raise ValueError("must not have TZ or CRON_TZ (use timeZone)")
    if len(words) != len(_FIELDS):
        raise ValueError(f"must have 5 fields, not {len(words)}")
    minutes, hours, days, months, weekdays = (_field(word, *field) for word, field in zip(words, _FIELDS, strict=True))
    return Schedule(minutes, hours, days, months, weekdays, any(_is_star(words[place]) for place in (2, 4)))


def _every(words: list[str]) -> Schedule:
    if words[0] != "@every" or len(words) != 2:
        raise ValueError(f"must be five fields, @every with a duration, or one of {', '.join(DESCRIPTORS)}")
    seconds, digits = 0, ""
    for sign in words[1]:
        if sign.isascii() and sign.isdecimal():
            digits += sign
        elif digits and sign in _UNITS:
            seconds += int(digits) * _UNITS[sign]
            digits = ""
        else:
            raise ValueError(f'has no duration such as 1h30m in "{words[1]}"')
    if digits or not seconds:
        raise ValueError(f'has no duration such as 1h30m in "{words[1]}"')
    return Schedule(every=seconds)


def _is_star(word: str) -> bool:
    return any(part.partition("/")[0] in ("*", "?") and part.partition("/")[2] in ("", "1") for part in word.split(","))


def _field(word: str, name: str, least: int, most: int, names: tuple[str, ...]) -> tuple[int, ...]:
    """The values of one field: `*`, numbers or names, ranges, steps, and lists of these."""
    found: set[int] = set()
    for part in word.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span in ("*", "?"):
            low, high = least, most
        else:
            low = _value(first, name, least, most, names)
            high = _value(last, name, least, most, names) if dash else most if slash else low
        if low > high:
            raise ValueError(f'has the {name} "{part}", which ends before it begins')
        if slash and not (step.isascii() and step.isdecimal() and int(step) > 0):
            raise ValueError(f'has the {name} "{part}", whose step is no number above 0')
        found.update(range(low, high + 1, int(step) if slash else 1))
    return tuple(sorted(found))


def _value(text: str, name: str, least: int, most: int, names: tuple[str, ...]) -> int:
    lowered = text.lower()
    if lowered in names:
        return names.index(lowered) + least
    if not (text.isascii() and text.isdecimal()):
        known = f", nor one of {', '.join(names)}" if names else ""
        raise ValueError(f'has the {name} "{text}", which is no number{known}')
    if not least <= int(text) <= most:
        raise ValueError(f'has the {name} "{text}", which is not from {least} to {most}')
    return int(text)
