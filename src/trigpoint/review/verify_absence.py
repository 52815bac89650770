"""Check an absence that somebody handed in: it was looked for, and neither a fact nor an unread page answers it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trigpoint.reading.facts import Fact
from trigpoint.review.aspects import Check
from trigpoint.review.elsewhere import pages_that_secure
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import Place
from trigpoint.review.locating import FoundWords
from trigpoint.review.lookup import Lookup, StatementHit, shared, stems
from trigpoint.review.quoting import places
from trigpoint.review.sheets import Sheets
from trigpoint.review.submitted import DraftFinding, Pages
from trigpoint.review.verdicts import deciding

CLEAR_HIT = 0.8  # share of a query's weight that a statement must have to answer it
FEWEST_SHARED_WORDS = 2
_ALL = 100_000  # statements: those of a place are chosen afterwards
_LONGEST_PLACE = 400  # pages


@dataclass(frozen=True)
class AbsenceDesk:
    """The pages and words that an absence is checked against. `read` are the keys of pages that the judge was shown, `told` those of
    statements that were sent back to it with a reason."""

    evidence: Evidence
    sheets: Sheets
    lookup: Lookup
    read: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()

    def reasons(self, given: DraftFinding, asked: Check | None) -> list[str]:
        """Return why an absence cannot be accepted, quoting what speaks against it."""
        reasons = [] if given.looked_for else ["not_shown needs `looked_for`: the words that you searched for"]
        if said := self._answers(asked):
            quoted = "; ".join(self._quoted(fact) for fact in said[:2])
            reasons.append(f"The documents do speak of it: {quoted}. Judge what they say")
        unread = {hit.key: hit for hit in self.unread(given, asked)}
        unseen = [
            f"You have not read {shown(hit)}. If it is no answer, hand it in as it is"
            for hit in list(unread.values())[:3]
        ]
        return [*reasons, *self.place_reasons(given), *unseen]

    def _quoted(self, fact: Fact) -> str:
        label = self.sheets.label_of(fact.source.document_id)
        return f"{label} page {fact.source.page}: “{fact.source.quote[:160]}”"

    def unread(self, given: DraftFinding, asked: Check | None) -> list[StatementHit]:
        """Return statements that have the words searched for, speak of the point, and were not shown to the judge."""
        return [
            hit
            for words in given.looked_for
            for hit in self.search(words, given, 4)
            if hit.score >= CLEAR_HIT
            and hit.page_key not in self.read
            and hit.key not in self.told
            and self._concerns(hit, words, asked)
        ]

    def search(self, words: str, given: DraftFinding, most: int) -> list[StatementHit]:
        """Return the statements nearest to some words in the place in which a finding looked for them."""
        place = self._keys(given)
        if not given.looked_in:
            return list(self.lookup.search(words, most))
        return [hit for hit in self.lookup.search(words, _ALL) if hit.page_key in place][:most]

    def speaking(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> list[StatementHit]:
        """Return statements that have the words of a lack, other than those that the finding itself quotes.

        In a place that is named every statement counts; elsewhere those on pages that the judge was not shown. One that
        was sent back with a reason does not count again: the judge has taken it into account, and the second reader sees it.
        """
        own = [(place.document.id, place.start, place.end) for place in quotes]
        return [
            hit
            for words in given.looked_for
            for hit in self.search(words, given, 4)
            if hit.score >= CLEAR_HIT
            and hit.key not in self.told
            and (given.looked_in or hit.page_key not in self.read)
            and not any(self.sheets.labels[hit.label].id == d and a < hit.end and hit.start < b for d, a, b in own)
            and self._concerns(hit, words, None)
        ]

    def place_reasons(self, given: DraftFinding) -> list[str]:
        """Return what is wrong with the place in which something was looked for."""
        known = {sheet.key for sheet in self.sheets.all}
        return [
            f"{one.document}, pages {one.first} to {one.last}: there is no such page with text"
            for one in given.looked_in
            if not known & set(_page_keys(one))
        ]

    def searched_list_of_council(self, given: DraftFinding) -> bool:
        """Return whether pages on which the council lists conditions or obligations are in the place that was searched."""
        listed = {
            f"{label}:{page}"
            for label, pages in pages_that_secure(self.sheets)
            for page in pages
            if self.sheets.labels[label].source_kind == "council"
        }
        return bool(listed & self._keys(given) if given.looked_in else listed)

    def named_place(self, given: DraftFinding) -> str:
        """Return `Decision Notice, pages 3 to 9` for the place in which something was looked for; nothing without one."""
        named = [
            f"{document.name}, page{f's {one.first} to {one.last}' if one.last > one.first else f' {one.first}'}"
            for one in given.looked_in
            if (document := self.sheets.document(one.document)) is not None
        ]
        return " and ".join(named)

    def _keys(self, given: DraftFinding) -> set[str]:
        return {key for one in given.looked_in for key in _page_keys(one)}

    def _concerns(self, hit: StatementHit, words: str, asked: Check | None) -> bool:
        """Whether a statement is on the subject of a question; without one, whether it shares more than a word."""
        if asked is None:
            return len(shared(words, [hit.text])) >= min(FEWEST_SHARED_WORDS, len(set(stems(words))))
        document_id = self.sheets.labels[hit.label].id
        return any(
            fact.topic in asked.topics
            and fact.source.document_id == document_id
            and fact.source.start < hit.end
            and hit.start < fact.source.end
            for fact in self.evidence.facts
        )

    def certain_answer(self, asked: Check | None) -> str:
        """Return the words of certain facts on a question, with their places; nothing if there are none."""
        known = [] if asked is None or asked.judged_by == "person" else deciding(asked, self.evidence)
        return "; ".join(f"{one.source.document}, page {one.source.page}: “{one.source.quote}”" for one in known[:2])

    def _answers(self, asked: Check | None) -> list[Fact]:
        if asked is None or asked.judged_by == "person":
            return []
        read_by_model = [
            fact
            for fact in self.evidence.facts
            if fact.reader != "rules"
            and fact.topic in asked.topics
            and fact.status in asked.statuses
            and fact.quantities
        ]
        return [*deciding(asked, self.evidence), *read_by_model]

    def places(self, given: DraftFinding, asked: Check | None, quotes: Sequence[FoundWords]) -> tuple[Place, ...]:
        """Return the pages that touch on the point: those quoted, and those with facts or words of it."""
        quoted = [Place(document=one.document.name, document_id=one.document.id, pages=one.pages) for one in quotes]
        if asked is not None:
            return _joined((*quoted, *places(fact for fact in self.evidence.facts if fact.topic in asked.topics)))
        hits = [hit for words in given.looked_for for hit in self.lookup.search(words, 2) if hit.score >= CLEAR_HIT]
        found = [
            Place(document=hit.document, document_id=self.sheets.labels[hit.label].id, pages=(hit.page,))
            for hit in hits
            if hit.page is not None
        ]
        return _joined((*quoted, *found))


def _page_keys(one: Pages) -> list[str]:
    label = one.document.strip().upper()
    numbers = range(one.first, min(max(one.first, one.last), one.first + _LONGEST_PLACE) + 1)
    return [f"{label}:{number}" for number in numbers] + ([f"{label}:0"] if one.first == 1 else [])


def answered_by_itself(given: DraftFinding, provided: Iterable[FoundWords]) -> list[str]:
    """Return that the words quoted with an absence have all that was looked for. `provided` are those that promise something.

    Words that have only the subject in common tell what is there, next to what was not found of it.
    """
    for place in provided:
        if any(shared(sought, [place.words]) >= set(stems(sought)) for sought in given.looked_for):
            return [
                f"What you quote speaks of what you looked for: “{place.words[:160]}”. Judge what it provides, with what it "
                f"leaves open in `lacking`; if it does not answer the point, hand it in again as it is"
            ]
    return []


def _joined(given: Iterable[Place]) -> tuple[Place, ...]:
    """Return each document once, with all its pages."""
    pages: dict[tuple[str, str], set[int]] = {}
    for one in given:
        pages.setdefault((one.document, one.document_id), set()).update(one.pages)
    return tuple(
        Place(document=name, document_id=document_id, pages=tuple(sorted(numbers)))
        for (name, document_id), numbers in pages.items()
    )


def shown(hit: StatementHit) -> str:
    """Return a statement with its place, for a reason."""
    where = f"{hit.label} page {hit.page}" if hit.page is not None else hit.label
    return f"{where}: “{hit.text[:300]}”"
