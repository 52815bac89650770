"""The outcome for each file of an application in the document store, and whose fault it is if it was not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from trigpoint.errors import IngestionFailed, TrigpointError, shorten
from trigpoint.review.intake import Data, counted, public_name

WAITED_FOR = frozenset(  # a worker has waited for these as long as it makes sense, or waiting does not help
    {"server_unreachable", "store_unavailable", "registry_unavailable", "insufficient_storage", "store_damaged"}
)
_WITHOUT_TEXT = frozenset({"no_content", "no_chunks", "unsupported_file_type"})
_OF_THE_FILE = _WITHOUT_TEXT | {"extraction_failed", "file_not_found", "validation_error"}


@dataclass(frozen=True)
class Ingest:
    """The id under which the document store has a file, and the account of its pages, if it was read.

    `fault` is the code of an error that is not the file's own: of a store, a server, or ours.
    """

    outcome: str
    document_id: str | None = None
    account: Data | None = None
    reason: str = ""
    fault: str = ""

    @classmethod
    def failed(cls, error: TrigpointError) -> Self:
        """Return the outcome of an error: a file without text is skipped; any other error is a failure."""
        outcome = "skipped" if error.code in _WITHOUT_TEXT else "failed"
        fault = "" if error.code in _OF_THE_FILE else error.code
        return cls(outcome, reason=shorten(error.message, 200), fault=fault)


def require_stores(done: Mapping[str, Ingest], manifest: Data) -> None:
    """Raise IngestionFailed if documents are missing because a store still fails: nothing is wrong with them, and a
    review without them would say too little. One that a bug of ours keeps us from reading does not end the review."""
    missing = sorted(path for path, one in done.items() if one.fault not in ("", TrigpointError.code))
    if missing:
        name = public_name(missing[0], manifest)
        raise IngestionFailed(
            f"{len(missing)} of {counted(len(done), 'document')} could not be stored, {name} among them: "
            f"{done[missing[0]].reason}. Submit the review again once that is fixed"
        )


def unread_documents(done: Mapping[str, Ingest], manifest: Data) -> list[Data]:
    """Return the documents that could not be read, each with its reason."""
    return [
        {"name": public_name(path, manifest), "reason": one.reason, "fault": bool(one.fault)}
        for path, one in sorted(done.items())
        if one.outcome == "failed"
    ]
