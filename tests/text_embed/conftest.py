"""One loaded model for all tests of this area, and the real policies as pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pymupdf
import pytest

from trigpoint.config import load_settings
from trigpoint.text.embed import EmbeddingService
from trigpoint.text.pages import Page


@pytest.fixture(scope="session")
def embedding() -> EmbeddingService:
    return EmbeddingService(load_settings())


@cache
def _read(path: Path) -> tuple[Page, ...]:
    with pymupdf.open(path) as document:
        return tuple(Page(number, page.get_text("text"), "text_layer") for number, page in enumerate(document, start=1))


@pytest.fixture
def policy_pages(shared_data: Path) -> Callable[[str], tuple[Page, ...]]:
    """The text layer of a real policy document, by the beginning of its name."""

    def read(name: str) -> tuple[Page, ...]:
        return _read(next((shared_data / "policy").glob(f"{name}*.pdf")))

    return read
