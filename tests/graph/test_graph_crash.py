"""A process that is killed while it writes many rows leaves none of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest
from sqlalchemy import text

_KILLED = """
import os, signal, sys, json
from pathlib import Path
from trigpoint.config import load_settings
from trigpoint.graph import bulk
from trigpoint.graph.store import GraphStore
import trigpoint.graph.ingest as ingest, trigpoint.graph.load as load

bulk._AT_ONCE = 100
inserted = bulk.insert_rows
def insert_rows(connection, table, rows, *rest, **named):
    inserted(connection, table, rows, *rest, **named)
    if table.name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
load.insert_rows = ingest.insert_rows = insert_rows

what = json.load(sys.stdin)
with GraphStore(load_settings(**json.loads(sys.argv[1]))).writing() as connection:
    if sys.argv[2] == "search_performance":
        ingest.ingest_rows(connection, "00000000-0000-4000-a000-000000000001", ingest.parse_rows(what))
    else:
        load.load_document(connection, what)
"""
ENTITIES = [{"entityType": "concept", "slug": f"c{n}", "title": f"Concept {n}"} for n in range(300)]
RELATIONS = [
    {"relationType": "CONCEPT_RELATES_TO_CONCEPT", "from": f"concept/c{n}", "to": f"concept/c{n + 1}"}
    for n in range(299)
]
BLOCKS = [{"entity": f"concept/c{n}", "text": f"Text {n}", "claimType": "statistic"} for n in range(300)]
ROW = {"impressions": 9, "clicks": 1, "ctr": 0.1, "avgPosition": 2, "dateStart": "2025-01-01", "dateEnd": "2025-01-02"}
COUNTED = ("entity", "entity_text", "entity_relation", "quotable_block", "search_performance", "event_log")


@pytest.mark.parametrize("table", ["entity", "entity_relation", "quotable_block", "search_performance"])
def test_a_killed_write_leaves_nothing(database: dict[str, Any], store, table):
    store.migrate()
    what: Any = {"project": {"slug": "p", "name": "P"}, "entities": ENTITIES, "relations": RELATIONS, "blocks": BLOCKS}
    if table == "search_performance":
        what = [ROW | {"query": f"q{n}", "pageUrl": "https://x.test"} for n in range(300)]
    settings = json.dumps({name: str(value) for name, value in database.items()})
    command = [sys.executable, "-W", "ignore", "-c", _KILLED, settings, table]
    ended = subprocess.run(command, input=json.dumps(what).encode(), timeout=300, check=False)
    assert ended.returncode == -signal.SIGKILL
    with store.snapshot() as connection:
        left = {name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in COUNTED}
        projects = connection.execute(text("SELECT count(*) FROM project")).scalar_one()
        searched = connection.execute(text("SELECT coalesce(sum(n), 0) FROM search_query")).scalar_one()
    assert (left, projects, searched) == (dict.fromkeys(COUNTED, 0), 1, 0)
