"""The control loops that node pools bring along, and the settings of a scenario's cluster autoscaler.

As a scenario writes them: `loops: {cluster-autoscaler: {unneeded: 600, threshold: 0.5, removal-ignores: [max-pods]}}`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from attrs import fields as fields_of

from reconverge.loading import Fields
from reconverge.loading.errors import quoted_nearest
from reconverge.model.events import Event, NodesUpgraded
from reconverge.model.loop import ControlLoop
from reconverge.model.loops.cluster_autoscaler import IGNORABLE, AutoscalerOptions, ClusterAutoscaler
from reconverge.model.loops.cluster_autoscaler.options import LEAST_WASTE, RANDOM
from reconverge.model.loops.node_group import NodeGroupLoop
from reconverge.model.loops.upgrade import UpgradeLoop
from reconverge.model.node_groups import NodeGroup

NUMBERS = tuple(
    each.name
    for each in fields_of(AutoscalerOptions)
    if each.name not in ("expander", "cordon", "ignores", "removal_ignores", "threshold")
)
"""Options that are whole numbers: seconds, counts and percentages."""


def autoscaler(settings: Fields) -> tuple[ClusterAutoscaler, dict[str, Any]]:
    """The autoscaler of its settings, and these as plain data. Raises LoadError for those that are not known."""
    settings.only(*(_word(name) for name in NUMBERS), "threshold", "expander", "cordon", "ignores", "removal-ignores")
    given: dict[str, Any] = {}
    for name in NUMBERS:
        if _word(name) in settings:
            given[name] = settings.integer(_word(name), 0, least=None if name == "cutoff" else 0)
    if "threshold" in settings:
        given["threshold"] = _share(settings)
    if "expander" in settings:
        given["expander"] = settings.choice("expander", (LEAST_WASTE, RANDOM))
    if "cordon" in settings:
        given["cordon"] = settings.flag("cordon")
    for name in ("ignores", "removal_ignores"):
        if _word(name) in settings:
            given[name] = _ignored(settings, _word(name))
    document = {_word(name): list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    return ClusterAutoscaler(AutoscalerOptions(**given)), document


def _word(name: str) -> str:
    return name.replace("_", "-")


def _share(settings: Fields) -> float:
    value = settings.raw("threshold")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise settings.wrong("threshold", value, "a share between 0 and 1")
    return float(value)


def _ignored(settings: Fields, key: str) -> tuple[str, ...]:
    names = settings.texts(key)
    for name in names:
        if name not in IGNORABLE:
            raise settings.error(f'"{name}" is nothing that can be ignored', key, quoted_nearest(name, IGNORABLE))
    return names


def loops_of_pools(
    groups: Collection[NodeGroup], loops: Collection[ControlLoop[Any]], events: Iterable[type[Event]]
) -> tuple[ControlLoop[Any], ...]:
    """The loops that some groups and events need, but for those that a scenario has given already.

    A group whose size may change brings the cluster autoscaler; an upgrade of nodes its own loop.
    """
    needed: list[ControlLoop[Any]] = []
    if groups:
        needed.append(NodeGroupLoop())
    if any(group.scales for group in groups):
        needed.append(ClusterAutoscaler())
    if NodesUpgraded in set(events):
        needed.append(UpgradeLoop())
    there = {each.name for each in loops}
    return tuple(each for each in needed if each.name not in there)
