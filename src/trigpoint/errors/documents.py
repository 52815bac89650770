"""Errors of files and documents: what could not become text or passages."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


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


class DocumentNotFound(TrigpointError):
    """No document is registered under this id."""

    code = "document_not_found"
    status = 404


class NoChunks(TrigpointError):
    """A document has no passages: nothing of it is long enough, or they are gone from the store."""

    code = "no_chunks"
    status = 422
