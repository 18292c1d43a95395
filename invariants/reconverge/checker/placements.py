"""Whether what a scenario says of the places of pods at its start can be meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reconverge.loading import LoadError
from reconverge.loading.errors import quoted_nearest
from reconverge.model.naming import resolve, workloads
from reconverge.model.store import Store


def require_places(store: Store, placement: Mapping[str, Sequence[str]], where: str) -> None:
    """Raises LoadError for a workload or a node that there is not, with the nearest that there is."""
    nodes = [node.name for node in store.nodes()]
    for workload, places in placement.items():
        if resolve(store, workload) is None:
            known = [each.reference for each in workloads(store)]
            raise LoadError(f"spec.placement: there is no {workload}", where, quoted_nearest(workload, known))
        for node in places:
            if node not in nodes:
                message = f'spec.placement.{workload}: there is no node "{node}"'
                raise LoadError(message, where, quoted_nearest(node, nodes))
