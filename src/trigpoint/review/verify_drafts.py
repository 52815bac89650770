"""Check a finding that somebody handed in against the documents and the policy: by rules, whoever it comes from.

The words are on the page, the figures have their source and unit, the statement's status can bear the outcome, the
policy is in force and says so, and an absence was looked for. Every reason says what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trigpoint.reading.context import Context
from trigpoint.reading.facts import CERTAIN, Fact
from trigpoint.reading.sources import genre_of
from trigpoint.reading.status import read_status
from trigpoint.reading.vocabulary import PROVISION, Speaker, Status
from trigpoint.review.absence import absence_reasons, not_shown_point
from trigpoint.review.aspects import Aspect, Check, aspect
from trigpoint.review.evidence import Evidence, PolicyPassage, fold, policy_citation
from trigpoint.review.findings import Calculation, Citation, Finding, NotAssessed, Outcome, Place, PolicyCitation
from trigpoint.review.locating import Found, parts_of
from trigpoint.review.lookup import Hit, Lookup, nearest_sentence, shared
from trigpoint.review.orientation import PolicyLabels, reference
from trigpoint.review.proportion import disproportionate
from trigpoint.review.quoting import places, rates_asked
from trigpoint.review.sheets import Sheets
from trigpoint.review.submitted import DraftFinding, PolicyQuote, Quote
from trigpoint.review.verdicts import SPEAKERS, deciding
from trigpoint.review.verify import policy_problem
from trigpoint.review.verify_figures import calculation_of, calculation_reasons, figure_reasons

CLEAR_HIT = 0.8  # share of a query's weight that a statement must have to answer it
FEWEST_SHARED_WORDS = 2

_OTHERS: frozenset[Status] = frozenset(("policy", "other_scheme", "historic", "requested", "assumption"))
_OPEN: frozenset[Status] = frozenset(("conditional", "deferred", "indicative", "rejected", "existing"))


@dataclass
class Checked:
    """The outcome of checking: what counts if there are no reasons against it."""

    finding: Finding | None = None
    open_point: NotAssessed | None = None
    reasons: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Told:
    """What quoted words are, and who says them, as far as it is certain."""

    status: Status
    speaker: Speaker


@dataclass(frozen=True)
class DraftVerifier:
    """Checks one finding at a time. `read` are the keys of the pages that were shown to whoever judges."""

    evidence: Evidence
    sheets: Sheets
    lookup: Lookup
    labels: PolicyLabels
    read: frozenset[str] = frozenset()

    def check(self, given: DraftFinding) -> Checked:
        """Return the finding as it would count, with every reason why it does not."""
        checked = Checked()
        area = aspect(given.aspect)
        asked = area.check(given.question) if given.question else None
        checked.reasons += self._question_reasons(given, area, asked)
        if given.outcome == "not_shown":
            return self._not_shown(given, asked, checked)
        quotes = self.quotes(given.evidence, checked)
        policies = self._policies(given, asked, checked)
        cited = tuple(dict.fromkeys(_cited(place, given.outcome, self.told(place)) for place in quotes))
        finding = _finding(given, asked, cited, policies, self._calculations(given, checked))
        checked.finding = finding
        if checked.reasons:
            return checked
        sources = self.sources(finding, quotes)
        checked.reasons += calculation_reasons(finding.calculations, sources)
        checked.reasons += figure_reasons(finding.text, sources, finding.calculations, self.evidence)
        checked.reasons += self._action_reasons(finding, sources)
        checked.reasons += self._meaning_reasons(given, asked, quotes)
        if finding.outcome == "met" and (given.recommendation or given.condition):
            checked.remarks.append(
                "A point that is met has no recommendation or condition: hand it in as another finding"
            )
        return checked

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
                checked.reasons.append(f"There is no document {quote.document!r} in this review. Cite one of {known}")
                continue
            for part in parts_of(quote.words):
                place = self.sheets.words_of(document).find(part, quote.page)
                if place is None:
                    checked.reasons.append(self._nowhere(quote, part))
                    continue
                if place.pages and quote.page not in place.pages:
                    checked.remarks.append(
                        f"{quote.document}: the words are on page {place.pages[0]}, not {quote.page}"
                    )
                located.append(place)
        return located

    def _nowhere(self, quote: Quote, part: str) -> str:
        near = [hit for hit in self.lookup.search(part, 40) if hit.label == quote.document.strip().upper()]
        hint = f". Nearest there: {_shown(near[0])}" if near else ""
        return f"These words are not in {quote.document}: “{part[:120]}”{hint}"

    def facts_at(self, place: Found) -> list[Fact]:
        """Return the facts of the statements in which words are."""
        return [
            fact
            for fact in self.evidence.facts
            if fact.source.document_id == place.document.id
            and fact.source.start < place.end
            and place.start < fact.source.end
        ]

    def told(self, place: Found) -> list[Told]:
        """Return what the quoted statements are: by the reader's own reading, or by rules that are certain."""
        facts = self.facts_at(place)
        read = [fact for fact in facts if fact.reader != "rules" and fact.status != "mentioned"]
        certain = read or [fact for fact in facts if fact.is_certain]
        if facts:
            return [Told(fact.status, fact.speaker) for fact in certain]
        return self._told_by_statement(place)

    def _told_by_statement(self, place: Found) -> list[Told]:
        genre = genre_of(place.document)
        told = []
        for statement in self.sheets.words_of(place.document).statements:
            if statement.start < place.end and place.start < statement.end:
                context = Context(statement, genre, own_reference=self.evidence.application_ref)
                judged = read_status(context)
                if judged.certainty >= CERTAIN and judged.status != "mentioned":
                    told.append(Told(judged.status, "policy_text" if judged.status == "policy" else context.speaker))
        return told

    def _policies(self, given: DraftFinding, asked: Check | None, checked: Checked) -> tuple[PolicyCitation, ...]:
        own = self._own_policies(asked, given) if asked else ()
        named = [self._policy(one, given, {policy.passage_id for policy in own}, checked) for one in given.policy]
        cited = [one for one in named if one is not None] or list(own)
        return tuple({one.passage_id: one for one in cited}.values())

    def _own_policies(self, asked: Check, given: DraftFinding) -> tuple[PolicyCitation, ...]:
        """Return the policies that the question rests on, each with its sentence nearest to the statement."""
        rates = rates_asked(asked, self.evidence)
        return tuple(
            nearest_sentence(
                one, self.evidence.policies[one.passage_id], f"{rates.words if rates else ''} {given.statement}"
            )
            for one in self.evidence.cite(asked.provisions)
        )

    def _policy(self, one: PolicyQuote, given: DraftFinding, own: set[str], checked: Checked) -> PolicyCitation | None:
        passage = self.labels.find(one.policy)
        if passage is None:
            checked.reasons.append(f"There is no policy passage {one.policy!r}. Cite a label that you were shown")
            return None
        reason = self._policy_reason(passage, one, given, own)
        if reason:
            checked.reasons.append(reason)
            return None
        claim = f"{given.requirement or ''} {given.statement}"
        citation = nearest_sentence(policy_citation(passage, claim), passage, claim)
        if one.words:
            citation = citation.model_copy(update={"quote": " ".join(one.words.split())})
        problem = policy_problem(citation, self.evidence)
        if problem:
            checked.reasons.append(problem)
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
                checked.reasons.append(f"The calculation {equation!r} does not hold: {error}")
        return tuple(made)

    def sources(self, finding: Finding, quotes: Sequence[Found]) -> list[str]:
        """Return the texts that the figures of a finding may come from."""
        texts = [place.document.text[place.start : place.end] for place in quotes]
        texts += [place.words for place in quotes]
        texts += [one.quote for one in finding.policy]
        texts += [one.document for one in finding.evidence]
        texts += [str(page) for one in finding.evidence for page in one.pages]
        profile = self.evidence.profile
        texts += [profile.proposal, *(f"{use.size or ''} {use.unit} {use.words}" for use in profile.uses)]
        return [*texts, finding.requirement]

    def _action_reasons(self, finding: Finding, sources: Sequence[str]) -> list[str]:
        texts = [*sources, finding.text, *(one.expression for one in finding.calculations)]
        reasons = []
        for name in ("recommendation", "condition"):
            demand = getattr(finding, name) or ""
            told = figure_reasons(demand, texts, finding.calculations, self.evidence)
            too_much = disproportionate(demand, self.evidence.profile)
            reasons += [f"{name}: {reason}" for reason in (*told, *([too_much] if too_much else []))]
        return reasons

    def _meaning_reasons(self, given: DraftFinding, asked: Check | None, quotes: Sequence[Found]) -> list[str]:
        if not quotes:
            return [
                "A finding needs the words that prove it. If the documents do not settle it, the outcome is not_shown"
            ]
        if given.outcome == "contradicted":
            return _both_sides(given, quotes)
        return [*self._status_reasons(given, asked, quotes), *absence_reasons(given, quotes)]

    def _status_reasons(self, given: DraftFinding, asked: Check | None, quotes: Sequence[Found]) -> list[str]:
        """Return why the quoted words cannot bear the outcome: policy, another scheme's, a request, a mere possibility."""
        able = set(asked.statuses if asked else ()) | PROVISION
        allowed = able if given.outcome == "met" else able | _OPEN
        told = [self.told(place) for place in quotes]
        if any(not known or any(_bears(one, allowed, given.outcome) for one in known) for known in told):
            return []
        kinds = sorted({_described(one) for known in told for one in known})
        return [
            f"The words you quote are {' and '.join(kinds)}: they do not show what this scheme provides. "
            f"Quote what it proposes, change the outcome, or use not_shown"
        ]

    def _not_shown(self, given: DraftFinding, asked: Check | None, checked: Checked) -> Checked:
        """Check an absence: it was looked for, and neither a fact nor an unread page answers it."""
        if not given.looked_for:
            checked.reasons.append("not_shown needs `looked_for`: the words that you searched for")
        self.quotes(given.evidence, checked)
        said = self._answers(asked)
        if said:
            quoted = "; ".join(
                f"{self.sheets.label_of(f.source.document_id)} page {f.source.page}: “{f.source.quote[:160]}”"
                for f in said[:2]
            )
            checked.reasons.append(f"The documents do speak of it: {quoted}. Judge what they say")
        for words in given.looked_for:
            unread = [
                hit for hit in self.lookup.search(words, 4) if hit.score >= CLEAR_HIT and _key(hit) not in self.read
            ]
            if unread:
                checked.reasons.append(f"You have not read {_shown(unread[0])}")
        if not checked.reasons:
            checked.open_point = not_shown_point(self.evidence, asked, given, self._places(given, asked))
        return checked

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

    def _places(self, given: DraftFinding, asked: Check | None) -> tuple[Place, ...]:
        if asked is not None:
            return places(fact for fact in self.evidence.facts if fact.topic in asked.topics)
        hits = [hit for words in given.looked_for for hit in self.lookup.search(words, 2) if hit.score >= CLEAR_HIT]
        return tuple(
            Place(document=hit.document, document_id=self.sheets.labels[hit.label].id, pages=(hit.page,))
            for hit in hits
            if hit.page is not None
        )


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
        policy=policies if outcome != "contradicted" else (),
        calculations=calculations,
        recommendation=_plain_or_none(given.recommendation) if wanting else None,
        condition=_plain_or_none(given.condition) if wanting else None,
    )


def _cited(place: Found, outcome: Outcome, told: Sequence[Told]) -> Citation:
    citation = place.citation(outcome)
    return citation.model_copy(update={"status": told[0].status, "speaker": told[0].speaker}) if told else citation


def _bears(told: Told, allowed: set[Status], outcome: str) -> bool:
    if outcome == "failed":
        return told.status not in _OTHERS
    return told.status in allowed and (told.speaker in SPEAKERS or outcome != "met")


def _described(told: Told) -> str:
    if told.status == "policy":
        return "policy"
    return f"{told.status.replace('_', ' ')} (said by the {told.speaker})"


def _both_sides(given: DraftFinding, quotes: Sequence[Found]) -> list[str]:
    distinct = {(place.document.id, place.start) for place in quotes}
    if len(distinct) > 1 or given.calculations:
        return []
    return ["A contradiction needs both of its sides: two quotations, or one and the calculation that it fails"]


def _key(hit: Hit) -> str:
    return f"{hit.label}:{hit.page or 0}"


def _shown(hit: Hit) -> str:
    where = f"{hit.label} page {hit.page}" if hit.page is not None else hit.label
    return f"{where}: “{hit.text[:160]}”"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _plain_or_none(text: str | None) -> str | None:
    return _plain(text).rstrip(".") if text and text.strip() else None
