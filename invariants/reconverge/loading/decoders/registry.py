"""What a decoder is. Each family module ends with its `DECODERS`; `decoders/__init__.py` collects them."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from reconverge.loading.fields import Fields
from reconverge.loading.schema import Schema
from reconverge.model.objects import ApiObject


@frozen
class Decoder:
    """Makes the object of one kind from a document of one of the API versions.

    `template` is the path of the pod template, `("spec", "template")`, for kinds that have one; a Pod is its own.
    `selected` says whether such a kind needs a selector (a Job does not).
    """

    kind: str
    versions: tuple[str, ...]
    schema: Schema
    decode: Callable[[Fields], ApiObject]
    template: tuple[str, ...] | None = None
    selected: bool = False
