"""Every field is read, ignored or unsupported; schemas and decoders agree."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable

import pytest

from reconverge.loading import Accounting, Loaded, UnsupportedField, decoders
from reconverge.loading.schema import Schema

Text = Callable[..., str]

MODULES = [
    importlib.import_module(f"{decoders.__name__}.{each.name}") for each in pkgutil.iter_modules(decoders.__path__)
]


def test_fields_are_counted_and_what_matters_is_named(read_all: Callable[[str], Loaded], deployment: Text) -> None:
    accounting = read_all(deployment(pod="resourceClaims: [{name: gpu}]\nhostname: x\nruntimeClassName: ''")).accounting
    assert accounting.unsupported == (
        UnsupportedField("a.yaml:10", "spec.template.spec.resourceClaims", "deployment/web"),
    )
    # apiVersion kind metadata spec, name, selector template, matchLabels, metadata spec, labels, containers, name image
    assert (accounting.read, accounting.ignored) == (14, 1)
    assert str(accounting) == "read 14, ignored 1, unsupported 1: a.yaml:10 spec.template.spec.resourceClaims"


def test_an_unsupported_field_that_asks_for_nothing_is_not_named(
    read_all: Callable[[str], Loaded], deployment: Text
) -> None:
    assert read_all(deployment(pod="readinessGates: []")).accounting.unsupported == ()


def test_accounts_add_up() -> None:
    gap = UnsupportedField("a:1", "x")
    assert Accounting(1, 2, (gap,)) + Accounting(3, 4) == Accounting(4, 6, (gap,))
    assert str(Accounting(0, 0, (gap,) * 10)).endswith("a:1 x, and 2 more")
    assert str(Accounting(1, 2)) == "read 1, ignored 2, unsupported 0"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_key_said_to_be_read_is_read(module: object) -> None:
    source = "".join(inspect.getsource(each) for each in MODULES)
    for schema in vars(module).values():
        if isinstance(schema, Schema):
            assert not schema.read & schema.ignored
            assert not schema.unsupported & (schema.read | schema.ignored)
            quiet = {"apiVersion", "kind", "spec", "status", "metadata"}
            if schema.name == "volume":
                continue
            unread = {key for key in schema.read - quiet if f'"{key}"' not in source and "IgnoredDuring" not in key}
            assert not unread, schema.name
