"""A finished review as files: Markdown as in the contract, JSON, a PDF made by typst, and a letter of response. Text of
documents and models is data in all of them: it never becomes markup, and nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trigpoint.review.findings import pages_text
from trigpoint.review.models import ReviewResult
from trigpoint.review.rating import ASPECT_RULE, OVERALL_RULE
from trigpoint.review.typeset import compile_pdf

OUTCOMES = {
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
    """The whole review, in the contract's layout, with quotations below each aspect."""
    return "\n".join(_markdown(result)) + "\n"


def render_json(result: ReviewResult) -> bytes:
    """`application`, `review` and `metadata` as one object."""
    body = {"application": result.application, "review": result.review, "metadata": result.metadata}
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode(errors="replace")


def render_pdf(result: ReviewResult) -> bytes:
    """The report that one would send to a council. Slow enough (tens of ms) to be called in a thread."""
    return compile_pdf("review.typ", report_data(result))


def render_letter(result: ReviewResult) -> bytes:
    """A letter of response to the council: objection, comment or support, built from the same findings."""
    return compile_pdf("letter.typ", report_data(result) | {"letter": letter_data(result)})


def report_data(result: ReviewResult) -> dict[str, Any]:
    """What the templates print, as plain data."""
    return {
        "application": result.application,
        "review": result.review,
        "metadata": result.metadata,
        "not_read": not_read(result.metadata),
        "outcomes": OUTCOMES,
        "rules": [ASPECT_RULE, OVERALL_RULE],
    }


def not_read(metadata: Mapping[str, Any]) -> list[str]:
    """Names of documents that gave no text. A review of another making may not have them."""
    return list(metadata.get("documents", {}).get("not_read", ()))


def letter_data(result: ReviewResult) -> dict[str, Any]:
    """The stand that follows from the overall rating, and its grounds."""
    rating = result.review["overall_rating"]
    aspects = result.review["aspects"]
    against = [aspect for aspect in aspects if aspect["rating"] != "green"]
    stand, opening = {
        "red": ("Objection", "We object to this application, for the reasons given below."),
        "amber": (
            "Comments",
            "We neither support nor object as it stands. We ask that the points below are settled before it is decided.",
        ),
        "green": ("Support", "We support this application, for the reasons given below."),
    }[rating]
    return {
        "stand": stand,
        "opening": opening,
        "grounds": against,
        "strengths": [a for a in aspects if a["rating"] == "green"],
    }


def escape(text: str) -> str:
    """Text from documents or models as Markdown that shows it and does nothing else."""
    plain = _MARKUP.sub(r"\\\1", " ".join(str(text).split()))
    return _LIST.sub(r"\1\\\2", plain)


def _markdown(result: ReviewResult) -> Iterator[str]:
    application, review = result.application, result.review
    yield f"# Cycle Advocacy Review: {application['reference']}"
    yield ""
    yield f"## Overall Rating: {review['overall_rating'].upper()}"
    yield ""
    yield "## Summary"
    yield escape(review["summary"])
    yield ""
    yield from _application(result)
    yield "## Aspect Assessments"
    for aspect in review["aspects"]:
        yield ""
        yield f"### {escape(aspect['name'])}: {aspect['rating'].upper()}"
        yield f"**Key Issue:** {escape(aspect['key_issue'])}"
        yield ""
        yield escape(aspect["detail"])
        yield from _quotations(aspect)
        if aspect["policy_refs"]:
            yield ""
            yield "Policy: " + "; ".join(escape(ref) for ref in aspect["policy_refs"])
    yield from _matrix(review["policy_compliance"])
    yield from _list("Recommendations", review["recommendations"])
    yield from _list("Suggested Conditions", review["suggested_conditions"])
    yield from _method(result)


def _application(result: ReviewResult) -> Iterator[str]:
    application = result.application
    yield "## Application"
    for label, key in _FACTS.items():
        if application.get(key):
            yield f"- {label}: {escape(application[key])}"
    yield f"- Policy as of: {result.metadata['policy_effective_date']}"
    yield f"- Documents read: {application['documents_ingested']} of {application['documents_fetched']} fetched"
    if names := not_read(result.metadata):
        yield f"- Not read, for want of text: {escape(', '.join(names))}"
    yield ""


def _quotations(aspect: dict[str, Any]) -> Iterator[str]:
    quoted = {(e["document"], e["quote"]): e for f in aspect["findings"] for e in reversed(f["evidence"])}
    if not quoted:
        return
    yield ""
    yield "Evidence:"
    for evidence in sorted(quoted.values(), key=lambda e: (e["document"], e["pages"], e["passage_id"])):
        place = f"{evidence['document']}, {pages_text(tuple(evidence['pages']))}"
        yield f"- “{escape(evidence['quote'])}” ({escape(place)}) [{OUTCOMES[evidence['speaks']].lower()}]"


def _matrix(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield "## Policy Compliance"
    yield ""
    yield "| Requirement | Policy | Compliant | Notes |"
    yield "|---|---|---|---|"
    for row in rows:
        compliant = "Yes" if row["compliant"] else "No"
        yield f"| {escape(row['requirement'])} | {escape(row['policy_ref'])} | {compliant} | {escape(row['notes'])} |"


def _list(title: str, items: list[str]) -> Iterator[str]:
    if not items:
        return
    yield ""
    yield f"## {title}"
    for item in items:
        yield f"- {escape(item)}"


def _method(result: ReviewResult) -> Iterator[str]:
    metadata = result.metadata
    citations = metadata["citations"]
    yield ""
    yield "## How This Was Judged"
    yield f"- Analyser: {escape(metadata['model'])}"
    for revision in metadata["policy_revisions_used"]:
        yield f"- {escape(revision['source'])}: {escape(revision['version_label'])} ({escape(revision['revision_id'])})"
    yield f"- Citations: {citations['checked']} checked, {citations['verified']} verified, {citations['dropped']} dropped"
    yield f"- {ASPECT_RULE}"
    yield f"- {OVERALL_RULE}"
