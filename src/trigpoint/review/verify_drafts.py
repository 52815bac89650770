"""Check a finding that somebody handed in against the documents and the policy: by rules, whoever it comes from.

The words are on the page, the figures have their source and unit, the statement's status can bear the outcome, the
policy is in force and says so, and an absence was looked for. Every reason says what to do about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from trigpoint.review.absence import absence_reasons, not_shown_point
from trigpoint.review.aspects import Aspect, Check, aspect
from trigpoint.review.evidence import Evidence, PolicyPassage, fold, policy_citation
from trigpoint.review.findings import Calculation, Citation, Finding, NotAssessed, Outcome, PolicyCitation
from trigpoint.review.locating import Found, parts_of
from trigpoint.review.lookup import Lookup, shared, stems
from trigpoint.review.orientation import PolicyLabels, reference
from trigpoint.review.policy_words import fitting_words
from trigpoint.review.proportion import disproportionate
from trigpoint.review.sheets import Sheets
from trigpoint.review.submitted import DraftFinding, PolicyQuote, Quote
from trigpoint.review.verify import policy_problem
from trigpoint.review.verify_absence import FEWEST_SHARED_WORDS, AbsenceDesk, shown
from trigpoint.review.verify_figures import (
    attached,
    calculation_of,
    calculation_reasons,
    figure_reasons,
    proposed_reasons,
)
from trigpoint.review.verify_scope import scope_reasons
from trigpoint.review.verify_status import Told, status_reasons, told

AGREE = "Figures and statements that agree with each other"


class Failure(StrEnum):
    """What was wrong with a finding, in words that repeat nothing of what it claimed: these are published."""

    QUESTION = "a question that is not asked of this development"
    STEP = "an aspect that is judged in another step"
    QUOTATION = "a quotation that is not in the documents"
    POLICY = "a policy that was not shown or does not ask for it"
    CALCULATION = "a calculation that does not hold or uses a figure that is not quoted"
    ACTION = "a recommendation or condition that is not proved"
    FIGURE = "a figure, a section or quoted words without a source"
    MEANING = "quoted words that do not show it"
    SCOPE = "a claim that says more than the quoted words"
    ABSENCE = "an absence that was not looked for, or that a page answers"


@dataclass(frozen=True)
class Lost:
    """A support of a finding that fails: the reason, and the words that were to prove something."""

    kind: Failure
    reason: str
    words: str = ""


@dataclass
class Checked:
    """The outcome of checking: what counts if there are no reasons against it."""

    finding: Finding | None = None
    open_point: NotAssessed | None = None
    reasons: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # keys of statements that a reason quotes
    failures: list[Failure] = field(default_factory=list)

    def object(self, kind: Failure, reasons: Sequence[str]) -> None:
        """Add reasons against the finding."""
        self.reasons += reasons
        self.failures += [kind] if reasons else []

    def settle_lost(self, statement: str, sources: Iterable[str], *, lenient: bool) -> None:
        """Make reasons of the supports that failed, or leave them out, and say so, if the rest carries the statement."""
        rest = {stem for source in sources for stem in stems(source)}
        carried = all(shared(statement, [one.words]) <= rest for one in self.lost)
        if lenient and carried and not self.reasons:
            self.remarks += [f"Left out: {one.reason}" for one in self.lost]
        else:
            self.reasons = [*(one.reason for one in self.lost), *self.reasons]
            self.failures = [*(one.kind for one in self.lost), *self.failures]


@dataclass(frozen=True)
class DraftVerifier:
    """Checks one finding at a time.

    `read` are the keys of the pages that were shown to whoever judges, `told_statements` those of statements that a reason
    quoted, and `calculated` what was worked out by the tool.
    """

    evidence: Evidence
    sheets: Sheets
    lookup: Lookup
    labels: PolicyLabels
    read: frozenset[str] = frozenset()
    told_statements: frozenset[str] = frozenset()
    calculated: tuple[Calculation, ...] = ()

    def check(self, given: DraftFinding, *, lenient: bool = False, unfit: Collection[str] = ()) -> Checked:
        """Return the finding as it would count, with every reason why it does not.

        A support that fails (a policy row, one of the quotations, an equation, the recommendation) is a reason too. With
        `lenient` it is left out instead, and said, if what is left carries the whole statement; and a word that seems to say
        too much is left to the second reader. `unfit` are references of policies that are not to be cited for it.
        """
        checked = Checked()
        given, asked = self._question(given, checked)
        if given.outcome == "not_shown":
            return self._not_shown(given, asked, checked)
        quotes = self.quotes(given.evidence, checked)
        policies = self._policies(given, asked, checked) if given.outcome != "contradicted" else ()
        policies = tuple(one for one in policies if one.ref not in unfit)
        cited = tuple(dict.fromkeys(_cited(place, given.outcome, self._told(place)) for place in quotes))
        finding = _finding(given, asked, cited, policies, self._calculations(given, checked))
        sources = self.sources(finding, quotes)
        finding = self._with_proved_calculations(finding, sources, checked)
        finding = self._with_proved_actions(finding, sources, checked)
        checked.finding = finding
        if not (checked.lost and not quotes):
            figures = figure_reasons(finding.text, sources, finding.calculations, self.evidence)
            checked.object(Failure.FIGURE, figures)
            telling = [self._told(place) for place in quotes]
            checked.object(Failure.MEANING, _meaning_reasons(given, finding, asked, quotes, telling))
            if not lenient:
                checked.object(Failure.SCOPE, scope_reasons(given, finding, quotes, telling))
        checked.settle_lost(finding.text, sources, lenient=lenient and bool(quotes))
        if finding.outcome == "met" and (given.recommendation or given.condition):
            checked.remarks.append(
                "A point that is met has no recommendation or condition: hand it in as another finding"
            )
        return checked

    def _question(self, given: DraftFinding, checked: Checked) -> tuple[DraftFinding, Check | None]:
        """Return the finding with its question. Statements that contradict each other need none that is asked."""
        area = aspect(given.aspect)
        asked = area.check(given.question) if given.question else None
        reasons = self._question_reasons(given, area, asked)
        if given.outcome != "contradicted" or not reasons:
            checked.object(Failure.QUESTION, reasons)
            return given, asked
        checked.remarks += reasons if given.question else []
        return given.model_copy(update={"question": None, "requirement": given.requirement or AGREE}), None

    def _question_reasons(self, given: DraftFinding, area: Aspect, asked: Check | None) -> list[str]:
        if given.question and asked is None:
            known = ", ".join(check.id for check in area.checks)
            return [f"{area.id} has no question {given.question!r}. Its questions are {known}"]
        if asked is not None and area.fits(asked, self.evidence.profile) == "no":
            return [f"{given.question} is not asked of a development of this kind and size"]
        if asked is None and not given.requirement:
            return ["A finding without a question needs `requirement`: what is asked for, and by whom"]
        return []

    def quotes(self, given: Iterable[Quote], checked: Checked) -> list[Found]:
        """Return where the quoted words are; add a reason for each quotation that is nowhere."""
        located: list[Found] = []
        for quote in given:
            document = self.sheets.document(quote.document)
            if document is None:
                known = ", ".join(self.sheets.labels)
                problem = f"There is no document {quote.document!r} in this review. Cite one of {known}"
                checked.lost.append(Lost(Failure.QUOTATION, problem, quote.words))
                continue
            for part in parts_of(quote.words):
                place = self.sheets.words_of(document).find(part, quote.page)
                if place is None:
                    checked.lost.append(Lost(Failure.QUOTATION, self._nowhere(quote, part), part))
                    continue
                if place.pages and quote.page not in place.pages:
                    checked.remarks.append(
                        f"{quote.document}: the words are on page {place.pages[0]}, not {quote.page}"
                    )
                located.append(place)
        return located

    def _nowhere(self, quote: Quote, part: str) -> str:
        near = [hit for hit in self.lookup.search(part, 40) if hit.label == quote.document.strip().upper()]
        hint = f". Nearest there: {shown(near[0])}" if near else ""
        return f"These words are not in {quote.document}: “{part[:120]}”{hint}"

    def _told(self, place: Found) -> list[Told]:
        return told(place, self.evidence, self.sheets)

    def _policies(self, given: DraftFinding, asked: Check | None, checked: Checked) -> tuple[PolicyCitation, ...]:
        own = self._own_policies(asked, given) if asked else ()
        named = [self._policy(one, given, {policy.passage_id for policy in own}, checked) for one in given.policy]
        cited = [one for one in named if one is not None] or list(own)
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

    def _calculations(self, given: DraftFinding, checked: Checked) -> tuple[Calculation, ...]:
        made: list[Calculation] = []
        for equation in given.calculations:
            try:
                made.append(calculation_of(equation))
            except ValueError as error:
                checked.lost.append(Lost(Failure.CALCULATION, f"The calculation {equation!r} does not hold: {error}"))
        return tuple(made)

    def _with_proved_calculations(self, finding: Finding, sources: Sequence[str], checked: Checked) -> Finding:
        """Return a finding with the calculations whose inputs are cited, also those that were made by the tool for it."""
        proved: list[Calculation] = []
        for one in finding.calculations:
            reasons = calculation_reasons([*proved, one], sources)
            checked.lost += [Lost(Failure.CALCULATION, reason) for reason in reasons]
            proved += [] if reasons else [one]
        made = attached(finding.text, sources, proved, self.calculated, self.evidence)
        return finding.model_copy(update={"calculations": (*proved, *made)})

    def _with_proved_actions(self, finding: Finding, sources: Sequence[str], checked: Checked) -> Finding:
        """Return a finding without a recommendation or condition that asks too much or whose figures have no source."""
        texts = [*sources, finding.text, *(one.expression for one in finding.calculations)]
        wrong: dict[str, None] = {}
        for name in ("recommendation", "condition"):
            demand = getattr(finding, name) or ""
            unproved = proposed_reasons(demand, texts, finding.calculations, self.evidence)
            too_much = disproportionate(demand, self.evidence.profile)
            for reason in (*unproved, *([too_much] if too_much else [])):
                checked.lost.append(Lost(Failure.ACTION, f"{name}: {reason}"))
                wrong[name] = None
        return finding.model_copy(update=wrong) if wrong else finding

    def sources(self, finding: Finding, quotes: Sequence[Found]) -> list[str]:
        """Return the texts that the figures of a finding may come from."""
        texts = [place.document.text[place.start : place.end] for place in quotes]
        texts += [place.words for place in quotes]
        texts += [f"{one.quote or self._section_text(one)} {one.version_label}" for one in finding.policy]
        texts += [one.document for one in finding.evidence]
        texts += [str(page) for one in finding.evidence for page in one.pages]
        profile = self.evidence.profile
        texts += [profile.proposal, *(f"{use.size or ''} {use.unit} {use.words}" for use in profile.uses)]
        return [*texts, finding.requirement]

    def _section_text(self, cited: PolicyCitation) -> str:
        """Return the section that is cited without words: figures of it may be told."""
        passage = self.evidence.policies.get(cited.passage_id)
        return passage.text if passage else ""

    def _not_shown(self, given: DraftFinding, asked: Check | None, checked: Checked) -> Checked:
        """Check an absence. A quotation that is nowhere is left out: the absence does not rest on it."""
        quotes = self.quotes(given.evidence, checked)
        checked.remarks += [one.reason for one in checked.lost]
        desk = AbsenceDesk(self.evidence, self.sheets, self.lookup, self.read, self.told_statements)
        checked.object(Failure.ABSENCE, desk.reasons(given, asked))
        checked.told += [hit.key for hit in desk.unread(given, asked)]
        if not checked.reasons:
            sources = [place.words for place in quotes]
            sources += [self.evidence.profile.proposal, f"{self.evidence.pages_read} pages, {len(self.read)} pages"]
            proved = not figure_reasons(given.statement, sources, (), self.evidence)
            asks = given.recommendation or ""
            if proposed_reasons(asks, sources, (), self.evidence) or disproportionate(asks, self.evidence.profile):
                given = given.model_copy(update={"recommendation": None})
            where = desk.places(given, asked, quotes)
            checked.open_point = not_shown_point(
                self.evidence, asked, given, places=where, quotes=quotes, proved=proved, read=len(self.read)
            )
        return checked


def _meaning_reasons(
    given: DraftFinding, finding: Finding, asked: Check | None, quotes: Sequence[Found], telling: Sequence[list[Told]]
) -> list[str]:
    if not quotes:
        return ["A finding needs the words that prove it. If the documents do not settle it, the outcome is not_shown"]
    if given.outcome == "contradicted":
        return _both_sides(finding, quotes)
    return [*status_reasons(given, asked, telling), *absence_reasons(given, quotes)]


def _finding(
    given: DraftFinding,
    asked: Check | None,
    cited: tuple[Citation, ...],
    policies: tuple[PolicyCitation, ...],
    calculations: tuple[Calculation, ...],
) -> Finding:
    assert given.outcome != "not_shown"
    outcome: Outcome = given.outcome
    wanting = outcome != "met"
    return Finding(
        check=f"{given.aspect}-{given.question or 'other'}",
        requirement=asked.requirement if asked else _plain(given.requirement or given.aspect),
        outcome=outcome,
        text=_plain(given.statement),
        essential=bool(asked and asked.essential) and outcome != "contradicted",
        short=asked.short if asked else None,
        evidence=cited,
        policy=policies,
        calculations=calculations,
        recommendation=_plain_or_none(given.recommendation) if wanting else None,
        condition=_plain_or_none(given.condition) if wanting else None,
    )


def _cited(place: Found, outcome: Outcome, telling: Sequence[Told]) -> Citation:
    citation = place.citation(outcome)
    if not telling:
        return citation
    return citation.model_copy(update={"status": telling[0].status, "speaker": telling[0].speaker})


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


def _both_sides(finding: Finding, quotes: Sequence[Found]) -> list[str]:
    distinct = {(place.document.id, place.start) for place in quotes}
    if len(distinct) > 1 or finding.calculations:
        return []
    return ["A contradiction needs both of its sides: two quotations, or one and the calculation that it fails"]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _plain_or_none(text: str | None) -> str | None:
    return _plain(text).rstrip(".") if text and text.strip() else None
