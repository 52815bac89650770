"""The sample documents are what their facts say, page by page, and the same bytes each time."""

from __future__ import annotations

import re
from pathlib import Path

import pypdf
import pytest

from trigpoint.config import load_settings
from trigpoint.demo.applications import MAIN_REFERENCE, sample_applications
from trigpoint.demo.documents import make_pdf, sample_documents
from trigpoint.demo.facts import SampleFact, sample_facts
from trigpoint.review.models import FOCUS_AREAS

REFERENCES = tuple(sample_applications())
FACTS = [(reference, fact) for reference in REFERENCES for fact in sample_facts(reference).facts]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    return sample_documents(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("demo")))


@pytest.fixture(scope="module")
def texts(documents: dict[str, dict[str, Path]]) -> dict[tuple[str, str], list[str]]:
    return {
        (reference, file): [_plain(page.extract_text()) for page in pypdf.PdfReader(path).pages]
        for reference, files in documents.items()
        for file, path in files.items()
    }


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    ("reference", "fact"), FACTS, ids=lambda x: x.id if isinstance(x, SampleFact) else x.replace("/", "_")
)
def test_each_quotation_stands_on_its_page_and_on_no_other(
    reference: str, fact: SampleFact, texts: dict[tuple[str, str], list[str]]
) -> None:
    pages = texts[reference, fact.document]
    if fact.ocr:
        assert fact.page <= len(pages)
        assert pages[fact.page - 1] == ""
    else:
        assert [n for n, text in enumerate(pages, 1) if fact.quote in text] == [fact.page]
    assert fact.aspect in FOCUS_AREAS


def test_every_page_with_text_says_that_it_is_fictional(texts: dict[tuple[str, str], list[str]]) -> None:
    for (reference, file), pages in texts.items():
        for number, text in enumerate(pages, 1):
            assert not text or "FICTIONAL SAMPLE" in text, f"{reference} {file} page {number}"


def test_the_main_application_has_what_a_real_one_has(texts: dict[tuple[str, str], list[str]]) -> None:
    main = {file: pages for (reference, file), pages in texts.items() if reference == MAIN_REFERENCE}
    assert len(main) >= 12
    assert len(main["Transport Assessment.pdf"]) >= 30
    assert main["Letter on Cycle Link.pdf"] == [""]
    assert main["Street Scene Rendering.pdf"] == [""]
    sections = {document.section for document in sample_applications()[MAIN_REFERENCE].documents}
    assert {"Superseded Documents", "Consultee Responses", "Public Comments", "Proposed Plans"} <= sections


def test_scans_and_pictures_are_one_image_on_each_page(documents: dict[str, dict[str, Path]]) -> None:
    for application in sample_applications().values():
        for document in application.documents:
            pages = pypdf.PdfReader(documents[application.reference][document.file]).pages
            images = [len(page.images) for page in pages]
            assert images == ([0] * len(pages) if document.kind == "text" else [1] * len(pages))


def test_the_bytes_are_the_same_each_time(documents: dict[str, dict[str, Path]]) -> None:
    application = sample_applications()[MAIN_REFERENCE]
    for document in application.documents:
        assert make_pdf(application, document) == documents[MAIN_REFERENCE][document.file].read_bytes()


def test_they_are_made_once_and_then_found(tmp_path: Path) -> None:
    settings = load_settings(trigpoint_data_dir=tmp_path)
    first = sample_documents(settings)[REFERENCES[-1]]
    stamps = {file: path.stat().st_mtime_ns for file, path in first.items()}
    second = sample_documents(settings)[REFERENCES[-1]]
    assert {file: path.stat().st_mtime_ns for file, path in second.items()} == stamps


@pytest.mark.parametrize("reference", REFERENCES)
def test_expected_ratings_have_reasons_and_overall_is_the_worst(reference: str) -> None:
    facts = sample_facts(reference)
    assert len(facts.aspects) >= 10
    assert list(facts.aspects) == [area for area in FOCUS_AREAS if area in facts.aspects]
    assert set(facts.because) == set(facts.aspects)
    order = ("green", "amber", "red")
    assert facts.overall == max(facts.aspects.values(), key=order.index)
    assert len({fact.id for fact in facts.facts}) == len(facts.facts)


def test_contradictions_name_two_documents_that_differ_or_a_sum_that_fails() -> None:
    for reference in REFERENCES:
        facts = sample_facts(reference)
        for fact in facts.facts:
            if fact.bearing == "contradiction" and fact.contradicts:
                other = facts.fact(fact.contradicts)
                assert (other.value, other.document) != (fact.value, fact.document)
                assert other.unit == fact.unit
            if fact.parts:
                assert (sum(fact.parts) != fact.value) == (fact.bearing == "contradiction")


def test_dates_put_the_second_application_under_the_earlier_framework() -> None:
    samples = sample_applications()
    assert "2023-09-05" <= samples["24/00633/F"].date_validated.isoformat() <= "2024-12-11"
    assert samples[MAIN_REFERENCE].date_validated.isoformat() >= "2024-12-12"
