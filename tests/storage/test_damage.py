"""Damage in files: found in little time, told apart from what a crash leaves, cut or copied without loss before it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import redis

from trigpoint.config import Settings
from trigpoint.errors import StoreDamaged, StoreInUse
from trigpoint.storage import aof
from trigpoint.storage import repair as repairing
from trigpoint.storage.chroma import ChromaStore
from trigpoint.storage.damage import damage_of, require_whole
from trigpoint.storage.keeper import wait_until_gone
from trigpoint.storage.redis import redis_server
from trigpoint.storage.repair import repair


def written(*commands: tuple[bytes, ...]) -> bytes:
    return b"".join(
        b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words) for words in commands
    )


def log_of(folder: Path, content: bytes) -> Path:
    path = folder / "appendonlydir" / "appendonly.aof.1.incr.aof"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    (path.parent / aof.MANIFEST).write_text(f"file {path.name} seq 1 type i\n")
    return path


FIRST = written((b"SET", b"review:a", b"1"))
SECOND = written((b"MULTI",), (b"SET", b"review:b", b"1"), (b"SET", b"job:b", b"1"), (b"EXEC",))


def test_a_whole_log_is_whole(tmp_path: Path) -> None:
    log_of(tmp_path, FIRST + b"#TS:1\r\n" + SECOND)
    assert aof.find_break(tmp_path) is None


@pytest.mark.parametrize("missing", [1, 5, 30, 60])
def test_an_end_that_a_crash_cut_off_is_no_damage(tmp_path: Path, missing: int) -> None:
    log_of(tmp_path, (FIRST + SECOND)[:-missing])
    assert aof.find_break(tmp_path) is None


def test_damage_within_a_transaction_keeps_what_came_before_all_of_it(tmp_path: Path) -> None:
    path = log_of(tmp_path, FIRST + SECOND.replace(b"$5\r\njob:b", b"?5\r\njob:b") + FIRST)
    broken = aof.find_break(tmp_path)
    assert broken is not None
    assert broken.whole == len(FIRST)
    assert broken.lost_kinds() == {"review": 2}
    aof.cut_off(broken)
    assert path.read_bytes() == FIRST
    assert aof.find_break(tmp_path) is None


def test_a_log_damaged_in_the_middle_is_repaired_up_to_the_damage(settings: Settings) -> None:
    with redis_server(settings) as url, redis.Redis.from_url(url) as client:
        client.set("review:before", "kept")
        client.set("review:damaged", "here")
        client.set("review:after", "cut")
    wait_until_gone(settings.data_dir / "redis")
    (path,) = (settings.data_dir / "redis" / "appendonlydir").glob("*.incr.aof")
    path.write_bytes(path.read_bytes().replace(b"$14\r\nreview:damaged", b"$xx\r\nreview:damaged"))
    with pytest.raises(StoreDamaged, match=r"embedded Valkey in .*trigpoint repair"), redis_server(settings):
        pass
    wait_until_gone(settings.data_dir / "redis")
    (done,) = repair(settings)
    assert "review (1)" in done.done
    with redis_server(settings) as url, redis.Redis.from_url(url) as client:
        assert client.get("review:before") == b"kept"
        assert client.get("review:after") is None


def test_a_damaged_snapshot_of_valkey_is_named_and_left_alone(settings: Settings) -> None:
    with redis_server(settings) as url, redis.Redis.from_url(url) as client:
        client.set("review:a", "1")
    wait_until_gone(settings.data_dir / "redis")
    (path,) = (settings.data_dir / "redis" / "appendonlydir").glob("*.base.rdb")
    content = bytearray(path.read_bytes())
    content[12:40] = b"\xff" * 28
    path.write_bytes(content)
    (said,) = repair(settings)
    assert not said.repaired
    assert str(path) in said.what
    assert "trigpoint restore" in said.done
    assert path.read_bytes() == content


def database(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table t (n integer primary key, word text)")
        connection.execute("create index words on t (word)")
        connection.executemany("insert into t (word) values (?)", [(f"word {n}" * 20,) for n in range(2000)])
        connection.commit()
    return path


def overwrite(path: Path, page: int, pages: int) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * page)
        file.write(b"\xa5" * 4096 * pages)


def test_a_database_is_whole_missing_or_damaged(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db")
    assert damage_of(path) is None
    assert damage_of(tmp_path / "none.db") is None
    overwrite(path, 5, 20)
    assert damage_of(path) is not None
    with pytest.raises(StoreDamaged, match=r"The store is damaged: .*a\.db .*trigpoint repair"):
        require_whole(path, "The store")


def test_a_table_whose_key_has_another_order_than_its_columns_is_whole(tmp_path: Path) -> None:
    """SQLite 3.40 (`pragma quick_check`) finds NULL in such a table, and every library with tags has one."""
    path = tmp_path / "library.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "create table tag (no integer not null, tag text not null, primary key (tag, no)) without rowid"
        )
        database.execute("insert into tag values (1, 'a')")
        database.commit()
    assert damage_of(path) is None


def test_a_vector_store_with_a_damaged_file_is_named_at_once(settings: Settings) -> None:
    folder = settings.chroma_dir("documents")
    folder.mkdir(parents=True)
    (folder / "chroma.sqlite3").write_bytes(b"not a database, " * 300)
    with pytest.raises(StoreDamaged, match=r"chroma\.sqlite3 .*trigpoint repair"):
        ChromaStore(settings, "documents")


def test_a_database_with_a_damaged_index_is_rebuilt_with_all_its_rows(settings: Settings) -> None:
    path = database(settings.data_dir / "graph" / "graph.db")
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("select rootpage from sqlite_master where name = 'words'").fetchone()
    overwrite(path, root - 1, 1)
    assert damage_of(path) is not None
    (done,) = repair(settings)
    if "all of its rows" in done.done:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("select count(*) from t").fetchone() == (2000,)
    else:
        assert not path.exists()
    assert (next((settings.data_dir / "damaged").iterdir()) / "graph" / "graph.db").is_file()
    assert repair(settings) == []


def test_nothing_is_repaired_while_somebody_uses_the_folder(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairing, "LEAVING_SECONDS", 0.5)
    with redis_server(settings), pytest.raises(StoreInUse, match="Stop every Trigpoint"):
        repair(settings)


@pytest.mark.parametrize("damage", ["missing", "empty", "garbled"])
def test_a_lost_list_of_valkeys_log_is_named_and_rebuilt_and_loses_nothing(settings: Settings, damage: str) -> None:
    folder = settings.data_dir / "redis"
    with redis_server(settings) as url, redis.Redis.from_url(url) as client:
        client.set("review:a", "1")
    wait_until_gone(folder)
    manifest = folder / "appendonlydir" / aof.MANIFEST
    if damage == "missing":
        manifest.unlink()
    else:
        manifest.write_bytes(b"" if damage == "empty" else b"file \xd4\x00\xff" + manifest.read_bytes()[8:])
    with pytest.raises(StoreDamaged, match=r"manifest.*trigpoint repair"), redis_server(settings):
        pass
    (done,) = repair(settings)
    assert done.repaired
    with redis_server(settings) as url, redis.Redis.from_url(url) as client:
        assert client.get("review:a") == b"1"


def test_a_log_without_its_snapshot_is_not_put_together(settings: Settings) -> None:
    folder = settings.data_dir / "redis"
    with redis_server(settings):
        pass
    wait_until_gone(folder)
    (folder / "appendonlydir" / "appendonly.aof.1.base.rdb").unlink()
    with pytest.raises(StoreDamaged, match=r"base\.rdb is missing"), redis_server(settings):
        pass
    (told,) = repair(settings)
    assert not told.repaired
    assert "Restore a backup" in told.done
