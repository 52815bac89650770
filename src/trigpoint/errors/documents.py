"""Errors of files and documents: what could not become text or passages."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class TextError(TrigpointError):
    """A file could not be turned into text."""

    code = "extraction_failed"
    status = 422


class FileMissing(TextError):
    """The file does not exist, or is outside the folders that may be read."""

    code = "file_not_found"
    status = 404


class UnsupportedFileType(TextError):
    """Files of this kind cannot be read."""

    code = "unsupported_file_type"


class ExtractionFailed(TextError):
    """The file is damaged, encrypted, or not what its name says."""

    code = "extraction_failed"


class NoContent(TextError):
    """The file can be opened, but no text was found in it."""

    code = "no_content"


class ModelMissing(TextError):
    """No embedding model can be found; names the three places that were searched."""

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
    """A document has no passages: no part of it is long enough, or they are missing from the store."""

    code = "no_chunks"
    status = 422
