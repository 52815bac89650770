"""Exactness on a generated PDF whose every page is known: pages, offsets, sections, and where quotations stand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from library_samples import PROJECT, library_settings
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.sources import SourceText, read_source
from trigpoint.passages.model import Passage
from trigpoint.text.extract import DocumentProcessor

PAGES = 200
LINES = 14
WORDS = (
    "boundary survey triangle beacon ridge pillar bearing theodolite station meridian contour benchmark datum "
    "hillside valley footpath carriageway junction crossing parapet culvert verge kerb drainage gradient"
).split()


@dataclass(frozen=True)
class Book:
    """What the generated PDF says: each page's lines, and the section path in force at each line."""

    file: Path
    lines: dict[int, list[str]]
    paths: dict[str, tuple[str, ...]]


def sentence(rng: random.Random, mark: str) -> str:
    words = rng.sample(WORDS, 8)
    return f"Mark {mark} notes that {' '.join(words)}."


def make_book(file: Path, *, bookmarks: bool) -> Book:
    """Chapters of ten pages, sections of two, a mark on every line; section headings stand in the middle of pages."""
    rng = random.Random(20)
    canvas = Canvas(str(file), pagesize=A4, pageCompression=1)
    canvas.setTitle("The Surveyor's Book of Marks")
    lines: dict[int, list[str]] = {}
    paths: dict[str, tuple[str, ...]] = {}
    path: tuple[str, ...] = ()
    for page in range(1, PAGES + 1):
        written: list[str] = []
        chapter = (page - 1) // 10 + 1
        if (page - 1) % 10 == 0:
            title = f"Chapter {chapter}: The {WORDS[chapter % len(WORDS)]} of {rng.choice(WORDS)}s"
            path = (title,)
            written.append(title)
            mark_outline(canvas, title, 0, bookmarks=bookmarks)
        for line in range(LINES):
            if line == 6 and page % 2 == 0:
                title = f"{chapter}.{(page - 1) % 10 // 2 + 1} On the {WORDS[page % len(WORDS)]}"
                path = (path[0], title)
                written.append(title)
                mark_outline(canvas, title, 1, bookmarks=bookmarks)
            text = sentence(rng, f"{page:03d}-{line:02d}")
            written.append(text)
            paths[text] = path
        canvas.setFont("Helvetica", 10)
        for number, text in enumerate(written):
            canvas.drawString(60, 780 - 40 * number, text)
        lines[page] = written
        canvas.showPage()
    canvas.save()
    return Book(file, lines, paths)


def mark_outline(canvas: Canvas, title: str, level: int, *, bookmarks: bool) -> None:
    if bookmarks:
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title, level)


@dataclass(frozen=True)
class Ingested:
    book: Book
    library: Library
    source: SourceText
    chunks: list[Passage]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingested]:
    folder = tmp_path_factory.mktemp("exact")
    book = make_book(folder / "marks.pdf", bookmarks=True)
    settings = library_settings(folder)
    library = Library.open(settings)
    processor = DocumentProcessor(settings)
    project = library.projects.get(PROJECT)
    entry = Ingestion(library, project, processor, folder / "audit").run([book.file]).entries[0]
    assert (entry.outcome, entry.warnings) == ("added", ())
    source = read_source(book.file, processor)
    processor.close()
    yield Ingested(book, library, source, library.passages(project).document(entry.doc_id or ""))
    library.close()


def doc(chunk: Passage) -> dict[str, Any]:
    return dict(chunk.metadata["doc"])


@pytest.mark.slow
def test_every_offset_and_every_page_span_is_right(ingested: Ingested) -> None:
    page_of = {line: page for page, lines in ingested.book.lines.items() for line in lines}
    for chunk in ingested.chunks:
        assert ingested.source.text[doc(chunk)["start"] : doc(chunk)["end"]] == chunk.text
        pages = [page_of[line] for line in chunk.text.splitlines() if line in page_of]
        assert doc(chunk)["page_span"] == [min(pages), max(pages)]
    covered = "\n".join(chunk.text for chunk in ingested.chunks)
    assert all(line in covered for line in page_of)


@pytest.mark.slow
def test_every_chunk_lies_in_one_section_and_names_it(ingested: Ingested) -> None:
    for chunk in ingested.chunks:
        paths = {ingested.book.paths[line] for line in chunk.text.splitlines() if line in ingested.book.paths}
        assert paths <= {tuple(doc(chunk)["section_path"])}, chunk.text
        assert doc(chunk)["section"] == doc(chunk)["section_path"][-1]
    assert ingested.source.title == "The Surveyor's Book of Marks"


@pytest.mark.slow
def test_no_chunk_is_longer_than_the_models_window(ingested: Ingested) -> None:
    assert max(ingested.library.embedding.count_tokens(chunk.text) for chunk in ingested.chunks) <= 256


@pytest.mark.slow
def test_100_exact_and_100_reset_quotations_are_found_on_their_pages(ingested: Ingested) -> None:
    rng = random.Random(5)
    chosen = rng.sample(
        [(page, line) for page, ls in ingested.book.lines.items() for line in ls if "Mark" in line], 200
    )
    for page, line in chosen[:100]:
        (match,) = ingested.library.find_quote(PROJECT, line)["matches"]
        assert (match["page"], match["end_page"], match["exact"], match["text"]) == (page, page, True, line)
        assert ingested.source.text[match["start"] : match["end"]] == line
    for page, line in chosen[100:]:
        (match,) = ingested.library.find_quote(PROJECT, reset(rng, line))["matches"]
        assert (match["page"], match["text"]) == (page, line)


def reset(rng: random.Random, line: str) -> str:
    """The same words as another typesetter might break them: hyphens in words, other line ends, ligatures."""
    words = line.split()
    for place in rng.sample(range(4, len(words)), 2):
        middle = len(words[place]) // 2
        words[place] = words[place][:middle] + rng.choice(["-\n", "\u00ad", "- "]) + words[place][middle:]
    return rng.choice(["\n", "  ", "\r\n"]).join(words).replace("fi", "ﬁ").replace("fo", "f\u200bo")


@pytest.mark.slow
def test_without_bookmarks_the_headings_in_the_text_do(tmp_path: Path) -> None:
    book = make_book(tmp_path / "plain.pdf", bookmarks=False)
    processor = DocumentProcessor(library_settings(tmp_path))
    source = read_source(book.file, processor)
    processor.close()
    chapters = [h for h in source.headings if h.level == 1]
    assert [source.text[h.start :].split(":")[0] for h in chapters] == [f"Chapter {n}" for n in range(1, 21)]
