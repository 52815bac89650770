"""Words that one passage alone contains, in real documents cut as policies, documents and the library cut them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.report import SHARED_DATA, Report
from trigpoint.config import load_settings
from trigpoint.library.cuts import cut as cut_source
from trigpoint.library.sources import read_source
from trigpoint.passages.lexical import passage_analyzer
from trigpoint.passages.surroundings import NEIGHBOURS
from trigpoint.text.chunk import TextChunker
from trigpoint.text.embed import WINDOW, EmbeddingService
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.running_lines import Body
from trigpoint.text.sections import chunk_sections, find_sections

SOURCE = SHARED_DATA / "policy" / "NPPF_December_2024.pdf"
_WORD = re.compile(r"[A-Za-z]{5,20}")


@dataclass(frozen=True)
class Cut:
    """A passage: its document, its section, its text, and the headings that it is found by, if any."""

    document: str
    section: Hashable
    text: str
    headings: str = ""

    @property
    def searched(self) -> str:
        return f"{self.headings}\n{self.text}" if self.headings else self.text


@dataclass(frozen=True)
class Case:
    word: str
    place: int
    neighbours: tuple[int, ...]


def cuts_of_real_documents(report: Report, embedding: EmbeddingService) -> Iterator[tuple[str, list[Cut]]]:
    """Yield one real document in each of the three ways in which it can come into a collection."""
    if not SOURCE.is_file():
        report.skip(f"unique words: no {SOURCE}")
        return
    processor = DocumentProcessor(load_settings())
    try:
        pages = processor.extract(SOURCE).pages
        source = read_source(SOURCE, processor)
    finally:
        processor.close()
    chunker = TextChunker(count_tokens=embedding.count_tokens, max_tokens=WINDOW)
    body = Body.of(pages)
    in_sections = body.placed(chunk_sections(body.pages, find_sections(body.pages), chunker))
    yield "policies", [Cut("nppf", chunk.section_ref, chunk.text) for chunk in in_sections]
    yield "documents", [Cut("nppf", "", chunk.text) for chunk in chunker.chunk_pages(pages)]
    yield (
        "library",
        [
            Cut("nppf", passage.section_path, passage.text, "\n".join(passage.section_path))
            for passage in cut_source(source, embedding.count_tokens)
        ],
    )


def cases(cuts: Sequence[Cut], count: int) -> list[Case]:
    """Return up to `count` words, always the same, each contained in one passage that has neighbours in its section."""
    analyzer = passage_analyzer()
    stems = [set(analyzer.analyze(cut.text)) for cut in cuts]
    holders = Counter(stem for found in stems for stem in found)
    single: dict[str, Case] = {}
    for place, cut in enumerate(cuts):
        neighbours = _neighbours(cuts, place)
        if neighbours:
            for word in _WORD.findall(cut.text):
                if all(holders[stem] == 1 for stem in analyzer.analyze(word)):
                    single.setdefault(word.lower(), Case(word, place, neighbours))
    chosen = random.Random(7).sample(sorted(single), min(count, len(single)))
    return [single[word] for word in chosen]


def _neighbours(cuts: Sequence[Cut], place: int) -> tuple[int, ...]:
    near = range(max(0, place - NEIGHBOURS), min(len(cuts), place + NEIGHBOURS + 1))
    mine = (cuts[place].document, cuts[place].section)
    return tuple(n for n in near if n != place and (cuts[n].document, cuts[n].section) == mine)
