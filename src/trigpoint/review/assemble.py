"""Assemble a verified judgement into the contract's review: summary, aspects, matrix, recommendations, conditions.
Everything is derived from the findings that are left, so that what verification dropped is nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

from trigpoint.review.aspects import load_aspects
from trigpoint.review.citing import document_place, document_title
from trigpoint.review.comparisons import with_comparisons
from trigpoint.review.conclusion import Conclusion
from trigpoint.review.findings import SHORTFALLS, Assessed, Finding, PolicyCitation
from trigpoint.review.models import ReviewOptions
from trigpoint.review.rating import key_issue, overall_rating, rate, weightiest
from trigpoint.review.result import AspectReview, ComplianceRow, DocumentCounts, Judgement, ReviewBody, RevisionUsed
from trigpoint.review.rules import assessed
from trigpoint.review.verify import is_from_draft, unproved
from trigpoint.review.wording import listed, within_sentence
from trigpoint.text.classify import DocumentClassifier

_CENTRAL = frozenset({"transport_assessment", "design_access_statement", "planning_statement", "site_plan"})
CORE = frozenset(aspect.id for aspect in load_aspects() if aspect.core)
BRIEF = (
    "This is a brief made by fixed rules, without a language model. It quotes what the documents say next to what policy "
    "asks, checks sums and figures against each other, and judges only what is certain; the rest is for you to judge. For "
    "a judged review set TRIGPOINT_MODEL and the key of its provider, or let your own agent judge over MCP."
)

MOST_RECOMMENDATIONS = 10
NO_PROVISION = "No provision cited"
_NAMES_ITS_SUBJECT = re.compile(r"[^.:]{3,60}: ")

RECORDED = (
    "The answers of the model in this review were recorded earlier and are replayed from a transcript. Reading, verification "
    "and everything that follows from them were done now."
)


def assemble_review(
    judgement: Judgement, options: ReviewOptions, documents: DocumentCounts | None = None
) -> ReviewBody:
    """Return the review without `full_markdown`, which is rendered from it."""
    judgement = with_comparisons(judgement)
    findings = [finding for aspect in judgement.aspects for finding in aspect.findings]
    judged = tuple(_without_lost_answers(aspect, {one.check for one in findings}) for aspect in judgement.aspects)
    contradicted = [finding for finding in findings if finding.outcome == "contradicted"]
    kept = {finding.check for finding in (*findings, *judgement.contradictions)}
    kept |= {point.id for aspect in judged for point in aspect.not_assessed if point.id}
    judged = tuple(_without_lost_limits(aspect, kept) for aspect in judged)
    conclusion = judgement.conclusion and judgement.conclusion.resting_on(kept)
    return ReviewBody(
        overall_rating=overall_rating(judged, CORE),
        summary=_summary(judgement, conclusion, documents),
        aspects=tuple(_complete(aspect) for aspect in judged),
        policy_compliance=compliance_rows(findings) if options.include_policy_matrix else (),
        recommendations=_recommendations(findings, conclusion),
        suggested_conditions=_conditions(findings, conclusion) if options.include_suggested_conditions else (),
        contradictions=(*contradicted, *judgement.contradictions),
        assessed=_assessed(judged),
        notice=_notice(judgement),
        profile=judgement.profile,
        letter=judgement.letter and judgement.letter.resting_on(kept),
        conclusion=conclusion,
        consultees=judgement.consultees,
        officers=judgement.officers,
        not_seen=judgement.not_seen,
        titles=judgement.titles,
    )


def _without_lost_answers(aspect: AspectReview, kept: Set[str]) -> AspectReview:
    """Return an aspect with the questions that a finding answered which verification dropped as open points."""
    lost = [one for one in aspect.elsewhere if one.finding not in kept]
    if not lost:
        return aspect
    answers = tuple(one for one in aspect.elsewhere if one.finding in kept)
    open_points = (*aspect.not_assessed, *(unproved(one.finding, one.requirement, one.essential) for one in lost))
    rating = rate((*aspect.findings, *answers), open_points)
    issue = key_issue(
        aspect.name, rating, aspect.findings, open_points, aspect.says, applies=aspect.applies, elsewhere=answers
    )
    changed = {
        "elsewhere": answers,
        "not_assessed": open_points,
        "rating": rating,
        "key_issue": issue,
        "assessed": assessed((*aspect.findings, *answers), open_points),
    }
    return aspect.model_copy(update=changed)


def _without_lost_limits(aspect: AspectReview, kept: Set[str]) -> AspectReview:
    """Return an aspect whose findings name no limit that verification dropped."""
    findings = tuple(
        one.model_copy(update={"limits": tuple(limit for limit in one.limits if limit.point in kept)})
        for one in aspect.findings
    )
    return aspect.model_copy(update={"findings": findings})


def _notice(judgement: Judgement) -> str:
    if judgement.analyser == "rules":
        return BRIEF
    return RECORDED if judgement.model.startswith("replay:") else ""


def revisions_used(judgement: Judgement) -> tuple[RevisionUsed, ...]:
    """Return the revisions that are cited, by source."""
    policies = [policy for aspect in judgement.aspects for finding in aspect.findings for policy in finding.policy]
    policies += [ask.citation for aspect in judgement.aspects for ask in aspect.asks if ask.citation is not None]
    cited = {(policy.source, policy.revision_id, policy.version_label) for policy in policies}
    return tuple(RevisionUsed(source=s, revision_id=r, version_label=label) for s, r, label in sorted(cited))


def _assessed(judged: Sequence[AspectReview]) -> Assessed:
    asked = [aspect for aspect in judged if aspect.applies]
    weighing = [aspect for aspect in asked if aspect.id in CORE] or asked
    if all(aspect.assessed == "no" for aspect in weighing):
        return "no"
    return "yes" if all(aspect.assessed == "yes" for aspect in asked) else "partly"


def _complete(aspect: AspectReview) -> AspectReview:
    cited = [policy.ref for finding in aspect.findings for policy in finding.policy]
    cited += [ask.citation.ref for ask in aspect.asks if ask.citation is not None]
    return aspect.model_copy(update={"detail": _detail(aspect), "policy_refs": _unique(cited)})


def _detail(aspect: AspectReview) -> str:
    said = [_with_places(finding) for finding in aspect.findings]
    essential = [point for point in aspect.not_assessed if point.essential]
    left = [f"Not assessed: {within_sentence(point.requirement.rstrip('.'))}. {point.reason}" for point in essential]
    return " ".join([*said, *left])


def _with_places(finding: Finding) -> str:
    places = _unique(citation.place for citation in finding.evidence)[:3]
    return f"{finding.text.rstrip('.')} ({'; '.join(places)})."


def compliance_rows(findings: Sequence[Finding]) -> tuple[ComplianceRow, ...]:
    """Return the policy matrix: a row for each finding that is measured, or falls short."""
    rows: dict[tuple[str, str], ComplianceRow] = {}
    for finding in findings:
        if _has_row(finding):
            rows.setdefault((finding.requirement, finding.text), _row(finding))
    return tuple(rows.values())


def _has_row(finding: Finding) -> bool:
    """Whether a finding is in the matrix: what is measured by something, and every shortfall and contradiction that was judged."""
    judged_short = finding.outcome in SHORTFALLS and is_from_draft(finding)
    return bool(finding.standard or finding.policy or judged_short)


def _row(finding: Finding) -> ComplianceRow:
    """Return a row that names what the finding is measured by: a standard that a document quotes, a policy, or none."""
    row = ComplianceRow(
        requirement=finding.requirement,
        policy_source="",
        compliant=finding.outcome == "met",
        notes=finding.text,
        outcome=finding.outcome,
    )
    if finding.standard is not None:
        quoted, place = document_title(finding.standard.document), document_place(finding.standard)
        named = {"policy_source": f"Standard quoted in {quoted}", "policy_ref": f"Standard quoted in {place}"}
        return row.model_copy(update=named)
    if not finding.policy:
        return row.model_copy(update={"policy_source": NO_PROVISION})
    policy = _measured_by(finding)
    named = {"policy_source": policy.source, "policy_ref": policy.ref, "revision_id": policy.revision_id}
    return row.model_copy(update=named)


def _measured_by(finding: Finding) -> PolicyCitation:
    """Return the policy that a finding names, or else the first one whose words are quoted for it."""
    named = [one for one in finding.policy if one.section_ref and one.section_ref.casefold() in finding.text.casefold()]
    worded = [one for one in finding.policy if one.quote]
    return (*named, *worded, *finding.policy)[0]


def _recommendations(findings: Sequence[Finding], conclusion: Conclusion | None) -> tuple[str, ...]:
    """Return the recommendations of the conclusion, or else those of the findings in order of weight."""
    if conclusion is not None and conclusion.recommendations:
        return _unique(one.text for one in conclusion.recommendations)
    return _unique(finding.recommendation for finding in _by_weight(findings))[:MOST_RECOMMENDATIONS]


def _conditions(findings: Sequence[Finding], conclusion: Conclusion | None) -> tuple[str, ...]:
    if conclusion is not None and conclusion.conditions:
        return _unique(one.text for one in conclusion.conditions)
    return _unique(finding.condition for finding in _by_weight(findings))[:MOST_RECOMMENDATIONS]


def _by_weight(findings: Sequence[Finding]) -> list[Finding]:
    return weightiest([finding for finding in findings if finding.outcome not in ("met", "not_found")])


def _summary(judgement: Judgement, conclusion: Conclusion | None, documents: DocumentCounts | None) -> str:
    if conclusion is not None and conclusion.summary:
        parts = [one.text for one in conclusion.summary]
        read = [judgement.quality.reading()] if judgement.quality and judgement.quality.pages else []
        return " ".join([*_kept_back(documents), *parts, *judgement.remarks, *read, *_unread(documents)])
    judged = [aspect for aspect in judgement.aspects if aspect.applies]
    parts = [*_state(judged), *_good(judged), *_short(judged), *_contradicted(judgement), *_open(judged)]
    return " ".join([*_kept_back(documents), *parts, *judgement.remarks, *_unread(documents)])


def _kept_back(documents: DocumentCounts | None) -> list[str]:
    """Say first which documents a fault of ours kept from being read, and how much of the evidence they are."""
    missing = [one.name for one in documents.unread if one.fault] if documents is not None else []
    if documents is None or not missing:
        return []
    kinds = [DocumentClassifier().classify(name, "").document_type for name in missing]
    central = [name for name, kind in zip(missing, kinds, strict=True) if kind in _CENTRAL]
    weight = (
        f"Much of what is looked for is usually in {', '.join(central)}: do not rely on this review until it has been "
        "repeated."
        if central
        else "What they say is missing from this review."
    )
    total = documents.ingested + documents.skipped + documents.failed
    return [
        f"{len(missing)} of {total} documents could not be read because of a fault in Trigpoint: {', '.join(missing)}. {weight}"
    ]


def _state(judged: Sequence[AspectReview]) -> list[str]:
    core = [aspect for aspect in judged if aspect.id in CORE]
    if not judged:
        return ["Nothing that this review looks at is asked of a development of this kind and size."]
    known = [aspect.name for aspect in core if aspect.assessed != "no"]
    if core and not known:
        return [
            f"None of the core aspects ({_lower_listed(one.name for one in core)}) could be assessed by rules alone."
        ]
    if len(known) < len(core):
        return [f"Of the core aspects only {_lower_listed(known)} could be assessed, at least in part."]
    return []


def _good(judged: Sequence[AspectReview]) -> list[str]:
    green = [aspect.name for aspect in judged if aspect.rating == "green" and aspect.assessed != "no"]
    return [f"The application meets what was checked on {_lower_listed(green)}."] if green else []


def _short(judged: Sequence[AspectReview]) -> list[str]:
    wanting = [aspect for aspect in judged if aspect.assessed != "no" and _shortfalls(aspect)]
    worst = sorted(wanting, key=lambda aspect: (aspect.rating != "red", aspect.id not in CORE))[:3]
    if not worst:
        return []
    issues = "; ".join(f"{a.name}: {within_sentence(weightiest(_shortfalls(a))[0].text.rstrip('.'))}" for a in worst)
    rest = len(wanting) - len(worst)
    if not rest:
        return [f"The main issues: {issues}."]
    fall = "aspect falls" if rest == 1 else "aspects fall"
    return [f"The main issues: {issues}.", f"{rest} more {fall} short."]


def _shortfalls(aspect: AspectReview) -> list[Finding]:
    return [finding for finding in aspect.findings if finding.outcome in ("failed", "partly")]


def _contradicted(judgement: Judgement) -> list[str]:
    found = [f for aspect in judgement.aspects for f in aspect.findings if f.outcome == "contradicted"]
    found += judgement.contradictions
    if not found:
        return []
    number = "one place" if len(found) == 1 else f"{len(found)} places"
    first = within_sentence(weightiest(found)[0].text.rstrip("."))
    on = " on" if _NAMES_ITS_SUBJECT.match(first) else ":"
    example = ", for instance" if len(found) > 1 else ""
    return [f"The documents contradict themselves in {number}{example}{on} {first}."]


def _open(judged: Sequence[AspectReview]) -> list[str]:
    left = [aspect for aspect in judged if aspect.assessed == "no" and aspect.says]
    silent = [aspect.name for aspect in judged if aspect.assessed == "no" and not aspect.says]
    quoted = sum(len(aspect.says) for aspect in left)
    sentences = []
    if left:
        names = _lower_listed(aspect.name for aspect in left)
        number = "One statement is" if quoted == 1 else f"{quoted} statements are"
        sentences.append(f"{number} quoted, for you to judge, on {names}.")
    if silent:
        sentences.append(f"We could not read a statement on {_lower_listed(silent)}.")
    return sentences


def _unread(documents: DocumentCounts | None) -> list[str]:
    """Name the documents that could not be had or read, counted against all that the register lists."""
    if documents is None:
        return []
    sentences = []
    if documents.download_failed:
        names = f": {', '.join(documents.not_fetched)}" if documents.not_fetched else ""
        sentences.append(
            f"{documents.download_failed} of the {documents.listed} documents that the register lists could not be "
            f"downloaded{names}."
        )
    if documents.not_read:
        named = ", ".join(documents.not_read[:5])
        more = f" and {len(documents.not_read) - 5} more" if len(documents.not_read) > 5 else ""
        sentences.append(f"Not read, because no text was found: {named}{more}.")
    damaged = [f"{one.name} ({one.reason.rstrip('.')})" for one in documents.unread if not one.fault]
    if damaged:
        sentences.append(f"Not read, because the files are damaged or locked: {', '.join(damaged[:5])}.")
    return sentences


def _unique(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _lower_listed(names: Iterable[str]) -> str:
    return listed([name.lower() for name in names])
