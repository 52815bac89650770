"""A graph that an earlier version made is brought up to date with all that it holds, on both databases."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pgserver
import pytest
from alembic import command
from sqlalchemy import text
from starlette.testclient import TestClient

from trigpoint.api.routes.graph import graph_app
from trigpoint.config import load_settings
from trigpoint.graph.search_text import entity_text, fold
from trigpoint.graph.store import GraphStore, migration_config

DEFAULT = "00000000-0000-4000-a000-000000000001"
ENTITY = "9b2c1f7e-0000-4000-8000-000000000001"
DAY = 86_400_000


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[dict[str, Any]]:
    if request.param == "sqlite":
        yield {"trigpoint_data_dir": tmp_path}
        return
    folder = tempfile.mkdtemp(prefix="trigpoint-pg-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    yield {"database_url": server.get_uri(), "trigpoint_data_dir": tmp_path}
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def fill_as_revision_0001(store: GraphStore) -> None:
    """Rows as the first revision held them: grams beside an entity, each distinct query and page in a table of its own."""
    with store.engine.begin() as connection:
        config = migration_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        grams = "'{1}'" if connection.dialect.name == "postgresql" else "'00000001'"
        connection.execute(
            text(
                "INSERT INTO entity (id, project_id, entity_type, title, slug, status, created_at, updated_at, folded, grams) "
                f"VALUES (:id, :project, 'guide', 'Cycle Parking', 'stands', 'draft', 1, 1, :folded, {grams})"
            ),
            {"id": ENTITY, "project": DEFAULT, "folded": entity_text("Cycle Parking", "stands")},
        )
        for table, texts in (("search_query", ("Bike racks", "bike Lanes")), ("search_page", ("https://a.test/P",))):
            for one in texts:
                connection.execute(
                    text(f"INSERT INTO {table} (project_id, text, folded, n) VALUES (:project, :text, :folded, 1)"),
                    {"project": DEFAULT, "text": one, "folded": fold(one)},
                )
        for number, query in enumerate(("Bike racks", "bike Lanes")):
            connection.execute(
                text(
                    "INSERT INTO search_performance (id, project_id, entity_id, page_url, query, page_folded, query_folded, "
                    "impressions, clicks, ctr, avg_position, date_start, date_end, captured_at) VALUES (:id, :project, "
                    ":entity, 'https://a.test/P', :query, 'https://a.test/p', :folded, 9, 3, 0.3, 2.5, 0, :end, 1)"
                ),
                {
                    "id": f"9b2c1f7e-0000-4000-8000-00000000001{number}",
                    "project": DEFAULT,
                    "entity": ENTITY,
                    "query": query,
                    "folded": fold(query),
                    "end": DAY,
                },
            )
        connection.execute(
            text(
                "INSERT INTO quotable_block (id, project_id, entity_id, text, claim_type, topic_tag, topic_folded, "
                "created_at, updated_at) VALUES (:id, :project, :entity, 't', 'statistic', 'Sheffield', 'sheffield', 1, 1)"
            ),
            {"id": "9b2c1f7e-0000-4000-8000-000000000020", "project": DEFAULT, "entity": ENTITY},
        )


def test_a_graph_of_the_first_revision_is_searched_and_written_as_a_new_one(place):
    store = GraphStore(load_settings(**place))
    fill_as_revision_0001(store)
    store.close()
    with TestClient(graph_app(load_settings(**place)), base_url="http://graph.test") as client:

        def total(path: str, **params: str) -> int:
            answer = client.get(path, params=params)
            assert answer.status_code == 200, answer.text
            assert len(answer.json()["data"]) == answer.json()["pagination"]["total"]
            return int(answer.json()["pagination"]["total"])

        rows, blocks = "/api/seo/search-performance", "/api/quotable-blocks"
        assert [total("/api/entities", search=term) for term in ("parking", "cy", "stands", "parkings")] == [1, 1, 1, 0]
        assert [total(rows, query=term) for term in ("BIKE", "lanes", "cars")] == [2, 1, 0]
        assert [total(rows, pageUrl="test/p"), total(rows)] == [2, 2]
        assert [total(blocks, topicTag=term) for term in ("field", "leeds")] == [1, 0]
        row = {"query": "Bike hangars", "pageUrl": "https://b.test/", "impressions": 4, "clicks": 1, "ctr": 0.25}
        row |= {"avgPosition": 3, "dateStart": "2025-01-01", "dateEnd": "2025-01-02"}
        answer = client.post("/api/seo/search-performance/ingest", json={"rows": [row]})
        assert answer.json()["data"] == {"received": 1, "inserted": 1, "updated": 0}
        assert total(rows, query="bike") == 3
        client.patch(f"/api/entities/{ENTITY}", json={"title": "Hangars"})
        assert [total("/api/entities", search=term) for term in ("hangar", "parking", "ng", "cy")] == [1, 0, 1, 0]
