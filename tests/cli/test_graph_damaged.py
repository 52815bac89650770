"""A graph that cannot be read: the file is named, in one line on the terminal, in the envelope of the API."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from trigpoint.api.routes.graph import graph_app
from trigpoint.cli.main import main
from trigpoint.config import Settings
from trigpoint.graph.store import GraphStore


def not_a_database(file: Path) -> None:
    file.write_bytes(b"not a database, " * 200)


def damaged_pages(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(b"\xa5" * 200_000)


def of_a_later_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (not_a_database, "file is not a database"),
        (damaged_pages, "malformed"),
        (of_a_later_version, "version 9999, which this Trigpoint does not know"),
    ],
)
def test_a_graph_that_cannot_be_read_is_named(
    settings: Settings,
    damage: Callable[[Path], None],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = GraphStore(settings)
    store.migrate()
    store.close()
    file = settings.data_dir / "graph" / "graph.db"
    damage(file)
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(settings.data_dir))
    monkeypatch.setattr(sys, "argv", ["trigpoint", "graph", "projects"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"trigpoint: The graph's database {file} cannot be used (")
    assert said in line
    assert "DATABASE_URL" not in line
    answer = TestClient(graph_app(settings)).get("/api/projects")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "SERVER_ERROR"


def test_what_the_database_said_stands_on_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:9/none")
    monkeypatch.setattr(sys, "argv", ["trigpoint", "graph", "projects"])
    with pytest.raises(SystemExit):
        main()
    (line,) = capsys.readouterr().err.splitlines()
    assert "Check DATABASE_URL" in line
    assert "\N{REPLACEMENT CHARACTER}" not in line
    assert "secret" not in line
