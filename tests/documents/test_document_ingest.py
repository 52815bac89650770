"""Ingest: FR-001, FR-008, D1, D5, D7, D8, and every way in which a file can be wrong."""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from document_bench import CYCLE, NOISE, REF, Bench, make_pdf, other_client, prose

from trigpoint.config import load_settings
from trigpoint.documents.models import RegisteredDocument
from trigpoint.errors import (
    Cancelled,
    ExtractionFailed,
    FileMissing,
    InvalidReference,
    NoContent,
    StoreError,
    TrigpointError,
    UnsupportedFileType,
)
from trigpoint.storage.files import sha256_file


def test_a_file_becomes_a_document_that_another_chroma_client_can_read(bench: Bench):
    path = make_pdf(bench.folder / "Transport_Assessment.pdf", [CYCLE, NOISE])
    outcome = bench.add(path)
    digest = sha256_file(path)
    document_id = f"25_01178_REM_{digest[:6]}"
    assert outcome.model_dump() == {
        "status": "success",
        "document_id": document_id,
        "chunks_created": 1,
        "extraction_method": "text_layer",
        "contains_drawings": False,
        "total_chars": outcome.total_chars,
        "total_words": len(CYCLE.split()) + len(NOISE.split()),
        "account": {
            "page_count": 2,
            "pages_read": 2,
            "pages_by_ocr": 0,
            "pages_not_read": (),
            "summary": "2 pages: 2 text.",
        },
    }
    client = other_client(bench.settings)
    chunks = client.get_collection("application_docs").get(include=["documents", "metadatas", "embeddings"])
    assert chunks["ids"] == [f"{document_id}_001_000"]
    text = chunks["documents"][0]
    assert chunks["metadatas"][0] == {
        "application_ref": REF,
        "document_id": document_id,
        "source_file": "Transport_Assessment.pdf",
        "document_type": "transport_assessment",
        "page_numbers": "1,2",
        "chunk_index": 0,
        "total_chunks": 1,
        "extraction_method": "text_layer",
        "char_count": len(text),
        "word_count": len(text.split()),
    }
    assert len(chunks["embeddings"][0]) == 384
    registry = client.get_collection("document_registry").get(include=["metadatas", "embeddings"])
    assert registry["ids"] == [document_id]
    row = registry["metadatas"][0]
    assert row == {
        "file_path": str(path),
        "file_hash": digest,
        "application_ref": REF,
        "document_type": "transport_assessment",
        "chunk_count": 1,
        "ingested_at": row["ingested_at"],
        "extraction_method": "text_layer",
        "contains_drawings": False,
    }
    assert row["ingested_at"].endswith("+00:00")
    assert list(registry["embeddings"][0]) == [0.0] * 384
    client.close()


def test_headers_and_footers_are_in_the_text_and_in_no_passage(bench: Bench):
    path = bench.folder / "a.pdf"
    with pymupdf.open() as document:
        for n in range(1, 8):
            page = document.new_page()
            page.insert_text((72, 40), "Drainage Statement")
            page.insert_text((72, 200), f"Page {n} records {n * 10} soakaways, of which {n} drain to the east.")
            page.insert_text((72, 810), f"Issue 2, page {n}")
        document.save(path)
    outcome = bench.add(path)
    text = bench.store.text_of(outcome.document_id)[2]
    assert (text.count("Drainage Statement"), text.count("Issue 2, page ")) == (7, 7)
    assert outcome.total_chars == len(text)
    passages = [record.text for record in bench.store.passages.document(outcome.document_id)]
    assert sum(passage.count("soakaways") for passage in passages) >= 7
    assert not any("Drainage Statement" in passage or "Issue 2" in passage for passage in passages)


def test_pages_are_found_in_the_stored_text_with_their_account(bench: Bench):
    outcome = bench.add(make_pdf(bench.folder / "a.pdf", [CYCLE, "", NOISE]))
    content = bench.store.content_of(outcome.document_id)
    assert content is not None
    assert [" ".join(content.text[page.start : page.end].split()) for page in content.pages] == [CYCLE, "", NOISE]
    assert content.account.summary == "3 pages: 2 text, 1 blank."
    assert bench.store.text_of(outcome.document_id)[2] == content.text


def test_a_document_stored_by_the_first_version_keeps_its_text(bench: Bench):
    outcome = bench.add(make_pdf(bench.folder / "a.pdf", [prose("statement", 60)]))
    text = bench.store.text_of(outcome.document_id)[2]
    spans = [(p.start, p.end) for p in bench.store.passages.document(outcome.document_id)]
    assert all(start is not None for start, _ in spans)
    bench.layout.delete([outcome.document_id])
    bench.layout.upsert(
        [outcome.document_id], np.zeros((1, 1), dtype=np.float32), [json.dumps(spans)], [{"chunk_count": len(spans)}]
    )
    assert bench.store.content_of(outcome.document_id) is None
    assert bench.store.text_of(outcome.document_id)[2].split() == text.split()


def test_the_same_file_again_changes_nothing(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    first = bench.add(path)
    count = bench.store.passages.count()
    again = bench.add(path)
    copy = bench.add(Path(path.rename(bench.folder / "another name.pdf")))
    expected = {
        "status": "already_ingested",
        "document_id": first.document_id,
        "message": "Document has already been ingested with the same content",
        "account": first.account.model_dump(),
    }
    assert again.model_dump() == copy.model_dump() == expected
    assert bench.store.passages.count() == count


def test_the_same_file_for_another_application_is_another_document(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    first, second = bench.add(path), bench.add(path, ref="24/00001/F")
    assert first.status == second.status == "success"
    assert first.document_id.split("_")[-1] == second.document_id.split("_")[-1]
    assert bench.store.passages.count() == 2


def test_a_documents_type_comes_from_its_name_unless_it_is_given(bench: Bench):
    by_name = bench.add(make_pdf(bench.folder / "Flood Risk Assessment.pdf", [CYCLE]))
    given = bench.add(make_pdf(bench.folder / "Noise Assessment.pdf", [NOISE]), document_type="my_type")
    types = {row.document_id: row.document_type for row in bench.store.registry.of_application(REF)}
    assert types == {by_name.document_id: "flood_risk_assessment", given.document_id: "my_type"}


def test_a_second_ingest_with_another_type_corrects_the_type(bench: Bench):
    path = make_pdf(bench.folder / "Letter.pdf", [CYCLE])
    first = bench.add(path)
    count = bench.store.passages.count()
    again = bench.add(path, document_type="transport_assessment")
    assert again.status == "already_ingested"
    assert again.message.endswith("Its type was corrected from other to transport_assessment")
    assert bench.store.passages.count() == count
    assert bench.store.registry.get(first.document_id).document_type == "transport_assessment"
    (found,) = bench.search("cycle parking", document_types=["transport_assessment"])
    assert found.metadata.document_type == "transport_assessment"
    assert bench.search("cycle parking", document_types=["other"]) == []
    assert bench.add(path).message == "Document has already been ingested with the same content"


def test_a_crash_while_a_type_is_corrected_leaves_one_type_everywhere(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    path = make_pdf(bench.folder / "Letter.pdf", [CYCLE])
    document_id = bench.add(path).document_id
    with monkeypatch.context() as crash:
        crash.setattr(bench.store.passages, "write", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            bench.add(path, document_type="elevation")
    assert bench.store.registry.get(document_id).document_type == "elevation"
    assert [hit.metadata.document_type for hit in bench.search("cycle", document_types=["elevation"])] == ["elevation"]
    assert bench.search("cycle", document_types=["other"]) == []
    bench.add(path, document_type="elevation")
    assert {p.metadata["document_type"] for p in bench.store.passages.document(document_id)} == {"elevation"}


def carrying(path: Path, text: str, **files: bytes) -> Path:
    """A PDF with this text, and files inside it; `__` in a name is a dot."""
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_textbox((50, 50, 545, 800), text, fontsize=9)
        for name, content in files.items():
            document.embfile_add(name, content, filename=name.replace("__", "."))
        document.save(path)
    return path


def test_supported_attachments_become_documents_and_others_are_listed(bench: Bench):
    survey = make_pdf(bench.folder / "inner" / "Survey.pdf", [NOISE]).read_bytes()
    outer = carrying(
        bench.folder / "Portfolio.pdf",
        CYCLE,
        Noise_Assessment__pdf=survey,
        Figures__xlsx=b"PK\x03\x04",
        Broken__pdf=b"%PDF-1.7",
    )
    first, again = bench.add(outer), bench.add(outer)
    by_name = {one.name: one for one in first.attachments}
    assert by_name["Noise_Assessment.pdf"].status == "ingested"
    assert "not supported" in by_name["Figures.xlsx"].reason
    assert "damaged" in by_name["Broken.pdf"].reason
    inner = bench.store.registry.get(by_name["Noise_Assessment.pdf"].document_id)
    assert Path(inner.file_path).name == "Portfolio, attachment 1, Noise_Assessment.pdf"
    assert inner.document_type == "noise_assessment"
    assert bench.search("traffic noise")[0].metadata.source_file == Path(inner.file_path).name
    assert [one.status for one in again.attachments] == [one.status for one in first.attachments]
    assert len(bench.store.registry.of_application(REF)) == 2


def test_a_portfolio_without_text_gives_its_attachments_and_says_so(bench: Bench):
    inner = make_pdf(bench.folder / "inner" / "Survey.pdf", [NOISE]).read_bytes()
    with pytest.raises(NoContent, match=r"documents of their own: Survey\.pdf \(25_01178_REM_"):
        bench.add(carrying(bench.folder / "Cover.pdf", "", Survey__pdf=inner))
    assert [Path(row.file_path).name for row in bench.store.registry.of_application(REF)] == [
        "Cover, attachment 1, Survey.pdf"
    ]


def test_d5_a_clash_of_six_digits_gets_a_seventh(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    digest = sha256_file(path)
    other = f"25_01178_REM_{digest[:6]}"
    bench.store.registry.register(
        RegisteredDocument(other, "/elsewhere.pdf", digest[:6] + "0" * 58, REF, "other", 1, "now", "ocr", False)
    )
    outcome = bench.add(path)
    assert outcome.document_id == f"25_01178_REM_{digest[:7]}"
    assert bench.add(path).status == "already_ingested"


def test_references_that_look_alike_in_an_id_stay_apart(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    first, second = bench.add(path, ref="25/01178/REM"), bench.add(path, ref="25_01178_REM")
    assert second.status == "success"
    assert first.document_id != second.document_id


@pytest.mark.parametrize("ref", ["", "   ", " 25/01178/REM", "25/01178/REM\n", "x" * 65, "a\tb"])
def test_an_unusable_reference_is_refused(bench: Bench, ref):
    with pytest.raises(InvalidReference):
        bench.add(make_pdf(bench.folder / "a.pdf", [CYCLE]), ref=ref)


def test_d8_what_lies_outside_the_roots_is_not_found_and_not_read(bench: Bench, tmp_path: Path):
    outside = make_pdf(tmp_path / "outside.pdf", [CYCLE])
    bench.folder.mkdir(exist_ok=True)
    link = bench.folder / "link.pdf"
    link.symlink_to(outside)
    loop = bench.folder / "loop.pdf"
    loop.symlink_to(loop)
    messages = []
    for path in (
        outside,
        link,
        loop,
        bench.folder / ".." / "outside.pdf",
        Path("/etc/passwd"),
        tmp_path / "absent.pdf",
        Path("outside.pdf"),
        Path("/" + "x" * 5000 + ".pdf"),
    ):
        with pytest.raises(FileMissing) as refused:
            bench.add(path)
        messages.append(refused.value.message.split(". Documents")[1])
    assert len(set(messages)) == 1


def test_d8_a_named_root_is_open(tmp_path: Path, processor):
    outside = make_pdf(tmp_path / "council" / "a.pdf", [CYCLE])
    settings = load_settings(trigpoint_data_dir=tmp_path / "data", document_roots=str(tmp_path / "council"))
    bench = Bench(settings, processor)
    assert bench.add(outside).status == "success"
    bench.store.close()


def test_a_folder_and_a_pipe_are_not_files(bench: Bench):
    folder = bench.folder / "folder.pdf"
    folder.mkdir(parents=True)
    pipe = bench.folder / "pipe.pdf"
    os.mkfifo(pipe)
    for path in (folder, pipe):
        with pytest.raises(FileMissing, match="not a file"):
            bench.add(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_a_clear_error(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    path.chmod(0)
    with pytest.raises(ExtractionFailed, match="cannot be read"):
        bench.add(path)


def test_a_file_whose_bytes_cannot_be_read_is_a_clear_error(bench: Bench, monkeypatch):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])

    def broken_disk(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("trigpoint.documents.ingest.sha256_file", broken_disk)
    with pytest.raises(ExtractionFailed, match=r"a\.pdf cannot be read \(Permission denied\)"):
        bench.add(path)


@pytest.mark.parametrize("name", ["drawing.bmp", "letter.docx", "noextension", "page.html", "evil.pdf.exe"])
def test_d1_other_file_types_are_refused(bench: Bench, name):
    bench.folder.mkdir(exist_ok=True)
    path = bench.folder / name
    path.write_bytes(b"BM" + bytes(100))
    with pytest.raises(UnsupportedFileType, match="Supported"):
        bench.add(path)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("empty.pdf", b"", ExtractionFailed),
        ("garbage.pdf", b"\x00\x01\x02 not a pdf" * 50, ExtractionFailed),
        ("html.pdf", b"<html><body>404</body></html>", ExtractionFailed),
        ("broken.png", b"\x89PNG\r\n\x1a\n" + bytes(50), ExtractionFailed),
    ],
)
def test_a_broken_file_is_a_clear_error_and_leaves_nothing(bench: Bench, name, content, error):
    bench.folder.mkdir(exist_ok=True)
    path = bench.folder / name
    path.write_bytes(content)
    with pytest.raises(error):
        bench.add(path)
    assert bench.store.registry.of_application(REF) == []


def test_d3_a_rendering_without_text_has_no_content(bench: Bench):
    with pytest.raises(NoContent):
        bench.add(make_pdf(bench.folder / "CGI perspective.pdf", [""]))


def test_a_file_that_changes_while_it_is_read_is_refused(bench: Bench, monkeypatch):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    extract = bench.ingest.processor.extract

    def slow_extract(*args, **kwargs):
        found = extract(*args, **kwargs)
        make_pdf(path, [NOISE])
        return found

    monkeypatch.setattr(bench.ingest.processor, "extract", slow_extract)
    with pytest.raises(ExtractionFailed, match="changed"):
        bench.add(path)


def test_progress_only_grows_and_ends_at_the_total(bench: Bench):
    seen = []
    path = make_pdf(bench.folder / "a.pdf", [prose("statement", 40) for _ in range(3)])
    bench.add(path, report=lambda done, total, message: seen.append((done, total, message)))
    done = [step[0] for step in seen]
    assert done == sorted(done)
    assert seen[-1][:2] == (100, 100)
    said = [message for _, _, message in seen]
    assert "page 3 of 3" in said
    assert any(message.startswith("passage ") for message in said)


def test_d7_a_cancelled_ingest_leaves_nothing_and_can_be_repeated(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [prose("statement", 60)])
    for after in range(1, 30):
        asked = iter(range(100))
        try:
            bench.add(path, cancelled=lambda asked=asked, after=after: next(asked) >= after)
        except Cancelled:
            assert bench.search("survey item") == []
            assert bench.store.registry.of_application(REF) == []
        else:
            break
    else:
        pytest.fail("was never left to finish")
    assert after > 3
    assert bench.add(path).status == "already_ingested"


def test_d7_a_failure_before_the_last_step_is_invisible_and_the_next_ingest_repairs_it(bench: Bench, monkeypatch):
    path = make_pdf(bench.folder / "a.pdf", [prose("statement", 60)])
    register = bench.store.registry.register

    def crash(row):
        assert bench.store.passages.count() > 0
        assert bench.search("survey item") == []
        assert bench.search("survey item", mode="hybrid") == []
        raise StoreError("the disk is full")

    monkeypatch.setattr(bench.store.registry, "register", crash)
    with pytest.raises(StoreError):
        bench.add(path)
    assert bench.search("survey item") == []
    assert bench.search("survey item", mode="hybrid") == []
    assert bench.store.registry.of_application(REF) == []
    monkeypatch.setattr(bench.store.registry, "register", register)
    outcome = bench.add(path)
    assert outcome.status == "success"
    assert bench.store.passages.count() == outcome.chunks_created
    assert len(bench.search("survey item", mode="hybrid", max_results=50)) == outcome.chunks_created


def test_d7_leftovers_of_an_ingest_that_cut_the_file_differently_are_removed(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [prose("statement", 60)])
    outcome = bench.add(path)
    chunk = bench.store.passages.document(outcome.document_id)[0]
    vector = bench.store.embedding.embed("leftover")[None, :]
    bench.store.registry.remove(outcome.document_id)
    bench.store.passages.records.upsert([f"{outcome.document_id}_009_999"], vector, ["leftover"], [chunk.metadata])
    again = bench.add(path)
    assert again.status == "success"
    assert bench.store.passages.records.count() == bench.store.passages.count() == again.chunks_created


def test_d7_a_search_beside_an_ingest_sees_all_of_the_document_or_nothing(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [prose("statement", 60) for _ in range(4)])
    stop = threading.Event()
    seen: set[int] = set()

    def watch():
        while not stop.is_set():
            for mode in ("semantic", "hybrid"):
                seen.add(len(bench.search("survey item", max_results=1000, mode=mode)))
                time.sleep(0.02)  # batches give way to questions: questions without a pause would leave them no time

    with ThreadPoolExecutor(2) as pool:
        watchers = [pool.submit(watch) for _ in range(2)]
        outcome = bench.add(path)
        seen.add(len(bench.search("survey item", max_results=1000)))
        stop.set()
        for watcher in watchers:
            watcher.result()
    assert seen == {0, outcome.chunks_created}


def test_two_ingests_of_one_file_at_once_give_one_document(bench: Bench):
    path = make_pdf(bench.folder / "a.pdf", [prose("statement", 60)])
    with ThreadPoolExecutor(4) as pool:
        outcomes = [future.result() for future in [pool.submit(bench.add, path) for _ in range(4)]]
    assert sorted(outcome.status for outcome in outcomes) == ["already_ingested"] * 3 + ["success"]
    assert len({outcome.document_id for outcome in outcomes}) == 1


def test_documents_survive_a_restart(settings, processor):
    bench = Bench(settings, processor)
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    bench.add(path)
    before = bench.search("cycle parking", mode="hybrid")
    bench.store.close()
    bench = Bench(settings, processor)
    assert bench.search("cycle parking", mode="hybrid") == before
    assert len(before) == 1
    assert bench.add(path).status == "already_ingested"
    bench.store.close()


def test_the_real_broken_files_each_end_in_an_answer_or_a_clear_error(bench: Bench, shared_data: Path):
    bench.ingest.roots.folders = (*bench.ingest.roots.folders, shared_data.resolve())
    for path in sorted((shared_data / "pdfs" / "malformed").glob("*.pdf"))[:12]:
        try:
            outcome = bench.add(path)
        except TrigpointError as error:
            assert error.code in ("extraction_failed", "no_content", "no_chunks"), path
            assert error.message
        else:
            assert outcome.status in ("success", "skipped", "already_ingested"), path
