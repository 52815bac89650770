"""Writing: what each route creates and refuses, what the database itself forbids, and that nothing is half done."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import delete, func, insert, select, update

from trigpoint.errors import StoreUnavailable
from trigpoint.graph.store import GraphStore
from trigpoint.graph.tables import (
    entity,
    entity_count,
    entity_relation,
    event_log,
    metadata,
    performance_count,
    quotable_block,
    search_performance,
)

DEFAULT = "00000000-0000-4000-a000-000000000001"
MISSING = "9b2c1f7e-0000-4000-8000-000000000000"


def events(store: GraphStore) -> list[str]:
    with store.snapshot() as connection:
        return list(connection.execute(select(event_log.c.event).order_by(event_log.c.seq)).scalars())


def test_creation_is_201_and_a_duplicate_slug_is_409_and_changes_nothing(api, store):
    body = {"entityType": "guide", "slug": "one", "title": "One"}
    made = api.post("/api/entities", body, status=201)["data"]
    assert made["status"] == "draft"
    before = events(store)
    assert api.post("/api/entities", body | {"title": "Other"}, status=409)["error"]["code"] == "CONFLICT"
    assert events(store) == before == ["entity.created"]
    assert api.get("/api/entities")["data"] == [made]
    api.post("/api/entities", body | {"entityType": "news"}, status=201)
    api.post("/api/entities", body, status=201, project=api.project("other"))
    assert api.post("/api/projects", {"slug": "other", "name": "x"}, status=409)["error"]["code"] == "CONFLICT"


@pytest.mark.parametrize(
    "bad",
    [
        {"entityType": "book"},
        {"entityType": None},
        {"slug": "Upper"},
        {"slug": "a--b"},
        {"slug": "a\n"},
        {"slug": 5},
        {"title": ""},
        {"title": " "},
        {"title": "nul\x00"},
        {"title": "half \ud800"},
        {"title": "x" * 601},
        {"conceptKind": "model"},
        {"repoUrl": "https://x.test"},
        {"canonicalUrl": "javascript:alert(1)"},
        {"difficulty": "hard"},
        {"summary": ["list"]},
        {"status": "published"},
        {"id": MISSING},
    ],
    ids=str,
)
def test_a_bad_entity_is_400(api, bad):
    body = {"entityType": "guide", "slug": "one", "title": "One"} | bad
    raw = json.dumps(body)
    answer = api.call("POST", "/api/entities", content=raw, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["code"] == "BAD_REQUEST"
    assert api.get("/api/entities")["pagination"]["total"] == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"x"', b'{"a":NaN}', b"\xff"])
def test_a_body_that_is_no_object_is_400(api, content):
    for path in (
        "/api/projects",
        "/api/entities",
        "/api/relationships",
        "/api/quotable-blocks",
        "/api/seo/search-performance/ingest",
    ):
        answer = api.call("POST", path, content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "BAD_REQUEST"


def test_patch_leaves_what_is_absent_and_clears_what_is_null(api):
    made = api.entity("one", kind="concept", conceptKind="model", summary="Long", difficulty="beginner")
    changed = api.post(f"/api/entities/{made}", {"summary": None, "title": "Two"}, method="PATCH")["data"]
    assert (changed["summary"], changed["title"], changed["conceptKind"], changed["slug"]) == (
        None,
        "Two",
        "model",
        "one",
    )
    api.entity("taken", kind="concept")
    assert (
        api.post(f"/api/entities/{made}", {"slug": "taken"}, method="PATCH", status=409)["error"]["code"] == "CONFLICT"
    )
    for bad in ({"entityType": "guide"}, {"status": "published"}, {"title": None}, {"colour": 1}):
        assert api.post(f"/api/entities/{made}", bad, method="PATCH", status=400)["error"]["code"] == "BAD_REQUEST"
    assert api.get(f"/api/entities/{made}")["data"] == changed


def test_the_lifecycle_goes_its_way_and_no_other(api, store):
    made = api.entity("one")
    step = f"/api/entities/{made}/"
    for action, status in (
        ("publish", 409),
        ("reject", 409),
        ("request-publish", 200),
        ("reject", 200),
        ("request-publish", 200),
        ("publish", 200),
        ("publish", 409),
        ("archive", 200),
        ("archive", 409),
    ):
        api.post(step + action, status=status)
    assert api.get(f"/api/entities/{made}")["data"]["status"] == "archived"
    assert api.get("/api/entities?status=archived")["pagination"]["total"] == 1
    assert api.get("/api/entities?status=draft")["pagination"]["total"] == 0
    verified = api.post(step + "verify-freshness")["data"]
    assert verified["lastVerifiedAt"].endswith("Z")
    assert len(events(store)) == 7


def test_relations_join_only_what_their_name_says(api):
    guide, concept, news = api.entity("g"), api.entity("c", kind="concept"), api.entity("n", kind="news")
    made = api.relation("GUIDE_USES_CONCEPT", guide, concept.upper(), notes="why")
    again = {"relationType": "GUIDE_USES_CONCEPT", "fromEntityId": guide, "toEntityId": concept}
    assert api.post("/api/relationships", again, status=409)["error"]["code"] == "CONFLICT"
    api.relation("GUIDE_EXPLAINS_CONCEPT", guide, concept)
    wrong = {"relationType": "GUIDE_USES_CONCEPT", "fromEntityId": news, "toEntityId": concept}
    assert "news" in api.post("/api/relationships", wrong, status=400)["error"]["message"]
    same = {"relationType": "CONCEPT_RELATES_TO_CONCEPT", "fromEntityId": concept, "toEntityId": concept}
    assert api.post("/api/relationships", same, status=400)["error"]["code"] == "BAD_REQUEST"
    unknown = api.post("/api/relationships", {"relationType": "LIKES"}, status=400)["error"]["message"]
    assert unknown.count("_") > 19
    deleted = api.post(f"/api/relationships/{made}", method="DELETE")["data"]
    assert (deleted["id"], deleted["notes"]) == (made, "why")
    assert api.post(f"/api/relationships?id={made}", method="DELETE", status=404)["error"]["code"] == "NOT_FOUND"


def test_an_external_end_is_an_id_or_url(api):
    guide = api.entity("g")
    made = {"relationType": "GUIDE_REFERENCES_SOURCE", "fromEntityId": guide, "toEntityId": "https://x.test/report?a=1"}
    shown = api.post("/api/relationships", made, status=201)["data"]
    assert (shown["toEntityId"], shown["toKind"]) == ("https://x.test/report?a=1", "source")
    api.post("/api/relationships", made, status=409)
    api.relation("DISTRIBUTION_PROMOTES_GUIDE", "newsletter-12", guide)
    assert api.post("/api/relationships", made | {"toEntityId": "x" * 1001}, status=400)


def test_a_block_outside_25_to_50_words_is_stored_with_advice(api):
    guide = api.entity("g")
    body = {
        "entityId": guide,
        "text": "word " * 30,
        "claimType": "statistic",
        "verifiedUntil": "2026-01-31",
        "topicTag": "Kerbs",
    }
    fine = api.post("/api/quotable-blocks", body, status=201)
    assert fine["warnings"] == []
    assert fine["data"]["verifiedUntil"] == "2026-01-31T00:00:00.000Z"
    assert "3 words" in api.post("/api/quotable-blocks", body | {"text": "much too short"}, status=201)["warnings"][0]
    for bad in ({"claimType": "rumour"}, {"verifiedUntil": "2026-02-30"}, {"entityId": "x"}, {"text": ""}):
        api.post("/api/quotable-blocks", body | bad, status=400)


def test_foreign_and_missing_entities_are_404_on_every_write(api, store):
    other = api.project("other")
    theirs, mine = api.entity("theirs", project=other), api.entity("mine", kind="concept")
    before = events(store)
    row = {
        "query": "q",
        "pageUrl": "https://x.test",
        "impressions": 1,
        "clicks": 0,
        "ctr": 0,
        "avgPosition": 1,
        "dateStart": "2025-01-01",
        "dateEnd": "2025-01-01",
    }
    for target in (theirs, MISSING):
        calls: list[tuple[str, str, Any]] = [
            ("PATCH", f"/api/entities/{target}", {"title": "x"}),
            *(
                ("POST", f"/api/entities/{target}/{a}", None)
                for a in ("request-publish", "publish", "reject", "archive", "verify-freshness")
            ),
            (
                "POST",
                "/api/relationships",
                {"relationType": "GUIDE_USES_CONCEPT", "fromEntityId": target, "toEntityId": mine},
            ),
            ("POST", "/api/quotable-blocks", {"entityId": target, "text": "t", "claimType": "statistic"}),
            ("POST", "/api/seo/search-performance/ingest", {"rows": [row | {"entityId": target}]}),
            ("DELETE", f"/api/relationships/{target}", None),
        ]
        for method, path, body in calls:
            error = api.post(path, body, method=method, status=404)["error"]
            assert error["code"] == "NOT_FOUND"
            assert target not in error["message"]
    assert events(store) == before


def test_the_database_itself_refuses_what_breaks_the_rules(api, store):
    other = api.project("other")
    guide, concept = api.entity("g"), api.entity("c", kind="concept")
    theirs = api.entity("c", kind="concept", project=other)
    base = {
        "id": MISSING,
        "project_id": DEFAULT,
        "relation_type": "GUIDE_USES_CONCEPT",
        "created_at": 1,
        "from_id": guide,
        "from_kind": "guide",
        "from_entity_id": guide,
        "to_id": concept,
        "to_kind": "concept",
        "to_entity_id": concept,
    }
    block = {
        "id": MISSING,
        "project_id": DEFAULT,
        "entity_id": theirs,
        "text": "t",
        "claim_type": "statistic",
        "created_at": 1,
        "updated_at": 1,
    }
    api.post(
        "/api/seo/search-performance/ingest",
        {
            "rows": [
                {
                    "query": "q",
                    "pageUrl": "https://x.test",
                    "impressions": 2,
                    "clicks": 1,
                    "ctr": 0.5,
                    "avgPosition": 1,
                    "dateStart": "2025-01-01",
                    "dateEnd": "2025-01-01",
                }
            ]
        },
    )
    for statement in (
        insert(entity_relation).values(base | {"to_id": theirs, "to_entity_id": theirs}),
        insert(entity_relation).values(base | {"to_id": guide}),
        insert(entity_relation).values(base | {"relation_type": "NEWS_REFERENCES_CONCEPT"}),
        insert(entity_relation).values(base | {"to_kind": "guide", "to_id": guide, "to_entity_id": guide}),
        insert(entity_relation).values(base | {"to_entity_id": None}),
        insert(quotable_block).values(block),
        update(search_performance).values(ctr=1.5),
        update(search_performance).values(avg_position=0),
        update(search_performance).values(clicks=3),
        update(search_performance).values(date_end=1),
        update(search_performance).values(entity_id=theirs),
        update(entity).where(entity.c.id == guide).values(concept_kind="model"),
        update(entity).where(entity.c.id == guide).values(status="lost"),
        update(event_log).values(event="changed"),
        delete(event_log),
    ):
        with pytest.raises(StoreUnavailable), store.writing() as connection:
            connection.execute(statement)


ROW = {
    "query": "cycle lane",
    "pageUrl": "https://x.test/a",
    "impressions": 100,
    "clicks": 10,
    "ctr": 0.1,
    "avgPosition": 4.2,
    "dateStart": "2025-01-01",
    "dateEnd": "2025-01-31",
}
INGEST = "/api/seo/search-performance/ingest"


def test_ingest_upserts_keeps_links_that_are_absent_and_moves_captured_at(api):
    guide = api.entity("g")
    assert api.post(INGEST, {"rows": [ROW | {"entityId": guide}]})["data"] == {
        "received": 1,
        "inserted": 1,
        "updated": 0,
    }
    (first,) = api.get("/api/seo/search-performance")["data"]
    assert api.post(INGEST, {"rows": [ROW | {"clicks": 11}, ROW | {"query": "CYCLE LANE"}]})["data"] == {
        "received": 2,
        "inserted": 1,
        "updated": 1,
    }
    rows = {row["query"]: row for row in api.get("/api/seo/search-performance")["data"]}
    again = rows["cycle lane"]
    assert (again["id"], again["entityId"], again["clicks"]) == (first["id"], guide, 11)
    assert again["capturedAt"] >= first["capturedAt"]
    assert rows["CYCLE LANE"]["entityId"] is None
    api.post(INGEST, {"rows": [ROW | {"entityId": None}]})
    assert api.get("/api/seo/search-performance?query=cycle&pageUrl=/A")["pagination"]["total"] == 2
    assert api.get(f"/api/seo/search-performance?entityId={guide}")["pagination"]["total"] == 0
    assert list(first) == [
        "id",
        "projectId",
        "entityId",
        "pageUrl",
        "query",
        "impressions",
        "clicks",
        "ctr",
        "avgPosition",
        "dateStart",
        "dateEnd",
        "capturedAt",
    ]


def test_ingest_is_all_or_nothing_and_names_each_bad_row(api, store):
    before = events(store)
    bad = [
        ROW,
        ROW | {"ctr": 1.5, "query": "b"},
        ROW | {"clicks": 101, "query": "c"},
        ROW | {"dateEnd": "2024-12-31", "query": "d"},
        ROW | {"impressions": True, "query": "e"},
        ROW,
        {"query": "f"},
        7,
        ROW | {"avgPosition": 0, "query": "g"},
        ROW | {"query": "x" * 601},
        ROW | {"avgPosition": 1e400, "query": "h"},
    ]
    error = api.post(INGEST, {"rows": bad[:10]}, status=400)["error"]
    assert error["code"] == "BAD_REQUEST"
    assert [row["index"] for row in error["details"]["rows"]] == list(range(1, 10))
    assert "row 0" in error["details"]["rows"][4]["message"]
    assert api.get("/api/seo/search-performance")["pagination"]["total"] == 0
    assert events(store) == before
    for rows in ([], None, {}, [ROW] * 25_001):
        api.post(INGEST, {"rows": rows}, status=400)


def test_counters_are_what_counting_says_after_random_writes(api, store):
    made = [api.entity(f"e{n}", kind=("guide", "concept")[n % 2]) for n in range(8)]
    for n, one in enumerate(made):
        if n % 3 == 0:
            api.post(f"/api/entities/{one}/archive")
        api.post(
            "/api/quotable-blocks", {"entityId": one, "text": "t", "claimType": ("statistic", "definition")[n % 2]}
        )
    api.post(INGEST, {"rows": [ROW | {"query": f"q{n % 3}", "pageUrl": f"https://x.test/{n}"} for n in range(9)]})
    api.post(
        INGEST,
        {"rows": [ROW | {"query": f"q{n % 3}", "pageUrl": f"https://x.test/{n}", "clicks": 1} for n in range(5, 12)]},
    )
    with store.writing() as connection:
        connection.execute(delete(search_performance).where(search_performance.c.page_url == "https://x.test/3"))
        connection.execute(delete(quotable_block).where(quotable_block.c.entity_id == made[0]))
        moved = search_performance.c.page_url == "https://x.test/4"
        connection.execute(update(search_performance).where(moved).values(query="q2", date_start=1))
    with store.snapshot() as connection:
        for counter, counted in (
            (entity_count, entity),
            (performance_count, search_performance),
        ):
            total = connection.execute(select(func.sum(counter.c.n))).scalar_one()
            assert total == connection.execute(select(func.count()).select_from(counted)).scalar_one()


def test_of_many_writers_of_one_slug_one_wins(api):
    answers: list[int] = []

    def write() -> None:
        body = {"entityType": "guide", "slug": "same", "title": "Same"}
        answers.append(api.call("POST", "/api/entities", json=body).status_code)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201] + [409] * 7
    assert api.get("/api/entities")["pagination"]["total"] == 1


def test_a_second_start_migrates_nothing_and_tables_match_the_migrations(store):
    store.migrate()
    with store.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    derived = [d for d in differences if "entity_gram" not in str(d)]
    assert derived == []


def test_the_database_takes_no_search_row_of_a_project_that_does_not_exist(store):
    row = {"id": MISSING, "project_id": MISSING, "page_url": "p", "query": "q", "page_folded": "p", "query_folded": "q"}
    row |= {
        "impressions": 1,
        "clicks": 0,
        "ctr": 0,
        "avg_position": 1,
        "date_start": 0,
        "date_end": 0,
        "captured_at": 0,
    }
    with pytest.raises(StoreUnavailable), store.writing() as connection:
        connection.execute(insert(search_performance), row)
