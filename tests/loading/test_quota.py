"""LimitRanges and ResourceQuotas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import load_text
from reconverge.model.objects.quota import LimitRange, LimitRangeItem, ResourceQuota

Read = Callable[[str], Any]
MI = 2**20


def limits(item: str) -> str:
    return f"apiVersion: v1\nkind: LimitRange\nmetadata: {{name: limits}}\nspec: {{limits: [{{{item}}}]}}\n"


def quota(spec: str) -> str:
    return f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: compute}}\nspec: {{{spec}}}\n"


def test_limits_are_read_with_the_defaults_of_the_api(read_one: Read) -> None:
    found = read_one(limits("type: Container, max: {cpu: 2}, min: {memory: 64Mi}, defaultRequest: {cpu: 100m}"))
    assert isinstance(found, LimitRange)
    assert found.items == (
        LimitRangeItem(
            default=(("cpu", 2000),),
            default_request=(("cpu", 100), ("memory", 64 * MI)),
            minimum=(("memory", 64 * MI),),
            maximum=(("cpu", 2000),),
        ),
    )


def test_limits_of_pods_have_no_defaults_and_those_of_claims_are_left_out(read_one: Read) -> None:
    assert read_one(limits("type: Pod, max: {cpu: 2}")).items == (LimitRangeItem("Pod", maximum=(("cpu", 2000),)),)
    assert read_one(limits("type: PersistentVolumeClaim, max: {storage: 1Gi}")).items == ()


def test_a_quota_is_read(read_one: Read) -> None:
    found = read_one(quota("hard: {pods: 10, cpu: 1500m, limits.memory: 1Mi, requests.nvidia.com/gpu: 1}"))
    assert isinstance(found, ResourceQuota)
    assert found.hard == (
        ("limits.memory", MI), ("pods", 10), ("requests.cpu", 1500), ("requests.nvidia.com/gpu", 1),
    )  # fmt: skip
    assert read_one(quota("hard: {count/pods: 3}, scopes: [NotBestEffort]")).scopes == ("NotBestEffort",)


def test_what_is_not_supported_is_said() -> None:
    loaded = load_text(quota("hard: {services: 3, count/jobs.batch: 1}, scopeSelector: {matchExpressions: []}"), "f")
    assert loaded.objects[0].scopes == ("scopeSelector",)  # type: ignore[attr-defined]
    named = {each.path for each in loaded.accounting.unsupported}
    assert named == {"spec.scopeSelector", "spec.hard.services", "spec.hard.count/jobs.batch"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (limits("type: Container, max: {cpu: 1}, min: {cpu: 2}"), "must not be more than max"),
        (limits("type: Container, default: {cpu: 1}, defaultRequest: {cpu: 2}"), "must not be more than default"),
        (limits("type: Pod, default: {cpu: 1}"), "is not for type Pod"),
        (limits("type: Contaner"), 'Did you mean "Container"?'),
        (limits("type: Container, max: {cup: 1}"), "no resource that Kubernetes knows"),
        (quota("hard: {request.cpu: 1}"), 'Did you mean "requests.cpu"?'),
        (quota("hard: {pods: many}"), "is no quantity"),
        (quota("hard: {pods: 1}, scopes: [BestEfort]"), 'Did you mean "BestEffort"?'),
    ],
)
def test_bad_ones_are_refused(error_of: Read, text: str, said: str) -> None:
    assert said in error_of(text)
