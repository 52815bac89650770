"""Reading: shapes, orderings with ties, pages and cursors, filters and their errors, on both databases."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from trigpoint.graph.search_text import fold, folded_entity
from trigpoint.graph.store import GraphStore
from trigpoint.graph.tables import entity, project, quotable_block

DEFAULT = "00000000-0000-4000-a000-000000000001"
MISSING = "9b2c1f7e-0000-4000-8000-000000000000"
ENTITY_FIELDS = [
    "id",
    "projectId",
    "entityType",
    "title",
    "slug",
    "summary",
    "difficulty",
    "conceptKind",
    "repoUrl",
    "status",
    "canonicalUrl",
    "lastVerifiedAt",
    "createdAt",
    "updatedAt",
]
LISTS = ["/api/projects", "/api/entities", "/api/seo/search-performance", "/api/quotable-blocks"]


def uuid_of(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def put_entities(store: GraphStore, rows: list[dict[str, Any]], project_id: str = DEFAULT) -> None:
    """Entities with chosen ids and moments, which the API does not let a client choose."""
    full = []
    for row in rows:
        base = {"title": row["slug"], "entity_type": "guide", "status": "draft", "concept_kind": None} | row
        folded = folded_entity(base["title"], base["slug"])
        moment = base.setdefault("created_at", 1_700_000_000_000)
        full.append(base | {"project_id": project_id, "folded": folded, "updated_at": moment})
    with store.writing() as connection:
        connection.execute(insert(entity), full)


def ids(answer: Any) -> list[str]:
    return [item["id"] for item in answer["data"]]


def test_an_entity_has_the_fourteen_fields_of_the_contract_in_order(api):
    made = api.entity("first", kind="concept", conceptKind="model", difficulty="beginner", summary="Short")
    (listed,) = api.get("/api/entities")["data"]
    assert list(listed) == ENTITY_FIELDS
    assert api.get(f"/api/entities/{made}") == {"data": listed}
    assert listed["conceptKind"] == "model"
    assert listed["repoUrl"] is None
    assert listed["lastVerifiedAt"] is None


def test_timestamps_carry_three_digits_and_z(api, store):
    put_entities(store, [{"id": uuid_of(1), "slug": "a", "created_at": 1_700_000_000_007}])
    assert api.get("/api/entities")["data"][0]["createdAt"] == "2023-11-14T22:13:20.007Z"


def test_equal_moments_are_ordered_by_id_descending_and_pages_do_not_overlap(api, store):
    rows = [{"id": uuid_of(n), "slug": f"e{n}", "created_at": 1_700_000_000_000 + n // 7} for n in range(50)]
    put_entities(store, rows[::2] + rows[1::2])
    expected = [r["id"] for r in sorted(rows, key=lambda r: (r["created_at"], r["id"]), reverse=True)]
    pages = [api.get("/api/entities", params={"page": p, "limit": 7}) for p in range(1, 10)]
    assert [i for page in pages for i in ids(page)] == expected
    assert {page["pagination"]["total"] for page in pages} == {50}


@pytest.mark.parametrize(
    ("page", "limit", "count", "more"),
    [(1, 25, 25, True), (2, 25, 25, False), (3, 25, 0, False), (1, 100, 50, False), (9007199254740991, 100, 0, False)],
)
def test_page_edges(api, store, page, limit, count, more):
    put_entities(store, [{"id": uuid_of(n), "slug": f"e{n}"} for n in range(50)])
    answer = api.get("/api/entities", params={"page": page, "limit": limit})
    assert len(answer["data"]) == count
    shown = {k: v for k, v in answer["pagination"].items() if k != "nextCursor"}
    assert shown == {"page": page, "limit": limit, "total": 50, "hasMore": more}


BAD_PAGES = (
    *("page=0", "page=-1", "page=x", "page=1.5", "page=99999999999999999999", "page=1%0A", "page=true"),
    *("limit=0", "limit=101", "limit=+5", "limit=%D9%A3", "limit=1e1"),
)


@pytest.mark.parametrize("path", LISTS)
def test_page_and_limit_outside_their_bounds_are_400_on_every_list(api, path):
    for bad in BAD_PAGES:
        error = api.get(f"{path}?{bad}", status=400)["error"]
        assert error["code"] == "BAD_REQUEST"
        assert f"Invalid {bad.partition('=')[0]}" in error["message"]


def test_an_empty_value_counts_as_absent_and_unknown_parameters_are_ignored(api):
    for path in LISTS:
        answer = api.get(f"{path}?page=&limit=&cursor=&fields=&colour=red&entityType=&dateStart=&search=")
        assert answer["pagination"]["page"] == 1
        assert answer["pagination"]["limit"] == 20


def test_projects_are_ordered_by_code_point_of_their_slug(api, store):
    slugs = ["b", "a-z", "a", "a0", "aa", "z9", "0"]
    with store.writing() as connection:
        connection.execute(
            insert(project),
            [{"id": uuid_of(n), "slug": s, "name": s, "created_at": 0, "updated_at": 0} for n, s in enumerate(slugs)],
        )
    answer = api.get("/api/projects", headers={"x-project-id": "nonsense"})
    assert [p["slug"] for p in answer["data"]] == sorted([*slugs, "psymetric"])
    assert list(answer["data"][0]) == ["id", "slug", "name", "description", "createdAt", "updatedAt"]


def test_a_cursor_walks_every_row_once_while_others_are_inserted(api, store):
    rows = [{"id": uuid_of(n), "slug": f"e{n}", "created_at": 1_700_000_000_000 + n // 4} for n in range(40)]
    put_entities(store, rows)
    expected = [r["id"] for r in sorted(rows, key=lambda r: (r["created_at"], r["id"]), reverse=True)]
    seen, cursor, page = [], None, 1
    while True:
        answer = api.get("/api/entities", params={"limit": 6, **({"cursor": cursor} if cursor else {})})
        assert answer["pagination"]["page"] == page
        seen += ids(answer)
        put_entities(store, [{"id": uuid_of(1000 + page), "slug": f"new{page}", "created_at": 1_800_000_000_000}])
        cursor, page = answer["pagination"]["nextCursor"], page + 1
        assert answer["pagination"]["hasMore"] is (cursor is not None)
        if cursor is None:
            break
    assert seen == expected


def test_a_cursor_belongs_to_its_list_project_and_filter(api, store):
    other = api.project("other")
    put_entities(store, [{"id": uuid_of(n), "slug": f"e{n}"} for n in range(5)])
    cursor = api.get("/api/entities?limit=2")["pagination"]["nextCursor"]
    for path, project_id in (
        (f"/api/entities?status=draft&cursor={cursor}", None),
        (f"/api/quotable-blocks?cursor={cursor}", None),
        (f"/api/entities?cursor={cursor}", other),
    ):
        assert "cursor" in api.get(path, status=400, project=project_id)["error"]["message"]
    assert api.get(f"/api/entities?page=2&cursor={cursor}", status=400)["error"]["code"] == "BAD_REQUEST"


def test_a_forged_cursor_is_400(api):
    nul = base64.urlsafe_b64encode(b'["a",1,2,"\\u0000"]').decode()
    for path in LISTS:
        for forged in ("x", "!!!!", "é", "bnVsbA", "W10", nul, "A" * 5000):
            assert api.get(path, params={"cursor": forged}, status=400)["error"]["code"] == "BAD_REQUEST"


def test_filters_combine_and_do_not_change_the_order(api, store):
    rows = []
    for n in range(60):
        kind = ("guide", "concept", "project", "news")[n % 4]
        rows.append(
            {
                "id": uuid_of(n),
                "slug": f"e{n}",
                "entity_type": kind,
                "status": ("draft", "published", "archived")[n % 3],
                "concept_kind": ("standard", "model", None)[n % 3] if kind == "concept" else None,
                "created_at": 1_700_000_000_000 + n % 5,
            }
        )
    put_entities(store, rows)
    rows.sort(key=lambda r: (r["created_at"], r["id"]), reverse=True)
    names = {"entityType": "entity_type", "status": "status", "conceptKind": "concept_kind"}
    for wanted in (
        {"entityType": "concept"},
        {"status": "archived"},
        {"entityType": "news", "status": "draft"},
        {"conceptKind": "model"},
        {"entityType": "concept", "conceptKind": "standard", "status": "draft"},
        {"entityType": "guide", "conceptKind": "model"},
    ):
        expected = [r["id"] for r in rows if all(r[names[k]] == v for k, v in wanted.items())]
        answer = api.get("/api/entities", params={**wanted, "limit": 100})
        assert ids(answer) == expected
        assert answer["pagination"]["total"] == len(expected)


@pytest.mark.parametrize(
    ("path", "name", "valid"),
    [
        ("/api/entities", "entityType", "guide, concept, project, news"),
        ("/api/entities", "status", "draft, publish_requested, published, archived"),
        ("/api/entities", "conceptKind", "standard, model, comparison"),
        ("/api/quotable-blocks", "claimType", "statistic, comparison, definition, howto_step"),
        ("/api/entities", "fields", "id, projectId, entityType"),
    ],
)
def test_an_invalid_enum_value_is_400_and_lists_the_valid_ones(api, path, name, valid):
    error = api.get(path, params={name: "Guide "}, status=400)["error"]
    assert error["code"] == "BAD_REQUEST"
    assert valid in error["message"]
    assert "Guide" in error["message"]


TITLES = [
    "100% sure",
    "100 sure",
    "snake_case",
    "snakeXcase",
    r"back\slash",
    "Straße nach GROSS",
    "ΣΊΣΥΦΟΣ",
    "İstanbul",
    "plain [a-z]* 'quoted\"",
    "日本語の題",
    "🚲 lanes",
]


TERMS = (
    *("100%", "%", "_", "e_c", "\\", "k\\s", "[a-z]*", "'", '"', " ", "a", "x-1", "zz", "SURE"),
    *("STRASSE", "straße", "σίσυφος", "ΣΊΣΥΦΟΣ", "i̇stan", "日本", "本", "🚲", "🚲 L"),
    *("\x00", "a\nb", "sure\n0", "\x7f"),
)


def test_search_is_literal_and_case_folded(api, store):
    put_entities(store, [{"id": uuid_of(n), "title": t, "slug": f"x-{n}"} for n, t in enumerate(TITLES)])
    for term in TERMS:
        expected = {uuid_of(n) for n, t in enumerate(TITLES) if fold(term) in fold(t) or fold(term) in f"x-{n}"}
        answer = api.get("/api/entities", params={"search": term, "limit": 100})
        assert set(ids(answer)) == expected, term
        assert answer["pagination"]["total"] == len(expected)


@pytest.mark.usefixtures("read_both_ways")
def test_search_gives_the_same_for_rare_and_common_terms_through_pages_and_cursors(api, store):
    rows = [
        {
            "id": uuid_of(n),
            "title": f"{'common ' if n % 2 else ''}{'rare ' if n % 97 == 0 else ''}title {n}",
            "slug": f"s{n}",
            "created_at": 1_700_000_000_000 + n % 13,
        }
        for n in range(1200)
    ]
    put_entities(store, rows)
    rows.sort(key=lambda r: (r["created_at"], r["id"]), reverse=True)
    for term in ("common", "rare", "title 11", "e 7", "no such", "tle"):
        expected = [r["id"] for r in rows if term in r["title"]]
        seen, cursor = [], None
        while True:
            answer = api.get(
                "/api/entities", params={"search": term, "limit": 100, **({"cursor": cursor} if cursor else {})}
            )
            assert answer["pagination"]["total"] == len(expected)
            seen += ids(answer)
            if not (cursor := answer["pagination"]["nextCursor"]):
                break
        assert seen == expected
        assert ids(api.get("/api/entities", params={"search": term, "limit": 5, "page": 2})) == expected[5:10]


def test_a_changed_title_is_found_by_its_new_words_only(api):
    made = api.entity("thing", title="Turbo roundabout")
    api.post(f"/api/entities/{made}", {"title": "Protected junction"}, method="PATCH")
    assert ids(api.get("/api/entities?search=protected")) == [made]
    assert ids(api.get("/api/entities?search=turbo")) == []


def test_fields_selects_in_the_contracts_order(api):
    made = api.entity("thing")
    assert api.get("/api/entities?fields=title,id")["data"] == [{"id": made, "title": "Thing"}]
    assert api.get(f"/api/entities/{made}?fields=slug")["data"] == {"slug": "thing"}


MALFORMED = (
    *("x", "123", "9b2c1f7e-0000-6000-8000-000000000000", "9b2c1f7e-0000-4000-c000-000000000000"),
    *("9b2c1f7e00004000800000000000000", MISSING + "%0A", "{" + MISSING + "}", "%00", "%F0%9F%9A%B2"),
)


def test_a_malformed_uuid_is_400_everywhere(api):
    for bad in MALFORMED:
        for path in (
            "/api/entities/{}",
            "/api/entities/{}/graph",
            "/api/quotable-blocks?entityId={}",
            "/api/seo/search-performance?entityId={}",
        ):
            assert api.get(path.format(bad), status=400)["error"]["code"] == "BAD_REQUEST"


def test_upper_case_uuids_are_accepted(api):
    made = api.entity("thing")
    assert api.get(f"/api/entities/{made.upper()}", project=DEFAULT.upper())["data"]["id"] == made
    assert api.get(f"/api/entities/{made.upper()}/graph")["data"]["rootEntity"]["id"] == made


BAD_DATES = (
    *("2025-02-30", "2025-13-01", "2025-02-29T00:00:00Z", "2025-02-20T25:00:00Z", "0000-01-01", "today"),
    *("02/20/2025", "20.02.2025", "2025-2-1", "2025-02-20 ", "2025-02-20T14:30:00", "2025-02-20T14:30:00+00:00"),
    *("2025-02-20T14:30:00.1234Z", "2025-02-20t14:30:00z", "２０２５-02-20", "2025-02-20\n"),
)


@pytest.mark.parametrize("name", ["dateStart", "dateEnd"])
def test_impossible_and_foreign_dates_are_400(api, name):
    for bad in BAD_DATES:
        error = api.get("/api/seo/search-performance", params={name: bad}, status=400)["error"]
        assert error["code"] == "BAD_REQUEST"
        assert name in error["message"]


@pytest.mark.parametrize("name", ["verifiedUntilBefore", "verifiedUntilAfter"])
def test_verification_dates_are_as_strict(api, name):
    assert api.get("/api/quotable-blocks", params={name: "2025-02-30"}, status=400)["error"]["code"] == "BAD_REQUEST"
    for good in ("2025-02-28", "2025-02-28T10:00:00Z", "2025-02-28T10:00:00.1Z", "2025-02-28T10:00:00.123Z"):
        api.get("/api/quotable-blocks", params={name: good})


def test_a_reversed_range_is_400(api):
    api.get("/api/seo/search-performance?dateStart=2025-02-02&dateEnd=2025-02-01", status=400)
    api.get("/api/quotable-blocks?verifiedUntilAfter=2025-02-02&verifiedUntilBefore=2025-02-01", status=400)
    api.get("/api/seo/search-performance?dateStart=2025-02-02&dateEnd=2025-02-02")


def put_blocks(store: GraphStore, entity_id: str, rows: list[dict[str, Any]]) -> None:
    full = [
        {
            "text": "t",
            "claim_type": "statistic",
            "topic_tag": None,
            "verified_until": None,
            "created_at": 5,
            "updated_at": 5,
        }
        | row
        | {
            "project_id": DEFAULT,
            "entity_id": entity_id,
            "topic_folded": fold(row["topic_tag"]) if row.get("topic_tag") else None,
        }
        for row in rows
    ]
    with store.writing() as connection:
        connection.execute(insert(quotable_block), full)


@pytest.mark.usefixtures("read_both_ways")
def test_blocks_filter_by_entity_claim_topic_and_inclusive_verification_that_drops_nulls(api, store):
    one, two = api.entity("one"), api.entity("two")
    day = 86_400_000
    first = [
        {
            "id": uuid_of(n),
            "topic_tag": f"Topic_{n % 3}%",
            "verified_until": n * day if n % 4 else None,
            "claim_type": ("statistic", "definition")[n % 2],
            "created_at": n // 3,
        }
        for n in range(30)
    ]
    put_blocks(store, one, first)
    put_blocks(store, two, [{"id": uuid_of(100), "topic_tag": "topicX2"}])
    newest = sorted(first, key=lambda r: (r["created_at"], r["id"]), reverse=True)

    def listed(**params: Any) -> list[str]:
        answer = api.get("/api/quotable-blocks", params={"limit": 100, **params})
        assert answer["pagination"]["total"] == len(answer["data"])
        return ids(answer)

    assert listed(entityId=one) == [r["id"] for r in newest]
    assert listed(entityId=two) == [uuid_of(100)]
    assert listed(entityId=MISSING) == []
    assert listed(claimType="definition") == [r["id"] for r in newest if r["claim_type"] == "definition"]
    assert listed(topicTag="topic_2%") == [r["id"] for r in newest if r["topic_tag"] == "Topic_2%"]
    assert listed(topicTag="\x00") == listed(topicTag="\x00", entityId=one) == []
    assert listed(topicTag="TOPIC_1", entityId=one) == [r["id"] for r in newest if r["topic_tag"] == "Topic_1%"]
    within = [r["id"] for r in newest if r["verified_until"] and 5 * day <= r["verified_until"] <= 9 * day]
    assert listed(verifiedUntilAfter="1970-01-06", verifiedUntilBefore="1970-01-10") == within
    assert uuid_of(5) in within
    assert uuid_of(9) in within
    assert len(listed(verifiedUntilBefore="2100-01-01")) == len([r for r in first if r["verified_until"]])


def test_rows_and_total_are_of_one_snapshot(store):
    """G9: what is written between the two reads does not show in the second."""
    put_entities(store, [{"id": uuid_of(1), "slug": "a"}])
    with store.snapshot() as connection:
        counted = select(func.count()).select_from(entity)
        before = connection.execute(counted).scalar_one()
        put_entities(store, [{"id": uuid_of(2), "slug": "b"}])
        assert connection.execute(counted).scalar_one() == before
