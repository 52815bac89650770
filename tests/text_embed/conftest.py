"""One loaded model for all tests of this area, and the real policies as pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from trigpoint.config import load_settings
from trigpoint.text.embed import EmbeddingService
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import Page


@pytest.fixture(scope="session")
def embedding() -> EmbeddingService:
    return EmbeddingService(load_settings())


@cache
def _read(path: Path) -> tuple[Page, ...]:
    processor = DocumentProcessor(load_settings(enable_ocr=False))
    try:
        return processor.extract(path).pages
    finally:
        processor.close()


@pytest.fixture
def policy_pages(shared_data: Path) -> Callable[[str], tuple[Page, ...]]:
    """The pages of a real policy document, by the beginning of its name."""

    def read(name: str) -> tuple[Page, ...]:
        return _read(next((shared_data / "policy").glob(f"{name}*.pdf")))

    return read
