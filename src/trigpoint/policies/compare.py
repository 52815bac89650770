"""The changes between two revisions of a policy, section by section: kept, changed, renumbered, added, removed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

from trigpoint.text.chunk import PageMap, document_text
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.running_lines import Body
from trigpoint.text.sections import SectionMark, find_sections

Kind = Literal["same", "changed", "renumbered", "added", "removed"]

_ALIKE = 0.5  # share of common words from which two texts are the same section
_WORD = re.compile(r"\S+")
_NUMBERING = re.compile(r"^(?:Para\.? )?[0-9]{1,3}\.?\s+")


@dataclass(frozen=True)
class SectionText:
    ref: str
    page: int | None
    text: str

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(_WORD.findall(self.text))

    @cached_property
    def bag(self) -> frozenset[str]:
        return frozenset(word.casefold().strip(".,;:()") for word in self.words)


@dataclass(frozen=True)
class SectionChange:
    kind: Kind
    old: SectionText | None
    new: SectionText | None

    @property
    def title(self) -> str:
        if self.old is not None and self.new is not None and self.old.ref != self.new.ref:
            return f"{self.old.ref} → {self.new.ref}"
        section = self.new or self.old
        assert section is not None
        return section.ref


def read_sections(processor: DocumentProcessor, path: Path) -> list[SectionText]:
    """Return the sections of a document in their order, each once and whole. Slow: to be called in a thread."""
    pages = Body.of(processor.extract(path).pages).pages
    text, at = document_text(pages), PageMap(pages)
    parts: dict[str, list[str]] = {}
    first_page: dict[str, int | None] = {}
    for mark, following in pairwise([*find_sections(pages), SectionMark(len(text), "", "")]):
        parts.setdefault(mark.ref, []).append(text[mark.start : following.start].strip())
        first_page.setdefault(mark.ref, at.page_at(mark.start))
    return [
        SectionText(ref, first_page[ref], _NUMBERING.sub("", "\n".join(texts)))
        for ref, texts in parts.items()
        if not ref.startswith("Footnote")
    ]


def compare(old: Sequence[SectionText], new: Sequence[SectionText]) -> list[SectionChange]:
    """Return the changes in the order of the new revision; removed sections are listed at their old place."""
    pairs = _pairs(old, new)
    partner = {b.ref: a for a, b in pairs}
    paired_old = {a.ref for a, _ in pairs}
    changes = [SectionChange(_kind(partner.get(b.ref), b), partner.get(b.ref), b) for b in new]
    place = {change.old.ref: index for index, change in enumerate(changes) if change.old is not None}
    removed: list[tuple[int, SectionChange]] = []
    last = -1
    for section in old:
        if section.ref in paired_old:
            last = place[section.ref]
        else:
            removed.append((last, SectionChange("removed", section, None)))
    for index, change in reversed(removed):
        changes.insert(index + 1, change)
    return changes


def word_changes(old: SectionText, new: SectionText) -> Iterator[tuple[Literal["same", "removed", "added"], str]]:
    """Yield the texts as runs of words: in both, only in the old, only in the new."""
    before, after = old.words, new.words
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", " ".join(before[a:b])
        else:
            if b > a:
                yield "removed", " ".join(before[a:b])
            if d > c:
                yield "added", " ".join(after[c:d])


def _pairs(old: Sequence[SectionText], new: Sequence[SectionText]) -> list[tuple[SectionText, SectionText]]:
    """Return the pairs that are the same section: most alike first, and at the same reference before elsewhere."""
    scored = []
    for a in old:
        for b in new:
            same_kind = a.ref.split(" ")[0] == b.ref.split(" ")[0]
            alike = likeness(a, b) if same_kind else 0.0
            if alike >= _ALIKE or (a.ref == b.ref and alike >= _ALIKE / 2):
                scored.append((alike + (0.1 if a.ref == b.ref else 0), a, b))
    scored.sort(key=lambda item: -item[0])
    used_old: set[str] = set()
    used_new: set[str] = set()
    pairs = []
    for _, a, b in scored:
        if a.ref not in used_old and b.ref not in used_new:
            used_old.add(a.ref)
            used_new.add(b.ref)
            pairs.append((a, b))
    return pairs


def _kind(old: SectionText | None, new: SectionText) -> Kind:
    if old is None:
        return "added"
    if old.words == new.words:
        return "same" if old.ref == new.ref else "renumbered"
    return "changed"


def likeness(a: SectionText, b: SectionText) -> float:
    """Return the share of words that two sections have in common: 1 for the same words, 0 for none."""
    return len(a.bag & b.bag) / len(a.bag | b.bag) if a.bag or b.bag else 1.0
