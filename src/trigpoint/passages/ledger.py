"""A record of the ledger: which version of a document answers, and where in its text its passages are."""

from __future__ import annotations

import json
from typing import Any

from trigpoint.errors import StoreError
from trigpoint.passages.journal import Change
from trigpoint.storage.chroma import Record

Place = tuple[int, int, tuple[int, ...]]  # start, end, pages


def ledger_row(change: Change, document_id: str, *, changing: bool) -> tuple[str, dict[str, Any]]:
    """Return a ledger record: the places of the passages as its text, and the version as its metadata."""
    passages = change.documents[document_id]
    places = [(p.start, p.end, p.pages) for p in passages]
    state = "changing" if changing else "whole"
    metadata = {"chunk_count": len(passages), "version": change.id, "state": state}
    return json.dumps(places, separators=(",", ":")), metadata


def places_in(row: Record) -> list[Any]:
    """Return the places of the passages, in reading order; none if the record is of a time before they were kept."""
    try:
        places = json.loads(row.text)
        return places if all(len(place) >= 2 for place in places) else []
    except (ValueError, TypeError) as error:
        raise StoreError(f"The layout of {row.id} is damaged ({error}). Delete it and ingest it again") from None
