"""The extraction tests' files and processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from extract_samples import add_picture, letter_picture, photograph, write_hanging_pdf, write_text_pdf

from trigpoint.config import Settings, load_settings
from trigpoint.text.extract import DocumentProcessor


@pytest.fixture(scope="session")
def processor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentProcessor]:
    """One for all tests that leave it as they found it."""
    made = DocumentProcessor(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("extract")))
    yield made
    made.close()


@pytest.fixture
def make_processor(settings: Settings) -> Iterator[Callable[..., DocumentProcessor]]:
    """A processor with other settings, closed after the test."""
    made: list[DocumentProcessor] = []

    def make(**overrides: Any) -> DocumentProcessor:
        made.append(DocumentProcessor(settings.model_copy(update=overrides)))
        return made[-1]

    yield make
    for processor in made:
        processor.close()


@pytest.fixture
def text_pdf(tmp_path: Path) -> Path:
    """Three pages of text."""
    return write_text_pdf(tmp_path / "statement.pdf", 3)


@pytest.fixture
def scan_pdf(tmp_path: Path) -> Path:
    """Two scanned pages, no text layer."""
    path = tmp_path / "letter-scan.pdf"
    with pymupdf.open() as document:
        for _ in range(2):
            add_picture(document, letter_picture())
        document.save(path)
    return path


@pytest.fixture
def photo_pdf(tmp_path: Path) -> Path:
    path = tmp_path / "view.pdf"
    with pymupdf.open() as document:
        add_picture(document, photograph())
        document.save(path)
    return path


@pytest.fixture
def hanging_pdf(tmp_path: Path) -> Path:
    return write_hanging_pdf(tmp_path / "hangs.pdf")
