"""Chunks from outside: checked one by one, and stored all or none; and how a search shows them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeGuard

import numpy as np

from trigpoint.errors import BatchTooLarge, shorten
from trigpoint.library.citations import References, work_behind
from trigpoint.library.filters import LATEST_YEAR, is_unicode
from trigpoint.library.kinds import kind_of
from trigpoint.library.projects import Project
from trigpoint.passages.embed_models import is_our_model, same_model
from trigpoint.passages.model import Passage, Rules
from trigpoint.passages.store import invalid

_MOST_CHUNKS = 500
_SECTION_JOINT = " / "
RECOMMENDED_CHUNKS = 100
OUR_DIMENSIONS = 384
_LONGEST_ID = 512
_LONGEST_TEXT = 100_000
_LARGEST_METADATA = 100_000  # bytes of JSON, without `fulltext`: a chunk must fit into an answer with its text
_LAST_PLACE = 1 << 31


def check_chunks(project: Project, items: Sequence[Mapping[str, Any]]) -> tuple[str, list[Passage]]:
    """Return the model of the batch and its chunks.

    Raises BatchTooLarge, or InvalidChunk with the index of the first bad one.
    """
    if len(items) > _MOST_CHUNKS:
        raise BatchTooLarge(
            f"{len(items)} chunks in one call; at most {_MOST_CHUNKS} are taken. Send them in several calls",
            given=len(items),
            limit=_MOST_CHUNKS,
        )
    chunks: list[Passage] = []
    seen: dict[str, int] = {}
    for index, item in enumerate(items):
        chunk = _checked_chunk(project, item, index)
        model = chunk.metadata["embed_model"]
        if chunks and not same_model(model, chunks[0].metadata["embed_model"]):
            _refuse(index, f"embed_model '{shorten(model)}' differs from that of the chunks before it")
        if chunks and _dimensions(chunk) != _dimensions(chunks[0]):
            _refuse(
                index,
                f"embedding has {_dimensions(chunk)} dimensions, those before it {_dimensions(chunks[0])}",
            )
        if chunk.id in seen:
            _refuse(index, f"id '{shorten(chunk.id)}' is already used at index {seen[chunk.id]}")
        seen[chunk.id] = index
        chunks.append(chunk)
    return str(chunks[0].metadata["embed_model"]) if chunks else project.embed_model, chunks


def shown(chunk: Passage, score: float, references: References, *, limit: int, full_text: bool) -> dict[str, Any]:
    """Return one item of a search's answer: trimmed, and with its citation, looked up if no ingest wrote it."""
    source, zotero, doc = (_payload_table(chunk.metadata, name) for name in ("source", "zotero", "doc"))
    citation = _text_or_none(zotero.get("citation"))
    work = None if citation else work_behind(references, zotero, source)
    return {
        "render_text": _trimmed(chunk.text, limit),
        "score": round(score, 4),
        "citekey": _citekey_of(chunk.metadata),
        "section": _text_or_none(doc.get("section")),
        "page_span": page_span(doc),
        "section_path": list(section_path_of(chunk.metadata)),
        "doi": _text_or_none(zotero.get("doi")) or _text_or_none(source.get("doi")) or (work.doi if work else None),
        "full_text": chunk.text if full_text else None,
        "chunk_id": chunk.id,
        "doc_id": chunk.document_id,
        "title": _text_or_none(zotero.get("title"))
        or _text_or_none(source.get("title"))
        or (_text_or_none(work.title) if work else None),
        "url": _text_or_none(zotero.get("url")) or _text_or_none(source.get("url")) or (work.url if work else None),
        "citation": citation or (work.citation if work else None),
        "page_label": _text_or_none(doc.get("page_label")),
        "citation_doubt": _text_or_none(zotero.get("doubt")),
        "kind": kind_of(chunk.metadata),
    }


def _trimmed(text: str, limit: int) -> str:
    """Return at most `limit` characters, cut at a word, with an ellipsis that counts."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at_word = cut[: max(cut.rfind(" "), cut.rfind("\n"), 0)]
    return (at_word if len(at_word) > limit // 2 else cut).rstrip() + "…"


def page_span(doc: Mapping[str, Any]) -> list[int] | None:
    """Return the first and last page; None if they are not known, never 1: a wrong page is worse than none."""
    span = doc.get("page_span")
    if isinstance(span, list | tuple) and len(span) == 2 and all(type(page) is int for page in span):
        return list(span)
    return None


def _checked_chunk(project: Project, item: Mapping[str, Any], index: int) -> Passage:
    chunk_id, text, metadata = item.get("id"), item.get("text"), item.get("metadata")
    if not _can_be_asked_for(chunk_id):
        _refuse(index, f"id must be a string of 1 to {_LONGEST_ID} characters, not only spaces, and without NUL")
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST_TEXT:
        _refuse(index, f"text must be a string of 1 to {_LONGEST_TEXT} characters, not only spaces")
    if not isinstance(metadata, Mapping):
        _refuse(index, "metadata must be an object")
    model = metadata.get("embed_model")
    if not isinstance(model, str) or not model:
        _refuse(index, "metadata.embed_model must name the model of the embedding")
    if metadata.get("project", project.id) != project.id:
        _refuse(index, f"metadata.project is '{shorten(metadata['project'])}', the call's is '{project.id}'")
    for name in ("source", "zotero", "doc"):
        if not isinstance(metadata.get(name, {}), Mapping | None):
            _refuse(index, f"metadata.{name} must be an object")
    if (said := _said_doc_id(metadata)) and not _can_be_asked_for(said):
        _refuse(index, f"doc_id must have 1 to {_LONGEST_ID} characters, not only spaces, and no NUL")
    if not is_unicode([chunk_id, text, metadata]):
        _refuse(index, "id, text and metadata must be valid Unicode, without halves of surrogate pairs")
    if (size := _json_bytes({**metadata, "fulltext": None})) > _LARGEST_METADATA:
        _refuse(index, f"metadata has {size:,} bytes of JSON; at most {_LARGEST_METADATA:,} are taken, fulltext apart")
    if len(str(metadata.get("fulltext") or "")) > _LONGEST_TEXT:
        _refuse(index, f"metadata.fulltext must be a string of at most {_LONGEST_TEXT} characters")
    vector = _vector(item.get("embedding"), model, index)
    payload = {**metadata, "project": project.id}
    doc = _payload_table(payload, "doc")
    seq = doc.get("seq")
    place = seq if type(seq) is int and 0 <= seq <= _LAST_PLACE else index
    return Passage(chunk_id, _doc_id(payload, chunk_id), place, text, payload, vector)


def _json_bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def _vector(value: Any, model: str, index: int) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        _refuse(index, "embedding must be a list of numbers")
    if not all(type(number) in (int, float) for number in value):
        _refuse(index, "embedding must hold numbers only")
    if is_our_model(model) and len(value) != OUR_DIMENSIONS:
        _refuse(index, f"embedding has {len(value)} dimensions, {model} has {OUR_DIMENSIONS}")
    try:
        with np.errstate(over="ignore"):
            vector = np.asarray(value, dtype=np.float32)
            length = float(np.linalg.norm(vector))
    except OverflowError:
        _refuse(index, "embedding has a number that is too large")
    if not np.isfinite(vector).all():
        _refuse(index, "embedding has a number that is not finite")
    if length == 0 or not np.isfinite(length):
        _refuse(index, "embedding is a zero vector" if length == 0 else "embedding is too large")
    return vector / np.float32(length)


def _can_be_asked_for(name: object) -> TypeGuard[str]:
    """Return whether the tools that take an id accept this one."""
    return isinstance(name, str) and bool(name.strip()) and len(name) <= _LONGEST_ID and "\0" not in name


def _said_doc_id(payload: Mapping[str, Any]) -> str | None:
    doc, source = _payload_table(payload, "doc"), _payload_table(payload, "source")
    return _text_or_none(doc.get("doc_id")) or _text_or_none(source.get("doc_id"))


def _doc_id(payload: Mapping[str, Any], chunk_id: str) -> str:
    """Return the document that a chunk belongs to: as said, else by its path or citekey, else the chunk alone."""
    if said := _said_doc_id(payload):
        return said
    source, zotero = _payload_table(payload, "source"), _payload_table(payload, "zotero")
    origin = _text_or_none(source.get("path")) or _text_or_none(zotero.get("citekey")) or chunk_id
    return hashlib.sha256(origin.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _dimensions(chunk: Passage) -> int:
    return 0 if chunk.vector is None else len(chunk.vector)


def _citekey_of(metadata: Mapping[str, Any]) -> str | None:
    return _text_or_none(_payload_table(metadata, "zotero").get("citekey"))


def section_path_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    path = _payload_table(metadata, "doc").get("section_path")
    return tuple(map(str, path)) if isinstance(path, (list, tuple)) else ()


def _filter_fields(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that filters compare."""
    zotero = _payload_table(metadata, "zotero")
    tags, year, collections = zotero.get("tags"), zotero.get("year"), zotero.get("collections")
    return {
        "citekey": _citekey_of(metadata),
        "tags": tuple(t for t in tags if isinstance(t, str)) if isinstance(tags, (list, tuple)) else (),
        "year": year if type(year) is int and abs(year) <= LATEST_YEAR else None,
        "section": _SECTION_JOINT.join(section_path_of(metadata)),
        "kind": None if kind_of(metadata) == "source" else kind_of(metadata),
        "part": _text_or_none(_payload_table(metadata, "doc").get("part")),
        "collections": tuple(c for c in collections if isinstance(c, str)) if isinstance(collections, list) else (),
    }


def _searched_text(passage: Passage) -> str:
    """Return the words by which a passage is found: the headings above it count too."""
    section = _text_or_none(_payload_table(passage.metadata, "doc").get("section"))
    headings = dict.fromkeys([*section_path_of(passage.metadata), *([section] if section else [])])
    return "\n".join([*headings, _text_or_none(passage.metadata.get("fulltext")) or passage.text])


RULES = Rules(
    document_key="doc_id",
    fields=_filter_fields,
    searched_text=_searched_text,
    section=lambda passage: section_path_of(passage.metadata),
)


def _refuse(index: int, reason: str) -> NoReturn:
    raise invalid(index, reason)


def _payload_table(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = payload.get(name)
    return part if isinstance(part, Mapping) else {}


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
