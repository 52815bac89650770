"""Sources: EPUB, the main text of a web page, Markdown with code, reference lists apart, headings where bookmarks are few."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest
from library_samples import PROJECT, library_settings

from trigpoint.errors import ExtractionFailed
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.sources import SourceText, read_source
from trigpoint.text.extract import DocumentProcessor


@pytest.fixture(scope="module")
def processor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentProcessor]:
    with closing(DocumentProcessor(library_settings(tmp_path_factory.mktemp("read")))) as made:
        yield made


def read(path: Path, text: str, processor: DocumentProcessor) -> SourceText:
    path.write_text(text, encoding="utf-8")
    return read_source(path, processor)


def titles(source: SourceText) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in source.headings]


MARKDOWN = """---
title: "The real title"
---
# First *part*

```sh
# a comment, not a heading
make install
```

    # indented code

Setext `code`
-------------

<!-- # not this either -->
> ## quoted heading

Words.
"""


def test_markdown_headings_are_those_of_markdown(tmp_path: Path, processor: DocumentProcessor) -> None:
    source = read(tmp_path / "notes.md", MARKDOWN, processor)
    assert titles(source) == [(1, "First part"), (2, "Setext code"), (2, "quoted heading")]
    assert source.title == "The real title"
    assert source.text == MARKDOWN
    assert [MARKDOWN[h.start :].splitlines()[0] for h in source.headings] == [
        "# First *part*", "Setext `code`", "> ## quoted heading"
    ]  # fmt: skip


PAGE = """<html><head><title>Kerbs - The Street Site</title></head><body>
<header><a href="/">Home</a> Subscribe now</header>
<nav><ul><li><a href="/a">Streets</a></li><li><a href="/b">Parks</a></li></ul></nav>
<main><h1>Kerbs</h1><p>A kerb parts the carriageway<br>from the footway.</p>
<h2>Heights</h2><p>Most kerbs are 100 mm high.</p>
<table><tr><td>low</td><td>25 mm</td></tr></table></main>
<aside>Ten kerbs you will not believe</aside><footer>Cookie policy</footer></body></html>"""


def test_a_web_page_gives_its_main_text(tmp_path: Path, processor: DocumentProcessor) -> None:
    source = read(tmp_path / "kerbs.html", PAGE, processor)
    assert titles(source) == [(1, "Kerbs"), (2, "Heights")]
    assert "carriageway from the footway" in source.text
    assert "25 mm" in source.text
    for unwanted in ("Subscribe", "Parks", "believe", "Cookie"):
        assert unwanted not in source.text


def test_a_page_that_marks_no_main_text_loses_its_menu(tmp_path: Path, processor: DocumentProcessor) -> None:
    menu = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("Alpha", "Beta", "Gamma", "Delta"))
    source = read(tmp_path / "old.html", f"<body><ul>{menu}</ul><h1>Title</h1><p>The words.</p></body>", processor)
    assert source.text.split() == ["Title", "The", "words."]


def make_epub(path: Path, chapters: dict[str, str], *, listed: tuple[str, ...] | None = None) -> Path:
    names = list(listed or chapters)
    items = "".join(f'<item id="c{n}" href="{name}"/>' for n, name in enumerate(names))
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(names)))
    with zipfile.ZipFile(path, "w") as book:
        book.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        )
        book.writestr(
            "OEBPS/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
            f"<dc:title>The Parish Lamp</dc:title></metadata><manifest>{items}</manifest><spine>{order}</spine></package>",
        )
        for name, text in chapters.items():
            book.writestr(f"OEBPS/{name}", f"<html><body>{text}</body></html>")
    return path


def test_an_epub_is_read_in_the_order_of_its_spine(tmp_path: Path, processor: DocumentProcessor) -> None:
    chapters = {"b.xhtml": "<h1>Second</h1><p>Later words.</p>", "a.xhtml": "<h1>First</h1><p>Early words.</p>"}
    made = make_epub(tmp_path / "lamp.epub", chapters, listed=("a.xhtml", "b.xhtml", "gone.xhtml"))
    source = read_source(made, processor)
    assert source.text.split() == ["First", "Early", "words.", "Second", "Later", "words."]
    assert (source.title, titles(source)) == ("The Parish Lamp", [(1, "First"), (1, "Second")])
    assert source.warnings == ("1 of its chapters are missing",)


@pytest.mark.parametrize("content", [b"no zip at all", b"PK\x05\x06" + b"\0" * 18])
def test_a_broken_epub_is_named(tmp_path: Path, processor: DocumentProcessor, content: bytes) -> None:
    (tmp_path / "broken.epub").write_bytes(content)
    with pytest.raises(ExtractionFailed, match=r"broken\.epub"):
        read_source(tmp_path / "broken.epub", processor)


WITH_REFERENCES = """# On verges

Verges are kept by parishes, as the survey by Kirkby has shown.

## References

Kirkby, A. (2002) Who owns the verge? Journal of Verges.
Noakes, F. (2018) Surfacing of bridleways. Equine Paths.

## Annex

A last word about verges.
"""


def test_a_reference_list_is_searched_only_when_asked(tmp_path: Path, processor: DocumentProcessor) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "verges.md").write_text(WITH_REFERENCES)
    with closing(Library.open(library_settings(tmp_path))) as library:
        Ingestion(library, library.projects.get(PROJECT), processor, tmp_path / "audit").run([tmp_path / "files"])

        def sections(**filters: bool) -> set[str]:
            found = library.query_hybrid(PROJECT, "Kirkby who owns the verge", 10, filters)["items"]
            return {item["section"] for item in found}

        assert sections() == {"On verges", "Annex"}
        assert sections(references=True) == {"On verges", "References", "Annex"}


def make_plan(path: Path, bookmarks: list[list]) -> Path:
    """Twelve pages, four chapters with numbered sections, and a list of references at the end."""
    with pymupdf.open() as document:
        for number in range(12):
            page = document.new_page()
            chapter, section = divmod(number, 3)
            lines = [f"Chapter {chapter + 1} Matter {'ABCD'[chapter]}", ""] if section == 0 else []
            lines += [f"{chapter + 1}.{section + 1} Topic {number}", ""]
            lines += [f"Sentence {line} of page {number + 1} is about the plan and its aims." for line in range(12)]
            page.insert_textbox((72, 72, 520, 760), "\n".join(lines), fontsize=11)
        page = document.new_page()
        listed = ["References", *(f"Author, A{n}. (19{60 + n}) A work on plans. Press." for n in range(6))]
        page.insert_textbox((72, 72, 520, 760), "\n".join(listed), fontsize=11)
        document.set_toc(bookmarks)
        document.save(path)
    return path


def test_headings_of_the_text_fill_in_where_bookmarks_are_too_few(tmp_path: Path, processor: DocumentProcessor) -> None:
    few = read_source(make_plan(tmp_path / "few.pdf", [[1, "Cover", 1], [1, "The Plan", 1]]), processor)
    names = [title for _, title in titles(few)]
    assert names[:2] == ["Cover", "The Plan"]
    assert sum(title.startswith(("Chapter", "Section")) for title in names) >= 8, names
    marks = [[1, f"Chapter {n + 1}", 3 * n + 1] for n in range(4)]
    enough = read_source(make_plan(tmp_path / "enough.pdf", marks), processor)
    assert [title for _, title in titles(enough)] == [*(f"Chapter {n}" for n in range(1, 5)), "References"]


def test_form_feeds_of_a_plain_text_end_pages(tmp_path: Path, processor: DocumentProcessor) -> None:
    source = read(
        tmp_path / "plan.txt", "Cover\n\fChapter 1 Streets\n\nWords of page two.\n\fPage three.\n\f", processor
    )
    assert [number for number, _ in source.pages] == [1, 2, 3]
    second = source.pages[1][1]
    assert source.text[second:].startswith("Chapter 1 Streets")
    assert read(tmp_path / "note.txt", "No pages here.", processor).pages == ()
