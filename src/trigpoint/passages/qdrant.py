"""Passages on Qdrant: dense vectors, and sparse ones with IDF, in a Qdrant collection for each of ours and each model.

An alias names the set that answers, so that a change of model swaps in one step. Every request carries our collection's
name as a filter too. A document's row names the version of it that answers: new passages come under a new version, the
row switches to it, then the old ones go. Whatever is not of the row's version is never shown.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from pydantic import SecretStr
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from trigpoint.errors import IndexUnavailable
from trigpoint.passages import qdrant_points as points
from trigpoint.passages.embed_models import is_our_model, model_key
from trigpoint.passages.model import DocumentRow, Hit, Passage, Question, Rules, Where
from trigpoint.passages.qdrant_search import QdrantCandidates
from trigpoint.passages.search import rank
from trigpoint.passages.store import Inspection, Migration, always, ask, check_dimensions, mismatch

_PAGE = 500
_LOOKS = 5
_MOST_SECTIONS = 10_000


class QdrantStores:
    """The collections of one Qdrant server, by name."""

    def __init__(self, client: QdrantClient, rules: Rules, where: str = "QDRANT_URL") -> None:
        self._client = client
        self._rules = rules
        self._where = where

    @classmethod
    def at(cls, url: str, key: SecretStr | None, rules: Rules) -> QdrantStores:
        secret = key.get_secret_value() if key else None
        client = QdrantClient(url=url, api_key=secret, timeout=10, check_compatibility=False)
        return cls(client, rules, f"QDRANT_URL={url}")

    def collection(self, name: str) -> QdrantPassages:
        return QdrantPassages(self._client, name, self._rules, self._where)

    def close(self) -> None:
        self._client.close()


class QdrantPassages:
    """See `PassageStore`."""

    def __init__(self, client: QdrantClient, name: str, rules: Rules, where: str) -> None:
        self._client = client
        self._name = name
        self._rules = rules
        self._where = where
        self._alias = _alias(name)

    def write(
        self,
        passages: Sequence[Passage],
        *,
        replace: Sequence[str] = (),
        model: str | None = None,
        migrate: bool = False,
        allow: Callable[[], bool] = always,
    ) -> Migration | None:
        """Write passages; `allow` is asked before the first change."""
        model = model or ""
        with self._explained():
            bound = self._model_of(self._alias) or model
            other = model_key(bound) != model_key(model)
            if other and not migrate:
                raise mismatch(self._name, bound, model)
            check_dimensions(passages, model, self._dimensions(self._set_name(model)))
            ask(allow)
            vector = passages[0].vector if passages else None
            kept = self._set_of(model, None if vector is None else len(vector))
            if self._client.collection_exists(kept):
                self._change(kept, passages, frozenset(replace))
            if other:
                return self._swap_when_complete(kept)
            return None

    def delete(self, document_id: str, *, allow: Callable[[], bool] = always) -> int:
        with self._explained():
            if self._model_of(self._alias) is None:
                return 0
            gone = len(self.document(document_id))
            ask(allow)
            for kept in self._sets():
                self._switch(kept, {document_id: uuid.uuid4().hex})  # a version that no passage has
                self._remove(kept, points.of_collection(self._name, doc_id=document_id))
                self._remove_ids(kept, [points.row_id(self._name, document_id)])
        return gone

    def search(self, question: Question) -> list[Hit]:
        """Return the best passages. Those of a version that does not answer are left out, so more are asked for."""
        with self._explained():
            model = self._model_of(self._alias)
            if model is None:
                return []
            by_meaning = is_our_model(model)  # questions are embedded with no other; words find in any
            candidates = QdrantCandidates(self._client, self._alias, self._filter(question.where), by_meaning)
            asked, hits = question.k, list[Hit]()
            for _ in range(_LOOKS):
                ranked = rank(candidates, _asking(question, asked))
                found = self._by_point_id([r.id for r in ranked])
                hits = [Hit(found[r.id], r.cosine, r.fused, r.bm25) for r in ranked if r.id in found]
                if len(hits) >= question.k or len(ranked) < asked:
                    break
                asked *= 2
        return hits[: question.k]

    def get(self, ids: Sequence[str]) -> list[Passage]:
        with self._explained():
            if self._model_of(self._alias) is None or not ids:
                return []
            wanted = models.FieldCondition(key="chunk_id", match=models.MatchAny(any=list(ids)))
            which = models.Filter(must=[*(points.of_collection(self._name).must or []), wanted])
            found = {p.id: p for p in map(points.to_passage, self._answering(self._scroll(which)))}
        return [found[i] for i in ids if i in found]

    def document(self, document_id: str) -> list[Passage]:
        with self._explained():
            points_of_document = self._answering(self._scroll(points.of_collection(self._name, doc_id=document_id)))
            return sorted(map(points.to_passage, points_of_document), key=lambda passage: (passage.seq, passage.id))

    def documents(self) -> list[DocumentRow]:
        """Return the documents. One whose write was broken off has no sha256, so that it is read again."""
        with self._explained():
            fields = ["doc_id", "seq", "doc_chunks", "version", "payload.source", "payload.zotero", "payload.doc"]
            seen: dict[str, list[Any]] = {}
            for point in self._answering(self._scroll(points.of_collection(self._name), fields=fields)):
                seen.setdefault(point.payload["doc_id"], []).append(point.payload)
        return [_document_row(document_id, seen[document_id]) for document_id in sorted(seen)]

    def count(self, where: Where | None = None) -> int:
        with self._explained():
            if self._model_of(self._alias) is None:
                return 0
            which = self._filter(where or Where())
            return len(self._answering(self._scroll(which, fields=["doc_id", "version"])))

    def fingerprint(self) -> str | None:
        with self._explained():
            return self._model_of(self._alias)

    def inspect(self, sample: int) -> Inspection:
        with self._explained():
            model = self._model_of(self._alias)
            if model is None:
                return Inspection(0, None, (), ())
            first = self._answering(self._scroll(points.of_collection(self._name), limit=max(1, sample)))
        passages = [points.to_passage(point) for point in first]
        keys = tuple(dict.fromkeys(key for passage in passages for key in passage.metadata))
        return Inspection(self.count(), model, keys, tuple(passages[:sample]))

    def lacks_words(self) -> bool:
        return False  # the server indexes what it is given before it answers

    def close(self) -> None:
        """Do nothing: the client belongs to all collections."""

    # --- collections ---

    def _set_name(self, model: str) -> str:
        return f"{self._alias}--{_short_hash(model_key(model))}"

    def _model_of(self, name: str) -> str | None:
        """Return the model that a set was made with, as its own metadata says; None if there is no such set."""
        if not self._client.collection_exists(name):
            return None
        metadata = self._client.get_collection(name).config.metadata or {}
        if "embed_model" not in metadata:
            raise IndexUnavailable(
                f"The collection {name} at {self._where} does not say its model: this needs a Qdrant that keeps the "
                "metadata of collections"
            )
        return str(metadata["embed_model"])

    def _sets(self) -> list[str]:
        """Return the set that answers and, during a change of model, the one next to it."""
        names = [c.name for c in self._client.get_collections().collections]
        return [name for name in names if name.startswith(f"{self._alias}--")]

    def _dimensions(self, name: str) -> int | None:
        """Return the dimensions of the vectors of a set; None if there is no such set."""
        if not self._client.collection_exists(name):
            return None
        vectors = self._client.get_collection(name).config.params.vectors
        assert isinstance(vectors, dict)  # named, as _set_of makes them
        return vectors[points.DENSE].size

    def _set_of(self, model: str, dimensions: int | None) -> str:
        """Return the collection of this model, made at the first write; the first one of all answers at once."""
        name = self._set_name(model)
        if dimensions is None or self._client.collection_exists(name):
            return name
        self._client.create_collection(
            name,
            vectors_config={points.DENSE: models.VectorParams(size=dimensions, distance=models.Distance.DOT)},
            sparse_vectors_config={points.WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            metadata={"project": self._name, "embed_model": model},
        )
        for field in points.KEYWORD_FIELDS:
            self._client.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD)
        self._client.create_payload_index(name, "year", models.PayloadSchemaType.INTEGER)
        if not self._client.collection_exists(self._alias):
            self._point_alias(name)
        return name

    def _point_alias(self, kept: str) -> None:
        create = models.CreateAlias(collection_name=kept, alias_name=self._alias)
        self._client.update_collection_aliases([models.CreateAliasOperation(create_alias=create)])

    def _swap_when_complete(self, kept: str) -> Migration:
        new = {point.payload["chunk_id"] for point in self._answering(self._scroll(kept=kept, fields=_IDENTITY), kept)}
        old = {point.payload["chunk_id"] for point in self._answering(self._scroll(fields=_IDENTITY))}
        if old <= new:
            self._point_alias(kept)
            for name in self._sets():
                if name != kept:
                    self._client.delete_collection(name)
        return Migration(len(old & new), len(old))

    # --- changes ---

    def _change(self, kept: str, passages: Sequence[Passage], replace: frozenset[str]) -> None:
        """Write the passages of replaced documents under a new version, which answers once the rows switch to it."""
        change = uuid.uuid4().hex
        versions = self._versions(kept, {p.document_id for p in passages} - replace)
        versions |= dict.fromkeys(replace, change)
        written = self._upsert(kept, passages, versions, replace)
        if replace:
            self._switch(kept, dict.fromkeys(sorted(replace), change))
        for document_id in sorted(replace):
            others = points.of_collection(self._name, doc_id=document_id)
            others.must_not = [models.FieldCondition(key="version", match=models.MatchValue(value=change))]
            self._remove(kept, others)
        self._remove_twins(kept, [p.id for p in passages], written)

    def _upsert(
        self, kept: str, passages: Sequence[Passage], versions: Mapping[str, str], whole: frozenset[str]
    ) -> list[str]:
        sizes = {document_id: sum(p.document_id == document_id for p in passages) for document_id in whole}
        words = points.found_by(self._rules, passages)
        written: list[str] = []
        for start in range(0, len(passages), _PAGE):
            batch = [
                points.to_point(
                    self._name, self._rules, p, words[p.id], sizes.get(p.document_id), versions.get(p.document_id, "")
                )
                for p in passages[start : start + _PAGE]
            ]
            self._client.upsert(kept, points=batch, wait=True)
            written += [str(point.id) for point in batch]
        return written

    def _switch(self, kept: str, versions: Mapping[str, str]) -> None:
        rows = [points.to_row(self._name, document_id, version) for document_id, version in versions.items()]
        self._client.upsert(kept, points=rows, wait=True)

    def _remove(self, kept: str, which: models.Filter) -> None:
        self._client.delete(kept, points_selector=models.FilterSelector(filter=which), wait=True)

    def _remove_ids(self, kept: str, ids: Sequence[str]) -> None:
        self._client.delete(kept, points_selector=models.PointIdsList(points=list(ids)), wait=True)

    def _remove_twins(self, kept: str, ids: Sequence[str], written: Sequence[str]) -> None:
        """Remove what had these ids before, in another document or version: a passage has one id and one place."""
        for start in range(0, len(ids), _PAGE):
            wanted = models.MatchAny(any=list(ids[start : start + _PAGE]))
            twins = points.of_collection(self._name)
            assert isinstance(twins.must, list)
            twins.must.append(models.FieldCondition(key="chunk_id", match=wanted))
            twins.must_not = [models.HasIdCondition(has_id=list(written))]
            self._remove(kept, twins)

    # --- reading ---

    def _filter(self, where: Where) -> models.Filter:
        prefixes = [c.value for c in where.conditions if c.operation == "starts"]
        return points.conditions(self._name, where, self._sections(prefixes) if prefixes else None)

    def _sections(self, prefixes: Sequence[str]) -> list[str]:
        """Return the sections that begin with the wanted prefixes: Qdrant compares whole values only."""
        facet = self._client.facet(
            self._alias,
            key="section",
            facet_filter=points.of_collection(self._name),
            limit=_MOST_SECTIONS,
            exact=True,
        )
        return [str(hit.value) for hit in facet.hits if all(str(hit.value).startswith(p) for p in prefixes)]

    def _scroll(
        self,
        which: models.Filter | None = None,
        kept: str | None = None,
        fields: list[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[Any]:
        """Yield all points, page by page; with the vector unless only some fields are wanted."""
        name = kept or self._alias
        if not self._client.collection_exists(name):
            return
        offset, count = None, 0
        while True:
            page, offset = self._client.scroll(
                name,
                scroll_filter=which or points.of_collection(self._name),
                limit=limit or _PAGE,
                offset=offset,
                with_payload=fields or True,
                with_vectors=False if fields else [points.DENSE],
            )
            yield from page
            count += len(page)
            if offset is None or (limit is not None and count >= limit):
                return

    def _versions(self, kept: str, document_ids: Iterable[str]) -> dict[str, str]:
        """Return the versions that answer, of those documents that have a row."""
        ids = [points.row_id(self._name, document_id) for document_id in sorted(set(document_ids))]
        if not ids:
            return {}
        rows = self._client.retrieve(kept, ids=ids, with_payload=True)
        return {row.payload["row_of"]: row.payload["version"] for row in rows if row.payload}

    def _answering(self, found: Iterable[Any], kept: str | None = None) -> list[Any]:
        """Return those points whose version answers now. A document without a row has one version only."""
        given = list(found)
        versions = self._versions(kept or self._alias, (point.payload["doc_id"] for point in given))
        return [p for p in given if versions.get(p.payload["doc_id"], "") == (p.payload.get("version") or "")]

    def _by_point_id(self, ids: Sequence[str]) -> dict[str, Passage]:
        records = self._client.retrieve(self._alias, ids=list(ids), with_payload=True, with_vectors=[points.DENSE])
        mine = [point for point in records if (point.payload or {}).get("project") == self._name]
        return {str(point.id): points.to_passage(point) for point in self._answering(mine)}

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (ResponseHandlingException, UnexpectedResponse, httpx.HTTPError) as error:
            reason = str(error) or type(error).__name__
            refused = isinstance(error, UnexpectedResponse) and error.status_code in (401, 403)
            way_out = ". Set QDRANT_API_KEY to a key that may read and write there" if refused else ""
            raise IndexUnavailable(f"The library at {self._where} cannot be used ({reason}){way_out}") from error


_IDENTITY = ["chunk_id", "doc_id", "version"]


def _asking(question: Question, k: int) -> Question:
    return Question(question.vector, k, question.words, question.where, question.fusion, question.alpha)


def _alias(name: str) -> str:
    """Return a name that is stable for a collection. It never has two hyphens in a row: those begin a set."""
    readable = re.sub("[^A-Za-z0-9]+", "-", name)[:60].strip("-")
    return f"trigpoint-{_short_hash(name)}-{readable or 'project'}"


def _short_hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _document_row(document_id: str, payloads: list[Any]) -> DocumentRow:
    about = min(payloads, key=lambda payload: payload.get("seq") or 0).get("payload") or {}
    said = about.get("source")
    source: dict[str, Any] = said if isinstance(said, dict) else {}
    expected = payloads[0].get("doc_chunks")
    whole = expected is None or expected == len(payloads)
    sha256 = source.get("sha256") if whole else None
    return DocumentRow(document_id, source.get("path"), source.get("title"), sha256, len(payloads), about)
