"""The resilience table: what each kind of event does to each workload."""

from __future__ import annotations

import re
from collections import Counter

from reconverge.checker.explore import Kinds
from reconverge.checker.finding import Finding
from reconverge.checker.result import Cell, Status
from reconverge.checker.world import World
from reconverge.model.naming import resolve, workload_of, workloads
from reconverge.model.objects import HorizontalPodAutoscaler, Ingress, Pod
from reconverge.model.store import Store

_POD = re.compile(r"pod/[a-z0-9][-a-z0-9./]*[a-z0-9]")

START = "start"
"""The column of what is broken without any event."""
CLUSTER = "cluster"
"""The row of violations that belong to no single workload."""


def resilience_table(
    world: World, events: Counter[str], kinds: Kinds, groups: list[list[Finding]], conclusive: bool
) -> tuple[Cell, ...]:
    """One cell per workload and kind of event that happened; a violated one names its traces.

    An event is to blame where it belongs to a smallest set of kinds that broke the promise.
    """
    store = world.start.store
    rows = [each.reference for each in workloads(store)]
    broken: dict[tuple[str, str], dict[int, None]] = {}
    for number, group in enumerate(groups):
        for finding in group:
            blamed = {name for each in _smallest(kinds.get(finding.found.identity, set())) for name in each or {START}}
            for row in [each for each in concerned(store, finding) if each in rows] or [CLUSTER]:
                for name in sorted(blamed):
                    broken.setdefault((row, name), {})[number] = None
    allowed = list(dict.fromkeys([*(event.name for event in world.prefix), *(a.event for a in world.allowances)]))
    columns = [name for name in allowed if events.get(name)]
    if any(name == START for _, name in broken):
        columns = [START, *columns]
    if any(row == CLUSTER for row, _ in broken):
        rows.append(CLUSTER)
    held: Status = "held" if conclusive else "inconclusive"
    return tuple(
        Cell(row, name, "violated" if (row, name) in broken else held, tuple(broken.get((row, name), ())))
        for row in rows
        for name in columns
    )


def _smallest(sets: set[frozenset[str]]) -> list[frozenset[str]]:
    """The sets that contain no other one."""
    return [each for each in sets if not any(other < each for other in sets)]


def concerned(store: Store, finding: Finding) -> list[str]:
    """The workloads that a violation is about: its object, or those behind it, or the cluster."""
    name = finding.found.violation.object
    found = resolve(store, name) if name else None
    if found is not None and found.kind == "Pod":
        found = workload_of(store, found)
    if found is None:
        return [CLUSTER]
    if isinstance(found, HorizontalPodAutoscaler):
        target = store.get(found.target_kind, found.target)
        return [target.reference] if target is not None else [CLUSTER]
    selector = getattr(found, "selector", None)
    if found.kind in ("Service", "PodDisruptionBudget"):
        behind = {_reference(store, pod) for pod in store.pods_matching(found.namespace, selector)}
        return sorted(each for each in behind if each) or [CLUSTER]
    if isinstance(found, Ingress):
        services = [store.service(f"{found.namespace}/{each.service}") for each in found.backends]
        pods = [
            pod for each in services if each is not None for pod in store.pods_matching(each.namespace, each.selector)
        ]
        return sorted({name for pod in pods if (name := _reference(store, pod))}) or [CLUSTER]
    if found.kind == "Node":
        # A node's trouble, such as a drain that does not end, is that of the pods that the message names.
        named = [resolve(store, each) for each in _POD.findall(finding.found.violation.message)]
        owners = {_reference(store, pod) for pod in named if isinstance(pod, Pod)}
        return sorted(each for each in owners if each) or [CLUSTER]
    return [found.reference]


def _reference(store: Store, pod: Pod) -> str:
    workload = workload_of(store, pod)
    return workload.reference if workload is not None else ""
