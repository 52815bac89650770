"""Ingestion: files and folders into a project. A file is one transaction: after a crash the next run continues.

Unchanged files are skipped, a changed file replaces everything that came from it before, and an audit file records what was done.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from trigpoint import dates
from trigpoint.errors import EmbeddingMismatch, TrigpointError
from trigpoint.library.assignments import Assigned, CitedFile, assign, decided, settle, work_payload
from trigpoint.library.citations import References, load_references
from trigpoint.library.cuts import Cut
from trigpoint.library.library import Library
from trigpoint.library.matching import FileEvidence
from trigpoint.library.origins import FileOrigin, Origin
from trigpoint.library.progress import Progress, Reached, WatchedFile
from trigpoint.library.projects import DEFAULT_MODEL, Project
from trigpoint.library.sources import READERS, SourceText
from trigpoint.passages.embed_models import is_our_model
from trigpoint.passages.model import DocumentRow, Passage
from trigpoint.storage.files import sha256_file
from trigpoint.text.extract import DocumentProcessor

log = logging.getLogger(__name__)

_VERSION = "1"
_OPENING = 6_000

FileOutcome = Literal["added", "replaced", "skipped", "failed", "doubted"]


@dataclass(frozen=True)
class AuditEntry:
    """The outcome for one file."""

    path: str
    outcome: FileOutcome
    chunks: int = 0
    doc_id: str | None = None
    citekey: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass
class Audit:
    """One run. Each entry is on disk as soon as its file is done.

    Entries with the outcome `doubted` come last: files, of this run or an earlier one, whose citation is shared now.
    """

    file: Path
    entries: list[AuditEntry] = field(default_factory=list)

    def add(self, entry: AuditEntry) -> None:
        entry = replace(entry, path=_in_unicode(entry.path), reason=_in_unicode(entry.reason) if entry.reason else None)
        self.entries.append(entry)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")

    def count(self, outcome: FileOutcome) -> int:
        return sum(entry.outcome == outcome for entry in self.entries)

    @property
    def chunks_written(self) -> int:
        return sum(entry.chunks for entry in self.entries if entry.outcome in ("added", "replaced"))


class Ingestion:
    """Puts files into one project of a library."""

    def __init__(self, library: Library, project: Project, processor: DocumentProcessor, audit_folder: Path) -> None:
        self._library = library
        self._project = project
        self._processor = processor
        self._references: References = load_references(project.references)
        self._audit_folder = audit_folder
        self._passages = library.passages(project)

    def run(self, paths: Iterable[Path], *, force: bool = False, progress: Progress | None = None) -> Audit:
        """Ingest every readable file of these paths. Files of other kinds are reported as skipped, with the reason."""
        found = list(_find_files(paths))
        audit = self.run_all([FileOrigin(path) for path in found], force=force, progress=progress)
        for path in _other_files(paths):
            if path != self._project.references:
                audit.add(AuditEntry(str(path), "skipped", reason=_not_read(path)))
        return audit

    def run_all(self, origins: Sequence[Origin], *, force: bool = False, progress: Progress | None = None) -> Audit:
        """Ingest all of these. If one fails, it is reported, and the others are still ingested."""
        if not is_our_model(self._project.embed_model):
            raise EmbeddingMismatch(
                f"Project '{self._project.id}' is set to '{self._project.embed_model}', and files are embedded with "
                f"'{DEFAULT_MODEL}'. Set embed_model to that, or send chunks with store_chunks",
                bound_model=self._project.embed_model,
                given_model=DEFAULT_MODEL,
            )
        audit = self._new_audit()
        known = _Known(self._passages.documents())
        for number, origin in enumerate(origins):
            here = Reached(number, len(origins), _in_unicode(origin.name))
            if progress:
                progress(here)
            audit.add(self._ingest(origin, known, WatchedFile(self._processor, here, progress), force=force))
        if progress and origins:
            progress(Reached(len(origins), len(origins), _in_unicode(origins[-1].name)))
        self._settle(audit)
        return audit

    def _settle(self, audit: Audit) -> None:
        """Mark and report files that share one reference, whether or not this run has read them: each should have its own."""
        if self._project.references is None or not any(e.outcome in ("added", "replaced") for e in audit.entries):
            return
        for file in settle(self._passages, self._project.embed_model):
            if file.shared:
                audit.add(_doubted(file))

    def _ingest(self, origin: Origin, known: _Known, file: WatchedFile, *, force: bool) -> AuditEntry:
        path = origin.name
        if path != _in_unicode(path):
            return AuditEntry(path, "failed", reason="its name or its folder's is not valid UTF-8. Rename it")
        try:
            digest = origin.digest()
            doc_id = origin.doc_id(digest)
            before = known.at(path)
            if before is not None and before.sha256 == digest and not force:
                self._forget(*known.leftovers(path, doc_id))
                return AuditEntry(path, "skipped", doc_id=doc_id, reason="unchanged")
            twin = known.twin(path, digest)
            if twin is not None and _still_says(twin, digest):
                self._forget(before)
                return AuditEntry(path, "skipped", doc_id=doc_id, reason=f"same content as {twin.path}")
            entry = self._write(origin, file, digest, doc_id, [before, twin, *known.leftovers(path, doc_id)])
            known.add(DocumentRow(doc_id, path, None, digest, entry.chunks))
            return entry
        except TrigpointError as error:
            return AuditEntry(path, "failed", reason=error.message)
        except OSError as error:
            return AuditEntry(path, "failed", reason=f"cannot be read ({error.strerror or error})")
        except Exception as error:  # a fault of ours on one file must not cost the others
            log.exception("Ingesting %s failed", path)
            return AuditEntry(
                path, "failed", reason=f"an internal error, see the log ({type(error).__name__}: {error})"
            )

    def _forget(self, *rows: DocumentRow | None) -> None:
        """Delete what a file said before it changed."""
        for row in rows:
            if row is not None:
                self._passages.delete(row.document_id)

    def _write(
        self, origin: Origin, file: WatchedFile, digest: str, doc_id: str, old: list[DocumentRow | None]
    ) -> AuditEntry:
        content = origin.read(file, self._library.embedding.count_tokens)
        source, passages = content.source, content.passages
        replaced = sorted({row.document_id for row in old if row is not None})
        assigned = self._assigned(origin, source, old)
        work = assigned.work
        warnings = [*source.warnings, *self._citation_warnings(assigned)]
        vectors = self._library.embedding.embed_batch([p.text for p in passages], progress=file.embedded)
        common = self._common_payload(origin.name, digest, doc_id, source, assigned)
        common["zotero"] |= {"collections": list(origin.collections)} if origin.collections else {}
        chunks = [
            Passage(
                passage.chunk_id(self._project.id, doc_id),
                doc_id,
                seq,
                passage.text,
                {**common, "doc": _doc_payload(passage, source, doc_id, seq) | {"type": content.kind}},
                vectors[seq],
            )
            for seq, passage in enumerate(passages)
        ]
        self._passages.write(chunks, replace=sorted({*replaced, doc_id}), model=self._project.embed_model)
        outcome: FileOutcome = "replaced" if replaced else "added"
        citekey = work.citekey if work else None
        return AuditEntry(origin.name, outcome, len(chunks), doc_id, citekey, warnings=tuple(warnings))

    def _assigned(self, origin: Origin, source: SourceText, old: list[DocumentRow | None]) -> Assigned:
        """Return what a person decided about this file, else what it says about itself."""
        for row in old:
            if row is not None and (kept := decided(row.about, self._references)):
                return kept
        return assign(_evidence(origin, source), self._references, origin.work)

    def _citation_warnings(self, assigned: Assigned) -> list[str]:
        if assigned.by == "reader" or self._project.references is None:
            return []
        if assigned.work is None:
            return [f"no entry of {self._project.references.name} matches it"]
        name = assigned.work.citekey or assigned.work.title
        return [f"cited as {name}, which is doubtful: {assigned.doubt}"] if assigned.doubt else []

    def _common_payload(
        self, path: str, digest: str, doc_id: str, source: SourceText, assigned: Assigned
    ) -> dict[str, Any]:
        title = (assigned.work.title if assigned.work else None) or source.title or Path(path).stem
        return {
            "project": self._project.id,
            "source": {"path": path, "title": title, "sha256": digest, "doc_id": doc_id},
            "zotero": work_payload(assigned),
            "doc": {},
            "embed_model": self._project.embed_model,
            "version": _VERSION,
        }

    def _new_audit(self) -> Audit:
        self._audit_folder.mkdir(parents=True, exist_ok=True)
        stamp = dates.now().strftime("%Y%m%dT%H%M%S.%fZ")
        return Audit(self._audit_folder / f"{stamp}-{self._project.collection.replace('/', '-')}.jsonl")


def _in_unicode(name: str) -> str:
    """Return the name with U+FFFD for each of its bytes that is not UTF-8: neither a store nor JSON can hold those."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Known:
    """The documents of the project by path and by content, kept up to date during the run."""

    def __init__(self, rows: Iterable[DocumentRow]) -> None:
        self._by_path: dict[str, DocumentRow] = {}
        self._by_content: dict[str, DocumentRow] = {}
        self._at_path: dict[str, list[DocumentRow]] = {}
        for row in rows:
            self.add(row)

    def add(self, row: DocumentRow) -> None:
        if row.path is None:
            return
        self._at_path.setdefault(row.path, []).append(row)
        if row.sha256 is not None:
            self._by_path[row.path] = self._by_content[row.sha256] = row

    def at(self, path: str) -> DocumentRow | None:
        return self._by_path.get(path)

    def leftovers(self, path: str, doc_id: str) -> list[DocumentRow]:
        """Return older documents of this path: an interrupted write may have left them, or half of a new one."""
        return [row for row in self._at_path.get(path, ()) if row.document_id != doc_id]

    def twin(self, path: str, digest: str) -> DocumentRow | None:
        """Return another file with the same content."""
        row = self._by_content.get(digest)
        return row if row is not None and row.path != path else None


def _still_says(row: DocumentRow, digest: str) -> bool:
    return row.path is not None and Path(row.path).is_file() and sha256_file(Path(row.path)) == digest


def _find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files themselves, and all readable ones below folders, in order, without hidden ones and links out."""
    seen: set[Path] = set()
    for given in paths:
        path = given.expanduser().absolute()
        below = sorted(p for p in path.rglob("*") if _is_wanted_file(p, path)) if path.is_dir() else [path]
        for file in below:
            if file not in seen:
                seen.add(file)
                yield file


def _other_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files below these folders that no reader knows; hidden ones and links are not mentioned."""
    roots = [given.expanduser().absolute() for given in paths]
    found = (p for root in roots if root.is_dir() for p in root.rglob("*") if _visible(p, root))
    return sorted({path for path in found if path.suffix.lower() not in READERS})


def _is_wanted_file(path: Path, root: Path) -> bool:
    return path.suffix.lower() in READERS and _visible(path, root)


def _visible(path: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not hidden and path.is_file() and not path.is_symlink()


def _not_read(path: Path) -> str:
    kind = f"{path.suffix.lower()} files" if path.suffix else "files without a suffix"
    return f"{kind} are not read; {', '.join(sorted(READERS))} are"


def _evidence(origin: Origin, source: SourceText) -> FileEvidence:
    """Return what a file says about itself; for an item of Zotero, only what Zotero says about it."""
    given = origin.work
    if given is None:
        return FileEvidence(Path(origin.name).name, source.title, source.text[:_OPENING])
    people = " ".join(str(one.get("family") or one.get("literal") or "") for one in given.csl.get("author") or ())
    year = f" {given.year}" if given.year else ""
    return FileEvidence("", given.title, f"{given.title}\n{people}{year}", doi=given.doi, author=people or None)


def _doubted(file: CitedFile) -> AuditEntry:
    reason = f"cited as {file.citekey}, which is doubtful: {file.doubt}"
    return AuditEntry(file.path, "doubted", doc_id=file.doc_id, citekey=file.citekey, reason=reason)


def _doc_payload(passage: Cut, source: SourceText, doc_id: str, seq: int) -> dict[str, Any]:
    span = passage.page_span
    return {
        "doc_id": doc_id,
        "seq": seq,
        "section": passage.section,
        "section_path": list(passage.section_path),
        "page_span": span,
        "page_label": source.labels.get(span[0]) if span else None,
        "page_starts": [list(page) for page in passage.pages],
        "start": passage.start,
        "end": passage.end,
        **passage.extra,
    }
