"""FR-006: passages of 800 characters with 200 of overlap, offsets and pages exact for any text."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trigpoint.text.chunk import CHUNK_SIZE, OVERLAP, SEPARATORS, Chunk, TextChunker, document_text
from trigpoint.text.embed import WINDOW, EmbeddingService
from trigpoint.text.pages import Page

_WORDS = st.sampled_from(
    [
        "cycle",
        "parking",
        "a",
        "shall",
        "be",
        "provided",
        "116",
        "x" * 90,
        "…",
        "naïve",
        "the the",
        "é",
        "\u00a0",
        "e\u0301",
    ]
)
_JOINS = st.sampled_from([*(s for s in SEPARATORS if s), "\n \n", ".\n", "  ", "\t", "\r\n", ""])
_TEXTS = st.lists(st.tuples(_WORDS, _JOINS), max_size=400).map(
    lambda parts: "".join(word + join for word, join in parts)
)


def pages_of(*texts: str) -> list[Page]:
    return [Page(number, text, "text_layer") for number, text in enumerate(texts, start=1)]


def check(text: str, chunks: list[Chunk], size: int = CHUNK_SIZE, overlap: int = OVERLAP) -> None:
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip() == chunk.text != ""
        assert len(chunk.text) <= size
    covered = [False] * len(text)
    for chunk in chunks:
        covered[chunk.start : chunk.end] = [True] * len(chunk.text)
    assert all(seen or character.isspace() for seen, character in zip(covered, text, strict=True))
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= overlap


@given(_TEXTS)
@example("ab " * 2000)
@example("same sentence. " * 300)
@example("x" * 5000)
@example("\n\n".join(["the same paragraph of some length"] * 200))
@settings(max_examples=150, deadline=None)
def test_offsets_are_exact_and_nothing_is_lost_for_any_text(text: str) -> None:
    check(text, TextChunker().chunk_text(text))


@given(_TEXTS, st.integers(10, 120), st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_any_size_and_overlap_hold(text: str, size: int, overlap: int) -> None:
    check(text, TextChunker(size, overlap).chunk_text(text), size, overlap)


@given(
    st.lists(st.sampled_from(["", "\n", "short page", "same text again. " * 60, "word " * 400]) | _TEXTS, max_size=6)
)
@settings(max_examples=100, deadline=None)
def test_pages_are_those_that_the_span_touches(texts: list[str]) -> None:
    pages = pages_of(*texts)
    text = document_text(pages)
    owner: list[int | None] = []
    for page in pages:
        owner += [page.number] * len(page.text) + [None, None]
    chunks = TextChunker().chunk_pages(pages)
    check(text, chunks)
    for chunk in chunks:
        assert list(chunk.pages) == sorted({number for number in owner[chunk.start : chunk.end] if number is not None})


def test_repeated_pages_are_told_apart() -> None:
    chunks = TextChunker().chunk_pages(pages_of(*["The same page, word for word. " * 20] * 3))
    assert [chunk.pages for chunk in chunks] == [(1,), (2,), (3,)]


def test_a_separator_stays_with_the_text_before_it() -> None:
    chunks = TextChunker(60, 0).chunk_text(
        "The first sentence is here. The second sentence is here. The third one is here."
    )
    assert [chunk.text for chunk in chunks] == [
        "The first sentence is here. The second sentence is here.",
        "The third one is here.",
    ]


def test_paragraphs_are_kept_whole_before_lines_and_sentences() -> None:
    first, second = "One. " * 100, "Two. " * 100
    chunks = TextChunker().chunk_text(f"{first}\n\n{second}")
    assert [chunk.text for chunk in chunks] == [first.strip(), second.strip()]


def test_blank_text_has_no_chunks() -> None:
    assert TextChunker().chunk_text(" \n\n\t ") == []
    assert TextChunker().chunk_pages([]) == []
    assert TextChunker().chunk_pages(pages_of("", " \n")) == []


def without_overlap(chunks: list[Chunk]) -> list[str]:
    """Return what each chunk says that the chunks before it have not said."""
    texts, said = [], 0
    for chunk in chunks:
        texts.append(chunk.text[max(0, said - chunk.start) :].lstrip())
        said = max(said, chunk.end)
    return texts


def test_without_overlap_nothing_is_said_twice() -> None:
    text = " ".join(f"word{number}" for number in range(800))
    chunks = TextChunker().chunk_text(text)
    assert any(after.start < before.end for before, after in pairwise(chunks))
    assert " ".join(without_overlap(chunks)).split() == text.split()


@given(_TEXTS)
@settings(max_examples=50, deadline=None)
def test_without_overlap_keeps_every_character(text: str) -> None:
    joined = "".join(without_overlap(TextChunker().chunk_text(text)))
    assert "".join(joined.split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    ["0 1 2 3 4 5 6 7 8 9 " * 150, "| 1.2 | 3.4 | 5.6 " * 150, "§¶†‡•" * 400, "Ġ{}[];:=+-*/" * 200, "交通計画" * 500],
    ids=["digits", "table", "signs", "code", "chinese"],
)
def test_no_chunk_exceeds_the_models_window_d11(embedding: EmbeddingService, text: str) -> None:
    assert max(embedding.count_tokens(chunk.text) for chunk in TextChunker().chunk_text(text)) > WINDOW
    chunks = TextChunker(count_tokens=embedding.count_tokens).chunk_text(text)
    assert max(embedding.count_tokens(chunk.text) for chunk in chunks) <= WINDOW
    check(text, chunks)


@given(_TEXTS, st.integers(8, 60))
@settings(max_examples=60, deadline=None)
def test_splitting_by_tokens_loses_nothing(text: str, most: int) -> None:
    chunks = TextChunker(count_tokens=len, max_tokens=most).chunk_text(text)
    check(text, chunks, size=max(most, 2))


def test_a_size_that_cannot_work_is_refused() -> None:
    with pytest.raises(ValueError, match="chunk_size=100, overlap=100"):
        TextChunker(100, 100)


def test_importing_the_chunker_does_not_import_the_splitter() -> None:
    code = "import sys, trigpoint.text.chunk; sys.exit('langchain_text_splitters' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
