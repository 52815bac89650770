"""The registry: which documents are there. A document's passages may answer only while its row is here.

Rows are kept in memory, and read again when the store's mark has moved: other processes write too.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

import numpy as np

from trigpoint.documents.models import RegisteredDocument
from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.model import Where
from trigpoint.storage.chroma import Collection as ChromaCollection

Rows = Mapping[str, RegisteredDocument]

_SHORTEST_HASH = 6
_NOWHERE = np.zeros((1, 384), dtype=np.float32)


class Registry:
    """Thread-safe. The mapping of rows is replaced, never changed, so that a reader may keep what it was given."""

    def __init__(self, collection: ChromaCollection, passages: ChromaPassages) -> None:
        self._collection = collection
        self._passages = passages
        self._refreshing = threading.Lock()
        self._rows: Rows = {}
        self._seen: str | None = None
        self._everything: tuple[Rows, Where] = ({}, Where.of([]))

    def rows(self) -> Rows:
        """Return every row, as of now."""
        mark = self._passages.mark.read()
        if mark != self._seen:
            with self._refreshing:
                if mark != self._seen:
                    records = self._collection.get(texts=False)
                    self._rows = {record.id: RegisteredDocument.of(record.id, record.metadata) for record in records}
                    self._seen = mark
        return self._rows

    def get(self, document_id: str) -> RegisteredDocument | None:
        return self.rows().get(document_id)

    def of_application(self, application_ref: str) -> list[RegisteredDocument]:
        """Return the documents of one application, in the order they were ingested."""
        rows = [row for row in self.rows().values() if row.application_ref == application_ref]
        return sorted(rows, key=lambda row: (row.ingested_at, row.document_id))

    def answering(self, application_ref: str | None, document_types: Collection[str] = ()) -> Where:
        """Return the passages of registered documents: of one application or of all, of these types or of any.

        Of what type a document is, its row decides, and not the metadata of its passages.
        """
        rows = self.rows()
        if application_ref is not None or document_types:
            return Where.of([row.document_id for row in rows.values() if row.matches(application_ref, document_types)])
        if self._everything[0] is not rows:
            self._everything = (rows, Where.of(rows))
        return self._everything[1]

    def id_for(self, name: str, application_ref: str, file_hash: str) -> str:
        """Return `{name}_{hash}` with 6 digits of the hash; more if another file has those."""
        for digits in range(_SHORTEST_HASH, len(file_hash)):
            document_id = f"{name}_{file_hash[:digits]}"
            row = self.get(document_id)
            if row is None or (row.file_hash, row.application_ref) == (file_hash, application_ref):
                return document_id
        return f"{name}_{file_hash}"

    def register(self, row: RegisteredDocument) -> RegisteredDocument:
        """Make the document visible. Returns the row that counts: another process may have been first."""
        with self._passages.journal.turn():
            self._collection.add([row.document_id], _NOWHERE, [row.file_path], [row.metadata()])
            (record,) = self._collection.get(ids=[row.document_id])
            self._passages.move_mark()
        return RegisteredDocument.of(record.id, record.metadata)

    def update(self, row: RegisteredDocument) -> None:
        """Replace the row of a registered document, in one step."""
        with self._passages.journal.turn():
            self._collection.upsert([row.document_id], _NOWHERE, [row.file_path], [row.metadata()])
            self._passages.move_mark()

    def remove(self, document_id: str) -> None:
        with self._passages.journal.turn():
            self._collection.delete([document_id])
            self._passages.move_mark()
