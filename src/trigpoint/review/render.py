"""A finished review as files: Markdown, JSON, a PDF made by typst. Text of documents and models is data in
all of them: it never becomes markup, and nothing is fetched.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from trigpoint.review.citing import Titles, document_place, place_of_ref, policy_place, title_in
from trigpoint.review.consultees import with_history
from trigpoint.review.findings import GROUPS, Finding
from trigpoint.review.markdown import OUTCOMES, built, escape, render_markdown
from trigpoint.review.overview import Overview, Point, plain_text
from trigpoint.review.pictures import Pictures
from trigpoint.review.rating import ASPECT_RULE, OVERALL_RULE
from trigpoint.review.result import Metadata, ReviewResult
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
    told, officers = overview.told, result.review.officers
    return {
        **result.model_dump(mode="json", exclude={"review": {"full_markdown", "profile"}}),
        "built": built(profile) if profile else "",
        "told": {**asdict(told), "notes": _without_reading(told.notes, result)} if told else None,
        "reading": reading_account(result.metadata),
        "not_seen": _in_short(result.review.not_seen),
        "policy_date": result.metadata.why_policy_date,
        "stance": _stance(result),
        "verdict": overview.verdict[0] if overview.told else " ".join(overview.verdict),
        "consultees": [with_history(one) for one in result.review.consultees],
        "officers": officers.sentence(result.review.titles) if officers else "",
        "main": [_point(point, pictures or {}, result.review.titles) for point in overview.report.matters],
        "good": [_point(point, {}, result.review.titles) for point in overview.report.good],
        "policies": [policy.model_dump(mode="json") for policy in result.review.policies()],
        "rows": [place_of_ref(row.ref) for row in result.review.policy_compliance],
        "policy_names": {policy.passage_id: policy_place(policy) for policy in result.review.policies()},
        "titles": {name: title_in(name, result.review.titles) for name in _documents(result)},
        "texts": {point.finding.text: plain_text(point.finding) for point in overview.points},
        "judged_by": result.metadata.judged_by,
        "quality": quality.sentence() if quality else "",
        "searched": quality.reading() if quality and quality.pages_not_read else "",
        "sums": {
            one.expression: _readable_sum(one.expression)
            for point in overview.points
            for one in point.finding.calculations
        },
        "groups": list(GROUPS.items()),
        "outcomes": OUTCOMES,
        "rules": [ASPECT_RULE, OVERALL_RULE],
    }


def reading_account(metadata: Metadata) -> str:
    """Say once how many pages were read and how; nothing if the pages were not counted."""
    documents, quality = metadata.documents, metadata.quality
    if quality is None or not quality.pages or not documents.pages:
        return documents.reading
    parts = [
        (quality.pages_read, "read whole"),
        (quality.pages - quality.pages_read, "only searched for words"),
        (documents.pages - documents.pages_read, "not readable"),
        (documents.pages_read - quality.pages, "without text"),
    ]
    counted = ", ".join(f"{count} {words}" for count, words in parts if count > 0)
    ocr = f" The text of {documents.pages_by_ocr} comes from OCR." if documents.pages_by_ocr else ""
    files = f"{documents.ingested} document{'' if documents.ingested == 1 else 's'}"
    if quality.pages_read >= documents.pages > 1:
        return f"{files}, all {documents.pages} pages read whole.{ocr}"
    return f"{files}, {documents.pages} page{'' if documents.pages == 1 else 's'}: {counted}.{ocr}"


def _in_short(not_seen: Sequence[str]) -> str:
    """Return what was named and not read as one sentence, without the places that name it."""
    names = [re.sub(r" \([^()]*\)$", "", one) for one in not_seen]
    text = "; ".join(names)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _without_reading(notes: str, result: ReviewResult) -> str:
    """Return what to bear in mind without the count of pages, which the head of the report gives."""
    quality = result.metadata.quality
    return " ".join(notes.replace(quality.reading(), " ").split()) if quality and quality.pages else notes


_STANCES = {"object": "Object to it as it stands", "comment": "Comment, and ask for changes", "support": "Support it"}


def _stance(result: ReviewResult) -> dict[str, str] | None:
    """Return what the letter that is drafted with the review says, and why; None without one."""
    letter = result.review.letter
    if letter is None:
        return None
    why = letter.suggestion.why if letter.suggestion else ""
    return {"words": _STANCES[letter.stance], "why": why}


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
        "asked": _asked(finding),
        "policies": _policies(finding),
        "sums": [_readable_sum(one.expression) for one in finding.calculations],
        "quotations": [
            {
                "place": document_place(citation, titles),
                "quote": citation.quote,
                "picture": _picture(pictures.get(citation)),
            }
            for citation in point.proof
        ],
    }


def _asked(finding: Finding) -> str:
    """Return what a point is measured by; nothing if it is only that two places differ, or says the same again."""
    plain = finding.requirement.rstrip(".")
    measured = finding.outcome != "contradicted" or finding.policy or finding.standard
    return plain if measured and plain and plain not in finding.text else ""


def _policies(finding: Finding) -> list[dict[str, str]]:
    """Return the sections that a point cites, each once, by the id of a passage and its name."""
    named = {policy_place(one): one.passage_id for one in reversed(finding.policy)}
    return [{"passage_id": passage_id, "name": name} for name, passage_id in reversed(named.items())]


_LONG_NUMBER = re.compile(r"(?<![\d.,])\d{5,}(?![\d,])")  # four digits may be a year


def _readable_sum(expression: str) -> str:
    """Return `240,000 − 120,000 = 120,000` for an equation as it was worked out."""
    plain = expression.replace("*", "×").replace(" - ", " \N{MINUS SIGN} ").replace(" / ", " ÷ ")
    return _LONG_NUMBER.sub(lambda found: f"{int(found[0]):,}", plain)


def _picture(png: bytes | None) -> str | None:
    """Return a PNG as an SVG text, the form in which typst takes pictures from data."""
    if png is None:
        return None
    size = f'width="{STRIP_WIDTH}" height="{STRIP_HEIGHT}"'
    image = f'<image {size} href="data:image/png;base64,{b64encode(png).decode()}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{image}</svg>'
