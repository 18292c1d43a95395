"""Control loops that a scenario adds to the standard ones: `loops: {gitops: {every: 180, objects: [...]}}`.

A loop is added here with one builder: what makes it, with the objects that it brings along, of its settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from reconverge.checker.autoscaler_settings import autoscaler
from reconverge.checker.descheduler_policy import descheduler_policy
from reconverge.checker.manifests import unsaid
from reconverge.invariants import Invariant
from reconverge.loading import Fields, Loaded, LoadError, load, load_documents
from reconverge.loading.errors import quoted_nearest
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import Event
from reconverge.model.events.proxies import ProxyEvent
from reconverge.model.loop import ControlLoop
from reconverge.model.loops.descheduler import Descheduler
from reconverge.model.loops.gitops import DEFAULT_PERIOD, GitOps, Manifest
from reconverge.model.loops.kube_proxy import KubeProxy
from reconverge.model.objects import ApiObject


@frozen
class OptionalLoop:
    """A loop, the objects that are there with it from the start, and its settings as plain data without files."""

    loop: ControlLoop[Any]
    objects: tuple[ApiObject, ...] = ()
    document: Mapping[str, Any] = field(factory=dict)


Builder = Callable[[Fields, Path | None], OptionalLoop]
"""Makes a loop of its settings; files are relative to the folder. Raises LoadError."""


def optional_loops(loops: Fields, folder: Path | None) -> dict[str, OptionalLoop]:
    """The loops of a scenario by name. Raises LoadError with the nearest known name."""
    built = {}
    for name in loops.value:
        if name not in BUILDERS:
            raise loops.error("is no optional loop that is known", name, quoted_nearest(name, BUILDERS))
        built[name] = BUILDERS[name](loops.child(name), folder)
    return built


def asked_for(events: Iterable[type[Event]], invariants: Iterable[Invariant]) -> tuple[ControlLoop[Any], ...]:
    """The loops that some events and invariants are about, without settings: naming one of these asks for the loop."""
    about_proxies = any(issubclass(each, ProxyEvent) for each in events)
    return (KubeProxy(),) if about_proxies or any(each.needs == KubeProxy.name for each in invariants) else ()


def extended(plane: ControlPlane, loops: Iterable[ControlLoop[Any]]) -> ControlPlane:
    """A control plane with more loops at the end of each round, but for those that it has already."""
    more = [each for each in loops if each.name not in plane.by_name]
    return ControlPlane([*plane.loops, *more]) if more else plane


def with_objects_of(loops: Mapping[str, OptionalLoop], objects: Iterable[ApiObject]) -> tuple[ApiObject, ...]:
    """The objects with those that the loops bring along, where there is none of that name."""
    found = {(each.kind, each.key): each for each in objects}
    for loop in loops.values():
        for each in loop.objects:
            found.setdefault((each.kind, each.key), each)
    return tuple(found.values())


# Builders ----------------------------------------------------------------------------------------------------


def _gitops(settings: Fields, folder: Path | None) -> OptionalLoop:
    settings.only("every", "objects")
    every = settings.integer("every", int(DEFAULT_PERIOD), least=1)
    loaded = _objects(settings, "objects", folder)
    if not loaded.objects:
        raise settings.error("is required: the manifests that are applied again and again", "objects")
    manifests = [
        Manifest(each, unsaid(each, document.value)) for each, document in zip(loaded.objects, loaded.raw, strict=True)
    ]
    document = {"every": every, "objects": [document.value for document in loaded.raw]}
    return OptionalLoop(GitOps(manifests, every), loaded.objects, document)


def _descheduler(settings: Fields, folder: Path | None) -> OptionalLoop:
    return OptionalLoop(Descheduler(descheduler_policy(settings)), (), settings.value)


def _kube_proxy(settings: Fields, folder: Path | None) -> OptionalLoop:
    settings.only()
    return OptionalLoop(KubeProxy())


def _cluster_autoscaler(settings: Fields, folder: Path | None) -> OptionalLoop:
    loop, document = autoscaler(settings)
    return OptionalLoop(loop, (), document)


def _objects(settings: Fields, key: str, folder: Path | None) -> Loaded:
    """Objects in files or inline, in their order."""
    documents = []
    for index, each in enumerate(settings.items(key)):
        place = (*settings.path, key, index)
        if not isinstance(each, str):
            documents.append(settings.reader.document.part(place))
            continue
        path = (folder or Path()) / each
        if not path.exists():
            raise LoadError(f'there is no manifest "{each}"', settings.reader.document.where(place))
        documents.extend(load([path]).raw)
    return load_documents(documents)


BUILDERS: dict[str, Builder] = {
    "cluster-autoscaler": _cluster_autoscaler,
    "descheduler": _descheduler,
    "gitops": _gitops,
    KubeProxy.name: _kube_proxy,
}
"""The builder of each optional loop by the loop's name."""
