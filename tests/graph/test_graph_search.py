"""Every text filter against brute force: random texts with odd characters, terms of every length, other filters, both databases."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sqlalchemy import insert
from test_graph_reads import put_blocks, put_entities, uuid_of

from trigpoint.graph.ingest import ingest_rows
from trigpoint.graph.inputs import BlockFilter, EntityFilter, PageRequest, PerformanceFilter, SearchRow
from trigpoint.graph.performance import list_performance
from trigpoint.graph.queries import list_blocks, list_entities
from trigpoint.graph.tables import project

DEFAULT = "00000000-0000-4000-a000-000000000001"
OTHER = uuid_of(0xFFFF)
LETTERS = "aabbcdeESZ 09-%_\\'\"*?[]();:.éÉßẞİıſςΣσŒﬁ日本🚲\u0301\xa0"
HOSTILE = (
    *("' OR 1=1 --", "'; DROP TABLE entity; --", '" OR "a', "a* OR b", "NEAR(a b)", "a AND b", "^a", "grams:a", "-a"),
    *("%", "_", "\\", "%%", "a%b", "[a-z]", "*", "?", "(", '"', "'", "{}", "@>", "$1", ":a", "%s", "%(a)s", "--", ";"),
    *("\x00", "a\x00b", "\x1f", "\n", "a\n", "\x7f", "\ud800", "ss", "SS", "fi", "i̇", "I", "ΣΣ", " ", "  "),
)


def texts(rng: random.Random, number: int) -> list[str]:
    made = ("".join(rng.choices(LETTERS, k=rng.randint(1, 12))).strip() for _ in range(number))
    return [text or "x" for text in made]


def terms(rng: random.Random, among: list[str]) -> list[str]:
    """Pieces of the texts, one to six characters long, in another case; strings that are nowhere; hostile ones."""
    pieces = []
    for _ in range(60):
        text = rng.choice(among)
        start = rng.randrange(len(text))
        piece = text[start : start + rng.randint(1, 6)]
        pieces.append(rng.choice((piece, piece.upper(), piece.lower(), piece.swapcase())))
    return [term for term in (*pieces, *texts(rng, 15), *HOSTILE) if term]


def holds(text: str | None, term: str) -> bool:
    return text is not None and term.casefold() in text.casefold()


@pytest.fixture
def other_project(store) -> None:
    with store.writing() as connection:
        row = {"id": OTHER, "slug": "other", "name": "o", "created_at": 0, "updated_at": 0}
        connection.execute(insert(project), row)


def pages(read: Any) -> tuple[list[str], set[int]]:
    """All ids, page by page, and the totals that were told."""
    seen: list[str] = []
    totals, request = set(), PageRequest(limit=23)
    while True:
        page = read(request)
        seen += [item.id for item in page.items]
        totals.add(page.pagination.total)
        if page.pagination.next_cursor is None:
            return seen, totals
        request = PageRequest(limit=23, cursor=page.pagination.next_cursor)


@pytest.mark.usefixtures("read_both_ways", "other_project")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_titles_and_slugs_agree_with_brute_force(store, seed):
    rng = random.Random(seed)
    kinds, statuses = ("guide", "concept", "project", "news"), ("draft", "published", "archived")
    rows = [
        {"id": uuid_of(n), "slug": f"{rng.choice(('ab', 'cd-e', 'x'))}-{n}", "title": title, "entity_type": kinds[n % 4],
         "status": rng.choice(statuses), "created_at": 1000 + rng.randrange(9)}
        for n, title in enumerate(texts(rng, 180))
    ]  # fmt: skip
    put_entities(store, rows[:120])
    put_entities(store, rows[120:], OTHER)
    mine = sorted(rows[:120], key=lambda r: (r["created_at"], r["id"]), reverse=True)
    with store.snapshot() as connection:
        for term in terms(rng, [row["title"] for row in rows]):
            wanted = {name: rng.choice(values) for name, values in (("entity_type", kinds), ("status", statuses))}
            for given in ({}, {"status": wanted["status"]}, wanted):
                expected = [
                    row["id"]
                    for row in mine
                    if (holds(row["title"], term) or holds(row["slug"], term))
                    and all(row[name] == value for name, value in given.items())
                ]
                chosen = EntityFilter(search=term, **given)
                found, totals = pages(lambda request, f=chosen: list_entities(connection, DEFAULT, f, request))
                assert found == expected, (term, given)
                assert totals == {len(expected)}


@pytest.mark.usefixtures("read_both_ways", "other_project")
def test_queries_pages_and_topics_agree_with_brute_force(api, store):
    rng = random.Random(3)
    entity_id = api.entity("one")
    queries, urls = texts(rng, 40), [f"https://x.test/{text}" for text in texts(rng, 12)]
    keys = {(rng.choice(queries), rng.choice(urls), rng.randrange(3)) for _ in range(150)}
    numbers = {"impressions": 9, "clicks": 1, "ctr": 0.1, "avg_position": 2.0, "entity_id": None}
    made = [SearchRow.model_construct(query=q, page_url=u, date_start=d, date_end=d, **numbers) for q, u, d in keys]
    blocks = [{"id": uuid_of(n), "topic_tag": text, "created_at": n // 3} for n, text in enumerate(texts(rng, 60))]
    put_blocks(store, entity_id, blocks)
    with store.writing() as connection:
        ingest_rows(connection, DEFAULT, made)
        ingest_rows(connection, OTHER, made[:50])
    with store.snapshot() as connection:
        for term in terms(rng, [*queries, *urls]):
            for given in ({"query": term}, {"page_url": term}, {"query": term, "page_url": rng.choice("aé/")},
                          {"query": term, "date_start": 1}):  # fmt: skip
                chosen = PerformanceFilter().model_copy(update=given)
                expected = sum(
                    holds(row.query, given.get("query", ""))
                    and holds(row.page_url, given.get("page_url", ""))
                    and row.date_start >= given.get("date_start", 0)
                    for row in made
                )
                found, totals = pages(lambda request, f=chosen: list_performance(connection, DEFAULT, f, request))
                assert (len(set(found)), totals) == (expected, {expected}), given
            tagged = [row["id"] for row in reversed(blocks) if holds(row["topic_tag"], term)]
            tagged.sort(key=lambda i: next((-b["created_at"], -int(b["id"][-12:], 16)) for b in blocks if b["id"] == i))
            topic = BlockFilter(topic_tag=term)
            assert pages(lambda request, f=topic: list_blocks(connection, DEFAULT, f, request)) == (
                tagged,
                {len(tagged)},
            )
