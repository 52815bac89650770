"""The formats in which a finished review can be had: one table for REST, pages and command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from trigpoint.review.letter import Letter
from trigpoint.review.letter_files import first_letter, letter_docx, letter_pdf, letter_text
from trigpoint.review.pictures import Pictures
from trigpoint.review.render import render_json, render_markdown, render_pdf
from trigpoint.review.result import ReviewResult

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


class FormatName(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    PDF = "pdf"
    LETTER = "letter"
    DOCX = "docx"
    TEXT = "text"


Writer = Callable[[ReviewResult, Letter | None, Pictures], bytes]


@dataclass(frozen=True)
class Format:
    """One format: its label on a page, media type, file name (with `{}` for the review), and how it is written."""

    name: FormatName
    label: str
    media_type: str
    file_name: str
    write: Writer
    of_letter: bool = False
    pictured: bool = False

    def render(self, result: ReviewResult, letter: Letter | None = None, pictures: Pictures | None = None) -> bytes:
        """Return the file. Of a letter that nobody has saved, it is the first draft. Only a pictured format shows
        `pictures`.
        """
        return self.write(result, letter, pictures or {})


def _report(render: Callable[[ReviewResult], bytes]) -> Writer:
    return lambda result, _, __: render(result)


def _letter(render: Callable[[Letter], bytes]) -> Writer:
    return lambda result, letter, _: render(letter or first_letter(result))


def _markdown(result: ReviewResult) -> bytes:
    """Return the stored Markdown, so that a review reads the same whichever version opens it."""
    return (result.review.full_markdown or render_markdown(result)).encode(errors="replace")


def _letter_bytes(letter: Letter) -> bytes:
    return letter_text(letter).encode(errors="replace")


FORMATS = {
    one.name: one
    for one in (
        Format(
            FormatName.PDF,
            "Report (PDF)",
            "application/pdf",
            "review-{}.pdf",
            lambda result, _, pictures: render_pdf(result, pictures),
            pictured=True,
        ),
        Format(FormatName.LETTER, "Letter (PDF)", "application/pdf", "review-{}-letter.pdf", _letter(letter_pdf), True),
        Format(FormatName.DOCX, "Letter (Word)", WORD, "review-{}-letter.docx", _letter(letter_docx), True),
        Format(
            FormatName.TEXT,
            "Letter (plain text)",
            "text/plain; charset=utf-8",
            "review-{}-letter.txt",
            _letter(_letter_bytes),
            True,
        ),
        Format(FormatName.MARKDOWN, "Markdown", "text/markdown", "review-{}.md", _report(_markdown)),
        Format(FormatName.JSON, "JSON", "application/json", "review-{}.json", _report(render_json)),
    )
}
