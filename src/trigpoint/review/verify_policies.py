"""Check the policies that a finding cites: in force, with words that are there and that ask for the point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.review.aspects import Check
from trigpoint.review.checked import Checked, Failure, LostSupport
from trigpoint.review.evidence import Evidence, PolicyPassage, fold, policy_citation
from trigpoint.review.findings import PolicyCitation
from trigpoint.review.orientation import PolicyLabels, reference
from trigpoint.review.policy_words import FEWEST_WORDS, fitting_words, passage_shown, without_heading
from trigpoint.review.submitted import DraftFinding, PolicyQuote
from trigpoint.review.verify import policy_problem

LONGEST_OFFERED = 500  # characters of a section that is sent back to be quoted


@dataclass(frozen=True)
class PolicyVerifier:
    """Checks the policies of one finding at a time, by the labels under which they were shown."""

    evidence: Evidence
    labels: PolicyLabels

    def cited(
        self, given: DraftFinding, asked: Check | None, checked: Checked, *, measured_elsewhere: bool, lenient: bool
    ) -> tuple[PolicyCitation, ...]:
        """Return the policies that a finding cites, each with the words that ask for the point.

        If it names none, those that its question rests on are cited, as far as words of theirs fit; a contradiction has
        those that it names. With `lenient` words are chosen for one that its question rests on and that is cited without.
        """
        named = [self._policy(one, given, asked, checked, lenient=lenient) for one in given.policy]
        cited = [one for one in named if one is not None]
        if not cited and asked is not None and not measured_elsewhere and given.outcome != "contradicted":
            cited = self._own_policies(asked, given)
        return _without_parts(cited)

    def _own_policies(self, asked: Check, given: DraftFinding) -> list[PolicyCitation]:
        claim = _claim(given, asked)
        passages = [(one, self.evidence.policies[one.passage_id]) for one in self.evidence.cite(asked.provisions)]
        worded = [
            one.model_copy(update={"quote": fitting_words(passage, claim, self.evidence.profile)})
            for one, passage in passages
            if passage.section_ref
        ]
        return [one for one in worded if one.quote]

    def _policy(
        self, one: PolicyQuote, given: DraftFinding, asked: Check | None, checked: Checked, *, lenient: bool
    ) -> PolicyCitation | None:
        passage = self.labels.find(one.policy)
        if passage is None:
            unknown = f"There is no policy passage {one.policy!r}. Cite a label that you were shown"
            checked.lost.append(LostSupport(Failure.POLICY, unknown, one.words or ""))
            return None
        claim = _claim(given, asked)
        words = without_heading(one.words or "", passage)
        own = asked is not None and passage.id in {cite.passage_id for cite in self.evidence.cite(asked.provisions)}
        reason = self._policy_reason(passage, one, words, claim, lenient=lenient, own=own)
        if reason:
            checked.lost.append(LostSupport(Failure.POLICY, reason, words))
            return None
        chosen = words if _is_enough(words) else fitting_words(passage, claim, self.evidence.profile)
        citation = policy_citation(passage, claim).model_copy(update={"quote": chosen})
        if problem := policy_problem(citation, self.evidence):
            checked.lost.append(LostSupport(Failure.POLICY, problem, citation.quote))
            return None
        return citation

    def _policy_reason(
        self, passage: PolicyPassage, one: PolicyQuote, words: str, claim: str, *, lenient: bool, own: bool
    ) -> str | None:
        """Return why a policy cannot be cited, with its text if only the words are wanting."""
        named = f"{one.policy} ({reference(passage)})"
        if words and fold(words) not in fold(passage.text):
            return f"These words are not in {named}: “{words[:120]}”"
        if not _is_enough(words):
            if lenient and own and fitting_words(passage, claim, self.evidence.profile):
                return None
            text = passage_shown(passage, claim, self.evidence.profile, LONGEST_OFFERED)
            return (
                f"{named} is cited without its words. Copy at least {FEWEST_WORDS} of those that ask for this point, or leave "
                f"it out. It says: {text}"
            )
        return None


def _claim(given: DraftFinding, asked: Check | None) -> str:
    asks = given.requirement or (asked.requirement if asked else "")
    return f"{asks} {given.statement} {given.lacking or ''}"


def _is_enough(words: str) -> bool:
    return len(words.split()) >= FEWEST_WORDS


def _without_parts(cited: Sequence[PolicyCitation]) -> tuple[PolicyCitation, ...]:
    """Return quotations of policy, each once, and none that is a part of another one of the same passage."""
    once = list({(one.passage_id, fold(one.quote)): one for one in cited}.values())
    return tuple(
        one
        for one in once
        if not any(
            other is not one and other.passage_id == one.passage_id and fold(one.quote) in fold(other.quote)
            for other in once
        )
    )
