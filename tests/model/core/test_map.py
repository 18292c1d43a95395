"""The persistent map is a dictionary whose updates leave the old one as it was."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.persistent import EMPTY, Map

KEYS = st.one_of(
    st.integers(-5, 400), st.text("ab/", max_size=4), st.builds("default/web-{}".format, st.integers(0, 400))
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS, st.integers()),
        st.tuples(st.just("delete"), KEYS, st.none()),
        st.tuples(st.just("discard"), KEYS, st.none()),
        st.tuples(st.just("fill"), st.integers(0, 400), st.integers(1, 400)),
        st.tuples(st.just("empty"), st.integers(0, 400), st.integers(1, 300)),
    ),
    max_size=25,
)


def same(made: Map[object, object], expected: dict[object, object]) -> None:  # type: ignore[type-var]
    assert len(made) == len(expected)
    assert dict(made) == expected
    assert set(made) == set(expected)
    assert made == Map(expected)  # type: ignore[type-var]
    assert hash(made) == hash(Map(expected))  # type: ignore[type-var]


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_it_does_what_a_dictionary_does(steps: list[tuple[str, object, int]]) -> None:
    made: Map[object, object] = EMPTY  # type: ignore[type-var]
    expected: dict[object, object] = {}
    for what, key, value in steps:
        before, kept = made, dict(expected)
        if what == "set":
            made, expected[key] = made.set(key, value), value
        elif what == "discard":
            made = made.discard(key)
            expected.pop(key, None)
        elif what == "delete" and key in expected:
            made = made.delete(key)
            del expected[key]
        elif what == "fill":
            for each in range(int(str(key)), int(str(key)) + value):
                made, expected[f"k{each}"] = made.set(f"k{each}", each), each
        elif what == "empty":
            for each in range(int(str(key)), int(str(key)) + value):
                made = made.discard(f"k{each}")
                expected.pop(f"k{each}", None)
        assert made.get(key) == expected.get(key)
        assert made.get(key, "no") == expected.get(key, "no")
        assert (key in made) == (key in expected)
        assert dict(before) == kept, "the old map is as it was"
    same(made, expected)


@pytest.mark.parametrize("size", [0, 1, 191, 192, 193, 768, 5_000])
def test_thousands_of_entries_one_by_one_or_at_once(size: int) -> None:
    made: Map[str, int] = EMPTY
    for number in range(size):
        made = made.set(f"default/web-{number}", number)
    assert made == Map({f"default/web-{number}": number for number in range(size)})
    assert all(made[f"default/web-{number}"] == number for number in range(size))
    for number in range(0, size, 2):
        made = made.delete(f"default/web-{number}")
    assert sorted(made.values()) == list(range(1, size, 2))


def test_what_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        EMPTY["a"]
    with pytest.raises(KeyError):
        EMPTY.delete("a")
    assert EMPTY.discard("a") == EMPTY
    assert EMPTY != {}


def test_equal_maps_need_not_have_the_same_history() -> None:
    big: Map[int, int] = Map({number: number for number in range(1_000)})
    for number in range(1, 1_000):
        big = big.delete(number)
    assert big == Map({0: 0})
    assert hash(big) == hash(Map({0: 0}))
    assert big != Map({0: 1})
    assert big != Map({1: 0})


ORDER = """
from reconverge.model.persistent import Map
made = Map({f"default/web-{n}": n for n in range(2000)})
for n in range(0, 2000, 3):
    made = made.delete(f"default/web-{n}").set(f"x{n}", n)
print(list(made))
"""


def test_the_order_does_not_depend_on_pythons_string_hashes() -> None:
    seen = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", ORDER], env=environment, capture_output=True, text=True, check=True)
        seen.add(ran.stdout)
    assert len(seen) == 1
