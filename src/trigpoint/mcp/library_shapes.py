"""The arguments and answers of the library's tools, as the contract has them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from trigpoint.library.library import DEFAULT_TOP_K, MOST_ELSEWHERE, MOST_NEIGHBOURS, MOST_SAMPLES
from trigpoint.mcp.server import PlainText, ToolInput


def _without_titles(schema: dict[str, Any]) -> None:
    """Remove titles from a schema: they repeat the names, and a model pays for each word."""
    schema.pop("title", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)


_BRIEF = ConfigDict(json_schema_extra=_without_titles)


class LibraryInput(ToolInput):
    model_config = _BRIEF


class Answer(BaseModel):
    model_config = _BRIEF


ProjectId = Annotated[PlainText, Field(min_length=1, max_length=210, description="Id, e.g. citeloom/clean-arch")]
Text = Annotated[PlainText, Field(min_length=1, max_length=10_000, pattern=r"\S")]
TopK = Annotated[int, Field(ge=1, le=100, description="Most results; the project may cap it lower")]
FilterObject = Annotated[
    dict[str, Any] | None,
    Field(
        description="tags (all of them), citekey, doc_id, section_prefix, year, collection (Zotero's), kind (source, "
        "highlight, comment, note), references (true: also in reference lists)"
    ),
]


class StoreChunks(LibraryInput):
    project: ProjectId
    items: list[dict[str, Any]] = Field(
        description="100 to 500 chunks: id, text, embedding, metadata (project, source, zotero, doc, embed_model, …)"
    )
    migrate: bool = Field(False, description="Allow another embedding model: rebuilds next to the old set, then swaps")


class Search(LibraryInput):
    project: ProjectId
    query: Text
    top_k: TopK = DEFAULT_TOP_K
    filters: FilterObject = None
    include_full_text: bool = Field(False, description="Also give full_text")


class Inspect(LibraryInput):
    project: ProjectId
    sample: int = Field(0, ge=0, description=f"Sample payloads to show, {MOST_SAMPLES} at most")


class Nothing(LibraryInput):
    pass


class GetChunk(LibraryInput):
    project: ProjectId
    chunk_id: Text
    neighbours: int = Field(0, ge=0, le=MOST_NEIGHBOURS, description="How many chunks before and after it to add")
    elsewhere: int = Field(
        0, ge=0, le=MOST_ELSEWHERE, description="How many other documents that say something similar to add"
    )


class FindQuote(LibraryInput):
    project: ProjectId
    quote: Text
    doc_id: Text | None = Field(None, description="Look in this document only")


class DeleteDocument(LibraryInput):
    project: ProjectId
    doc_id: Text


class Written(Answer):
    chunks_written: int
    project: str
    embed_model: str
    warnings: list[str]


class Item(Answer):
    render_text: str
    score: float
    citekey: str | None
    section: str | None
    page_span: list[int] | None
    section_path: list[str]
    doi: str | None
    full_text: str | None
    chunk_id: str
    doc_id: str
    title: str | None
    url: str | None
    citation: str | None
    page_label: str | None
    citation_doubt: str | None
    kind: str


class Found(Answer):
    items: list[Item]
    count: int
    weak: bool = Field(False, exclude_if=lambda weak: not weak)


class FoundHybrid(Found):
    hybrid_enabled: bool
    fusion: dict[str, Any]
    note: str | None = Field(None, exclude_if=lambda note: note is None)


class Inspected(Answer):
    project: str
    collection: str
    size: int
    embed_model: str
    payload_keys: list[str]
    indexes: dict[str, list[str]]
    sample: list[dict[str, Any]]


class Listed(Answer):
    projects: list[dict[str, Any]]


class OneChunk(Answer):
    chunk: dict[str, Any] = Field(description="As an item of a search")
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    elsewhere: list[dict[str, Any]] | None = Field(None, exclude_if=lambda found: found is None)


class Quoted(Answer):
    matches: list[dict[str, Any]]
    count: int
    total: int
    complete: bool
    note: str | None = Field(None, exclude_if=lambda note: note is None)


class Deleted(Answer):
    project: str
    doc_id: str
    chunks_removed: int
