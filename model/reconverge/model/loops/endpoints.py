"""The EndpointSlice controller: keeps the list of pods behind each Service.

Source: `pkg/controller/endpointslice/endpointslice_controller.go`, endpointslice `reconciler.go`, `utils.go`,
`util/controller_utils.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconverge.model.action import Action, Create, Delete, Update
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import Endpoint, EndpointSlice, Pod, Service
from reconverge.model.store import Change, Store


class EndpointsController(ControlLoop[None]):
    """Writes one EndpointSlice per Service, named like it. Keys are Services."""

    name = "endpoints"
    watches = frozenset({"Pod", "Service", "EndpointSlice", "Node"})
    source = "pkg/controller/endpointslice/endpointslice_controller.go"

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A Service wakes itself, a pod the Services it belonged or belongs to, a removed slice its Service.

        A node wakes the Services of its pods when its zone is another.
        """
        if change.kind == "Pod":
            return None, self.services_of_change(reading.store, change.before, change.after)
        if change.kind == "Node":
            return None, self._services_of_node(reading.store, change)
        if change.kind == "EndpointSlice" and change.after is not None:
            return None, ()
        return None, (change.key,)

    def _services_of_node(self, store: Store, change: Change) -> Iterable[str]:
        before, after = change.before, change.after
        if after is None or (before is not None and (before.labels is after.labels or before.zone == after.zone)):
            return ()
        if not store.pods_on(after.name):
            return ()
        slices = store.all("EndpointSlice")
        return [each.key for each in slices if any(listed.node == after.name for listed in each.endpoints)]

    def relist(self, reading: Reading) -> Iterable[str]:
        """All Services, and the slices left over of some that are gone."""
        store = reading.store
        return sorted({*store.table("Service").objects, *store.table("EndpointSlice").objects})

    def services_of_change(self, store: Store, before: Pod | None, after: Pod | None) -> Sequence[str]:
        """Services whose endpoints a change of a pod may change (getServicesToUpdateOnPodChange)."""
        was = self.endpoint(before, publish_not_ready=False) if before is not None else None
        now = self.endpoint(after, publish_not_ready=False) if after is not None else None
        pods = [pod for pod in (before, after) if pod is not None]
        if was == now and len({pod.labels for pod in pods}) == 1:
            return ()
        services = store.in_namespace("Service", pods[0].namespace)
        return [service.key for service in services if any(_selects(service, pod) for pod in pods)]

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """Creates, updates or deletes the slice; writes nothing if it is as it should be."""
        service = reading.store.service(key)
        current = reading.store.endpoint_slice(key)
        if service is None:
            return (Plan(None, self._deletes(current)),)
        if service.selector is None or service.selector.empty:
            return (Plan(None),)
        endpoints = self.endpoints(reading.store, service)
        return (Plan(None, self._writes(service, current, endpoints)),)

    def _deletes(self, current: EndpointSlice | None) -> tuple[Action, ...]:
        # In Kubernetes the garbage collector does it, for the Service owns the slice. A slice that someone keeps by
        # hand names no Service and stays.
        if current is None or current.service != current.name:
            return ()
        return (Delete("EndpointSlice", current.key, current.uid, "its Service is gone"),)

    def _writes(
        self, service: Service, current: EndpointSlice | None, endpoints: tuple[Endpoint, ...]
    ) -> tuple[Action, ...]:
        if current is None:
            new = EndpointSlice(
                name=service.name,
                namespace=service.namespace,
                owner=service.owner_reference(),
                service=service.name,
                endpoints=endpoints,
            )
            return (Create(new, f"endpoints of {service.reference}"),)
        if current.endpoints == endpoints:
            return ()
        verb = f"updates endpoints of {service.reference}"
        return (Update(current, current.with_(endpoints=endpoints), _summary(endpoints), verb),)

    # The rules, one each -------------------------------------------------------------------------------------

    def endpoints(self, store: Store, service: Service) -> tuple[Endpoint, ...]:
        """The endpoints of a Service, ordered by pod key."""
        found = [
            self.endpoint(pod, service.publish_not_ready)
            for pod in store.pods_matching(service.namespace, service.selector)
        ]
        return tuple(each.with_(zone=_zone(store, each.node)) for each in found if each is not None)

    def endpoint(self, pod: Pod, publish_not_ready: bool) -> Endpoint | None:
        """A pod as an endpoint; None if it is not listed (podToEndpoint)."""
        if not self.listed(pod):
            return None
        serving = self.serving(pod)
        terminating = pod.deletion_at is not None
        ready = self.ready(serving, terminating, publish_not_ready)
        return Endpoint(pod.key, pod.node or "", ready, serving, terminating, uid=pod.uid)

    def listed(self, pod: Pod) -> bool:
        """Whether a pod is listed: it has an address and is not terminal; Terminating pods stay listed.

        The model has no addresses: a pod has one once its kubelet has taken it in. Source: ShouldPodBeInEndpoints.
        """
        return pod.node is not None and not pod.terminal and (pod.phase != "Pending" or pod.started_at is not None)

    def serving(self, pod: Pod) -> bool:
        """Whether it takes traffic while Terminating, too: the pod's Ready condition."""
        return pod.ready

    def ready(self, serving: bool, terminating: bool, publish_not_ready: bool) -> bool:
        """Whether it gets new traffic: serving and not terminating, or published regardless."""
        return publish_not_ready or (serving and not terminating)


def _zone(store: Store, name: str) -> str:
    node = store.node(name)
    return node.zone if node is not None else ""


def _selects(service: Service, pod: Pod) -> bool:
    selector = service.selector
    return selector is not None and not selector.empty and selector.matches(pod.labels)


def _summary(endpoints: tuple[Endpoint, ...]) -> str:
    ready = sum(1 for each in endpoints if each.ready)
    return f"{ready} of {len(endpoints)} endpoints ready"
