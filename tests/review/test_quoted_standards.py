"""A standard that only a document quotes, and open points that quote their own answer."""

from __future__ import annotations

from typing import Any

import pytest
from review_samples import evidence_of_text
from test_draft import finding, quote

from trigpoint.review.agent.shown_claims import claim
from trigpoint.review.assemble import assemble_review
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.models import ReviewOptions
from trigpoint.review.submitted import DraftFact, Quote

TEXT = (
    "1 Policy\n\nThe Council's parking standards require 2 cycle spaces per bedroom.\n\n"
    "2 Proposed development\n\nA total of 1 cycle space per bedroom will be provided in the basement.\n\n"
    "The applicant will pay a contribution of £60,000 towards cycle routes.\n\n"
    "The proposed shared path along Mill Lane will be 2.5 m wide.\n"
)
STANDARD = quote("The Council's parking standards require 2 cycle spaces per bedroom")
PROVIDED = quote("A total of 1 cycle space per bedroom will be provided")
SHORT: dict[str, Any] = {
    "aspect": "cycle_parking", "question": "long_stay", "outcome": "failed", "evidence": [PROVIDED], "recommendation": None,
    "statement": "There is 1 cycle space per bedroom, half of the 2 per bedroom of the standard that the document quotes.",
}  # fmt: skip


def draft_of() -> ReviewDraft:
    draft = ReviewDraft(evidence_of_text(TEXT), ("cycle_parking", "cycle_routes", "off_site"))
    words = "The Council's parking standards require 2 cycle spaces per bedroom"
    source = Quote(document="D1", page=1, words=words)
    draft.submit_facts([DraftFact(topic="cycle_parking.long_stay", status="policy", quote=source)])
    return draft


@pytest.mark.parametrize(
    "given", [SHORT | {"standard": STANDARD}, SHORT | {"evidence": [PROVIDED, STANDARD]}], ids=["named", "quoted"]
)
def test_a_shortfall_is_measured_by_the_standard_that_a_document_quotes(given: dict[str, Any]) -> None:
    draft = draft_of()
    [answer] = draft.submit_findings([finding(**given)])
    assert (answer.verdict, answer.reasons) == ("verified", ())
    held = draft.verified()["F1"]
    assert held.policy == ()
    assert held.standard is not None
    assert held.standard.quote.startswith("The Council's parking standards")
    assert {one.status for one in held.evidence} >= {"policy"}
    assert "measured by the standard that Document 1.pdf quotes: “The Council's" in claim("F1", held, draft)
    body = assemble_review(draft.conclude(None, model="test"), ReviewOptions())
    [row] = [one for one in body.policy_compliance if one.notes == held.text]
    assert (row.policy_source, row.compliant, row.revision_id) == ("Standard quoted in Document 1", False, None)
    assert row.ref == "Standard quoted in Document 1, page 1"


def test_a_quoted_standard_proves_no_provision() -> None:
    given = SHORT | {
        "outcome": "met",
        "statement": "The document quotes 2 cycle spaces per bedroom, which are provided.",
    }
    [answer] = draft_of().submit_findings([finding(**given | {"evidence": [STANDARD], "standard": STANDARD})])
    assert answer.verdict == "returned"
    assert "do not show what this scheme provides" in " ".join(answer.reasons)
    [answer] = draft_of().submit_findings([finding(**given | {"evidence": [], "standard": STANDARD})])
    assert "needs the words that prove it" in " ".join(answer.reasons)


def test_a_standard_that_is_not_told_as_quoted_is_sent_back() -> None:
    plain = SHORT | {"standard": STANDARD, "statement": "There is 1 cycle space per bedroom where 2 are required."}
    [answer] = draft_of().submit_findings([finding(**plain)])
    assert "known only from a document that quotes it" in " ".join(answer.reasons)


def test_an_open_point_that_quotes_its_answer_is_sent_back() -> None:
    paid = quote("The applicant will pay a contribution of £60,000 towards cycle routes")
    given: dict[str, Any] = {
        "aspect": "off_site", "question": None, "requirement": "A contribution to cycle routes", "outcome": "not_shown",
        "evidence": [paid], "recommendation": None, "statement": "We did not find a contribution towards cycle routes.",
    }  # fmt: skip
    [answer] = draft_of().submit_findings([finding(**given, looked_for=["contribution towards cycle routes"])])
    assert answer.verdict == "returned"
    assert "What you quote speaks of what you looked for: “The applicant will pay" in " ".join(answer.reasons)
    [answer] = draft_of().submit_findings([finding(**given, looked_for=["trigger for payment"])])
    assert answer.verdict == "verified"
