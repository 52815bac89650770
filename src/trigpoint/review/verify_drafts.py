"""Check a finding that somebody handed in against the documents and the policy: by rules, whoever it comes from.

The words are on the page, the figures have their source and unit, the statement's status can bear the outcome, the
policy is in force and says so, and an absence was looked for. Every reason says what to do about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from trigpoint.review.absence import absence_reasons, not_shown_point, unsettled_point, wording_reasons
from trigpoint.review.aspects import Aspect, Check, aspect
from trigpoint.review.checked import Checked, Failure, LostSupport
from trigpoint.review.drafted import cited_as, finding_of, with_fitting_outcome
from trigpoint.review.evidence import Evidence, short_name
from trigpoint.review.findings import Calculation, Finding, NotAssessed, PolicyCitation
from trigpoint.review.locating import FoundWords, parts_of
from trigpoint.review.lookup import Lookup
from trigpoint.review.orientation import PolicyLabels
from trigpoint.review.proportion import disproportionate
from trigpoint.review.rules import judge_check
from trigpoint.review.sheets import Sheets
from trigpoint.review.submitted import DraftFinding, Quote
from trigpoint.review.verify_absence import AbsenceDesk, answered_by_itself, shown
from trigpoint.review.verify_figures import (
    attached,
    calculation_of,
    calculation_reasons,
    figure_reasons,
    proposed_reasons,
)
from trigpoint.review.verify_lacking import LackDesk
from trigpoint.review.verify_policies import PolicyVerifier
from trigpoint.review.verify_scope import scope_reasons
from trigpoint.review.verify_status import QuotedWords, is_provision, status_reasons, told
from trigpoint.review.verify_sums import shortfall_reasons

AGREE = "Figures and statements that agree with each other"


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

    def check(
        self, given: DraftFinding, *, lenient: bool = False, unfit: Collection[str] = (), settles: bool = True
    ) -> Checked:
        """Return the finding as it would count, with every reason why it does not.

        A support that fails (a policy row, one of the quotations, an equation, the recommendation) is a reason too. With
        `lenient` it is left out instead, and said, if what is left carries the whole statement; and a word that seems to say
        too much is left to the second reader. `unfit` are references of policies that are not to be cited for it. Without
        `settles` what is proved is told as an open point.
        """
        checked = Checked()
        given, asked = self._question(with_fitting_outcome(given), checked)
        if given.outcome == "not_shown":
            return self._not_shown(given, asked, checked, lenient=lenient)
        quotes, outcome = self.quotes(given.evidence, checked), given.outcome
        given = given.model_copy(update={"lacking": self.lacks.worded(given, quotes) if lenient else given.lacking})
        standard = self._standard(given, quotes, checked)
        cited = tuple(dict.fromkeys(cited_as(place, outcome, self._told(place)) for place in quotes))
        finding = finding_of(given, asked, cited, (), self._calculations(given, checked), standard)
        verifier = PolicyVerifier(self.evidence, self.labels)
        policies = verifier.cited(given, asked, checked, measured_elsewhere=bool(standard), lenient=lenient)
        finding = finding.model_copy(update={"policy": tuple(one for one in policies if one.ref not in unfit)})
        sources = self.sources(finding, [*quotes, *standard])
        finding = self._with_proved_calculations(finding, sources, checked)
        finding = self._with_proved_actions(finding, asked, sources, checked)
        asking = self._asking(given, quotes) if finding.outcome == "met" else _asking_as(finding, given)
        checked.finding = finding
        if not (checked.lost and not quotes):
            figures = figure_reasons(finding.provided, sources, finding.calculations, self.evidence)
            checked.object(Failure.FIGURE, figures)
            telling = [self._told(place) for place in quotes]
            checked.object(Failure.MEANING, _meaning_reasons(given, finding, asked, quotes, telling, lenient=lenient))
            checked.object(Failure.MEANING, shortfall_reasons(finding))
            if not lenient:
                checked.object(Failure.SCOPE, scope_reasons(given, finding, quotes, telling))
        checked.settle_lost(finding.text, sources, lenient=lenient and bool(quotes))
        if settles:
            self._settle_lack(asking, finding, asked, quotes, sources, checked, lenient=lenient)
        elif not checked.reasons:
            unproved = self._lack_reasons(given, finding, quotes, sources)
            told = asking.model_copy(update={"lacking": None}) if unproved else asking
            checked.finding, checked.open_point = None, self.unsettled(told, asked, quotes)
        if finding.outcome == "met" and (given.recommendation or given.condition):
            checked.remarks.append(
                "A point that is met has no recommendation or condition: hand it in as another finding"
            )
        return checked

    @cached_property
    def _absence(self) -> AbsenceDesk:
        return AbsenceDesk(self.evidence, self.sheets, self.lookup, self.read, self.told_statements)

    @cached_property
    def lacks(self) -> LackDesk:
        """Return the checker of what findings lack."""
        return LackDesk(self._absence)

    def _settle_lack(
        self,
        given: DraftFinding,
        finding: Finding,
        asked: Check | None,
        quotes: Sequence[FoundWords],
        sources: Sequence[str],
        checked: Checked,
        *,
        lenient: bool,
    ) -> None:
        """Check what is lacking. With `lenient`, a lack that nothing shows goes, and a finding that rests on it is open."""
        reasons = self._lack_reasons(given, finding, quotes, sources)
        checked.told += self.lacks.told(given, quotes)
        if not reasons:
            return
        if not lenient or checked.reasons:
            checked.object(Failure.LACK, reasons)
        elif given.outcome == "partly":
            checked.remarks.append("Nothing shows what is lacking: it is told as an open point")
            provided = given.model_copy(update={"lacking": None})
            checked.finding, checked.open_point = None, self.unsettled(provided, asked, quotes)
        else:
            checked.remarks.append(f"Left out: {reasons[0]}")
            checked.finding = finding.model_copy(update={"text": finding.provided, "lacking": None})

    def _lack_reasons(
        self, given: DraftFinding, finding: Finding, quotes: Sequence[FoundWords], sources: Sequence[str]
    ) -> list[str]:
        """Return why nothing shows what a finding calls lacking."""
        figures = figure_reasons(given.lacking or "", sources, finding.calculations, self.evidence)
        return [*self.lacks.reasons(given, quotes), *figures]

    def unsettled(self, given: DraftFinding, asked: Check | None, quotes: Sequence[FoundWords]) -> NotAssessed:
        """Return an open point of a statement that is proved and does not settle what is asked for."""
        where = self._absence.places(given, asked, quotes)
        return unsettled_point(self.evidence, asked, given, places=where, quotes=quotes)

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

    def quotes(self, given: Iterable[Quote], checked: Checked) -> list[FoundWords]:
        """Return where the quoted words are; add a reason for each quotation that is nowhere."""
        located: list[FoundWords] = []
        for quote in given:
            document = self.sheets.document(quote.document)
            if document is None:
                known = ", ".join(self.sheets.labels)
                problem = f"There is no document {quote.document!r} in this review. Cite one of {known}"
                checked.lost.append(LostSupport(Failure.QUOTATION, problem, quote.words))
                continue
            for part in parts_of(quote.words):
                place = self.sheets.words_of(document).find(part, quote.page)
                if place is None:
                    checked.lost.append(LostSupport(Failure.QUOTATION, self._nowhere(quote, part), part))
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

    def _told(self, place: FoundWords) -> list[QuotedWords]:
        return told(place, self.evidence, self.sheets)

    def _standard(self, given: DraftFinding, quotes: Sequence[FoundWords], checked: Checked) -> list[FoundWords]:
        """Return where a document quotes the standard by which a finding is measured.

        It is the one that was handed in, or policy text among the quotations if no policy is cited and none of those
        that were shown is named. It proves nothing of what is provided.
        """
        if given.standard is not None:
            return self.quotes([given.standard], checked)[:1]
        if given.policy or given.outcome == "contradicted":
            return []
        names = {short_name(one.source).casefold() for one in self.labels.by_label.values()}
        texts = [
            (place, f"{given.statement} {place.document.text[place.start : place.end]}".casefold()) for place in quotes
        ]
        unnamed = [place for place, text in texts if not any(name in text for name in names)]
        is_policy = [
            place for place in unnamed if (known := self._told(place)) and all(t.status == "policy" for t in known)
        ]
        return is_policy[:1]

    def _calculations(self, given: DraftFinding, checked: Checked) -> tuple[Calculation, ...]:
        made: list[Calculation] = []
        for equation in given.calculations:
            try:
                made.append(calculation_of(equation))
            except ValueError as error:
                checked.lost.append(
                    LostSupport(Failure.CALCULATION, f"The calculation {equation!r} does not hold: {error}")
                )
        return tuple(made)

    def _with_proved_calculations(self, finding: Finding, sources: Sequence[str], checked: Checked) -> Finding:
        """Return a finding with the calculations whose inputs are cited, also those that were made by the tool for it."""
        proved: list[Calculation] = []
        for one in finding.calculations:
            reasons = calculation_reasons([*proved, one], sources)
            checked.lost += [LostSupport(Failure.CALCULATION, reason) for reason in reasons]
            proved += [] if reasons else [one]
        made = attached(finding.text, sources, proved, self.calculated, self.evidence)
        return finding.model_copy(update={"calculations": (*proved, *made)})

    def _with_proved_actions(
        self, finding: Finding, asked: Check | None, sources: Sequence[str], checked: Checked
    ) -> Finding:
        """Return a finding without a recommendation or condition that asks too much or whose figures have no source.

        What is asked for may take its figures from the policies that the question rests on and from facts that were read.
        """
        texts = [*sources, finding.text, *(one.expression for one in finding.calculations)]
        texts += [self._section_text(one) for one in (*finding.policy, *self._rests_on(asked))]
        texts += [fact.source.quote for fact in self.evidence.facts if fact.reader != "rules"]
        wrong: dict[str, None] = {}
        for name in ("recommendation", "condition"):
            demand = getattr(finding, name) or ""
            unproved = proposed_reasons(demand, texts, finding.calculations, self.evidence)
            too_much = disproportionate(demand, self.evidence.profile)
            for reason in (*unproved, *([too_much] if too_much else [])):
                checked.lost.append(LostSupport(Failure.ACTION, f"{name}: {reason}"))
                wrong[name] = None
        return finding.model_copy(update=wrong) if wrong else finding

    def sources(self, finding: Finding, quotes: Sequence[FoundWords]) -> list[str]:
        """Return the texts that the figures of a finding may come from."""
        texts = [place.document.text[place.start : place.end] for place in quotes]
        texts += [place.words for place in quotes]
        texts += [f"{one.quote or self._section_text(one)} {one.version_label}" for one in finding.policy]
        texts += [one.document for one in finding.evidence]
        texts += [str(page) for one in finding.evidence for page in one.pages]
        profile = self.evidence.profile
        texts += [profile.proposal, *(f"{use.size or ''} {use.unit} {use.words}" for use in profile.uses)]
        return [*texts, finding.requirement, self.evidence.effective_date[:4]]

    def _rests_on(self, asked: Check | None) -> Sequence[PolicyCitation]:
        return self.evidence.cite(asked.provisions) if asked else ()

    def _section_text(self, cited: PolicyCitation) -> str:
        """Return the section that is cited without words: figures of it may be told."""
        passage = self.evidence.policies.get(cited.passage_id)
        return passage.text if passage else ""

    def _not_shown(self, given: DraftFinding, asked: Check | None, checked: Checked, *, lenient: bool) -> Checked:
        """Check an absence. A quotation that is nowhere is left out: the absence does not rest on it.

        With `lenient` it counts, unless the question is settled by what certain facts say: then rules judge it.
        """
        quotes = self.quotes(given.evidence, checked)
        checked.remarks += [one.reason for one in checked.lost]
        desk = self._absence
        reasons = desk.reasons(given, asked)
        provided = [place for place in quotes if any(is_provision(one) for one in self._told(place))]
        if not lenient:
            worded = wording_reasons(given, quotes)
            checked.object(Failure.ABSENCE, [*reasons, *answered_by_itself(given, provided), *worded])
        elif asked is not None and isinstance(judge_check(self.evidence, aspect(given.aspect), asked), Finding):
            checked.object(Failure.ABSENCE, reasons)
        checked.told += [hit.key for hit in desk.unread(given, asked)]
        if checked.reasons:
            return checked
        sources = self._open_sources(given, quotes)
        sums = [one for one in self._calculations(given, checked) if not calculation_reasons([one], sources)]
        proved = not figure_reasons(given.statement, sources, sums, self.evidence)
        if not (proved and quotes) and (said := desk.certain_answer(asked)):
            told = self._asking(given, quotes).model_copy(update={"statement": f"The documents speak of it: {said}"})
            checked.open_point = self.unsettled(told, asked, quotes)
            return checked
        policies = PolicyVerifier(self.evidence, self.labels).cited(
            given, asked, Checked(), measured_elsewhere=False, lenient=True
        )
        checked.open_point = not_shown_point(
            self.evidence,
            asked,
            self._asking(given, quotes),
            places=desk.places(given, asked, quotes),
            quotes=quotes,
            proved=proved,
            read=len(self.read),
            policies=policies,
        )
        return checked

    def _open_sources(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> list[str]:
        """Return the texts that the figures of an open point may come from."""
        texts = [text for place in quotes for text in (place.words, place.document.text[place.start : place.end])]
        texts += [f"{place.document.name} {' '.join(map(str, place.pages))}" for place in quotes]
        texts += [f"{one.first} {one.last}" for one in given.looked_in]
        texts += [passage.text for one in given.policy if (passage := self.labels.find(one.policy)) is not None]
        read = f"{self.evidence.pages_read} pages, {len(self.read)} pages"
        return [*texts, self.evidence.profile.proposal, given.requirement or "", *given.looked_for, read]

    def _asking(self, given: DraftFinding, quotes: Sequence[FoundWords]) -> DraftFinding:
        """Return an open point without a recommendation whose figures have no source or that asks too much."""
        asks = given.recommendation or ""
        wrong = proposed_reasons(asks, self._open_sources(given, quotes), (), self.evidence)
        if wrong or disproportionate(asks, self.evidence.profile):
            return given.model_copy(update={"recommendation": None})
        return given


def _asking_as(finding: Finding, given: DraftFinding) -> DraftFinding:
    """Return the finding as handed in, without its recommendation if that was refused: an open point would print it."""
    return given if finding.recommendation else given.model_copy(update={"recommendation": None})


def _meaning_reasons(
    given: DraftFinding,
    finding: Finding,
    asked: Check | None,
    quotes: Sequence[FoundWords],
    telling: Sequence[list[QuotedWords]],
    *,
    lenient: bool,
) -> list[str]:
    """Return why the quoted words do not show the point. With `lenient` a shortfall's kind of words is the second reader's."""
    if not quotes:
        return ["A finding needs the words that prove it. If the documents do not settle it, the outcome is not_shown"]
    if given.outcome == "contradicted":
        return _both_sides(finding, quotes)
    if given.outcome == "noted":
        return absence_reasons(given, quotes)
    claims_provision = given.outcome != "failed" or not lenient
    return [*(status_reasons(given, asked, telling) if claims_provision else ()), *absence_reasons(given, quotes)]


def _both_sides(finding: Finding, quotes: Sequence[FoundWords]) -> list[str]:
    distinct = {(place.document.id, place.start) for place in quotes}
    if len(distinct) > 1 or finding.calculations:
        return []
    return ["A contradiction needs both of its sides: two quotations, or one and the calculation that it fails"]
