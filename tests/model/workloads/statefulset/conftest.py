"""StatefulSets for the tests of their controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.labels import Selector
from reconverge.model.objects import PodTemplate, StatefulSet


@pytest.fixture(scope="session")
def db(template: Callable[..., PodTemplate], selector: Selector) -> Callable[..., StatefulSet]:
    """A StatefulSet `db` of 3 from `(behaviour, **fields)`."""

    def made(behaviour: str = "ready", **fields: Any) -> StatefulSet:
        given = {"replicas": 3, "template": template(behaviour), **fields}
        return StatefulSet(name="db", selector=selector, **given)

    return made
