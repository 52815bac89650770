"""What cannot be proved does not leave: wrong numbers, other revisions, invented sections, changed quotations."""

from __future__ import annotations

from typing import Any

import pytest
from review_samples import evidence_of_text, make_evidence

from trigpoint.review.aspects import aspect
from trigpoint.review.evidence import Evidence, Passage, PolicyPassage, gather_evidence
from trigpoint.review.findings import Citation, Finding
from trigpoint.review.result import AspectReview, CitationCounts, Judgement
from trigpoint.review.rules import judge_aspect, judge_by_rules
from trigpoint.review.verify import CitationCount, unsupported, verify

TEXT = "The shared path is 2.5m wide, with 40 lamps. Visitor stands are “near the door”."


@pytest.fixture
def evidence() -> Evidence:
    return evidence_of_text(TEXT)


@pytest.fixture
def finding(evidence: Evidence) -> Finding:
    judged = judge_aspect(evidence, aspect("cycle_routes"))
    return next(one for one in judged.findings if one.check == "width")


def _verified(
    finding: Finding, evidence: Evidence, analyser: str = "rules", rating: str = "amber"
) -> tuple[Finding, CitationCount, AspectReview]:
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
    return judgement.aspects[0].findings[0], count, judgement.aspects[0]


def test_what_is_true_passes_untouched(finding: Finding, evidence: Evidence) -> None:
    after, count, _ = _verified(finding, evidence)
    assert after == finding
    assert count.counts() == CitationCounts(checked=3, verified=3, dropped=0)


@pytest.mark.parametrize(
    "change",
    [
        {"passage_id": "25_01178_REM_ffffff_001_000"},
        {"quote": "The shared path is 2.6m wide, with 40 lamps."},
        {"quote": "The shared path is 2.5m broad, with 40 lamps."},
        {"quote": "The shared path is 2.5m wide with 40 lamps."},
        {"quote": ""},
        {"pages": (2,)},
        {"pages": ()},
        {"document": "Another.pdf"},
        {"document_id": "25_01178_REM_ffffff"},
    ],
)
def test_a_false_citation_is_dropped_and_its_claim_with_it(
    change: dict[str, Any], finding: Finding, evidence: Evidence
) -> None:
    false = finding.evidence[0].model_copy(update=change)
    after, count, judged = _verified(finding.model_copy(update={"evidence": (false,)}), evidence)
    assert after.outcome == "not_found"
    assert after.evidence == ()
    assert count.dropped == 1
    assert judged.rating == "amber"
    assert "2.5" not in judged.key_issue


def test_a_passage_of_another_application_is_dropped(finding: Finding, evidence: Evidence) -> None:
    ((passage_id, passage),) = evidence.passages.items()
    foreign = Passage(**{**vars(passage), "application_ref": "24/00001/F"})
    elsewhere = make_evidence({passage_id: foreign}, reference="25/01178/REM", day="2025-05-21")
    after, count, _ = _verified(finding, elsewhere)
    assert after.outcome == "not_found"
    assert any("belongs to application 24/00001/F" in note for note in count.notes)


@pytest.mark.parametrize(
    "change",
    [
        {"passage_id": "LTN_1_20__rev_LTN_1_20_2020_07__Table_99__000"},
        {"revision_id": "rev_LTN_1_20_2030_01"},
        {"section_ref": "Table 9-9"},
        {"section_ref": ""},
        {"ref": "LTN 1/20:Table 9-9"},
        {"source": "NPPF"},
        {"quote": "Up to 300 cyclists an hour: minimum width 2.0 m."},
    ],
)
def test_a_false_policy_citation_is_dropped(change: dict[str, Any], finding: Finding, evidence: Evidence) -> None:
    false = finding.policy[0].model_copy(update=change)
    after, count, _ = _verified(finding.model_copy(update={"policy": (false,)}), evidence)
    assert after.policy == ()
    assert count.dropped >= 1


def test_a_passage_of_a_revision_not_in_force_is_dropped(finding: Finding, evidence: Evidence) -> None:
    passage = next(iter(evidence.policies.values()))
    old = PolicyPassage(**{**vars(passage), "id": "old", "revision_id": "rev_LTN_1_20_2008_10"})
    evidence.policies["old"] = old  # type: ignore[index]
    from trigpoint.review.evidence import policy_citation

    false = policy_citation(old, "anything at all")
    after, count, _ = _verified(finding.model_copy(update={"policy": (false,)}), evidence)
    assert after.policy == ()
    assert any("was not in force on 2025-05-21" in note for note in count.notes)


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
    after, count, _ = _verified(finding.model_copy(update={"text": text}), evidence)
    assert after.outcome == "not_found"
    assert after.flags
    assert count.dropped == 1


@pytest.mark.parametrize(
    "text",
    [
        "The path is 2.5 m wide and has 40 lamps.",
        "Narrower than Table 6-3 of LTN 1/20 asks for: 2.5 m, not 3.0 m.",
        "The statement says “near the door”.",
    ],
)
def test_a_claim_whose_numbers_and_words_are_there_stays(text: str, finding: Finding, evidence: Evidence) -> None:
    after, _, _ = _verified(finding.model_copy(update={"text": text}), evidence)
    assert after.outcome == finding.outcome


def test_a_computed_number_must_be_a_sum_of_what_is_there() -> None:
    source = "144 spaces including 127 spaces in racks and 7 on stands"
    assert not unsupported("144 is stated, but 127 and 7 make 134", [source], derived=(134.0,))
    assert unsupported("144 is stated, but 127 and 7 make 135", [source], derived=(135.0,)) == ["135"]


def test_a_model_cannot_be_green_without_proof(finding: Finding, evidence: Evidence) -> None:
    invented = finding.model_copy(update={"check": "model_1", "outcome": "met", "evidence": (), "text": "All is well."})
    _, _, judged = _verified(invented, evidence, analyser="llm", rating="green")
    assert judged.rating == "amber"
    assert judged.key_issue.startswith("Not enough evidence")


def test_a_recommendation_of_a_model_with_invented_figures_is_dropped(finding: Finding, evidence: Evidence) -> None:
    ours = finding.model_copy(update={"check": "model_1", "recommendation": "Pay £987,654 for a bridge"})
    after, count, _ = _verified(ours, evidence, analyser="llm")
    assert after.recommendation is None
    assert after.outcome == finding.outcome
    assert count.dropped == 1


def test_a_reference_that_does_not_resolve_is_counted(finding: Finding, evidence: Evidence) -> None:
    gone = Evidence(
        **{**{k: v for k, v in vars(evidence).items() if k != "statements"}, "unresolved": ("NPPF:para.999",)}
    )
    _, count, _ = _verified(finding, gone)
    assert count.counts() == CitationCounts(checked=4, verified=3, dropped=1)


class _NothingStored:
    """Servers that have no document and no policy in force."""

    async def call(self, server: str, tool: str, args: dict[str, Any], *, progress: object = None) -> dict[str, Any]:
        return {"results": []}


async def test_each_reference_that_nothing_in_force_has_is_counted_once() -> None:
    """R9: four sections of cycle parking, and the NPPF's paragraph once though two aspects rest on it."""
    parking, junctions = aspect("cycle_parking"), aspect("junctions")
    evidence = await gather_evidence(
        _NothingStored(), [parking], application_ref="25/01178/REM", effective_date="1990-01-01"
    )
    assert sorted(evidence.unresolved) == [
        "LTN 1/20:11.2: nothing in force",
        "LTN 1/20:11.3: nothing in force",
        "LTN 1/20:Table 11-1: nothing in force",
        "NPPF:para.112 or NPPF:para.117: nothing in force",
    ]
    both = await gather_evidence(
        _NothingStored(), [parking, junctions], application_ref="25/01178/REM", effective_date="1990-01-01"
    )
    assert len(both.unresolved) == len(set(both.unresolved)) == 9
    _, count = verify(judge_by_rules(both, [parking, junctions]), both)
    assert count.counts() == CitationCounts(checked=9, verified=0, dropped=9)


def test_a_quotation_may_differ_in_spaces_and_quote_marks_only() -> None:
    evidence = evidence_of_text("The path – 2.5m\nwide – isn’t lit.")
    (passage,) = evidence.passages.values()
    citation = Citation(
        passage_id=passage.id,
        document_id=passage.document_id,
        document=passage.document,
        pages=(1,),
        quote="The path - 2.5m wide - isn't lit.",
    )
    base = Finding(check="c", requirement="r", outcome="partly", text="Not lit", essential=True, evidence=(citation,))
    after, count, _ = _verified(base, evidence)
    assert after.evidence == (citation,)
    assert count.dropped == 0
