"""Errors of reviews and letters: why one fails, and what its state does not allow."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class ReviewFailed(TrigpointError):
    """A review that cannot be finished. `code` is one of the four of the contract."""

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


class ReviewNotFound(TrigpointError):
    """There is no review with this id."""

    code = "review_not_found"
    status = 404


class ReviewAlreadyExists(TrigpointError):
    """Another review of the application is queued or running."""

    code = "review_already_exists"
    status = 409


class ReviewLedByAnother(TrigpointError):
    """Another agent is leading the review."""

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
    """There is no such status."""

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
    """Somebody else has saved the letter in the meantime. Both versions are kept, and named in the details."""

    code = "letter_changed"
    status = 409


class LetterVersionNotFound(TrigpointError):
    """The letter has no version with this number."""

    code = "letter_version_not_found"
    status = 404
