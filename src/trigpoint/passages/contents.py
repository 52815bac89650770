"""Texts that are kept with documents, in parts: Chroma takes seconds to store a long one, and a request has few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from trigpoint.storage.chroma import Collection

_PART = 200_000  # characters


class Contents:
    """Each version of a document has its own text, so that the ledger's row decides which of them is read."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def write(self, version: str, texts: Mapping[str, str]) -> None:
        for document_id, text in texts.items():
            parts = [text[at : at + _PART] for at in range(0, len(text), _PART)]
            for number, part in enumerate(parts):
                about: dict[str, str | int] = {"document": document_id, "version": version, "number": number}
                about["parts"] = len(parts)
                key = f"{document_id}#{version}#{number}"
                self._collection.upsert([key], np.zeros((1, 1), dtype=np.float32), [part], [about])

    def read(self, document_id: str, version: str) -> str | None:
        """Return the text kept with this version of a document; None if it is not there as a whole."""
        records = self._collection.get(where={"$and": [{"document": document_id}, {"version": version}]})
        parts = {int(record.metadata["number"]): record.text for record in records}
        whole = records and len(parts) == records[0].metadata["parts"]
        return "".join(parts[number] for number in sorted(parts)) if whole else None

    def remove_others(self, document_ids: Iterable[str], version: str) -> None:
        for document_id in document_ids:
            records = self._collection.get(where={"document": document_id}, texts=False)
            self._collection.delete([record.id for record in records if record.metadata["version"] != version])
