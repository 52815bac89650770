"""What an ingest takes in: a file, or what Zotero has of an item. Each can say what it is, and become passages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trigpoint.errors import NoContent
from trigpoint.library.citations import Work
from trigpoint.library.cuts import CHUNK_SIZE, OVERLAP, Cut, cut
from trigpoint.library.sources import SourceText, read_source
from trigpoint.storage.files import sha256_file
from trigpoint.text.chunk import PAGE_BREAK, TextChunker, TokenCounter
from trigpoint.text.extract import DocumentProcessor

_DOC_ID_LENGTH = 32


@dataclass(frozen=True)
class Content:
    """What was read. `kind` is `annotation` for what a reader marked, else `text`."""

    source: SourceText
    passages: list[Cut]
    kind: str = "text"


class Origin(Protocol):
    """`name` identifies it from run to run; `work` is what is known of it before it is read."""

    @property
    def name(self) -> str: ...
    @property
    def work(self) -> Work | None: ...
    def digest(self) -> str:
        """Changes whenever its passages would."""
        ...

    def doc_id(self, digest: str) -> str: ...
    def read(self, processor: DocumentProcessor, count_tokens: TokenCounter) -> Content: ...


@dataclass(frozen=True)
class FileOrigin:
    path: Path
    work: Work | None = None

    @property
    def name(self) -> str:
        return str(self.path)

    def digest(self) -> str:
        return sha256_file(self.path)

    def doc_id(self, digest: str) -> str:
        return digest[:_DOC_ID_LENGTH]

    def read(self, processor: DocumentProcessor, count_tokens: TokenCounter) -> Content:
        source = read_source(self.path, processor)
        return Content(source, list(cut(source, count_tokens)))


@dataclass(frozen=True)
class AttachmentOrigin:
    """A Zotero attachment's file; where it is not on this machine, the text that Zotero had indexed of it."""

    key: str
    path: Path | None
    cached_text: Callable[[], str | None]
    work: Work | None

    @property
    def name(self) -> str:
        return f"zotero://{self.key}"

    def digest(self) -> str:
        """The content and what Zotero says of it: a new tag or citekey is a change too."""
        about = json.dumps([self.key, _about(self.work)], sort_keys=True)
        content = sha256_file(self.path) if self.path and self._is_here() else _hash(self.cached_text() or "")
        return _hash(f"{content} {about}")

    def doc_id(self, digest: str) -> str:
        content = sha256_file(self.path) if self.path and self._is_here() else self.key
        return _hash(f"{content} {self.key}")[:_DOC_ID_LENGTH]

    def read(self, processor: DocumentProcessor, count_tokens: TokenCounter) -> Content:
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
    """A highlight or a note. `page` is physical, `page_label` the printed one."""

    key: str
    kind: str
    quote: str | None
    comment: str | None
    page: int | None
    page_label: str | None
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.quote, self.comment) if part)


@dataclass(frozen=True)
class AnnotationsOrigin:
    """What a reader marked in one attachment: chunks of their own, each with quote, comment and page."""

    key: str
    annotations: tuple[Annotation, ...]
    work: Work | None

    @property
    def name(self) -> str:
        return f"zotero://{self.key}/annotations"

    def digest(self) -> str:
        marks = [[a.key, a.text, a.page, a.page_label, a.tags] for a in self.annotations]
        return _hash(json.dumps([marks, _about(self.work)], sort_keys=True))

    def doc_id(self, digest: str) -> str:
        return _hash(self.name)[:_DOC_ID_LENGTH]

    def read(self, processor: DocumentProcessor, count_tokens: TokenCounter) -> Content:
        chunker = TextChunker(CHUNK_SIZE, OVERLAP, count_tokens=count_tokens)
        found: list[Cut] = []
        offset = 0
        for mark in self.annotations:
            pages = ((mark.page, offset),) if mark.page else ()
            extra = {"annotation": {"key": mark.key, "type": mark.kind, "quote": mark.quote, "comment": mark.comment}}
            found += [
                Cut(mark.text[a:b], offset + a, offset + b, "Annotations", ("Annotations",), pages, extra)
                for a, b in chunker.spans(mark.text)
            ]
            offset += len(mark.text) + len(PAGE_BREAK)
        labels = {a.page: a.page_label for a in self.annotations if a.page and a.page_label}
        text = PAGE_BREAK.join(a.text for a in self.annotations)
        return Content(SourceText(text, labels=labels), found, kind="annotation")


def _about(work: Work | None) -> list[object]:
    return [] if work is None else [work.citekey, work.title, work.doi, work.year, work.url, list(work.tags)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
