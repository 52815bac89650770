"""Findings read side by side: each point is told once, and an outcome that does not stand becomes an open point."""

from __future__ import annotations

from collections.abc import Collection

from trigpoint.review.checked import Checked
from trigpoint.review.held_findings import HeldFindings
from trigpoint.review.submitted import Comparison


class ComparedFindings(HeldFindings):
    """The findings of a draft, of which a reader who sees all of them may leave some out. Nothing is added."""

    def compare(self, given: Comparison) -> None:
        """Take over what a reader of all findings side by side says: each point is told once, and doubt is told as doubt."""
        for cited in given.unfit:
            self._strike(cited.id, cited.policies)
        for one in given.repeats:
            if self._can_replace(one.other, one.id):
                self._end(one.id, "other findings", f"It repeats {one.other}", merged_into=one.other)
        for one in given.overtaken:
            if self._can_replace(one.other, one.id):
                why = f"{one.other} quotes words that answer or replace it"
                self._end(one.id, "comparison", why, merged_into=one.other)
        for tested in given.outcomes:
            if not tested.stands:
                self._withdraw_verdict(tested.id)
            elif tested.limited_by:
                self._limit(tested.id, tested.limited_by)

    def open_unsettled(self) -> None:
        """Make open points of whatever gets no verdict: what is noted, and what a document that nobody has read may supply."""
        for name in self.verified():
            if self._may_be_unread(name):
                self._withdraw_verdict(name)
        self.open_noted()

    def _may_be_unread(self, name: str) -> bool:
        given, verifier = self.state.held[name].given, self._verifier()
        return verifier.lacks.may_be_unread(given, verifier.quotes(given.evidence, Checked()))

    def _can_replace(self, name: str, other: str) -> bool:
        """Whether a finding may be told instead of another one: both count, and an open point replaces no finding."""
        held, gone = self.state.held.get(name), self.state.held.get(other)
        if held is None or gone is None or name == other or not held.counts or not gone.counts:
            return False
        return held.finding is not None or gone.finding is None

    def _strike(self, name: str, refs: Collection[str]) -> None:
        """Leave out policies that do not ask for a finding's point, unless it is not proved without them."""
        if name in self.verified():
            without = self._with_other_support(name, refs, ())
            if without.counts:
                before = self.state.held[name]
                self._hold(name, without.model_copy(update={"support": before.support, "reworded": before.reworded}))

    def _limit(self, name: str, limits: Collection[str]) -> None:
        """Note which other points limit what is met, so that it is told as a part of what is asked for."""
        if name in self.verified() and self.verified()[name].outcome == "met":
            known = tuple(one for one in limits if one != name and one in self.state.held)
            self._hold(name, self.state.held[name].model_copy(update={"limited_by": known}))

    def _withdraw_verdict(self, name: str) -> None:
        """Make a finding an open point with all of its words: they are true, and its outcome is in doubt."""
        if name not in self.verified():
            return
        noted = self.state.held[name].given.model_copy(update={"outcome": "noted"})
        if not self._leave_open(name, noted):
            self._end(name, "comparison", "Its outcome does not follow from the quoted words")
