"""Writing HTML safely: every text passes through `element` or `text`."""

from __future__ import annotations

from html import escape
from typing import NewType

Markup = NewType("Markup", str)
"""Text that is HTML already."""

Content = str | Markup
VOID = frozenset({"br", "meta", "circle", "line", "path", "rect"})


def text(plain: str) -> Markup:
    """Plain text as HTML."""
    return Markup(escape(plain))


def element(tag: str, *content: Markup, **attributes: str | int | float | None) -> Markup:
    """An element; attributes that are None are left out, `class_` is class, other underscores are hyphens."""
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID and not content:
        return Markup(f"<{tag}{told}{'/' if tag not in ('br', 'meta') else ''}>")
    return Markup(f"<{tag}{told}>{''.join(content)}</{tag}>")


def joined(*parts: Markup) -> Markup:
    """Several pieces one after the other."""
    return Markup("".join(parts))


def words(tag: str, plain: str, **attributes: str | int | float | None) -> Markup:
    """An element that holds plain text."""
    return element(tag, text(plain), **attributes)
