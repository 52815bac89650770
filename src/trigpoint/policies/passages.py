"""The passages of policies: the rules of collection `policy_docs`. A revision is replaced as a whole.

Which revisions may answer is decided by the registry and given to every search.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from trigpoint.config import Settings
from trigpoint.dates import day_to_int
from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.model import Hit, Passage, Question, Rules, Where
from trigpoint.passages.rerank import best_passages, shared_reranker
from trigpoint.passages.search import SearchMode
from trigpoint.policies.migration import migrate
from trigpoint.policies.models import Policy, Revision
from trigpoint.storage.chroma import ChromaStore, Collection
from trigpoint.text.embed import EmbeddingService, shared_embedding

COLLECTION = "policy_docs"
LEDGER = "policy_layout"  # ours: which version of a revision answers, and the places and pages of its passages
RULES = Rules(document_key="revision_id", section=lambda passage: passage.metadata["section_ref"])
_REVISION_ID = re.compile(r"rev_[A-Z0-9_]+", re.ASCII)  # all that the registry makes, and never a path


def revision_metadata(policy: Policy, revision: Revision) -> dict[str, str | int]:
    """Return the metadata of the contract that a revision's passages share. Its dates are those on which it answers."""
    span = next((s for s in policy.timeline if s.revision.revision_id == revision.revision_id), None)
    return {
        "source": policy.source,
        "source_title": policy.title,
        "revision_id": revision.revision_id,
        "version_label": revision.version_label,
        "effective_from": day_to_int(revision.effective_from),
        "effective_to": day_to_int(revision.effective_to if span is None else span.end),
    }


def passage_id(source: str, revision_id: str, section_ref: str, index: int) -> str:
    section = section_ref.replace(" ", "_").replace("/", "_") or "doc"
    return f"{source}__{revision_id}__{section}__{index:03d}"


def pages_of(passages: Sequence[Passage]) -> tuple[int, ...]:
    """Return the pages that passages are on. Their metadata has the first of each only."""
    touched = {int(passage.metadata["page_number"]) for passage in passages}
    return tuple(sorted(touched.union(*(passage.pages for passage in passages))))


class PolicyChromaClient:
    """Opens the policies' store. Calls are synchronous and thread-safe. Use as a context manager, or call `close`."""

    def __init__(self, settings: Settings, embedding: EmbeddingService | None = None) -> None:
        self.embedding = embedding or shared_embedding(settings)
        self._reranker = shared_reranker(settings)
        self._store = ChromaStore(settings, "policies")
        try:
            folder = settings.chroma_dir("policies")
            self.passages = ChromaPassages(
                self._store, folder, COLLECTION, LEDGER, RULES, lambda: self.embedding.fingerprint()
            )
            migrate(folder, self.passages)
        except BaseException:
            self._store.close()
            raise

    @property
    def collection(self) -> Collection:
        """The collection as other clients of Chroma see it."""
        return self.passages.records

    def replace_revision(self, revision_id: str, passages: Sequence[Passage]) -> None:
        """Make these the revision's only passages, in one step for every search."""
        self.passages.write(passages, replace=[revision_id])

    def update_revision_metadata(self, revision_id: str, shared: Mapping[str, str | int]) -> int:
        """Let the passages follow the registry: dates, label, title. Returns how many were behind."""
        passages = self.passages_of(revision_id)
        behind = [p for p in passages if any(p.metadata.get(k) != v for k, v in shared.items())]
        if behind:
            self.passages.write([replace(p, metadata={**p.metadata, **shared}) for p in behind])
        return len(behind)

    def delete_revision_chunks(self, source: str, revision_id: str) -> int:
        """Remove a revision's passages; none is no error. Returns how many there were."""
        if _REVISION_ID.fullmatch(revision_id) is None:
            return 0
        mine = Where.of([revision_id], source=source)
        if self.passages.count(mine) < self.count(revision_id):
            return 0  # another policy's revision
        return self.passages.delete(revision_id)

    def search(
        self, query: str, n_results: int, revision_ids: Sequence[str], mode: SearchMode = "semantic"
    ) -> list[Hit]:
        """Return the best passages of these revisions, exactly."""
        if not revision_ids:
            return []
        words = query if mode == "hybrid" else None
        question = Question(self.embedding.embed(query), n_results, words, Where.of(revision_ids))
        return best_passages(self.passages, question, self._reranker)

    def passages_of(self, revision_id: str) -> list[Passage]:
        """Return a revision's passages in their order."""
        return self.passages.document(revision_id)

    def count(self, revision_id: str | None = None) -> int:
        return self.passages.count(None if revision_id is None else Where.of([revision_id]))

    def close(self) -> None:
        self.passages.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
