"""The origins of an ingest: a file, or Zotero's data of an item. Each can say what it is, and become passages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trigpoint.errors import NoContent
from trigpoint.library.citations import Work
from trigpoint.library.cuts import CHUNK_SIZE, OVERLAP, Cut, cut
from trigpoint.library.kinds import PassageKind
from trigpoint.library.progress import PageReader
from trigpoint.library.sources import SourceText, read_source
from trigpoint.storage.files import sha256_file
from trigpoint.text.chunk import PAGE_BREAK, TextChunker, TokenCounter

_DOC_ID_LENGTH = 32


@dataclass(frozen=True)
class Content:
    """The text that was read. `kind` is `annotation` or `note` if a reader wrote it, else `text`."""

    source: SourceText
    passages: list[Cut]
    kind: str = "text"


class Origin(Protocol):
    """`name` identifies it from run to run; `work` is what is known of it before it is read.

    `collections` are the keys and names of the collections of Zotero that it is in.
    """

    @property
    def name(self) -> str: ...
    @property
    def work(self) -> Work | None: ...
    @property
    def collections(self) -> tuple[str, ...]: ...
    def digest(self) -> str:
        """Return a hash that changes whenever its passages would."""
        ...

    def doc_id(self, digest: str) -> str: ...
    def read(self, processor: PageReader, count_tokens: TokenCounter) -> Content: ...


@dataclass(frozen=True)
class FileOrigin:
    path: Path
    work: Work | None = None
    collections: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.path)

    def digest(self) -> str:
        return sha256_file(self.path)

    def doc_id(self, digest: str) -> str:
        return digest[:_DOC_ID_LENGTH]

    def read(self, processor: PageReader, count_tokens: TokenCounter) -> Content:
        source = read_source(self.path, processor)
        return Content(source, list(cut(source, count_tokens)))


@dataclass(frozen=True)
class AttachmentOrigin:
    """A Zotero attachment's file; if that is not on this machine, the text that Zotero had indexed."""

    key: str
    path: Path | None
    cached_text: Callable[[], str | None]
    work: Work | None
    collections: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"zotero://{self.key}"

    def digest(self) -> str:
        """Return a hash of the content and of Zotero's data: a new tag or citekey is a change too."""
        about = json.dumps([self.key, _about(self.work, self.collections)], sort_keys=True)
        content = sha256_file(self.path) if self.path and self._is_here() else _text_hash(self.cached_text() or "")
        return _text_hash(f"{content} {about}")

    def doc_id(self, digest: str) -> str:
        content = sha256_file(self.path) if self.path and self._is_here() else self.key
        return _text_hash(f"{content} {self.key}")[:_DOC_ID_LENGTH]

    def read(self, processor: PageReader, count_tokens: TokenCounter) -> Content:
        if self.path and self._is_here():
            source = read_source(self.path, processor)
        else:
            text = self.cached_text()
            if not text or not text.strip():
                raise NoContent(f"Zotero attachment {self.key}: its file is not here, and Zotero has no text of it")
            source = SourceText(text, warnings=("its file is not here: Zotero's indexed text, without pages",))
        return Content(source, list(cut(source, count_tokens)))

    def _is_here(self) -> bool:
        return self.path is not None and self.path.is_file()


@dataclass(frozen=True)
class Annotation:
    """A highlight or a remark. `page` is physical, `page_label` the printed one; `colour` is as Zotero writes it."""

    key: str
    kind: str
    quote: str | None
    comment: str | None
    page: int | None
    page_label: str | None
    tags: tuple[str, ...] = ()
    colour: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.quote, self.comment) if part)


@dataclass(frozen=True)
class AnnotationsOrigin:
    """A reader's marks in one attachment: the words marked and the reader's comment are separate passages."""

    key: str
    annotations: tuple[Annotation, ...]
    work: Work | None
    collections: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"zotero://{self.key}/annotations"

    def digest(self) -> str:
        marks = [[a.key, a.quote, a.comment, a.page, a.page_label, a.tags, a.colour] for a in self.annotations]
        return _text_hash(json.dumps([marks, _about(self.work, self.collections)], sort_keys=True))

    def doc_id(self, digest: str) -> str:
        return _text_hash(self.name)[:_DOC_ID_LENGTH]

    def read(self, processor: PageReader, count_tokens: TokenCounter) -> Content:
        parts = [part for mark in self.annotations for part in _parts_of(mark)]
        labels = {a.page: a.page_label for a in self.annotations if a.page and a.page_label}
        return _reader_content(parts, "Annotations", "annotation", count_tokens, labels)


@dataclass(frozen=True)
class NotesOrigin:
    """The notes that a reader wrote about one item: (key, text) each."""

    key: str
    notes: tuple[tuple[str, str], ...]
    work: Work | None
    collections: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"zotero://{self.key}/notes"

    def digest(self) -> str:
        return _text_hash(json.dumps([self.notes, _about(self.work, self.collections)], sort_keys=True))

    def doc_id(self, digest: str) -> str:
        return _text_hash(self.name)[:_DOC_ID_LENGTH]

    def read(self, processor: PageReader, count_tokens: TokenCounter) -> Content:
        parts = [_NotePart(text, "note", None, {"note": {"key": key}}) for key, text in self.notes]
        return _reader_content(parts, "Notes", "note", count_tokens, {})


@dataclass(frozen=True)
class _NotePart:
    """A piece of what a reader left behind, of one kind."""

    text: str
    kind: PassageKind
    page: int | None
    extra: Mapping[str, object]


def _parts_of(mark: Annotation) -> Iterator[_NotePart]:
    said = {"key": mark.key, "type": mark.kind, "quote": mark.quote, "comment": mark.comment, "colour": mark.colour}
    if mark.quote:
        yield _NotePart(mark.quote, "highlight", mark.page, {"annotation": said})
    if mark.comment:
        yield _NotePart(mark.comment, "comment", mark.page, {"annotation": said})


def _reader_content(
    parts: Sequence[_NotePart], section: str, kind: str, count_tokens: TokenCounter, labels: dict[int, str]
) -> Content:
    chunker = TextChunker(CHUNK_SIZE, OVERLAP, count_tokens=count_tokens)
    cuts: list[Cut] = []
    offset = 0
    for part in parts:
        pages = ((part.page, offset),) if part.page else ()
        extra = {**part.extra, "kind": part.kind}
        cuts += [
            Cut(part.text[a:b], offset + a, offset + b, section, (section,), pages, extra)
            for a, b in chunker.spans(part.text)
        ]
        offset += len(part.text) + len(PAGE_BREAK)
    return Content(SourceText(PAGE_BREAK.join(part.text for part in parts), labels=labels), cuts, kind=kind)


def _about(work: Work | None, collections: tuple[str, ...]) -> list[object]:
    said: list[object] = (
        [] if work is None else [work.citekey, work.title, work.doi, work.year, work.url, list(work.tags)]
    )
    return [*said, list(collections)] if collections else said


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
