"""The files of a review: Markdown as in the contract, JSON, PDF, letter; nothing in them becomes markup."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pymupdf
import pytest
from review_samples import evidence_of_text, result_of
from stated_facts import fact, stated

from trigpoint.reading.profile import Profile, UseSize
from trigpoint.review.citing import document_title, policy_place
from trigpoint.review.conclusion import Conclusion
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import GROUPS, Limit, NotAssessed
from trigpoint.review.letter_files import first_letter, letter_pdf
from trigpoint.review.markdown import built
from trigpoint.review.models import ReviewOptions
from trigpoint.review.render import escape, render_json, render_markdown, render_pdf
from trigpoint.review.result import ReviewResult
from trigpoint.review.verify import citation_problem, policy_problem

HOSTILE = (
    "The cycle track will be 2.5 m wide #import sys; $x$ *bold* <script>alert(1)</script> [link](http://evil.example) "
    '`code` \\n @ref "quoted" ~ _under_ | cell.'
)
SHORT = "Shared cycle tracks will be 2.5 m wide along the primary street."
PLAN = "A travel plan will be submitted before first occupation."
SUM = "A total of 144 cycle parking spaces is proposed, comprising 127 spaces in racks and 7 spaces on stands."
LATER = "Details of cycle storage are reserved for later approval."


def _sample() -> Evidence:
    """Evidence with a shortfall, a provision, a sum and something that is left open, each certain."""
    evidence = evidence_of_text(f"{SHORT} {PLAN}\f{SUM} {LATER}")
    facts = (
        fact(evidence, "cycle_route.width", SHORT),
        fact(evidence, "travel_plan.exists", PLAN),
        fact(evidence, "cycle_parking.total", LATER, status="deferred", page=2),
    )
    made = stated(evidence, *facts)
    return replace(made, discrepancies=evidence.discrepancies)


@pytest.fixture
def result() -> ReviewResult:
    return result_of(_sample())


@pytest.fixture
def hostile() -> ReviewResult:
    evidence = evidence_of_text(HOSTILE)
    made = result_of(stated(evidence, fact(evidence, "cycle_route.width", HOSTILE)))
    return made.model_copy(update={"application": made.application.model_copy(update={"proposal": HOSTILE})})


def _letter(result: ReviewResult) -> bytes:
    return letter_pdf(first_letter(result))


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
    at = lines.index("### Cycle Routes: AMBER (partly assessed)")
    assert lines[at + 1] == "**Key Issue:** A route for cycling is narrower than the recommended 3.0 m: 2.5 m"
    assert lines[at + 3].startswith("- **Partly met:** A route for cycling is narrower")
    assert lines[at + 4] == f"  - “{SHORT}” (Document 1.pdf, page 1)"


def test_what_is_built_is_told_in_words() -> None:
    uses = [
        UseSize(use="student_housing", size=312, unit="bed"),
        UseSize(use="food", size=180, unit="m2"),
        UseSize(use="student_housing", size=5400, unit="m2"),
        UseSize(use="college"),
    ]
    profile = Profile(kind="full", scale="major", uses=tuple(uses))
    assert built(profile) == (
        "student housing (312 beds, 5,400 m²), food and drink (180 m²), college; full application; major"
    )
    police = UseSize(use="dwellings", size=1650, unit="m2")  # whose floor it is was misread: homes are counted
    homes = UseSize(use="dwellings", size=120, unit="dwelling")
    assert built(Profile(uses=(homes, police))) == "120 dwellings"
    hotel = Profile(uses=(UseSize(use="hotel", size=90, unit="bed"),))
    assert built(hotel).startswith("hotel (90 rooms)")
    two = Profile(kind="change of use", scale="minor", uses=(UseSize(use="dwellings", size=2, unit="dwelling"),))
    assert built(two) == "2 dwellings; change of use; minor"


def test_what_was_not_assessed_shows_grey_in_every_form(result: ReviewResult) -> None:
    markdown, pdf = render_markdown(result), " ".join(_text(render_pdf(result)).split())
    assert "### Junctions: NOT ASSESSED" in markdown
    assert "Junctions NOT ASSESSED" in pdf
    junctions = next(aspect for aspect in result.review.aspects if aspect.id == "junctions")
    assert (junctions.rating, junctions.shown_rating) == ("amber", "not assessed")


def test_what_is_noted_stands_apart_from_what_is_open_with_what_is_recommended(result: ReviewResult) -> None:
    point = NotAssessed(check="x", requirement="A bench", reason="The parish asks for it.", request="Put one there")
    points = (
        point.model_copy(update={"noted": True}),
        point.model_copy(update={"reason": "Not found.", "request": None}),
    )
    first, *others = result.review.aspects
    aspects = (first.model_copy(update={"not_assessed": points}), *others)
    told = result.model_copy(update={"review": result.review.model_copy(update={"aspects": aspects})})
    for text in (render_markdown(told).replace("*", "").replace("- ", ""), _text(render_pdf(told)).replace("•", "")):
        plain = " ".join(text.split())
        assert (
            "Noted, without a verdict A bench. The parish asks for it. Recommended: Put one there. Not assessed"
            in plain
        )
        assert "A bench. Not found." in plain


def test_a_brief_says_at_the_top_what_it_is_and_how_to_get_a_judged_review(result: ReviewResult) -> None:
    for text in (render_markdown(result).replace("\\", ""), " ".join(_text(render_pdf(result)).split())):
        assert text.index("made by fixed rules") < text.index("Cycle Parking")
        assert "TRIGPOINT_MODEL" in text


def test_statements_are_quoted_by_what_they_are_with_their_page(result: ReviewResult) -> None:
    markdown = render_markdown(result)
    at = markdown.index("### Cycle Parking")
    part = markdown[at : markdown.index("### Cycle Routes")]
    assert GROUPS["open"] in part
    assert f"- “{LATER}” (Document 1.pdf, page 2)" in part
    assert "The documents leave it open" in part


def test_dates_and_documents_without_text_are_told_in_every_form(result: ReviewResult) -> None:
    counts = result.metadata.documents.model_copy(update={"not_read": ("Street Scene_1.pdf", "View.pdf")})
    result = result.model_copy(update={"metadata": result.metadata.model_copy(update={"documents": counts})})
    markdown, pdf = render_markdown(result), _text(render_pdf(result))
    assert "- Valid from: 2025-05-21\n- Consultation ends: 2025-07-04\n" in markdown
    assert "- Not read, because no text was found: Street Scene\\_1.pdf, View.pdf\n" in markdown
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
    assert [one.source for one in result.metadata.policy_revisions_used][-2:] == ["NPPF", "OCC_LTCP"]


def test_json_is_the_whole_result(result: ReviewResult) -> None:
    written = json.loads(render_json(result))
    assert list(written) == ["application", "review", "metadata"]
    assert ReviewResult.model_validate(written) == result


def test_parts_that_were_not_asked_for_are_left_out_everywhere() -> None:
    bare = result_of(_sample(), ReviewOptions(include_policy_matrix=False, include_suggested_conditions=False))
    assert bare.review.policy_compliance == bare.review.suggested_conditions == ()
    assert "## Policy Compliance" not in render_markdown(bare)
    assert "## Suggested Conditions" not in render_markdown(bare)
    text = _text(render_pdf(bare))
    assert "Policy compliance" not in text
    assert "Suggested conditions" not in text
    assert "should permission be granted" not in _text(_letter(bare))


def test_every_page_of_the_pdf_has_header_footer_and_number(result: ReviewResult) -> None:
    with pymupdf.open(stream=render_pdf(result)) as document:
        assert document.page_count > 3
        for number, page in enumerate(document, 1):
            text = page.get_text()
            assert f"Page {number} of {document.page_count}" in text
            assert "Cycle Advocacy Review" in text
            assert "25/01178/REM" in text
            assert "Policy as of 21 May 2025" in text


def test_the_pdf_has_outline_metadata_links_and_tags(result: ReviewResult) -> None:
    with pymupdf.open(stream=render_pdf(result)) as document:
        titles = [title.strip() for _, title, _ in document.get_toc()]
        first = ["Summary", "Points that matter", "Aspects", "Aspect assessments"]
        assert [title for title in titles if title in first] == first
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
        "Contradicted",
        "Partly met",
        SHORT,
        "Document 1, page 2",
        "LTN 1/20, table 6-3",
        "127 + 7 = 134",
        "What policy asks",
        "How this was judged",
    ):
        assert wanted in text


def test_the_same_review_gives_the_same_bytes(result: ReviewResult) -> None:
    assert render_pdf(result) == render_pdf(result)
    assert _letter(result) == _letter(result)
    assert render_markdown(result) == render_markdown(result)


def test_text_of_documents_never_becomes_markup_in_the_pdf(hostile: ReviewResult) -> None:
    for pdf in (render_pdf(hostile), _letter(hostile)):
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


@pytest.mark.parametrize("reference", ["25/01178/REM", "24/00633/F", "25/02034/F", "25/01502/F"])
def test_every_citation_in_every_format_resolves(reference: str, sample_evidence: Callable[[str], Evidence]) -> None:
    evidence = sample_evidence(reference)
    made = result_of(evidence)
    markdown, pdf = render_markdown(made), " ".join(_text(render_pdf(made)).split())
    for citation in made.review.quotations():
        assert citation_problem(citation, evidence) is None
        assert escape(citation.quote) in markdown
    for policy in made.review.policies():
        assert policy_problem(policy, evidence) is None
        assert policy_place(policy) in pdf


def test_an_application_without_documents_still_has_a_report() -> None:
    bare = result_of(evidence_of_text())
    assert "NOT ASSESSED" in _text(render_pdf(bare))
    assert "None of the core aspects" in bare.review.summary
    assert _letter(bare).startswith(b"%PDF")


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
    assert len(colours) == 5
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
    made = result_of(evidence_of_text(f"A cycle track will be provided that is 2.5 m wide {odd} and lit."))
    assert "A cycle track will be provided that is 2.5 m wide" in " ".join(_text(render_pdf(made)).split())
    assert _letter(made).startswith(b"%PDF")
    assert json.loads(render_json(made))["review"]["overall_rating"] == "amber"
    assert render_pdf(made) == render_pdf(made)


def test_what_limits_a_point_that_is_met_is_told_with_it(result: ReviewResult) -> None:
    limit = Limit(point="junctions-crossing-f2", text="At Station Road the path gives way.")
    first = next(one for one in result.review.aspects if one.findings)
    met = first.findings[0].model_copy(update={"outcome": "met", "limits": (limit,)})
    changed = {first.id: first.model_copy(update={"findings": (met, *first.findings[1:])})}
    aspects = tuple(changed.get(one.id, one) for one in result.review.aspects)
    told = result.model_copy(update={"review": result.review.model_copy(update={"aspects": aspects})})
    assert f"**Met, with limits:** {met.text}" in render_markdown(told)
    for text in (render_markdown(told), " ".join(_text(render_pdf(told)).split())):
        assert f"Limit: {limit.text}" in text


def test_a_noted_point_of_the_main_part_names_its_pages(result: ReviewResult) -> None:
    first = next(one for one in result.review.aspects if one.findings)
    quoted = first.findings[0].evidence
    point = NotAssessed(
        id="open-f1", check="x", requirement="A", reason="The parish asks.", noted=True, evidence=quoted
    )
    aspects = tuple(
        one.model_copy(update={"not_assessed": (point,)}) if one is first else one for one in result.review.aspects
    )
    chosen = {"aspects": aspects, "conclusion": Conclusion(main=("open-f1",))}
    told = result.model_copy(update={"review": result.review.model_copy(update=chosen)})
    place = f"{document_title(quoted[0].document)}, page {quoted[0].pages[0]}"
    assert f"- **Noted:** The parish asks. ({place})" in render_markdown(told)
    assert "The parish asks." in _text(render_pdf(told))
