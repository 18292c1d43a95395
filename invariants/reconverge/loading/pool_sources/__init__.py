"""Node pools as the tools that make clusters describe them: eksctl's ClusterConfig, Cluster API's machine objects.

They are read only where they are used: nodes that somebody describes by hand come first.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.loading.document import Document
from reconverge.loading.errors import LoadError, quoted_nearest
from reconverge.loading.pool_sources import cluster_api, eksctl
from reconverge.loading.pool_sources.described import Described
from reconverge.loading.pools import NodePool

VERSIONS = {
    ("eksctl.io", "ClusterConfig"): eksctl.VERSIONS,
    ("cluster.x-k8s.io", "MachineDeployment"): cluster_api.VERSIONS,
    ("cluster.x-k8s.io", "MachinePool"): cluster_api.VERSIONS,
}
"""(API group, kind) of what describes node pools, and the API versions that are read."""
REFERRED = ("infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io")
"""API groups of what machine objects refer to for their shape and registration."""


def is_pool_source(kind: str, api_version: str) -> bool:
    """Whether objects of this kind describe node pools, or what these are made of."""
    group = api_version.rpartition("/")[0]
    return (group, kind) in VERSIONS or group in REFERRED


def sources(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Those of some documents that describe pools themselves."""
    return tuple(each for each in documents if (each.group, each.kind) in VERSIONS and _describes(each))


def _describes(document: Document) -> bool:
    """Whether there is a pool in it: a ClusterConfig may have Fargate or Karpenter alone."""
    return document.kind != eksctl.KIND or any(document.value.get(key) for key in eksctl.GROUPS)


def described_pools(documents: Iterable[Document]) -> Described:
    """The pools that some documents describe together, in their order. Raises LoadError with file:line."""
    listed = list(documents)
    described = Described()
    seen: dict[str, Document] = {}
    cluster = ""
    for document in sources(listed):
        _require_version(document)
        same = seen.setdefault(f"{document.kind}/{document.name}", document)
        if same is not document and same.value == document.value:
            continue
        read = eksctl.read(document) if document.kind == eksctl.KIND else cluster_api.read(document, listed)
        if cluster and read.cluster != cluster:
            message = f'the nodes of two clusters are described, "{cluster}" and "{read.cluster}"'
            raise LoadError(f"{message}; name only the files that make up one cluster", document.where())
        cluster = read.cluster
        _require_new_names(described.pools, read.pools, document)
        described += read
    return described


def _require_version(document: Document) -> None:
    known = VERSIONS[document.group, document.kind]
    if document.api_version not in known:
        message = f'there is no {document.kind} in apiVersion "{document.api_version}" that can be read'
        suggestion = quoted_nearest(document.api_version, known) or f'"{known[0]}"'
        raise LoadError(message, document.where(("apiVersion",)), suggestion)


def _require_new_names(before: tuple[NodePool, ...], more: tuple[NodePool, ...], document: Document) -> None:
    names = {pool.name for pool in before}
    for pool in more:
        if pool.name in names:
            raise LoadError(f'two node pools are called "{pool.name}"', document.where())


__all__ = ["Described", "described_pools", "is_pool_source", "sources"]
