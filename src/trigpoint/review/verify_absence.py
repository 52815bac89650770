"""Check an absence that somebody handed in: it was looked for, and neither a fact nor an unread page answers it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trigpoint.reading.facts import Fact
from trigpoint.review.aspects import Check
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import Place
from trigpoint.review.locating import Found
from trigpoint.review.lookup import Hit, Lookup, shared, stems
from trigpoint.review.quoting import places
from trigpoint.review.sheets import Sheets
from trigpoint.review.submitted import DraftFinding
from trigpoint.review.verdicts import deciding

CLEAR_HIT = 0.8  # share of a query's weight that a statement must have to answer it
FEWEST_SHARED_WORDS = 2


@dataclass(frozen=True)
class AbsenceDesk:
    """What an absence is held against. `read` are the keys of pages that the judge was shown, `told` those of
    statements that were sent back to it with a reason."""

    evidence: Evidence
    sheets: Sheets
    lookup: Lookup
    read: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()

    def reasons(self, given: DraftFinding, asked: Check | None) -> list[str]:
        """Return why an absence cannot be accepted, quoting what speaks against it."""
        reasons = [] if given.looked_for else ["not_shown needs `looked_for`: the words that you searched for"]
        said = self._answers(asked)
        if said:
            quoted = "; ".join(
                f"{self.sheets.label_of(f.source.document_id)} page {f.source.page}: “{f.source.quote[:160]}”"
                for f in said[:2]
            )
            reasons.append(f"The documents do speak of it: {quoted}. Judge what they say")
        unread = {hit.key: hit for hit in self.unread(given, asked)}
        return [*reasons, *(f"You have not read {shown(hit)}" for hit in list(unread.values())[:3])]

    def unread(self, given: DraftFinding, asked: Check | None) -> list[Hit]:
        """Return statements that have the words searched for, speak of the point, and were not shown to the judge."""
        return [
            hit
            for words in given.looked_for
            for hit in self.lookup.search(words, 4)
            if hit.score >= CLEAR_HIT
            and hit.page_key not in self.read
            and hit.key not in self.told
            and self._concerns(hit, words, asked)
        ]

    def _concerns(self, hit: Hit, words: str, asked: Check | None) -> bool:
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

    def places(self, given: DraftFinding, asked: Check | None, quotes: Sequence[Found]) -> tuple[Place, ...]:
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


def answered_by_itself(given: DraftFinding, provided: Iterable[Found]) -> list[str]:
    """Return that the words quoted with an absence provide what was looked for. `provided` are those that promise something."""
    for place in provided:
        if any(
            len(shared(sought, [place.words])) >= min(FEWEST_SHARED_WORDS, len(set(stems(sought))))
            for sought in given.looked_for
        ):
            return [
                f"What you quote speaks of what you looked for: “{place.words[:160]}”. Judge what it provides, or look for and "
                f"name only what it leaves open"
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


def shown(hit: Hit) -> str:
    """Return a statement with its place, for a reason."""
    where = f"{hit.label} page {hit.page}" if hit.page is not None else hit.label
    return f"{where}: “{hit.text[:300]}”"
