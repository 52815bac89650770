"""What officers recommend and the day of the committee: read from reports of many styles, or left unsaid."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pymupdf
import pytest
from review_samples import REF, document, evidence_of_text, result_of

from trigpoint.review.aspects import load_aspects
from trigpoint.review.concluding import conclude
from trigpoint.review.evidence import Evidence
from trigpoint.review.letter_files import first_letter, letter_text
from trigpoint.review.markdown import render_markdown
from trigpoint.review.officers import OfficersRecommendation, officers_recommendation
from trigpoint.review.render import render_json, render_pdf
from trigpoint.review.result import ReviewResult
from trigpoint.review.rules import judge_by_rules
from trigpoint.review.verify import citation_problem, verify

BODY = "The site lies at the edge of the town and is allocated for housing in the adopted Local Plan."

TABLE = f"""# Netherby Borough Council

## Planning Committee, 10 December 2025

| | |
|---|---|
| Application | {REF} |
| Case officer | J. Pell |
| Recommendation | **Approve** subject to conditions and the completion of a Section 106 agreement |

## 1. Site

{BODY}
"""
FORM = f"""ARDLEY DISTRICT COUNCIL
DELEGATED REPORT

Application Number: {REF}
Date Valid: 21 May 2025
Officer Recommendation: Refuse

1. PROPOSAL

{BODY}

2. REASONS FOR REFUSAL

1. The proposal would cause harm to highway safety.
"""
LONDON = f"""LONDON BOROUGH OF WEIRHAM
STRATEGIC DEVELOPMENT COMMITTEE
Date of Meeting: 03/12/2025

Reference: {REF}

1.0 SITE AND SURROUNDINGS

1.1 {BODY}

12.0 RECOMMENDATION

12.1 That the Committee resolve to GRANT planning permission subject to:

a) the prior completion of a legal agreement under s.106 to secure affordable housing; and

b) the conditions set out in Appendix 2.

12.2 That, if the agreement is not completed by 31 March 2026, the Director be authorised to REFUSE planning permission.
"""
PROSE = f"""Report of the Head of Development to the Area Planning Sub-Committee

Application {REF} will be considered by the Sub-Committee on Thursday, 8th January 2026.

Assessment

{BODY}

Conclusion

The harm to the conservation area would not be outweighed. It is therefore recommended that planning permission be refused \
for the reasons given at the end of this report.
"""
DEFERRED = f"""REPORT TO: Planning Committee
DATE: 14 January 2026
REPORT BY: Planning Manager

{REF}: land at Mill Lane

{BODY}

In view of the late plans, officers recommend that the application be deferred to allow consultation on them.
"""
LINE = f"""**Item 7** | **{REF}** | Mill Lane | **Committee date:** Tuesday 2 December 2025

**Case officer:** P. Arun | **Officer's recommendation:** Delegated approval on completion of a unilateral undertaking

{BODY}
"""
PERMIT = f"""Tewkmoor Borough Council
Planning Committee - 16 December 2025

Ref: {REF}

Recommendation

Permit

{BODY}
"""
DELEGATE = f"""Committee: Development Control Committee
Committee date: 4th February 2026
Application: {REF}

RECOMMENDATION: DEFER AND DELEGATE TO THE HEAD OF PLANNING TO APPROVE subject to conditions

{BODY}
"""


def _evidence(*texts: str, names: tuple[str, ...] = ()) -> Evidence:
    named = names or tuple(f"Officer_Report_{number}.pdf" for number, _ in enumerate(texts, 1))
    documents = tuple(document(text, number, name=named[number - 1]) for number, text in enumerate(texts, 1))
    return replace(evidence_of_text("Nothing."), documents=documents)


def _read(*texts: str, names: tuple[str, ...] = ()) -> OfficersRecommendation | None:
    return officers_recommendation(_evidence(*texts, names=names))


def _words(*texts: str) -> str:
    told = _read(*texts)
    return told.words if told else ""


@pytest.mark.parametrize(
    ("text", "words", "day"),
    [
        pytest.param(TABLE, "approval subject to conditions and a Section 106 agreement", "2025-12-10", id="table"),
        pytest.param(FORM, "refusal", "", id="form"),
        pytest.param(LONDON, "approval subject to conditions and a Section 106 agreement", "2025-12-03", id="list"),
        pytest.param(PROSE, "refusal", "2026-01-08", id="sentence"),
        pytest.param(DEFERRED, "deferral", "2026-01-14", id="deferred"),
        pytest.param(LINE, "approval subject to a legal agreement", "2025-12-02", id="line"),
        pytest.param(PERMIT, "approval", "2025-12-16", id="permit"),
        pytest.param(DELEGATE, "approval subject to conditions", "2026-02-04", id="delegate"),
    ],
)
def test_reports_of_many_styles_are_read(text: str, words: str, day: str) -> None:
    evidence = _evidence(text)
    told = officers_recommendation(evidence)
    assert told is not None
    assert (told.words, told.committee) == (words, day)
    assert citation_problem(told.citation, evidence) is None


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("RECOMMENDATION: APPROVE WITH CONDITIONS", "approval subject to conditions"),
        ("Recommendation – That planning permission be GRANTED", "approval"),
        ("Summary of Recommendation: Conditional Permission", "approval subject to conditions"),
        ("Recommended decision: Refuse", "refusal"),
        ("Officers' recommendation: that approval of reserved matters be REFUSED", "refusal"),
        ("The application is recommended for approval.", "approval"),
        ("The recommendation remains to approve, subject to conditions and a planning obligation.",
         "approval subject to conditions and a legal agreement"),
        ("Planning permission is therefore recommended, subject to conditions.", "approval subject to conditions"),
        ("RECOMMENDATION: APPROVAL SUBJECT TO\n\nA)\n\nCompletion of a s106 agreement\n\nB)\n\nConditions",
         "approval subject to conditions and a Section 106 agreement"),
        ("**Applicant:** Fenwick Homes **Agent:** Pell LLP **Recommendation:** Grant subject to conditions.",
         "approval subject to conditions"),
        ("Accordingly, officers recommend that permission is granted without conditions.", "approval"),
        ("RECOMMENDATION: Grant subject to a S106 agreement, failing which refuse", "approval subject to a Section 106 agreement"),
        ("Recommendation: That application no. 25/01178/REM be refused on the ground of harm to the approved route", "refusal"),
    ],
)  # fmt: skip
def test_what_is_advised_and_what_it_depends_on(label: str, words: str) -> None:
    assert _words(f"Fenwick Council\nPlanning Committee, 10 December 2025\n\n{label}\n\n{BODY}\n") == words


@pytest.mark.parametrize(
    "words",
    [
        "RECOMMENDATION: see end of report",
        "Members are recommended to note the report and the reasons for refusal given to the earlier scheme.",
        "Recommendation: That Members note the appeal decision, by which permission was refused.",
        "The Highway Authority recommends that permission be refused.",
        "The conservation officer recommends refusal.",
        "Highways officers recommend that the application be refused.",
        "Recommendation of the County Council: refuse",
        "Parish Council recommendation: Refuse",
        "The applicant says: “It is recommended that planning permission be granted”.",
        "We recommend approval of the application.",
        "It was recommended that permission be granted for the first scheme.",
        "Application 21/00417/OUT is recommended for refusal.",
        "The application is not recommended for approval.",
        "If the agreement is not signed, it is recommended that permission be refused.",
        "Recommendation: raise no objection",
        "Recommendation: delegate to the Director to approve or refuse",
        "Recommendation 14",
        "# Recommendation\n\nSee the end.\n\n# The site\n\nPermission has been granted for a barn.",
        "9. Recommendation: approve .............................. 14",
        "Recommended conditions\n\n1. The development shall accord with the approved plans.",
        "Recommendation\n\n1. The development shall be built as approved by the Council.",
        "The scheme should be approved, in the view of many.",
        "| Highway Authority | Recommendation: refuse |",
        "**Conservation Officer** | Recommendation: refuse",
        "| Body | Recommendation |\n|---|---|\n| Fenwick Water | Refuse |",
        "## Natural England\n\nRecommendation: Refuse",
    ],
)
def test_what_is_not_the_officers_recommendation_is_not_told(words: str) -> None:
    assert _read(f"Fenwick Council\nPlanning Committee, 10 December 2025\n\n{words}\n\n{BODY}\n") is None


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("Planning history", "Recommendation: Refuse"),
        ("Consultation responses", "It is recommended that the application be refused."),
        ("Representations", "It is recommended that the application be refused."),
        ("Planning policy", "Recommendation: permission for such development be refused"),
    ],
)
def test_what_others_say_or_was_before_does_not_count(heading: str, line: str) -> None:
    text = f"# Fenwick Council\n\n**Recommendation: Approve**\n\n## {heading}\n\n{line}\n\n## Assessment\n\n{BODY}\n"
    assert _words(text) == "approval"
    assert _words(text.replace("**Recommendation: Approve**", "")) == ""


def test_reasons_for_refusal_of_an_earlier_scheme_leave_an_approval_as_it_is() -> None:
    history = (
        "## Planning history\n\n| Reference | Decision |\n|---|---|\n| 21/00417/OUT | Refused, contrary to recommendation |\n\n"
        "The reasons for refusal were highway safety and harm to the setting of the church.\n\n"
    )
    assert _words(TABLE.replace("## 1. Site", f"{history}## 2. Site")).startswith("approval subject to conditions")


def test_a_report_that_contradicts_itself_says_nothing() -> None:
    assert _read(f"{FORM}\n3. CONCLUSION\n\nIt is recommended that planning permission be granted.\n") is None


def test_a_list_of_items_tells_only_of_its_own_application() -> None:
    agenda = (
        "# Fenwick Council\n\n# Planning Committee, 10 December 2025\n\n## Item 5: 25/00999/FUL\n\nRecommendation: Refuse\n\n"
        f"## Item 6: {REF}\n\nRecommendation: Approve\n\n## Item 7: 25/01500/FUL\n\nRecommendation: Refuse\n"
    )
    assert _words(agenda) == "approval"


def test_a_report_on_another_application_is_not_read() -> None:
    assert _read(TABLE.replace(REF, "24/00999/FUL")) is None


def test_an_applicants_statement_is_not_the_officers_report() -> None:
    text = f"# Planning Statement\n\nOn behalf of the applicant.\n\n# Recommendation\n\nThat permission be granted.\n\n{BODY}\n"
    assert _read(text, names=("Planning_Statement.pdf",)) is None


def test_of_two_reports_the_later_counts() -> None:
    later = TABLE.replace("10 December 2025", "14 January 2026").replace("**Approve** subject to", "**Refuse**, no")
    told = _read(later, TABLE)
    assert told is not None
    assert (told.words, told.committee) == ("refusal", "2026-01-14")


def test_two_reports_that_differ_say_nothing_unless_both_are_dated() -> None:
    undated = TABLE.replace(", 10 December 2025", "")
    assert _read(undated, FORM) is None
    assert _read(TABLE, FORM) is None
    assert _words(undated, TABLE).startswith("approval")


def test_a_superseded_report_is_not_read() -> None:
    assert _read(TABLE, names=("Officer_Report_superseded.pdf",)) is None


@pytest.mark.parametrize(
    "line",
    [
        "Members visited the site before the Planning Committee of 2 December 2025.",
        "The application was deferred by the Planning Committee on 4 November 2025.",
        "Target date for decision: 20 August 2025",
        "Extension of time: 30 September 2025",
        "The Design Review Panel saw the scheme on 3 March 2025.",
        "The parish council's meeting of 4 March 2025 supported the scheme.",
        "A public meeting on 4 March 2025 was well attended.",
        "Planning Committee, 31 June 2025",
    ],
)
def test_another_day_is_not_taken_for_that_of_the_committee(line: str) -> None:
    told = _read(f"# Fenwick Council\n\n{line}\n\n**Recommendation: Approve**\n\n{BODY}\n")
    assert told is not None
    assert told.committee == ""


@pytest.mark.parametrize(
    "head",
    [
        "Committee date: 10 December 2025",
        "| Date of Committee | 10.12.2025 |",
        "Meeting date\n\nWednesday 10th December 2025",
        "# Planning and Licensing Committee – Wednesday, 10 December 2025, 6 pm",
        "# DEVELOPMENT CONTROL COMMITTEE A\n\n10 December 2025. Item 5",
        "Wednesday 10 December 2025: Planning Committee",
        "PLANNING COMMITTEE\nDATE:\n10 December 2025",
        "This application is to be determined at the Planning Committee on 10 December 2025.",
        "# Report to Planning Committee\n\nFenwick Council. Meeting of 10 December 2025. Agenda item 6",
    ],
)
def test_the_day_of_the_committee_is_read_from_the_first_lines(head: str) -> None:
    told = _read(f"{head}\n\nValid: 21 May 2025\n\n**Recommendation: Approve**\n\n{BODY}\n")
    assert told is not None
    assert told.committee == "2025-12-10"


def test_two_days_of_a_committee_are_none() -> None:
    told = _read("Committee date: 10 December 2025\n\nCommittee date: 14 January 2026\n\nRecommendation: Approve\n")
    assert told is not None
    assert told.committee == ""


def test_the_name_of_a_parish_above_a_recommendation_does_not_make_it_the_parish_councils() -> None:
    assert _words(f"FENWICK COUNCIL\n\nPARISH: STOW\n\nRecommendation: Approve subject to conditions.\n\n{BODY}\n") == (
        "approval subject to conditions"
    )


def test_a_county_council_may_recommend_on_its_own_application() -> None:
    text = f"# Wessmoor County Council\n\n## Regulation Committee, 10 December 2025\n\n**Recommendation: Approve**\n\n{BODY}\n"
    assert _words(text) == "approval"


TOLD = "Officers recommend approval subject to conditions and a Section 106 agreement (Officer Report 1, page 1)"


def test_a_sentence_names_the_place_and_says_meets_only_of_a_day_to_come() -> None:
    told = _read(TABLE)
    assert told is not None
    before, after = date(2025, 12, 10), date(2025, 12, 11)
    assert told.sentence({}, before) == f"{TOLD}; the committee meets on 10 December 2025."
    assert told.sentence({}, after) == f"{TOLD}, in a report to the committee of 10 December 2025."
    assert told.sentence({}) == told.sentence({}, after)
    assert told.model_copy(update={"committee": ""}).sentence({}, before) == f"{TOLD}."


@pytest.fixture(scope="module")
def result() -> ReviewResult:
    return result_of(_evidence(TABLE))


def test_both_ways_of_judging_tell_it() -> None:
    evidence = _evidence(TABLE)
    by_rules = judge_by_rules(evidence, load_aspects()[:1])
    by_model = conclude(None, evidence=evidence, aspects=load_aspects()[:1], held={}, settled=frozenset(), model="test")
    assert by_rules.officers == by_model.officers == officers_recommendation(evidence)
    assert by_rules.officers is not None


def test_words_that_are_not_on_their_page_are_dropped() -> None:
    evidence = _evidence(TABLE)
    judgement = judge_by_rules(evidence, load_aspects()[:1])
    assert judgement.officers is not None
    forged = judgement.officers.citation.model_copy(update={"quote": "Recommendation: Refuse"})
    officers = judgement.officers.model_copy(update={"citation": forged})
    kept, count = verify(judgement.model_copy(update={"officers": officers}), evidence)
    assert kept.officers is None
    assert any("not at" in note for note in count.notes)


def test_json_has_the_recommendation_as_data(result: ReviewResult) -> None:
    officers = json.loads(render_json(result))["review"]["officers"]
    assert (officers["advice"], officers["conditions"], officers["agreement"]) == ("approval", True, "section 106")
    assert officers["committee"] == "2025-12-10"
    assert officers["citation"]["pages"] == [1]


def test_markdown_and_the_first_page_of_the_pdf_show_it(result: ReviewResult) -> None:
    sentence = f"{TOLD}, in a report to the committee of 10 December 2025."
    assert f"- {sentence}" in render_markdown(result).splitlines()
    with pymupdf.open(stream=render_pdf(result)) as pdf:
        assert sentence in " ".join(pdf[0].get_text().split())


def test_the_letter_does_not_tell_it(result: ReviewResult) -> None:
    assert "fficers recommend" not in letter_text(first_letter(result))


def test_a_review_without_a_report_shows_nothing_of_it() -> None:
    result = result_of(evidence_of_text(BODY))
    assert result.review.officers is None
    assert "Officers" not in render_markdown(result)
    with pymupdf.open(stream=render_pdf(result)) as pdf:
        assert "Officers" not in pdf[0].get_text()
