"""The graph at 100,000 entities, 1,000,000 relations and 200,000 search rows, over HTTP, on SQLite and on PostgreSQL."""

from __future__ import annotations

import http.client
import itertools
import os
import random
import shutil
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
import pgserver
import psycopg

from benchmarks.report import Report, percentile_ms
from benchmarks.serving import serving
from trigpoint.config import load_settings
from trigpoint.graph.load import load_document
from trigpoint.graph.search_text import folded_entity, gram_words
from trigpoint.graph.store import GraphStore
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_ID, EXTERNAL_KINDS, RELATION_ENDS, STATUSES

SCALE = float(os.environ.get("TRIGPOINT_BENCH_SCALE", "1"))
ENTITIES, RELATIONS, ROWS, BLOCKS = (int(n * SCALE) for n in (100_000, 1_000_000, 200_000, 50_000))
LARGE_LOAD = os.environ.get("TRIGPOINT_BENCH_LARGE_LOAD") == "1"  # minutes more, and 2 GB of memory
TIMES = 100
DAY = 86_400_000
START = 1_735_689_600_000  # 2025-01-01
Row = tuple[Any, ...]


class World:
    """Made-up data with the shape of real data: a few words and hubs are common, most are rare."""

    def __init__(self) -> None:
        self.rng = random.Random(9)
        letters = "etaoinshrdlucmfwypvbgk"
        self.words = ["".join(self.rng.choices(letters, k=self.rng.randint(3, 9))) for _ in range(4000)]
        self.weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(self.words))))
        self.kinds = [self.rng.choice(("guide", "concept", "project", "news")) for _ in range(ENTITIES)]
        self.ids = [str(uuid.UUID(int=self.rng.getrandbits(128), version=4)) for _ in range(ENTITIES)]
        self.by_kind = {k: [i for i, kind in enumerate(self.kinds) if kind == k] for k in set(self.kinds)}

    def word(self) -> str:
        """The commonest word stands in every tenth title, as a site's own subject does; most words are rare."""
        return self.rng.choices(self.words, cum_weights=self.weights)[0]

    def ident(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def entities(self) -> Iterator[Row]:
        for n, (ident, kind) in enumerate(zip(self.ids, self.kinds, strict=True)):
            title = " ".join(self.word() for _ in range(6)).capitalize()
            slug = title.lower().replace(" ", "-")[:150] + f"-{n}"
            folded = folded_entity(title, slug)
            concept = self.rng.choice(("standard", "model", "comparison")) if kind == "concept" else None
            moment = START + n * 1000
            yield (ident, DEFAULT_PROJECT_ID, kind, title, slug, "A summary of what this is about. " * 4, concept,
                   self.rng.choices(STATUSES, (3, 1, 8, 2))[0], moment, moment, folded)  # fmt: skip

    def relations(self) -> Iterator[Row]:
        seen = set()
        types = list(RELATION_ENDS)
        while len(seen) < RELATIONS:
            kind = self.rng.choice(types)
            ends = []
            for end in RELATION_ENDS[kind]:
                if end in EXTERNAL_KINDS:
                    ends.append((f"{end}-{self.rng.randrange(ENTITIES)}", end, None))
                else:
                    pool = self.by_kind[end]
                    ident = self.ids[pool[int(len(pool) * self.rng.random() ** 2)]]
                    ends.append((ident, end, ident))
            key = (ends[0][0], kind, ends[1][0])
            if key not in seen and ends[0][0] != ends[1][0]:
                seen.add(key)
                yield (self.ident(), DEFAULT_PROJECT_ID, kind, *ends[0], *ends[1], START + len(seen) * 10)

    def search_rows(self) -> Iterator[Row]:
        queries = [" ".join(self.word() for _ in range(self.rng.randint(1, 4))) + f" {n}" for n in range(ENTITIES // 5)]
        pages = [f"https://site.test/{self.word()}/{n}" for n in range(max(ENTITIES // 50, 1))]
        seen = set()
        while len(seen) < ROWS:
            query, page = self.rng.choice(queries), self.rng.choice(pages)
            day = START + self.rng.randrange(90) * DAY
            if (query, page, day) not in seen:
                seen.add((query, page, day))
                yield (self.ident(), DEFAULT_PROJECT_ID, self.ids[self.rng.randrange(ENTITIES)], page, query, page, query,
                       self.rng.randrange(10, 999), 3, 0.1, 4.5, day, day, START)  # fmt: skip

    def blocks(self) -> Iterator[Row]:
        for n in range(BLOCKS):
            tag = self.word()
            yield (self.ident(), DEFAULT_PROJECT_ID, self.ids[self.rng.randrange(ENTITIES)], "A claim. " * 20, "statistic",
                   START + self.rng.randrange(900) * DAY, tag, tag, START + n, START + n)  # fmt: skip


COLUMNS = {
    "entity": "id project_id entity_type title slug summary concept_kind status created_at updated_at folded",
    "entity_relation": "id project_id relation_type from_id from_kind from_entity_id to_id to_kind to_entity_id created_at",
    "search_performance": "id project_id entity_id page_url query page_folded query_folded impressions clicks ctr "
    "avg_position date_start date_end captured_at",
    "quotable_block": "id project_id entity_id text claim_type verified_until topic_tag topic_folded created_at updated_at",
}


def fill_sqlite(path: Path, data: dict[str, list[Row]]) -> None:
    connection = sqlite3.connect(path)
    connection.create_function("graph_grams", 2, gram_words, deterministic=True)
    for pragma in ("journal_mode=WAL", "synchronous=OFF", "cache_size=-400000"):
        connection.execute(f"PRAGMA {pragma}")
    for table, names in COLUMNS.items():
        columns = names.split()
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", data[table])
    connection.commit()
    connection.close()


def fill_postgresql(url: str, data: dict[str, list[Row]]) -> None:
    with psycopg.connect(url) as connection:
        for table, names in COLUMNS.items():
            with connection.cursor().copy(f"COPY {table} ({', '.join(names.split())}) FROM STDIN") as copy:
                for row in data[table]:
                    copy.write_row(row)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")  # or it would write what was filled in while we measure


class Client:
    """One connection to the backend."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def get(self, path: str, params: dict[str, Any]) -> Any:
        return self._answer("GET", f"{path}?{urlencode(params)}", None)

    def post(self, path: str, body: Any) -> Any:
        return self._answer("POST", path, orjson.dumps(body))

    def _answer(self, method: str, path: str, body: bytes | None) -> Any:
        self.connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        found = orjson.loads(answer.read())
        assert answer.status == 200, found
        return found


def measure(report: Report, name: str, environment: dict[str, str], world: World) -> None:
    rng = random.Random(4)
    with serving("trigpoint.api.routes.graph:graph_app", environment) as port:
        client = Client(port)

        def get(path: str, **params: Any) -> Callable[[], Any]:
            def call() -> Any:
                made = {k: v() if callable(v) else v for k, v in params.items()}
                return client.get(path.format(id=rng.choice(world.ids)), made)

            return call

        pages = {
            "entities": get("/api/entities"),
            "entities by type and status": get("/api/entities", entityType="news", status="archived"),
            "entities by a word": get("/api/entities", search=world.word),
            "entities by the commonest word": get("/api/entities", search=world.words[0]),
            "entities by two letters": get("/api/entities", search=lambda: rng.choice(world.words)[:2]),
            "entities by a word that is nowhere": get("/api/entities", search="qqxzjq"),
            "search rows": get("/api/seo/search-performance"),
            "search rows of a month": get("/api/seo/search-performance", dateStart="2025-01-10", dateEnd="2025-02-09"),
            "search rows by a word": get("/api/seo/search-performance", query=world.word),
            "search rows by a page": get("/api/seo/search-performance", pageUrl=world.word),
            "search rows by a word in a month": get(
                "/api/seo/search-performance", query=world.word, dateStart="2025-01-10", dateEnd="2025-02-09"
            ),
            "search rows of an entity": get("/api/seo/search-performance", entityId=lambda: rng.choice(world.ids)),
            "blocks": get("/api/quotable-blocks"),
            "blocks by topic": get("/api/quotable-blocks", topicTag=world.word),
            "blocks still verified": get("/api/quotable-blocks", verifiedUntilAfter="2026-06-01"),
            "page 1,000 by number": get("/api/entities", page=max(int(1000 * SCALE), 2)),
        }
        for label, call in pages.items():
            _, p95 = percentile_ms(call, TIMES)
            report.row(f"{name}: {label}, p95", p95, "ms", bar="<= 20")
        cursor = deep_cursor(client)
        _, p95 = percentile_ms(get("/api/entities", cursor=cursor), TIMES)
        report.row(f"{name}: page 1,000 by cursor, p95", p95, "ms", bar="<= 20")
        _, p95 = percentile_ms(get("/api/entities/{id}/graph", depth=2), TIMES)
        report.row(f"{name}: graph of depth 2, p95", p95, "ms", bar="<= 60")
        hub = world.ids[world.by_kind["concept"][0]]
        _, p95 = percentile_ms(get(f"/api/entities/{hub}/graph", depth=2), TIMES)
        report.row(f"{name}: graph of depth 2 at a hub, p95", p95, "ms", bar="<= 60")
        report.row(f"{name}: ingest of 25,000 search rows", ingest(client, world), "s", bar="<= 3")


def deep_cursor(client: Client) -> str:
    """The cursor that leads to page 1,000 of 20 rows, reached by pages of 100."""
    cursor = None
    for _ in range(max(int(200 * SCALE), 2)):
        params = {"limit": 100, **({"cursor": cursor} if cursor else {})}
        cursor = client.get("/api/entities", params)["pagination"]["nextCursor"]
    return str(cursor)


def ingest(client: Client, world: World) -> float:
    rows = [
        {
            "query": f"{world.word()} {world.word()} {n % 5000}",
            "pageUrl": f"https://site.test/new/{n % 700}",
            "impressions": 50,
            "clicks": 5,
            "ctr": 0.1,
            "avgPosition": 7.5,
            "dateStart": f"2026-01-{n % 28 + 1:02d}",
            "dateEnd": f"2026-01-{n % 28 + 1:02d}",
            "entityId": world.ids[n % len(world.ids)],
        }
        for n in range(25_000)
    ]
    unique = list({(r["query"], r["pageUrl"], r["dateStart"]): r for r in rows}.values())
    start = time.perf_counter()
    answer = client.post("/api/seo/search-performance/ingest", {"rows": unique})
    taken = time.perf_counter() - start
    assert answer["data"]["inserted"] == len(unique)
    return taken


def loaded(relations: int = 50_000, **settings: Any) -> float:
    """How long a file of entities and ten times as many relations takes, once it is read."""
    rng = random.Random(6)
    half = relations // 20
    ends = [(start, end) for start in range(half) for end in rng.sample(range(half), 20)]
    document = {
        "project": {"slug": f"loaded-{relations}", "name": "Loaded"},
        "entities": [
            {"entityType": kind, "slug": f"e{n}", "title": f"Entity {n}"}
            for kind in ("guide", "concept")
            for n in range(half)
        ],
        "relations": [
            {"relationType": "GUIDE_USES_CONCEPT", "from": f"guide/e{start}", "to": f"concept/e{end}"}
            for start, end in ends
        ],
    }
    store = GraphStore(load_settings(**settings))
    try:
        start = time.perf_counter()
        with store.writing() as connection:
            summary = load_document(connection, document)
        taken = time.perf_counter() - start
        assert summary["relations created"] == relations
        return taken
    finally:
        store.close()


def report_loads(report: Report, name: str, **settings: Any) -> None:
    report.row(f"{name}: load of 50,000 relations", loaded(**settings), "s", bar="<= 6")
    if LARGE_LOAD:
        report.row(f"{name}: load of 1,000,000 relations", loaded(1_000_000, **settings), "s", bar="<= 300")


def run(report: Report) -> None:
    world = World()
    data = {
        "entity": list(world.entities()),
        "entity_relation": list(world.relations()),
        "search_performance": list(world.search_rows()),
        "quotable_block": list(world.blocks()),
    }
    folder = Path(tempfile.mkdtemp(prefix="trigpoint-bench-"))
    try:
        migrate(trigpoint_data_dir=folder / "data")
        fill_sqlite(folder / "data" / "graph" / "graph.db", data)
        measure(report, "SQLite", {"TRIGPOINT_DATA_DIR": str(folder / "data")}, world)
        report_loads(report, "SQLite", trigpoint_data_dir=folder / "data")
        server = pgserver.get_server(folder / "pg", cleanup_mode="delete")
        try:
            migrate(database_url=server.get_uri())
            fill_postgresql(server.get_uri(), data)
            measure(report, "PostgreSQL", {"DATABASE_URL": server.get_uri()}, world)
            report_loads(report, "PostgreSQL", database_url=server.get_uri())
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def migrate(**settings: Any) -> None:
    store = GraphStore(load_settings(**settings))
    store.migrate()
    store.close()
