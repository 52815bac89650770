"""SQL: SQLite in WAL mode in the data folder, or the PostgreSQL of `DATABASE_URL`."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url

from trigpoint.config import Settings


def database_url(settings: Settings) -> str:
    """Return the URL that SQLAlchemy and Alembic use; PostgreSQL always through psycopg 3."""
    if settings.database_url is None:
        return f"sqlite:///{settings.data_dir / 'graph' / 'graph.db'}"
    url = make_url(settings.database_url)
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)


def open_engine(settings: Settings) -> Engine:
    """Return an engine whose connections keep the rules: foreign keys on, WAL, writers that wait their turn."""
    url = make_url(database_url(settings))
    if url.get_backend_name() != "sqlite":
        engine = create_engine(url, pool_pre_ping=True, pool_size=8, connect_args={"connect_timeout": 5})
        event.listen(engine, "connect", _prepare_postgresql)
        return engine
    if settings.database_url is None:
        (settings.data_dir / "graph").mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": 30})
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    """Switch off compiling and parallel workers: our statements take milliseconds, less than either needs to start."""
    with connection.cursor() as cursor:
        cursor.execute("SET jit = off")
        cursor.execute("SET max_parallel_workers_per_gather = 0")
    connection.commit()
