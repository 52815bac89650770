"""Names and paths from outside never leave their folder; a file is whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint.errors import UnsafePath
from trigpoint.storage.files import inside, safe_name, sha256_file, write_atomic


@given(st.text())
def test_any_name_becomes_one_usable_component(name: str) -> None:
    safe = safe_name(name)
    assert safe == safe_name(safe)
    assert 0 < len(safe.encode()) <= 160
    assert "/" not in safe
    assert "\\" not in safe
    assert safe not in (".", "..")
    assert not safe.startswith(".")
    assert "\0" not in safe


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/passwd", "passwd"),
        ("..%2F..%2Fetc%2Fpasswd", "_2F.._2Fetc_2Fpasswd"),
        ("/etc/shadow", "shadow"),
        ("C:\\Windows\\win.ini", "win.ini"),
        ("CON.pdf", "_CON.pdf"),
        ("Transport Assessment (rev A).pdf", "Transport Assessment (rev A).pdf"),
        ("", "document"),
        ("...", "document"),
    ],
)
def test_hostile_and_ordinary_names(name: str, expected: str) -> None:
    assert safe_name(name) == expected


def test_a_long_name_keeps_its_extension() -> None:
    assert safe_name("x" * 300 + ".pdf").endswith("x.pdf")
    assert len(safe_name("ü" * 300 + ".pdf").encode()) <= 160


@pytest.mark.parametrize("parts", [("..",), ("a", "..", "..", "b"), ("/etc/passwd",), ("a\0b",)])
def test_a_path_that_would_leave_its_folder_is_refused(tmp_path: Path, parts: tuple[str, ...]) -> None:
    with pytest.raises(UnsafePath):
        inside(tmp_path, *parts)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to("/etc")
    with pytest.raises(UnsafePath):
        inside(tmp_path / "root", "link", "passwd")


def test_a_write_replaces_the_whole_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file.bin"
    write_atomic(target, b"one")
    write_atomic(target, b"two")
    assert target.read_bytes() == b"two"
    assert [p.name for p in target.parent.iterdir()] == ["file.bin"]
    assert sha256_file(target) == "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "file.bin"
    write_atomic(target, b"old")
    with pytest.raises(TypeError):
        write_atomic(target, "not bytes")  # type: ignore[arg-type]
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.bin"]
