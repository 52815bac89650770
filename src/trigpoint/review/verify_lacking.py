"""Check what a finding calls lacking: quoted words show it, or it was looked for in a named place and is not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.review.absence import claims_absence, in_searched_words, tells_what_was_found
from trigpoint.review.locating import FoundWords
from trigpoint.review.lookup import StatementHit
from trigpoint.review.not_seen import not_seen
from trigpoint.review.submitted import DraftFinding
from trigpoint.review.verify_absence import AbsenceDesk, shown

NOTHING_LACKING = (
    "`partly` needs `lacking`, shown by words you quote or as a search. If nothing is lacking it is met; if nothing is "
    "provided, failed or not_shown"
)
_WORD_IT = 'Word `lacking` as your search: "We did not find … in …", and claim no absence beside it'
_NEAREST = 2  # statements that are shown next to an absence
_NEAR = 0.5


@dataclass(frozen=True)
class LackDesk:
    """Checks the lack of one finding at a time."""

    absence: AbsenceDesk

    def worded(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> str | None:
        """Return what is lacking: in our words, if it claims an absence without telling of a search."""
        if not given.lacking or not given.looked_for or not self._reasons_of_wording(given, quotes):
            return given.lacking
        return in_searched_words(given.looked_for, self.absence.named_place(given))

    def reasons(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> list[str]:
        """Return why nothing shows what a finding calls lacking, or that it names nothing."""
        if not given.lacking:
            return [NOTHING_LACKING] if given.outcome == "partly" else []
        if not self._is_absence(given, quotes):
            return []
        found = {hit.key: hit for hit in self.absence.speaking(given, quotes)}
        against = [
            f"{shown(hit)} has the words you looked for: take it into account; if it is no answer, hand it in as it is"
            for hit in list(found.values())[:2]
        ]
        searched = [] if given.looked_for else ["`lacking` says that something was not found: name it in `looked_for`"]
        return [*searched, *self.absence.place_reasons(given), *self._reasons_of_wording(given, quotes), *against]

    def told(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> list[str]:
        """Return the keys of the statements that the reasons quote."""
        absent = bool(given.lacking) and self._is_absence(given, quotes)
        return [hit.key for hit in self.absence.speaking(given, quotes)] if absent else []

    def may_be_unread(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> bool:
        """Return whether a document that is named and that nobody here has read may have what a search did not find.

        Only the council's own list of conditions and obligations is complete: what the applicant's statement promises and
        does not list again may well be in the plan that it names.
        """
        if not given.lacking or not self._is_absence(given, quotes):
            return False
        return bool(not_seen(self.absence.evidence)) and not self.absence.searched_list_of_council(given)

    def nearest(self, given: DraftFinding) -> list[StatementHit]:
        """Return the statements nearest to what was looked for, in the place in which it was looked for."""
        hits = [hit for words in given.looked_for for hit in self.absence.search(words, given, 2) if hit.score >= _NEAR]
        best = sorted({hit.key: hit for hit in hits}.values(), key=lambda hit: -hit.score)
        return best[:_NEAREST]

    def _is_absence(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> bool:
        return claims_absence(given.lacking or "", [place.words for place in quotes])

    def _reasons_of_wording(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> list[str]:
        absent = self._is_absence(given, quotes)
        said = [place.words for place in quotes]
        return [_WORD_IT] if absent and not tells_what_was_found(given.lacking or "", said) else []
