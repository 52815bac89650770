"""A graph of the first release is brought up to date with all that it holds, on both databases.

`released/` holds databases that version 0.1.0 itself made and filled: two projects, entities with unusual titles,
relations, blocks and search rows.
"""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pgserver
import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from starlette.testclient import TestClient

from trigpoint.api.routes.graph import graph_app
from trigpoint.config import load_settings
from trigpoint.errors import StoreUnavailable
from trigpoint.graph.store import GraphStore
from trigpoint.graph.tables import metadata

RELEASED = Path(__file__).with_name("released")
LANES = {"x-project-slug": "lanes"}


@pytest.fixture(params=["sqlite", "postgresql"])
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Settings that point to a graph of version 0.1.0."""
    if request.param == "sqlite":
        (tmp_path / "graph").mkdir()
        made = gzip.decompress((RELEASED / "graph-0.1.0.db.gz").read_bytes())
        (tmp_path / "graph" / "graph.db").write_bytes(made)
        yield {"trigpoint_data_dir": tmp_path}
        return
    folder = tempfile.mkdtemp(prefix="trigpoint-pg-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(gzip.decompress((RELEASED / "graph-0.1.0.postgresql.sql.gz").read_bytes()).decode())
    yield {"database_url": server.get_uri(), "trigpoint_data_dir": tmp_path}
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def test_a_released_graph_keeps_its_data_and_is_searched_and_written_as_a_new_one(released):
    with TestClient(graph_app(load_settings(**released)), base_url="http://graph.test", headers=LANES) as client:

        def total(path: str, **params: str) -> int:
            answer = client.get(path, params=params)
            assert answer.status_code == 200, answer.text
            assert len(answer.json()["data"]) == answer.json()["pagination"]["total"]
            return int(answer.json()["pagination"]["total"])

        rows, blocks, entities = "/api/seo/search-performance", "/api/quotable-blocks", "/api/entities"
        assert [total("/api/projects"), total(entities), total(rows), total(blocks)] == [2, 3, 3, 2]
        found = {"kerbs": 1, "STRASSE": 1, "100%": 1, "me": 1, "do": 1, "σίσυφος": 1, "日": 1, "🚲": 1, "s": 2, "zz": 0}
        assert {term: total(entities, search=term) for term in found} == found
        assert total(entities, search="mesh", status="draft", entityType="concept") == 1
        assert [total(rows, query=term) for term in ("KERB", "strasse", "cars")] == [2, 1, 0]
        assert [total(rows, pageUrl=term) for term in ("test/k", "É", "b")] == [2, 1, 0]
        assert [total(rows, dateEnd="2025-01-31"), total(rows, query="kerb", dateStart="2025-02-01")] == [2, 0]
        assert [total(blocks, topicTag=term) for term in ("kerb_", "t%", "none")] == [1, 1, 0]
        kerbs = client.get(entities, params={"search": "kerbs"}).json()["data"][0]["id"]
        edges = client.get(f"/api/entities/{kerbs}/graph", params={"depth": 2}).json()["data"]["relationships"]
        assert sorted(edge["relationType"] for edge in edges) == [
            "GUIDE_REFERENCES_SOURCE",
            "GUIDE_USES_CONCEPT",
            "NEWS_REFERENCES_CONCEPT",
        ]
        assert total(rows, entityId=kerbs) == 1

        row = {"query": "Kerb ramps", "pageUrl": "https://b.test/", "impressions": 4, "clicks": 1, "ctr": 0.25}
        row |= {"avgPosition": 3, "dateStart": "2025-01-01", "dateEnd": "2025-01-02"}
        answer = client.post("/api/seo/search-performance/ingest", json={"rows": [row]})
        assert answer.json()["data"] == {"received": 1, "inserted": 1, "updated": 0}
        assert [total(rows, query="kerb"), total(rows, pageUrl="b.test"), total(rows)] == [3, 1, 4]
        client.patch(f"/api/entities/{kerbs}", json={"title": "Hangars"})
        assert [total(entities, search=term) for term in ("hangar", "strasse", "ng", "00")] == [1, 0, 1, 0]


def test_a_released_graph_gets_the_tables_of_a_new_one(released):
    store = GraphStore(load_settings(**released))
    store.migrate()
    store.migrate()
    with store.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
        log = "SELECT count(*) FROM event_log"
        assert connection.execute(text(log)).scalar_one() == 11
    store.close()
    assert [d for d in differences if "entity_gram" not in str(d)] == []


def schema(path: Path) -> dict[str, str]:
    """Every table, index and trigger of an SQLite file, with spaces as they may be."""
    with sqlite3.connect(path) as connection:
        made = connection.execute("SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master ORDER BY 1")
        return {name: "".join(sql.replace('"', "").split()) for name, sql in made if not name.startswith("table ")}


def test_a_released_sqlite_graph_gets_the_indexes_triggers_and_statistics_of_a_new_one(tmp_path):
    (tmp_path / "old" / "graph").mkdir(parents=True)
    made = gzip.decompress((RELEASED / "graph-0.1.0.db.gz").read_bytes())
    (tmp_path / "old" / "graph" / "graph.db").write_bytes(made)
    known = []
    for name in ("old", "new"):
        store = GraphStore(load_settings(trigpoint_data_dir=tmp_path / name))
        store.migrate()
        with store.engine.connect() as connection:
            known.append(sorted(tuple(r) for r in connection.execute(text("SELECT tbl, idx, stat FROM sqlite_stat1"))))
        store.close()
    old, new = (schema(tmp_path / name / "graph" / "graph.db") for name in ("old", "new"))
    assert old == new
    assert sorted(stat for _, _, stat in known[0]) == sorted(stat for _, _, stat in known[1])


def test_a_migration_that_fails_half_way_leaves_the_graph_as_it_was(released, monkeypatch):
    broken = "no statement at all"
    derived = "trigpoint.graph.migrations.derived"
    monkeypatch.setattr(f"{derived}.GRAMS", broken)
    monkeypatch.setattr(f"{derived}.expect_large_projects", lambda connection: connection.exec_driver_sql(broken))
    store = GraphStore(load_settings(**released))
    with pytest.raises(StoreUnavailable, match="no"):
        store.migrate()
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0002"
        assert connection.execute(text("SELECT sum(n) FROM block_count")).scalar_one() == 2
    store.close()
    monkeypatch.undo()
    again = GraphStore(load_settings(**released))
    again.migrate()
    again.close()


@pytest.mark.parametrize("released", ["postgresql"], indirect=True)
def test_postgresql_makes_the_same_grams_as_before(released):
    """Or else what is indexed would no longer be found."""
    store = GraphStore(load_settings(**released))
    odd = ["", "a", "\n", "ab\n", "abc\nd", "ab\ncd\n", "日本語\nx", "🚲🚲\n🚲", "aaaa\naaaa", "a b\n%_\\"]
    made = text("SELECT graph_grams(CAST(:project AS uuid), :folded)")

    def grams() -> list[Any]:
        with store.engine.connect() as connection:
            stored = connection.execute(text("SELECT folded FROM entity ORDER BY seq")).scalars().all()
            values = [{"project": "00000000-0000-4000-a000-000000000001", "folded": one} for one in (*stored, *odd)]
            return [connection.execute(made, value).scalar_one() for value in values]

    before = grams()
    store.migrate()
    assert grams() == before
    store.close()
