"""Zotero: items with their attachments, annotations and tags, put together from its records, wherever they come from.

Records have the shape of Zotero's API. `zotero_database.py` reads them from the local SQLite file, `zotero_api.py` from
the local API.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from trigpoint.errors import CollectionNotFound, InvalidInput, shorten
from trigpoint.library.bibliography import free_citekey
from trigpoint.library.citations import Work
from trigpoint.library.origins import Annotation, AnnotationsOrigin, AttachmentOrigin, NotesOrigin, Origin
from trigpoint.library.sources import READERS
from trigpoint.library.web_text import read_web_text
from trigpoint.library.zotero_csl import tags_of, text_of, work_of_record

ZoteroRecord = Mapping[str, Any]

_CHILDREN = ("attachment", "annotation", "note")
_SNAPSHOTS = (".html", ".htm")  # a page of the web, without pages of paper


@dataclass(frozen=True)
class ZoteroCollection:
    key: str
    name: str
    parent: str | None


@dataclass(frozen=True)
class ZoteroAttachment:
    key: str
    title: str
    path: Path | None
    annotations: tuple[Annotation, ...]
    is_snapshot: bool = False


@dataclass(frozen=True)
class ZoteroItem:
    """A work in Zotero. `collections` are keys; `notes` are (key, text), and a standalone note is an item itself."""

    key: str
    kind: str
    work: Work
    collections: tuple[str, ...]
    attachments: tuple[ZoteroAttachment, ...]
    notes: tuple[tuple[str, str], ...] = ()


class ZoteroSource(Protocol):
    def collections(self) -> list[ZoteroCollection]: ...

    def records(self) -> list[ZoteroRecord]:
        """Return every item, child and parent, that is not in the bin."""
        ...

    def file_of(self, attachment: ZoteroRecord) -> Path | None: ...

    def cached_text(self, attachment_key: str) -> str | None: ...


def items(source: ZoteroSource, collection: str | None = None) -> list[ZoteroItem]:
    """Return all items, or those of a collection (by key or name) and its subcollections. Raises CollectionNotFound."""
    records = source.records()
    wanted = _with_children(source.collections(), collection) if collection else None
    assembled = list(_assembled(source, records))
    return [item for item in assembled if wanted is None or wanted & set(item.collections)]


def origins(source: ZoteroSource, chosen: Iterable[ZoteroItem]) -> Iterator[Origin]:
    """Yield what there is to ingest of these items: each attachment's text, each one's annotations, and the notes.

    A snapshot of a web page is left out if the item has a file with the same words in it on pages. Raises InvalidInput if
    two works have one citekey: a citation by it could mean either.
    """
    chosen = list(chosen)
    _refuse_shared_citekeys(chosen)
    named = _names_of(source.collections())
    for item in chosen:
        within = tuple(dict.fromkeys(name for key in item.collections for name in named.get(key, (key,))))
        for attachment in _without_snapshots(item.attachments):
            cached_text = partial(source.cached_text, attachment.key)
            yield AttachmentOrigin(attachment.key, attachment.path, cached_text, item.work, within)
            if attachment.annotations:
                yield AnnotationsOrigin(attachment.key, attachment.annotations, item.work, within)
        if item.notes:
            yield NotesOrigin(item.key, item.notes, item.work, within)


def _refuse_shared_citekeys(chosen: Iterable[ZoteroItem]) -> None:
    """Raise InvalidInput if two works have one citekey. One work may be there twice: in a library and in a group's."""
    first: dict[str | None, ZoteroItem] = {}
    for item in chosen:
        other = first.setdefault(item.work.citekey, item)
        if _identity(other.work) != _identity(item.work):
            raise InvalidInput(
                f"In Zotero, the citekey {shorten(item.work.citekey)} is used twice, by item {other.key} "
                f"({shorten(other.work.title, 60)}) and by item {item.key} ({shorten(item.work.title, 60)}). "
                "Give one of them another citation key there"
            )


def _identity(work: Work) -> tuple[str, int | None, str | None]:
    return work.title.casefold(), work.year, work.doi


def _without_snapshots(attachments: tuple[ZoteroAttachment, ...]) -> list[ZoteroAttachment]:
    kept = [one for one in attachments if not one.is_snapshot]
    readable = any(one.path is not None and one.path.is_file() for one in kept)
    return kept if readable else [*kept, *(one for one in attachments if one.is_snapshot)]


def _names_of(collections: list[ZoteroCollection]) -> dict[str, tuple[str, ...]]:
    """Return, for each collection's key, the keys and names of it and of all that it is in."""
    by_key = {one.key: one for one in collections}

    def upwards(key: str | None, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        if key in by_key and key not in seen:
            yield from (key, by_key[key].name)
            yield from upwards(by_key[key].parent, seen | {key})

    return {key: tuple(upwards(key)) for key in by_key}


def _assembled(source: ZoteroSource, records: list[ZoteroRecord]) -> Iterator[ZoteroItem]:
    children: dict[str, list[ZoteroRecord]] = {}
    for record in records:
        if record.get("parentItem"):
            children.setdefault(record["parentItem"], []).append(record)
    tops = [record for record in records if record.get("itemType") not in _CHILDREN or _is_alone(record)]
    works = _works(tops)
    for record in tops:
        below = [record] if _is_alone(record) else children.get(record["key"], [])
        attached = [c for c in below if c["itemType"] == "attachment"]
        yield ZoteroItem(
            key=record["key"],
            kind=str(record.get("itemType")),
            work=works[record["key"]],
            collections=tuple(record.get("collections") or ()),
            attachments=tuple(_attachment(source, a, children.get(a["key"], [])) for a in attached if _readable(a)),
            notes=tuple((n["key"], text) for n in below if (text := _note_text(n))),
        )


def _is_alone(record: ZoteroRecord) -> bool:
    """Return whether it is a file or a note that belongs to no other item."""
    return record.get("itemType") in ("attachment", "note") and not record.get("parentItem")


def _works(records: Iterable[ZoteroRecord]) -> dict[str, Work]:
    """Return the works by the items' keys. One without a citekey gets one, in the order in which the items came to Zotero."""
    works = {record["key"]: work_of_record(record, _first_line(record)) for record in records}
    taken = {work.citekey for work in works.values() if work.citekey}
    for record in sorted(records, key=lambda record: (str(record.get("dateAdded") or ""), record["key"])):
        work = works[record["key"]]
        if work.citekey is None:
            works[record["key"]] = replace(work, citekey=(made := free_citekey(work.csl, taken)))
            taken.add(made)
    return works


def _note_text(record: ZoteroRecord) -> str:
    """Return the words of a note, which Zotero keeps as HTML, a paragraph a line."""
    page = read_web_text(str(record.get("note") or ""), whole=True)
    return "\n".join(words for words, _ in page.blocks if words)


def _attachment(source: ZoteroSource, record: ZoteroRecord, below: list[ZoteroRecord]) -> ZoteroAttachment:
    marks = [_annotation(r) for r in below if r["itemType"] == "annotation"]
    marks.sort(key=lambda mark: (mark.page or 0, mark.key))
    title = str(record.get("title") or record.get("filename") or record["key"])
    path = source.file_of(record)
    snapshot = record.get("contentType") == "text/html" or str(path or title).lower().endswith(_SNAPSHOTS)
    return ZoteroAttachment(record["key"], title, path, tuple(mark for mark in marks if mark.text.strip()), snapshot)


def _readable(record: ZoteroRecord) -> bool:
    name = str(record.get("filename") or record.get("path") or record.get("title") or "").lower()
    return record.get("linkMode") != "linked_url" and (
        name.endswith(tuple(READERS))
        or record.get("contentType") in ("application/pdf", "application/epub+zip", "text/html", "text/plain")
    )


def _annotation(record: ZoteroRecord) -> Annotation:
    return Annotation(
        key=record["key"],
        kind=str(record.get("annotationType") or "highlight"),
        quote=text_of(record.get("annotationText")),
        comment=text_of(record.get("annotationComment")),
        page=_physical_page(record.get("annotationPosition")),
        page_label=text_of(record.get("annotationPageLabel")),
        tags=tags_of(record),
        colour=text_of(record.get("annotationColor")),
    )


def _physical_page(position: Any) -> int | None:
    try:
        index = json.loads(position).get("pageIndex")
    except (TypeError, ValueError, AttributeError):
        return None
    return index + 1 if type(index) is int and index >= 0 else None


def _first_line(record: ZoteroRecord) -> str:
    return _note_text(record).partition("\n")[0][:100] if record.get("itemType") == "note" else ""


def _with_children(collections: list[ZoteroCollection], wanted: str) -> set[str]:
    """Return the keys of a collection and of all below it."""
    keys = {c.key for c in collections if wanted in (c.key, c.name)}
    if not keys:
        names = ", ".join(sorted(c.name for c in collections)) or "none"
        raise CollectionNotFound(f"Zotero has no collection '{shorten(wanted)}'. It has: {shorten(names, 300)}")
    while below := {c.key for c in collections if c.parent in keys} - keys:
        keys |= below
    return keys
