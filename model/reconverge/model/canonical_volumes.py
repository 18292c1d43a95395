"""What storage has of names of nodes, for the canonical form.

A disk that is attached to a node, and a node selected for a claim, are told of the node, which may have no name.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.model.objects.node import HOSTNAME
from reconverge.model.objects.storage import ATTACHMENT, CLAIM, VOLUME
from reconverge.model.store import Store


def on_nodes(store: Store) -> Iterator[tuple[str, tuple[str, str]]]:
    """(node, what is known of it) for every attachment and every selected node."""
    if ATTACHMENT in store.tables:
        yield from ((each.node, ("attached", each.name)) for each in store.all(ATTACHMENT))
    if CLAIM in store.tables:
        yield from ((each.selected_node, ("selected", each.key)) for each in store.all(CLAIM) if each.selected_node)


def named_nodes(store: Store) -> set[str]:
    """Nodes that a volume's affinity names: no other will do for it."""
    if VOLUME not in store.tables:
        return set()
    return {
        value
        for volume in store.all(VOLUME)
        for term in volume.affinity or ()
        for each in (*term.expressions, *term.fields)
        if each.key in (HOSTNAME, "metadata.name")
        for value in each.values
    }
