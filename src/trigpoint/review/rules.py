"""The default analyser: deterministic, with no key and no network. Sentences and table rows of the evidence against
the patterns and thresholds of the checks; what is not found is reported as not found, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trigpoint.review.aspects import Aspect, Bounds, Check, QuantityRule
from trigpoint.review.contradictions import find_contradictions
from trigpoint.review.denials import is_said
from trigpoint.review.evidence import SHORT_NAMES, Evidence, Statement
from trigpoint.review.findings import Finding, Outcome, PolicyCitation
from trigpoint.review.matching import (
    cite,
    in_terms_of,
    is_deferred,
    policies_of,
    quantities_at,
    said,
    show,
    speaks_of,
)
from trigpoint.review.quantities import Quantity
from trigpoint.review.rating import NO_POLICY, SEVERITY, key_issue, rate
from trigpoint.review.result import AspectReview, Judgement

MOST_CITATIONS = 6

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class _Hit:
    """A statement that speaks to a check, and for a quantity what it was held against."""

    statement: Statement
    outcome: Outcome
    quantity: Quantity | None = None
    bounds: Bounds | None = None


def judge_by_rules(evidence: Evidence, aspects: Iterable[Aspect]) -> Judgement:
    """Judge every aspect. The same evidence gives the same judgement, to the byte."""
    judged = tuple(judge_aspect(evidence, aspect) for aspect in aspects)
    return Judgement(aspects=judged, analyser="rules", model="rules")


def judge_aspect(evidence: Evidence, aspect: Aspect) -> AspectReview:
    checked = [_check(evidence, aspect, check) for check in aspect.checks]
    findings = (*checked, *find_contradictions(evidence, aspect))
    rating = rate(findings)
    issue = key_issue(aspect.name, rating, findings)
    return AspectReview(id=aspect.id, name=aspect.name, rating=rating, key_issue=issue, findings=findings)


def _check(evidence: Evidence, aspect: Aspect, check: Check) -> Finding:
    policies = policies_of(evidence, aspect, check.policy)
    if not policies_of(evidence, aspect, check.policy[:1] if check.quantity else check.policy):
        return _not_judged(evidence, check)
    hits = [hit for statement in evidence.statements for hit in _hits(check, statement)]
    outcome = _outcome(check, hits)
    telling = sorted(hits, key=lambda hit: (hit.outcome != outcome, SEVERITY[hit.outcome], _badness(check, hit)))
    telling = telling[:MOST_CITATIONS]
    citations = dict.fromkeys(cite(hit.statement, hit.outcome) for hit in telling)
    return Finding(
        check=check.id,
        requirement=check.requirement,
        outcome=outcome,
        text=_words(check, outcome, telling),
        essential=check.essential,
        short=check.short,
        evidence=tuple(citations),
        policy=policies,
        recommendation=None if outcome == "met" else _naming(check.recommendation, policies),
        condition=None if outcome == "met" or not check.condition else _naming(check.condition, policies),
    )


def _not_judged(evidence: Evidence, check: Check) -> Finding:
    """Nothing in force asks for it, or a figure's own source is not in force: it is neither met nor failed."""
    return Finding(
        check=check.id,
        requirement=check.requirement,
        outcome="not_found",
        text=f"Not judged, since no policy in force on {evidence.effective_date} could be cited: {check.requirement}",
        essential=check.essential,
        flags=(NO_POLICY,),
    )


def _naming(text: str, policies: Sequence[PolicyCitation]) -> str:
    """A text without its optional parts that name a policy which is not cited."""
    cited = [SHORT_NAMES.get(policy.source, policy.source) for policy in policies]
    return _OPTIONAL.sub(lambda part: part[1] if any(name in part[1] for name in cited) else "", text)


def _hits(check: Check, statement: Statement) -> list[_Hit]:
    text = statement.text
    if not speaks_of(statement, check):
        return []
    if said(check.failed, text):
        return [_Hit(statement, "failed", *_measured(check.quantity, text))]
    if said(check.partly, text):
        return [_Hit(statement, "partly", *_measured(check.quantity, text))]
    compared = _compared(check.quantity, statement) if check.quantity else []
    if compared:
        return compared
    affirmed = said(check.met, text)
    if affirmed is None:
        return []
    return [_Hit(statement, "failed" if not affirmed else "partly" if is_deferred(text) else "met")]


def _compared(rule: QuantityRule, statement: Statement) -> list[_Hit]:
    """Figures against their bounds. One that is denied ("not 3.0m wide") is a shortfall where it would have been enough."""
    hits = []
    for quantity, bounds in _bounded(rule, statement.text):
        outcome = _held_against(quantity, rule, bounds)
        stated = is_said(statement.text, quantity.start, quantity.end)
        if stated:
            hits.append(_Hit(statement, outcome, quantity, bounds))
        elif stated is False and outcome == "met":
            hits.append(_Hit(statement, "failed"))
    return hits


def _bounded(rule: QuantityRule, text: str) -> list[tuple[Quantity, Bounds]]:
    """The figures of a sentence that the rule has bounds for."""
    found = [in_terms_of(rule, quantity) for quantity in quantities_at(text, rule)]
    return [
        (quantity, rule.bounds[quantity.per or "once"])
        for quantity in found
        if (quantity.per or "once") in rule.bounds and rule.plausible[0] <= quantity.rate <= rule.plausible[1]
    ]


def _measured(rule: QuantityRule | None, text: str) -> tuple[Quantity | None, Bounds | None]:
    """The figure of a shortfall that is put in words: "scores 54% and has one critical fail"."""
    for quantity, bounds in _bounded(rule, text) if rule else []:
        if rule and quantity.limit is None and _held_against(quantity, rule, bounds) != "met":
            return quantity, bounds
    return None, None


def _held_against(quantity: Quantity, rule: QuantityRule, bounds: Bounds) -> Outcome:
    """What a figure is worth. The wrong end of a range counts, and what is "up to" a minimum does not meet it."""
    if rule.compare == "minimum":
        enough = [quantity.rate > b if quantity.limit == "below" else quantity.rate >= b for b in bounds.both]
        may_fall_short = quantity.limit in ("at most", "below")
    else:
        enough = [quantity.highest < b if quantity.limit == "above" else quantity.highest <= b for b in bounds.both]
        may_fall_short = quantity.limit in ("at least", "above")
    if enough[0]:
        return "partly" if may_fall_short else "met"
    return "partly" if enough[1] else "failed"


def _outcome(check: Check, hits: Sequence[_Hit]) -> Outcome:
    """The worst of what is said; statements that speak both ways count as the check says."""
    outcomes = {hit.outcome for hit in hits}
    if not outcomes:
        return "not_found"
    if {"met", "failed"} <= outcomes:
        return check.conflict
    return min(outcomes, key=lambda outcome: SEVERITY[outcome])


def _words(check: Check, outcome: Outcome, hits: Sequence[_Hit]) -> str:
    template = {
        "met": check.words.met,
        "partly": check.words.partly or check.words.failed,
        "failed": check.words.failed,
        "contradicted": check.words.partly or check.words.failed,
        "not_found": check.words.not_found,
    }[outcome]
    measured = [hit for hit in hits if hit.quantity is not None and hit.bounds is not None]
    if not measured or check.quantity is None:
        return _OPTIONAL.sub("", template)
    filled = _OPTIONAL.sub(r"\1", template)
    return filled.format(value=show(check.quantity.show, _telling(check.quantity, outcome, measured)))


def _badness(check: Check, hit: _Hit) -> float:
    """Among statements that speak the same way, the worst figure comes first."""
    if hit.quantity is None or check.quantity is None or hit.outcome == "met":
        return 0.0
    return hit.quantity.rate if check.quantity.compare == "minimum" else -hit.quantity.rate


def _telling(rule: QuantityRule, outcome: Outcome, hits: Sequence[_Hit]) -> Quantity:
    """The quantity that decides: the worst of those that have the finding's outcome."""
    of_outcome = [hit.quantity for hit in hits if hit.quantity is not None and hit.outcome == outcome]
    known = of_outcome or [hit.quantity for hit in hits if hit.quantity is not None]
    pick = min if rule.compare == "minimum" else max
    return pick(known, key=lambda quantity: quantity.rate)
