"""Clusters with storage, under the standard control loops and those of volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.objects import ApiObject
from reconverge.model.objects.storage import PersistentVolumeClaim, StorageClass
from reconverge.model.rules import Rules
from reconverge.model.standard import cluster_of, standard_control_plane, storage_loops

Start = Callable[..., Any]


@pytest.fixture
def start(lab: type[Any]) -> Start:
    """A cluster in which some objects exist."""

    def make(*objects: ApiObject, rules: Rules | None = None) -> Any:
        return lab(standard_control_plane().including(*storage_loops(objects)), cluster_of(objects, rules))

    return make


@pytest.fixture
def disk() -> Callable[..., StorageClass]:
    """The default class of zonal disks, made where the first pod goes unless told otherwise."""

    def make(mode: str = "WaitForFirstConsumer", **fields: Any) -> StorageClass:
        made = {"name": "disk", "provisioner": "ebs.csi.aws.com", "default": True, **fields}
        return StorageClass(binding_mode=mode, **made)

    return make


@pytest.fixture
def claim() -> Callable[..., PersistentVolumeClaim]:
    """A claim of 10 bytes."""

    def make(name: str = "data", **fields: Any) -> PersistentVolumeClaim:
        return PersistentVolumeClaim(name=name, request=10, **fields)

    return make
