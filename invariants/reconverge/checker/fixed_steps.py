"""Whether the fixed steps of a scenario can happen: one that cannot would leave a claim about nothing."""

from __future__ import annotations

from reconverge.checker.judge import Judge
from reconverge.checker.runner import Observer, Play, Struck, run
from reconverge.checker.scenario import ScenarioError
from reconverge.checker.world import World
from reconverge.loading.errors import quoted_nearest
from reconverge.model.cluster import Cluster
from reconverge.model.events import Event
from reconverge.model.events.containers import ContainerEvent
from reconverge.model.events.machines import NodeEvent
from reconverge.model.events.pods import PodEvent
from reconverge.model.events.workloads import WorkloadEvent
from reconverge.model.naming import pod_named, resolve, workloads
from reconverge.model.parts import parts


def require_steps(world: World, where: str) -> None:
    """Raises ScenarioError for the first fixed step that is not possible where it stands."""
    if not world.prefix:
        return
    struck: list[Struck] = []
    run(world, [Play(event) for event in world.prefix], Judge([], {}), observer=Observer(struck=struck.append))
    for place, event in enumerate(world.prefix):
        if place >= len(struck) or struck[place].event != event:
            cluster = struck[place - 1].after if place else world.start
            raise _impossible(place, event, cluster, where)


def _impossible(place: int, event: Event, cluster: Cluster, where: str) -> ScenarioError:
    step = f"spec.steps[{place}] ({event.describe()}) cannot happen"
    store = cluster.store
    if isinstance(event, NodeEvent) and store.node(event.node) is None:
        known = [node.name for node in store.nodes()]
        return ScenarioError(f'{step}: there is no node "{event.node}"', where, quoted_nearest(event.node, known))
    if isinstance(event, WorkloadEvent) and resolve(store, event.workload) is None:
        known = [each.reference for each in workloads(store)]
        return ScenarioError(f"{step}: there is no {event.workload}", where, quoted_nearest(event.workload, known))
    if isinstance(event, PodEvent) and pod_named(store, event.pod) is None:
        return ScenarioError(f"{step}: there is no pod {event.pod}", where)
    if isinstance(event, ContainerEvent) and event.container:
        pod = pod_named(store, event.pod)
        known = [part.name for part in parts(pod.spec)] if pod is not None else []
        if event.container not in known:
            message = f'{step}: the pod has no container "{event.container}", only {", ".join(known)}'
            return ScenarioError(message, where, quoted_nearest(event.container, known))
    return ScenarioError(f"{step} where it stands", where)
