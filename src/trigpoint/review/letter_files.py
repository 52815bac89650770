"""A letter as files: PDF, a Word file, plain text for a council's web form. All text is data: it never becomes markup."""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

from trigpoint.dates import today
from trigpoint.review.letter import Letter
from trigpoint.review.letter_blocks import Block, BlockKind, body_blocks, letter_blocks, title
from trigpoint.review.letter_draft import draft_letter
from trigpoint.review.result import ReviewResult
from trigpoint.review.typeset import compile_pdf, printable
from trigpoint.text.mupdf import mupdf

if TYPE_CHECKING:
    from docx.document import Document

LETTER_PAGES = 2
_STYLES: dict[BlockKind, str] = {
    "heading": "Heading 2",
    "annex": "Heading 1",
    "ground": "List Number",
    "condition": "List Number 2",
    "item": "List Bullet",
}


def letter_pdf(letter: Letter, day: date | None = None) -> bytes:
    """Return the letter with its annex as PDF. Takes tens of milliseconds: call it in a thread."""
    return _compiled(letter, letter_blocks(letter, day or today()))


def letter_text(letter: Letter) -> str:
    """Return the letter as plain text, without the addresses that a council's web form asks for in fields of its own."""
    return "\n\n".join(_as_text(block) for block in body_blocks(letter)).replace("\n\n- ", "\n- ") + "\n"


def letter_docx(letter: Letter, day: date | None = None) -> bytes:
    """Return the letter as a Word file with headings and lists of its own, so that it can be edited further."""
    import docx  # slow to import, and seldom needed

    document = docx.Document()
    _lay_out(document)
    _describe(document, letter)
    for block in letter_blocks(letter, day or today()):
        _add(document, block)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def printed_pages(pdf: bytes) -> int:
    """Return how many pages a PDF of ours has."""
    with mupdf().open(stream=pdf) as document:
        return int(document.page_count)


def letter_length(letter: Letter) -> float:
    """Return how many pages the letter takes without its annex, to a tenth: 1.6."""
    with mupdf().open(stream=_compiled(letter, _without_annex(letter_blocks(letter, today())))) as pdf:
        last = pdf[pdf.page_count - 1]
        top, bottom = 62.0, last.rect.height - 62.0  # the margins of the template, in points
        ends = [block[3] for block in last.get_text("blocks") if block[3] <= bottom]
        used = float(max(ends, default=top) - top) / (bottom - top)
        pages: float = int(pdf.page_count) - 1 + min(1.0, max(0.1, used))
        return round(pages, 1)


def first_letter(result: ReviewResult) -> Letter:
    """Return the letter before anybody has changed it: at most two pages, the rest in its annex."""
    return fitted(draft_letter(result))


def fitted(letter: Letter, pages: int = LETTER_PAGES) -> Letter:
    """Return the letter with what does not fit on these pages moved to its annex, the least important first."""
    if letter_length(letter) <= pages:
        return letter
    lighter = list(_lighter(letter))
    first = bisect_left(lighter, True, key=lambda one: letter_length(one) <= pages)
    return lighter[min(first, len(lighter) - 1)] if lighter else letter


def _lighter(letter: Letter) -> Iterator[Letter]:
    """Yield the letter with one thing more in its annex each time."""
    while (moved := _with_one_more_in_annex(letter)) is not None:
        yield moved
        letter = moved


def _with_one_more_in_annex(letter: Letter) -> Letter | None:
    """Move all conditions first, then strengths and questions, then grounds from the last. The first ground stays."""
    if any(one.ticked and not one.annex for one in letter.conditions):
        moved = tuple(one.model_copy(update={"annex": True}) for one in letter.conditions)
        return letter.model_copy(update={"conditions": moved})
    stays = ("strength",) if letter.stance == "object" else ()  # a fair word, which is printed before the grounds
    shown = [n for n, one in enumerate(letter.grounds) if one.ticked and not one.annex and one.kind not in stays]
    minor = [place for place in shown if letter.grounds[place].kind in ("strength", "question")]
    chosen = minor[-1:] or shown[1:][-1:]
    if not chosen:
        return None
    grounds = list(letter.grounds)
    grounds[chosen[0]] = grounds[chosen[0]].model_copy(update={"annex": True})
    return letter.model_copy(update={"grounds": tuple(grounds)})


def _without_annex(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    kinds = [block.kind for block in blocks]
    return blocks[: kinds.index("annex")] if "annex" in kinds else blocks


def _compiled(letter: Letter, blocks: tuple[Block, ...]) -> bytes:
    data: dict[str, Any] = {
        "title": title(letter),
        "author": letter.sender.name,
        "blocks": [asdict(block) | {"lines": block.text.split("\n")} for block in blocks],
    }
    return compile_pdf("letter.typ", data)


def _as_text(block: Block) -> str:
    match block.kind:
        case "ground":
            return f"{block.number}. {f'{block.lead} ' if block.lead else ''}{block.text}"
        case "condition":
            return f"{block.number}. {block.text}"
        case "item":
            return f"- {block.text}"
        case "title" | "heading" | "annex":
            return block.text.upper() if block.kind != "heading" else block.text
        case _:
            return block.text


def _lay_out(document: Document) -> None:
    from docx.shared import Cm, Pt, RGBColor

    section = document.sections[0]
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.5)
    section.top_margin = section.bottom_margin = Cm(2.2)
    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    normal.paragraph_format.space_after = Pt(7)
    for name in ("Heading 1", "Heading 2"):
        style = document.styles[name]
        style.font.name, style.font.size = "Calibri", Pt(14 if name == "Heading 1" else 12)
        style.font.color.rgb = RGBColor(0x1D, 0x27, 0x33)
        style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(12), Pt(4)


def _describe(document: Document, letter: Letter) -> None:
    """Set the file's properties, and take out those of the library's template."""
    about = document.core_properties
    about.title, about.author, about.comments = _clean(title(letter))[:255], _clean(letter.sender.name)[:255], ""
    about.last_modified_by, about.language = about.author, "en-GB"


def _add(document: Document, block: Block) -> None:
    from docx.enum.text import WD_BREAK
    from docx.shared import Cm, Pt

    if block.kind == "annex":
        document.paragraphs[-1].add_run().add_break(WD_BREAK.PAGE)
    paragraph = document.add_paragraph(style=_STYLES.get(block.kind, "Normal"))
    if block.lead:
        paragraph.add_run(f"{_clean(block.lead)} ").bold = True
    lines = [_clean(line) for line in block.text.split("\n")]
    for place, line in enumerate(lines):
        run = paragraph.add_run(line)
        run.bold = True if block.kind == "title" else None
        if place < len(lines) - 1:
            run.add_break()
        if block.kind == "sign" and place == 0:
            run.add_break()
            run.add_break()
    if block.kind == "sender":
        paragraph.paragraph_format.left_indent = Cm(10)
    if block.kind in ("council", "date", "sender"):
        paragraph.paragraph_format.space_after = Pt(14)
    if block.kind in ("title", "heading", "annex", "sign"):
        paragraph.paragraph_format.keep_with_next = block.kind != "sign"
        paragraph.paragraph_format.keep_together = True


def _clean(text: str) -> str:
    """Return a text without characters that XML forbids."""
    cleaned: str = printable(text)
    return cleaned
