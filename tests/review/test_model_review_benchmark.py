"""The benchmark of reviews led by a model reads documents as the product does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from benchmarks.model_review import FolderTools, find_application, register_of, wanted_point

from trigpoint.config import load_settings
from trigpoint.mcp.local_servers import local_servers
from trigpoint.registers.entries import load_registers
from trigpoint.review.findings import Citation, Finding
from trigpoint.review.intake import page_counts

REF = "UTT/25/0001/OP"
HIGHWAYS = "The highway authority asks for a footway of two metres along Birchanger Lane"


def _scanned(file: Path) -> None:
    """Write a PDF with a page of text and one that is a picture of text."""
    with pymupdf.open() as typed:
        typed.new_page().insert_textbox((60, 60, 540, 300), f"{HIGHWAYS}. " * 3, fontsize=16)
        picture = typed[0].get_pixmap(dpi=150)
    with pymupdf.open() as document:
        document.new_page().insert_text(
            (72, 72), "Report to committee. " + "Sixty homes are proposed. " * 3, fontsize=9
        )
        page = document.new_page()
        page.insert_image(page.rect, pixmap=picture)
        document.save(file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    application = tmp_path / "sample"
    (application / "documents").mkdir(parents=True)
    (application / "application.json").write_text(
        json.dumps({"application": REF, "authority": "Uttlesford District Council", "date": "2026-06"})
    )
    (application / "documents" / "Notes.md").write_text("First page.\n\fSecond page.\n")
    _scanned(application / "documents" / "Report.pdf")
    return application


def test_scanned_pages_and_pages_of_texts_are_read(folder: Path) -> None:
    application = find_application(str(folder))
    texts, counts = asyncio.run(_read(folder))
    assert sorted(texts) == sorted(path.name for path in application.paths)
    assert [page["number"] for page in texts["Notes.md"]["pages"]] == [1, 2]
    page = texts["Report.pdf"]["pages"][1]
    assert "Birchanger Lane" in texts["Report.pdf"]["text"][page["start"] : page["end"]]
    assert (counts["pages"], counts["pages_read"], counts["pages_by_ocr"]) == (4, 4, 1)


async def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    application = find_application(str(folder))
    settings = load_settings(trigpoint_data_dir=folder.parent / "data", document_roots=(folder / "documents",))
    async with local_servers(settings, seed=False) as (servers, _):
        tools = FolderTools(application, servers, {})
        files = [one["file_path"] for one in (await tools.call("scraper", "download_all_documents", {}))["downloads"]]
        accounts = {}
        for file in files:
            given = {"file_path": file, "application_ref": REF}
            accounts[file] = (await tools.call("document-store", "ingest_document", given))["account"]
        listed = await tools.call("document-store", "list_ingested_documents", {"application_ref": REF})
        texts = {}
        for one in listed["documents"]:
            given = {"document_id": one["document_id"], "include_pages": True}
            text = await tools.call("document-store", "get_document_text", given)
            texts[Path(text["file_path"]).name] = text
    return texts, page_counts(dict.fromkeys(accounts, "ingested"), accounts)


def test_the_council_is_named_as_a_register_names_it() -> None:
    table = load_registers(load_settings())
    assert register_of({"authority": "Wenbridge Borough Council"}, table)["name"] == "Wenbridge Borough Council"
    known = register_of({"authority": "Cherwell District Council"}, table)
    assert known["authority"] == "cherwell"
    assert known["name"] == "Cherwell District Council"


@pytest.mark.parametrize(
    "where",
    [
        {"documents": ["Notes.md", "Report.md"], "pages": [4, [1, 2]]},
        {"where": [{"doc": "Report.pdf", "page": 2}]},
        {"where": [{"doc": "Report.pdf", "page": 2}], "pages": [2, 3]},
    ],
)
def test_the_sheet_names_the_findings_that_quote_a_page_of_a_point(where: dict[str, Any]) -> None:
    evidence = [
        Citation(passage_id="p", document_id="d", document="Report.pdf", pages=(page,), quote="q") for page in (2, 7)
    ]
    findings = [
        Finding(check=f"c{number}", requirement="R", outcome="met", text="T.", evidence=(one,))
        for number, one in enumerate(evidence)
    ]
    assert wanted_point(3, {"kind": "figure", "point": "Two metres", **where}, findings) == (
        "- [ ] M3 (figure): Two metres\n      findings that quote one of its pages: 1"
    )
