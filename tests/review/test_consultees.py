"""What consultees recommend: the latest answer of each, whole, and none that was withdrawn."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from review_samples import evidence_of_text, result_of

from trigpoint.reading.documents import Document
from trigpoint.reading.vocabulary import SourceKind
from trigpoint.review.citing import document_title, name_in_title_case
from trigpoint.review.consultees import Recommendation, recommendations, recommends
from trigpoint.review.evidence import Evidence
from trigpoint.review.letter import Ground, Letter
from trigpoint.review.letter_draft import draft_letter
from trigpoint.review.letter_files import letter_text
from trigpoint.review.markdown import render_markdown
from trigpoint.review.people import name_without_people, without_people

HEAD = "# Essex County Council\n\n## Highways consultation response\n\n**Date:** {day}\n\n"
HOLDING = "The Highway Authority raises a holding objection to the application. Further information is required.\n"
CONTENT = "The Highway Authority raises no objection to the application, subject to conditions.\n"


def _document(name: str, text: str, kind: SourceKind = "consultee") -> Document:
    return Document(id=name, name=name, text=text, source_kind=kind)


def _said(*documents: Document) -> tuple[Recommendation, ...]:
    evidence: Evidence = replace(evidence_of_text("Nothing."), documents=documents)
    return recommendations(evidence)


def test_the_latest_answer_of_a_body_counts_whatever_the_order_of_the_files() -> None:
    first = _document("Z_Highways.md", HEAD.format(day="3 March 2026") + HOLDING)
    second = _document("A_Highways.md", HEAD.format(day="12 June 2026") + CONTENT)
    (said,) = _said(second, first)
    assert (said.position, said.date) == ("no objection", "2026-06-12")


def test_two_answers_of_which_nobody_knows_the_later_are_not_quoted() -> None:
    first = _document("1.md", HEAD.format(day="") + HOLDING)
    second = _document("2.md", HEAD.format(day="") + CONTENT)
    assert _said(first, second) == ()


@pytest.mark.parametrize(
    "words",
    [
        "Essex County Council has withdrawn its holding objection, and would like a condition.",
        "The response of 3 March is superseded by an email to the case officer.",
        "The highway authority no longer objects, having seen the revised drawings.",
        "ECC now raises no objection.",
    ],
)
def test_an_answer_that_a_later_document_calls_withdrawn_is_not_quoted(words: str) -> None:
    letter = _document("Highways.md", HEAD.format(day="3 March 2026") + HOLDING)
    report = _document("Report.md", f"# Update to committee\n\n9 July 2026\n\n{words}\n", "council")
    assert _said(letter, report) == ()


@pytest.mark.parametrize(
    "words",
    [
        "We trust that Essex County Council will withdraw its holding objection.",
        "The highway authority’s objection has not been withdrawn.",
        "Essex County Council has withdrawn its bus subsidy. The parish council maintains its objection.",
        "Natural England no longer objects.",
    ],
)
def test_an_answer_that_stands_is_quoted(words: str) -> None:
    letter = _document("Highways.md", HEAD.format(day="3 March 2026") + HOLDING)
    note = _document("Note.md", f"# Technical note\n\n9 July 2026\n\n{words}\n", "applicant")
    (said,) = _said(letter, note)
    assert said.position == "against"


def test_a_letter_quotes_the_answer_whole_with_what_limits_it() -> None:
    letter = _document("ECC_Highways_Response.md", HEAD.format(day="3 March 2026") + HOLDING)
    evidence = replace(evidence_of_text("Nothing."), documents=(letter,))
    result = result_of(evidence)
    review = result.review.model_copy(update={"consultees": recommendations(evidence)})
    printed = " ".join(letter_text(draft_letter(result.model_copy(update={"review": review}))).split())
    assert (
        "Essex County Council wrote on 3 March 2026: “The Highway Authority raises a holding objection to the application. "
        "Further information is required” (ECC Highways Response)."
    ) in printed


@pytest.mark.parametrize(
    "words",
    [
        "ECC Highways | No objection (12 June 2026), subject to conditions. Earlier objection withdrawn.",
        "Essex County Council's original objection was withdrawn on 12 June 2026.",
    ],
)
def test_an_answer_without_objection_stands_if_a_report_says_that_the_earlier_objection_was_withdrawn(
    words: str,
) -> None:
    letter = _document("Highways.md", HEAD.format(day="12 June 2026") + CONTENT)
    report = _document("Report.md", f"# Update to committee\n\n9 July 2026\n\n{words}\n", "council")
    assert [one.position for one in _said(letter, report)] == ["no objection"]


def test_that_a_group_did_not_object_before_is_not_its_answer() -> None:
    words = (
        "We did not object in July. We are sorry to say that the addendum has changed our minds, and **we now object**."
    )
    letter = _document(
        "Public comment Orrin Cycling Campaign.md", f"# Orrin Cycling Campaign\n\n4 May 2026\n\n{words}\n", "public"
    )
    (said,) = _said(letter)
    assert said.quote.endswith("and we now object.")


def test_what_an_answer_depends_on_is_quoted_with_it() -> None:
    answer = "The County Council raises no objection to the application with these three conditions."
    limit = "Without all of them the County Council would object."
    (said,) = _said(
        _document("Highways.md", f"{HEAD.format(day='3 March 2026')}{answer} {limit} Street lighting is ours.\n")
    )
    assert said.quote == f"{answer} {limit}"


def test_what_minutes_say_of_another_application_or_a_letter_of_a_bridge_is_no_answer() -> None:
    minutes = _document(
        "Marlow Town Council.md",
        "# Marlow Town Council\n\n13 May 2025\n\n25/01178/REM, Land North of Gavray Drive.\n\nRESOLVED (5 for, 1 against) to "
        "SUPPORT the application, with comments.\n\n25/01240/HOU, 4 Priory Close.\n\nNo objection.\n",
    )
    (said,) = _said(minutes)
    assert (said.position, said.quote.startswith("RESOLVED (5 for")) == ("for", True)
    only_another = minutes.text.replace(
        "RESOLVED (5 for, 1 against) to SUPPORT the application, with comments.", "Noted."
    )
    assert _said(_document("Marlow Town Council.md", only_another)) == ()
    bridge = "# Northern Trains\n\n2 June 2025\n\nA bridge is spoken of. We have no objection to it, and no funds.\n"
    assert _said(_document("Northern Trains.md", bridge)) == ()


def test_a_recommendation_is_recognised_by_its_label_however_long_it_is() -> None:
    words = "Recommendation: no objection, subject to the conditions and the legal agreement that are listed in the annex below.\n"
    (said,) = _said(_document("Highways.md", HEAD.format(day="3 March 2026") + words))
    assert (said.position, said.quote.startswith("no objection, subject to")) == ("no objection", True)


def test_a_long_answer_is_never_cut_within_a_sentence() -> None:
    long = (
        "The Highway Authority raises a holding objection to the application because the junction of the site access with "
        "the main road has been assessed with traffic counts of a day on which the school was closed and the road was "
        "partly shut for works to the gas main, so that the queues that drivers and bus passengers would meet cannot be told."
    )
    (said,) = _said(
        _document("Highways.md", f"{HEAD.format(day='3 March 2026')}{long} Further information is required.\n")
    )
    assert said.quote.startswith(long)
    assert said.quote.endswith("required.")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("VALE OF KETTERBY DISTRICT COUNCIL", "Vale of Ketterby District Council"),
        ("stratford upon avon and the fens council", "Stratford upon Avon and the Fens Council"),
    ],
)
def test_small_words_of_a_name_stay_small(name: str, shown: str) -> None:
    assert name_in_title_case(name) == shown


FORUM = "Skelderby Cycle Forum\nc/o 12 Tenter Row\n3 April 2026\n\nDear Sir or Madam,\n\n{words}\n\nYours sincerely,\nJane Example, secretary\n"
PARISH = "# Thornmarsh Parish Council\n\n4 May 2026\n\nThe Parish Council OBJECTS, for the reasons that follow.\n"


def _comment(text: str) -> Document:
    name = name_without_people("07_letter.md", "public", "07_letter.md", text)
    return Document(id=name, name=name, text=without_people(text, "public"), source_kind="public")


def test_groups_are_named_by_their_letterhead_and_people_are_not() -> None:
    forum = _comment(FORUM.format(words="We object to the application as it stands."))
    assert forum.name == "Public comment Skelderby Cycle Forum.md"
    assert "Skelderby Cycle Forum" in forum.text
    assert "Example" not in forum.text
    assert document_title(forum.name) == "Skelderby Cycle Forum"
    private = "12 Tenter Row, Skelderby\n\nTo: Skelderby Town Council\n\nI object to this. The Cycle Forum agrees.\n\nJane Example\n"
    assert re.fullmatch(r"Public comment [0-9a-f]{6}\.md", _comment(private).name)
    signed = "Dear Sir,\n\nWe object.\n\nYours faithfully,\nJane Example\nfor the Vale & Downs Cycling Campaign\n"
    assert _comment(signed).name == "Public comment Vale & Downs Cycling Campaign.md"


def test_what_groups_say_is_told_after_the_consultees() -> None:
    county = _document("A_Highways.md", HEAD.format(day="12 June 2026") + CONTENT)
    forum = _comment(FORUM.format(words="We object to the application as it stands."))
    friends = _comment("Friends of Mill Park\n\n1 May 2026\n\nWe support the application.\n")
    said = _said(forum, _comment(PARISH), friends, county)
    assert [(one.body, one.position) for one in said] == [
        ("Essex County Council", "no objection"),
        ("Skelderby Cycle Forum", "against"),
        ("Thornmarsh Parish Council", "against"),
        ("Friends of Mill Park", "for"),
    ]
    assert "“We object to the application as it stands” (its letter" in recommends(said[1])


def test_an_objection_says_in_one_sentence_which_groups_object_too() -> None:
    forum = _comment(FORUM.format(words="We object to the application as it stands."))
    result = result_of(evidence_of_text("Nothing."))
    letter = Letter(stance="object", grounds=(Ground(id="a", text="The store is too small."),))
    review = result.review.model_copy(update={"consultees": _said(forum, _comment(PARISH)), "letter": letter})
    printed = letter_text(draft_letter(result.model_copy(update={"review": review})))
    assert "Skelderby Cycle Forum and Thornmarsh Parish Council object too." in printed


def test_of_several_answers_in_one_file_the_latest_counts() -> None:
    both = (
        "# Active Travel England\n\nDate: 4 July 2025\n\nRecommendation: Deferral\n\n1.1 The path is too narrow.\n\f"
        "# Active Travel England\n\nDate: 16 October 2025\n\nRecommendation: Deferral (maintained)\n\n"
        "1.1 The amended plans do not widen it.\n"
    )
    in_tables = both.replace("Recommendation: ", "Recommendation | ")
    for text in (both, in_tables):
        [one] = _said(_document("06_Responses.md", text))
        assert (one.quote, one.date, one.page) == ("Deferral (maintained)", "2025-10-16", 2)


@pytest.mark.parametrize(("empty", "ticked"), [("☐", "☒"), ("[ ]", "[x]"), ("□", "✓")])
def test_of_a_form_the_box_that_is_ticked_is_the_answer_and_an_empty_one_is_none(empty: str, ticked: str) -> None:
    form = (
        "# Active Travel England\n\nDate: 12 November 2025\n\n## 1.0 Recommendation\n\n"
        f"a. No objection {empty}\n"
        f"b. Conditional approval {empty}\n"
        f"c. **Deferral {ticked}** – ATE is not currently in a position to support this application.\n"
        f"d. Refusal {empty}\n"
    )
    [one] = _said(_document("07_Active_Travel_England_Response.md", form))
    assert one.position == "against"
    assert one.quote == "Deferral – ATE is not currently in a position to support this application."


def test_a_form_of_which_no_box_is_ticked_is_no_answer() -> None:
    form = "# Active Travel England\n\nDate: 12 November 2025\n\n☐ No objection\n\n☐ Deferral\n"
    assert _said(_document("07_Response.md", form)) == ()


SECOND = [
    "**Response 2. Date: 12 June 2026**\n\n2. **Recommendation: no objection, subject to conditions and obligations.** The "
    "holding objection of 3 March 2026 is withdrawn.\n",
    "**Date:** 12 June 2026\n\n## Second response: objection withdrawn\n\n1. We have read the Addendum of 21 May 2026.\n\n"
    "9. **Recommendation.** The County Council withdraws its holding objection and raises no objection, subject to conditions.\n",
    "## Further response, 12 June 2026\n\n1. We have considered the Addendum. Our holding objection is withdrawn, subject to "
    "the conditions below, unless the drawings change again.\n",
    "**Response 2 – 12 June 2026**\n\n**Recommendation: NO OBJECTION, subject to conditions.**\n",
]


@pytest.mark.parametrize("further", SECOND)
def test_a_second_answer_in_the_same_file_replaces_the_first(further: str) -> None:
    letter = _document("Highways.md", f"{HEAD.format(day='3 March 2026')}{HOLDING}\f{further}")
    (said,) = _said(letter)
    assert (said.position, said.date) == ("no objection", "2026-06-12")


@pytest.mark.parametrize(
    "further",
    [
        "**Date:** 12 June 2026\n\nRecommendation: holding objection withdrawn on all matters but one. Objection maintained on Mill "
        "Lane.\n",
        "**Date:** 12 June 2026\n\nIf the path is widened, our objection would be withdrawn.\n",
    ],
)
def test_an_objection_that_is_maintained_or_may_be_withdrawn_is_not_told_as_none(further: str) -> None:
    letter = _document("Highways.md", f"{HEAD.format(day='3 March 2026')}{HOLDING}\f{further}")
    assert {one.position for one in _said(letter)} == {"against"}


@pytest.mark.parametrize("words", ["and not as an objection to the scheme", "rather than an objection to the scheme"])
def test_a_letter_that_says_it_is_no_objection_is_not_told_as_one(words: str) -> None:
    letter = f"{HEAD.format(day='3 March 2026')}What follows should be read as support with reservations {words}.\n"
    (said,) = _said(_document("Highways.md", letter))
    assert said.position == "no objection"


def test_a_report_tells_what_a_consultee_had_answered_before() -> None:
    letter = _document("Highways.md", f"{HEAD.format(day='3 March 2026')}{HOLDING}\f{SECOND[3]}")
    said = _said(letter)
    evidence = evidence_of_text("Nothing.")
    review = result_of(evidence).review.model_copy(update={"consultees": said})
    markdown = render_markdown(result_of(evidence).model_copy(update={"review": review}))
    assert (
        "## What Others Say\n- On 12 June 2026, Essex County Council gave its recommendation as “NO OBJECTION"
        in markdown
    )
    assert "Its answer of 3 March 2026 was “The Highway Authority raises a holding objection" in markdown


def test_a_single_answer_has_no_history() -> None:
    (said,) = _said(_document("Highways.md", HEAD.format(day="3 March 2026") + HOLDING))
    assert said.earlier == ()
