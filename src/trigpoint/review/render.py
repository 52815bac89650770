"""A finished review as files: Markdown, JSON, a PDF made by typst. Text of documents and models is data in
all of them: it never becomes markup, and nothing is fetched.
"""

from __future__ import annotations

import json
from typing import Any

from trigpoint.review.findings import GROUPS
from trigpoint.review.markdown import OUTCOMES, built, escape, render_markdown
from trigpoint.review.rating import ASPECT_RULE, OVERALL_RULE
from trigpoint.review.result import ReviewResult
from trigpoint.review.typeset import compile_pdf

__all__ = ["OUTCOMES", "escape", "render_json", "render_markdown", "render_pdf", "report_data"]


def render_json(result: ReviewResult) -> bytes:
    """Return `application`, `review` and `metadata` as one object."""
    body = result.model_dump(mode="json")
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode(errors="replace")


def render_pdf(result: ReviewResult) -> bytes:
    """Return the report. Takes tens of milliseconds: call it in a thread."""
    return compile_pdf("review.typ", report_data(result))


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
