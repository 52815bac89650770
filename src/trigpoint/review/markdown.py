"""A finished review as Markdown, in the contract's layout. Text of documents and models never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trigpoint.reading.profile import Profile
from trigpoint.review.citing import document_places
from trigpoint.review.consultees import with_history
from trigpoint.review.findings import GROUPS, Finding, NotAssessed, Outcome, Quotation
from trigpoint.review.overview import Overview, outcome_label, plain_text
from trigpoint.review.rating import ASPECT_RULE, OVERALL_RULE
from trigpoint.review.result import AspectReview, ComplianceRow, ReviewBody, ReviewResult
from trigpoint.review.wording import as_written

OUTCOMES: dict[Outcome, str] = {
    "met": "Met",
    "partly": "Partly met",
    "failed": "Not met",
    "contradicted": "Contradicted",
    "not_found": "Not shown",
}
_FACTS = {
    "Address": "address",
    "Proposal": "proposal",
    "Applicant": "applicant",
    "Status": "status",
    "Valid from": "date_validated",
    "Consultation ends": "consultation_end",
}
_COMPLIANT: dict[Outcome, str] = {"met": "Yes", "partly": "Partly", "contradicted": "Contradicted"}
_MOST_PLACES = 3  # of a point that matters
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~])")
_LIST = re.compile(r"^(\d*)([-+.)])(?=\s)")


def render_markdown(result: ReviewResult) -> str:
    """Return the whole review: every finding, quotation and open point with its page."""
    return "\n".join(_report_lines(result)) + "\n"


def escape(text: object) -> str:
    """Return text from documents or models as Markdown that shows it and does nothing else."""
    plain = _MARKUP.sub(r"\\\1", " ".join(str(text).split()))
    return _LIST.sub(r"\1\\\2", plain)


def built(profile: Profile) -> str:
    """Return what is being built, in a line: `180 dwellings; outline application; major`."""
    sizes: dict[str, dict[str, None]] = {}
    for one in profile.uses:
        is_floor_of_homes = one.use == "dwellings" and one.unit == "m2" and bool(profile.dwellings)
        if one.bedrooms is None and not is_floor_of_homes:
            sizes.setdefault(one.use, {}).update(
                dict.fromkeys([_size(one.size, one.unit, one.use)] if one.size else [])
            )
    uses = [_use(use, list(found)) for use, found in sizes.items()]
    if (homes := profile.dwellings) and re.search(rf"\bup to {homes:,g}\b", profile.proposal, re.IGNORECASE):
        uses = [f"up to {one}" if one.startswith(f"{homes:,g} dwellings") else one for one in uses]
    named = f"{profile.kind} application" if profile.kind in _APPLICATIONS else profile.kind
    kind = [named] if profile.kind != "unknown" else []
    scale = [profile.scale] if profile.scale != "unknown" and profile.scale != profile.kind else []
    return "; ".join([*([", ".join(uses)] if uses else []), *kind, *scale])


_APPLICATIONS = ("full", "outline", "hybrid", "reserved matters", "householder", "listed building")
_USE_NAMES = {
    "food": "food and drink",
    "community": "community use",
    "commercial": "commercial use",
    "holiday": "holiday accommodation",
    "other": "other use",
}
_UNIT_NAMES = {
    "m2": "m\N{SUPERSCRIPT TWO}", "bed": "beds", "pupil": "pupils", "job": "jobs", "place": "places", "pitch": "pitches",
    "unit": "units",
}  # fmt: skip


def _use(use: str, sizes: Sequence[str]) -> str:
    """Return a use with its sizes: `180 dwellings`, `student housing (312 beds, 5,400 m²)`."""
    name = _USE_NAMES.get(use, use.replace("_", " "))
    if use == "dwellings" and len(sizes) == 1:
        return f"{sizes[0]} {name}"
    return f"{name} ({', '.join(sizes)})" if sizes else name


def _size(size: float, unit: str, use: str) -> str:
    if unit == "dwelling":
        return as_written(size)
    name = "rooms" if (use, unit) == ("hotel", "bed") else _UNIT_NAMES.get(unit, unit)
    return f"{as_written(size)} {name}".strip()


def _report_lines(result: ReviewResult) -> Iterator[str]:
    review = result.review
    yield f"# Cycle Advocacy Review: {result.application.reference}"
    yield ""
    yield f"## Overall Rating: {review.shown_rating.upper()}"
    yield ""
    yield "## Summary"
    yield escape(review.summary)
    yield ""
    if review.notice:
        yield f"> {escape(review.notice)}"
        yield ""
    yield from _application(result)
    yield from _main(result.review)
    yield from _others(result.review)
    yield "## Aspect Assessments"
    for aspect in review.aspects:
        if aspect.applies:
            yield from _aspect_section(aspect)
    yield from _not_asked(review.aspects)
    yield from _contradictions(review.general_contradictions())
    yield from _matrix(review.policy_compliance)
    yield from _list("Recommendations", review.recommendations)
    yield from _list("Suggested Conditions", review.suggested_conditions)
    yield from _method(result)


def _application(result: ReviewResult) -> Iterator[str]:
    application, documents = result.application, result.metadata.documents
    yield "## Application"
    for label, name in _FACTS.items():
        if value := getattr(application, name):
            yield f"- {label}: {escape(value)}"
    if result.review.profile and (line := built(result.review.profile)):
        yield f"- What is being built: {escape(line)}"
    if officers := result.review.officers:
        yield f"- {escape(officers.sentence(result.review.titles))}"
    why = f" ({result.metadata.why_policy_date})" if result.metadata.why_policy_date else ""
    yield f"- Policy as of: {result.metadata.policy_effective_date}{why}"
    yield f"- Documents read: {application.documents_ingested} of {application.documents_fetched} fetched"
    if result.review.not_seen:
        yield f"- Named in the documents, and not among those read: {escape('; '.join(result.review.not_seen))}"
    if documents.not_fetched:
        yield f"- Could not be downloaded: {escape(', '.join(documents.not_fetched))}"
    if documents.not_read:
        yield f"- Not read, because no text was found: {escape(', '.join(documents.not_read))}"
    for one in documents.unread:
        yield f"- Could not be read: {escape(f'{one.name} ({one.reason})')}"
    yield ""


def _main(review: ReviewBody) -> Iterator[str]:
    """Yield what the conclusion of a judged review chose, a line each; a brief has no such part."""
    if review.conclusion is None or not review.conclusion.main:
        return
    part = Overview(review).report
    yield "## Points That Matter"
    for title, points in (("", part.matters), ("What is good", part.good)):
        if title and points:
            yield ""
            yield f"**{title}**"
            yield ""
        for point in points:
            places = document_places(point.deciding, _MOST_PLACES, titles=review.titles)
            where = f" ({escape(places)})" if places else ""
            yield f"- **{point.label.replace(': ', ', ')}:** {escape(plain_text(point.finding))}{where}"
    yield ""


def _others(review: ReviewBody) -> Iterator[str]:
    """Yield what consultees and groups recommend, a line each."""
    if review.consultees:
        yield "## What Others Say"
        yield from (f"- {escape(with_history(one))}" for one in review.consultees)
        yield ""


def _aspect_section(aspect: AspectReview) -> Iterator[str]:
    yield ""
    partly = " (partly assessed)" if aspect.assessed == "partly" else ""
    yield f"### {escape(aspect.name)}: {aspect.shown_rating.upper()}{partly}"
    yield f"**Key Issue:** {escape(aspect.key_issue)}"
    if aspect.findings:
        yield ""
        for finding in aspect.findings:
            yield from _finding(finding)
    elif aspect.detail and not aspect.says and not aspect.elsewhere:
        yield ""
        yield escape(aspect.detail)
    yield from _elsewhere(aspect)
    yield from _asks(aspect)
    yield from _says(aspect)
    yield from _open_points("Noted, without a verdict", aspect.noted)
    yield from _open_points("Not assessed", aspect.left_open)
    if aspect.policy_refs and not aspect.asks:
        yield ""
        yield "Policy: " + "; ".join(escape(ref) for ref in aspect.policy_refs)


def _elsewhere(aspect: AspectReview) -> Iterator[str]:
    if aspect.elsewhere and not aspect.findings:
        yield ""
    for one in aspect.elsewhere:
        yield f"- {escape(one.requirement.rstrip('.'))}: see {escape(one.aspect)} ({OUTCOMES[one.outcome].lower()})"


def _finding(finding: Finding) -> Iterator[str]:
    refs = f" ({'; '.join(escape(policy.ref) for policy in finding.policy)})" if finding.policy else ""
    yield f"- **{outcome_label(finding, OUTCOMES[finding.outcome])}:** {escape(finding.text)}{refs}"
    for calculation in finding.calculations:
        yield f"  - Calculation: {escape(calculation.expression.replace('*', '×'))}"
    for citation in finding.evidence:
        yield f"  - “{escape(citation.quote)}” ({escape(citation.place)})"
    for limit in finding.limits:
        yield f"  - Limit: {escape(limit.text)}"
    for flag in finding.flags:
        yield f"  - {escape(flag)}"


def _asks(aspect: AspectReview) -> Iterator[str]:
    if not aspect.asks:
        return
    yield ""
    yield "**What policy asks**"
    yield ""
    for ask in aspect.asks:
        ref = ask.citation.ref if ask.citation else f"{ask.source}, section to be confirmed"
        yield f"- {escape(ask.says)} ({escape(ref)})"


def _says(aspect: AspectReview) -> Iterator[str]:
    if not aspect.says:
        return
    yield ""
    yield "**What the documents say**"
    for group, title in GROUPS.items():
        quoted = aspect.quoted(group)
        if quoted:
            yield ""
            yield f"*{title}*"
            yield ""
            for quotation in quoted:
                yield f"- {_quoted(quotation)}"


def _quoted(quotation: Quotation) -> str:
    standard = f" — standard: {escape(quotation.standard)}" if quotation.standard else ""
    rest = f" {quotation.rest}" if quotation.rest else ""
    return f"“{escape(quotation.citation.quote)}”{rest} ({escape(quotation.citation.place)}){standard}"


def _open_points(title: str, points: Sequence[NotAssessed]) -> Iterator[str]:
    if not points:
        return
    yield ""
    yield f"**{title}**"
    yield ""
    for point in points:
        where = f" {'; '.join(escape(place) for place in point.places)}." if point.places else ""
        ask = f" Recommended: {escape(point.request.rstrip('.'))}." if point.request else ""
        yield f"- {escape(point.requirement.rstrip('.'))}. {escape(point.reason)}{where}{ask}"


def _not_asked(aspects: Sequence[AspectReview]) -> Iterator[str]:
    names = [aspect.name for aspect in aspects if not aspect.applies]
    if names:
        yield ""
        yield f"Not asked of a development of this kind and size: {escape(', '.join(names))}."


def _contradictions(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    yield ""
    yield "## Other Sums and Contradictions"
    for finding in findings:
        yield from _finding(finding)


def _matrix(rows: Sequence[ComplianceRow]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield "## Policy Compliance"
    yield ""
    yield "| Requirement | Policy | Compliant | Notes |"
    yield "|---|---|---|---|"
    for row in rows:
        compliant = _COMPLIANT.get(row.shown_outcome, "No")
        yield f"| {escape(row.requirement)} | {escape(row.ref)} | {compliant} | {escape(row.notes)} |"


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if not items:
        return
    yield ""
    yield f"## {title}"
    for item in items:
        yield f"- {escape(item)}"


def _method(result: ReviewResult) -> Iterator[str]:
    metadata = result.metadata
    citations = metadata.citations
    yield ""
    yield "## How This Was Judged"
    yield f"- Judged by {escape(metadata.judged_by)}"
    for revision in metadata.policy_revisions_used:
        yield f"- {escape(revision.source)}: {escape(revision.version_label)} ({escape(revision.revision_id)})"
    if any(aspect.asks for aspect in result.review.aspects):
        yield f"- {result.review.sections_used()}"
    yield f"- Citations: {citations.checked} checked, {citations.verified} verified, {citations.dropped} dropped"
    if metadata.quality is not None:
        yield f"- {escape(metadata.quality.sentence())}"
    yield f"- {ASPECT_RULE}"
    yield f"- {OVERALL_RULE}"
