"""Whether requests that come through an Ingress find their way: a controller, a Service, an endpoint.

Source: documentation of Ingress and of Ingress controllers.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.invariants.stock.facts import runs_ready
from reconverge.invariants.stock.services import serving
from reconverge.model.cluster import Cluster
from reconverge.model.ingress_controllers import class_of, controllers, described
from reconverge.model.naming import pods_of
from reconverge.model.objects import Ingress, IngressBackend, Service
from reconverge.model.objects.ingress import EXTERNAL, INGRESS
from reconverge.model.objects.service import EXTERNAL_NAME


@invariant(
    "ingress-served",
    "eventually",
    for_each=INGRESS,
    statement="In the end a request that comes through an Ingress is answered: a controller of its class runs, and "
    "every backend is a Service with that port and an endpoint that serves.",
    why="An Ingress by itself does nothing: without a controller there is no route, and nothing says so.",
    remedy="Run a controller of the class that the Ingress names (ingressClassName), with replicas that survive; if it "
    "runs outside the cluster, say reconverge/controller: external on the IngressClass; name Services and ports that "
    "exist.",
    source="documentation of Ingress (prerequisites, Ingress class) and of Ingress controllers",
    needs=INGRESS,
)
def ingress_served(quiet: Quiet, ingress: Ingress) -> Iterator[Violation]:
    """Follows the path of a request in the settled state and says where it ends."""
    if quiet.outcome != "rest":
        return
    gaps = [*_without_controller(quiet.cluster, ingress)]
    for backend in ingress.backends:
        gaps += _without_backend(quiet.cluster, ingress, backend)
    if gaps:
        message = f"{ingress.reference} leads nowhere: {gaps[0]}"
        yield Violation(ingress.reference, message, {"gaps": gaps})


def _without_controller(cluster: Cluster, ingress: Ingress) -> Iterator[str]:
    """Why nobody acts on the Ingress. Where nothing is described that could, it is taken to be outside."""
    store = cluster.store
    if not described(store):
        return
    found = class_of(store, ingress)
    if found is not None and found.controlled_by == EXTERNAL:
        return
    if found is None and ingress.ingress_class is None:
        yield "it names no class, and no IngressClass is the default"
        return
    acting = controllers(store, ingress)
    name = found.name if found is not None else ingress.ingress_class
    calls = f" ({found.controlled_by or found.controller})" if found is not None else ""
    if not acting:
        yield f"there is no controller of its class {name}{calls}"
    elif not any(runs_ready(cluster, pod) for each in acting for pod in pods_of(store, each)):
        yield f"no pod of its controller {acting[0].reference} is ready"


def _without_backend(cluster: Cluster, ingress: Ingress, backend: IngressBackend) -> Iterator[str]:
    service: Service | None = cluster.store.service(f"{ingress.namespace}/{backend.service}")
    if service is None:
        yield f"its backend service/{backend.service} does not exist"
        return
    if service.ports and backend.port not in {name for each in service.ports for name in (each.name, str(each.port))}:
        has = ", ".join(str(each.port) + (f" ({each.name})" if each.name else "") for each in service.ports)
        yield f"its backend {service.reference} has no port {backend.port}, only {has}"
    elif service.selector is not None and service.type != EXTERNAL_NAME and not serving(cluster, service):
        yield f"its backend {service.reference} has no endpoint that serves"
