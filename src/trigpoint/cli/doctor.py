"""`trigpoint doctor`: looks at each thing that Trigpoint needs, and says what to do about what is missing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.table import Table

from trigpoint.config import Settings, load_settings
from trigpoint.errors import StoreInUse, StoreUnavailable, TrigpointError

app = typer.Typer()

PORTS = {
    "api_port": "REST API and pages",
    "cherwell_scraper_port": "scraper",
    "document_store_port": "document store",
    "policy_kb_port": "policy knowledge base",
    "library_port": "library",
    "graph_port": "graph",
}


@dataclass(frozen=True)
class Finding:
    """One line of the table. `ok` None: worth knowing, nothing to mend."""

    what: str
    ok: bool | None
    said: str


@app.command()
def doctor() -> None:
    """Check the stores, Tesseract, the model and the ports. Exit code 1 if something needed is missing."""
    settings = load_settings()
    findings = [_look(what, check, settings) for what, check in CHECKS.items()]
    findings += [_port(settings, name) for name in PORTS]
    table = Table("", "what", "state")
    marks = {True: "[green]ok[/]", False: "[red]missing[/]", None: "[yellow]note[/]"}
    for finding in findings:
        table.add_row(marks[finding.ok], finding.what, finding.said)
    Console().print(table)
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(1)


def _look(what: str, check: Callable[[Settings], str], settings: Settings) -> Finding:
    try:
        return Finding(what, True, check(settings))
    except StoreInUse as error:  # a running Trigpoint holds its own store: that is how it should be
        return Finding(what, None, error.message)
    except TrigpointError as error:
        return Finding(what, False, error.message)
    except OSError as error:
        return Finding(what, False, f"{error}. Choose a folder that can be written by TRIGPOINT_DATA_DIR")


def _data_folder(settings: Settings) -> str:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    probe = settings.data_dir / ".doctor"
    probe.write_bytes(b"")
    probe.unlink()
    return str(settings.data_dir)


def _redis(settings: Settings) -> str:
    from redis.exceptions import RedisError

    from trigpoint.storage.redis import redis_client, redis_server

    async def version(url: str) -> str:
        client = redis_client(url)
        try:
            info = await client.info("server")
        finally:
            await client.aclose()
        return str(info.get("valkey_version") or info.get("redis_version"))

    with redis_server(settings) as url:
        try:
            where = "embedded Valkey" if settings.redis_url is None else settings.redis_url.rsplit("@", 1)[-1]
            return f"{where} {asyncio.run(version(url))}"
        except RedisError as error:
            raise StoreUnavailable(f"Redis at REDIS_URL cannot be reached ({error})") from error


def _chroma(settings: Settings) -> str:
    from trigpoint.storage.chroma import ChromaStore

    for name in ("documents", "policies"):
        with ChromaStore(settings, name) as store:
            store.ping()
    return settings.chroma_url or f"embedded, {settings.chroma_dir('documents').parent}"


def _sql(settings: Settings) -> str:
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    from trigpoint.storage.sql import open_engine

    engine = open_engine(settings)
    try:
        with engine.connect() as connection:
            connection.execute(text("select 1"))
    except SQLAlchemyError as error:
        raise StoreUnavailable(
            f"The database of DATABASE_URL cannot be reached ({error.__class__.__name__})"
        ) from error
    finally:
        engine.dispose()
    return engine.dialect.name


def _qdrant(settings: Settings) -> str:
    if settings.qdrant_url is None:
        return "SQLite in the data folder"
    import httpx

    key = settings.qdrant_api_key
    headers = {"api-key": key.get_secret_value()} if key else {}
    try:
        httpx.get(f"{settings.qdrant_url}/collections", headers=headers, timeout=5).raise_for_status()
    except httpx.HTTPError as error:
        raise StoreUnavailable(f"Qdrant at QDRANT_URL={settings.qdrant_url} cannot be used ({error})") from error
    return settings.qdrant_url


def _tesseract(settings: Settings) -> str:
    from trigpoint.text.ocr import engine

    return engine().name if settings.enable_ocr else "switched off (ENABLE_OCR=false)"


def _model(settings: Settings) -> str:
    from trigpoint.text.embed import EmbeddingService

    service = EmbeddingService(settings)
    return f"{len(service.embed('a trig point'))} dimensions, {service.fingerprint()[:40]}"


def _port(settings: Settings, name: str) -> Finding:
    port = getattr(settings, name)
    with socket.socket() as sock:
        sock.settimeout(1)
        taken = sock.connect_ex(("127.0.0.1", port)) == 0
    said = (
        f"{port} is answered already: by Trigpoint, or choose another by {name.upper()}" if taken else f"{port} is free"
    )
    return Finding(f"port of the {PORTS[name]}", None if taken else True, said)


CHECKS: dict[str, Callable[[Settings], str]] = {
    "data folder": _data_folder,
    "Redis": _redis,
    "Chroma": _chroma,
    "database of the graph": _sql,
    "store of the library": _qdrant,
    "Tesseract": _tesseract,
    "embedding model": _model,
}
