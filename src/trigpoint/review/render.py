"""A finished review as files: Markdown, JSON, a PDF made by typst. Text of documents and models is data in
all of them: it never becomes markup, and nothing is fetched.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import asdict
from typing import Any

from trigpoint.review.citing import Titles, document_place, place_of_ref, policy_place, title_in
from trigpoint.review.consultees import recommends
from trigpoint.review.findings import GROUPS
from trigpoint.review.markdown import OUTCOMES, built, escape, render_markdown
from trigpoint.review.overview import Overview, Point, plain_text
from trigpoint.review.pictures import Pictures
from trigpoint.review.rating import ASPECT_RULE, OVERALL_RULE
from trigpoint.review.result import ReviewResult
from trigpoint.review.typeset import compile_pdf
from trigpoint.text.picture import STRIP_HEIGHT, STRIP_WIDTH

__all__ = ["OUTCOMES", "escape", "render_json", "render_markdown", "render_pdf", "report_data"]


def render_json(result: ReviewResult) -> bytes:
    """Return `application`, `review` and `metadata` as one object."""
    body = result.model_dump(mode="json")
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode(errors="replace")


def render_pdf(result: ReviewResult, pictures: Pictures | None = None) -> bytes:
    """Return the report, with strips of the documents' pages if they are given. Slow: call it in a thread."""
    return compile_pdf("review.typ", report_data(result, pictures or {}))


def report_data(result: ReviewResult, pictures: Pictures | None = None) -> dict[str, Any]:
    """Return what the templates print, as plain data: the last line before typst."""
    profile, overview, quality = result.review.profile, Overview(result.review), result.metadata.quality
    return {
        **result.model_dump(mode="json", exclude={"review": {"full_markdown", "profile"}}),
        "built": built(profile) if profile else "",
        "told": asdict(overview.told) if overview.told else None,
        "verdict": overview.verdict[0] if overview.told else " ".join(overview.verdict),
        "consultees": [recommends(one) for one in result.review.consultees],
        "main": [_point(point, pictures or {}, result.review.titles) for point in overview.report.matters],
        "good": [_point(point, {}, result.review.titles) for point in overview.report.good],
        "policies": [policy.model_dump(mode="json") for policy in result.review.policies()],
        "rows": [place_of_ref(row.ref) for row in result.review.policy_compliance],
        "policy_names": {policy.passage_id: policy_place(policy) for policy in result.review.policies()},
        "titles": {name: title_in(name, result.review.titles) for name in _documents(result)},
        "texts": {point.finding.text: plain_text(point.finding) for point in overview.points},
        "judged_by": result.metadata.judged_by,
        "quality": quality.sentence() if quality else "",
        "groups": list(GROUPS.items()),
        "outcomes": OUTCOMES,
        "rules": [ASPECT_RULE, OVERALL_RULE],
    }


def _documents(result: ReviewResult) -> set[str]:
    """Return the names of all documents that a report cites."""
    places = {place.document for aspect in result.review.aspects for one in aspect.not_assessed for place in one.places}
    return places | {citation.document for citation in result.review.quotations()}


def _point(point: Point, pictures: Pictures, titles: Titles) -> dict[str, Any]:
    finding = point.finding
    return {
        "kind": point.kind,
        "label": point.label,
        "aspect": point.aspect.name if point.aspect else None,
        "text": plain_text(finding),
        "finding": finding.model_dump(mode="json"),
        "quotations": [
            {
                "place": document_place(citation, titles),
                "quote": citation.quote,
                "picture": _picture(pictures.get(citation)),
            }
            for citation in point.proof
        ],
    }


def _picture(png: bytes | None) -> str | None:
    """Return a PNG as an SVG text, the form in which typst takes pictures from data."""
    if png is None:
        return None
    size = f'width="{STRIP_WIDTH}" height="{STRIP_HEIGHT}"'
    image = f'<image {size} href="data:image/png;base64,{b64encode(png).decode()}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{image}</svg>'
