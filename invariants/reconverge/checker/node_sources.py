"""Which of several descriptions of nodes counts.

Whoever names nodes outright is right: `--nodes`, the `nodePools` of a scenario, Node objects. What the tools that make
clusters describe counts where nothing of that is given.
"""

from __future__ import annotations

from reconverge.loading import Fields, Loaded, NodePool, described_pools, node_pool
from reconverge.loading.pool_sources import sources
from reconverge.model.objects import Node


def describes_nodes(loaded: Loaded) -> bool:
    """Whether the input says anything of nodes."""
    return any(isinstance(each, Node) for each in loaded.objects) or bool(sources(loaded.pool_documents))


def pools_of(spec: Fields, loaded: Loaded) -> tuple[tuple[NodePool, ...], tuple[str, ...]]:
    """The node pools of a scenario, and remarks on them. Raises LoadError for pools that cannot be used."""
    given = tuple(node_pool(pool) for pool in spec.children("nodePools"))
    described = sources(loaded.pool_documents)
    if not described:
        return given, ()
    has_nodes = any(isinstance(each, Node) for each in loaded.objects)
    if given or has_nodes:
        others = "nodePools (--nodes) say" if given else "Node objects say"
        where = ", ".join(dict.fromkeys(each.file or each.name for each in described))
        return given, (f"the node pools of {where} are left out: {others} which nodes there are",)
    found = described_pools(loaded.pool_documents)
    return found.pools, tuple(str(remark) for remark in found.remarks)
