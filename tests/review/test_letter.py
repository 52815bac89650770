"""The letter to the council: its type, the words that are drafted, its files, and what must never be in it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import get_args

import pymupdf
import pytest
from lxml import etree
from pydantic import ValidationError
from review_samples import evidence_of_text, result_of
from stated_facts import fact, stated

from trigpoint.reading.discrepancies import DiscrepancyKind
from trigpoint.review.citing import document_title, in_plain_words, place_of_ref
from trigpoint.review.disagreements import DISAGREEMENTS
from trigpoint.review.evidence import Evidence
from trigpoint.review.letter import Condition, Council, Ground, Letter, Reference, Sender
from trigpoint.review.letter_draft import draft_letter
from trigpoint.review.letter_files import first_letter, letter_docx, letter_length, letter_pdf, letter_text
from trigpoint.review.people import MASK
from trigpoint.review.result import ReviewResult

SHORT = "Shared cycle tracks will be 2.5 m wide along the primary street."
PLAN = "A travel plan will be submitted before first occupation."
SUM = "A total of 144 cycle parking spaces is proposed, comprising 127 spaces in racks and 7 spaces on stands."
LATER = "Details of cycle storage are reserved for later approval."
HOSTILE = (
    "#import sys; $x$ *bold* <script>alert(1)</script> [link](http://evil.example) <w:p/> &amp; ]]> `code` \\n @ref "
    '"quoted" ~ _under_ | {{ 7*7 }} %s'
)
DAY = date(2026, 11, 16)
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FORBIDDEN = (
    "trigpoint", "software", "rules", "model", "review", "assessed", "analys", "rating", ".pdf", "_", "para.",
    "the documents do not", "citation", "passage",
)  # fmt: skip


@pytest.fixture
def result() -> ReviewResult:
    """A review with a shortfall, a provision, a sum and something that is left open, each certain."""
    evidence = evidence_of_text(f"{SHORT} {PLAN}\f{SUM} {LATER}")
    facts = (
        fact(evidence, "cycle_route.width", SHORT),
        fact(evidence, "travel_plan.exists", PLAN),
        fact(evidence, "cycle_parking.total", LATER, status="deferred", page=2),
    )
    return result_of(replace(stated(evidence, *facts), discrepancies=evidence.discrepancies))


def _rated(result: ReviewResult, rating: str, assessed: str) -> ReviewResult:
    review = result.review.model_copy(update={"overall_rating": rating, "assessed": assessed})
    return result.model_copy(update={"review": review})


def _pdf_text(pdf: bytes) -> str:
    with pymupdf.open(stream=pdf) as document:
        return " ".join(" ".join(page.get_text() for page in document).split())


def _word_paragraphs(content: bytes) -> list[str]:
    """The text of a Word file's paragraphs, read from its XML and not by the library that wrote it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        root = etree.fromstring(archive.read("word/document.xml"))
    return ["".join(node.text or "" for node in p.iter(f"{WORD}t")) for p in root.iter(f"{WORD}p")]


# --- the type --------------------------------------------------------------------------------


def test_a_point_goes_with_the_finding_it_rests_on() -> None:
    letter = Letter(
        stance="object",
        grounds=(
            Ground(id="a", text="The racks are too few.", rests_on=("cycle_parking.long_stay",)),
            Ground(id="b", text="The path is too narrow.", rests_on=("cycle_routes.width",)),
            Ground(id="c", text="My own point.", kind="remark"),
        ),
        conditions=(Condition(text="No dwelling shall be occupied …", rests_on=("cycle_parking.long_stay",)),),
    )
    left = letter.resting_on({"cycle_routes.width"})
    assert [ground.id for ground in left.grounds] == ["b", "c"]
    assert left.conditions == ()


def test_two_points_with_one_id_are_refused() -> None:
    with pytest.raises(ValidationError, match="two points of the letter have the id 'a'"):
        Letter(stance="comment", grounds=(Ground(id="a", text="One."), Ground(id="a", text="Two.")))


def test_a_drafted_letter_is_used_and_completed_from_the_register(result: ReviewResult) -> None:
    words = "The path is narrow (Document 1.pdf, page 1; LTN 1/20:Table 6-3)."
    drafted = Letter(
        stance="object", grounds=(Ground(id="a", text=words, references=(Reference(text="Document 1.pdf, page 1"),)),)
    )
    review = result.review.model_copy(update={"letter": drafted})
    application = result.application.model_copy(update={"authority_name": "Exeter City Council"})
    letter = draft_letter(result.model_copy(update={"review": review, "application": application}))
    assert letter.grounds[0].text == "The path is narrow (Document 1, page 1; LTN 1/20, table 6-3)."
    assert letter.grounds[0].references[0].text == "Document 1, page 1"
    assert (letter.reference, letter.council.name) == ("25/01178/REM", "Exeter City Council")
    assert letter.suggestion is not None
    assert letter.suggestion.stance == "object"


def test_a_drafted_letter_of_which_nothing_is_left_is_written_from_the_findings(result: ReviewResult) -> None:
    review = result.review.model_copy(update={"letter": Letter(stance="object")})
    letter = draft_letter(result.model_copy(update={"review": review}))
    assert letter.grounds[0].text.startswith("A route for cycling is narrower")


def test_findings_that_an_agent_numbered_become_points(result: ReviewResult) -> None:
    routes = next(aspect for aspect in result.review.aspects if aspect.id == "cycle_routes")
    named = tuple(routes.findings[0].model_copy(update={"check": name}) for name in ("F1", "F1", "Ä/ö " * 40))
    aspects = tuple(
        one.model_copy(update={"findings": named}) if one is routes else one for one in result.review.aspects
    )
    letter = draft_letter(result.model_copy(update={"review": result.review.model_copy(update={"aspects": aspects})}))
    assert [ground.id for ground in letter.grounds][:2] == ["f1", "f1-2"]


# --- references as people write them ---------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Transport Assessment.pdf", "Transport Assessment"),
        ("Transport_Assessment_v2.PDF", "Transport Assessment v2"),
        ("DESIGN_AND_ACCESS_STATEMENT-4567890.pdf", "Design and Access Statement"),
        ("12345678-Travel Plan.docx", "Travel Plan"),
        (
            "UTT_25_3011_OP-SECRETARY_OF_STATE_REFERRAL_-_ATTACHMENT-4751382.pdf",
            "Secretary of State Referral - Attachment",
        ),
        ("PA_25_00973_A1-ADDENDUM___PART_1-2292216.pdf", "Addendum Part 1"),
        ("ECC_HIGHWAYS_-_RESPONSE-4578404.pdf", "ECC Highways - Response"),
        ("BUS_STOP_PLAN.pdf", "Bus Stop Plan"),
        ("Drawing 1234-P01.pdf", "Drawing 1234-P01"),
        (".pdf", "Document"),
    ],
)
def test_documents_are_named_as_people_name_them(name: str, title: str) -> None:
    assert document_title(name) == title


@pytest.mark.parametrize(
    ("ref", "place"),
    [
        ("NPPF:para.117", "NPPF, paragraph 117"),
        ("LTN 1/20:Table 11-1", "LTN 1/20, table 11-1"),
        ("LTN 1/20:11.2", "LTN 1/20, section 11.2"),
        ("Manual for Streets:6.3.12", "Manual for Streets, paragraph 6.3.12"),
        ("Cherwell Local Plan:Policy SLE 4", "Cherwell Local Plan, policy SLE 4"),
        ("LTCP:Policy 1", "Oxfordshire Local Transport and Connectivity Plan, policy 1"),
        ("EXETER LOCAL PLAN:Policy T3", "Exeter Local Plan, policy T3"),
        ("NPPF:Annex 2: Glossary", "NPPF, annex 2: Glossary"),
    ],
)
def test_policies_are_cited_as_people_cite_them(ref: str, place: str) -> None:
    assert place_of_ref(ref) == place


def test_file_names_and_references_within_a_text_become_plain_words() -> None:
    text = "It is 2.5 m (Transport_Assessment.pdf, page 9), below LTN 1/20:Table 5-2; see also Plan.pdf."
    assert in_plain_words(text, ["Transport_Assessment.pdf"], ["LTN 1/20:Table 5-2"]) == (
        "It is 2.5 m (Transport Assessment, page 9), below LTN 1/20, table 5-2; see also Plan."
    )


# --- the draft -------------------------------------------------------------------------------


def test_grounds_are_in_order_of_weight_with_evidence_policy_and_what_is_asked(result: ReviewResult) -> None:
    letter = draft_letter(result)
    assert [ground.kind for ground in letter.grounds][:3] == ["shortfall", "contradiction", "request"]
    narrow, added, left_open = letter.grounds[:3]
    assert narrow.text.startswith("A route for cycling is narrower than the recommended 3.0 m: 2.5 m.")
    assert f"The Document 1 says (page 1): “{SHORT}”" in narrow.text
    assert "LTN 1/20, table 6-3, expects that shared use routes are at least 3.0 m wide" in narrow.text
    assert narrow.asks.startswith("have the applicant make shared routes and two-way cycle tracks at least 3.0 m wide")
    assert added.heading == "Cycle parking: figures that do not add up"
    assert "The parts make 134, not the 144" in added.text
    assert left_open.text.startswith(
        "The application leaves this to a condition, an illustration or a later approval: long-stay cycle parking at the "
        "rate for the use (Document 1, page 2). It should be settled before the decision."
    )
    assert (
        left_open.asks
        == "have the applicant settle now, rather than later, long-stay cycle parking at the rate for the use"
    )
    assert [ground.text for ground in letter.grounds if ground.kind == "strength"] == [
        "A travel plan is submitted or promised (Document 1, page 1)."
    ]


def test_the_letter_has_words_for_every_kind_of_contradiction() -> None:
    assert set(DISAGREEMENTS) == set(get_args(DiscrepancyKind))


def test_every_evidenced_point_leads_to_its_page(result: ReviewResult) -> None:
    quotations = {(one.document_id, one.passage_id, one.pages) for one in result.review.quotations()}
    for ground in draft_letter(result).grounds:
        assert ground.references, ground
        for reference in ground.references:
            if reference.quote:
                assert (reference.document_id, reference.passage_id, reference.pages) in quotations


@pytest.mark.parametrize("stance", ["object", "comment", "support"])
@pytest.mark.parametrize("reference", ["25/01178/REM", "24/00633/F", "25/02034/F", "25/01502/F"])
def test_no_letter_says_a_word_of_software_or_of_how_it_was_made(
    reference: str, stance: str, sample_evidence: Callable[[str], Evidence]
) -> None:
    drafted = first_letter(result_of(sample_evidence(reference)))
    letter = drafted.model_copy(
        update={
            "stance": stance,
            "grounds": tuple(ground.model_copy(update={"ticked": True}) for ground in drafted.grounds),
        }
    )
    for text in (letter_text(letter), _pdf_text(letter_pdf(letter)), "\n".join(_word_paragraphs(letter_docx(letter)))):
        own = re.sub("“[^”]*”", "", text).casefold()  # documents that are quoted may say what they like
        assert [word for word in FORBIDDEN if word in own] == []
        assert re.findall(r"\w:(?:table|para|policy|figure|\d)\S*", own) == []
        assert "planning application" in own


@pytest.mark.parametrize(
    ("rating", "assessed", "stance", "opening"),
    [
        ("red", "yes", "object", "I am writing to object to this application."),
        ("amber", "partly", "comment", "I neither support nor oppose it at this stage"),
        ("amber", "no", "comment", "I neither support nor oppose it at this stage"),
        ("green", "yes", "support", "I am writing to support this application"),
    ],
)
def test_the_stance_is_suggested_by_the_rating_with_a_reason(
    rating: str, assessed: str, stance: str, opening: str, result: ReviewResult
) -> None:
    letter = first_letter(_rated(result, rating, assessed))
    assert letter.stance == stance
    assert letter.suggestion is not None
    assert letter.suggestion.why
    assert letter.suggestion.why not in letter_text(letter)
    assert opening in letter_text(letter)


def test_an_objection_leaves_praise_and_open_questions_unticked(result: ReviewResult) -> None:
    letter = draft_letter(_rated(result, "red", "yes"))
    ticked = {ground.kind: ground.ticked for ground in letter.grounds}
    assert (ticked["shortfall"], ticked["strength"]) == (True, False)
    text = letter_text(letter)
    assert "Grounds of objection" in text
    assert "I ask the council, before it decides, to:\n- have the applicant " in text
    assert "refuse the application unless it is amended as set out above" in text


def test_if_nothing_could_be_judged_the_letter_asks_and_does_not_object() -> None:
    letter = first_letter(result_of(evidence_of_text("The site is a field. Bus stops are shown on the plan.")))
    assert letter.stance == "comment"
    assert {ground.kind for ground in letter.grounds} <= {"request", "question"}
    text = letter_text(letter)
    assert "object" not in text.casefold()
    assert letter_length(letter) <= 1


def test_a_letter_without_a_single_point_is_still_a_letter() -> None:
    text = letter_text(Letter(stance="comment", reference="25/01178/REM"))
    assert "I am writing to comment on this application." in text
    assert "Points to settle" not in text


def test_names_of_the_public_are_not_quoted(result: ReviewResult) -> None:
    routes = next(aspect for aspect in result.review.aspects if aspect.id == "cycle_routes")
    masked = routes.findings[0].evidence[0].model_copy(update={"quote": f"I am {MASK * 4} {MASK * 6}"})
    finding = routes.findings[0].model_copy(update={"evidence": (masked,)})
    aspects = tuple(
        one.model_copy(update={"findings": (finding,)}) if one is routes else one for one in result.review.aspects
    )
    made = result.model_copy(update={"review": result.review.model_copy(update={"aspects": aspects})})
    assert MASK not in letter_text(draft_letter(made))


def test_two_quotations_of_one_document_name_it_once(result: ReviewResult) -> None:
    parking = next(aspect for aspect in result.review.aspects if aspect.id == "cycle_parking")
    finding = next(one for one in parking.findings if one.outcome == "contradicted")
    second = finding.evidence[0].model_copy(update={"quote": "The total is 150.", "pages": (9,)})
    twice = finding.model_copy(update={"evidence": (finding.evidence[0], second)})
    aspects = tuple(
        one.model_copy(update={"findings": (twice,)}) if one is parking else one for one in result.review.aspects
    )
    made = result.model_copy(update={"review": result.review.model_copy(update={"aspects": aspects})})
    text = next(ground.text for ground in draft_letter(made).grounds if ground.kind == "contradiction")
    assert "It also says (page 9): “The total is 150.”" in text
    assert text.count("The Document 1 says") == 1


def test_a_row_of_a_table_is_told_and_not_quoted_with_its_bars(result: ReviewResult) -> None:
    routes = next(aspect for aspect in result.review.aspects if aspect.id == "cycle_routes")
    row = (
        routes.findings[0].evidence[0].model_copy(update={"quote": "Bicycle | 5% | 10%", "document": "Travel_Plan.pdf"})
    )
    finding = routes.findings[0].model_copy(update={"evidence": (row,)})
    aspects = tuple(
        one.model_copy(update={"findings": (finding,)}) if one is routes else one for one in result.review.aspects
    )
    made = result.model_copy(update={"review": result.review.model_copy(update={"aspects": aspects})})
    assert "A table in the Travel Plan reads (page 1): Bicycle; 5%; 10%." in draft_letter(made).grounds[0].text


def test_an_unknown_council_is_a_blank_to_fill_in_and_never_a_guess(result: ReviewResult) -> None:
    assert result.application.authority_name is None
    text = _pdf_text(letter_pdf(first_letter(result), DAY))
    assert (
        "Development Management [Name of the council] [Address of the council] 16 November 2026 Dear Sir or Madam,"
        in text
    )
    assert "Cherwell District Council" not in text


def test_with_an_organisation_the_letter_says_we() -> None:
    ground = Ground(id="a", text="The path is too narrow.", asks="widen the path")
    one = Letter(stance="object", grounds=(ground,), sender=Sender(name="A. Writer"))
    many = one.model_copy(update={"sender": Sender(name="A. Writer", organisation="Bicester Bike Users’ Group")})
    assert "I am writing to object" in letter_text(one)
    assert "For these reasons I ask" in letter_text(one)
    assert "We are writing to object" in letter_text(many)
    assert "For these reasons we ask" in letter_text(many)
    assert letter_text(many).endswith("A. Writer\nBicester Bike Users’ Group\n")


# --- length ----------------------------------------------------------------------------------


def test_a_letter_has_two_pages_at_the_most_and_the_rest_is_an_annex(result: ReviewResult) -> None:
    routes = next(aspect for aspect in result.review.aspects if aspect.id == "cycle_routes")
    many = tuple(
        routes.findings[0].model_copy(update={"text": f"Path {number} is too narrow. " + "It is long. " * 40})
        for number in range(20)
    )
    aspects = tuple(
        one.model_copy(update={"findings": many}) if one is routes else one for one in result.review.aspects
    )
    letter = first_letter(result.model_copy(update={"review": result.review.model_copy(update={"aspects": aspects})}))
    assert letter_length(letter) <= 2
    with pymupdf.open(stream=letter_pdf(letter)) as document:
        pages = [page.get_text() for page in document]
    annex = next(number for number, text in enumerate(pages) if text.startswith("Annex"))
    assert annex <= 2
    assert "Yours faithfully" in "".join(pages[:annex])
    assert "Path 19 is too narrow" in " ".join("".join(pages[annex:]).split())
    assert letter.grounds[0].annex is False


def test_the_length_grows_with_the_text() -> None:
    def length(words: int) -> float:
        return letter_length(Letter(stance="object", grounds=(Ground(id="a", text="Too narrow here. " * words),)))

    assert length(1) < length(60) < length(260)
    assert length(260) > 1


def test_one_ground_that_is_longer_than_two_pages_is_still_printed_whole() -> None:
    ground = Ground(id="a", text=" ".join(f"Sentence {number}." for number in range(400)))
    text = _pdf_text(letter_pdf(Letter(stance="object", grounds=(ground,))))
    assert "Sentence 0." in text
    assert "Sentence 399." in text


# --- files -----------------------------------------------------------------------------------


@pytest.fixture
def hostile() -> Letter:
    return Letter(
        stance="object",
        reference="25/01178/REM",
        site=HOSTILE,
        proposal=HOSTILE,
        council=Council(name=f"Council {HOSTILE}", address=f"{HOSTILE}\n2 High Street"),
        sender=Sender(
            name=HOSTILE, organisation="\x00\x1b[31m\ufffe & Sons", address="1 <Road>\nTown", email="a@b.example"
        ),
        opening=f"First paragraph {HOSTILE}\n\nSecond paragraph.",
        grounds=(Ground(id="a", heading=HOSTILE, text=f"Point {HOSTILE}", asks=HOSTILE),),
        conditions=(Condition(text=HOSTILE),),
    )


def test_text_never_becomes_markup_in_the_pdf(hostile: Letter) -> None:
    pdf = letter_pdf(hostile, DAY)
    text = _pdf_text(pdf)
    assert text.count("<script>alert(1)</script>") >= 7
    assert "#import sys; $x$ *bold*" in text
    with pymupdf.open(stream=pdf) as document:
        assert not [link for page in document for link in page.get_links()]


def test_the_word_file_is_well_formed_and_holds_the_text_as_text(hostile: Letter) -> None:
    paragraphs = _word_paragraphs(letter_docx(hostile, DAY))
    whole = "\n".join(paragraphs)
    assert whole.count("<script>alert(1)</script>") >= 7
    assert "Second paragraph." in paragraphs
    assert "16 November 2026" in paragraphs


def test_another_library_opens_the_word_file_and_finds_the_letter(result: ReviewResult) -> None:
    letter = first_letter(result)
    with pymupdf.open(stream=letter_docx(letter, DAY), filetype="docx") as document:
        text = " ".join(" ".join(page.get_text() for page in document).split())
    assert "Comments on planning application 25/01178/REM" in text
    assert " ".join(letter.grounds[0].text.split()) in text


def test_the_word_file_has_headings_and_lists_and_nothing_of_its_library(result: ReviewResult) -> None:
    content = letter_docx(first_letter(_rated(result, "red", "yes")), DAY)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        root = etree.fromstring(archive.read("word/document.xml"))
        properties = archive.read("docProps/core.xml").decode()
        relations = archive.read("word/_rels/document.xml.rels").decode()
    styles = [node.get(f"{WORD}val") for node in root.iter(f"{WORD}pStyle")]
    assert styles.count("Heading2") >= 2
    assert {"ListNumber", "ListBullet"} <= set(styles)
    assert "python-docx" not in properties
    assert "Objection to planning application 25/01178/REM" in properties
    assert 'TargetMode="External"' not in relations
    size = next(root.iter(f"{WORD}pgSz"))
    assert (round(int(size.get(f"{WORD}w")) / 567, 1), round(int(size.get(f"{WORD}h")) / 567, 1)) == (21.0, 29.7)


def test_pdf_word_and_text_say_the_same(result: ReviewResult) -> None:
    letter = first_letter(_rated(result, "red", "yes"))
    word, pdf = " ".join(" ".join(_word_paragraphs(letter_docx(letter))).split()), _pdf_text(letter_pdf(letter))
    for ground in letter.grounds:
        if ground.ticked:
            assert " ".join(ground.text.split()) in word
            assert ground.text.split(". ")[0] in pdf
    for line in letter_text(letter).splitlines():
        plain = re.sub(r"^(\d+\. |- )", "", line)
        if not plain.isupper():
            assert plain in word or plain in ("[Your name]", "Yours faithfully,"), plain


def test_plain_text_has_no_addresses_because_the_form_asks_for_them(hostile: Letter) -> None:
    text = letter_text(hostile)
    assert "2 High Street" not in text
    assert "a@b.example" not in text
    assert text.startswith("OBJECTION TO PLANNING APPLICATION 25/01178/REM\n")


def test_the_pdf_is_tagged_and_names_its_title_and_writer(result: ReviewResult) -> None:
    letter = first_letter(result).model_copy(update={"sender": Sender(name="A. Writer")})
    with pymupdf.open(stream=letter_pdf(letter)) as document:
        assert document.metadata["title"] == "Comments on planning application 25/01178/REM"
        assert document.metadata["author"] == "A. Writer"
        assert b"/MarkInfo" in document.xref_object(document.pdf_catalog()).encode()
