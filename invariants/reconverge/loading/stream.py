"""A stream of objects as `kubectl get ... --watch -o json` writes it: each is one state of one object, in order.

With `--output-watch-events` every object is wrapped as `{"type": "ADDED" | "MODIFIED" | "DELETED", "object": ...}`;
without it a removal cannot be told from a change. Lists at the beginning are taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from reconverge.loading.accounting import Ledger
from reconverge.loading.decoders import decoder_for
from reconverge.loading.document import Document
from reconverge.loading.documents import parse_text
from reconverge.loading.dump import Dump
from reconverge.loading.errors import LoadError
from reconverge.loading.fields import Fields, Reader
from reconverge.loading.sources import Source
from reconverge.model.objects import ApiObject

EVENTS = ("ADDED", "MODIFIED", "DELETED")


@frozen
class Observation:
    """One state of one object; `deleted` if it is the last one."""

    object: ApiObject
    deleted: bool
    where: str
    """`file:line`, for what is said of it."""


def read_stream(path: str | Path, text: str | None = None) -> tuple[Observation, ...]:
    """The observations of a stream, of modelled kinds; `text` is its content if it was read. Raises LoadError."""
    if text is None:
        text = _content(Path(path))
    documents = [each for document in parse_text(Source(str(path), text)) for each in _unwrapped(document)]
    dump = Dump.of([document for document, _ in documents])
    ledger = Ledger()
    return tuple(
        Observation(decoder.decode(Fields(Reader(document, ledger, dump), (), document.value, decoder.schema)), deleted,
                    document.where())
        for document, deleted in documents
        if (decoder := decoder_for(document.kind, document.api_version)) is not None
    )  # fmt: skip


def _content(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise LoadError((error.strerror or "cannot be read").lower(), str(path)) from None
    except UnicodeDecodeError:
        raise LoadError("is not UTF-8 text", str(path)) from None


def _unwrapped(document: Document) -> Iterator[tuple[Document, bool]]:
    event = document.value.get("type")
    if event in EVENTS and isinstance(document.value.get("object"), dict):
        yield document.part(("object",)), event == "DELETED"
    elif document.kind.endswith("List") and isinstance(document.value.get("items"), list):
        for index in range(len(document.value["items"])):
            yield document.part(("items", index)), False
    elif document.kind:
        yield document, False
    else:
        raise LoadError("this is neither an object nor a watch event", document.where())
