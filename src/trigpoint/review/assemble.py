"""Assemble a verified judgement into the contract's review: summary, aspects, matrix, recommendations, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trigpoint.review.aspects import load_aspects
from trigpoint.review.findings import Assessed, Finding
from trigpoint.review.models import ReviewOptions
from trigpoint.review.rating import overall_rating, weightiest
from trigpoint.review.result import AspectReview, ComplianceRow, Judgement, ReviewBody, RevisionUsed

_CORE = frozenset(aspect.id for aspect in load_aspects() if aspect.core)


def assemble_review(judgement: Judgement, options: ReviewOptions) -> ReviewBody:
    """Return the review without `full_markdown`, which is rendered from it."""
    judged = judgement.aspects
    findings = [finding for aspect in judged for finding in aspect.findings]
    return ReviewBody(
        overall_rating=overall_rating(judged, _CORE),
        summary=_summary(judged),
        aspects=tuple(_complete(aspect) for aspect in judged),
        policy_compliance=_matrix(findings) if options.include_policy_matrix else (),
        recommendations=_unique(finding.recommendation for finding in _by_weight(findings)),
        suggested_conditions=_conditions(findings) if options.include_suggested_conditions else (),
        contradictions=tuple(finding for finding in findings if finding.outcome == "contradicted"),
        assessed=_assessed(judged),
    )


def revisions_used(judgement: Judgement) -> tuple[RevisionUsed, ...]:
    """Return the revisions that findings cite, by source."""
    cited = {
        (policy.source, policy.revision_id, policy.version_label)
        for aspect in judgement.aspects
        for finding in aspect.findings
        for policy in finding.policy
    }
    return tuple(RevisionUsed(source=s, revision_id=r, version_label=label) for s, r, label in sorted(cited))


def _assessed(judged: Sequence[AspectReview]) -> Assessed:
    weighing = [aspect for aspect in judged if aspect.id in _CORE] or list(judged)
    if all(aspect.assessed == "no" for aspect in weighing):
        return "no"
    return "yes" if all(aspect.assessed == "yes" for aspect in judged) else "partly"


def _complete(aspect: AspectReview) -> AspectReview:
    refs = _unique(policy.ref for finding in aspect.findings for policy in finding.policy)
    return aspect.model_copy(update={"detail": _detail(aspect), "policy_refs": refs})


def _detail(aspect: AspectReview) -> str:
    said = [_with_places(finding) for finding in aspect.findings if finding.outcome != "not_found"]
    missing = [
        f"{finding.text.rstrip('.')}."
        for finding in aspect.findings
        if finding.outcome == "not_found" and finding.essential
    ]
    return " ".join([*said, *missing])


def _with_places(finding: Finding) -> str:
    places = _unique(citation.place for citation in finding.evidence)[:3]
    return f"{finding.text.rstrip('.')} ({'; '.join(places)})."


def _matrix(findings: Sequence[Finding]) -> tuple[ComplianceRow, ...]:
    rows: dict[tuple[str, str], ComplianceRow] = {}
    for finding in findings:
        if finding.policy and (finding.outcome != "not_found" or finding.essential):
            rows.setdefault((finding.requirement, finding.text), _row(finding))
    return tuple(rows.values())


def _row(finding: Finding) -> ComplianceRow:
    policy = finding.policy[0]
    return ComplianceRow(
        requirement=finding.requirement,
        policy_source=policy.source,
        compliant=finding.outcome == "met",
        notes=finding.text,
        policy_ref=policy.ref,
        revision_id=policy.revision_id,
        outcome=finding.outcome,
    )


def _conditions(findings: Sequence[Finding]) -> tuple[str, ...]:
    return _unique(finding.condition for finding in _by_weight(findings))


def _by_weight(findings: Sequence[Finding]) -> list[Finding]:
    """Order what is wanting by weight; a gap in a point that is not essential asks for nothing."""
    wanting = [f for f in findings if f.outcome != "met" and (f.essential or f.outcome != "not_found")]
    return weightiest(wanting)


def _summary(judged: Sequence[AspectReview]) -> str:
    green = [aspect.name for aspect in judged if aspect.rating == "green"]
    unknown = [aspect.name for aspect in judged if aspect.assessed == "no"]
    short = [aspect for aspect in judged if aspect.rating != "green" and aspect.assessed != "no"]
    sentences = []
    if len(green) == len(judged):
        sentences.append(f"The application meets the standards in every aspect that was reviewed: {_listed(green)}.")
    elif green:
        sentences.append(f"The application meets the standards on {_listed(green)}.")
    worst = sorted(short, key=lambda aspect: (aspect.rating != "red", aspect.id not in _CORE))[:3]
    if worst:
        sentences.append("The main issues: " + "; ".join(f"{a.name}: {_lower(a.key_issue)}" for a in worst) + ".")
    rest = len(short) - len(worst)
    if rest:
        sentences.append(f"{rest} more {'aspect falls' if rest == 1 else 'aspects fall'} short.")
    contradictions = sum(finding.outcome == "contradicted" for aspect in judged for finding in aspect.findings)
    if contradictions:
        sentences.append(
            f"The documents contradict themselves {'once' if contradictions == 1 else f'{contradictions} times'}."
        )
    if unknown:
        sentences.append(f"There is not enough evidence to judge {_listed(unknown)}.")
    return " ".join(sentences)


def _listed(names: Sequence[str]) -> str:
    lower = [name.lower() for name in names]
    return lower[0] if len(lower) == 1 else f"{', '.join(lower[:-1])} and {lower[-1]}"


def _lower(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text if len(first) > 1 and first.isupper() else f"{text[0].lower()}{text[1:]}"


def _unique(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
