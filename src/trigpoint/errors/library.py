"""Errors of the library: projects and their chunks."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class LibraryError(TrigpointError):
    """A library call failed; the code is one of the contract's."""


class InvalidProject(LibraryError):
    """The project is not in the projects file; `details` lists those that are."""

    code = "INVALID_PROJECT"
    status = 404


class EmbeddingMismatch(LibraryError):
    """The vectors are of a model other than the project's, or the project's model cannot embed a question."""

    code = "EMBEDDING_MISMATCH"
    status = 409


class HybridNotSupported(LibraryError):
    """Hybrid search is switched off for this project."""

    code = "HYBRID_NOT_SUPPORTED"
    status = 400


class IndexUnavailable(LibraryError):
    """The library's database is damaged or cannot be read, or Qdrant cannot be reached."""

    code = "INDEX_UNAVAILABLE"
    status = 503


class LibraryTimeout(LibraryError):
    """The call took too long. Nothing was changed."""

    code = "TIMEOUT"
    status = 504


class BatchTooLarge(LibraryError):
    """One call stores more chunks than are allowed."""

    code = "BATCH_TOO_LARGE"
    status = 400


class InvalidChunk(LibraryError):
    """A chunk is wrong; `details` has its index and the reason. None of the chunks was stored."""

    code = "INVALID_CHUNK"
    status = 400


class InvalidFilter(LibraryError):
    """A filter is unknown, or its value is of the wrong kind."""

    code = "INVALID_FILTER"
    status = 400


class ChunkNotFound(LibraryError):
    """The project has no chunk with this id."""

    code = "CHUNK_NOT_FOUND"
    status = 404


class DocumentNotInProject(LibraryError):
    """The project has no such document, or its file is not on this machine."""

    code = "DOCUMENT_NOT_FOUND"
    status = 404


class CollectionNotFound(LibraryError):
    """Zotero has no such collection. Only the command line raises it."""

    code = "COLLECTION_NOT_FOUND"
    status = 404
