"""Typed access to documents of reconverge's own: the scenario reader stands on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Fields, LoadError, decode, load_documents, nearest, parse_document_text

TEXT = """\
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {name: a}
spec:
  events: 2
  steps:
  - pressure: {node: n1, resource: memory, on: true}
  - drain: {node: n2}
  objects:
  - apiVersion: v1
    kind: Service
    metadata: {name: web}
  - apiVersion: v1
    kind: ConfigMap
"""


@pytest.fixture
def spec() -> Fields:
    return parse_document_text(TEXT, "a.yaml").only("apiVersion", "kind", "metadata", "spec").child("spec")


def test_values_come_with_their_places(spec: Fields) -> None:
    assert spec.integer("events", 1) == 2
    assert spec.where("events") == "a.yaml:5"
    assert [each.where() for each in spec.children("steps")] == ["a.yaml:7", "a.yaml:8"]
    assert spec.names() == ["events", "steps", "objects"]
    assert "events" in spec
    assert "may" not in spec


def test_on_is_a_key_like_any_other(spec: Fields) -> None:
    step = next(spec.children("steps")).child("pressure")
    assert step.flag("on") is True
    assert step.name("on") == "spec.steps[0].pressure.on"


def test_objects_inside_are_documents(spec: Fields) -> None:
    documents = spec.documents("objects")
    assert [each.where() for each in documents] == ["a.yaml:10", "a.yaml:13"]
    assert decode(documents[0]).name == "web"
    loaded = load_documents(documents)
    assert [each.name for each in loaded.objects] == ["web"]
    assert loaded.skipped == {"ConfigMap": 1}
    with pytest.raises(LoadError, match=r'^a.yaml:14: the kind "ConfigMap" is not modelled$'):
        decode(documents[1])


@pytest.mark.parametrize(
    ("get", "said"),
    [
        (lambda spec: spec.only("event", "steps"), 'a.yaml:5: unknown field "spec.events". Did you mean "event"?'),
        (lambda spec: spec.text("events"), 'a.yaml:5: spec.events must be a string, not 2 (put it in quotes: "2")'),
        (lambda spec: spec.items("events"), "a.yaml:5: spec.events must be a list, not 2"),
        (lambda spec: spec.child("steps"), "a.yaml:6: spec.steps must be a mapping, not a list"),
        (lambda spec: spec.texts("steps"), "a.yaml:7: spec.steps[0] must be a string, not a mapping"),
        (lambda spec: spec.flag("events"), "a.yaml:5: spec.events must be true or false, not 2"),
        (lambda spec: spec.integer("events", 1, most=1), "a.yaml:5: spec.events must be at most 1, not 2"),
        (lambda spec: spec.required_text("name"), "a.yaml:4: spec.name is required"),
    ],
)
def test_errors_say_where_and_what(spec: Fields, get: Callable[[Fields], Any], said: str) -> None:
    with pytest.raises(LoadError) as caught:
        get(spec)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.yaml: one document is expected, not 0"),
        ("a: 1\n---\nb: 1\n", "a.yaml:3: one document is expected, not 2"),
        ("a: 1\na: 2\n", 'a.yaml:2: the key "a" is given twice, on lines 1 and 2'),
        ("- 1\n", "a.yaml:1: this is not a Kubernetes object: a mapping with apiVersion and kind is expected"),
    ],
)
def test_a_text_holds_one_mapping(text: str, said: str) -> None:
    with pytest.raises(LoadError) as caught:
        parse_document_text(text, "a.yaml")
    assert str(caught.value) == said


def test_the_nearest_word_is_found_by_case_and_by_letters() -> None:
    assert nearest("nodecrash", ["node-crash", "node-recover"]) == "node-crash"
    assert nearest("DRAIN", ["drain", "train"]) == "drain"
    assert nearest("x", ["drain"]) == ""
