"""YAML as kubectl reads it, with lines, from libyaml and from the parser in Python alike."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from reconverge.loading import yaml_text
from reconverge.loading.document import TreePositions
from reconverge.loading.errors import LoadError
from reconverge.loading.scalars import plain


@pytest.fixture(params=["CBaseLoader", "BaseLoader"], autouse=True)
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fact holds whether or not libyaml is installed."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(yaml_text, "PARSER", getattr(yaml, request.param))


def one(text: str) -> Any:
    (value,) = yaml_text.parse_yaml(text, "a.yaml")
    return value


def error(text: str) -> str:
    with pytest.raises(LoadError) as caught:
        yaml_text.parse_yaml(text, "a.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("=", "="),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01", "2024-01-01"),
        ("22:22", "22:22"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("0.15", 0.15),
        ("0644", 420),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("089", 89.0),
        ("yes", True),
        ("on", True),
        ("y", True),
        ("off", False),
        ("n", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("-", None),
        ("100m", "100m"),
        ("1.2.3", "1.2.3"),
        ("-5", -5),
        ("<<", "<<"),
        ("'1'", "1"),
        ('"yes"', "yes"),
        ("!!str 1", "1"),
        ("!!int 3", 3),
        ("!!float 3", 3.0),
        ("! 12", "12"),
    ],
)
def test_a_scalar_is_what_kubectl_takes_it_for(text: str, value: Any) -> None:
    expected = [None] if text == "-" else value
    read = one(f"a: {text}\n") if text != "-" else one("a:\n-")
    assert read["a"] == expected
    assert type(read["a"]) is type(expected) or text == "-"


def test_what_looks_like_a_number_and_is_too_long_stays_text() -> None:
    assert plain("1" * 5000) == "1" * 5000
    assert plain("1e999") == "1e999"


def test_keys_become_text_as_in_json() -> None:
    assert one('{5: a, 3.14: b, true: c, "x": d}') == {"5": "a", "3.14": "b", "true": "c", "x": "d"}


def test_lines_are_known_for_every_part() -> None:
    positions = TreePositions(one("a:\n  b:\n  - c: 1\n    d: 2\n  - x\n"))
    assert positions.line(("a",)) == 1
    assert positions.line(("a", "b", 0, "d")) == 4
    assert positions.line(("a", "b", 1)) == 5
    assert positions.line(("a", "b", 7, "missing")) == 2
    assert positions.line(("a", "b", 1, "deeper")) == 5


def test_anchors_and_merge_keys_give_values_and_their_own_lines() -> None:
    text = "base: &b\n  x: 1\n  w: 2\nuse:\n  <<: *b\n  w: 3\nmany:\n  <<: [*b, {z: 4}]\n"
    value = one(text)
    assert value["use"] == {"x": 1, "w": 3}
    assert value["many"] == {"x": 1, "w": 2, "z": 4}
    assert TreePositions(value).line(("use", "x")) == 2
    assert TreePositions(value).line(("use", "w")) == 6


def test_a_merge_of_something_else_is_an_error() -> None:
    assert "can merge only a mapping" in error("a: &a 1\nb:\n  <<: *a\n")


def test_an_alias_inside_what_it_names_is_an_error() -> None:
    assert "stands inside what it names" in error("a: &a\n  b: *a\n")


def test_an_alias_without_anchor_is_an_error() -> None:
    assert error("a: *nowhere\n").startswith("a.yaml:1: ")


def test_multiplying_aliases_are_stopped() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10))
    assert "aliases multiply" in error(f"l0: &l0 [1, 1]\n{levels}\n")


def test_deep_nesting_is_stopped() -> None:
    assert "levels deep" in error("[" * 500 + "]" * 500)


def test_duplicate_keys_name_both_lines() -> None:
    assert error("spec:\n  replicas: 1\n  x: 1\n  replicas: 2\n") == (
        'a.yaml:4: the key "replicas" is given twice, on lines 2 and 4'
    )


def test_a_duplicate_kind_says_that_a_separator_is_missing() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\napiVersion: v1\nkind: Service\n"
    assert "(lines 1 and 4): a `---` line is missing" in error(text)
    assert "is given twice, on lines" in error("a:\n  kind: x\n  kind: y\n")


def test_a_tab_is_named() -> None:
    assert error("a:\n\tb: 1\n").startswith("a.yaml:2: a tab stands where YAML takes only spaces")


@pytest.mark.parametrize(
    "text",
    [
        "spec:\n  a: 1\n   b: 2\n",
        "a: b: c\n",
        "a:\n  - x\n y: 1\n",
        "a: 'open\n",
        "a: [1, 2\nb: 3\n",
        "key\nother: 1\n",
        "a: \x01\n",
    ],
)
def test_broken_yaml_is_one_line_that_says_where(text: str) -> None:
    said = error(text)
    assert said.startswith("a.yaml:")
    assert said.split(":")[1].isdigit()
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("metadata:\n  name: {{ .Release.Name }}\n", 2),
        ("{{- if .x }}\na: 1\n{{- end }}\n", 1),
        ("metadata:\n  name: @STS_NAME@\n", 2),
        ("a:\n%{ if x }\n  b: 1\n%{ endif }\n", 2),
        ("labels:\n{{ toYaml .x | indent 2 }}\n", 2),
    ],
)
def test_a_template_is_called_one(text: str, line: int) -> None:
    assert error(text).startswith(f"a.yaml:{line}: this is a template; render it first with helm template")


def test_a_comment_with_braces_is_no_template() -> None:
    assert "template" not in error("# {{ x }}\na:\n\tb: 1\n")


def test_unknown_tags_are_errors() -> None:
    assert "!Ref" in error("a: !Ref x\n")
    assert "!Sub" in error("a: !Sub [x]\n")


def test_a_mapping_is_no_key() -> None:
    assert "must be a word" in error("? {a: 1}\n: 2\n")


def test_lines_count_from_the_first_line_given() -> None:
    with pytest.raises(LoadError, match=r"^a.yaml:12: "):
        yaml_text.parse_yaml("a: 1\n\tb: 2\n", "a.yaml", first_line=11)
