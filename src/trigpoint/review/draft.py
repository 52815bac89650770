"""A review while it is being judged, whoever judges it: our own model, somebody else's agent, or a script.

A `ReviewDraft` shows what is known, gives out pages, searches and calculates, and takes facts, findings and a
conclusion. It answers each with a verdict and turns what was verified into a `Judgement`. It has no model and no
network in it, and its state is JSON, so that judging can stop anywhere and go on later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from trigpoint.errors import InvalidInput
from trigpoint.reading.documents import Source
from trigpoint.reading.facts import Fact, measures
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.sources import SPEAKER_OF, genre_of
from trigpoint.review.aspects import Aspect, aspect
from trigpoint.review.checked import Checked
from trigpoint.review.compared_findings import ComparedFindings
from trigpoint.review.concluded_sentences import conclusion_verdicts
from trigpoint.review.concluding import conclude
from trigpoint.review.conclusion import Quality
from trigpoint.review.elsewhere import also_said
from trigpoint.review.evidence import Evidence, PolicyPassage
from trigpoint.review.findings import Calculation
from trigpoint.review.held import DraftState, Held
from trigpoint.review.held_findings import named
from trigpoint.review.locating import FoundWords
from trigpoint.review.lookup import Lookup, StatementHit
from trigpoint.review.orientation import Orientation, PolicyLabels, candidates, citable, orient
from trigpoint.review.profile_correction import corrected_profile
from trigpoint.review.result import Judgement
from trigpoint.review.sheets import WINDOW, PageWindow, Sheet, Sheets
from trigpoint.review.submitted import (
    Dismissal,
    DraftConclusion,
    DraftFact,
    DraftFinding,
    ProfileCorrection,
    Verdict,
)
from trigpoint.review.verify_drafts import DraftVerifier
from trigpoint.review.verify_figures import calculation_of
from trigpoint.review.verify_together import contradicted, reports

READ_BY_ANOTHER = 0.89  # certainty of a fact that a model read: quoted and weighed, never judged by rules alone
PolicySearch = Callable[[str], Awaitable[Sequence[PolicyPassage]]]


class ReviewDraft(ComparedFindings):
    """The state of one review that is being judged. Every method that changes it replaces `state` as a whole."""

    def __init__(self, evidence: Evidence, aspects: Iterable[Aspect | str], state: DraftState | None = None) -> None:
        self.aspects = tuple(aspect(one) if isinstance(one, str) else one for one in aspects)
        self.state = state or DraftState()
        self._base = evidence
        self.sheets = Sheets(evidence)
        found = [PolicyPassage(**one) for one in self.state.policies]
        self.labels = PolicyLabels([*citable(evidence, self.aspects), *evidence.searched_policies.values(), *found])

    # -- checkpoint ---------------------------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """Return the state as JSON data."""
        return self.state.model_dump(mode="json")

    @classmethod
    def from_state(cls, evidence: Evidence, aspects: Iterable[Aspect | str], state: dict[str, Any]) -> Self:
        """Return the draft as it was when `to_state` was called. The evidence must be the same."""
        return cls(evidence, aspects, DraftState.model_validate(state))

    # -- orientation --------------------------------------------------------------------------------------------------

    @property
    def evidence(self) -> Evidence:
        """The evidence with everything that judging has added: facts, policies that were looked up, the profile."""
        found = {one.id: one for one in self.labels.by_label.values()}
        return replace(
            self._base,
            facts=(*self._base.facts, *self.state.facts),
            profile=self.state.profile or self._base.profile,
            searched_policies={**self._base.searched_policies, **found},
            in_force={**{one.source: one.revision_id for one in found.values()}, **self._base.in_force},
        )

    def orientation(self) -> Orientation:
        """Return the development, documents, policies and questions, before anything is read."""
        return orient(self.evidence, self.aspects, self.sheets, self.labels)

    def correct_profile(self, given: ProfileCorrection) -> Verdict:
        """Change the profile, if the words that show it are on their page or in the proposal, and its figures in them."""
        profile, verdict = corrected_profile(given, self.evidence, self._verifier())
        if profile is not None:
            self._change(profile=profile)
        return verdict

    # -- reading ------------------------------------------------------------------------------------------------------

    def unread(self) -> tuple[Sheet, ...]:
        """Return the pages that matter and have not been read, most relevant first."""
        return tuple(one for one in self.sheets.by_relevance if one.key not in self.state.read)

    def read(
        self, document: str, page: int | None = None, *, to: int | None = None, offset: int = 0, most: int = WINDOW
    ) -> PageWindow:
        """Return the text from a page on, in whole sentences, and note that it was read. Raise InvalidInput."""
        known = self.sheets.document(document)
        if known is None:
            labels = ", ".join(self.sheets.labels)
            raise InvalidInput(f"There is no document {document!r} in this review. There are {labels}")
        numbers = [one.number for one in known.pages]
        if page is not None and numbers and page not in numbers:
            raise InvalidInput(f"{document} has the pages {numbers[0]} to {numbers[-1]}, and no page {page}")
        first = page if page is not None or not numbers else numbers[0]
        if to is not None and first is not None and to < first:
            raise InvalidInput(f"The last page, {to}, is before the first, {first}")
        window = self.sheets.window(known, first if numbers else None, to=to, offset=offset, most=most)
        self.note_read(f"{window.label}:{number}" for number in window.pages or (0,))
        return window

    def note_read(self, keys: Iterable[str]) -> None:
        self._change(read=tuple(dict.fromkeys((*self.state.read, *keys))))

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.sheets)

    def search(self, query: str, most: int = 12) -> tuple[StatementHit, ...]:
        """Return the statements of the documents nearest in words to a query."""
        self._change(searches=(*self.state.searches, query)[-400:])
        return self._lookup.search(query, most)

    async def search_policy(self, query: str, ask: PolicySearch) -> dict[str, PolicyPassage]:
        """Return passages of the policy in force by their labels. `ask` searches the server for this date and place."""
        return self.add_policies(await ask(query))

    def add_policies(self, passages: Iterable[PolicyPassage]) -> dict[str, PolicyPassage]:
        """Make passages citable and return them by their labels. They must be of revisions in force on the day."""
        given = [one for one in passages if one.section_ref]
        known = set(self.labels.by_label.values())
        labelled = {self.labels.add(one): one for one in given}
        new = [vars(one) for one in given if one not in known]
        self._change(policies=(*self.state.policies, *new))
        return labelled

    def calculate(self, expression: str) -> Calculation:
        """Return a sum, difference, product or quotient, and keep it for findings that use its result.

        Raise InvalidInput if it is not arithmetic, or wrong.
        """
        try:
            made = calculation_of(expression)
        except ValueError as error:
            raise InvalidInput(f"{expression!r} cannot be calculated: {error}") from None
        self._change(calculated=tuple(dict.fromkeys((*self.state.calculated, made.expression)))[-200:])
        return made

    # -- handing in ---------------------------------------------------------------------------------------------------

    def submit_facts(self, facts: Iterable[DraftFact]) -> list[Verdict]:
        """Add facts whose words are on their page. A fact is not sent back: what is not there is dropped."""
        verifier = self._verifier()
        verdicts, kept, dropped = [], list(self.state.facts), 0
        for number, given in enumerate(facts, 1):
            checked = Checked()
            places = verifier.quotes([given.quote], checked)
            if checked.lost or not places:
                dropped += 1
                reasons = tuple(one.reason for one in checked.lost)
                verdicts.append(Verdict(id=str(number), verdict="dropped", reasons=reasons))
                continue
            kept.append(_fact(given, places[0], self.sheets))
            verdicts.append(Verdict(id=str(number), verdict="verified", remarks=tuple(checked.remarks)))
        self._change(facts=tuple(dict.fromkeys(kept)), facts_dropped=self.state.facts_dropped + dropped)
        return verdicts

    def dismiss(self, dismissals: Iterable[Dismissal]) -> list[Verdict]:
        """Leave out suspected discrepancies that a reader has looked at and that are none."""
        known = {one.id for one in candidates(self._base, self.sheets)}
        verdicts = []
        for one in dismissals:
            if one.candidate not in known:
                reasons = (f"There is no suspected discrepancy {one.candidate!r}",)
                verdicts.append(Verdict(id=one.candidate, verdict="dropped", reasons=reasons))
                continue
            self._change(dismissed={**self.state.dismissed, one.candidate: one.why})
            verdicts.append(Verdict(id=one.candidate, verdict="verified"))
        return verdicts

    def fork(self) -> ReviewDraft:
        """Return a copy that can be judged on its own, at the same time as others, and then absorbed."""
        return ReviewDraft(self._base, self.aspects, self.state.model_copy(update={"held": {}, "dismissed": {}}))

    def absorb(self, other: ReviewDraft) -> None:
        """Take over what was handed in to a fork. What repeats something here is merged, what contradicts it returned."""
        self.take_look_ups(other)
        self._change(dismissed=self.state.dismissed | other.state.dismissed)
        first = len(self.state.held) + 1
        names = {name: f"F{number}" for number, name in enumerate(other.state.held, first)}
        for name, held in other.state.held.items():
            self._take_over(names[name], held, other, names)

    def take_look_ups(self, other: ReviewDraft) -> None:
        """Take over the pages, policies and calculations that were looked up in a fork."""
        self.note_read(other.state.read)
        self.add_policies(PolicyPassage(**one) for one in other.state.policies)
        for part in ("told", "calculated"):
            both = (*getattr(self.state, part), *getattr(other.state, part))
            self._change(**{part: tuple(dict.fromkeys(both))})

    def _take_over(self, name: str, held: Held, other: ReviewDraft, names: Mapping[str, str]) -> None:
        finding = held.finding and held.finding.model_copy(update={"check": named(held.finding.check, name)})
        reason = contradicted(finding, self.verified()) if finding is not None and held.counts else None
        verdict = held.verdict.model_copy(update={"id": name})
        changed = {
            "given": self.relabelled(held.given, other).model_copy(update={"id": None}),
            "finding": finding,
            "verdict": Verdict(id=name, verdict="returned", reasons=(reason,)) if reason else verdict,
            "by": "other findings" if reason else held.by,
            "merged_into": names.get(held.merged_into or ""),
        }
        self._hold(name, held.model_copy(update=changed))
        self._merge(name)

    def relabelled(self, given: DraftFinding, other: ReviewDraft) -> DraftFinding:
        """Return a finding with the labels that its policies have here: a fork may have looked up others before them."""
        cited = []
        for one in given.policy:
            passage = other.labels.find(one.policy)
            label = self.labels.add(passage) if passage is not None else one.policy
            cited.append(one.model_copy(update={"policy": label}))
        return given.model_copy(update={"policy": tuple(cited)})

    def searched_place(self, given: DraftFinding) -> str:
        """Return the pages in which a finding looked for something; nothing if it looked everywhere."""
        return self._verifier().lacks.absence.named_place(given)

    def also_said(self, held: Held) -> list[StatementHit]:
        """Return statements that a finding does not quote and that speak of the same: one of them may turn the point."""
        return also_said(held.given, self._lookup, self._verifier().quotes(held.given.evidence, Checked()))

    def nearest(self, given: DraftFinding) -> list[StatementHit]:
        """Return the statements nearest to what a finding looked for and did not find."""
        return self._verifier().lacks.nearest(given)

    # -- the end ------------------------------------------------------------------------------------------------------

    def check_conclusion(self, given: DraftConclusion) -> list[Verdict]:
        """Return what would be left out of a conclusion, and why. Nothing is changed."""
        gone = self._keeping_answers(given).left_out
        findings = {name: one for name, one in self.verified().items() if name not in gone}
        held = {name: one for name, one in self.state.held.items() if name not in gone}
        return conclusion_verdicts(given, findings, self.evidence, held)

    def conclude(self, given: DraftConclusion | None, *, model: str) -> Judgement:
        """Return the judgement of everything that counts. Without a conclusion it is assembled from the findings."""
        self.open_unsettled()
        given = self._keeping_answers(given) if given else None
        self._change(conclusion=given)
        return conclude(
            given,
            evidence=self.evidence,
            aspects=self.aspects,
            held=self.state.held,
            settled=self._settled_candidates(),
            model=model,
        ).model_copy(update={"quality": self.quality()})

    def _keeping_answers(self, given: DraftConclusion) -> DraftConclusion:
        """Return a conclusion that calls no finding a repetition if it alone answers its question: that would look open."""
        held, left = self.state.held, list[str]()
        asked = {name: (one.given.aspect, one.given.question) for name, one in held.items() if one.counts}
        for name in given.repeats:
            question = asked.get(name)
            others = [other for other, one in asked.items() if one == question and other not in (name, *left)]
            if question is None or question[1] is None or others:
                left.append(name)
        return given.model_copy(update={"repeats": tuple(left)})

    def _settled_candidates(self) -> frozenset[str]:
        """Return the discrepancies that need no finding by arithmetic: dismissed, reported by a finding that counts, or
        reported by one that a second reader did not find in the quoted words."""
        held = self.state.held.values()
        reported = [name for one in held if one.counts or one.by == "second reader" for name in one.given.settles]
        told = [
            f"C{number}"
            for number, discrepancy in enumerate(self._base.discrepancies, 1)
            if any(reports(finding, discrepancy) for finding in self.verified().values())
        ]
        return frozenset((*self.state.dismissed, *reported, *told))

    def quality(self) -> Quality:
        """Return how the review came about, as far as the draft knows."""
        held = self.state.held
        concluded = self.state.conclusion
        gone = [name for name, one in held.items() if one.counts and concluded and name in concluded.left_out]
        counting = [one for name, one in held.items() if one.counts and name not in gone]
        merged = len(gone) + sum(self.is_merged(one) for one in held.values())
        unread = [one.key for one in self.sheets.all if one.key not in self.state.read]
        return Quality(
            submitted=len(held),
            verified=len(counting),
            corrected=sum(one.tries > 1 for one in counting),
            reworded=sum(one.reworded for one in counting),
            merged=merged,
            dropped=len(held) - len(counting) - merged,
            left_out=(*self.left_out(), *(held[name].ended_by(concluded) for name in gone if concluded)),
            facts=len(self.state.facts),
            facts_dropped=self.state.facts_dropped,
            pages_read=len(self.sheets.all) - len(unread),
            pages=len(self.sheets.all),
            pages_not_read=self.sheets.named(unread),
            support_checked=sum(one.support is not None for one in held.values()),
        )

    def _verifier(self) -> DraftVerifier:
        return DraftVerifier(
            self.evidence,
            self.sheets,
            self._lookup,
            self.labels,
            frozenset(self.state.read),
            frozenset(self.state.told),
            tuple(calculation_of(one) for one in self.state.calculated),
        )


def _fact(given: DraftFact, place: FoundWords, sheets: Sheets) -> Fact:
    statements = sheets.words_of(place.document).statements
    index = next((one.index for one in statements if one.start < place.end and place.start < one.end), 0)
    source = Source(
        document_id=place.document.id,
        document=place.document.name,
        page=place.pages[0] if place.pages else None,
        start=place.start,
        end=place.end,
        statement=index,
        quote=place.words,
    )
    return Fact(
        topic=given.topic,
        status=given.status,
        speaker="policy_text" if given.status == "policy" else SPEAKER_OF[genre_of(place.document)],
        polarity=given.polarity,
        certainty=READ_BY_ANOTHER,
        quantities=tuple(one for one in read_quantities(place.words) if measures(given.topic, one)),
        source=source,
        because=("read by the reader of this review",),
        reader="model",
    )
