"""From a verified judgement to the contract's review: summary, aspects, matrix, recommendations, conditions. Fields
beyond the contract (`findings` with their citations, `contradictions`) stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trigpoint.review.aspects import load_aspects
from trigpoint.review.findings import AspectJudgement, Citation, Finding, Judgement, PolicyCitation
from trigpoint.review.models import ReviewOptions
from trigpoint.review.rating import overall_rating, weightiest

_CORE = frozenset(aspect.id for aspect in load_aspects() if aspect.core)


def assemble_review(judgement: Judgement, options: ReviewOptions) -> dict[str, Any]:
    """The contract's `review`, without `full_markdown`, which is made of it."""
    judged = judgement.aspects
    findings = [finding for aspect in judged for finding in aspect.findings]
    return {
        "overall_rating": overall_rating(judged, _CORE),
        "summary": _summary(judged),
        "aspects": [_aspect(aspect) for aspect in judged],
        "policy_compliance": _matrix(findings) if options.include_policy_matrix else [],
        "recommendations": _unique(finding.recommendation for finding in _by_weight(findings)),
        "suggested_conditions": _conditions(findings) if options.include_suggested_conditions else [],
        "contradictions": [_finding(finding) for finding in findings if finding.outcome == "contradicted"],
    }


def revisions_used(judgement: Judgement) -> list[dict[str, str]]:
    """What was really cited (R7), by source."""
    cited = {
        (policy.source, policy.revision_id, policy.version_label)
        for aspect in judgement.aspects
        for finding in aspect.findings
        for policy in finding.policies
    }
    return [{"source": s, "revision_id": r, "version_label": label} for s, r, label in sorted(cited)]


def _aspect(aspect: AspectJudgement) -> dict[str, Any]:
    refs = _unique(policy.ref for finding in aspect.findings for policy in finding.policies)
    return {
        "id": aspect.id,
        "name": aspect.name,
        "rating": aspect.rating,
        "key_issue": aspect.key_issue,
        "detail": _detail(aspect),
        "policy_refs": refs,
        "findings": [_finding(finding) for finding in aspect.findings],
    }


def _detail(aspect: AspectJudgement) -> str:
    said = [_with_places(finding) for finding in aspect.findings if finding.outcome != "not_found"]
    missing = [
        f"{finding.text.rstrip('.')}."
        for finding in aspect.findings
        if finding.outcome == "not_found" and finding.essential
    ]
    return " ".join([*said, *missing])


def _with_places(finding: Finding) -> str:
    places = _unique(citation.place for citation in finding.citations)[:3]
    return f"{finding.text.rstrip('.')} ({'; '.join(places)})."


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check,
        "requirement": finding.requirement,
        "outcome": finding.outcome,
        "text": finding.text,
        "essential": finding.essential,
        "evidence": [_citation(citation) for citation in finding.citations],
        "policy": [_policy(policy) for policy in finding.policies],
        "flags": list(finding.flags),
    }


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "document": citation.document,
        "document_id": citation.document_id,
        "pages": list(citation.pages),
        "passage_id": citation.passage_id,
        "quote": citation.quote,
        "speaks": citation.speaks,
    }


def _policy(policy: PolicyCitation) -> dict[str, Any]:
    return policy.model_dump()


def _matrix(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for finding in findings:
        if not finding.policies or (finding.outcome == "not_found" and not finding.essential):
            continue
        policy = finding.policies[0]
        notes = (
            finding.text
            if finding.outcome != "not_found"
            else f"Not shown: {finding.text[0].lower()}{finding.text[1:]}"
        )
        row = {
            "requirement": finding.requirement,
            "policy_source": policy.source,
            "compliant": finding.outcome == "met",
            "notes": notes,
            "policy_ref": policy.ref,
            "revision_id": policy.revision_id,
            "outcome": finding.outcome,
        }
        rows.setdefault((finding.requirement, finding.text), row)
    return list(rows.values())


def _conditions(findings: Sequence[Finding]) -> list[str]:
    return _unique(finding.condition for finding in _by_weight(findings))


def _by_weight(findings: Sequence[Finding]) -> list[Finding]:
    """What matters most first; a gap in a point that is not essential asks for nothing."""
    wanting = [f for f in findings if f.outcome != "met" and (f.essential or f.outcome != "not_found")]
    return weightiest(wanting)


def _summary(judged: Sequence[AspectJudgement]) -> str:
    green = [aspect.name for aspect in judged if aspect.rating == "green"]
    unknown = [aspect.name for aspect in judged if not aspect.enough_evidence]
    short = [aspect for aspect in judged if aspect.rating != "green" and aspect.enough_evidence]
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


def _unique(texts: Any) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))
