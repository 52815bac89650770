"""A finished review as files: Markdown, JSON, a PDF made by typst, and a letter of response. Text of documents and
models is data in all of them: it never becomes markup, and nothing is fetched.
"""

from __future__ import annotations

import json
from typing import Any

import pymupdf

from trigpoint.review.findings import GROUPS
from trigpoint.review.letter_draft import MOST_GROUNDS, write_letter
from trigpoint.review.markdown import OUTCOMES, built, escape, render_markdown
from trigpoint.review.rating import ASPECT_RULE, OVERALL_RULE
from trigpoint.review.result import ReviewResult
from trigpoint.review.typeset import compile_pdf

__all__ = ["OUTCOMES", "escape", "render_json", "render_letter", "render_markdown", "render_pdf", "report_data"]

LETTER_PAGES = 2


def render_json(result: ReviewResult) -> bytes:
    """Return `application`, `review` and `metadata` as one object."""
    body = result.model_dump(mode="json")
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode(errors="replace")


def render_pdf(result: ReviewResult) -> bytes:
    """Return the report. Takes tens of milliseconds: call it in a thread."""
    return compile_pdf("review.typ", report_data(result))


def render_letter(result: ReviewResult) -> bytes:
    """Return a letter of response of at most two pages. What does not fit goes into an annex."""
    data = report_data(result)
    for most in range(MOST_GROUNDS, 0, -1):
        letter = write_letter(result, most=most).model_dump(mode="json")
        if (
            most == 1
            or _pages(compile_pdf("letter.typ", data | {"letter": letter, "with_annex": False})) <= LETTER_PAGES
        ):
            break
    return compile_pdf("letter.typ", data | {"letter": letter, "with_annex": True})


def _pages(pdf: bytes) -> int:
    with pymupdf.open(stream=pdf) as document:  # type: ignore[no-untyped-call]
        return int(document.page_count)


def report_data(result: ReviewResult) -> dict[str, Any]:
    """Return what the templates print, as plain data: the last line before typst."""
    profile = result.review.profile
    return {
        **result.model_dump(mode="json", exclude={"review": {"full_markdown", "profile"}}),
        "built": built(profile) if profile else "",
        "policies": [policy.model_dump(mode="json") for policy in result.review.policies()],
        "general": [finding.model_dump(mode="json") for finding in result.review.general_contradictions()],
        "groups": list(GROUPS.items()),
        "outcomes": OUTCOMES,
        "rules": [ASPECT_RULE, OVERALL_RULE],
    }
