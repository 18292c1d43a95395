"""A changed replica count: one ReplicaSet takes it, or all share it in proportion; and paused Deployments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model.loop import Reading
from reconverge.model.loops.deployment.pass_ import Pass
from reconverge.model.loops.deployment.scaling import is_scaling_event, scale
from reconverge.model.objects import ReplicaSetStatus
from reconverge.model.rules import Rules
from reconverge.model.store import EMPTY_STORE


def shared(
    lab: Any, replicas: int, sizes: dict[str, int], most: int, *, was: int = 10, **fields: Any
) -> dict[str, int]:
    """The sizes of some ReplicaSets, the last one new, after a scaling pass; `most` is their annotation."""
    made = lab.deployment(replicas, template=lab.template(list(sizes)[-1]), uid=1, **fields)
    sets = [
        lab.replica_set(
            size, name=f"web-{digest}", template=lab.template(digest), owner=made.owner_reference(), uid=9 + place,
            created_at=place, desired_replicas=was, max_replicas=most, deployment_revision=place + 1,
        )
        for place, (digest, size) in enumerate(sizes.items())
    ]  # fmt: skip
    work = Pass(Reading(EMPTY_STORE, 100, Rules()), made, sets)
    assert is_scaling_event(work)
    scale(work)
    return {rs.template.digest: rs.replicas for rs in work.all}


@pytest.mark.parametrize(
    ("replicas", "sizes", "most", "fields", "expected"),
    [
        pytest.param(15, {"old": 8, "new": 5}, 13, {}, {"old": 12, "new": 7}, id="R8"),
        pytest.param(6, {"old": 8, "new": 5}, 13, {}, {"old": 5, "new": 3}, id="R9"),
        # round(4 * 6/4) would be 6 of each: what is left over goes to the largest, here the newer of two equals.
        (5, {"old": 2, "new": 2}, 4, {"max_surge": 0, "was": 4}, {"old": 2, "new": 3}),
        # On the way down the older of two equals gives first.
        (3, {"old": 2, "new": 2}, 4, {"max_surge": 0, "was": 4}, {"old": 1, "new": 2}),
        (0, {"old": 8, "new": 5}, 13, {}, {"old": 0, "new": 0}),
    ],
)
def test_several_sets_share_a_new_size_in_proportion(
    lab: Any, replicas: int, sizes: Any, most: int, fields: Any, expected: Any
) -> None:
    assert shared(lab, replicas, sizes, most, **fields) == expected


@given(st.integers(0, 30), st.lists(st.integers(1, 15), min_size=2, max_size=4), st.integers(0, 3), st.integers(0, 8))
def test_proportional_shares_come_out_at_the_allowed_total(
    lab: Any, replicas: int, sizes: list[int], surge: int, over: int
) -> None:
    """Nothing is lost in rounding and no set gets below 0; from a full rollout, all sets go the same way."""
    before = {f"t{place}": size for place, size in enumerate(sizes)}
    after = shared(lab, replicas, before, sum(sizes) + over, was=40, max_surge=surge)
    allowed = replicas + surge if replicas else 0
    assert min(after.values()) >= 0
    assert sum(after.values()) == allowed
    if over:
        return
    if allowed >= sum(sizes):
        assert all(after[each] >= before[each] for each in before)
    else:
        assert all(after[each] <= before[each] for each in before)


def test_a_single_active_set_takes_the_new_size(rollout: Any) -> None:
    web = rollout(4)
    web.apply(replicas=7)
    web.rest()
    assert web.sizes() == {"one": 7}
    assert (web.sets()["one"].desired_replicas, web.sets()["one"].max_replicas) == (7, 9)


def test_a_deployment_at_zero_comes_back_to_its_newest_set(rollout: Any) -> None:
    web = rollout(3)
    web.template("two")
    web.rest()
    web.apply(replicas=0)
    web.rest()
    assert web.sizes() == {"one": 0, "two": 0}
    web.apply(replicas=2)
    web.rest()
    assert web.sizes() == {"one": 0, "two": 2}


def test_a_scale_event_in_the_middle_of_a_rollout_moves_no_template(rollout: Any) -> None:
    web = rollout(10)
    web.template("two")
    web.one_pass()
    web.answer()
    web.one_pass()
    web.answer()
    assert web.sizes() == {"one": 8, "two": 5}
    web.apply(replicas=15)
    web.one_pass()
    assert web.sizes() == {"one": 12, "two": 7}
    web.answer()
    assert web.rest()[-1] == "15/0"


def test_sizes_of_a_rollout_are_scaled_even_if_only_the_annotations_differ(lab: Any) -> None:
    assert shared(lab, 11, {"old": 6, "new": 5}, 13, max_surge=0) == {"old": 6, "new": 5}


def test_a_paused_deployment_creates_no_set_and_rolls_nothing(rollout: Any) -> None:
    web = rollout(4)
    web.apply(paused=True)
    web.rest()
    assert web.condition()[:2] == ("Unknown", "DeploymentPaused")
    web.template("two")
    web.rest()
    assert web.sizes() == {"one": 4}
    assert web.deployment.status.observed_generation == web.deployment.generation
    assert web.deployment.status.updated == 0


def test_a_paused_deployment_scales(rollout: Any) -> None:
    web = rollout(4)
    web.apply(paused=True)
    web.rest()
    web.apply(replicas=6)
    web.rest()
    assert web.sizes() == {"one": 6}


def test_a_deployment_paused_in_the_middle_keeps_both_sets_and_shares(rollout: Any) -> None:
    web = rollout(4)
    web.template("two")
    web.one_pass()
    web.answer()
    web.apply(paused=True)
    assert web.sizes() == {"one": 3, "two": 1}
    web.rest()
    # A paused one is scaled in every pass: 4 wanted and 1 in surge, and the one that is missing goes to the largest.
    assert web.sizes() == {"one": 4, "two": 1}
    web.apply(replicas=8)
    web.rest()
    assert web.sizes() == {"one": 8, "two": 2}


def test_a_resumed_deployment_goes_on(rollout: Any) -> None:
    web = rollout(4)
    web.apply(paused=True)
    web.template("two")
    web.rest()
    web.apply(paused=False)
    web.one_pass()
    assert web.condition()[:2] == ("Unknown", "DeploymentResumed")
    web.answer()
    assert web.rest()[-1] == "4/0"
    assert web.condition()[:2] == ("True", "NewReplicaSetAvailable")


def test_a_saturated_new_set_takes_the_old_ones_down(lab: Any) -> None:
    made = lab.deployment(4, template=lab.template("new"), uid=1)
    sets = [
        lab.replica_set(size, name=f"web-{digest}", template=lab.template(digest), owner=made.owner_reference(),
                        uid=uid, created_at=uid, desired_replicas=wanted, max_replicas=9,
                        status=ReplicaSetStatus(size, size, size, size))
        for uid, digest, size, wanted in ((9, "old", 3, 8), (10, "new", 4, 4))
    ]  # fmt: skip
    work = Pass(Reading(EMPTY_STORE, 100, Rules()), made, sets)
    scale(work)
    assert {rs.template.digest: rs.replicas for rs in work.all} == {"old": 0, "new": 4}
