"""Rolling updates: what each pass does to the new and the old ReplicaSet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.objects import Deployment
from reconverge.model.rounding import fenceposts, max_surge, max_unavailable


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        pytest.param(10, "25%", "25%", (3, 2), id="R1"),
        pytest.param(1, "25%", "25%", (1, 0), id="R2"),
        pytest.param(3, 0, "25%", (0, 1), id="R3"),
        pytest.param(2, 0, 5, (0, 2), id="R4"),
        (2, "25%", "25%", (1, 0)),
        (3, "25%", "25%", (1, 0)),
        (4, "25%", "25%", (1, 1)),
        (5, "25%", "25%", (2, 1)),
        (8, "25%", "25%", (2, 2)),
        (0, "25%", "25%", (0, 0)),
        (3, "100%", "100%", (3, 3)),
    ],
)
def test_surge_is_rounded_up_and_unavailable_down(
    lab: Any, replicas: int, surge: Any, unavailable: Any, expected: tuple[int, int]
) -> None:
    made = lab.deployment(replicas, max_surge=surge, max_unavailable=unavailable)
    assert (max_surge(made), max_unavailable(made)) == expected


def test_recreate_has_neither_surge_nor_unavailable(lab: Any) -> None:
    made = lab.deployment(4, strategy="Recreate")
    assert (max_surge(made), max_unavailable(made)) == (0, 0)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100))
def test_a_rollout_can_always_move(replicas: int, surge: int, unavailable: int) -> None:
    made = Deployment(name="web", replicas=replicas, max_surge=f"{surge}%", max_unavailable=f"{unavailable}%")
    assert sum(fenceposts(made)) > 0
    assert max_unavailable(made) <= replicas


@pytest.mark.parametrize(
    ("replicas", "fields", "trace"),
    [
        (1, {}, "1/1 1/0"),
        (3, {}, "1/3 1/2 2/2 2/1 3/1 3/0"),
        (4, {}, "1/3 2/3 2/1 4/1 4/0"),
        (10, {}, "3/8 5/8 5/3 10/3 10/0"),
        (4, {"max_surge": 0, "max_unavailable": 1}, "0/3 1/3 1/2 2/2 2/1 3/1 3/0 4/0"),
        (3, {"max_surge": 3, "max_unavailable": 0}, "3/3 3/0"),
        (2, {"max_surge": 0, "max_unavailable": 5}, "0/0 2/0"),
        (0, {}, "0/0"),
    ],
)
def test_a_rollout_goes_step_by_step(rollout: Any, replicas: int, fields: Any, trace: str) -> None:
    web = rollout(replicas, **fields)
    web.template("two")
    assert web.rest() == trace.split()
    assert web.condition()[:2] == ("True", "NewReplicaSetAvailable")
    assert web.deployment.status.updated == replicas


@pytest.mark.parametrize(
    ("replicas", "trace"), [(4, "1/3 2/3"), (10, "3/8 5/8"), (3, "1/3"), (1, "1/1"), (2, "1/2"), (5, "2/4 3/4")]
)
def test_a_template_that_never_gets_ready_stops_at_what_must_stay_available(
    rollout: Any, replicas: int, trace: str
) -> None:
    web = rollout(replicas)
    web.template("bad")
    assert web.rest(("bad",)) == trace.split()
    assert web.deployment.status.available >= replicas - max_unavailable(web.deployment)


def test_the_first_pass_creates_the_new_set_and_takes_from_the_old_one(rollout: Any) -> None:
    web = rollout(4)
    web.template("two")
    plan = web.lab.pass_of("deployment")
    assert [action.describe() for action in plan.actions] == [
        "creates replicaset/web-two",
        "updates status of deployment/web",
        "scales replicaset/web-one from 4 to 3",
    ]
    assert web.lab.refused == []


def test_without_surge_the_new_set_begins_with_nothing(rollout: Any) -> None:
    web = rollout(4, max_surge=0, max_unavailable=1)
    web.template("two")
    web.one_pass()
    assert web.sizes() == {"one": 3, "two": 0}


def test_a_status_with_more_available_than_wanted_stops_the_scale_down_of_old_sets(rollout: Any) -> None:
    """A stale status: neither clean-up nor scale-down until the ReplicaSet controller has caught up."""
    web = rollout(4)
    web.template("two")
    web.one_pass()
    web.answer(one=4)
    web.one_pass()
    web.answer(one=4)
    assert web.sizes() == {"one": 3, "two": 2}
    web.one_pass()
    assert web.sizes() == {"one": 3, "two": 2}
    web.answer()
    web.one_pass()
    assert web.sizes() == {"one": 1, "two": 2}


def test_unavailable_old_pods_are_cleaned_up_first(rollout: Any) -> None:
    """D=10, S=3, U=2, four of the old ones broken: they go at once, and no available one goes with them."""
    web = rollout(10)
    web.answer(one=6)
    while web.one_pass():
        pass
    web.template("two")
    web.one_pass()
    # total 13 - minimum 8 - 3 new that are not available leaves 2; available 6 is below 8.
    assert web.sizes() == {"one": 8, "two": 3}


def test_a_clean_up_counts_against_what_may_go_of_available_pods(rollout: Any) -> None:
    """C2 goes by the availability as it was read: 9 - 8 = 1 more after two broken ones, as far as msd allows."""
    web = rollout(10)
    web.answer(one=9)
    while web.one_pass():
        pass
    web.template("two")
    web.one_pass()
    # msd = 13 - 8 - 3 = 2: one broken, then one of the surplus.
    assert web.sizes() == {"one": 8, "two": 3}


def test_of_several_old_sets_the_broken_one_goes_first(rollout: Any) -> None:
    web = rollout(4)
    web.template("bad")
    web.rest(("bad",))
    assert web.sizes() == {"one": 3, "bad": 2}
    web.template("three")
    assert web.rest(("bad",)) == ["0/3", "2/3", "2/1", "4/1", "4/0"]


def test_of_several_healthy_old_sets_the_oldest_goes_first(rollout: Any) -> None:
    web = rollout(4)
    web.lab.until(10)
    web.template("two")
    while web.sizes() != {"one": 1, "two": 4}:
        web.one_pass()
        web.answer()
    web.template("three")
    web.one_pass()
    # D+S are taken: the new set begins with 0. 5 available, 3 needed: two may go.
    assert web.sizes() == {"one": 0, "two": 3, "three": 0}


def test_min_ready_seconds_reach_the_set_and_count_as_a_change_of_its_spec(rollout: Any) -> None:
    web = rollout(2)
    before = web.sets()["one"]
    web.apply(min_ready=30)
    web.rest()
    after = web.sets()["one"]
    assert (after.min_ready, after.generation) == (30, before.generation + 1)
    assert web.sizes() == {"one": 2}


@settings(max_examples=40, deadline=None)
@given(
    replicas=st.integers(1, 9),
    surge=st.integers(0, 4),
    unavailable=st.integers(0, 4),
    broken=st.booleans(),
    again=st.booleans(),
)
def test_totals_stay_within_surge_and_availability(
    lab: Any, rollout_class: Any, replicas: int, surge: int, unavailable: int, broken: bool, again: bool
) -> None:
    """With fresh statuses: specs sum to at most D+S, and what is available never falls below D-U by the rollout."""
    made = lab.deployment(replicas, max_surge=surge, max_unavailable=unavailable)
    most, least = replicas + max_surge(made), replicas - max_unavailable(made)
    web = rollout_class(lab, made)
    web.rest()
    never = ("two",) if broken else ()
    for digest in ["two", "three"] if again else ["two"]:
        web.template(digest)
        for _ in range(100):
            if not web.one_pass():
                break
            web.answer(never)
            assert sum(web.sizes().values()) <= most
            assert web.lab.refused == []
            assert sum(rs.status.available for rs in web.sets().values()) >= least
    done = {digest: size for digest, size in web.sizes().items() if size}
    assert (broken and not again) or done == {web.deployment.template.digest: replicas}
