"""Statements elsewhere in the documents on what a finding speaks of: a later condition or another document may turn it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trigpoint.reading.context import section_under
from trigpoint.review.locating import FoundWords
from trigpoint.review.lookup import Lookup, StatementHit
from trigpoint.review.sheets import Sheets
from trigpoint.review.submitted import DraftFinding

MOST_SHOWN = 6
_MOST_OF_A_DOCUMENT = 2
_SEARCHED = 40  # statements nearest in words to the claim, and to each of its quotations
_NEAR_ENOUGH = 0.12  # share of the weight of those words that a statement must have
_FEWEST_WORDS = 5  # of a statement; shorter ones are headings and labels


def also_said(given: DraftFinding, lookup: Lookup, quoted: Sequence[FoundWords]) -> list[StatementHit]:
    """Return statements that a finding does not quote, nearest in words to it or to its quotations.

    No more than two are of one document: what turns a point is often in another one.
    """
    queries = [f"{given.statement} {given.lacking or ''}", *(place.words for place in quoted)]
    nearest: dict[str, StatementHit] = {}
    for hit in sorted(
        (hit for words in queries for hit in lookup.search(words, _SEARCHED)), key=lambda hit: -hit.score
    ):
        nearest.setdefault(hit.key, hit)
    of_document = Counter[str]()
    chosen: list[StatementHit] = []
    for hit in nearest.values():
        if hit.score < _NEAR_ENOUGH or len(chosen) == MOST_SHOWN:
            break
        is_new = len(hit.text.split()) >= _FEWEST_WORDS and not any(_is_of(hit, place) for place in quoted)
        if is_new and of_document[hit.label] < _MOST_OF_A_DOCUMENT:
            of_document[hit.label] += 1
            chosen.append(hit)
    return chosen


def _is_of(hit: StatementHit, place: FoundWords) -> bool:
    return hit.document == place.document.name and hit.start < place.end and place.start < hit.end


def pages_that_secure(sheets: Sheets) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the documents that list conditions or obligations, by label, with the pages on which they do."""
    for label, document in sheets.labels.items():
        pages = {
            statement.page or 1
            for statement in sheets.words_of(document).statements
            if section_under(statement.headings) in ("conditions", "obligations")
        }
        if pages:
            yield label, tuple(sorted(pages))
