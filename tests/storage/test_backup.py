"""Backups: what they refuse, what they leave out, and that nothing is changed when they fail."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
import redis

from trigpoint.config import Settings, load_settings
from trigpoint.errors import BackupError
from trigpoint.storage.backup import back_up
from trigpoint.storage.chroma import ChromaStore
from trigpoint.storage.redis import redis_server
from trigpoint.storage.restore import restore


@pytest.fixture
def filled(settings: Settings) -> Settings:
    """A data folder with something in every store, and what a backup leaves out."""
    data = settings.data_dir
    for name, content in {
        "policy/NPPF/rev/nppf.pdf": "a policy",
        "downloads/25_1/plan.pdf": "a plan",
        "downloads/25_1/.half.part": "half",
        "policy/.incoming/x.pdf": "half",
        "library/lexical/1/meta.json": "derived",
    }.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(content)
    with redis_server(settings) as url, redis.Redis.from_url(url) as client:
        client.set("kept", f'{{"file_path": "{data}/policy/NPPF/rev/nppf.pdf"}}')
        client.hset("revision", mapping={"file_path": f"{data}/policy/NPPF/rev/nppf.pdf"})
        client.set("short-lived", "x", ex=1000)
    with ChromaStore(settings, "documents") as store:
        collection = store.collection("application_docs", fingerprint="f1")
        vectors = np.random.default_rng(0).random((3, 384), dtype=np.float32)
        metadatas = [{"n": n, "file_path": f"{data}/downloads/25_1/plan.pdf"} for n in range(3)]
        collection.upsert(["a", "b", "c"], vectors, ["eins", "zwei", "drei"], metadatas)
    return settings


@pytest.mark.parametrize("suffix", [".tar.zst", ".tar.gz", ".tar"])
def test_a_restored_folder_has_the_same_and_its_paths_follow(filled: Settings, tmp_path: Path, suffix: str) -> None:
    archive = tmp_path / f"b{suffix}"
    back_up(filled, archive)
    assert archive.stat().st_mode & 0o077 == 0, "it may hold secrets of webhooks"
    to = tmp_path / "new"
    restore(archive, to)
    there = load_settings(trigpoint_data_dir=to)
    assert (to / "policy/NPPF/rev/nppf.pdf").read_text() == "a policy"
    left = sorted(p.name for p in to.rglob("*") if p.name in (".half.part", ".incoming", "lexical", ".backup"))
    assert left == []
    with redis_server(there) as url, redis.Redis.from_url(url, decode_responses=True) as client:
        assert client.get("kept") == f'{{"file_path": "{to}/policy/NPPF/rev/nppf.pdf"}}'
        assert client.hget("revision", "file_path") == f"{to}/policy/NPPF/rev/nppf.pdf"
        assert 0 < client.ttl("short-lived") <= 1000
    with ChromaStore(filled, "documents") as old, ChromaStore(there, "documents") as new:
        before = old.collection("application_docs", fingerprint="f1").get(embeddings=True)
        after = new.collection("application_docs", fingerprint="f1").get(embeddings=True)
    assert [r.id for r in after] == ["a", "b", "c"]
    for one, other in zip(before, after, strict=True):
        assert (one.id, one.text, one.metadata["n"]) == (other.id, other.text, other.metadata["n"])
        assert np.array_equal(one.embedding, other.embedding)
        assert other.metadata["file_path"] == f"{to}/downloads/25_1/plan.pdf"


def test_an_open_store_is_backed_up_by_its_owner_and_goes_on(filled: Settings, tmp_path: Path) -> None:
    with ChromaStore(filled, "documents") as store:
        collection = store.collection("application_docs", fingerprint="f1")
        back_up(filled, tmp_path / "b.tar.gz")
        collection.delete(["a"])
        assert collection.count() == 2
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        rows = archive.extractfile("chroma/documents/application_docs.jsonl")
        assert rows is not None
        assert len(rows.read().splitlines()) == 3


def test_a_folder_that_is_in_use_is_not_restored_over(filled: Settings, tmp_path: Path) -> None:
    back_up(filled, tmp_path / "b.tar.gz")
    with pytest.raises(BackupError, match="is not empty"):
        restore(tmp_path / "b.tar.gz", filled.data_dir)


@pytest.mark.parametrize("suffix", [".tar.zst", ".tar.gz"])
def test_half_an_archive_changes_nothing(filled: Settings, tmp_path: Path, suffix: str) -> None:
    archive = tmp_path / f"b{suffix}"
    back_up(filled, archive)
    archive.write_bytes(archive.read_bytes()[:-2000])
    with pytest.raises(BackupError):
        restore(archive, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".new")] == []


def test_what_is_no_backup_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(b"no archive")
    with tarfile.open(tmp_path / "other.tar", "w"):
        pass
    for name, says in {
        "x.tar.gz": "not a complete backup",
        "other.tar": "not one that",
        "none.tar": "no such file",
    }.items():
        with pytest.raises(BackupError, match=says):
            restore(tmp_path / name, tmp_path / "new")
    with pytest.raises(BackupError, match=r"ends in \.tar\.zst"):
        restore(tmp_path / "x.zip", tmp_path / "new")


_MANIFEST = {"format": 1, "version": "x", "created_at": "x", "data_dir": "/x", "elsewhere": [], "files": 1, "size": 1}


@pytest.mark.parametrize(
    ("members", "manifest", "says"),
    [
        ([("victim/", ""), ("files/downloads", "../victim"), ("files/a", "")], _MANIFEST, "symbolic link"),
        ([("files/", ""), ("redis", "files"), ("files/a", "")], _MANIFEST, "symbolic link"),
        ([("files", "")], _MANIFEST, "a file files"),
        ([("files/a", "")], {**_MANIFEST, "data_dir": None}, "not one that"),
        ([("files/a", "")], {**_MANIFEST, "elsewhere": 5}, "not one that"),
        ([("files/a", "")], "[" * 100_000, "not one that"),
    ],
)
def test_an_archive_of_another_hand_is_refused_whole(
    tmp_path: Path, members: list[tuple[str, str]], manifest: object, says: str
) -> None:
    """A name that ends in a stroke is a folder, one with a target a symbolic link."""
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        for name, target in members:
            member = tarfile.TarInfo(name)
            member.type = tarfile.SYMTYPE if target else tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            member.linkname, member.mode = target, 0o755
            tar.addfile(member)
        about = tarfile.TarInfo("trigpoint-backup.json")
        about.size = len(text)
        tar.addfile(about, io.BytesIO(text.encode()))
    with pytest.raises(BackupError, match=says):
        restore(tmp_path / "b.tar", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tar"]


def test_what_a_url_points_to_is_said_to_be_elsewhere(filled: Settings, tmp_path: Path) -> None:
    elsewhere = filled.model_copy(update={"redis_url": "redis://10.0.0.1:1", "chroma_url": "http://10.0.0.1:2"})
    manifest = back_up(elsewhere, tmp_path / "b.tar.gz")
    assert manifest.elsewhere == ("REDIS_URL", "CHROMA_URL")
    restore(tmp_path / "b.tar.gz", tmp_path / "new")
    assert not (tmp_path / "new" / "redis").exists()
