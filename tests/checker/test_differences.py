"""How what a step has changed is told."""

from __future__ import annotations

from reconverge.checker.build_trace import differences_of
from reconverge.model.objects import Endpoint, EndpointSlice
from reconverge.model.store import Change


def test_of_a_slice_only_the_endpoints_that_differ_are_told_in_a_few_words() -> None:
    same, ready = Endpoint("default/web-a", "n1", True, True, False), Endpoint("default/web-b", "n2", True, True, False)
    going = Endpoint("default/web-b", "n2", False, True, True)
    unready = Endpoint("shop/web-c", "n2", False, False, False)
    before = EndpointSlice(name="web", service="web", endpoints=(same, ready))
    after = EndpointSlice(name="web", service="web", endpoints=(same, going, unready))
    (difference,) = differences_of((Change("EndpointSlice", "default/web", before, after),))
    assert difference.fields == (("endpoints", ["web-b ready"], ["web-b terminating", "shop/web-c not ready"]),)
