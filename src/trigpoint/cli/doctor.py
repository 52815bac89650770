"""`trigpoint doctor`: looks at each thing that Trigpoint needs, and says what to do if something is missing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import typer
from redis.exceptions import RedisError
from rich.console import Console
from rich.table import Column, Table

from trigpoint.api.outside import look_at_register, told_problems
from trigpoint.api.web.asking import site_of
from trigpoint.cli.outputs import escape
from trigpoint.config import Settings, load_settings
from trigpoint.errors import StoreDamaged, StoreInUse, StoreUnavailable, TrigpointError, shorten
from trigpoint.storage.damage import require_whole
from trigpoint.storage.files import data_folder, reason

if TYPE_CHECKING:
    from trigpoint.policies.models import Policy

app = typer.Typer(add_completion=False)

_THOROUGH_SECONDS = 60.0

PORTS = {
    "api_port": "REST API and pages",
    "cherwell_scraper_port": "scraper",
    "document_store_port": "document store",
    "policy_kb_port": "policy knowledge base",
    "library_port": "library",
    "graph_port": "graph",
    "reviewer_port": "reviewer",
}


@dataclass(frozen=True)
class _Diagnosis:
    """One line of the table. `ok` None: worth knowing, but nothing to fix."""

    what: str
    ok: bool | None
    said: str


@app.command()
def doctor() -> None:
    """Check stores, OCR, models, worker, servers, register and ports. Exit code 1 if something needed is missing."""
    settings = load_settings()
    findings = [_look(what, check, settings) for what, check in CHECKS.items()]
    findings += [_policies(settings), _look("passages of the policies", _compare_passages, settings)]
    findings += [_worker(settings), *_servers(settings), _register(settings)]
    findings += [_port(settings, name) for name in PORTS]
    table = Table("", "what", Column("state", overflow="fold"))  # a path is wrapped, never cut
    marks = {True: "[green]ok[/]", False: "[red]failed[/]", None: "[yellow]note[/]"}
    for finding in findings:
        table.add_row(marks[finding.ok], finding.what, escape(finding.said))
    Console().print(table)
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(1)


def _look(what: str, check: Callable[[Settings], str], settings: Settings) -> _Diagnosis:
    try:
        return _Diagnosis(what, True, check(settings))
    except StoreInUse:  # only our processes take its lock
        return _Diagnosis(what, None, "in use by a running Trigpoint, as it should be")
    except TrigpointError as error:
        return _Diagnosis(what, False, error.message)
    except OSError as error:
        said = f"{error.filename}: {reason(error)}. Set TRIGPOINT_DATA_DIR to a folder that can be written"
        return _Diagnosis(what, False, said)
    except Exception as error:  # whatever else a broken store makes a library raise is a finding too
        return _Diagnosis(what, False, f"{type(error).__name__}: {shorten(error, 300)}")


def _data_folder(settings: Settings) -> str:
    return str(data_folder(settings))


def _check_redis(settings: Settings) -> str:
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


def _read_policies(settings: Settings) -> list[Policy]:
    from trigpoint.policies.registry import PolicyRegistry
    from trigpoint.storage.redis import redis_client, redis_server

    async def read(url: str) -> list[Policy]:
        client = redis_client(url)
        try:
            return await PolicyRegistry(client).list_policies()
        finally:
            await client.aclose()

    with redis_server(settings) as url:
        return asyncio.run(read(url))


def _compare_passages(settings: Settings) -> str:
    """Compare what the registry claims of each revision with what the vector store has."""
    from trigpoint.policies.passages import COLLECTION
    from trigpoint.storage.chroma import ChromaStore

    claimed = [revision for policy in _read_policies(settings) for revision in policy.revisions if revision.queryable]
    with ChromaStore(settings, "policies") as store:
        collection = store.collection(COLLECTION) if COLLECTION in store.names() else None
        there = {
            one.revision_id: collection and len(collection.ids({"revision_id": one.revision_id})) for one in claimed
        }
    lost = [one for one in claimed if one.chunk_count and not there[one.revision_id]]
    if lost:
        names = ", ".join(one.revision_id for one in lost)
        raise StoreDamaged(f"not in the vector store: {names}. The next start rebuilds them from their files")
    return f"all of {len(claimed)} revisions"


def _policies(settings: Settings) -> _Diagnosis:
    """Say which texts are loaded, and which revisions are known and not loaded."""
    from trigpoint.policies.known import missing_revisions

    try:
        policies = _read_policies(settings)
    except TrigpointError as error:
        return _Diagnosis("policies", None, f"not checked: {error.message}")
    if not policies:
        return _Diagnosis(
            "policies", None, "none loaded. `trigpoint up` or `trigpoint policies seed --digest` loads them"
        )
    missing = missing_revisions(policies)
    if missing:
        return _Diagnosis("policies", None, " ".join(m.message + "." for m in missing))
    return _Diagnosis("policies", True, f"{len(policies)} policies, no later revision known")


def _chroma(settings: Settings) -> str:
    from trigpoint.storage.chroma import ChromaStore
    from trigpoint.storage.chroma_server import DATABASE

    for name in ("documents", "policies"):
        if settings.chroma_url is None:
            folder = settings.chroma_dir(name)
            require_whole(folder / DATABASE, f"The vector store {folder}", seconds=_THOROUGH_SECONDS)
        with ChromaStore(settings, name) as store:
            store.ping()
    return settings.chroma_url or f"embedded, {settings.chroma_dir('documents').parent}"


def _sql(settings: Settings) -> str:
    from trigpoint.graph.store import GraphStore

    if settings.database_url is None:
        file = settings.data_dir / "graph" / "graph.db"
        require_whole(file, "The database of the graph", seconds=_THOROUGH_SECONDS)
    with closing(GraphStore(settings)) as store:
        store.ping()
        return store.engine.dialect.name


def _library(settings: Settings) -> str:
    if settings.qdrant_url is not None:
        return _qdrant(settings, settings.qdrant_url)
    from trigpoint.library.library import open_stores

    file = settings.data_dir / "library" / "library.db"
    require_whole(file, "The store of the library", seconds=_THOROUGH_SECONDS)
    with closing(open_stores(settings)) as stores:
        stores.collection("doctor").fingerprint()  # any question opens and reads the file
    return "SQLite in the data folder"


def _qdrant(settings: Settings, url: str) -> str:
    key = settings.qdrant_api_key
    headers = {"api-key": key.get_secret_value()} if key else {}
    try:
        httpx.get(f"{url}/collections", headers=headers, timeout=5).raise_for_status()
    except httpx.HTTPError as error:
        raise StoreUnavailable(f"Qdrant at QDRANT_URL={url} cannot be used ({error})") from error
    return url


def _tesseract(settings: Settings) -> str:
    from trigpoint.text.ocr import engine

    return engine().name if settings.enable_ocr else "switched off (ENABLE_OCR=false)"


def _model(settings: Settings) -> str:
    from trigpoint.text.embed import EmbeddingService

    service = EmbeddingService(settings)
    return f"{len(service.embed('a trig point'))} dimensions, {service.fingerprint()[:40]}"


def _reviewing_model(settings: Settings) -> str:
    if settings.trigpoint_model is None:
        return "none: reviews are briefs by rules (TRIGPOINT_MODEL)"
    from trigpoint.review.agent.probe import probe_model

    return asyncio.run(probe_model(settings))


def _worker(settings: Settings) -> _Diagnosis:
    """Say whether a worker is alive. Without one, the reviews that a running API queues are never done."""
    from trigpoint.jobs.alive import workers_alive
    from trigpoint.storage.redis import redis_client, redis_server

    async def alive(url: str) -> list[str]:
        client = redis_client(url)
        try:
            return await workers_alive(client)
        finally:
            await client.aclose()

    try:
        with redis_server(settings) as url:
            names = asyncio.run(alive(url))
    except (TrigpointError, RedisError) as error:
        return _Diagnosis("worker", None, f"not checked: {shorten(error, 200)}")
    if names:
        return _Diagnosis("worker", True, f"{len(names)} running: {', '.join(names)}")
    if _is_ours(settings.api_port, "api_port"):
        return _Diagnosis("worker", False, "none is running, so queued jobs wait. Start one: trigpoint serve worker")
    return _Diagnosis("worker", None, "none is running; `trigpoint up` starts one")


def _servers(settings: Settings) -> list[_Diagnosis]:
    """Check that something of ours answers at each server that a setting names, whatever path the address has."""
    named = {"scraper": "cherwell_scraper_url", "document-store": "document_store_url", "policy-kb": "policy_kb_url"}
    return [
        _server(f"{name.upper()}={where}", where)
        for name in named.values()
        if (where := getattr(settings, name)) is not None
    ]


def _server(what: str, where: str) -> _Diagnosis:
    try:
        answer = httpx.get(f"{site_of(str(where))}/health", timeout=3, trust_env=False)
    except httpx.HTTPError as error:
        return _Diagnosis(what, False, f"cannot be reached ({error}). Start that server, or remove the setting")
    if not answer.is_success:
        return _Diagnosis(what, False, f"answers HTTP {answer.status_code}")
    problems = told_problems(answer)
    return _Diagnosis(what, not problems, "answers" if not problems else " ".join(problems))


def _register(settings: Settings) -> _Diagnosis:
    """Say whether the council's register answers: worth knowing, and not a fault of this machine."""
    seen = asyncio.run(look_at_register(settings))
    return _Diagnosis("planning register", seen.ok or None, f"{seen.where}: {seen.said}")


def _port(settings: Settings, name: str) -> _Diagnosis:
    what, port = f"port of the {PORTS[name]}", getattr(settings, name)
    with socket.socket() as sock:
        sock.settimeout(1)
        taken = sock.connect_ex(("127.0.0.1", port)) == 0
    if not taken:
        return _Diagnosis(what, True, f"{port} is free")
    if _is_ours(port, name):
        return _Diagnosis(what, None, f"{port} is in use by a running Trigpoint")
    said = f"{port} is in use by another program. Stop that program, or choose another port with {name.upper()}"
    return _Diagnosis(what, False, said)


def _is_ours(port: int, name: str) -> bool:
    """Return whether the server on a port reports its health as our part on that port would."""
    try:
        said = httpx.get(f"http://127.0.0.1:{port}/health", timeout=2, trust_env=False).json()
    except (httpx.HTTPError, ValueError):
        return False
    return isinstance(said, dict) and (
        "services" in said if name == "api_port" else said.get("status") in ("ok", "degraded")
    )


CHECKS: dict[str, Callable[[Settings], str]] = {
    "data folder": _data_folder,
    "Redis": _check_redis,
    "Chroma": _chroma,
    "database of the graph": _sql,
    "store of the library": _library,
    "Tesseract": _tesseract,
    "embedding model": _model,
    "model for reviews": _reviewing_model,
}
