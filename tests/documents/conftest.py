"""A document store on an empty folder, with what ingests into it and searches it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from document_bench import Bench

from trigpoint.config import Settings, load_settings
from trigpoint.text.extract import DocumentProcessor


@pytest.fixture(scope="session")
def processor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentProcessor]:
    shared = DocumentProcessor(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("reader"), text_workers=1))
    yield shared
    shared.close()


@pytest.fixture
def bench(settings: Settings, processor: DocumentProcessor) -> Iterator[Bench]:
    bench = Bench(settings, processor)
    yield bench
    bench.store.close()
