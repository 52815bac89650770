"""The library's questions and answers: each method is one call of the contract, on one project. Synchronous."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from trigpoint.config import Settings
from trigpoint.errors import (
    ChunkNotFound,
    ConfigurationError,
    DocumentNotInProject,
    EmbeddingMismatch,
    HybridNotSupported,
    InvalidInput,
    shorten,
)
from trigpoint.extras import needs_extra
from trigpoint.library.chunks import OUR_DIMENSIONS, RECOMMENDED_CHUNKS, RULES, check_chunks, page_span, shown
from trigpoint.library.citations import References, current_references
from trigpoint.library.filters import Filters
from trigpoint.library.kinds import kind_of
from trigpoint.library.projects import Project, Projects, ProjectsFile
from trigpoint.library.quotes import AssembledDocument, find_and_count, put_together
from trigpoint.passages.deadline import check_time
from trigpoint.passages.embed_models import is_our_model
from trigpoint.passages.model import Hit, Passage, Question
from trigpoint.passages.rerank import Reranker, best_passages, shared_reranker
from trigpoint.passages.sqlite import SqliteStores
from trigpoint.passages.store import PassageStore, PassageStores, always
from trigpoint.passages.weak import is_weak
from trigpoint.text.embed import EmbeddingService, shared_embedding

log = logging.getLogger(__name__)

DEFAULT_TOP_K = 6
MOST_SAMPLES = 5
MOST_NEIGHBOURS = 5
MOST_ELSEWHERE = 10
_MOST_QUOTES = 20
_QUOTE_CANDIDATES = 60
_NOT_ALL_SEARCHED = (
    f"The project has more than {_QUOTE_CANDIDATES} documents: only those that share most words with the quotation were "
    "searched. Give doc_id to search one of them"
)
_WORDS_MISSING = (
    "The words of this project are still being indexed, after a restore or an update: passages may be missing that a "
    "search by words would find. Ask again in a few minutes"
)


def open_stores(settings: Settings) -> PassageStores:
    """Open SQLite in the data folder, or Qdrant if QDRANT_URL names one."""
    if settings.qdrant_url is not None:
        with needs_extra("qdrant", "qdrant_client", f"QDRANT_URL={settings.qdrant_url}"):
            from trigpoint.passages.qdrant import QdrantStores

        return QdrantStores.at(settings.qdrant_url, settings.qdrant_api_key, RULES)
    return SqliteStores(settings.data_dir / "library", RULES)


class Library:
    """Projects, their store, and the embedding that their questions are asked with."""

    def __init__(
        self,
        projects: Projects | Callable[[], Projects],
        stores: PassageStores,
        embedding: EmbeddingService,
        reranker: Reranker | None = None,
    ) -> None:
        self._projects = projects
        self.stores = stores
        self.embedding = embedding
        self.reranker = reranker

    @classmethod
    def open(cls, settings: Settings) -> Library:
        embedding, reranker = shared_embedding(settings), shared_reranker(settings)
        return cls(ProjectsFile(settings).current, open_stores(settings), embedding, reranker)

    @property
    def projects(self) -> Projects:
        """The projects as they are configured at this moment."""
        return self._projects if isinstance(self._projects, Projects) else self._projects()

    def close(self) -> None:
        self.stores.close()

    def passages(self, project: Project) -> PassageStore:
        """Return the passages of one project, and of no other: its id is the name of their collection."""
        return self.stores.collection(project.id)

    def store_chunks(
        self,
        project_id: str,
        items: Sequence[Mapping[str, Any]],
        *,
        migrate: bool = False,
        allow: Callable[[], bool] = always,
    ) -> dict[str, Any]:
        project = self.projects.get(project_id)
        model, chunks = check_chunks(project, items)
        warnings = []
        if len(chunks) < RECOMMENDED_CHUNKS:
            warnings.append(f"{len(chunks)} chunks: batches of {RECOMMENDED_CHUNKS} to 500 are quicker")
        if not chunks:
            return {"chunks_written": 0, "project": project.id, "embed_model": model, "warnings": warnings}
        migration = self.passages(project).write(chunks, model=model, migrate=migrate, allow=allow)
        if migration is not None and not migration.complete:
            warnings.append(
                f"Migration: {migration.done} of {migration.total} chunks have a successor; until all have, the old "
                "set answers"
            )
        return {"chunks_written": len(chunks), "project": project.id, "embed_model": model, "warnings": warnings}

    def find_chunks(
        self,
        project_id: str,
        query: str,
        top_k: int = DEFAULT_TOP_K,
        filters: Mapping[str, Any] | None = None,
        *,
        full_text: bool = False,
    ) -> dict[str, Any]:
        """Return the best passages by meaning alone."""
        project = self.projects.get(project_id)
        return self._search(project, query, top_k, filters, words=None, full_text=full_text)

    def query_hybrid(
        self,
        project_id: str,
        query: str,
        top_k: int = DEFAULT_TOP_K,
        filters: Mapping[str, Any] | None = None,
        *,
        full_text: bool = False,
    ) -> dict[str, Any]:
        """Return the best passages by meaning and words, in one fused score."""
        project = self.projects.get(project_id)
        if not project.hybrid_enabled:
            raise HybridNotSupported(
                f"Hybrid search is not enabled for project '{project.id}'. Use find_chunks, or set hybrid_enabled",
                project_id=project.id,
            )
        incomplete = self.passages(project).lacks_words()
        answer = self._search(project, query, top_k, filters, words=query, full_text=full_text)
        fusion: dict[str, Any] = {"method": project.fusion, "alpha": project.alpha}
        note = {"note": _WORDS_MISSING} if incomplete else {}
        return {**answer, "hybrid_enabled": True, "fusion": fusion, **note}

    def inspect_collection(self, project_id: str, sample: int = 0) -> dict[str, Any]:
        project = self.projects.get(project_id)
        seen = self.passages(project).inspect(min(sample, MOST_SAMPLES))
        return {
            "project": project.id,
            "collection": project.collection,
            "size": seen.size,
            "embed_model": seen.embed_model or project.embed_model,
            "payload_keys": list(dict.fromkeys([*seen.payload_keys, *(["fulltext"] if seen.size else [])])),
            "indexes": {"keyword": ["project", "zotero.tags"], "fulltext": ["fulltext"]},
            "sample": [{"id": chunk.id, **chunk.metadata} for chunk in seen.sample],
        }

    def list_projects(self) -> dict[str, Any]:
        return {
            "projects": [
                {
                    "id": project.id,
                    "collection": project.collection,
                    "embed_model": project.embed_model,
                    "hybrid_enabled": project.hybrid_enabled,
                }
                for project in self.projects.by_id.values()
            ]
        }

    def get_chunk(self, project_id: str, chunk_id: str, neighbours: int = 0, elsewhere: int = 0) -> dict[str, Any]:
        """Return one chunk whole, with the chunks before and after it, and similar ones of other documents."""
        project = self.projects.get(project_id)
        found = self.passages(project).get([chunk_id])
        if not found:
            raise ChunkNotFound(f"No chunk '{shorten(chunk_id)}' in project '{project.id}'", chunk_id=shorten(chunk_id))
        chunk = found[0]
        around = self.passages(project).document(chunk.document_id)
        place = next((i for i, other in enumerate(around) if other.id == chunk.id), len(around))
        count = min(neighbours, MOST_NEIGHBOURS)

        def brief(index: int) -> dict[str, Any]:
            doc = around[index].metadata.get("doc")
            span = page_span(doc) if isinstance(doc, Mapping) else None
            return {"chunk_id": around[index].id, "text": around[index].text, "page_span": span}

        return {
            "chunk": shown(chunk, 1.0, _load_references(project), limit=project.max_chars_per_chunk, full_text=True),
            "before": [brief(i) for i in range(max(0, place - count), place)],
            "after": [brief(i) for i in range(place + 1, min(len(around), place + 1 + count))],
            **({"elsewhere": self._elsewhere(project, chunk, min(elsewhere, MOST_ELSEWHERE))} if elsewhere else {}),
        }

    def _elsewhere(self, project: Project, chunk: Passage, count: int) -> list[dict[str, Any]]:
        """Return the nearest passage of each of the nearest other documents; none if the vectors are not ours."""
        if chunk.vector is None or not is_our_model(self.passages(project).fingerprint() or project.embed_model):
            return []
        asked = Question(chunk.vector, 30 * count + len(self.passages(project).document(chunk.document_id)))
        nearest: dict[str, Hit] = {}
        for hit in self.passages(project).search(asked):
            if hit.passage.document_id != chunk.document_id:
                nearest.setdefault(hit.passage.document_id, hit)
        limit, references = project.max_chars_per_chunk, _load_references(project)
        best = list(nearest.values())[:count]
        return [shown(hit.passage, hit.score, references, limit=limit, full_text=False) for hit in best]

    def find_quote(self, project_id: str, quote: str, doc_id: str | None = None) -> dict[str, Any]:
        """Return the places where the sources (not readers' notes) say these words, by document and offset.

        The answer has some places of every document before it has more of one; `total` counts all that were found, and
        `complete` is false if some documents were not searched. Raises DocumentNotInProject if there is no such `doc_id`.
        """
        _refuse_empty(quote, "quotation")
        project = self.projects.get(project_id)
        likely, complete = self._likely_documents(project, quote) if doc_id is None else ([doc_id], True)
        found = [self._quoted(project, one, quote) for one in likely]
        turns = zip_longest(*(matches for matches, _ in found))
        matches = [match for turn in turns for match in turn if match is not None][:_MOST_QUOTES]
        total = sum(count for _, count in found)
        if doc_id is not None and not total and not self.passages(project).document(doc_id):
            raise _no_document(project, doc_id)
        answer = {"matches": matches, "count": len(matches), "total": total, "complete": complete}
        if complete:
            return answer
        return {**answer, "note": _WORDS_MISSING if self.passages(project).lacks_words() else _NOT_ALL_SEARCHED}

    def delete_document(self, project_id: str, doc_id: str, *, allow: Callable[[], bool] = always) -> dict[str, Any]:
        project = self.projects.get(project_id)
        removed = self.passages(project).delete(doc_id, allow=allow)
        if not removed:
            raise _no_document(project, doc_id)
        return {"project": project.id, "doc_id": doc_id, "chunks_removed": removed}

    def _likely_documents(self, project: Project, quote: str) -> tuple[list[str], bool]:
        """Return those whose passages share most words with the quote; in a small project, then all the others."""
        nowhere = np.zeros(OUR_DIMENSIONS, dtype=np.float32)
        question = Question(nowhere, _QUOTE_CANDIDATES, words=quote, alpha=0.0)
        hits = self.passages(project).search(question)
        likely = dict.fromkeys(hit.passage.document_id for hit in hits if hit.bm25 > 0)
        documents = self.passages(project).documents()
        if len(documents) > _QUOTE_CANDIDATES:
            return list(likely), False
        return list(likely | dict.fromkeys(row.document_id for row in documents)), True

    def _quoted(self, project: Project, doc_id: str, quote: str) -> tuple[list[dict[str, Any]], int]:
        """Return the first places of one document that say the quote, and how many there are.

        Only one document is held in memory at a time.
        """
        check_time()
        chunks = [c for c in self.passages(project).document(doc_id) if kind_of(c.metadata) == "source"]
        document = put_together(doc_id, chunks)
        spans, count = find_and_count(document.text, quote, _MOST_QUOTES)
        return [self._match(project, document, quote, span) for span in spans], count

    def _match(
        self, project: Project, document: AssembledDocument, quote: str, span: tuple[int, int]
    ) -> dict[str, Any]:
        start, end = span
        chunks = document.chunks_touching(start, end)
        page, end_page = document.pages_of(start, end)
        return {
            **_citation_of(chunks, _load_references(project)),
            "doc_id": document.doc_id,
            "page": page,
            "end_page": end_page,
            "start": start,
            "end": end,
            "text": document.text[start:end],
            "exact": document.text[start:end] == quote.strip(),
            "chunk_ids": [chunk.id for chunk in chunks],
        }

    def _search(
        self,
        project: Project,
        query: str,
        top_k: int,
        filters: Mapping[str, Any] | None,
        *,
        words: str | None,
        full_text: bool,
    ) -> dict[str, Any]:
        """Return items and their count, and `weak` if none of them is likely to answer."""
        _refuse_empty(query, "question")
        bound = self.passages(project).fingerprint() or project.embed_model
        if not is_our_model(bound):
            raise EmbeddingMismatch(
                f"Project '{project.id}' holds vectors of '{bound}'; a question in words can only be embedded with "
                "'all-MiniLM-L6-v2'. Migrate the project to it (store_chunks with migrate: true)",
                bound_model=bound,
                query_model="all-MiniLM-L6-v2",
            )
        question = Question(
            self.embedding.embed(query),
            min(top_k, project.top_k_max),
            words,
            Filters.parse(filters).where,
            project.fusion,
            project.alpha,
        )
        limit, references = project.max_chars_per_chunk, _load_references(project)
        hits = best_passages(self.passages(project), question, self.reranker)
        items = [shown(hit.passage, hit.score, references, limit=limit, full_text=full_text) for hit in hits]
        convex = project.fusion == "convex"  # reciprocal ranks say nothing about the words
        weak = is_weak((hit.cosine, hit.fused if convex else None) for hit in hits)
        return {"items": items, "count": len(items), **({"weak": True} if weak else {})}


def _no_document(project: Project, doc_id: str) -> DocumentNotInProject:
    return DocumentNotInProject(f"No document '{shorten(doc_id)}' in project '{project.id}'", doc_id=shorten(doc_id))


def _refuse_empty(text: str, what: str) -> None:
    if not text.strip():
        raise InvalidInput(f"The {what} is empty. Say what to look for")


def _load_references(project: Project) -> References:
    """Return the project's references. A file that cannot be read costs only these, not the answer."""
    try:
        return current_references(project.references)
    except ConfigurationError as error:
        log.warning("Project '%s' is cited without its references: %s", project.id, error.message)
        return References()


def _citation_of(chunks: Sequence[Passage], references: References) -> dict[str, Any]:
    if not chunks:
        return {"citekey": None, "title": None, "citation": None, "citation_doubt": None}
    item = shown(chunks[0], 1.0, references, limit=80, full_text=False)
    return {key: item[key] for key in ("citekey", "title", "citation", "citation_doubt")}
