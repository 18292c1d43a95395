"""How a pod's containers behave, from the annotations of its template."""

from __future__ import annotations

import re

from reconverge.loading.errors import quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.model.labels import Labels
from reconverge.model.objects import Behaviour
from reconverge.model.value import Seconds

KINDS = ("ready", "never-ready", "not-ready-first", "exit-0", "exit-1", "crashes")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, None: 1}


def behaviour(metadata: Fields, annotations: Labels) -> Behaviour:
    """The behaviour that the `reconverge/` annotations ask for; the default one without them."""
    given = {key: value for key, value in annotations if key.startswith("reconverge/")}
    if not given:
        return Behaviour()
    level, default = metadata.child("annotations"), Behaviour()
    kind = given.get("reconverge/behaviour", default.kind)
    if kind not in KINDS:
        message = f'must be one of {", ".join(KINDS)}, not "{kind}"'
        raise level.error(message, "reconverge/behaviour", quoted_nearest(kind, KINDS))
    return Behaviour(
        kind=kind,
        serves_after=_seconds(level, given, "reconverge/serves-after", default.serves_after),
        stops_after=_seconds(level, given, "reconverge/stops-after", default.stops_after),
        exits_after=_seconds(level, given, "reconverge/exits-after", default.exits_after),
    )


def _seconds(level: Fields, given: dict[str, str], key: str, default: Seconds) -> Seconds:
    """A duration: a number of seconds, or with a unit as in `90s`, `2m`, `1h`."""
    if key not in given:
        return default
    match = _DURATION.fullmatch(given[key])
    if match is None:
        raise level.error(f'must be a number of seconds, not "{given[key]}"', key)
    seconds = float(match[1]) * _UNITS[match[2]]
    return int(seconds) if seconds == int(seconds) else seconds
