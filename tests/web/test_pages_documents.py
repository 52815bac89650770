"""The documents of a review as pages: how each page was read, one click from its picture."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pymupdf
import pytest
from page_samples import browser, result

from review_states import complete
from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.api.web.asking import ask
from trigpoint.config import Settings
from trigpoint.documents.reading_line import ReadingCounts
from trigpoint.mcp import build_server as mcp_server

TEXT = "Each house is provided with 2 cycle parking spaces per dwelling, in the garage."


@dataclass
class Shown:
    site: httpx.Client
    place: str
    document_id: str
    file: Path


@pytest.fixture
def shown(site_settings: Callable[..., Settings], clean_redis_url: str) -> Iterator[Shown]:
    """A review whose application has one document: a page of text, a blank one, and text again."""
    settings = site_settings()
    file = settings.data_dir / "downloads" / "Transport <b>Assessment.pdf"
    file.parent.mkdir(parents=True)
    with pymupdf.open() as document:
        for text in (TEXT, "", TEXT):
            page = document.new_page()
            if text:
                page.insert_text((72, 100), text)
        document.save(file)
    store = mcp_server("document-store", settings).app()
    with (
        serving(store, settings.document_store_port),
        serving(create_app(settings)) as address,
        browser(address) as site,
    ):
        args = {"file_path": str(file), "application_ref": "25/01178/REM"}
        ingested = asyncio.run(ask(settings, "document-store", "ingest_document", args))
        place = site.post("/reviews", data={"application_ref": "25/01178/REM"}).headers["location"]
        complete(clean_redis_url, result())
        yield Shown(site, place, ingested["document_id"], file)


def test_a_review_leads_to_its_documents_and_each_to_the_strip_of_its_pages(shown: Shown) -> None:
    assert f'href="{shown.place}/documents"' in shown.site.get(shown.place).text
    listed = shown.site.get(f"{shown.place}/documents").text
    document = f"{shown.place}/documents/{shown.document_id}"
    assert f'href="{document}"' in listed
    assert "documents, 3 of 3 pages read." in listed
    assert "Transport &lt;b&gt;Assessment.pdf" in listed

    page = shown.site.get(document).text
    for number, way in ((1, "text"), (2, "blank"), (3, "text")):
        assert f'class="leaf {way}" href="{document}?page={number}#page"' in page
    assert 'aria-label="Page 2: Blank"' in page
    assert f'src="{document}/pages/1.png"' in page

    third = shown.site.get(f"{document}?page=3").text
    assert 'href="' + document + '?page=3#page" aria-current="page"' in third
    picture = shown.site.get(f"{document}/pages/3.png")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")


def test_only_documents_of_the_review_and_pages_that_exist_are_shown(shown: Shown) -> None:
    document = f"{shown.place}/documents/{shown.document_id}"
    for path in (f"{shown.place}/documents/other_a1b2c3", f"{document}?page=4", f"{document}?page=x"):
        assert shown.site.get(path).status_code == 404, path
    assert shown.site.get(f"{document}/pages/0.png").status_code == 404
    assert shown.site.get(f"{document}/pages/9.png").status_code in (404, 422)
    shown.file.unlink()
    assert "is not on this machine" in shown.site.get(document).text


def test_the_line_counts_documents_and_pages_and_names_what_was_not_read() -> None:
    whole = {"page_count": 10, "pages_read": 10, "pages_by_ocr": 4, "pages_not_read": []}
    part = {"page_count": 8, "pages_read": 6, "pages_by_ocr": 0, "pages_not_read": [3, 4]}
    counts = ReadingCounts.of([("A.pdf", whole), ("Survey.pdf", part), ("Old.pdf", None)])
    assert counts.sentence(of_documents=4) == (
        "3 of 4 documents, 16 of 18 pages read; 4 by OCR, 2 not: Survey.pdf, pages 3 to 4. "
        "No account was kept of Old.pdf."
    )
    assert (
        ReadingCounts.of([("A.pdf", whole | {"pages_by_ocr": 0})]).sentence()
        == "1 of 1 documents, 10 of 10 pages read."
    )
