"""The default analyser, without a model: a brief. It quotes what the documents say on each aspect next to what policy
asks, reports sums and contradictions, and judges only checks whose facts are certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trigpoint.reading.discrepancies import Discrepancy, DiscrepancyKind
from trigpoint.reading.vocabulary import aspects_of
from trigpoint.review.aspects import Aspect, Check
from trigpoint.review.citing import document_title
from trigpoint.review.consultees import recommendations
from trigpoint.review.evidence import Evidence, fold
from trigpoint.review.findings import Assessed, Calculation, Comparison, Finding, Measure, NotAssessed, Place
from trigpoint.review.not_seen import not_seen
from trigpoint.review.officers import officers_recommendation
from trigpoint.review.parking import by_standard
from trigpoint.review.quoting import asks, cite, cite_source, places, quotations, rates_asked
from trigpoint.review.rating import key_issue, rate
from trigpoint.review.result import AspectReview, Judgement
from trigpoint.review.titles import titles_of
from trigpoint.review.verdicts import CheckVerdict, Undecided, by_figure, by_statement, measure_of, open_facts
from trigpoint.review.wording import as_written, within_sentence

MOST_CITATIONS = 6
MOST_PAGES = 12

_WANTED_OF: dict[DiscrepancyKind, str] = {
    "sum": "Parts that add up to their total",
    "percentage": "Percentages that fit their figures",
    "rate": "Totals that follow from rate and number",
    "figures_differ": "One figure for one thing in all documents",
    "words_differ": "One account of one thing in all documents",
    "revisions_differ": "One revision of each drawing in all documents",
    "promise_without_condition": "Promises that a condition secures",
    "claim_against_shortfall": "Claims of compliance that the figures bear out",
}


def judge_by_rules(evidence: Evidence, aspects: Iterable[Aspect]) -> Judgement:
    """Write the brief of every aspect. The same evidence gives the same judgement, to the byte."""
    chosen = tuple(aspects)
    return Judgement(
        aspects=tuple(judge_aspect(evidence, aspect) for aspect in chosen),
        contradictions=general_contradictions(evidence),
        profile=evidence.profile,
        analyser="rules",
        model="rules",
        consultees=recommendations(evidence),
        officers=officers_recommendation(evidence),
        not_seen=not_seen(evidence),
        titles=titles_of(evidence.documents),
    )


def judge_aspect(evidence: Evidence, aspect: Aspect) -> AspectReview:
    """Judge what can be judged, name what cannot, and quote what is said."""
    findings: list[Finding] = []
    open_points: list[NotAssessed] = []
    asked = aspect.asked(evidence.profile)
    for check in asked:
        judged = judge_check(evidence, aspect, check)
        (findings if isinstance(judged, Finding) else open_points).append(judged)  # type: ignore[arg-type]
    found = (*findings, *contradictions(evidence, aspect))
    said = quotations(evidence, aspect)
    rating = rate(found, open_points)
    return AspectReview(
        id=aspect.id,
        name=aspect.name,
        rating=rating,
        key_issue=key_issue(aspect.name, rating, found, open_points, said, applies=bool(asked)),
        findings=found,
        assessed=assessed(found, open_points),
        not_assessed=tuple(open_points),
        applies=bool(asked) or bool(said),
        asks=asks(evidence, aspect) if asked else (),
        says=said,
    )


def assessed(findings: Sequence[object], open_points: Sequence[NotAssessed]) -> Assessed:
    """Return whether every essential check was judged, some point was, or none."""
    if not findings:
        return "no"
    return "partly" if any(one.essential for one in open_points) else "yes"


def judge_check(evidence: Evidence, aspect: Aspect, check: Check) -> Finding | NotAssessed:
    """Judge one check, or say why it is not judged and which pages to look at."""
    if aspect.fits(check, evidence.profile) == "unknown":
        return _not_assessed(
            evidence, check, Undecided("We could not tell whether this is asked of such a development")
        )
    if not evidence.cite(check.provisions):
        reason = f"No policy in force on {evidence.effective_date} that was available could be cited for it"
        return _not_assessed(evidence, check, Undecided(reason))
    verdict = _verdict(evidence, check)
    if isinstance(verdict, Undecided):
        return _not_assessed(evidence, check, verdict)
    return _finding(evidence, aspect, check, verdict)


def _verdict(evidence: Evidence, check: Check) -> CheckVerdict | Undecided:
    match check.judged_by:
        case "standard":
            return by_standard(check, evidence)
        case "figure":
            return by_figure(check, evidence)
        case "statement":
            return by_statement(check, evidence)
        case "person":
            return Undecided("")


def _finding(evidence: Evidence, aspect: Aspect, check: Check, verdict: CheckVerdict) -> Finding:
    words = {"met": check.words.met, "partly": check.words.partly or check.words.failed, "failed": check.words.failed}
    filled = {"value": verdict.value, "standard": verdict.standard}
    wanting = verdict.outcome != "met"
    return Finding(
        check=f"{aspect.id}.{check.id}",
        requirement=check.requirement,
        outcome=verdict.outcome,
        text=(words[verdict.outcome] or check.requirement).format(**filled),
        essential=check.essential,
        short=check.short,
        evidence=tuple(dict.fromkeys(cite(fact, verdict.outcome) for fact in verdict.facts))[:MOST_CITATIONS],
        policy=evidence.cite(check.provisions, rates_asked(check, evidence)),
        flags=verdict.remarks,
        calculations=verdict.calculations,
        comparison=verdict.comparison,
        recommendation=check.recommendation.format(**filled) if wanting and check.recommendation else None,
        condition=check.condition.format(**filled) if wanting and check.condition else None,
    )


def _not_assessed(evidence: Evidence, check: Check, undecided: Undecided) -> NotAssessed:
    reason, where, request = _why_not_judged(evidence, check, undecided)
    return NotAssessed(
        check=check.id,
        requirement=check.requirement,
        essential=check.essential,
        reason=reason,
        places=where,
        request=request,
        policy=tuple(policy.ref for policy in evidence.cite(check.provisions)),
    )


def _why_not_judged(
    evidence: Evidence, check: Check, undecided: Undecided
) -> tuple[str, tuple[Place, ...], str | None]:
    """Return why a check was not judged, where to look, and what may be asked of the applicant.

    Absence is only told if no page has a word of the subject.
    """
    on_topic = [fact for fact in evidence.facts if fact.topic in check.topics]
    if undecided.reason:
        return f"{undecided.reason}.", places(undecided.facts or on_topic), None
    if left := open_facts(check, evidence):
        reason = "The documents leave it open: to a condition, an illustration or a later approval."
        return reason, places(left), f"Settle before the decision: {within_sentence(check.requirement)}"
    if on_topic:
        return (
            "The documents speak of it, and it is for you to judge.",
            places(on_topic),
            None,
        )
    if mentioned := _mentions(evidence, check):
        return f"We could not read a statement of {check.words.subject}; these pages may mention it.", mentioned, None
    pages = f"the {evidence.pages_read} pages" if evidence.pages_read != 1 else "the one page"
    request = f"Show {check.words.subject}" if check.show else None
    return f"We found no statement of {check.words.subject} in {pages} we could read.", (), request


def _mentions(evidence: Evidence, check: Check) -> tuple[Place, ...]:
    """Return the first pages on which a word of the subject occurs."""
    wanted = [fold(word) for word in check.mentions]
    by_document: dict[tuple[str, str], list[int]] = {}
    for document, number, text in evidence.words_by_page:
        if any(_has_word(text, word) for word in wanted):
            by_document.setdefault((document.name, document.id), []).extend([number] if number is not None else [])
    return tuple(
        Place(document=name, document_id=document_id, pages=tuple(pages[:MOST_PAGES]))
        for (name, document_id), pages in sorted(by_document.items())
    )


def _has_word(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        if not text[at - 1].isalnum() and not text[at + len(word)].isalnum():
            return True
        at = text.find(word, at + 1)
    return False


def contradictions(evidence: Evidence, aspect: Aspect) -> tuple[Finding, ...]:
    """Return the discrepancies on topics of the aspect, as findings that need no policy."""
    own = [one for one in evidence.discrepancies if aspects_of(one.topic)[:1] == (aspect.id,)]
    return tuple(_contradiction(one) for one in own)


def general_contradictions(evidence: Evidence) -> tuple[Finding, ...]:
    """Return the discrepancies that belong to no aspect, such as two numbers of homes."""
    return tuple(_contradiction(one) for one in evidence.discrepancies if not aspects_of(one.topic))


def _expression(one: Discrepancy) -> str:
    """Return the calculation, with the difference of a sum, so that every figure of the summary is worked out."""
    if one.kind != "sum" or one.stated is None or one.computed is None:
        return one.calculation
    more, less = max(one.stated, one.computed), min(one.stated, one.computed)
    return f"{one.calculation}; {as_written(more)} - {as_written(less)} = {as_written(more - less)}"


def _contradiction(one: Discrepancy) -> Finding:
    known = tuple(given.value for given in one.inputs if given.value is not None)
    computed = one.computed if one.computed is not None else one.stated
    subject = _subject_of_discrepancy(one)
    summary = f"{one.summary[0].lower()}{one.summary[1:].rstrip('.')}"
    calculation = Calculation(expression=_expression(one), inputs=known, result=computed or 0.0)
    return Finding(
        check=one.kind,
        requirement=_WANTED_OF.get(one.kind, "Statements that agree with each other"),
        outcome="contradicted",
        text=f"{subject}: {summary}",
        short=subject,
        evidence=tuple(dict.fromkeys(cite_source(given.source, "contradicted") for given in one.inputs)),
        calculations=(calculation,) if one.calculation else (),
        comparison=_compared(one),
        recommendation=f"Say which is right on {within_sentence(subject)}, and correct the documents",
    )


def _subject_of_discrepancy(one: Discrepancy) -> str:
    """Return what a discrepancy is about: of a sum the place, since a table may be of something else than its topic."""
    if one.kind != "sum":
        return one.topic.replace(".", ", ").replace("_", " ").capitalize()
    source = one.inputs[0].source
    page = f", page {source.page}" if source.page else ""
    return f"A sum in {document_title(source.document)}{page}"


def _compared(one: Discrepancy) -> Comparison | None:
    """Return the figures that do not agree: those stated in two places, or the one stated and the one worked out."""
    stated = [(given, given.value) for given in one.inputs if given.value is not None]
    units = {given.unit for given, _ in stated}
    if one.kind == "figures_differ" and len(units) == 1:
        measures = [measure_of(given.source, value, _with_unit(value, given.unit)) for given, value in stated]
        return Comparison(measures=tuple(dict.fromkeys(measures)))
    if one.stated is None or one.computed is None:
        return None
    figures = (("Stated", one.stated), ("Worked out", one.computed))
    return Comparison(measures=tuple(Measure(label=name, value=v, shown=as_written(v)) for name, v in figures))


def _with_unit(value: float, unit: str) -> str:
    return f"{as_written(value)} {unit}".strip() if unit != "%" else f"{as_written(value)}%"
