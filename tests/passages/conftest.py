"""One loaded model for all tests of this area."""

from __future__ import annotations

import pytest

from trigpoint.config import load_settings
from trigpoint.text.embed import EmbeddingService


@pytest.fixture(scope="session")
def embedding() -> EmbeddingService:
    return EmbeddingService(load_settings())
