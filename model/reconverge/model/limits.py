"""LimitRanges at the creation of a pod: defaults for what it leaves open, refusal of what is out of bounds.

Source: `plugin/pkg/admission/limitranger/admission.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from reconverge.model.errors import Forbidden
from reconverge.model.objects import Container, Pod, PodSpec
from reconverge.model.objects.quota import Amounts, LimitRangeItem
from reconverge.model.requests import effective, effective_limits
from reconverge.model.resources import Resources
from reconverge.model.store import Store

LIMIT_RANGE = "LimitRange"


def with_limit_defaults(store: Store, pod: Pod) -> Pod:
    """The pod with the requests and limits that the namespace gives to containers which leave them open."""
    items = tuple(item for item in _items(store, pod.namespace) if item.type == "Container")
    return pod.with_(spec=_defaulted(pod.spec, items)) if items else pod


def check_limits(store: Store, pod: Pod) -> None:
    """Raises Forbidden if a container or the pod is out of the bounds of its namespace."""
    wrong = [text for item in _items(store, pod.namespace) for text in _violations(item, pod.spec)]
    if wrong:
        listed = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
        raise Forbidden(f'pods "{pod.name}" is forbidden: {listed}')


def _items(store: Store, namespace: str) -> Iterator[LimitRangeItem]:
    if LIMIT_RANGE in store.tables:
        for each in store.in_namespace(LIMIT_RANGE, namespace):
            yield from each.items


# Defaults ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _defaulted(spec: PodSpec, items: tuple[LimitRangeItem, ...]) -> PodSpec:
    containers = tuple(_filled(each, items) for each in spec.containers)
    initial = tuple(_filled(each, items) for each in spec.init_containers)
    if containers == spec.containers and initial == spec.init_containers:
        return spec
    after = spec.with_(containers=containers, init_containers=initial)
    return after.with_(requests=effective(after))


def _filled(container: Container, items: Iterable[LimitRangeItem]) -> Container:
    """A container with the defaults of each item for what is still open; it keeps all that it says itself."""
    requests, limits = dict(container.requests.amounts()), dict(container.limits.amounts())
    for item in items:
        for given, defaults in ((requests, item.default_request), (limits, item.default)):
            for name, amount in defaults:
                if not given.get(name):
                    given[name] = amount
    return container.with_(requests=_resources(requests), limits=_resources(limits))


def _resources(amounts: dict[str, int]) -> Resources:
    cpu, memory, storage = (amounts.pop(name, 0) for name in ("cpu", "memory", "ephemeral-storage"))
    return Resources(cpu, memory, storage, tuple(sorted((name, amount) for name, amount in amounts.items() if amount)))


# Bounds ------------------------------------------------------------------------------------------------------


def _violations(item: LimitRangeItem, spec: PodSpec) -> Iterator[str]:
    if item.type == "Pod":
        yield from _out_of_bounds(item, spec.requests, effective_limits(spec))
        return
    for each in (*spec.init_containers, *spec.containers):
        yield from _out_of_bounds(item, each.requests, each.limits)


def _out_of_bounds(item: LimitRangeItem, requests: Resources, limits: Resources) -> Iterator[str]:
    for name, least in item.minimum:
        said = f"minimum {name} usage per {item.type} is {shown(name, least)}"
        request, limit = requests.amount(name), limits.amount(name)
        if not request:
            yield f"{said}.  No request is specified"
        elif request < least:
            yield f"{said}, but request is {shown(name, request)}"
        elif 0 < limit < least:
            yield f"{said}, but limit is {shown(name, limit)}"
    for name, most in item.maximum:
        said = f"maximum {name} usage per {item.type} is {shown(name, most)}"
        request, limit = requests.amount(name), limits.amount(name)
        if not limit:
            yield f"{said}.  No limit is specified"
        elif limit > most:
            yield f"{said}, but limit is {shown(name, limit)}"
        elif request > most:
            yield f"{said}, but request is {shown(name, request)}"


def shown(name: str, amount: int) -> str:
    """An amount as people write it: 500m or 2 for CPU, 1Gi for bytes."""
    if name.endswith("cpu"):
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if name.endswith(("memory", "storage")):
        for power, unit in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
            if amount and amount % 2**power == 0:
                return f"{amount >> power}{unit}"
    return str(amount)


def listed(amounts: Amounts) -> str:
    """Amounts as `pods=3,requests.cpu=2`."""
    return ",".join(f"{name}={shown(name, amount)}" for name, amount in amounts)
