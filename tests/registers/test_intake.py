"""Files that a person gives: every one accounted for, archives unpacked safely, odd kinds read or listed with the reason."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections import Counter
from pathlib import Path

import docx
import pymupdf
import pytest
from hypothesis import given as any_of
from hypothesis import settings as examples
from hypothesis import strategies as st

from trigpoint.config import Settings
from trigpoint.errors import DetailsMissing, InvalidInput, InvalidReference
from trigpoint.registers import archives
from trigpoint.registers.archives import ArchiveRefused, Budget, unpack
from trigpoint.registers.filters import Wanted
from trigpoint.registers.folder import FolderRegister, applications_dir, folder_of
from trigpoint.registers.intake import Given, TakenFile, files_below, take_in
from trigpoint.registers.submission import Stated, submit_files

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100


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


def word(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [c for row in table.rows for c in row.cells], ["Use", "Spaces", "Offices", "42"], strict=True
    ):
        cell.text = text
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def taken_from(folder: Path, into: Path) -> tuple[TakenFile, ...]:
    return take_in(files_below(folder), into)


def test_two_hundred_odd_files_are_all_accounted_for(tmp_path: Path, settings: Settings) -> None:
    given = tmp_path / "given"
    given.mkdir()
    for number in range(150):
        (given / f"{number:08x}").write_bytes(pdf(f"Document {number}"))  # names that tell nothing
    for number in range(20):
        (given / f"copy {number}.pdf").write_bytes((given / f"{number:08x}").read_bytes())
    for number in range(15):
        (given / f"Drawing {number}.png").write_bytes(PNG + bytes([number]))
    message = OLE + "__properties_version1.0".encode("utf-16-le")
    (given / "letter.msg").write_bytes(message)
    (given / "statement.docx").write_bytes(word("Cycle parking is proposed for 42 cycles."))
    (given / "broken.docx").write_bytes(zipped(**{"word/document.xml": b"<not"}))
    (given / "note.txt").write_text("A plain note.\fIts second page.")
    (given / "mail.eml").write_bytes(b"Subject: Site\r\nFrom: a@b.example\r\n\r\nPlease see the plan.\r\n")
    (given / "old.doc").write_bytes(OLE + "WordDocument".encode("utf-16-le"))
    (given / "nothing.pdf").write_bytes(b"")
    (given / "Thumbs.db").write_bytes(b"x")
    (given / "what.xyz").write_bytes(b"\0\1\2\3")
    inner = zipped(**{"deep.pdf": pdf("deep")})
    (given / "papers.zip").write_bytes(
        zipped(**{"Plans/a.pdf": pdf("in the archive"), "again.pdf": pdf("Document 3"), "more.zip": inner})
    )
    (given / "broken.zip").write_bytes(b"PK\x03\x04 and then nothing")
    count = len(list(given.iterdir()))
    assert count >= 196

    taken = taken_from(given, tmp_path / "taken")
    outcomes = Counter(one.outcome for one in taken)
    assert len([one for one in taken if one.archive is None]) == count  # one line for each file given
    assert outcomes["duplicate"] in (20, 21)  # the copies, and the one in the archive if its bytes are the same
    assert (outcomes["converted"], outcomes["unpacked"], outcomes["ignored"]) == (3, 2, 1)
    stored = sorted(path.name for path in (tmp_path / "taken").iterdir())
    assert stored == sorted(one.file for one in taken if one.file)
    by_name = {one.name: one for one in taken}
    assert "Outlook message" in by_name["letter.msg"].reason
    assert "Word file cannot be read" in by_name["broken.docx"].reason
    assert by_name["old.doc"].reason.startswith("A Word 97 file")
    assert by_name["nothing.pdf"].reason == "The file is empty"
    assert "cannot be read" in by_name["broken.zip"].reason
    assert (by_name["a.pdf"].archive, by_name["a.pdf"].category) == ("papers.zip", "Plans")
    assert by_name["deep.pdf"].archive == "more.zip"
    assert all(one.reason for one in taken if one.outcome not in ("kept",))


def test_word_text_and_mail_can_be_read_afterwards(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "statement.docx").write_bytes(word("Cycle parking is proposed."))
    (given / "note.txt").write_bytes("Caf\xe9 on page one.\fPage two.".encode("cp1252"))
    (given / "mail.eml").write_bytes(b"Subject: Site visit\r\nFrom: jo@home.example\r\n\r\nSee the plan.\r\n")
    files = {one.name: tmp_path / "taken" / str(one.file) for one in taken_from(given, tmp_path / "taken")}

    def pages(name: str) -> list[str]:
        with pymupdf.open(files[name]) as document:
            return [page.get_text() for page in document]

    assert "Cycle parking is proposed." in pages("statement.docx")[0]
    assert "Offices" in pages("statement.docx")[0]
    assert [text.strip() for text in pages("note.txt")] == ["Café on page one.", "Page two."]
    assert "See the plan." in pages("mail.eml")[0]
    assert "jo@home.example" not in pages("mail.eml")[0]


@pytest.mark.parametrize(
    "name", ["../../evil.pdf", "/etc/evil.pdf", "..\\..\\evil.pdf", "C:\\evil.pdf", "a/../../evil.pdf"]
)
def test_no_entry_of_an_archive_leaves_the_folder(name: str, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "x.zip").write_bytes(zipped(**{name: pdf("evil")}))
    taken_from(given, tmp_path / "taken")
    written = list(tmp_path.rglob("*.pdf"))
    assert [path.parent for path in written] == [tmp_path / "taken"]


def test_links_and_encrypted_entries_are_listed_and_not_followed(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo("link.pdf")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("secret.pdf", pdf("secret"))
    content = bytearray(made.getvalue())
    at = content.find(b"PK\x01\x02", content.find(b"PK\x01\x02") + 4)  # the second entry of the directory
    content[at + 8 : at + 10] = struct.pack("<H", 1)
    path = tmp_path / "x.zip"
    path.write_bytes(bytes(content))
    found = list(unpack(path, tmp_path / "out", Budget()))
    assert [(one.name, one.path) for one in found] == [("link.pdf", None), ("secret.pdf", None)]
    assert "link" in found[0].problem
    assert "encrypted" in found[1].problem


def test_a_bomb_is_refused_and_nothing_is_kept(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_RATIO_FROM_BYTES", 1 << 20)
    given = tmp_path / "given"
    given.mkdir()
    (given / "a.pdf").write_bytes(pdf("a"))
    (given / "bomb.zip").write_bytes(zipped(**{"zeros.pdf": b"\0" * (30 << 20)}))
    with pytest.raises(ArchiveRefused, match="expands more than"):
        submit_files(settings, "one", files_below(given), Stated(authority="york"))
    assert not folder_of(settings, "one").exists()
    monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 1)
    with pytest.raises(ArchiveRefused, match="exceeds the limit"):
        list(unpack(given / "bomb.zip", tmp_path / "out", Budget(total=1 << 20)))
    with pytest.raises(ArchiveRefused, match="files in archives"):
        list(unpack(given / "bomb.zip", tmp_path / "out2", Budget(entries=0)))


@any_of(content=st.binary(max_size=400), cut=st.integers(0, 60))
@examples(max_examples=60, deadline=None)
def test_damaged_archives_raise_only_our_own_error(
    content: bytes, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("zip")
    whole = zipped(**{"a.pdf": b"x" * 300, "b.pdf": content})
    (folder / "x.zip").write_bytes(whole[:cut] + content[:20] + whole[cut + 7 :])
    try:
        list(unpack(folder / "x.zip", folder / "out", Budget()))
    except InvalidInput as error:
        assert error.message


def test_a_link_in_a_folder_is_listed_and_not_followed(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "secret.txt").symlink_to("/etc/passwd")
    (given / "gone.pdf").symlink_to(tmp_path / "nowhere.pdf")
    (given / "note.txt").write_text("A cycle store is proposed.")
    taken = take_in(files_below(given), tmp_path / "kept")
    assert [(one.name, one.outcome) for one in taken] == [
        ("gone.pdf", "unreadable"),
        ("note.txt", "converted"),
        ("secret.txt", "unreadable"),
    ]
    assert "not followed" in taken[0].reason


def test_an_archive_deep_within_archives_is_listed(tmp_path: Path) -> None:
    third = zipped(**{"a.pdf": pdf("a")})
    second = zipped(**{"third.zip": third})
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "first.zip").write_bytes(zipped(**{"second.zip": second}))
    taken = {one.name: one for one in taken_from(tmp_path / "given", tmp_path / "taken")}
    assert taken["third.zip"].outcome == "unreadable"
    assert "within archives" in taken["third.zip"].reason


# --- what is known about the application

FORM = (
    "Application Form\nSite address: 1 High Street, York\nProposal: 12 flats\nDate: 15 May 2025\nCity of York Council"
)


def submitted(settings: Settings, tmp_path: Path, stated: Stated, **files: bytes) -> FolderRegister:
    given = []
    for number, (name, content) in enumerate(files.items()):
        path = tmp_path / f"given-{number}"
        path.write_bytes(content)
        given.append(Given(name, path))
    submit_files(settings, "one", given, stated)
    return FolderRegister(settings, "one")


def test_what_is_missing_is_taken_from_the_application_form_and_said(settings: Settings, tmp_path: Path) -> None:
    lines = b"".join(pdf_lines(FORM))
    register = submitted(settings, tmp_path, Stated(), **{"Application Form.pdf": lines, "TA.pdf": pdf("TA")})
    application = register.application()
    assert (application.address, application.proposal) == ("1 High Street, York", "12 flats")
    assert str(application.date_received) == "2025-05-15"
    assert register.given.authority == "york"
    assert register.given.reference.startswith("UPLOAD-")
    notes = " ".join(register.given.notes())
    assert "Taken from the application form: address, authority, date received, proposal" in notes
    assert "No date of validation was given" in notes


def pdf_lines(text: str) -> list[bytes]:
    with pymupdf.open() as document:
        page = document.new_page()
        for number, line in enumerate(text.splitlines()):
            page.insert_text((72, 72 + 20 * number), line)
        return [document.tobytes()]


def test_what_nobody_says_is_asked_for_and_nothing_is_kept(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(DetailsMissing, match="date on which the application was validated") as missing:
        submitted(settings, tmp_path, Stated(authority="Leeds"), **{"TA.pdf": pdf("TA")})
    assert missing.value.details["missing"] == ["date_validated"]
    assert list(applications_dir(settings).iterdir()) == []


def test_files_that_cannot_be_read_at_all_are_refused_with_their_reasons(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"None of the 1 files can be read\. x\.msg: An Outlook message"):
        submitted(settings, tmp_path, Stated(), **{"x.msg": OLE + "__properties_version1.0".encode("utf-16-le")})
    with pytest.raises(InvalidReference):
        submitted(settings, tmp_path, Stated(reference="../x"), **{"a.pdf": pdf("a")})
    with pytest.raises(InvalidInput, match="The address contains control characters"):
        submitted(settings, tmp_path, Stated(address="1 High\x1b[31m Street"), **{"a.pdf": pdf("a")})
    with pytest.raises(InvalidInput, match="The proposal has 5,001 characters; at most 5,000 are allowed"):
        submitted(settings, tmp_path, Stated(proposal="x" * 5_001), **{"a.pdf": pdf("a")})
    with pytest.raises(InvalidReference):
        FolderRegister(settings, "../../etc")
    with pytest.raises(InvalidInput, match="is not a folder"):
        files_below(tmp_path / "nowhere")


def test_only_toggles_leave_given_files_out(settings: Settings, tmp_path: Path) -> None:
    from trigpoint.dates import parse_day

    stated = Stated(authority="york", date_validated=parse_day("2025-05-21"))
    names = [
        "Flood Risk Assessment.pdf",
        "OCC consultation response.pdf",
        "Letter of objection.pdf",
        "Plan superseded.pdf",
    ]
    register = submitted(settings, tmp_path, stated, **{name: pdf(name) for name in names})
    run = register.collect(skip_filter=False, wanted=Wanted())
    assert [one.document.file_name for one in run.downloads] == ["Flood Risk Assessment.pdf"]
    assert [verdict.rule for _, verdict in run.filtered] == ["consultation title", "public title", "superseded"]
    everything = register.collect(skip_filter=False, wanted=Wanted(True, True, True))
    assert len(everything.downloads) == 4
