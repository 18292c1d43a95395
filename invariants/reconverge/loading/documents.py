"""Texts to documents: splitting, skipping what is not needed without parsing it, unwrapping lists.

A bundle is mostly custom resource definitions and configuration; parsing those costs a hundred times more than
looking at their `kind:` line. Source of the separator: apimachinery `pkg/util/yaml/decoder.go`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, field

from reconverge.loading.document import Document, TreePositions
from reconverge.loading.errors import LoadError, Note
from reconverge.loading.json_text import looks_like_json, parse_json
from reconverge.loading.kinds import display_kind
from reconverge.loading.sources import Source
from reconverge.loading.templates import ADVICE, is_template
from reconverge.loading.yaml_text import parse_yaml

Wanted = Callable[[str, str], bool]
"""Whether objects of (kind, apiVersion) are to be parsed at all."""

_SEPARATOR = re.compile(r"^---(?=[ \t\n]|\Z)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^%(?:YAML|TAG)\b.*$", re.MULTILINE)
_KIND = re.compile(r"^kind:[ \t]+([\"']?)([A-Za-z][A-Za-z0-9]*)\1[ \t]*(?:#.*)?$", re.MULTILINE)
_API_VERSION = re.compile(r"^apiVersion:[ \t]+([\"']?)([A-Za-z0-9./-]+)\1[ \t]*(?:#.*)?$", re.MULTILINE)
_ANY_KEY = re.compile(r"""\b(?:apiVersion|kind)["']?\s*:""")
_CONTENT = re.compile(r"^[ \t]*[^#\s]", re.MULTILINE)
_LIST_VERSIONS = ("v1", "apps/v1", "batch/v1", "policy/v1", "scheduling.k8s.io/v1")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


@define
class Reading:
    """What has been left out while reading."""

    files: list[str] = field(factory=list)
    notes: list[Note] = field(factory=list)
    skipped: Counter[str] = field(factory=Counter)

    def skip(self, kind: str, api_version: str) -> None:
        """Count an object that is left out."""
        self.skipped[display_kind(kind, api_version)] += 1


def read_documents(source: Source, wanted: Wanted, reading: Reading) -> Iterator[Document]:
    """The objects of one text that are wanted; others are counted. Raises LoadError."""
    reading.files.append(source.name)
    if source.name.rpartition("/")[2] in _KUSTOMIZATIONS:
        reading.skip("Kustomization", "")
        advice = "render it with kubectl kustomize and check the result" if source.listed else "left out"
        reading.notes.append(Note(f"a kustomization: {advice}", source.name))
        return
    for text, first_line in _chunks(source.text):
        yield from _chunk_documents(source, text, first_line, wanted, reading)


def parse_text(source: Source) -> Iterator[Document]:
    """Every document of one text, whatever it is; lists are not unwrapped, keys such as `on` stay words."""
    for text, first_line in _chunks(source.text):
        yield from _parse(source, text, first_line, words_as_keys=True)


def _chunks(text: str) -> Iterator[tuple[str, int]]:
    """The parts between `---` lines that hold anything, each with the number of its first line."""
    start, line = 0, 1
    for match in [*_SEPARATOR.finditer(text), None]:
        end = match.start() if match else len(text)
        chunk = _DIRECTIVE.sub("", text[start:end]) if "%" in text[start:end] else text[start:end]
        if _CONTENT.search(chunk):
            yield chunk, line
        if match:
            line += text.count("\n", start, match.end())
            start = match.end()


def _chunk_documents(
    source: Source, text: str, first_line: int, wanted: Wanted, reading: Reading
) -> Iterator[Document]:
    kinds, versions = _KIND.findall(text), _API_VERSION.findall(text)
    if len(kinds) == 1 and len(versions) == 1:
        kind, version = kinds[0][1], versions[0][1]
        if not wanted(kind, version) and not (kind.endswith("List") and _list_may_hold(kind, wanted)):
            reading.skip(kind, version)
            return
    elif not source.listed and not _ANY_KEY.search(text):
        reading.notes.append(Note("no Kubernetes object: no apiVersion and no kind", f"{source.name}:{first_line}"))
        return
    for document in _parse(source, text, first_line):
        yield from _unwrap(document, source, wanted, reading)


def _list_may_hold(kind: str, wanted: Wanted) -> bool:
    item = kind.removesuffix("List")
    return not item or any(wanted(item, version) for version in _LIST_VERSIONS)


def _parse(source: Source, text: str, first_line: int, words_as_keys: bool = False) -> Iterator[Document]:
    if looks_like_json(text):
        try:
            parsed: list[tuple[Any, Any]] = list(parse_json(text, source.name, first_line))
        except LoadError:
            # What begins with a brace may be YAML's flow style, unless the name says JSON.
            if source.name.endswith(".json") or "\n{" in text:
                raise
            parsed = [(value, None) for value in parse_yaml(text, source.name, first_line, words_as_keys)]
    else:
        parsed = [(value, None) for value in parse_yaml(text, source.name, first_line, words_as_keys)]
    for value, positions in parsed:
        if value is not None:
            positions = positions or TreePositions(value, first_line)
            yield _document(source, value, positions, first_line)


def _document(source: Source, value: Any, positions: Any, first_line: int) -> Document:
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        where = f"{source.name}:{positions.line(())}"
        raise LoadError('a bare list of objects; wrap it as "kind: List" with "items:"', where)
    if not isinstance(value, dict):
        where = f"{source.name}:{positions.line(())}"
        if is_template(value) or is_template(source.text):
            raise LoadError(ADVICE, where)
        raise LoadError("this is not a Kubernetes object: a mapping with apiVersion and kind is expected", where)
    kind, version = value.get("kind"), value.get("apiVersion")
    return Document(
        kind=kind if isinstance(kind, str) else "",
        api_version=version if isinstance(version, str) else "",
        value=value,
        file=source.name,
        positions=positions,
    )


def _unwrap(document: Document, source: Source, wanted: Wanted, reading: Reading) -> Iterator[Document]:
    """The document itself if it is wanted, or the items of a list. Raises LoadError if it has no kind."""
    if is_template(document.value.get("kind")) or is_template(document.value.get("apiVersion")):
        raise LoadError(ADVICE, document.where(("kind",)))
    if not document.kind:
        _without_kind(document, source, reading)
    elif _is_list(document):
        for part in _items(document):
            yield from _unwrap(part, source, wanted, reading)
    elif wanted(document.kind, document.api_version):
        yield document
    else:
        reading.skip(document.kind, document.api_version)


def _without_kind(document: Document, source: Source, reading: Reading) -> None:
    if not document.value:
        return
    if document.value.get("kind") is not None:
        raise LoadError("kind must be a string", document.where(("kind",)))
    if source.listed or document.api_version:
        raise LoadError("this object has no kind", document.where())
    reading.notes.append(Note("no Kubernetes object: no kind", document.where()))


def _is_list(document: Document) -> bool:
    """Whether this is a wrapper: `List`, or `SomethingList` that holds objects or nothing.

    A kind may end in "List" and have `items` of its own; such items are no mappings, or it has a spec.
    """
    if document.kind == "List" and document.api_version in ("v1", ""):
        return True
    items = document.value.get("items")
    return (
        document.kind.endswith("List")
        and "items" in document.value
        and "spec" not in document.value
        and (items is None or (isinstance(items, list) and all(isinstance(each, dict) for each in items)))
    )


def _items(document: Document) -> Iterator[Document]:
    items = document.value.get("items")
    if items is None:
        return
    if not isinstance(items, list):
        raise LoadError("items must be a list", document.where(("items",)))
    of_kind = document.kind.removesuffix("List")
    for index, item in enumerate(items):
        if item is None:
            continue
        if not isinstance(item, dict):
            raise LoadError(f"items[{index}] must be an object", document.where(("items", index)))
        # The items of a typed list need not repeat what they are.
        yield document.part(("items", index), of_kind, document.api_version if of_kind else "")
