"""Files to the objects of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import field, frozen

from reconverge.loading.accounting import Accounting, Ledger
from reconverge.loading.decoders import DECODERS, Decoder, decoder_for
from reconverge.loading.decoders.cron_jobs import with_ending_pods
from reconverge.loading.decoders.storage import settled
from reconverge.loading.document import Document
from reconverge.loading.documents import Reading, parse_text, read_documents
from reconverge.loading.dump import Dump
from reconverge.loading.errors import LoadError, Note, quoted_nearest
from reconverge.loading.fields import Fields, Reader
from reconverge.loading.kinds import makes_pods
from reconverge.loading.partial import missing_part
from reconverge.loading.pool_sources import is_pool_source
from reconverge.loading.sources import Source, read_sources
from reconverge.model.objects import ApiObject, Pod


@frozen
class Loaded:
    """What was read. `raw` has one document per object, in the same order."""

    objects: tuple[ApiObject, ...] = ()
    raw: tuple[Document, ...] = ()
    accounting: Accounting = Accounting()
    notes: tuple[Note, ...] = ()
    skipped: Counter[str] = field(factory=Counter)
    """How many objects of each kind were left out, because the model has no such kind."""
    files: tuple[str, ...] = ()
    """The files that were read, in order; `stdin` for standard input."""
    pod_makers: tuple[Document, ...] = ()
    """Objects among those left out that make pods of their own, so budgets and services may be about those."""
    pool_documents: tuple[Document, ...] = ()
    """What describes node pools, and the templates that these refer to; `described_pools` reads them."""


def load(paths: Sequence[str | Path], stdin: str | None = None) -> Loaded:
    """The objects in files, directories and `-` (the text of standard input). Raises LoadError."""
    reading = Reading()
    documents = [
        document
        for source in read_sources(paths, stdin, reading.notes)
        for document in read_documents(source, _is_wanted, reading)
    ]
    return load_documents(documents, reading)


def load_text(text: str, name: str) -> Loaded:
    """The objects in one text; `name` stands for the file in messages. Raises LoadError."""
    reading = Reading()
    return load_documents(list(read_documents(Source(name, text), _is_wanted, reading)), reading)


def load_documents(documents: Iterable[Document], reading: Reading | None = None) -> Loaded:
    """The objects of some documents that belong to one cluster. Raises LoadError."""
    reading = reading or Reading()
    listed = list(documents)
    ledger, dump = Ledger(), Dump.of(listed)
    objects: list[ApiObject] = []
    raw: list[Document] = []
    makers: list[Document] = []
    pools: list[Document] = []
    for document in listed:
        if not document.kind:
            raise LoadError("this object has no kind", document.where())
        decoder = _decoder(document)
        if decoder is None and is_pool_source(document.kind, document.api_version):
            pools.append(document)
        elif decoder is None:
            reading.skip(document.kind, document.api_version)
            if makes_pods(document.kind, document.api_version):
                makers.append(document)
        elif not _left_out(document, decoder, reading):
            objects.append(_decoded(document, decoder, ledger, dump))
            raw.append(document)
    kept, raw_kept = _without_repeats(objects, raw)
    return Loaded(
        objects=with_ending_pods(_with_template_digests(kept)),
        raw=raw_kept,
        accounting=settled(ledger.total(), kept, raw_kept),
        notes=tuple(reading.notes),
        skipped=reading.skipped,
        files=tuple(reading.files),
        pod_makers=tuple(makers),
        pool_documents=tuple(pools),
    )


def decode(document: Document) -> ApiObject:
    """The object of one document, on its own. Raises LoadError, also for a kind that is not modelled."""
    decoder = _decoder(document)
    if decoder is None:
        raise LoadError(f'the kind "{document.kind}" is not modelled', document.where(("kind",)))
    return _decoded(document, decoder, Ledger(), Dump.of([document]))


def _is_wanted(kind: str, api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    # A group without a dot can only be meant for one of Kubernetes' own: `app/v1` is a mistake, to be reported.
    return (
        decoder_for(kind, api_version) is not None
        or makes_pods(kind, api_version)
        or is_pool_source(kind, api_version)
        or (kind in DECODERS and "." not in group)
    )


def _decoder(document: Document) -> Decoder | None:
    """The decoder of the document's kind. Raises LoadError if the kind is one of Kubernetes' own in a wrong version."""
    version = document.api_version
    decoder = decoder_for(document.kind, version)
    if decoder is None and "." not in document.group and document.kind in DECODERS:
        decoder = DECODERS[document.kind][0]
    if decoder is not None and version not in decoder.versions:
        message = (
            f'there is no {document.kind} in apiVersion "{version}"' if version else "this object has no apiVersion"
        )
        suggestion = quoted_nearest(version, decoder.versions) or f'"{decoder.versions[0]}"'
        raise LoadError(message, document.where(("apiVersion",)), suggestion)
    return decoder


def _decoded(document: Document, decoder: Decoder, ledger: Ledger, dump: Dump) -> ApiObject:
    return decoder.decode(Fields(Reader(document, ledger, dump), (), document.value, decoder.schema))


def _left_out(document: Document, decoder: Decoder, reading: Reading) -> bool:
    """Whether the document is only a part of a workload; noted and counted if so."""
    if decoder.template is None:
        return False
    missing = missing_part(document, decoder.template, decoder.selected)
    if missing:
        name = f"{document.kind.lower()}/{document.name}" if document.name else f"a {document.kind} without a name"
        message = f"{name} is left out: {missing}, so it is a patch or incomplete"
        reading.notes.append(Note(message, document.where()))
        reading.skip(document.kind, document.api_version)
    return bool(missing)


def _without_repeats(
    objects: list[ApiObject], raw: list[Document]
) -> tuple[tuple[ApiObject, ...], tuple[Document, ...]]:
    """The objects without exact repeats. Raises LoadError for two different objects of one name."""
    seen: dict[tuple[str, str], int] = {}
    kept: list[int] = []
    for index, each in enumerate(objects):
        first = seen.setdefault((each.kind, each.key), index)
        if first == index:
            kept.append(index)
        elif raw[first].value != raw[index].value:
            message = f"{each.reference} is given twice, also at {raw[first].where()}, with different content"
            raise LoadError(f"{message}; name only the files that make up one cluster", raw[index].where())
    return tuple(objects[index] for index in kept), tuple(raw[index] for index in kept)


def _with_template_digests(objects: tuple[ApiObject, ...]) -> tuple[ApiObject, ...]:
    """The objects, pods with the digest of the template of the owner that made them."""
    digests = {each.uid: each.template.digest for each in objects if each.uid and hasattr(each, "template")}
    if not digests:
        return objects
    return tuple(
        each.with_(template_digest=digests[each.owner.uid])
        if isinstance(each, Pod) and each.owner is not None and each.owner.uid in digests
        else each
        for each in objects
    )


def parse_document_text(text: str, name: str) -> Fields:
    """The one mapping of a YAML or JSON text, with positions: for files of reconverge's own. Raises LoadError."""
    documents = list(parse_text(Source(name, text)))
    if len(documents) != 1:
        where = documents[1].where() if documents else name
        raise LoadError(f"one document is expected, not {len(documents)}", where)
    return Fields.of(documents[0])
