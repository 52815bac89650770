"""`trigpoint review --documents FOLDER`: what is refused, asked for, taken from the form and said; every file accounted for."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import docx
import pymupdf
import pytest

from trigpoint.cli.main import main

PROGRAM = Path(sys.executable).with_name("trigpoint")
KNOWN = ("--ref", "24/00593/FUL", "--authority", "York", "--validated", "2025-05-21")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
FORM = """Application for Planning Permission
City of York Council
Site address: Land at Low Lane, Fulford
Proposal: Erection of 24 dwellings with access
Application number: 24/00593/FUL
"""

Refused = Callable[..., str]


def pdf(text: str) -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), text)
        return document.tobytes()


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    return folder


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Run the command in this process; it must end with one line, and leave nothing in the data folder."""
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))

    def typed(*arguments: str | Path) -> str:
        monkeypatch.setattr(
            "sys.argv", ["trigpoint", "review", "--local", "--out", str(tmp_path), *map(str, arguments)]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        assert not [path for path in (tmp_path / "data" / "applications").glob("*/*") if path.is_file()]
        (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("trigpoint: ")]
        return line

    return typed


def test_a_folder_that_is_none_and_an_empty_one_are_said(papers: Path, refused: Refused) -> None:
    assert f"{papers}-2" in refused("--documents", f"{papers}-2", *KNOWN)
    assert "contains no files" in refused("--documents", papers, *KNOWN)
    file = papers / "one.pdf"
    file.write_bytes(pdf("one"))
    assert "one.pdf" in refused("--documents", file, *KNOWN)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "Use --validated YYYY-MM-DD and --authority NAME"),
        (("--authority", "York"), "the date on which the application was validated"),
        (("--validated", "2025-05-21"), "the planning authority"),
        (("--authority", "York", "--validated", "21/05/2025"), "Expected YYYY-MM-DD"),
        (("--authority", "York", "--validated", "2025-02-30"), "there is no such day"),
        ((*KNOWN, "--ref", "../../etc"), "Invalid application reference"),
        ((*KNOWN, "--authority", "!!!"), "is not the name of an authority"),
    ],
)
def test_what_is_missing_or_wrong_is_said(given: tuple[str, ...], said: str, papers: Path, refused: Refused) -> None:
    (papers / "statement.pdf").write_bytes(pdf("A statement"))
    assert said in refused("--documents", papers, *given)


def test_details_without_a_folder_are_refused(refused: Refused) -> None:
    assert "go with --documents" in refused("25/01178/REM", "--validated", "2025-05-21")
    assert "Name the reference of an application, or --documents" in refused()


def test_nothing_but_unreadable_files_is_refused_with_their_reasons(papers: Path, refused: Refused) -> None:
    (papers / "letter.msg").write_bytes(OLE + "__properties_version1.0".encode("utf-16-le"))
    (papers / "broken.docx").write_bytes(zipped(**{"word/document.xml": b"<not"}))
    (papers / "nothing.pdf").write_bytes(b"")
    line = refused("--documents", papers, *KNOWN)
    assert "None of the 3 files can be read" in line
    assert "Outlook message" in line


def test_a_zip_bomb_is_refused_and_nothing_is_kept(papers: Path, refused: Refused) -> None:
    (papers / "statement.pdf").write_bytes(pdf("A statement"))
    (papers / "papers.zip").write_bytes(zipped(**{"zeros.pdf": b"\0" * 60_000_000}))
    assert "papers.zip" in refused("--documents", papers, *KNOWN)


def test_at_a_terminal_what_is_missing_is_asked_for(papers: Path, tmp_path: Path) -> None:
    (papers / "statement.pdf").write_bytes(pdf("A statement"))
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, "review", "--local", "--documents", papers, "--authority", "York", "--out", tmp_path],
        env=os.environ | {"TRIGPOINT_DATA_DIR": str(tmp_path / "data")},
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as asking:  # fmt: skip
        os.write(ours, b"2025-02-30\n")
        said, _ = asking.communicate(timeout=300)
    os.close(ours)
    os.close(theirs)
    assert "When was the application validated (YYYY-MM-DD)?" in said
    assert "there is no such day" in said
    assert asking.returncode == 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_hundred_files_with_names_that_tell_nothing_are_all_accounted_for(papers: Path, tmp_path: Path) -> None:
    for number in range(150):
        (papers / f"{number:08x}").write_bytes(pdf(f"Document {number}. The scheme provides {number} cycle spaces."))
    for number in range(20):
        (papers / f"copy {number}.pdf").write_bytes((papers / f"{number:08x}").read_bytes())
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 300, 200), False)
    for number in range(15):
        picture.set_rect(pymupdf.IRect(0, 0, 300, 200), (number, 255, 255))
        (papers / f"Drawing {number}.png").write_bytes(picture.tobytes("png"))
    (papers / "Application Form.pdf").write_bytes(pdf(FORM))
    (papers / "letter.msg").write_bytes(OLE + "__properties_version1.0".encode("utf-16-le"))
    statement = docx.Document()
    statement.add_paragraph("Cycle parking is proposed for 42 cycles.")
    statement.save(str(papers / "statement.docx"))
    (papers / "damaged.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (papers / "..%2f..%2fetc%2fpasswd.pdf").write_bytes(pdf("A hostile name"))
    inner = {"Plans/a.pdf": pdf("In the archive"), "../../out.pdf": pdf("A hostile entry")}
    (papers / "papers.zip").write_bytes(zipped(**inner))
    given = [path for path in papers.iterdir() if path.is_file()]
    out = tmp_path / "review.json"
    said = subprocess.run(
        [PROGRAM, "review", "--documents", papers, "--validated", "2025-05-21", "--local", "--format", "json", "--out", out],
        env=os.environ | {"TRIGPOINT_DATA_DIR": str(tmp_path / "data"), "TRIGPOINT_MODEL": ""},
        capture_output=True, text=True, timeout=850,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    result = json.loads(out.read_text())
    assert (result["application"]["authority"], result["application"]["reference"]) == ("york", "24/00593/FUL")
    assert "24 dwellings" in result["application"]["proposal"]
    assert "application form" in said.stderr  # what was taken from it is said
    account = json.loads(next((tmp_path / "data" / "applications").glob("*/*.json")).read_text())
    outcomes = Counter(one["outcome"] for one in account["files"])
    assert sum(one["archive"] is None for one in account["files"]) == len(given)
    assert outcomes["duplicate"] == 20
    assert "unreadable: letter.msg" in said.stderr
    documents = result["metadata"]["documents"]
    stored = outcomes["kept"] + outcomes["converted"]
    named = len(documents["not_read"]) + len(documents["left_out"])
    assert documents["ingested"] + documents["failed"] + named >= stored, documents
    assert not list(tmp_path.rglob("out.pdf")) or all("applications" in str(path) for path in tmp_path.rglob("out.pdf"))
    assert not (tmp_path / "etc").exists()
