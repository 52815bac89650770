"""The formats in which a finished review can be had: one table for REST, pages and command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from trigpoint.review.render import render_json, render_letter, render_markdown, render_pdf
from trigpoint.review.result import ReviewResult


class FormatName(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    PDF = "pdf"
    LETTER = "letter"


@dataclass(frozen=True)
class Format:
    """One format: its label on a page, media type, file name (with `{}` for the review), and renderer."""

    name: FormatName
    label: str
    media_type: str
    file_name: str
    render: Callable[[ReviewResult], bytes]


def _markdown(result: ReviewResult) -> bytes:
    """Return the stored Markdown, so that a review reads the same whichever version opens it."""
    return (result.review.full_markdown or render_markdown(result)).encode(errors="replace")


FORMATS = {
    one.name: one
    for one in (
        Format(FormatName.PDF, "Report (PDF)", "application/pdf", "review-{}.pdf", render_pdf),
        Format(FormatName.LETTER, "Letter (PDF)", "application/pdf", "review-{}-letter.pdf", render_letter),
        Format(FormatName.MARKDOWN, "Markdown", "text/markdown", "review-{}.md", _markdown),
        Format(FormatName.JSON, "JSON", "application/json", "review-{}.json", render_json),
    )
}
