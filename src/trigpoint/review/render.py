"""A finished review as files: Markdown as in the contract, JSON, a PDF made by typst, and a letter of response. Text of
documents and models is data in all of them: it never becomes markup, and nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from trigpoint.review.findings import Outcome
from trigpoint.review.rating import ASPECT_RULE, OVERALL_RULE
from trigpoint.review.result import AspectReview, ComplianceRow, ReviewResult
from trigpoint.review.typeset import compile_pdf

OUTCOMES: dict[Outcome, str] = {
    "met": "Met",
    "partly": "Partly met",
    "failed": "Not met",
    "contradicted": "Contradicted",
    "not_found": "Not shown",
}
_FACTS = {
    "Address": "address",
    "Proposal": "proposal",
    "Applicant": "applicant",
    "Status": "status",
    "Valid from": "date_validated",
    "Consultation ends": "consultation_end",
}
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~])")
_LIST = re.compile(r"^(\d*)([-+.)])(?=\s)")


def render_markdown(result: ReviewResult) -> str:
    """Return the whole review in the contract's layout, with quotations below each aspect."""
    return "\n".join(_markdown(result)) + "\n"


def render_json(result: ReviewResult) -> bytes:
    """Return `application`, `review` and `metadata` as one object."""
    body = result.model_dump(mode="json")
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode(errors="replace")


def render_pdf(result: ReviewResult) -> bytes:
    """Return the report. Takes tens of milliseconds: call it in a thread."""
    return compile_pdf("review.typ", report_data(result))


def render_letter(result: ReviewResult) -> bytes:
    """Return a letter of response to the council: objection, comment or support, built from the same findings."""
    return compile_pdf("letter.typ", report_data(result) | {"letter": letter_data(result)})


def report_data(result: ReviewResult) -> dict[str, Any]:
    """Return what the templates print, as plain data: the last line before typst."""
    return {
        **result.model_dump(mode="json", exclude={"review": {"full_markdown"}}),
        "outcomes": OUTCOMES,
        "rules": [ASPECT_RULE, OVERALL_RULE],
    }


def letter_data(result: ReviewResult) -> dict[str, Any]:
    """Return the letter's position, which follows from the overall rating, and its grounds."""
    aspects = result.review.aspects
    stand, opening = {
        "red": ("Objection", "We object to this application, for the reasons given below."),
        "amber": (
            "Comments",
            "We neither support nor object as it stands. We ask that the points below are settled before it is decided.",
        ),
        "green": ("Support", "We support this application, for the reasons given below."),
    }[result.review.overall_rating]
    return {
        "stand": stand,
        "opening": opening,
        "grounds": [a.model_dump(mode="json") for a in aspects if a.rating != "green"],
        "strengths": [a.model_dump(mode="json") for a in aspects if a.rating == "green"],
    }


def escape(text: object) -> str:
    """Return text from documents or models as Markdown that shows it and does nothing else."""
    plain = _MARKUP.sub(r"\\\1", " ".join(str(text).split()))
    return _LIST.sub(r"\1\\\2", plain)


def _markdown(result: ReviewResult) -> Iterator[str]:
    review = result.review
    yield f"# Cycle Advocacy Review: {result.application.reference}"
    yield ""
    yield f"## Overall Rating: {review.shown_rating.upper()}"
    yield ""
    yield "## Summary"
    yield escape(review.summary)
    yield ""
    yield from _application(result)
    yield "## Aspect Assessments"
    for aspect in review.aspects:
        yield from _aspect(aspect)
    yield from _matrix(review.policy_compliance)
    yield from _list("Recommendations", review.recommendations)
    yield from _list("Suggested Conditions", review.suggested_conditions)
    yield from _method(result)


def _application(result: ReviewResult) -> Iterator[str]:
    application = result.application
    yield "## Application"
    for label, name in _FACTS.items():
        if value := getattr(application, name):
            yield f"- {label}: {escape(value)}"
    yield f"- Policy as of: {result.metadata.policy_effective_date}"
    yield f"- Documents read: {application.documents_ingested} of {application.documents_fetched} fetched"
    if names := result.metadata.documents.not_read:
        yield f"- Not read, for want of text: {escape(', '.join(names))}"
    yield ""


def _aspect(aspect: AspectReview) -> Iterator[str]:
    yield ""
    yield f"### {escape(aspect.name)}: {aspect.shown_rating.upper()}"
    yield f"**Key Issue:** {escape(aspect.key_issue)}"
    yield ""
    yield escape(aspect.detail)
    yield from _quotations(aspect)
    if aspect.policy_refs:
        yield ""
        yield "Policy: " + "; ".join(escape(ref) for ref in aspect.policy_refs)


def _quotations(aspect: AspectReview) -> Iterator[str]:
    quoted = {(e.document, e.quote): e for f in aspect.findings for e in reversed(f.evidence)}
    if not quoted:
        return
    yield ""
    yield "Evidence:"
    for evidence in sorted(quoted.values(), key=lambda e: (e.document, e.pages, e.passage_id)):
        yield f"- “{escape(evidence.quote)}” ({escape(evidence.place)}) [{OUTCOMES[evidence.speaks].lower()}]"


def _matrix(rows: Sequence[ComplianceRow]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield "## Policy Compliance"
    yield ""
    yield "| Requirement | Policy | Compliant | Notes |"
    yield "|---|---|---|---|"
    for row in rows:
        compliant = "Yes" if row.compliant else "No"
        yield f"| {escape(row.requirement)} | {escape(row.ref)} | {compliant} | {escape(row.notes)} |"


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if not items:
        return
    yield ""
    yield f"## {title}"
    for item in items:
        yield f"- {escape(item)}"


def _method(result: ReviewResult) -> Iterator[str]:
    metadata = result.metadata
    citations = metadata.citations
    yield ""
    yield "## How This Was Judged"
    yield f"- Analyser: {escape(metadata.model)}"
    for revision in metadata.policy_revisions_used:
        yield f"- {escape(revision.source)}: {escape(revision.version_label)} ({escape(revision.revision_id)})"
    yield f"- Citations: {citations.checked} checked, {citations.verified} verified, {citations.dropped} dropped"
    yield f"- {ASPECT_RULE}"
    yield f"- {OVERALL_RULE}"
