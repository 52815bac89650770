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
    code = "review_not_found"
    status = 404


class ReviewAlreadyExists(TrigpointError):
    """One review at a time for each application."""

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
    """A status that no review can have."""

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
