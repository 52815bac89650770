"""Distinct texts: looked through by the database first, in memory afterwards, and never of another state."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import create_engine, event

from trigpoint.graph import distinct_texts
from trigpoint.graph.distinct_texts import texts_with
from trigpoint.graph.memory import Memory
from trigpoint.graph.state import state_of
from trigpoint.graph.tables import performance_count, search_query

TEXTS = ["cycle parking", "CYCLE lanes", "straße", "STRASSE", "İzmir", "日本", "100%", "a_b", "nothing else"]
TERMS = ["cycle", "SS", "ss", "%", "_", "i̇", "本", "n", "not there"]


def ingest(api: Any, *queries: str) -> None:
    row = {"pageUrl": "https://x.test/", "impressions": 9, "clicks": 1, "ctr": 0.1, "avgPosition": 2,
           "dateStart": "2025-01-01", "dateEnd": "2025-01-01"}  # fmt: skip
    api.post("/api/seo/search-performance/ingest", {"rows": [{**row, "query": query} for query in queries]})


def look(store: Any, project: str, term: str) -> dict[str, int]:
    with store.snapshot() as connection:
        return texts_with(connection, search_query, state_of(connection, project, performance_count), term)


def reads(store: Any) -> list[str]:
    """The statements on the table of queries from here on."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "search_query" in statement:
            seen.append(statement)

    event.listen(store.engine, "before_cursor_execute", note)
    return seen


@pytest.mark.parametrize("held", [True, False])
def test_the_database_looks_first_then_we_do_and_both_find_the_same(api, store, monkeypatch, held):
    if not held:
        monkeypatch.setattr(distinct_texts, "_held", Memory(most=0))
    project = api.project("a")
    api.client.headers["x-project-id"] = project
    ingest(api, *TEXTS)
    seen = reads(store)
    for term in TERMS:
        expected = {text: 1 for text in TEXTS if term.casefold() in text.casefold()}
        assert look(store, project, term) == expected, term
    assert len(seen) == (2 if held else len(TERMS))  # one for the first term, one that read them all


def test_new_rows_are_seen_at_once(api, store):
    project = api.project("a")
    api.client.headers["x-project-id"] = project
    for number in range(1, 5):
        ingest(api, f"cycle {number}")
        for _ in range(3):
            assert look(store, project, "cycle") == {f"cycle {n}": 1 for n in range(1, number + 1)}


def test_too_many_texts_stay_with_the_database(api, store, monkeypatch):
    monkeypatch.setattr(distinct_texts, "_MOST", 3)
    project = api.project("a")
    api.client.headers["x-project-id"] = project
    ingest(api, *(f"cycle {n}" for n in range(4)))
    seen = reads(store)
    for _ in range(4):
        assert len(look(store, project, "cycle")) == 4
    assert len(seen) == 5  # four answers, and one attempt to hold them


@pytest.mark.parametrize(("most", "left"), [(9, [2, 3, 4]), (8, [3, 4]), (4, [4]), (3, [])])
def test_memory_forgets_what_was_used_longest_ago(most, left):
    memory: Memory[list[int]] = Memory(most, weight=len)
    engine = create_engine("sqlite://")
    for size in (2, 3, 4):
        memory.put(engine, size, [0] * size)
        memory.get(engine, 3)
    assert [size for size in (2, 3, 4) if memory.get(engine, size) is not None] == left
    assert memory.get(create_engine("sqlite://"), 4) is None
