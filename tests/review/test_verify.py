"""What cannot be proved does not leave: other words, pages, subjects, statuses and figures, and all that rests on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from review_samples import evidence_of_text
from stated_facts import fact, stated

from trigpoint.review.arithmetic import evaluate, holds
from trigpoint.review.aspects import aspect
from trigpoint.review.assemble import assemble_review
from trigpoint.review.evidence import Evidence, PolicyPassage
from trigpoint.review.findings import Calculation, Citation, Finding
from trigpoint.review.models import ReviewOptions
from trigpoint.review.result import AspectReview, CitationCounts, Judgement
from trigpoint.review.rules import judge_aspect
from trigpoint.review.verify import CitationCount, unsupported, verify

TEXT = "The shared path will be 2.5 m wide, with 40 lamps. Visitor stands are “near the door”."
SENTENCE = "The shared path will be 2.5 m wide, with 40 lamps."


@pytest.fixture
def evidence() -> Evidence:
    made = evidence_of_text(TEXT)
    return stated(made, fact(made, "cycle_route.width", SENTENCE))


@pytest.fixture
def finding(evidence: Evidence) -> Finding:
    judged = judge_aspect(evidence, aspect("cycle_routes"))
    return next(one for one in judged.findings if one.check == "cycle_routes.width")


def _verified(
    finding: Finding, evidence: Evidence, analyser: str = "rules", rating: str = "amber"
) -> tuple[AspectReview, CitationCount]:
    judged = AspectReview.model_validate(
        {
            "id": "cycle_routes",
            "name": "Cycle Routes",
            "rating": rating,
            "key_issue": "An issue",
            "findings": (finding,),
        }
    )
    judgement, count = verify(
        Judgement.model_validate({"aspects": (judged,), "analyser": analyser, "model": "m"}), evidence
    )
    return judgement.aspects[0], count


def _changed(finding: Finding, **change: Any) -> Finding:
    citation = finding.evidence[0].model_copy(update=change)
    return finding.model_copy(update={"evidence": (citation,)})


def _with_status(evidence: Evidence, **change: Any) -> Evidence:
    return stated(evidence, *(one.model_copy(update=change) for one in evidence.facts))


def test_what_is_true_passes_untouched(finding: Finding, evidence: Evidence) -> None:
    after, count = _verified(finding, evidence)
    assert after.findings == (finding,)
    assert count.counts() == CitationCounts(checked=3, verified=3, dropped=0)


@pytest.mark.parametrize(
    "change",
    [
        {"passage_id": "25_01178_REM_ffffff:0-10"},
        {"passage_id": "no such place"},
        {"quote": "The shared path will be 2.6 m wide, with 40 lamps."},
        {"quote": "The shared path will be 2.5 m broad, with 40 lamps."},
        {"quote": ""},
        {"pages": (2,)},
        {"pages": ()},
        {"document": "Other.pdf"},
        {"document_id": "25_01178_REM_000002"},
    ],
)
def test_a_false_citation_is_dropped_and_its_claim_with_it(
    change: dict[str, Any], finding: Finding, evidence: Evidence
) -> None:
    after, count = _verified(_changed(finding, **change), evidence)
    assert after.findings == ()
    assert after.assessed == "no"
    assert after.not_assessed[0].requirement == finding.requirement
    assert count.dropped == 1


@pytest.mark.parametrize(
    "change",
    [
        {"status": "policy"},
        {"status": "existing"},
        {"status": "other_scheme"},
        {"status": "mentioned"},
        {"certainty": 0.5},
        {"topic": "place.trees"},
        {"speaker": "objector"},
        {"speaker": "consultee"},
        {"place": "other site"},
    ],
)
def test_words_on_another_subject_status_speaker_or_place_do_not_prove_a_claim(
    change: dict[str, Any], finding: Finding, evidence: Evidence
) -> None:
    after, count = _verified(finding, _with_status(evidence, **change))
    assert after.findings == ()
    assert count.dropped == 1


@pytest.mark.parametrize(
    "change",
    [
        {"passage_id": "LTN_1_20__rev_LTN_1_20_2020_07__Table_99__001"},
        {"source": "NPPF"},
        {"revision_id": "rev_LTN_1_20_2030_01"},
        {"section_ref": "Table 99"},
        {"ref": "LTN 1/20:Table 99"},
        {"quote": "Paths shall be ten metres wide."},
    ],
)
def test_a_false_policy_citation_is_dropped(change: dict[str, Any], finding: Finding, evidence: Evidence) -> None:
    wrong = finding.policy[0].model_copy(update=change)
    after, count = _verified(finding.model_copy(update={"policy": (wrong,)}), evidence)
    assert not after.findings or after.findings[0].policy == ()
    assert count.dropped >= 1


def test_a_passage_of_a_revision_not_in_force_is_dropped(finding: Finding, evidence: Evidence) -> None:
    old = PolicyPassage("old", "Paths of 3.0 m", "LTN_1_20", "rev_LTN_1_20_2008_01", "2008", "Table 6-3", 1)
    dated = replace(evidence, searched_policies={"old": old})
    changed = {"passage_id": "old", "revision_id": old.revision_id, "quote": old.text, "section_ref": "Table 6-3"}
    wrong = finding.policy[0].model_copy(update=changed | {"ref": "LTN 1/20:Table 6-3"})
    _, count = _verified(finding.model_copy(update={"policy": (wrong,)}), dated)
    assert any("not in force" in note for note in count.notes)


@pytest.mark.parametrize(
    "text",
    [
        "The path is 2.6 m wide.",
        "The path is 25 m wide.",
        "There are 400 lamps.",
        "There are 4,000 lamps and the path is 2.5 m wide.",
        "The statement says “stands at the door”.",
    ],
)
def test_a_claim_with_a_number_or_words_from_nowhere_is_dropped(
    text: str, finding: Finding, evidence: Evidence
) -> None:
    after, count = _verified(finding.model_copy(update={"text": text}), evidence)
    assert after.findings == ()
    assert count.dropped == 1


@pytest.mark.parametrize(
    "text",
    [
        "The path is 2.5 m wide and has 40 lamps.",
        "Narrower than Table 6-3 of LTN 1/20 asks for: 2.5 m, not 3.0 m.",
        "The path is said to have “40 lamps”.",
    ],
)
def test_a_claim_whose_numbers_and_words_are_there_stays(text: str, finding: Finding, evidence: Evidence) -> None:
    after, _ = _verified(finding.model_copy(update={"text": text}), evidence)
    assert [one.outcome for one in after.findings] == [finding.outcome]


def test_what_is_dropped_takes_everything_with_it(finding: Finding, evidence: Evidence) -> None:
    judged = judge_aspect(evidence, aspect("cycle_routes"))
    told = judged.model_copy(update={"findings": (_changed(finding, quote="Never said."),)})
    judgement = Judgement(aspects=(told,), analyser="rules", model="rules")
    kept = assemble_review(verify(judgement, evidence)[0], ReviewOptions())
    before = assemble_review(judgement, ReviewOptions())
    assert before.recommendations
    assert before.suggested_conditions
    assert before.policy_compliance
    for part in (kept.recommendations, kept.suggested_conditions, kept.policy_compliance, kept.aspects[0].findings):
        assert part == ()
    assert "narrower" in before.summary.lower()
    assert "narrower" not in f"{kept.summary} {kept.aspects[0].key_issue} {kept.aspects[0].detail}".lower()


def test_a_contradiction_needs_both_of_its_sides() -> None:
    evidence = evidence_of_text("The path is 3.0 m wide.", "The path is 2.5 m wide.")
    sides = tuple(
        Citation(
            passage_id=f"{document.id}:0-{len(document.text)}",
            document_id=document.id,
            document=document.name,
            pages=(1,),
            quote=document.text,
            speaks="contradicted",
        )
        for document in evidence.documents
    )
    both = Finding(
        check="figures_differ", requirement="One figure", outcome="contradicted", text="3.0 m, 2.5 m", evidence=sides
    )
    assert _verified(both, evidence)[0].findings == (both,)
    broken = both.model_copy(update={"evidence": (sides[0], sides[1].model_copy(update={"quote": "It is 9 m wide."}))})
    assert _verified(broken, evidence)[0].findings == ()


@pytest.mark.parametrize(
    ("expression", "right"),
    [
        ("127 + 7 = 134; stated: 144", True),
        ("127 + 7 = 135; stated: 144", False),
        ("127 / 144 = 88.2%; stated: 95%", True),
        ("127 / 144 = 88.3%", False),
        ("99,005 / 200 = 495", True),
        ("0.05 × 60 = 3", True),
        ("2 * (3 + 4) - 1 = 13", True),
        ("1 / 0 = 5", False),
        ("import os = 1", False),
    ],
)
def test_our_own_arithmetic_must_agree(expression: str, right: bool) -> None:
    assert holds(Calculation(expression=expression, inputs=(), result=0)) is right


def test_arithmetic_is_nothing_but_arithmetic() -> None:
    assert evaluate("1,000 + 10 %") == pytest.approx(1000.1)
    for text in ("", "2 +", "(2", "2 ** 3", "a + b", "__import__('os')"):
        with pytest.raises(ValueError):
            evaluate(text)


def test_a_derived_figure_must_come_from_figures_that_are_cited() -> None:
    evidence = evidence_of_text("There are 127 racks and 7 stands, 144 in all.")
    document = evidence.documents[0]
    citation = Citation(
        passage_id=f"{document.id}:0-{len(document.text)}",
        document_id=document.id,
        document=document.name,
        pages=(1,),
        quote=document.text,
        speaks="contradicted",
    )
    told = Calculation(expression="127 + 7 = 134; stated: 144", inputs=(144, 127, 7), result=134)
    base = Finding(
        check="sum",
        requirement="r",
        outcome="contradicted",
        text="134, not 144",
        evidence=(citation,),
        calculations=(told,),
    )
    assert _verified(base, evidence)[0].findings == (base,)
    invented = told.model_copy(update={"expression": "120 + 14 = 134", "inputs": (120, 14)})
    assert _verified(base.model_copy(update={"calculations": (invented,)}), evidence)[0].findings == ()


def test_a_model_cannot_be_green_without_proof(finding: Finding, evidence: Evidence) -> None:
    invented = finding.model_copy(update={"check": "model_1", "outcome": "met", "evidence": (), "text": "All is well."})
    judged, _ = _verified(invented, evidence, analyser="llm", rating="green")
    assert (judged.rating, judged.assessed, judged.findings) == ("amber", "no", ())


def test_a_quotation_may_differ_in_spaces_and_quote_marks_only() -> None:
    evidence = evidence_of_text("The path – 2.5m\nwide – isn’t lit.")
    [document] = evidence.documents
    citation = Citation(
        passage_id=f"{document.id}:0-{len(document.text)}",
        document_id=document.id,
        document=document.name,
        pages=(1,),
        quote="The path - 2.5m wide - isn't lit.",
    )
    base = Finding(
        check="model_1", requirement="r", outcome="partly", text="Not lit", essential=True, evidence=(citation,)
    )
    after, count = _verified(base, evidence, analyser="llm")
    assert after.findings[0].evidence == (citation,)
    assert count.dropped == 0


def test_a_statement_over_two_pages_may_have_a_running_line_in_between() -> None:
    text = "The path will be 3.0 m\nPlanning Statement 7\f8\nwide and lit."
    evidence = evidence_of_text(text)
    document = evidence.documents[0]
    citation = Citation(
        passage_id=f"{document.id}:0-{len(text)}",
        document_id=document.id,
        document=document.name,
        pages=(1,),
        quote="The path will be 3.0 m wide and lit.",
    )
    made = stated(evidence, fact(evidence, "cycle_route.width", text))
    told = Finding(check="cycle_routes.width", requirement="r", outcome="met", text="3.0 m", evidence=(citation,))
    assert len(_verified(told, made)[0].findings) == 1
    other = citation.model_copy(update={"quote": "The path will be 3.0 m high and lit."})
    assert _verified(told.model_copy(update={"evidence": (other,)}), made)[0].findings == ()


def test_numbers_in_words_and_names_of_policies_are_no_invented_figures() -> None:
    assert not unsupported("12 stands, as Table 11-1 of LTN 1/20 asks", ["There are twelve stands."])
    assert unsupported("13 stands", ["There are twelve stands."]) == ["13"]
