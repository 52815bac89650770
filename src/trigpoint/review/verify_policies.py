"""Check the policies that a finding cites: in force, with words that are there and that ask for the point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.review.aspects import Check
from trigpoint.review.checked import Checked, Failure, Lost
from trigpoint.review.evidence import Evidence, PolicyPassage, fold, policy_citation
from trigpoint.review.findings import PolicyCitation
from trigpoint.review.lookup import shared
from trigpoint.review.orientation import PolicyLabels, reference
from trigpoint.review.policy_words import fitting_words
from trigpoint.review.submitted import DraftFinding, PolicyQuote
from trigpoint.review.verify import policy_problem
from trigpoint.review.verify_absence import FEWEST_SHARED_WORDS


@dataclass(frozen=True)
class PolicyVerifier:
    """Checks the policies of one finding at a time, by the labels under which they were shown."""

    evidence: Evidence
    labels: PolicyLabels

    def cited(
        self, given: DraftFinding, asked: Check | None, checked: Checked, *, measured_elsewhere: bool
    ) -> tuple[PolicyCitation, ...]:
        own = self._own_policies(asked, given) if asked else ()
        named = [self._policy(one, given, {policy.passage_id for policy in own}, checked) for one in given.policy]
        cited = [one for one in named if one is not None] or ([] if measured_elsewhere else list(own))
        return _without_parts(cited)

    def _own_policies(self, asked: Check, given: DraftFinding) -> tuple[PolicyCitation, ...]:
        """Return the policies that the question rests on, each with the words that fit the statement, if any do."""
        claim = f"{asked.requirement} {given.statement}"
        return tuple(self._worded(one, claim) for one in self.evidence.cite(asked.provisions))

    def _worded(self, citation: PolicyCitation, claim: str) -> PolicyCitation:
        passage = self.evidence.policies[citation.passage_id]
        words = fitting_words(passage, claim, self.evidence.profile) if passage.section_ref else ""
        return citation.model_copy(update={"quote": words})

    def _policy(self, one: PolicyQuote, given: DraftFinding, own: set[str], checked: Checked) -> PolicyCitation | None:
        passage = self.labels.find(one.policy)
        if passage is None:
            unknown = f"There is no policy passage {one.policy!r}. Cite a label that you were shown"
            checked.lost.append(Lost(Failure.POLICY, unknown, one.words or ""))
            return None
        reason = self._policy_reason(passage, one, given, own)
        if reason:
            checked.lost.append(Lost(Failure.POLICY, reason, one.words or ""))
            return None
        claim = f"{given.requirement or ''} {given.statement}"
        chosen = " ".join((one.words or "").split()) or fitting_words(passage, claim, self.evidence.profile)
        citation = policy_citation(passage, claim).model_copy(update={"quote": chosen})
        if problem := policy_problem(citation, self.evidence):
            checked.lost.append(Lost(Failure.POLICY, problem, citation.quote))
            return None
        return citation

    def _policy_reason(
        self, passage: PolicyPassage, one: PolicyQuote, given: DraftFinding, own: set[str]
    ) -> str | None:
        if one.words and fold(one.words) not in fold(passage.text):
            return f"These words are not in {one.policy} ({reference(passage)}): “{one.words[:120]}”"
        if passage.id in own:
            return None
        if not one.words:
            return f"{one.policy} ({reference(passage)}) is not what the question rests on: quote its words that ask for this"
        claim = f"{given.requirement or ''} {given.statement}"
        if len(shared(one.words, [claim])) < FEWEST_SHARED_WORDS:
            return f"The words of {one.policy} ({reference(passage)}) do not speak of this point"
        return None


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
