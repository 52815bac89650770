"""Opens the graph's database, brings it up to date, and hands out transactions: one snapshot to read, one to write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.exc import DatabaseError, OperationalError

from trigpoint.config import Settings
from trigpoint.errors import StoreUnavailable, shorten
from trigpoint.graph.search_text import gram_words
from trigpoint.storage.files import data_folder
from trigpoint.storage.sql import open_engine

_MIGRATIONS = Path(__file__).with_name("migrations")
_MIGRATION_LOCK = 0x7472_6967  # an advisory lock's number: only one process migrates at a time
_WRITES = "trigpoint_writes"


class GraphStore:
    """The database of the graph. Safe to share between threads; `close` when done."""

    def __init__(self, settings: Settings) -> None:
        self._by_url = settings.database_url is not None
        if not self._by_url:
            data_folder(settings, "graph")
        self.engine: Engine = open_engine(settings)
        if self.engine.dialect.name == "sqlite":
            event.listen(self.engine, "connect", _no_implicit_transactions)
            event.listen(self.engine, "begin", _begin)
        self._migrated = False

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A read-only transaction: everything read in it is of one moment (G9)."""
        with self._connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: all of it, or none."""
        with self._connect() as connection:
            connection = connection.execution_options(**{_WRITES: True})
            with connection.begin():
                yield connection

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        if not self._migrated:
            self.migrate()
        with self._reachable() as connection:
            yield connection

    @contextmanager
    def _reachable(self) -> Iterator[Connection]:
        """A connection. Raises StoreUnavailable where there is none, it is lost, or the file is damaged."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except DatabaseError as error:
            if type(error) not in (DatabaseError, OperationalError):  # the others are about a statement
                raise
            raise StoreUnavailable(self._explain(shorten(error.orig, 200))) from None

    def _explain(self, reason: str) -> str:
        if self._by_url:
            where = self.engine.url.render_as_string(hide_password=True)
            return f"The graph's database cannot be reached at {where} ({reason}). Check DATABASE_URL"
        file = self.engine.url.database
        return f"The graph's database {file} cannot be used ({reason}). Look at the disk and at that file"

    def ping(self) -> None:
        """Raises StoreUnavailable. The tables stay as they are."""
        with self._reachable() as connection:
            MigrationContext.configure(connection).get_current_revision()

    def migrate(self) -> None:
        """Brings the schema to the newest revision; does nothing where it is there already. Raises StoreUnavailable."""
        config = migration_config()
        head = ScriptDirectory.from_config(config).get_current_head()
        with self._reachable() as connection:
            current = MigrationContext.configure(connection).get_current_revision()
            if current != head:
                connection.rollback()
                self._upgrade(connection, config, current)
        self._migrated = True

    def _upgrade(self, connection: Connection, config: Config, current: str | None) -> None:
        try:
            _upgrade(connection, config)
        except CommandError:
            reason = f"its tables are of version {shorten(current)}, which this Trigpoint does not know"
            raise StoreUnavailable(self._explain(reason)) from None

    def close(self) -> None:
        self.engine.dispose()


def migration_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    return config


def _upgrade(connection: Connection, config: Config) -> None:
    connection = connection.execution_options(**{_WRITES: True})
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _no_implicit_transactions(connection: Any, _record: Any) -> None:
    """Without this, pysqlite opens no transaction for a SELECT, and two of them can see different moments."""
    connection.isolation_level = None
    for pragma in ("cache_size=-65536", "mmap_size=1073741824", "wal_autocheckpoint=16384"):  # 64 MB each, and 1 GB
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function("graph_grams", 2, gram_words, deterministic=True)  # the triggers of the tables call it


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
