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

    `template` says where the pod template is, for kinds that have one: `("spec", "template")`.
    """

    kind: str
    versions: tuple[str, ...]
    schema: Schema
    decode: Callable[[Fields], ApiObject]
    template: tuple[str, ...] = ()
