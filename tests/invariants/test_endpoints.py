"""Whether the endpoints of Services are true."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loop import LoopState
from reconverge.model.objects import Endpoint, EndpointSlice

KEY = "endpoints-true"


def end(lab: Any, pods: list[Any], *listed: Endpoint, **options: Any) -> Any:
    service, slice_ = lab.service()
    uids = {each.key: each.uid for each in pods}
    placed = tuple(each.with_(zone="a", uid=each.uid or uids.get(each.pod, 0)) for each in listed)
    objects = [service.with_(**options.pop("service", {})), slice_.with_(endpoints=placed)]
    outcome = options.pop("outcome", "rest")
    return lab.quiet(lab.situation(lab.node(), *objects, *pods, **options), outcome)


def endpoint(name: str = "web-a", ready: bool = True, serving: bool = True, terminating: bool = False) -> Endpoint:
    return Endpoint(f"default/{name}", "n1", ready, serving, terminating)


@pytest.mark.parametrize(
    ("pod", "right"),
    [
        ({}, endpoint()),
        ({"ready": False}, endpoint(ready=False, serving=False)),
        ({"deletion_at": 1030.0}, endpoint(ready=False, terminating=True)),
        ({"phase": "Pending", "ready": False, "started_at": 1.0}, endpoint(ready=False, serving=False)),
        ({"phase": "Pending", "ready": False}, None),
        ({"phase": "Failed", "ready": False}, None),
        ({"labels": ()}, None),
    ],
)
def test_a_pod_is_listed_as_it_is(lab: Any, pod: dict[str, Any], right: Endpoint | None) -> None:
    pods = [lab.pod(**pod)]
    for listed in (None, endpoint(), endpoint(ready=False, serving=False), endpoint(ready=False, terminating=True)):
        found = lab.broken(KEY, end(lab, pods, *([listed] if listed is not None else [])))
        assert bool(found) is (listed != right)


def test_a_pod_that_is_gone_is_not_listed(lab: Any) -> None:
    (violation,) = lab.broken(KEY, end(lab, [lab.pod()], endpoint(), endpoint("web-b")))
    assert violation.object == "service/web"
    assert "pod/web-b is listed" in violation.message


def test_a_pod_is_not_listed_with_the_address_of_another_one_of_its_name(lab: Any) -> None:
    (violation,) = lab.broken(KEY, end(lab, [lab.pod()], endpoint().with_(uid=99)))
    assert violation.message.endswith("pod/web-a is listed with the address of an earlier pod of that name")


def test_the_zone_that_is_listed_is_that_of_the_node(lab: Any) -> None:
    pod = lab.pod()
    right = endpoint().with_(uid=pod.uid, zone="a")
    service, slice_ = lab.service()
    for zone, nodes, wrong in (("a", True, False), ("b", True, True), ("", True, True), ("b", False, False)):
        objects = [service, slice_.with_(endpoints=(right.with_(zone=zone),)), pod, *([lab.node()] if nodes else [])]
        assert bool(lab.broken(KEY, lab.quiet(lab.situation(*objects)))) is wrong


def test_what_is_published_regardless_is_ready(lab: Any) -> None:
    pods, regardless = [lab.pod(ready=False)], {"publish_not_ready": True}
    assert lab.broken(KEY, end(lab, pods, endpoint(serving=False), service=regardless)) == []
    assert lab.broken(KEY, end(lab, pods, endpoint(ready=False, serving=False), service=regardless)) != []


def test_endpoints_kept_by_hand_and_those_of_a_loop_that_is_held_up_are_not_judged(lab: Any) -> None:
    pods = [lab.pod()]
    assert lab.broken(KEY, end(lab, pods)) != []
    assert lab.broken(KEY, end(lab, pods, service={"selector": None})) == []
    assert lab.broken(KEY, end(lab, pods, outcome="loop")) == []
    assert lab.broken(KEY, end(lab, pods, loops={"endpoints": LoopState(paused=True)})) == []


def test_a_service_has_a_slice_and_a_slice_its_service(lab: Any) -> None:
    service, slice_ = lab.service()
    assert [each.object for each in lab.broken(KEY, lab.quiet(lab.situation(service)))] == ["service/web"]
    assert [each.object for each in lab.broken(KEY, lab.quiet(lab.situation(slice_)))] == ["endpointslice/web"]
    by_hand = EndpointSlice(name="mine", uid=lab.fresh())
    assert lab.broken(KEY, lab.quiet(lab.situation(by_hand))) == []
