"""The files of a review: Markdown as in the contract, JSON, PDF, letter; nothing in them becomes markup."""

from __future__ import annotations

import json
from collections.abc import Callable

import pymupdf
import pytest
from review_samples import evidence_of_text, result_of

from trigpoint.review.aspects import load_aspects
from trigpoint.review.evidence import Evidence
from trigpoint.review.models import ReviewOptions
from trigpoint.review.render import escape, letter_data, render_json, render_letter, render_markdown, render_pdf
from trigpoint.review.result import ReviewResult
from trigpoint.review.verify import citation_problem, policy_problem

HOSTILE = (
    "The shared path is 2.5m wide #import sys; $x$ *bold* <script>alert(1)</script> [link](http://evil.example) "
    '`code` \\n @ref "quoted" ~ _under_ | cell.'
)


@pytest.fixture
def result(sample_evidence: Callable[[str], Evidence]) -> ReviewResult:
    return result_of(sample_evidence("25/01178/REM"))


@pytest.fixture
def hostile() -> ReviewResult:
    made = result_of(evidence_of_text(HOSTILE))
    return made.model_copy(update={"application": made.application.model_copy(update={"proposal": HOSTILE})})


def _text(pdf: bytes) -> str:
    with pymupdf.open(stream=pdf) as document:
        return "\n".join(page.get_text() for page in document)


def test_markdown_has_the_contracts_layout(result: ReviewResult) -> None:
    lines = render_markdown(result).splitlines()
    assert lines[0] == "# Cycle Advocacy Review: 25/01178/REM"
    assert lines[2] == "## Overall Rating: AMBER"
    assert lines[4] == "## Summary"
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == [
        "## Overall Rating: AMBER",
        "## Summary",
        "## Application",
        "## Aspect Assessments",
        "## Policy Compliance",
        "## Recommendations",
        "## Suggested Conditions",
        "## How This Was Judged",
    ]
    at = lines.index("### Cycle Parking: AMBER")
    assert lines[at + 1].startswith("**Key Issue:** Long-stay cycle parking is below one space per bedroom")
    assert any(
        line.startswith("- “For the 112 houses") and "(Transport Assessment.pdf, page 11)" in line for line in lines
    )


def test_dates_and_documents_without_text_are_told_in_every_form(result: ReviewResult) -> None:
    counts = result.metadata.documents.model_copy(update={"not_read": ("Street Scene_1.pdf", "View.pdf")})
    result = result.model_copy(update={"metadata": result.metadata.model_copy(update={"documents": counts})})
    markdown, pdf = render_markdown(result), _text(render_pdf(result))
    assert "- Valid from: 2025-05-21\n- Consultation ends: 2025-07-04\n" in markdown
    assert "- Not read, for want of text: Street Scene\\_1.pdf, View.pdf\n" in markdown
    assert "21 May 2025" in pdf
    assert "4 July 2025" in pdf
    assert "Street Scene_1.pdf, View.pdf" in pdf


def test_the_review_object_has_the_contracts_fields(result: ReviewResult) -> None:
    review = json.loads(render_json(result))["review"]
    assert {
        "overall_rating",
        "summary",
        "aspects",
        "policy_compliance",
        "recommendations",
        "suggested_conditions",
    } <= set(review)
    for aspect in review["aspects"]:
        assert {"name", "rating", "key_issue", "detail", "policy_refs"} <= set(aspect)
        assert aspect["rating"] in ("green", "amber", "red")
    for row in review["policy_compliance"]:
        assert {"requirement", "policy_source", "compliant", "notes"} <= set(row)
        assert isinstance(row["compliant"], bool)
    assert [one.source for one in result.metadata.policy_revisions_used] == [
        "CHERWELL_LOCAL_PLAN",
        "LTN_1_20",
        "MANUAL_FOR_STREETS",
        "NPPF",
        "OCC_LTCP",
    ]


def test_json_is_the_whole_result(result: ReviewResult) -> None:
    written = json.loads(render_json(result))
    assert list(written) == ["application", "review", "metadata"]
    assert ReviewResult.model_validate(written) == result


def test_parts_that_were_not_asked_for_are_left_out_everywhere(sample_evidence: Callable[[str], Evidence]) -> None:
    options = ReviewOptions(include_policy_matrix=False, include_suggested_conditions=False)
    bare = result_of(sample_evidence("25/01178/REM"), options)
    assert bare.review.policy_compliance == bare.review.suggested_conditions == ()
    assert "## Policy Compliance" not in render_markdown(bare)
    assert "## Suggested Conditions" not in render_markdown(bare)
    text = _text(render_pdf(bare))
    assert "Policy compliance" not in text
    assert "Suggested conditions" not in text
    assert "should permission be granted" not in _text(render_letter(bare))


def test_every_page_of_the_pdf_has_header_footer_and_number(result: ReviewResult) -> None:
    with pymupdf.open(stream=render_pdf(result)) as document:
        assert document.page_count > 5
        for number, page in enumerate(document, 1):
            text = page.get_text()
            assert f"Page {number} of {document.page_count}" in text
            assert "Cycle Advocacy Review" in text
            assert "25/01178/REM" in text
            assert "Policy as of 21 May 2025" in text


def test_the_pdf_has_outline_metadata_links_and_tags(result: ReviewResult) -> None:
    with pymupdf.open(stream=render_pdf(result)) as document:
        titles = [title.strip() for _, title, _ in document.get_toc()]
        assert titles[:2] == ["Summary", "Aspect assessments"]
        for aspect in result.review.aspects:
            assert any(title.startswith(aspect.name) for title in titles)
        assert document.metadata["title"] == "Cycle Advocacy Review: 25/01178/REM"
        links = [link for page in document for link in page.get_links()]
        assert any(link.get("uri", "").endswith("/Planning/Display/25/01178/REM") for link in links)
        assert len([link for link in links if link["kind"] == pymupdf.LINK_GOTO or link.get("nameddest")]) > 20
        assert b"/MarkInfo" in document.xref_object(document.pdf_catalog()).encode()
        assert "en-GB" in document.xref_object(document.pdf_catalog())


def test_the_pdf_shows_ratings_quotations_and_places(result: ReviewResult) -> None:
    text = " ".join(_text(render_pdf(result)).split())
    for wanted in (
        "AMBER",
        "GREEN",
        "Contradicted",
        "No segregated cycle route is provided between the site and the town centre.",
        "Transport Assessment.pdf, page 9",
        "LTN 1/20:Table 6-3",
        "How this was judged",
    ):
        assert wanted in text


def test_the_same_review_gives_the_same_bytes(result: ReviewResult) -> None:
    assert render_pdf(result) == render_pdf(result)
    assert render_letter(result) == render_letter(result)
    assert render_markdown(result) == render_markdown(result)


def test_text_of_documents_never_becomes_markup_in_the_pdf(hostile: ReviewResult) -> None:
    for pdf in (render_pdf(hostile), render_letter(hostile)):
        text = " ".join(_text(pdf).split())
        assert "<script>alert(1)</script>" in text
        assert "#import sys; $x$ *bold*" in text
        with pymupdf.open(stream=pdf) as document:
            uris = [link.get("uri", "") for page in document for link in page.get_links()]
        assert not [uri for uri in uris if "evil" in uri]


def test_text_of_documents_never_becomes_markup_in_markdown(hostile: ReviewResult) -> None:
    text = render_markdown(hostile)
    assert "<script>" not in text
    assert "[link](" not in text
    assert r"\*bold\*" in text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# not a heading", r"\# not a heading"),
        ("- not a list", r"\- not a list"),
        ("1. not a list", r"1\. not a list"),
        ("two\n\nlines", "two lines"),
        ("a | b", r"a \| b"),
    ],
)
def test_escaping(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@pytest.mark.parametrize(
    ("reference", "stand", "opening"),
    [
        ("24/00633/F", "Objection", "We object to this application"),
        ("25/01178/REM", "Comments", "We neither support nor object"),
        ("25/02034/F", "Support", "We support this application"),
    ],
)
def test_the_letter_takes_the_stand_of_the_rating(
    reference: str, stand: str, opening: str, sample_evidence: Callable[[str], Evidence]
) -> None:
    made = result_of(sample_evidence(reference))
    assert letter_data(made)["stand"] == stand
    text = " ".join(_text(render_letter(made)).split())
    assert opening in text
    assert f"application {reference}" in text


@pytest.mark.parametrize("reference", ["25/01178/REM", "24/00633/F", "25/02034/F", "25/01502/F"])
def test_every_citation_in_every_format_resolves(reference: str, sample_evidence: Callable[[str], Evidence]) -> None:
    evidence = sample_evidence(reference)
    made = result_of(evidence)
    assert made.metadata.citations.dropped == 0
    from trigpoint.review.findings import Citation, PolicyCitation

    markdown, pdf = render_markdown(made), " ".join(_text(render_pdf(made)).split())
    refs: set[str] = set()
    for aspect in made.review.aspects:
        refs |= set(aspect.policy_refs)
        for finding in aspect.findings:
            for quoted in finding.evidence:
                assert citation_problem(Citation.model_validate(quoted), evidence) is None
                assert escape(quoted.quote) in markdown
            for policy in finding.policy:
                assert policy_problem(PolicyCitation.model_validate(policy), evidence) is None
    assert refs
    for ref in refs:
        assert ref in pdf


def test_an_application_without_documents_still_has_a_report() -> None:
    bare = result_of(evidence_of_text())
    assert "Not enough evidence" in _text(render_pdf(bare))
    assert "There is not enough evidence to judge" in bare.review.summary
    assert len(bare.review.aspects) == len(load_aspects())


def _contrast(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_white_on_every_badge_has_enough_contrast() -> None:
    import re
    from importlib import resources

    look = (resources.files("trigpoint.review") / "templates" / "look.typ").read_text()
    line = next(line for line in look.splitlines() if line.startswith("#let fills"))
    colours = re.findall(r"#[0-9a-f]{6}", line)
    assert len(colours) == 4
    assert min(_contrast(colour) for colour in colours) >= 5.5


@pytest.mark.parametrize(
    "odd",
    [
        "\u6f22\u5b57",
        "\U0001f600",
        "\x00",
        "\x1b[31m",
        "\ufffe",
        "\u202e",
        "a\u0301",
        "\u0633\u0644\u0627\u0645",
        "\ud800",
        "\u2028",
        "≥ ½ °",
    ],
)
def test_whatever_characters_a_document_has_the_files_are_made(odd: str) -> None:
    made = result_of(evidence_of_text(f"The shared path is 2.5m wide {odd} and lit."))
    assert "The shared path is 2.5m wide" in " ".join(_text(render_pdf(made)).split())
    assert render_letter(made).startswith(b"%PDF")
    assert json.loads(render_json(made))["review"]["overall_rating"] == "amber"
    assert render_pdf(made) == render_pdf(made)
