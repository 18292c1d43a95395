"""Recognises templates that have not been rendered: Helm and Go, envsubst, autoconf-style, Terraform."""

from __future__ import annotations

import re

ADVICE = "this is a template; render it first with helm template / kubectl kustomize / envsubst"

_IN_VALUE = re.compile(r"\{\{|\$\{|\$\(\w|%\{|@[A-Z][A-Z0-9_]*@|<%|\{%")
_IN_SOURCE = re.compile(r"\{\{|\$\{|%\{|@[A-Z][A-Z0-9_]*@|<%|\{%")


def is_template(value: object) -> bool:
    """Whether a value holds a placeholder such as `{{ .x }}`, `${X:-1}`, `@X@` or `%{ if }`."""
    return isinstance(value, str) and _IN_VALUE.search(value) is not None


def template_line(text: str, near: int) -> int | None:
    """The number (from 0) of a line of `text` with a placeholder that is no comment, the closest to line `near`."""
    lines = [
        number
        for number, line in enumerate(text.split("\n"))
        if _IN_SOURCE.search(line) and not line.lstrip().startswith("#")
    ]
    return min(lines, key=lambda number: (abs(number - near), number)) if lines else None
