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
from sqlalchemy import Connection, Engine, event, insert, text
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree

from trigpoint.config import Settings
from trigpoint.errors import StoreUnavailable, shorten
from trigpoint.graph.migrations.derived import derived, expect_large_projects
from trigpoint.graph.moments import this_moment
from trigpoint.graph.search_text import gram_words
from trigpoint.graph.tables import metadata, project
from trigpoint.graph.vocabulary import DEFAULT_PROJECT
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
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin)
        else:
            event.listen(self.engine, "connect", _prepare_postgresql)
        self._migrated = False

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Yield a read-only transaction: everything read in it is of one moment."""
        with self._connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a transaction that writes: all of it, or none."""
        with self._connect() as connection, _begun_to_write(connection) as writing:
            yield writing

    @contextmanager
    def _connect(self, *, migrated: bool = True) -> Iterator[Connection]:
        """Yield a connection. Here, and only here, an error of the database becomes StoreUnavailable, in words."""
        if migrated and not self._migrated:
            self.migrate()
        try:
            with self.engine.connect() as connection:
                yield connection
        except (DBAPIError, NoneFree) as error:
            reason = shorten(getattr(error, "orig", error), 200)
            refused = isinstance(error, DatabaseError) and type(error) not in (DatabaseError, OperationalError)
            said = f"The graph's database refused a statement: {reason}" if refused else self._explain(reason)
            raise StoreUnavailable(said) from error

    def _explain(self, reason: str) -> str:
        if self._by_url:
            where = self.engine.url.render_as_string(hide_password=True)
            return f"The graph's database cannot be reached at {where} ({reason}). Check DATABASE_URL"
        file = self.engine.url.database
        return f"The graph's database {file} cannot be used ({reason}). Look at the disk and at that file"

    def ping(self) -> None:
        """Raise StoreUnavailable. The tables stay as they are."""
        with self._connect(migrated=False) as connection:
            MigrationContext.configure(connection).get_current_revision()

    def migrate(self) -> None:
        """Bring the tables to the newest revision, unless they are of it. Raise StoreUnavailable."""
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS))
        head = ScriptDirectory.from_config(config).get_current_head()
        with self._connect(migrated=False) as connection:
            current = MigrationContext.configure(connection).get_current_revision()
            connection.rollback()
            if current != head:
                with _begun_to_write(connection) as writing:
                    self._upgrade(writing, config)
        self._migrated = True

    def _upgrade(self, connection: Connection, config: Config) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
        config.attributes["connection"] = connection
        current = MigrationContext.configure(connection).get_current_revision()  # another process may have been here
        try:
            if current is None:
                _create(connection)
                command.stamp(config, "head")
            else:
                command.upgrade(config, "head")
        except CommandError:
            reason = f"its tables are of version {shorten(current)}, which this Trigpoint does not know"
            raise StoreUnavailable(self._explain(reason)) from None

    def close(self) -> None:
        self.engine.dispose()


def _create(connection: Connection) -> None:
    metadata.create_all(connection)
    for statement in derived(connection.dialect.name):
        connection.exec_driver_sql(statement)
    if connection.dialect.name == "sqlite":
        expect_large_projects(connection)
    moment = this_moment()
    connection.execute(insert(project), {**DEFAULT_PROJECT, "created_at": moment, "updated_at": moment})


@contextmanager
def _begun_to_write(connection: Connection) -> Iterator[Connection]:
    connection = connection.execution_options(**{_WRITES: True})
    with connection.begin():
        yield connection


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Set up a connection.

    Transactions are ours: pysqlite opens none for a SELECT, so two could see different moments.
    """
    connection.isolation_level = None
    for pragma in ("cache_size=-65536", "mmap_size=1073741824", "wal_autocheckpoint=16384"):  # 64 MB each, and 1 GB
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function("graph_grams", 2, gram_words, deterministic=True)  # the triggers of the tables call it


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    """Have every statement planned with its own values: a common and a rare term need different plans."""
    connection.execute("SET plan_cache_mode = force_custom_plan")
    connection.commit()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
