"""One exception tree. Each class carries the code and the HTTP status that surfaces show.

A domain raises; a surface turns what is raised into its own envelope. Messages say what was wrong,
with what, and what to do about it.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

_BREAKS = re.compile(r"[\t\r\n][ \t\r\n]*")


class TrigpointError(Exception):
    """The root. `details` is data for the envelope, never needed to understand the message."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


def shorten(value: object, limit: int = 80) -> str:
    """The offending value as it may stand in a message: on one line, printable, and never long."""
    text = _BREAKS.sub(" ", str(value))
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: limit + 1])
    return text if len(text) <= limit else text[:limit] + "…"


def first_error(group: BaseException) -> BaseException:
    """Return what went wrong, out of the groups in which tasks wrap it."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


# --- the ground -------------------------------------------------------------------------------


class ConfigurationError(TrigpointError):
    """A setting is wrong; raised at start, names the variable, its value and what is valid."""

    code = "configuration_error"


class InvalidInput(TrigpointError):
    """A value from outside does not have the form it must have."""

    code = "validation_error"
    status = 422


class InvalidDate(InvalidInput):
    code = "invalid_date"


class InvalidReference(InvalidInput):
    code = "invalid_reference"


# --- stores -----------------------------------------------------------------------------------


class StoreError(TrigpointError):
    """A store cannot do what was asked of it."""

    code = "store_error"
    status = 503


class StoreUnavailable(StoreError):
    """A store cannot be reached. Names the store and the setting that points to it."""

    code = "store_unavailable"


class StoreDamaged(StoreUnavailable):
    """A file of an embedded store is damaged. Names the file and the way out."""

    code = "store_damaged"


class NoSpace(StoreError):
    """Too little free space in the data folder to begin or to finish something. Says where, and how much is left."""

    code = "insufficient_storage"
    status = 507


class StoreInUse(StoreError):
    """Another process owns this embedded store (E8). Names the holder and the way out."""

    code = "store_in_use"


class UnsafePath(StoreError):
    """A name or path would leave the folder it belongs to."""

    code = "unsafe_path"
    status = 400


# --- text -------------------------------------------------------------------------------------


class TextError(TrigpointError):
    """A file did not become text."""

    code = "extraction_failed"
    status = 422


class FileMissing(TextError):
    code = "file_not_found"
    status = 404


class UnsupportedFileType(TextError):
    code = "unsupported_file_type"


class ExtractionFailed(TextError):
    code = "extraction_failed"


class NoContent(TextError):
    code = "no_content"


class ModelMissing(TextError):
    """No embedding model can be found; says the three places that were looked in."""

    code = "model_missing"
    status = 503


class Cancelled(TrigpointError):
    """The caller gave up; the work stopped at a safe point and left nothing half done."""

    code = "cancelled"
    status = 499


# --- reviews ----------------------------------------------------------------------------------


class ReviewFailed(TrigpointError):
    """A review that cannot be finished. `code` is one of the four of the contract (R6)."""

    code = "internal_error"


class ScraperError(ReviewFailed):
    """The register does not know the application, or cannot be read."""

    code = "scraper_error"
    status = 502


class IngestionFailed(ReviewFailed):
    """There are documents, and none of them could be read."""

    code = "ingestion_failed"


class AnalysisFailed(ReviewFailed):
    """The evidence could not be gathered or judged."""

    code = "analysis_failed"


# --- MCP --------------------------------------------------------------------------------------


class UnknownTool(TrigpointError):
    """A client called a tool that this server does not have; lists those it has."""

    code = "unknown_tool"
    status = 404


class AnswerTooLarge(InvalidInput):
    """The answer to a call is larger than MCP clients accept; the message says how to ask for less."""

    code = "answer_too_large"
    status = 413


class ToolFailed(TrigpointError):
    """A tool that we called answered with an error. `code` is the tool's own; `details` is its error object."""

    code = "tool_error"
    status = 502

    def __init__(self, code: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code  # type: ignore[misc]
        self.details = details or {}


class ServerUnreachable(TrigpointError):
    """An MCP server that we need does not answer. Names its address and the reason."""

    code = "server_unreachable"
    status = 503


# --- the REST API and its jobs ----------------------------------------------------------------


class Unauthorized(TrigpointError):
    """No key, or one that is not known. The message is the same for both (E6)."""

    code = "unauthorized"
    status = 401


class Forbidden(TrigpointError):
    """The key is known, but lacks the scope that the request needs."""

    code = "forbidden"
    status = 403


class RateLimited(TrigpointError):
    code = "rate_limited"
    status = 429


class PayloadTooLarge(TrigpointError):
    """A body over its limit, refused while it is still coming in (P10)."""

    code = "payload_too_large"
    status = 413


class ReviewNotFound(TrigpointError):
    code = "review_not_found"
    status = 404


class ReviewAlreadyExists(TrigpointError):
    """One review at a time for each application (R2)."""

    code = "review_already_exists"
    status = 409


class ReviewLedByAnother(TrigpointError):
    """One agent at a time leads a review."""

    code = "review_led_by_another"
    status = 409


class ReviewEnded(TrigpointError):
    """The review is completed, failed or cancelled: nothing more can be handed in."""

    code = "review_ended"
    status = 409


class ReviewNotReady(TrigpointError):
    """The documents are still being fetched or read, or something must be handed in first."""

    code = "review_not_ready"
    status = 409


class CannotCancel(TrigpointError):
    """The review has ended."""

    code = "cannot_cancel"
    status = 409


class InvalidStatus(TrigpointError):
    """A status that no review can have (R12)."""

    code = "invalid_status"
    status = 400


class ReviewIncomplete(TrigpointError):
    """There is nothing to download yet."""

    code = "review_incomplete"
    status = 400


class PageNotShown(TrigpointError):
    """The page of a document has other people's data on it."""

    code = "page_not_shown"
    status = 403


class LetterChanged(TrigpointError):
    """Somebody else saved the letter meanwhile. Both versions are kept, and named in the details."""

    code = "letter_changed"
    status = 409


class LetterVersionNotFound(TrigpointError):
    code = "letter_version_not_found"
    status = 404


class DeliveryNotFound(TrigpointError):
    code = "delivery_not_found"
    status = 404


class PolicyServerFailed(TrigpointError):
    """The policy server refused what a change of a revision needs of it; the change can be repeated."""

    code = "policy_server_failed"
    status = 502


class DeliveryPending(TrigpointError):
    """A webhook delivery that is still being tried cannot be sent once more."""

    code = "delivery_pending"
    status = 409


# --- policies ---------------------------------------------------------------------------------


class PolicyError(TrigpointError):
    """A policy or revision is not there, or cannot be changed so."""

    code = "policy_error"
    status = 409


class PolicyNotFound(PolicyError):
    code = "policy_not_found"
    status = 404

    def __init__(self, source: str) -> None:
        super().__init__(f"No policy found with source '{shorten(source)}'", source=shorten(source))


class RevisionNotFound(PolicyError):
    code = "revision_not_found"
    status = 404

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"No revision '{shorten(revision_id)}' found for policy '{shorten(source)}'",
            source=shorten(source),
            revision_id=shorten(revision_id),
        )


class SectionNotFound(PolicyError):
    code = "section_not_found"
    status = 404

    def __init__(self, source: str, section_ref: str, searched: str = "") -> None:
        message = f"Section '{shorten(section_ref)}' not found in policy '{shorten(source)}'"
        super().__init__(f"{message}. {searched}" if searched else message)


class ProvisionNotFound(PolicyError):
    code = "provision_not_found"
    status = 404

    def __init__(self, source: str, provision_id: str) -> None:
        super().__init__(
            f"Policy '{source}' has no provision '{shorten(provision_id)}'. `trigpoint policies provisions` lists them",
            source=source,
        )


class RevisionHasPassages(PolicyError):
    code = "revision_already_ingested"
    status = 409

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"Revision {revision_id} has passages already. Set reindex to true to replace them", source=source
        )


class NotPlacedYet(PolicyError):
    code = "not_placed_yet"
    status = 409

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"The sections of {revision_id} have not been read yet. The policy server does that within seconds of "
            "an upload: check that it runs, and repeat the request",
            source=source,
        )


class NoParkingStandard(PolicyError):
    code = "no_parking_standard"
    status = 404

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"No parking standard is stated for {revision_id}. State one with PUT or `trigpoint policies parking`",
            source=source,
        )


class PolicyAlreadyExists(PolicyError):
    code = "policy_already_exists"

    def __init__(self, source: str) -> None:
        super().__init__(f"A policy with source '{source}' already exists", source=source)


class RevisionOverlapError(PolicyError):
    """The dates collide with another revision's; nothing was changed."""

    code = "revision_overlap"

    def __init__(self, source: str, existing: str, effective_from: str) -> None:
        super().__init__(
            f"Revision dates overlap with existing revision {existing}", source=source, effective_from=effective_from
        )


class CannotDeleteSoleRevisionError(PolicyError):
    code = "cannot_delete_sole_revision"

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__("Cannot delete the sole active revision for a policy", source=source, revision_id=revision_id)


class CannotReindex(PolicyError):
    """A live job holds the revision (P9)."""

    code = "cannot_reindex"

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__("Revision is already processing", source=source, revision_id=revision_id, status="processing")


class NoFilePath(PolicyError):
    code = "no_file_path"
    status = 422

    def __init__(self, source: str, revision_id: str) -> None:
        super().__init__(
            f"Revision {revision_id} has no stored file to index. Upload the PDF as a new revision",
            source=source,
            revision_id=revision_id,
        )


class JobLostRevision(PolicyError):
    """A job reports on a revision that another job holds, or that was given up as failed; its report is void."""

    code = "job_lost_revision"


class RegistryUnavailable(PolicyError):
    """The policy registry (Redis) cannot be reached."""

    code = "registry_unavailable"
    status = 503


# --- application documents --------------------------------------------------------------------


class DocumentNotFound(TrigpointError):
    """No document is registered under this id."""

    code = "document_not_found"
    status = 404


class NoChunks(TrigpointError):
    """A document has no passages: nothing of it is long enough, or they are gone from the store."""

    code = "no_chunks"
    status = 422


# --- planning registers ------------------------------------------------------------------------


class PortalError(TrigpointError):
    """The register did not give what was asked of it."""

    code = "request_failed"
    status = 502


class RequestFailed(PortalError):
    """No usable answer after all tries; says which address and why."""


class PageNotUnderstood(PortalError):
    """A page of the register has another structure than expected; says what was expected and found."""


class ApplicationNotFound(PortalError):
    code = "application_not_found"
    status = 404


class PortalBusy(PortalError):
    """The register asks for a longer pause than we wait."""

    code = "rate_limited"
    status = 429


class BotChallenge(PortalError):
    """The register wants proof of a person. Says where a person can go instead."""


class RobotsRefuse(PortalError):
    """The register asks programs not to fetch what was wanted."""


class WatchNotFound(TrigpointError):
    code = "watch_not_found"
    status = 404


class WatchBusy(TrigpointError):
    """Somebody is looking at the register for this watch at this moment."""

    code = "watch_busy"
    status = 409


class UnknownAuthority(InvalidInput):
    """No register is known for an authority, or none that Trigpoint can read."""

    code = "unknown_authority"


class DetailsMissing(InvalidInput):
    """Files were given without what a review needs to know about them; `details["missing"]` names it."""

    code = "details_missing"


class DownloadFailed(PortalError):
    """A document could not be fetched whole, or is not a document."""

    code = "download_failed"


# --- the library ------------------------------------------------------------------------------


class LibraryError(TrigpointError):
    """A library call failed; the code is one of the contract's."""


class InvalidProject(LibraryError):
    code = "INVALID_PROJECT"
    status = 404


class EmbeddingMismatch(LibraryError):
    code = "EMBEDDING_MISMATCH"
    status = 409


class HybridNotSupported(LibraryError):
    code = "HYBRID_NOT_SUPPORTED"
    status = 400


class IndexUnavailable(LibraryError):
    code = "INDEX_UNAVAILABLE"
    status = 503


class LibraryTimeout(LibraryError):
    code = "TIMEOUT"
    status = 504


class BatchTooLarge(LibraryError):
    code = "BATCH_TOO_LARGE"
    status = 400


class InvalidChunk(LibraryError):
    code = "INVALID_CHUNK"
    status = 400


class InvalidFilter(LibraryError):
    code = "INVALID_FILTER"
    status = 400


class ChunkNotFound(LibraryError):
    code = "CHUNK_NOT_FOUND"
    status = 404


class DocumentNotInProject(LibraryError):
    code = "DOCUMENT_NOT_FOUND"
    status = 404


class CollectionNotFound(LibraryError):
    """Zotero has no such collection. Of the command line only; no tool raises it."""

    code = "COLLECTION_NOT_FOUND"
    status = 404


# --- graph ------------------------------------------------------------------------------------


class GraphError(TrigpointError):
    """The graph's surfaces show upper-case codes."""

    code = "SERVER_ERROR"
    status = 500


class GraphBadRequest(GraphError):
    code = "BAD_REQUEST"
    status = 400


class GraphUnauthorized(GraphError):
    code = "UNAUTHORIZED"
    status = 401


class GraphForbidden(GraphError):
    code = "FORBIDDEN"
    status = 403


class GraphNotFound(GraphError):
    """Not there, or of another project: the two cannot be told apart."""

    code = "NOT_FOUND"
    status = 404


class GraphConflict(GraphError):
    code = "CONFLICT"
    status = 409


# --- backup -----------------------------------------------------------------------------------


class BackupError(TrigpointError):
    """A backup cannot be taken or put back. Says of which file, and what to do."""

    code = "backup_error"
    status = 422
