"""Periodic passes as deadlines: a loop that looks every so many seconds acts only at multiples of its period."""

from __future__ import annotations

from math import ceil

from reconverge.model.value import Seconds

_ROUNDING = 1e-9
"""Sums of fractions of seconds may miss a multiple by this part of a period and still be it."""


def next_tick(time: Seconds, period: Seconds) -> Seconds:
    """The first moment of a periodic pass that is not before `time`; `time` itself if it is one."""
    tick = ceil(time / period - _ROUNDING) * period
    return time if abs(tick - time) <= _ROUNDING * period else tick
