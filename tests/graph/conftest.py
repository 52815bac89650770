"""The graph on both databases: every test that takes `database` runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pgserver
import psycopg
import pytest
from starlette.testclient import TestClient

from trigpoint.api.routes.graph import graph_app
from trigpoint.config import Settings, load_settings
from trigpoint.graph.store import GraphStore
from trigpoint.graph.tables import metadata

DEFAULT = "00000000-0000-4000-a000-000000000001"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a real PostgreSQL of this test process, migrated. Its own user must reach its folder, so not pytest's."""
    folder = tempfile.mkdtemp(prefix="trigpoint-pg-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    store = GraphStore(load_settings(database_url=server.get_uri()))
    store.migrate()
    store.close()
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def _empty(url: str) -> None:
    """Everything out except the default project; the log's own guard stands aside for that."""
    with psycopg.connect(url) as connection:
        connection.execute("SET session_replication_role = replica")
        for table in metadata.tables:
            connection.execute(f"DELETE FROM {table}" + (f" WHERE id <> '{DEFAULT}'" if table == "project" else ""))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sqlite")
    store = GraphStore(load_settings(trigpoint_data_dir=folder))
    store.migrate()
    store.close()
    return folder / "graph" / "graph.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Settings that point to an empty graph, as keyword arguments."""
    if request.param == "sqlite":
        target = tmp_path / "graph-data" / "graph" / "graph.db"
        target.parent.mkdir(parents=True)
        shutil.copy(request.getfixturevalue("sqlite_template"), target)
        yield {"trigpoint_data_dir": tmp_path / "graph-data"}
        return
    url = request.getfixturevalue("postgres")
    _empty(url)
    yield {"database_url": url, "trigpoint_data_dir": tmp_path}


@pytest.fixture
def graph_settings(database: dict[str, Any]) -> Settings:
    return load_settings(**database)


@pytest.fixture
def store(graph_settings: Settings) -> Iterator[GraphStore]:
    opened = GraphStore(graph_settings)
    yield opened
    opened.close()


class Api:
    """The backend as a client sees it; `project` and `token` become headers."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def call(self, method: str, path: str, *, project: str | None = None, token: str | None = None, **kw: Any) -> Any:
        headers = {**kw.pop("headers", {})}
        if project is not None:
            headers["x-project-id"] = project
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return self.client.request(method, path, headers=headers, **kw)

    def get(self, path: str, *, status: int = 200, **kw: Any) -> Any:
        answer = self.call("GET", path, **kw)
        assert answer.status_code == status, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None, *, status: int | None = None, method: str = "POST", **kw: Any) -> Any:
        answer = self.call(method, path, **({} if body is None else {"json": body}), **kw)
        assert answer.status_code == status if status else answer.status_code < 300, answer.text
        return answer.json()

    def project(self, slug: str) -> str:
        return str(self.post("/api/projects", {"slug": slug, "name": slug.title()})["data"]["id"])

    def entity(self, slug: str, *, kind: str = "guide", project: str | None = None, **fields: Any) -> str:
        body = {"entityType": kind, "slug": slug, "title": slug.replace("-", " ").title(), **fields}
        return str(self.post("/api/entities", body, project=project)["data"]["id"])

    def relation(self, kind: str, start: str, end: str, project: str | None = None, **fields: Any) -> str:
        body = {"relationType": kind, "fromEntityId": start, "toEntityId": end, **fields}
        return str(self.post("/api/relationships", body, project=project)["data"]["id"])


@pytest.fixture
def open_api(database: dict[str, Any]) -> Iterator[Callable[..., Api]]:
    """The backend with settings of the test's own."""
    clients: list[TestClient] = []

    def open_with(**settings: Any) -> Api:
        client = TestClient(graph_app(load_settings(**(database | settings))), base_url="http://graph.test")
        clients.append(client)
        client.__enter__()
        return Api(client)

    yield open_with
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def api(open_api: Callable[..., Api]) -> Api:
    return open_api()


@pytest.fixture
def walk_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Meet every hit on a walk along the ordering, as if hits were many."""
    for module in ("listing", "search_text"):
        monkeypatch.setattr(f"trigpoint.graph.{module}.FEW", -1)


@pytest.fixture(params=["gathered", "walked"])
def read_both_ways(request: pytest.FixtureRequest) -> None:
    """A few thousand hits are gathered and then ordered, more are met on a walk along the ordering: neither may show."""
    if request.param == "walked":
        request.getfixturevalue("walk_always")
