"""Search performance: five-column order with ties, substring filters, containment of periods, comparison."""

from __future__ import annotations

import random
from typing import Any

import pytest

INGEST = "/api/seo/search-performance/ingest"
PATH = "/api/seo/search-performance"


def put(api: Any, count: int, seed: int = 1) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    queries = ["Zebra", "apple", "Äpfel", "äpfel 100%", "a_b", "axb", "日本", "zebra crossing", "Ab", "aB"]
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    while len(rows) < count:
        month = rng.choice(("01", "02", "03"))
        end = rng.choice(("07", "28"))
        row = {
            "query": rng.choice(queries),
            "pageUrl": f"https://x.test/{rng.choice('aAbBcCé')}{rng.randrange(6)}",
            "impressions": rng.randrange(10, 100),
            "clicks": rng.randrange(0, 10),
            "ctr": 0.5,
            "avgPosition": rng.randrange(1, 50) / 2,
            "dateStart": f"2025-{month}-01",
            "dateEnd": f"2025-{month}-{end}",
        }
        rows[(row["query"], row["pageUrl"], row["dateStart"], row["dateEnd"])] = row
    api.post(INGEST, {"rows": list(rows.values())})
    ordered = sorted(rows.values(), key=lambda r: (r["query"], r["pageUrl"]))
    return sorted(ordered, key=lambda r: (r["dateStart"], r["dateEnd"]), reverse=True)


def keys(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [(r["query"], r["pageUrl"], r["dateStart"][:10], r["dateEnd"][:10]) for r in rows]


def walk(api: Any, **params: Any) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    cursor = None
    while True:
        answer = api.get(PATH, params={"limit": 17, **params, **({"cursor": cursor} if cursor else {})})
        seen += answer["data"]
        if not (cursor := answer["pagination"]["nextCursor"]):
            assert answer["pagination"]["total"] == len(seen)
            return seen


def test_the_order_has_five_columns_by_code_point_through_pages_and_cursors(api):
    expected = keys(put(api, 150))
    assert keys(walk(api)) == expected
    pages = [api.get(PATH, params={"limit": 40, "page": p})["data"] for p in (1, 2, 3, 4)]
    assert keys([row for page in pages for row in page]) == expected
    assert api.get(PATH)["data"][0]["dateStart"] == "2025-03-01T00:00:00.000Z"


@pytest.mark.usefixtures("read_both_ways")
def test_filters_are_literal_folded_and_combine(api):
    rows = put(api, 150)

    def check(expected: list[dict[str, Any]], **params: str) -> None:
        assert keys(walk(api, **params)) == keys(expected)

    for term in ("ZEBRA", "äPFEL", "%", "_", "a_b", "ab", "nothing", "本", "\x00", "SS"):
        folded = term.casefold()
        check([r for r in rows if folded in r["query"].casefold()], query=term)
        check(
            [r for r in rows if folded in r["query"].casefold() and "/a" in r["pageUrl"].casefold()],
            query=term,
            pageUrl="/A",
        )
    check([r for r in rows if "/É".casefold() in r["pageUrl"].casefold()], pageUrl="/É")
    inside = [r for r in rows if r["dateStart"] >= "2025-02-01" and r["dateEnd"] <= "2025-02-28"]
    check(inside, dateStart="2025-02-01", dateEnd="2025-02-28")
    check(
        [r for r in inside if r["dateEnd"] == "2025-02-07"],
        dateStart="2025-02-01T00:00:00Z",
        dateEnd="2025-02-27T23:59:59.999Z",
    )
    check(
        [r for r in inside if "zebra" in r["query"].casefold()],
        dateStart="2025-02-01",
        dateEnd="2025-02-28",
        query="zebra",
    )
    check([], query="\x00", dateStart="2025-02-01")
    check([r for r in rows if r["dateStart"] >= "2025-03-01"], dateStart="2025-03-01")
    check([r for r in rows if r["dateEnd"] <= "2025-01-07"], dateEnd="2025-01-07")


def test_a_comparison_sums_stored_rows_and_weighs_the_position(api):
    rows = put(api, 120)
    params = {
        "firstStart": "2025-01-01",
        "firstEnd": "2025-01-31",
        "secondStart": "2025-02-01",
        "secondEnd": "2025-02-28",
        "query": "a",
    }
    data = api.get(f"{PATH}/compare", params=params)["data"]
    assert data["label"] == "of stored rows"
    for name, month in (("first", "01"), ("second", "02")):
        chosen = [r for r in rows if r["dateStart"][5:7] == month and "a" in r["query"].casefold()]
        shown, weight = data[name], sum(r["impressions"] for r in chosen)
        assert shown["rows"] == len(chosen)
        assert (shown["impressions"], shown["clicks"]) == (weight, sum(r["clicks"] for r in chosen))
        assert abs(shown["avgPosition"] - sum(r["avgPosition"] * r["impressions"] for r in chosen) / weight) < 1e-9
    assert data["change"]["clicks"] == data["second"]["clicks"] - data["first"]["clicks"]
    empty = api.get(f"{PATH}/compare", params=params | {"query": "nothing"})["data"]
    assert empty["first"]["ctr"] is None
    assert empty["change"]["avgPosition"] is None
    del params["secondEnd"]
    assert "secondEnd" in api.get(f"{PATH}/compare", params=params, status=400)["error"]["message"]
