"""Errors of stores that cannot be reached, written or read back, and of backups."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class StoreError(TrigpointError):
    """A store cannot do what was requested."""

    code = "store_error"
    status = 503


class StoreUnavailable(StoreError):
    """A store cannot be reached. Names the store and the setting that points to it."""

    code = "store_unavailable"


class StoreDamaged(StoreUnavailable):
    """A file of an embedded store is damaged. Names the file, and says what to do."""

    code = "store_damaged"


class NoSpace(StoreError):
    """Too little free space in the data folder to begin or to finish something. Says where, and how much is left."""

    code = "insufficient_storage"
    status = 507


class StoreInUse(StoreError):
    """Another process owns this embedded store. Names that process, and says what to do."""

    code = "store_in_use"


class UnsafePath(StoreError):
    """A name or path would leave the folder it belongs to."""

    code = "unsafe_path"
    status = 400


class BackupError(TrigpointError):
    """A backup cannot be made or restored. Names the file, and says what to do."""

    code = "backup_error"
    status = 422
