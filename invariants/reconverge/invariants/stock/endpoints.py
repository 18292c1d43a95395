"""Whether the endpoints of Services are those that they should be.

Source: `pkg/controller/endpointslice/endpointslice_controller.go`; the documentation of EndpointSlices (conditions).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.invariants.stock.facts import acts
from reconverge.model.objects import Endpoint, EndpointSlice, Pod, Service
from reconverge.model.store import Store


@invariant(
    "endpoints-true",
    "eventually",
    family="law",
    statement="In the end the endpoints of a Service are exactly its pods that have an address and are not finished, "
    "each with the conditions that it has.",
    why="Traffic goes to what is listed, whatever is there: to nothing, or to pods that do not serve.",
    remedy="See which change of a pod the controller did not notice.",
    source="pkg/controller/endpointslice/endpointslice_controller.go; documentation of EndpointSlices (conditions)",
)
def endpoints_true(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges the settled state; endpoints that somebody keeps by hand (no selector) are theirs."""
    if quiet.outcome != "rest" or not acts(quiet.cluster, "endpoints"):
        return ()
    return [*_of_services(quiet.store), *_left_over(quiet.store)]


def _of_services(store: Store) -> Iterator[Violation]:
    for service in store.all("Service"):
        if service.selector is None or service.selector.empty:
            continue
        slice_ = store.endpoint_slice(service.key)
        listed = {each.pod: each for each in slice_.endpoints} if slice_ is not None else {}
        right = {each.pod: each for each in _endpoints(store, service, listed)}
        wrong = [_difference(key, listed.get(key), right.get(key)) for key in sorted({*listed, *right})]
        wrong = [each for each in wrong if each]
        if wrong:
            message = f"the endpoints of {service.reference} are not true: {wrong[0]}"
            yield Violation(service.reference, message, {"wrong": wrong})
        elif slice_ is None:
            yield Violation(service.reference, f"{service.reference} has no EndpointSlice", {"wrong": []})


def _left_over(store: Store) -> Iterator[Violation]:
    """Slices that were made for a Service that is gone."""
    slices: list[EndpointSlice] = store.all("EndpointSlice")
    for slice_ in slices:
        if slice_.service == slice_.name and store.service(slice_.key) is None:
            yield Violation(slice_.reference, f"{slice_.reference} stays, and its Service is gone", {"wrong": []})


def _endpoints(store: Store, service: Service, listed: Mapping[str, Endpoint]) -> Iterator[Endpoint]:
    """The right endpoints; a Node that is gone has taken its zone along, and what is listed of it stays."""
    for pod in store.pods_matching(service.namespace, service.selector):
        if pod.node is None or pod.terminal or not _has_address(pod):
            continue
        going = pod.deletion_at is not None
        ready = service.publish_not_ready or (pod.ready and not going)
        node, known = store.node(pod.node), listed.get(pod.key)
        zone = node.zone if node is not None else known.zone if known is not None else ""
        yield Endpoint(pod.key, pod.node, ready, pod.ready, going, zone, pod.uid)


def _has_address(pod: Pod) -> bool:
    """A pod has one once its kubelet has taken it in."""
    return pod.phase != "Pending" or pod.started_at is not None


def _difference(key: str, listed: Endpoint | None, right: Endpoint | None) -> str:
    """How what is listed of a pod differs from what is so; empty if it does not."""
    name = f"pod/{key.removeprefix('default/')}"
    if right is None:
        return f"{name} is listed, and there is no such pod behind it that has an address"
    if listed is None:
        return f"{name} is not listed"
    if listed.uid != right.uid:
        return f"{name} is listed with the address of an earlier pod of that name"
    if listed == right:
        return ""
    return f"{name} is listed as {_conditions(listed)}, and it is {_conditions(right)}"


def _conditions(endpoint: Endpoint) -> str:
    names = ("ready", "serving", "terminating")
    words = ", ".join(f"{'' if getattr(endpoint, name) else 'not '}{name}" for name in names)
    return f"{words} on {endpoint.node}" + (f" in zone {endpoint.zone}" if endpoint.zone else "")
