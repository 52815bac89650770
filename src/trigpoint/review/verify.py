"""Every claim and citation is checked before it leaves: the passage exists, belongs to this application or to the
revision in force, and contains the quoted words and the numbers. What fails is dropped and counted, never mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from trigpoint.review.evidence import Evidence, readable_ref, same_section
from trigpoint.review.findings import Citation, Finding, PolicyCitation
from trigpoint.review.numbers import DIGITS, number, numbers_in
from trigpoint.review.quantities import parse_quantities
from trigpoint.review.rating import NOT_ENOUGH, key_issue, rate, weightiest
from trigpoint.review.result import AspectReview, CitationCounts, Judgement
from trigpoint.review.sentences import fold

_NUMBER = re.compile(rf"(?<![\w.])(?:{DIGITS})")
_QUOTED = re.compile(r"[\u201c\"]([^\u201c\u201d\"]{4,})[\u201d\"]")
_NAMES = re.compile(
    r"\bLTN \d/\d+\b|\b(?:Table|Figure|Section|Chapter|Para(?:graph)?|Policy)s? [A-Z]*\s?\d[\d.\-]*", re.IGNORECASE
)


@dataclass
class CitationCount:
    """The contract's metadata.citations (R9)."""

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
    """The judgement without what cannot be proved, and the count of what was checked."""
    count = CitationCount()
    for reference in evidence.unresolved:
        count.take(f"policy reference does not resolve: {reference}")
    aspects = tuple(_verified_aspect(aspect, evidence, count, judgement.analyser) for aspect in judgement.aspects)
    return judgement.model_copy(update={"aspects": aspects}), count


def citation_problem(citation: Citation, evidence: Evidence) -> str | None:
    """Why a citation of the application does not hold, or None."""
    passage = evidence.passages.get(citation.passage_id)
    if passage is None:
        return f"no such passage: {citation.passage_id}"
    if passage.application_ref != evidence.application_ref:
        return f"passage {passage.id} belongs to application {passage.application_ref}"
    if (passage.document_id, passage.document) != (citation.document_id, citation.document):
        return f"passage {passage.id} is not in {citation.document}"
    if not citation.pages or not set(citation.pages) <= set(passage.pages):
        return f"passage {passage.id} is not on the pages {list(citation.pages)}"
    if not citation.quote.strip() or fold(citation.quote) not in fold(passage.text):
        return f"the quoted words are not in passage {passage.id}"
    return None


def policy_problem(citation: PolicyCitation, evidence: Evidence) -> str | None:
    """Why a citation of policy does not hold, or None."""
    passage = evidence.policies.get(citation.passage_id)
    if passage is None:
        return f"no such policy passage: {citation.passage_id}"
    in_force = evidence.in_force.get(passage.source)
    if passage.revision_id != in_force:
        return f"{passage.revision_id} was not in force on {evidence.effective_date}"
    if (citation.source, citation.revision_id) != (passage.source, passage.revision_id):
        return f"passage {passage.id} is not of {citation.revision_id}"
    if not same_section(citation.section_ref, passage.section_ref) or not passage.section_ref:
        return f"passage {passage.id} is not {citation.section_ref}"
    if citation.ref != readable_ref(passage.source, passage.section_ref):
        return f"reference {citation.ref} is not that of passage {passage.id}"
    if fold(citation.quote) not in fold(passage.text):
        return f"the quoted words are not in policy passage {passage.id}"
    return None


def unsupported(text: str, sources: Iterable[str], derived: Sequence[float] = ()) -> list[str]:
    """Numbers and quoted words of a text that none of its sources contains."""
    folded = [fold(source) for source in sources]
    known = {value for source in folded for value in _numbers_of_source(source)}
    sums = {value for value in derived if _is_sum(value, known)}
    plain = _NAMES.sub(" ", text)
    wrong = [found for found in _NUMBER.findall(plain) if number(found) not in known | sums]
    wrong += [quoted for quoted in _QUOTED.findall(text) if not any(fold(quoted) in source for source in folded)]
    return wrong


def _verified_aspect(aspect: AspectReview, evidence: Evidence, count: CitationCount, analyser: str) -> AspectReview:
    findings = tuple(_verified_finding(finding, evidence, count) for finding in aspect.findings)
    changed = any(after.outcome != before.outcome for before, after in zip(aspect.findings, findings, strict=True))
    proved = [finding for finding in findings if finding.outcome != "not_found"]
    rating, issue = aspect.rating, aspect.key_issue
    if analyser == "rules" and changed:
        rating = rate(findings)
        issue = key_issue(aspect.name, rating, findings)
    if analyser == "llm":
        sources = [text for finding in findings for text in sources_of(finding, evidence)]
        clean = not any(finding.outcome in ("failed", "contradicted") for finding in findings)
        if rating == "green" and not (proved and clean):
            rating = "amber"
        if proved and unsupported(issue, sources):
            issue = weightiest(proved)[0].text.rstrip(".")
    if not proved and (changed or analyser == "llm"):
        rating = "amber"
        issue = f"{NOT_ENOUGH}: the documents do not say enough about {aspect.name.lower()} to judge it"
    return aspect.model_copy(update={"findings": findings, "rating": rating, "key_issue": issue})


def _verified_finding(finding: Finding, evidence: Evidence, count: CitationCount) -> Finding:
    citations = tuple(one for one in finding.evidence if count.take(citation_problem(one, evidence)))
    policies = tuple(one for one in finding.policy if count.take(policy_problem(one, evidence)))
    kept = finding.model_copy(update={"evidence": citations, "policy": policies})
    if finding.outcome == "not_found":
        return kept
    if not citations:
        return _unproved(kept, "no passage proves it")
    wrong = unsupported(finding.text, sources_of(kept, evidence), finding.derived)
    if wrong:
        count.take(f"not in its passages: {', '.join(wrong)[:120]}")
        return _unproved(kept, f"not in its passages: {', '.join(wrong)[:120]}")
    return kept.model_copy(update=_without_invented_figures(kept, evidence, count))


def sources_of(finding: Finding, evidence: Evidence) -> list[str]:
    """The texts that a finding may draw on: its cited passages, and what its citations are called."""
    texts = [evidence.passages[one.passage_id].text for one in finding.evidence if one.passage_id in evidence.passages]
    texts += [evidence.policies[one.passage_id].text for one in finding.policy if one.passage_id in evidence.policies]
    texts += [one.document for one in finding.evidence]
    return texts if finding.check.startswith("model_") else [*texts, finding.requirement]


def _unproved(finding: Finding, why: str) -> Finding:
    return finding.model_copy(
        update={
            "outcome": "not_found",
            "text": f"A statement about this could not be verified and was left out: {finding.requirement}",
            "evidence": (),
            "derived": (),
            "flags": (*finding.flags, why),
        }
    )


def _without_invented_figures(finding: Finding, evidence: Evidence, count: CitationCount) -> dict[str, None]:
    """Recommendations and conditions of a model may use figures of its passages only. Ours are part of the checks."""
    if not finding.check.startswith("model_"):
        return {}
    sources = [passage.text for passage in evidence.policies.values()] + sources_of(finding, evidence)
    dropped: dict[str, None] = {}
    for name, text in (("recommendation", finding.recommendation), ("condition", finding.condition)):
        wrong = unsupported(text, sources) if text else []
        if wrong:
            count.take(f"{name} with figures from nowhere: {', '.join(wrong)[:120]}")
            dropped[name] = None
    return dropped


def _numbers_of_source(source: str) -> set[float]:
    return numbers_in(source) | {quantity.in_metres().value for quantity in parse_quantities(source)}


def _is_sum(value: float, known: set[float]) -> bool:
    numbers = sorted(one for one in known if 0 < one <= value)[-24:]
    return any(
        abs(sum(some) - value) < 1e-9 for size in range(2, 7) for some in combinations(numbers, min(size, len(numbers)))
    )
