"""How a pod's containers behave, from the annotations of its template.

`reconverge/behaviour: crashes` is about all containers that are no init containers, and
`reconverge/behaviour.proxy: crashes` about the one that is called proxy.
"""

from __future__ import annotations

import re
from math import ceil

from reconverge.loading.errors import quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.model.labels import Labels
from reconverge.model.objects import BEHAVIOURS, Behaviour, PodSpec
from reconverge.model.parts import Part, parts
from reconverge.model.value import Seconds

SETTINGS = {
    "reconverge/behaviour": "what the program does; one of the behaviours",
    "reconverge/starts-after": "from the start of a container until its program answers probes; 0 unless told",
    "reconverge/serves-after": "from ready to really serving, for the whole pod; 0 unless told",
    "reconverge/stops-after": "from the stop signal to the exit; at once unless told, never more than the grace period",
    "reconverge/memory": "what a container uses, such as 600Mi; what it asks for unless told; killed above its limit",
    "reconverge/disk": "what a container uses of its node's disk; what it asks for unless told",
    "reconverge/exits-after": "from the start of a container to what its behaviour says; 1 s unless told",
}
"""The annotations on pod templates, and what they say. Durations are seconds, or as in 90s, 2m, 1h."""
OF_PODS = frozenset({"reconverge/serves-after"})
"""Settings of a pod as a whole: a Service knows no containers."""
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, None: 1}


def behaviour(metadata: Fields, annotations: Labels) -> Behaviour:
    """The behaviour that the `reconverge/` annotations ask for; the default one without them."""
    given = {key: value for key, value in annotations if key in SETTINGS}
    return _behaviour(metadata, given, "", Behaviour()) if given else Behaviour()


def own_behaviours(spec: PodSpec, metadata: Fields, annotations: Labels) -> PodSpec:
    """A pod spec with what the annotations say of single containers; what they leave open is as for all, or usual.

    Raises LoadError for an annotation about a container that there is not, or that cannot come true.
    """
    given = {key: value for key, value in annotations if key.partition(".")[0] in SETTINGS and "." in key}
    level = metadata.child("annotations")
    names = [part.name for part in parts(spec)]
    for key in given:
        setting, _, name = key.partition(".")
        if setting in OF_PODS:
            raise level.error("is about a pod as a whole, not about one container", key)
        if name not in names:
            message = f'is about a container "{name}", and the pod has none of that name'
            raise level.error(message, key, quoted_nearest(name, names))
    if given:
        own = {part.name: _own(metadata, given, part) for part in parts(spec)}
        spec = spec.with_(
            containers=tuple(each.with_(behaviour=own[each.name]) for each in spec.containers),
            init_containers=tuple(each.with_(behaviour=own[each.name]) for each in spec.init_containers),
        )
    for part in parts(spec):
        if part.behaviour.kind == "out-of-memory" and not part.container.limits.memory:
            raise level.error(f'out-of-memory needs a memory limit, and container "{part.name}" has none')
    return spec


def _own(metadata: Fields, given: dict[str, str], part: Part) -> Behaviour | None:
    """What is said of one container alone, or None."""
    suffix = f".{part.name}"
    own = {key: value for key, value in given.items() if key.endswith(suffix)}
    return _behaviour(metadata, own, suffix, part.behaviour) if own else None


def _behaviour(metadata: Fields, given: dict[str, str], suffix: str, usual: Behaviour) -> Behaviour:
    level = metadata.child("annotations")
    key = f"reconverge/behaviour{suffix}"
    kind = given.get(key, usual.kind)
    if kind not in BEHAVIOURS:
        raise level.error(
            f'must be one of {", ".join(BEHAVIOURS)}, not "{kind}"', key, quoted_nearest(kind, BEHAVIOURS)
        )
    return Behaviour(
        kind=kind,
        serves_after=_seconds(level, given, f"reconverge/serves-after{suffix}", usual.serves_after),
        stops_after=_seconds(level, given, f"reconverge/stops-after{suffix}", usual.stops_after),
        exits_after=_seconds(level, given, f"reconverge/exits-after{suffix}", usual.exits_after),
        starts_after=_seconds(level, given, f"reconverge/starts-after{suffix}", usual.starts_after),
        memory=_bytes(level, given, f"reconverge/memory{suffix}", usual.memory),
        disk=_bytes(level, given, f"reconverge/disk{suffix}", usual.disk),
    )


def _bytes(level: Fields, given: dict[str, str], key: str, default: int | None) -> int | None:
    return ceil(level.quantity(key)) if key in given else default


def _seconds(level: Fields, given: dict[str, str], key: str, default: Seconds) -> Seconds:
    """A duration: a number of seconds, or with a unit as in `90s`, `2m`, `1h`."""
    if key not in given:
        return default
    match = _DURATION.fullmatch(given[key])
    if match is None:
        raise level.error(f'must be a number of seconds, not "{given[key]}"', key)
    seconds = float(match[1]) * _UNITS[match[2]]
    return int(seconds) if seconds == int(seconds) else seconds
