"""Every claim is checked against what it cites before it leaves: the words are on the page, the statement says what the
claim needs (subject, status, speaker, place), and its figures are stated or follow from stated ones. What fails is
dropped with everything that rests on it, and counted; it is never mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trigpoint.reading.facts import Fact
from trigpoint.reading.quantities import read_quantities
from trigpoint.review.arithmetic import holds
from trigpoint.review.aspects import Check, aspect
from trigpoint.review.evidence import Evidence, fold, readable_ref, same_section
from trigpoint.review.findings import (
    Assessed,
    Calculation,
    Citation,
    Finding,
    NotAssessed,
    PolicyAsk,
    PolicyCitation,
)
from trigpoint.review.officers import OfficersRecommendation
from trigpoint.review.rating import key_issue, rate
from trigpoint.review.result import AspectReview, CitationCounts, Judgement
from trigpoint.review.verdicts import SPEAKERS

_NUMBER = re.compile(r"(?<![\w.])[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|(?<![\w.])[0-9]+(?:\.[0-9]+)?")
_QUOTED = re.compile(r"[\u201c\"]([^\u201c\u201d\"]{4,})[\u201d\"]")
_NAMES = re.compile(
    r"\bLTN \d/\d+\b|\b(?:Table|Figure|Section|Chapter|Para(?:graph)?|Policy)s? [A-Z]*\s?\d[\d.\-]*", re.I
)


@dataclass
class CitationCount:
    """Counts what was checked, and keeps why something was dropped."""

    checked: int = 0
    verified: int = 0
    dropped: int = 0
    notes: list[str] = field(default_factory=list)

    def take(self, problem: str | None) -> bool:
        self.checked += 1
        if problem is None:
            self.verified += 1
            return True
        self.dropped += 1
        self.notes.append(problem)
        return False

    def counts(self) -> CitationCounts:
        return CitationCounts(checked=self.checked, verified=self.verified, dropped=self.dropped)


def verify(judgement: Judgement, evidence: Evidence) -> tuple[Judgement, CitationCount]:
    """Return the judgement without what cannot be proved, and the count of what was checked."""
    verifier = _Verifier(evidence)
    aspects = tuple(verifier.aspect(one) for one in judgement.aspects)
    general = tuple(kept for one in judgement.contradictions if (kept := verifier.proved(one)) is not None)
    changed = {"aspects": aspects, "contradictions": general, "officers": verifier.quoted(judgement.officers)}
    return judgement.model_copy(update=changed), verifier.count


class _Verifier:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.count = CitationCount()

    def aspect(self, one: AspectReview) -> AspectReview:
        """Return the aspect with the findings that hold, rated again if one was dropped."""
        quoted = tuple(q for q in one.says if self.count.take(citation_problem(q.citation, self.evidence)))
        asked = tuple(self._checked_ask(ask) for ask in one.asks)
        proved = [(finding, self.proved(finding)) for finding in one.findings]
        kept = [after for _, after in proved if after is not None]
        dropped = [before for before, after in proved if after is None]
        changed = one.model_copy(update={"says": quoted, "asks": asked, "findings": tuple(kept)})
        return _settled(changed, kept, dropped)

    def quoted(self, officers: OfficersRecommendation | None) -> OfficersRecommendation | None:
        """Return the officers' recommendation, if its words are where it says."""
        holds = officers is not None and self.count.take(citation_problem(officers.citation, self.evidence))
        return officers if holds else None

    def _checked_ask(self, ask: PolicyAsk) -> PolicyAsk:
        if ask.citation is None or self.count.take(policy_problem(ask.citation, self.evidence)):
            return ask
        return ask.model_copy(update={"citation": None})

    def proved(self, finding: Finding) -> Finding | None:
        """Return the finding with the citations that hold, or None if they do not prove it."""
        policies = tuple(one for one in finding.policy if self.count.take(policy_problem(one, self.evidence)))
        cited = tuple(one for one in finding.evidence if self._holds(finding, one))
        kept = finding.model_copy(update={"policy": policies, "evidence": cited})
        if not cited or (finding.outcome == "contradicted" and len(cited) < len(finding.evidence)):
            return None  # a contradiction needs both of its sides
        problem = None if is_from_draft(finding) else figures_problem(kept, self.evidence)
        if problem is None:
            return kept
        self.count.take(problem)
        return None

    def _holds(self, finding: Finding, citation: Citation) -> bool:
        problem = citation_problem(citation, self.evidence) or support_problem(finding, citation, self.evidence)
        return self.count.take(problem)


def is_from_draft(finding: Finding) -> bool:
    """Return whether a finding was handed in to a draft, which has already checked its figures and its meaning."""
    return "-" in finding.check


def citation_problem(citation: Citation, evidence: Evidence) -> str | None:
    """Return why the quoted words are not where the citation says, or None."""
    document = evidence.document_by_id.get(citation.document_id)
    span = _span(citation)
    if document is None or span is None or document.name != citation.document:
        return f"no such passage: {citation.passage_id}"
    pages = {page.number for page in document.pages if page.start < span[1] and span[0] < page.end}
    if not _says(document.text[span[0] : span[1]], citation.quote, turns_page=len(pages) > 1):
        return f"the quoted words are not at {citation.passage_id}"
    if not set(citation.pages) <= pages or (document.pages and not citation.pages):
        return f"{citation.passage_id} is not on page {list(citation.pages)}"
    return None


def _span(citation: Citation) -> tuple[int, int] | None:
    match = re.fullmatch(r"(.+):([0-9]+)-([0-9]+)", citation.passage_id)
    return (int(match[2]), int(match[3])) if match and match[1] == citation.document_id else None


def _says(text: str, quote: str, *, turns_page: bool) -> bool:
    """Return whether a text has exactly the quoted words. Only where the page turns may it have a running line between."""
    said, quoted = (fold(part.replace("|", " ")).split() for part in (text, quote))
    if not quoted or said == quoted:
        return bool(quoted)
    if not turns_page or " ".join(quoted) in " ".join(said):
        return " ".join(quoted) in " ".join(said)
    before = next((n for n, (one, other) in enumerate(zip(said, quoted, strict=False)) if one != other), len(quoted))
    return said[len(said) - (len(quoted) - before) :] == quoted[before:]


def support_problem(finding: Finding, citation: Citation, evidence: Evidence) -> str | None:
    """Return why the cited statement does not bear the claim: another subject, status, speaker or place. None: it does."""
    facts = _facts_of(citation, evidence)
    check = _check_of(finding)
    if finding.outcome == "contradicted" or check is None:
        return None  # two statements disagree whatever their status; a draft has looked at the meaning
    if any(_fits(check, finding, fact) for fact in facts):
        return None
    return f"{citation.passage_id} is no certain statement on {', '.join(check.topics)} that decides {check.id}"


def _facts_of(citation: Citation, evidence: Evidence) -> list[Fact]:
    """Return the facts of the statements in which the quoted words are."""
    span = _span(citation)
    return [
        fact
        for fact in evidence.facts
        if fact.source.document_id == citation.document_id and (fact.source.start, fact.source.end) == span
    ]


def _check_of(finding: Finding) -> Check | None:
    area, _, check_id = finding.check.partition(".")
    return aspect(area).check(check_id) if check_id else None


def _fits(check: Check, finding: Finding, fact: Fact) -> bool:
    wanted = ("rejected",) if finding.outcome == "failed" and check.judged_by == "statement" else check.statuses
    on_subject = fact.topic in check.topics and fact.speaker in SPEAKERS and fact.place != "other site"
    return on_subject and fact.is_certain and fact.status in wanted


def policy_problem(citation: PolicyCitation, evidence: Evidence) -> str | None:
    """Return why a citation of policy does not hold, or None."""
    passage = evidence.policies.get(citation.passage_id)
    if passage is None:
        return f"no such policy passage: {citation.passage_id}"
    if passage.revision_id != evidence.in_force.get(passage.source):
        return f"{passage.revision_id} was not in force on {evidence.effective_date}"
    if (citation.source, citation.revision_id) != (passage.source, passage.revision_id):
        return f"passage {passage.id} is not of {citation.revision_id}"
    if not same_section(citation.section_ref, passage.section_ref):
        return f"passage {passage.id} is not {citation.section_ref}"
    if citation.ref != readable_ref(passage.source, passage.section_ref):
        return f"reference {citation.ref} is not that of passage {passage.id}"
    if fold(citation.quote) not in fold(passage.text):
        return f"the quoted words are not in policy passage {passage.id}"
    return None


def figures_problem(finding: Finding, evidence: Evidence) -> str | None:
    """Return the figures of a finding that are neither stated in what it cites nor computed from it, or None."""
    sources = sources_of(finding, evidence)
    for calculation in finding.calculations:
        if not holds(calculation):
            return f"our arithmetic does not agree: {calculation.expression}"
        if finding.outcome == "contradicted" and (strange := _not_stated(calculation, sources)):
            return f"not stated in its passages: {strange:g}"
    computed = {number for one in finding.calculations for number in (*one.inputs, one.result)}
    computed |= {number for one in finding.calculations for number in figures_of(one.expression)}
    wrong = unsupported(finding.text, sources, computed)
    return f"not in its passages: {', '.join(wrong)[:120]}" if wrong else None


def _not_stated(calculation: Calculation, sources: Sequence[str]) -> float | None:
    """Return an input of a calculation that none of the cited statements gives, or None."""
    stated = {value for source in sources for value in numbers_of(fold(source))}
    return next((value for value in calculation.inputs if value not in stated), None)


def unsupported(text: str, sources: Iterable[str], computed: Iterable[float] = ()) -> list[str]:
    """Return the numbers and quoted words of a text that none of its sources contains."""
    folded = [fold(source) for source in sources]
    known = {value for source in folded for value in numbers_of(source)} | {round(one, 6) for one in computed}
    plain = _NAMES.sub(" ", text)
    wrong = [found for found in _NUMBER.findall(plain) if float(found.replace(",", "")) not in known]
    return [*wrong, *misquoted(text, folded)]


def misquoted(text: str, sources: Iterable[str]) -> list[str]:
    """Return the words that a text has in quotation marks and that none of its sources contains."""
    folded = [fold(source) for source in sources]
    return [quoted for quoted in _QUOTED.findall(text) if not any(fold(quoted) in source for source in folded)]


def numbers_of(source: str) -> set[float]:
    stated = {value for q in read_quantities(source) for value in (q.value, q.high, q.per_count) if value is not None}
    return stated | figures_of(source)


def figures_of(text: str) -> set[float]:
    return {float(found.replace(",", "")) for found in _NUMBER.findall(text)}


def sources_of(finding: Finding, evidence: Evidence) -> list[str]:
    """Return the texts that a finding may draw on: what it cites, and for our own checks their own words."""
    texts = [one.quote for one in finding.evidence]
    texts += [evidence.policies[one.passage_id].text for one in finding.policy if one.passage_id in evidence.policies]
    texts += [one.document for one in finding.evidence]
    texts += [str(page) for one in finding.evidence for page in one.pages]
    check = _check_of(finding)
    if check is None:
        return texts
    own = [words for words in (check.words.met, check.words.partly, check.words.failed) if words]
    return [*texts, finding.requirement, *own]


def _settled(one: AspectReview, kept: Sequence[Finding], dropped: Sequence[Finding]) -> AspectReview:
    """Return the aspect as it is without what was dropped: its rating, key issue and list of open points follow."""
    open_points = (
        *one.not_assessed,
        *(unproved(f.check, f.requirement, f.essential) for f in dropped if f.outcome != "contradicted"),
    )
    if not dropped:
        return one
    rating = rate((*kept, *one.elsewhere), open_points)
    issue = key_issue(one.name, rating, kept, open_points, one.says, applies=one.applies, elsewhere=one.elsewhere)
    state: Assessed = "partly" if any(point.essential for point in open_points) else "yes"
    if not kept and not one.elsewhere:
        state = "no"
    return one.model_copy(update={"rating": rating, "key_issue": issue, "assessed": state, "not_assessed": open_points})


def unproved(check: str, requirement: str, essential: bool) -> NotAssessed:
    """Return the open point that takes the place of a finding that was dropped."""
    return NotAssessed(
        check=check,
        requirement=requirement,
        essential=essential,
        reason="What was first found could not be proved from the page and was left out.",
    )
