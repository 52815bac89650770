"""Errors of the library: projects and their chunks."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


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
