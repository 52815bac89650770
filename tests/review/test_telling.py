"""How a judged review is told: its main part, its summary in parts, its letter, and what was read of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from review_samples import evidence_of_text, result_of

from trigpoint.reading.documents import Document
from trigpoint.reading.profile import UseSize
from trigpoint.review.agent import shown
from trigpoint.review.aspects import load_aspects
from trigpoint.review.assemble import assemble_review
from trigpoint.review.citing import council_name, tidied
from trigpoint.review.concluded_sentences import conclusion_verdicts, known_of, sentence_reasons
from trigpoint.review.conclusion import Conclusion, Quality, Sentence
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import Calculation, Finding
from trigpoint.review.letter import Ground, Letter
from trigpoint.review.letter_blocks import letter_blocks
from trigpoint.review.letter_draft import draft_letter
from trigpoint.review.letter_files import letter_text
from trigpoint.review.models import ReviewOptions
from trigpoint.review.overview import MOST_IN_REPORT, Overview
from trigpoint.review.rating import key_issue
from trigpoint.review.render import render_pdf, report_data
from trigpoint.review.result import AspectReview, ReviewBody, ReviewResult
from trigpoint.review.submitted import (
    Cited,
    DraftConclusion,
    DraftFinding,
    DraftGround,
    ProfileCorrection,
    Quote,
    SizeCorrection,
    SummarySentence,
)
from trigpoint.text.mupdf import mupdf

TEXT = (
    "1 Proposed development\n\nThe proposed shared path along Mill Lane will be 2.5 m wide.\n\n"
    "The park will have 96 holiday lodges and a building of 420 sqm.\f"
    "2 Ecology\n\nBats were seen at the barn on two nights.\f"
    "Newts were not seen at the pond.\f"
    "3 Heads of terms\n\nThe applicant offers nothing more.\n"
)
LODGES = Quote(document="D1", page=1, words="The park will have 96 holiday lodges")


def draft_of(text: str = TEXT, **more: Any) -> ReviewDraft:
    return ReviewDraft(evidence_of_text(text, **more), ("cycle_parking", "cycle_routes"))


def finding(check: str, outcome: str) -> Finding:
    return Finding(check=check, requirement="R", outcome=outcome, text=f"Point {check}.")  # type: ignore[arg-type]


def review(findings: list[Finding], **conclusion: Any) -> ReviewBody:
    aspect = AspectReview(id="a", name="A", rating="amber", key_issue="", findings=tuple(findings))
    return ReviewBody(
        overall_rating="amber", summary="", aspects=(aspect,), conclusion=Conclusion.model_validate(conclusion)
    )


# -- the report


def test_the_main_part_of_a_report_is_what_the_conclusion_chose_in_its_order() -> None:
    findings = [finding(f"f{n}", ("failed", "partly", "met", "contradicted")[n % 4]) for n in range(24)]
    chosen = [f"f{n}" for n in (5, 4, 7, 2, 6, 3, 1)]
    part = Overview(review(findings, main=chosen)).report
    assert [point.finding.check for point in part.matters] == ["f5", "f4", "f7", "f3", "f1"]
    assert [point.finding.check for point in part.good] == ["f2", "f6"]


@pytest.mark.parametrize("named", [(), tuple(f"f{n}" for n in range(30))])
def test_the_main_part_has_at_most_fifteen_findings(named: tuple[str, ...]) -> None:
    findings = [finding(f"f{n}", "contradicted" if n % 2 else "failed") for n in range(60)]
    part = Overview(review(findings, main=named)).report
    assert len(part.matters) + len(part.good) == MOST_IN_REPORT == 15


def test_a_summary_is_told_in_three_parts_by_its_writer_or_by_what_it_rests_on() -> None:
    sentences = [
        Sentence(text="Sixty homes are proposed."),
        Sentence(text="The stores are covered.", rests_on=("good",)),
        Sentence(text="The path is narrow.", rests_on=("good", "short")),
        Sentence(text="Much else is good.", rests_on=("short",), part="good"),
    ]
    body = review([finding("good", "met"), finding("short", "failed")], summary=sentences)
    text = " ".join(one.text for one in sentences)
    told = Overview(body.model_copy(update={"summary": f"One file was lost. {text} Page 3 was not read."})).told
    assert told is not None
    assert told.proposed == ("Sixty homes are proposed.",)
    assert told.good == ("The stores are covered.", "Much else is good.")
    assert told.decides == ("The path is narrow.",)
    assert told.notes == "One file was lost. Page 3 was not read."


def test_the_first_page_of_the_report_says_what_is_proposed_what_is_good_and_what_decides() -> None:
    result = judged(draft_of())
    with mupdf().open(stream=render_pdf(result)) as pdf:
        first = " ".join(pdf[0].get_text().split())
    for words in ("What is proposed", "What decides", "The shared path along Mill Lane is 2.5 m wide.", "read whole"):
        assert words in first
    assert [point["text"] for point in report_data(result)["main"]] == [
        "The shared path along Mill Lane is 2.5 m wide. It is narrower than policy asks."
    ]


def test_the_first_page_tells_the_pages_once_the_date_and_what_was_not_read() -> None:
    result = judged(draft_of())
    counts = result.metadata.documents.model_copy(
        update={"pages": 46, "pages_read": 46, "pages_by_ocr": 12, "ingested": 2, "reading": "46 of 46 pages read"}
    )
    quality = Quality(pages=46, pages_read=35, pages_not_read="Planning Statement, pages 3 to 9")
    metadata = result.metadata.model_copy(
        update={"documents": counts, "quality": quality, "policy_date_from": "date_of_documents"}
    )
    body = result.review.model_copy(update={"not_seen": ("the Travel Plan (named in Planning Statement, page 7)",)})
    with mupdf().open(stream=render_pdf(result.model_copy(update={"metadata": metadata, "review": body}))) as pdf:
        first, *others = (" ".join(page.get_text().split()) for page in pdf)
    assert "2 documents, 46 pages: 35 read whole, 11 only searched for words. The text of 12 comes from OCR." in first
    assert "46 of 46 pages read" not in first
    assert "the date of the documents, because no date of validation is given" in first
    assert "Named, not read The Travel Plan." in first
    assert "Object to it as it stands" not in first  # no letter was drafted
    assert "the Travel Plan (named in Planning Statement, page 7)" in " ".join(others)
    assert "Planning Statement, pages 3 to 9" in " ".join(others)


def test_the_key_issue_is_the_shortfall_that_the_conclusion_puts_first_and_never_a_point_without_one() -> None:
    hub = finding("hub", "partly").model_copy(update={"essential": True})
    late = finding("late", "contradicted")
    assert key_issue("Cycle parking", "amber", [hub, late]) == "Point late"
    lacking = hub.model_copy(update={"text": "The hub is secure. It opens late.", "lacking": "It opens late."})
    assert key_issue("Cycle parking", "amber", [lacking, late]) == "The hub is secure. It opens late"
    draft = draft_of()
    result = judged(draft)
    routes = next(one for one in result.review.aspects if one.id == "cycle_routes")
    assert routes.key_issue.startswith("The shared path along Mill Lane is 2.5 m wide")


# -- the letter


def judged(draft: ReviewDraft, **changes: Any) -> ReviewResult:
    """Return a review of one finding, concluded as these changes say."""
    width = DraftFinding(
        aspect="cycle_routes",
        question="width",
        outcome="partly",
        statement="The shared path along Mill Lane is 2.5 m wide.",
        lacking="It is narrower than policy asks.",
        evidence=(Quote(document="D1", page=1, words="shared path along Mill Lane will be 2.5 m wide"),),
        recommendation="widen the shared path along Mill Lane",
    )
    draft.submit_findings([width])
    given: dict[str, Any] = {
        "summary": (
            SummarySentence(text="Two hundred homes are proposed."),
            SummarySentence(text="The shared path along Mill Lane is 2.5 m wide.", rests_on=("F1",)),
        ),
        "stance": "object",
        "main": ("F1",),
    }
    judgement = draft.conclude(DraftConclusion.model_validate(given | changes), model="test")
    result = result_of(draft.evidence)
    return result.model_copy(update={"review": assemble_review(judgement, ReviewOptions())})


def ground(text: str = "The shared path along Mill Lane is 2.5 m wide") -> DraftGround:
    return DraftGround(heading="A narrow path", text=text, rests_on=("F1",), asks="widen the path on Mill Lane")


def test_a_ground_ends_with_the_pages_on_which_it_can_be_checked() -> None:
    letter = judged(draft_of(), letter=(ground(),)).review.letter
    assert letter is not None
    assert letter.grounds[0].text.startswith("The shared path along Mill Lane is 2.5 m wide. (See ")
    assert letter.grounds[0].text.endswith(", page 1.)")


def test_a_ground_names_the_pages_that_have_its_words_and_those_of_what_was_noted() -> None:
    draft = draft_of()
    judged(draft)
    noted = DraftFinding(
        aspect="cycle_routes",
        outcome="noted",
        requirement="What is offered for cycling",
        statement="The applicant offers nothing more for the shared path.",
        evidence=(Quote(document="D1", page=4, words="The applicant offers nothing more."),),
    )
    [verdict] = draft.submit_findings([noted])
    draft.open_noted()
    assert verdict.verdict == "verified"
    both = ground("The shared path along Mill Lane is 2.5 m wide, and the applicant offers nothing more.")
    only = ground("The shared path along Mill Lane is 2.5 m wide.")
    for given, pages in ((both.model_copy(update={"rests_on": ("F1", "F2")}), "pages 1 and 4"), (only, "page 1")):
        letter = judged(draft, letter=(given,)).review.letter
        assert letter is not None
        assert letter.grounds[0].text.endswith(f", {pages}.)")


def test_a_letter_writes_units_and_apostrophes_as_printed_text_does_and_leaves_quotations_alone() -> None:
    said = "The applicant's path is 2.5m wide at 30mph and costs £2m; page 3 says “a 2.5m path in the council's plan”."
    assert tidied(said) == (
        "The applicant’s path is 2.5 m wide at 30 mph and costs £2m; page 3 says “a 2.5m path in the council's plan”."
    )


def test_the_council_is_named_after_its_slug_if_the_table_of_registers_does_not_know_it() -> None:
    assert council_name("wenbridge-and-marden-borough-council") == "Wenbridge and Marden Borough Council"
    assert council_name("cherwell") == ""


def test_a_page_that_a_ground_names_itself_is_not_named_twice() -> None:
    draft = draft_of()
    title = draft.evidence.documents[0].name.removesuffix(".pdf").replace("_", " ")
    text = f"The shared path along Mill Lane is 2.5 m wide, says page 1 of the {title}."
    letter = judged(draft, letter=(ground(text),)).review.letter
    assert letter is not None
    assert letter.grounds[0].text == text


def test_a_ground_that_makes_a_point_again_is_sent_back_and_left_out() -> None:
    draft = draft_of()
    result = judged(draft, letter=(ground(), ground("Mill Lane has a path of 2.5 m.")))
    assert result.review.letter is not None
    assert len(result.review.letter.grounds) == 1
    given = DraftConclusion(
        summary=(SummarySentence(text="Homes are proposed."),), stance="object", letter=(ground(), ground())
    )
    [verdict] = draft.check_conclusion(given)
    assert verdict.id == "letter 2"
    assert "letter 1" in verdict.reasons[0]


def test_an_open_point_may_be_in_the_main_part_and_a_ground_of_the_letter() -> None:
    draft = draft_of()
    judged(draft)
    [verdict] = draft.submit_findings(
        [
            DraftFinding(
                aspect="cycle_parking",
                question="short_stay",
                outcome="not_shown",
                statement="We did not find parking for visitors.",
                looked_for=("visitor", "short stay"),
                condition="Before first use 20 visitor spaces shall be provided.",
            )
        ]
    )
    assert verdict.verdict == "verified"
    assert "not shown: We did not find parking for visitors" in shown.verified(draft)
    visitors = DraftGround(
        heading="Visitors", text="I found no parking for visitors.", rests_on=("F2",), asks="have the 20 spaces shown"
    )
    result = judged(draft, main=("F2", "F1"), letter=(ground(), visitors))
    labels = [(point.label, point.finding.text) for point in Overview(result.review).report.matters]
    assert [label for label, _ in labels] == ["Not shown", "Partly met"]
    assert "parking for visitors" in labels[0][1]
    assert result.review.letter is not None
    assert [one.kind for one in result.review.letter.grounds] == ["shortfall", "request"]
    printed = letter_text(result.review.letter.model_copy(update={"stance": "comment"}))
    assert (
        "I ask the council, before it decides, to:\n- widen the path on Mill Lane;\n- have the 20 spaces shown."
        in printed
    )


def test_a_letter_tells_whole_spaces_where_a_sum_gives_a_fraction() -> None:
    draft = draft_of()
    judged(draft)
    sum_ = Calculation(expression="79.9 - 18 = 61.9", inputs=(79.9, 18), result=61.9)
    short = draft.verified()["F1"].model_copy(update={"calculations": (sum_,)})
    held = {"F1": draft.state.held["F1"].model_copy(update={"finding": short})}
    for words, holds in (("Mill Lane is 62 spaces short.", True), ("Mill Lane is 64 spaces short.", False)):
        one = DraftGround(heading="Spaces", text=words, rests_on=("F1",))
        assert (not sentence_reasons("letter", one, known_of({"F1": short}, held), draft.evidence)) is holds, words


def test_a_figure_that_is_asked_for_and_that_no_finding_has_is_sent_back() -> None:
    draft = draft_of()
    judged(draft)
    strange = ground().model_copy(update={"asks": "widen the path on Mill Lane to 4.7 m"})
    given = DraftConclusion(summary=(SummarySentence(text="Homes are proposed."),), stance="object", letter=(strange,))
    [verdict] = draft.check_conclusion(given)
    assert verdict.reasons[0].startswith("What it asks: 4.7:")
    letter = judged(draft, letter=(strange,)).review.letter
    assert letter is not None
    assert (len(letter.grounds), letter.grounds[0].asks) == (1, "")


def test_an_agreement_under_the_acts_needs_no_source() -> None:
    draft = draft_of()
    judged(draft)
    secured = ground().model_copy(update={"asks": "secure the path on Mill Lane by a Section 106 agreement"})
    given = DraftConclusion(summary=(SummarySentence(text="Homes are proposed."),), stance="object", letter=(secured,))
    assert draft.check_conclusion(given) == []


def test_two_points_of_the_main_part_that_rest_on_the_same_words_are_sent_back() -> None:
    draft = draft_of()
    judged(draft)
    findings = {"F1": draft.verified()["F1"], "F2": draft.verified()["F1"].model_copy(update={"check": "other"})}
    given = DraftConclusion(summary=(SummarySentence(text="Homes are proposed."),), stance="object", main=("F1", "F2"))
    [verdict] = conclusion_verdicts(given, findings, draft.evidence, {})
    assert verdict.id == "main"
    assert "F1 and F2 rest on the same words" in verdict.reasons[0]


def test_an_objection_may_begin_with_a_fair_word() -> None:
    welcome = Ground(id="a", kind="strength", text="The path along Mill Lane is welcome.")
    short = Ground(id="b", text="The stores are too small.")
    printed = letter_text(Letter(stance="object", grounds=(short, welcome)))
    opening, fair, heading = printed.split("\n\n")[1:4]
    assert opening.startswith("I am writing to object to this application.")
    assert (fair, heading) == ("The path along Mill Lane is welcome.", "Grounds of objection")
    assert "What I welcome" not in printed


def test_sentences_of_a_conclusion_begin_and_end_as_sentences() -> None:
    asked = {"recommendations": [{"text": "widen the shared path along Mill Lane", "rests_on": ["F1"]}]}
    assert judged(draft_of(), **asked).review.recommendations == ("Widen the shared path along Mill Lane.",)


def _with_consultee(evidence: Evidence) -> Evidence:
    text = "# Essex County Council\n\n3 March 2026\n\nThe Council raises an objection to the application.\n"
    letter = Document(id="response", name="ECC_Response.md", text=text, source_kind="consultee")
    return replace(evidence, documents=(*evidence.documents, letter))


def test_an_answer_that_the_conclusion_calls_outdated_is_not_quoted() -> None:
    evidence = _with_consultee(evidence_of_text(TEXT))

    def draft() -> ReviewDraft:
        return ReviewDraft(evidence, ("cycle_parking", "cycle_routes"))

    assert "K1: Essex County Council wrote on 3 March 2026" in shown.answers_of_consultees(draft())
    assert len(judged(draft(), letter=(ground(),)).review.consultees) == 1
    assert judged(draft(), letter=(ground(),), outdated=("K1",)).review.consultees == ()


# -- orientation


def test_orientation_shows_the_headings_of_the_pages_that_are_not_on_the_reading_list() -> None:
    draft = draft_of()
    assert shown.contents(draft.sheets, ["D1:1"]).splitlines()[1:-1] == ["D1: p2-3 2 Ecology; p4 3 Heads of terms"]
    assert shown.contents(draft.sheets, ["D1:1", "D1:2", "D1:3", "D1:4"]) == ""


def test_the_headings_of_a_very_long_document_stay_within_their_size() -> None:
    names = [
        "".join(chr(97 + int(digit)) for digit in f"{n:03}") for n in range(1, 500)
    ]  # running lines are no headings
    text = "\f".join(f"{n} The {w} of {w * 9}\n\nThe {w} is near {w * 3}." for n, w in enumerate(names, 1))
    words = shown.contents(draft_of(text).sheets, [])
    assert "p499 " in words
    assert len(words) < 2 * shown.MOST_CONTENTS


def test_a_size_is_corrected_by_words_that_state_it_and_decides_what_is_asked() -> None:
    draft = draft_of(proposal="Change of use of land")
    size = SizeCorrection(use="holiday", size=96, unit="unit", quote=LODGES)
    area = SizeCorrection(
        use="leisure", size=420, unit="m2", quote=Quote(document="D1", page=1, words="a building of 420 sqm")
    )
    assert draft.correct_profile(ProfileCorrection(uses=("holiday",), sizes=(size, area))).verdict == "verified"
    profile = draft.evidence.profile
    assert [(one.use, one.size, one.unit) for one in profile.uses] == [("holiday", 96, "unit"), ("leisure", 420, "m2")]
    assert (profile.scale, profile.uses[0].source and profile.uses[0].source.page) == ("minor", 1)
    assert "holiday 96 unit" in shown.application(draft.orientation())


def test_a_size_that_nothing_states_is_not_taken_and_the_others_are() -> None:
    draft = draft_of()
    wrong = SizeCorrection(use="holiday", size=120, unit="unit", quote=LODGES)
    elsewhere = SizeCorrection(
        use="holiday", size=96, unit="unit", quote=Quote(document="D1", page=1, words="ninety lodges by the lake")
    )
    unit = SizeCorrection(use="leisure", size=96, unit="m2", quote=LODGES)
    for one in (wrong, elsewhere, unit):
        assert draft.correct_profile(ProfileCorrection(sizes=(one,))).verdict == "dropped"
    stated = SizeCorrection(use="dwellings", size=200, unit="dwelling")
    verdict = draft.correct_profile(ProfileCorrection(sizes=(wrong, stated)))
    assert (verdict.verdict, len(verdict.reasons)) == ("verified", 1)
    assert draft.evidence.profile.dwellings == 200


def test_orientation_shows_the_statements_that_sizes_were_read_from_and_a_wrong_one_is_struck_out() -> None:
    text = (
        "1 Proposed development\n\nThe proposed development comprises 138 homes with a gross floor area of 650 sqm for shops.\n\n"
        "The hospital has 2,140 existing employees.\n"
    )
    draft = draft_of(text)
    told = shown.sizes(draft)
    assert "p1: The hospital has 2,140 existing employees." in told
    assert "138 homes" in told
    strike = ProfileCorrection.model_validate({"no_sizes": [{"use": "dwellings", "unit": "m2"}]})
    read = draft.evidence.profile.model_copy(
        update={"uses": (*draft.evidence.profile.uses, UseSize(use="dwellings", size=650, unit="m2"))}
    )
    draft.state = draft.state.model_copy(update={"profile": read})
    assert draft.correct_profile(strike).verdict == "verified"
    assert ("dwellings", 650) not in {(one.use, one.size) for one in draft.evidence.profile.uses}
    assert ("dwellings", 200) in {(one.use, one.size) for one in draft.evidence.profile.uses}  # of the proposal


def test_a_corrected_number_of_homes_changes_the_scale() -> None:
    draft = draft_of("The scheme is for 6 houses.", proposal="Erection of 60 dwellings")
    assert draft.evidence.profile.scale == "major"
    homes = Quote(document="D1", page=1, words="The scheme is for 6 houses")
    draft.correct_profile(
        ProfileCorrection(sizes=(SizeCorrection(use="dwellings", size=6, unit="dwelling", quote=homes),))
    )
    assert (draft.evidence.profile.scale, draft.evidence.profile.dwellings) == ("minor", 6)
    cycle_parking = next(one for one in load_aspects() if one.id == "cycle_parking")
    assert cycle_parking.asked(draft.evidence.profile)


# -- what was read


def test_the_summary_says_how_many_pages_were_read_and_which_not() -> None:
    draft = draft_of()
    draft.read("D1", 1)
    draft.note_read(["D1:9"])  # a page without text counts as none
    quality = draft.quality()
    assert (quality.pages_read, quality.pages) == (1, 4)
    assert quality.pages_not_read.endswith(", pages 2 to 4")
    assert "1 of 4 pages with text was read whole; 3 were only searched for words: " in judged(draft).review.summary


@pytest.mark.parametrize(
    ("read", "pages", "words"),
    [(3, 3, "All 3 pages with text were read whole."), (1, 1, "Its only page was read whole."), (0, 0, "")],
)
def test_pages_that_were_all_read_are_told_so(read: int, pages: int, words: str) -> None:
    assert Quality(pages_read=read, pages=pages).reading() == words


def test_a_letter_prints_what_a_consultee_says_once() -> None:
    draft = ReviewDraft(_with_consultee(evidence_of_text(TEXT)), ("cycle_parking", "cycle_routes"))
    blocks = letter_blocks(draft_letter(judged(draft, letter=(ground(),))), date(2026, 7, 1))
    assert sum("Essex County Council wrote on 3 March 2026" in block.text for block in blocks) == 1


def test_what_an_open_point_says_may_be_told_and_asked_for_next_to_what_is_met() -> None:
    """Figures of the open point's own words count, and a condition that rests on one is not called needless."""
    draft = draft_of()
    judged(draft)
    [verdict] = draft.submit_findings(
        [
            DraftFinding(
                aspect="cycle_parking",
                question="short_stay",
                outcome="not_shown",
                statement="There will be 96 lodges; we did not find parking for visitors.",
                evidence=(Quote(document="D1", page=1, words="The park will have 96 holiday lodges"),),
                looked_for=("visitor", "short stay"),
            )
        ]
    )
    assert verdict.verdict == "verified"
    met = draft.verified()["F1"].model_copy(update={"outcome": "met"})
    held = {"F1": draft.state.held["F1"].model_copy(update={"finding": met}), "F2": draft.state.held["F2"]}
    known = known_of({"F1": met}, held)
    told = Cited(
        text="Before first use, spaces for visitors of the 96 lodges shall be provided.", rests_on=("F1", "F2")
    )
    assert sentence_reasons("conditions", told, known, draft.evidence) == []
    needless = told.model_copy(update={"rests_on": ("F1",)})
    assert "It rests only on points that are met" in sentence_reasons("conditions", needless, known, draft.evidence)
