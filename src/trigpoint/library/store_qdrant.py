"""The library store on Qdrant: dense vectors, and sparse ones with IDF, in a collection for each project and model.

An alias names the set that answers, so that a migration swaps in one step. Every request carries the project as a
filter too. Qdrant has no transactions: see `write` for what a reader may see while a document is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from pydantic import SecretStr
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from trigpoint.errors import IndexUnavailable, LibraryTimeout
from trigpoint.library import qdrant_points as points
from trigpoint.library.projects import Project, is_our_model, model_key, short_hash
from trigpoint.library.store import (
    DocumentRow,
    Inspection,
    Migration,
    Question,
    Scored,
    StoredChunk,
    always,
    check_dimensions,
    mismatch,
)
from trigpoint.passages.fusion import fuse

_DEPTH = 200
_PAGE = 500
_MOST_SECTIONS = 10_000
_PLACES = 4


class QdrantStore:
    """See `ChunkStore`."""

    def __init__(self, client: QdrantClient, where: str = "QDRANT_URL") -> None:
        self._client = client
        self._where = where

    @classmethod
    def at(cls, url: str, key: SecretStr | None = None) -> QdrantStore:
        secret = key.get_secret_value() if key else None
        return cls(QdrantClient(url=url, api_key=secret, timeout=10, check_compatibility=False), f"QDRANT_URL={url}")

    def bound_model(self, project: Project) -> str | None:
        with self._explained():
            return self._model_of(_alias(project))

    def write(
        self,
        project: Project,
        model: str,
        chunks: Sequence[StoredChunk],
        *,
        replace_documents: Sequence[str] = (),
        migrate: bool = False,
        allow: Callable[[], bool] = always,
    ) -> Migration | None:
        """`allow` is asked before the first change. New chunks come before the old ones go: for a moment both answer,
        and a crash in between leaves old ones, which the next ingest of that file removes."""
        with self._explained():
            bound = self._model_of(_alias(project)) or model
            other = model_key(bound) != model_key(model)
            if other and not migrate:
                raise mismatch(project, bound, model)
            check_dimensions(chunks, model, self._dimensions(_set_name(project, model)))
            _ask(allow)
            collection = self._set_of(project, model, len(chunks[0].vector) if chunks else None)
            self._upsert(collection, project, chunks, frozenset(replace_documents))
            self._remove_others(collection, project, replace_documents, [chunk.id for chunk in chunks])
            if other:
                return self._swap_when_complete(project, collection)
            return None

    def search(self, project: Project, question: Question) -> list[Scored]:
        with self._explained():
            alias = _alias(project)
            model = self._model_of(alias)
            if model is None:
                return []
            allowed = points.conditions(project, question.filters, self._sections(project, question))
            by_meaning = is_our_model(model)  # questions are embedded with no other; words find in any
            cosines = self._nearest(alias, question, allowed) if by_meaning else {}
            words: dict[str, float] = {}
            if question.words is not None:
                words = self._matching(alias, question, allowed)
                if by_meaning:
                    cosines |= self._cosines(alias, question, [i for i in words if i not in cosines])
            scores = fuse(cosines, words, question.fusion, question.alpha) if question.words else _ranked(cosines)
            best = scores[: question.k]
            chunks = self._by_point_id(alias, project, [i for i, _ in best])
        return [Scored(chunks[i], score, cosines.get(i, 0.0), words.get(i, 0.0)) for i, score in best if i in chunks]

    def get(self, project: Project, ids: Sequence[str]) -> list[StoredChunk]:
        with self._explained():
            if self._model_of(_alias(project)) is None:
                return []
            wanted = [points.point_id(project, i) for i in ids]
            found = self._by_point_id(_alias(project), project, wanted)
        return [found[i] for i in wanted if i in found]

    def document(self, project: Project, doc_id: str) -> list[StoredChunk]:
        with self._explained():
            found = map(points.to_chunk, self._scroll(project, points.of_project(project, doc_id=doc_id)))
            return sorted(found, key=lambda chunk: (chunk.seq, chunk.id))

    def documents(self, project: Project) -> list[DocumentRow]:
        """A document of which chunks are missing, because its write was broken off, has no sha256: it is read again."""
        with self._explained():
            fields = ["doc_id", "doc_chunks", "payload.source"]
            seen: dict[str, list[Any]] = {}
            for point in self._scroll(project, points.of_project(project), fields=fields):
                seen.setdefault(point.payload["doc_id"], []).append(point.payload)
        return [_document_row(doc_id, seen[doc_id]) for doc_id in sorted(seen)]

    def delete_document(self, project: Project, doc_id: str, *, allow: Callable[[], bool] = always) -> int:
        with self._explained():
            if self._model_of(_alias(project)) is None:
                return 0
            which = points.of_project(project, doc_id=doc_id)
            gone = self._client.count(_alias(project), count_filter=which, exact=True).count
            _ask(allow)
            for collection in self._sets(project):
                self._client.delete(collection, points_selector=models.FilterSelector(filter=which), wait=True)
        return gone

    def inspect(self, project: Project, sample: int) -> Inspection:
        with self._explained():
            model = self._model_of(_alias(project))
            if model is None:
                return Inspection(0, None, (), ())
            mine = points.of_project(project)
            size = self._client.count(_alias(project), count_filter=mine, exact=True).count
            first, _ = self._client.scroll(
                _alias(project),
                scroll_filter=mine,
                limit=max(1, sample),
                with_payload=True,
                with_vectors=[points.DENSE],
            )
        chunks = [points.to_chunk(point) for point in first]
        keys = tuple(dict.fromkeys(key for chunk in chunks for key in chunk.payload))
        return Inspection(size, model, keys, tuple(chunks[:sample]))

    def close(self) -> None:
        self._client.close()

    # --- collections ---

    def _model_of(self, name: str) -> str | None:
        """The model that a set was made with, as its own metadata says; None where there is no such set."""
        if not self._client.collection_exists(name):
            return None
        metadata = self._client.get_collection(name).config.metadata or {}
        if "embed_model" not in metadata:
            raise IndexUnavailable(
                f"The collection {name} at {self._where} does not say its model: this needs a Qdrant that keeps the "
                "metadata of collections"
            )
        return str(metadata["embed_model"])

    def _sets(self, project: Project) -> list[str]:
        """The set that answers and, during a migration, the one beside it."""
        names = [c.name for c in self._client.get_collections().collections]
        return [name for name in names if name.startswith(f"{_alias(project)}--")]

    def _dimensions(self, name: str) -> int | None:
        """Of the vectors of a set; None where there is no such set."""
        if not self._client.collection_exists(name):
            return None
        vectors = self._client.get_collection(name).config.params.vectors
        assert isinstance(vectors, dict)  # named, as _set_of makes them
        return vectors[points.DENSE].size

    def _set_of(self, project: Project, model: str, dimensions: int | None) -> str:
        """The collection of this model, made at the first write; the project's first one answers at once."""
        name = _set_name(project, model)
        if dimensions is None or self._client.collection_exists(name):
            return name
        self._client.create_collection(
            name,
            vectors_config={points.DENSE: models.VectorParams(size=dimensions, distance=models.Distance.DOT)},
            sparse_vectors_config={points.WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            metadata={"project": project.id, "embed_model": model},
        )
        for field in points.KEYWORD_FIELDS:
            self._client.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD)
        self._client.create_payload_index(name, "year", models.PayloadSchemaType.INTEGER)
        if not self._client.collection_exists(_alias(project)):
            self._point_alias(project, name)
        return name

    def _point_alias(self, project: Project, collection: str) -> None:
        create = models.CreateAlias(collection_name=collection, alias_name=_alias(project))
        self._client.update_collection_aliases([models.CreateAliasOperation(create_alias=create)])

    def _swap_when_complete(self, project: Project, collection: str) -> Migration:
        new = {point.payload["chunk_id"] for point in self._scroll(project, None, collection, ["chunk_id"])}
        old = {point.payload["chunk_id"] for point in self._scroll(project, None, _alias(project), ["chunk_id"])}
        if old <= new:
            self._point_alias(project, collection)
            for name in self._sets(project):
                if name != collection:
                    self._client.delete_collection(name)
        return Migration(len(old & new), len(old))

    # --- points ---

    def _upsert(self, collection: str, project: Project, chunks: Sequence[StoredChunk], whole: frozenset[str]) -> None:
        sizes = {doc_id: sum(chunk.doc_id == doc_id for chunk in chunks) for doc_id in whole}
        words = points.found_by(chunks)
        for start in range(0, len(chunks), _PAGE):
            part = chunks[start : start + _PAGE]
            batch = [points.to_point(project, c, words[c.id], sizes.get(c.doc_id)) for c in part]
            self._client.upsert(collection, points=batch, wait=True)

    def _remove_others(self, collection: str, project: Project, doc_ids: Sequence[str], kept: list[str]) -> None:
        """What these documents had before, and have no more."""
        keep = set(kept)
        for doc_id in doc_ids if self._client.collection_exists(collection) else ():
            mine = points.of_project(project, doc_id=doc_id)
            found = self._scroll(project, mine, collection, ["chunk_id"])
            stale = [point.id for point in found if point.payload["chunk_id"] not in keep]
            if stale:
                self._client.delete(collection, points_selector=models.PointIdsList(points=stale), wait=True)

    def _scroll(
        self,
        project: Project,
        which: models.Filter | None,
        collection: str | None = None,
        fields: list[str] | None = None,
    ) -> Iterator[Any]:
        """All points, page by page; with the vector unless only some fields are wanted."""
        name = collection or _alias(project)
        if not self._client.collection_exists(name):
            return
        offset = None
        while True:
            page, offset = self._client.scroll(
                name,
                scroll_filter=which or points.of_project(project),
                limit=_PAGE,
                offset=offset,
                with_payload=fields or True,
                with_vectors=False if fields else [points.DENSE],
            )
            yield from page
            if offset is None:
                return

    def _by_point_id(self, name: str, project: Project, ids: Sequence[str]) -> dict[str, StoredChunk]:
        found = self._client.retrieve(name, ids=list(ids), with_payload=True, with_vectors=[points.DENSE])
        return {str(p.id): points.to_chunk(p) for p in found if (p.payload or {}).get("project") == project.id}

    def _nearest(self, name: str, question: Question, allowed: models.Filter) -> dict[str, float]:
        found = self._client.query_points(
            name,
            query=question.vector.tolist(),
            using=points.DENSE,
            query_filter=allowed,
            limit=max(question.k, _DEPTH),
            with_payload=False,
        )
        return {str(p.id): _cosine(p.score) for p in found.points}

    def _matching(self, name: str, question: Question, allowed: models.Filter) -> dict[str, float]:
        words = points.question_words(question.words or "")
        if not words.indices:
            return {}
        found = self._client.query_points(
            name,
            query=words,
            using=points.WORDS,
            query_filter=allowed,
            limit=max(question.k, _DEPTH),
            with_payload=False,
        )
        hits = {str(p.id): p.score for p in found.points if p.score > 0}
        most = self._most_possible(name, words, hits)
        return {i: min(1.0, score / most) for i, score in hits.items()}

    def _most_possible(self, name: str, question: models.SparseVector, hits: Mapping[str, float]) -> float:
        """Return about the score of a passage with every word without end: the server does not tell how rare each is."""
        if not hits:
            return 1.0
        best = max(hits, key=lambda i: (hits[i], i))
        point = self._client.retrieve(name, [best], with_payload=False, with_vectors=[points.WORDS])[0]
        passage = point.vector[points.WORDS] if isinstance(point.vector, dict) else None
        assert isinstance(passage, models.SparseVector)  # as _set_of makes them
        return hits[best] / points.share_of_question(question, passage)

    def _cosines(self, name: str, question: Question, ids: Sequence[str]) -> dict[str, float]:
        if not ids:
            return {}
        only = models.Filter(must=[models.HasIdCondition(has_id=list(ids))])
        found = self._client.query_points(
            name,
            query=question.vector.tolist(),
            using=points.DENSE,
            query_filter=only,
            limit=len(ids),
            with_payload=False,
        )
        return {str(p.id): _cosine(p.score) for p in found.points}

    def _sections(self, project: Project, question: Question) -> list[str] | None:
        """Sections that begin with the wanted prefix; Qdrant compares whole words only."""
        prefix = question.filters.section_prefix
        if prefix is None:
            return None
        facet = self._client.facet(
            _alias(project),
            key="section",
            facet_filter=points.of_project(project),
            limit=_MOST_SECTIONS,
            exact=True,
        )
        return [str(hit.value) for hit in facet.hits if str(hit.value).startswith(prefix)]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (ResponseHandlingException, UnexpectedResponse, httpx.HTTPError) as error:
            reason = str(error) or type(error).__name__
            refused = isinstance(error, UnexpectedResponse) and error.status_code in (401, 403)
            way_out = ". Set QDRANT_API_KEY to a key that may read and write there" if refused else ""
            raise IndexUnavailable(f"The library at {self._where} cannot be used ({reason}){way_out}") from error


def _alias(project: Project) -> str:
    """Stable for a project, whatever other projects there are. It never has two hyphens in a row: those begin a set."""
    readable = re.sub("[^A-Za-z0-9]+", "-", project.id)[:60].strip("-")
    return f"trigpoint-{short_hash(project.id)}-{readable or 'project'}"


def _set_name(project: Project, model: str) -> str:
    return f"{_alias(project)}--{short_hash(model_key(model))}"


def _ask(allow: Callable[[], bool]) -> None:
    if not allow():
        raise LibraryTimeout("The call had timed out; nothing was written")


def _cosine(score: float) -> float:
    return round(min(1.0, max(0.0, score)), _PLACES)


def _ranked(scores: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _document_row(doc_id: str, payloads: list[Any]) -> DocumentRow:
    source = (payloads[0].get("payload") or {}).get("source")
    source = source if isinstance(source, dict) else {}
    expected = payloads[0].get("doc_chunks")
    whole = expected is None or expected == len(payloads)
    return DocumentRow(
        doc_id, source.get("path"), source.get("title"), source.get("sha256") if whole else None, len(payloads)
    )
