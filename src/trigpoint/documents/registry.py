"""The registry: which documents are there. A document's passages count only while its row stands here (D7).

Embedded, this process owns the store, and the rows it keeps in memory are all there are. On a server others write too:
what is kept is what was once seen, and `confirm` asks the server.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

import numpy as np

from trigpoint.documents.models import RegisteredDocument
from trigpoint.storage.chroma import Collection

Rows = Mapping[str, RegisteredDocument]

_SHORTEST_HASH = 6


class Registry:
    """Thread-safe. The mapping of rows is replaced, never changed, so that a reader may keep what it was given."""

    def __init__(self, collection: Collection, *, owned: bool) -> None:
        self._collection = collection
        self._owned = owned
        self._changing = threading.Lock()
        self._rows: Rows = {}
        self.refresh()

    def known(self) -> Rows:
        return self._rows

    def refresh(self) -> Rows:
        """Read every row anew."""
        records = self._collection.get()
        with self._changing:
            self._rows = {record.id: RegisteredDocument.of(record.id, record.metadata) for record in records}
        return self._rows

    def catch_up(self) -> Rows:
        """Rows of others since; costs one count when there are none."""
        if not self._owned and self._collection.count() != len(self._rows):
            self.refresh()
        return self._rows

    def confirm(self, document_ids: Iterable[str]) -> Rows:
        """The rows of these documents as they stand now."""
        wanted = sorted(set(document_ids))
        if self._owned:
            rows = self._rows
            return {i: rows[i] for i in wanted if i in rows}
        found = {r.id: RegisteredDocument.of(r.id, r.metadata) for r in self._collection.get(ids=wanted)}
        self._change(found, gone=[i for i in wanted if i not in found])
        return found

    def get(self, document_id: str) -> RegisteredDocument | None:
        return self.confirm([document_id]).get(document_id)

    def of_application(self, application_ref: str) -> list[RegisteredDocument]:
        """The documents of one application, in the order they were ingested."""
        if self._owned:
            rows = [row for row in self._rows.values() if row.application_ref == application_ref]
        else:
            records = self._collection.get(where={"application_ref": application_ref})
            rows = [RegisteredDocument.of(record.id, record.metadata) for record in records]
            self._change({row.document_id: row for row in rows})
        return sorted(rows, key=lambda row: (row.ingested_at, row.document_id))

    def id_for(self, name: str, application_ref: str, file_hash: str) -> str:
        """`{name}_{hash}` with 6 digits of the hash; more where another file has those (D5)."""
        for digits in range(_SHORTEST_HASH, len(file_hash)):
            document_id = f"{name}_{file_hash[:digits]}"
            row = self.get(document_id)
            if row is None or (row.file_hash, row.application_ref) == (file_hash, application_ref):
                return document_id
        return f"{name}_{file_hash}"

    def register(self, row: RegisteredDocument) -> RegisteredDocument:
        """Make the document visible. Returns the row that stands: another process may have been first."""
        placeholder = np.zeros((1, 384), dtype=np.float32)
        self._collection.add([row.document_id], placeholder, [row.file_path], [row.metadata()])
        (record,) = self._collection.get(ids=[row.document_id])
        standing = RegisteredDocument.of(record.id, record.metadata)
        self._change({row.document_id: standing})
        return standing

    def update(self, row: RegisteredDocument) -> None:
        """Replace the row of a registered document, in one step."""
        self._collection.update_metadatas([row.document_id], [row.metadata()])
        self._change({row.document_id: row})

    def remove(self, document_id: str) -> None:
        self._collection.delete([document_id])
        self._change({}, gone=[document_id])

    def _change(self, rows: Rows, gone: Iterable[str] = ()) -> None:
        with self._changing:
            changed = {**self._rows, **rows}
            for document_id in gone:
                changed.pop(document_id, None)
            self._rows = changed
