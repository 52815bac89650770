"""The finished review as the contract describes it, with additional fields next to the contract's. Pages, files, letter
and OpenAPI are made from these types, and results stored by version 0.1.0 load into them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from trigpoint.reading.profile import Profile
from trigpoint.review.conclusion import Conclusion, Quality
from trigpoint.review.consultees import Recommendation
from trigpoint.review.findings import (
    Assessed,
    Citation,
    Elsewhere,
    Finding,
    Group,
    NotAssessed,
    Outcome,
    PolicyAsk,
    PolicyCitation,
    Quotation,
    Rating,
    Stored,
)
from trigpoint.review.letter import Letter
from trigpoint.review.officers import OfficersRecommendation


class Application(Stored):
    """What the register says about the application, and how many of its documents were read."""

    reference: str
    address: str | None = None
    proposal: str | None = None
    applicant: str | None = None
    status: str | None = None
    consultation_end: str | None = None
    documents_fetched: int = 0
    documents_ingested: int = 0
    agent: str | None = None
    application_type: str | None = None
    ward: str | None = None
    parish: str | None = None
    date_received: str | None = None
    date_validated: str | None = None
    case_officer: str | None = None
    portal_url: str | None = None
    authority: str | None = Field(None, description="The planning authority, as a slug.")
    authority_name: str | None = None
    authority_post: str | None = Field(None, description="Its postal address, if the table of registers has one.")


class AspectReview(Stored):
    """One aspect. With `assessed: no` the rating is amber by convention and means nothing."""

    id: str = ""
    name: str
    rating: Rating
    key_issue: str
    detail: str = ""
    policy_refs: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    assessed: Assessed = "yes"
    not_assessed: tuple[NotAssessed, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = Field(
        (), description="Questions that a finding of another aspect answers. They count in the rating."
    )
    applies: bool = Field(True, description="False: nothing on this aspect is asked of such a development.")
    asks: tuple[PolicyAsk, ...] = Field((), description="What policy asks.")
    says: tuple[Quotation, ...] = Field((), description="What the documents say, by what each statement is.")

    @model_validator(mode="before")
    @classmethod
    def _assessed_in_0_1_0(cls, given: Any) -> Any:
        """Version 0.1.0 did not say whether an aspect was assessed, and kept what it had not found as findings."""
        if not isinstance(given, dict) or "assessed" in given or not given.get("findings"):
            return given
        outcomes = [_outcome(finding) for finding in given["findings"]]
        judged = [outcome for outcome in outcomes if outcome != "not_found"]
        assessed: Assessed = "yes" if len(judged) == len(outcomes) else "partly"
        if not judged:
            assessed = "no"
        return {**given, "assessed": assessed}

    def quoted(self, group: Group) -> list[Quotation]:
        return [quotation for quotation in self.says if quotation.group == group]

    @property
    def noted(self) -> list[NotAssessed]:
        """Return what the documents say without any verdict following from it."""
        return [point for point in self.not_assessed if point.noted]

    @property
    def left_open(self) -> list[NotAssessed]:
        """Return the questions that could not be judged, or whose answer was looked for and not found."""
        return [point for point in self.not_assessed if not point.noted]

    @property
    def shown_rating(self) -> str:
        """The rating as every surface shows it: `not assessed` unless something was judged."""
        return "not assessed" if self.assessed == "no" else self.rating


def _outcome(finding: Any) -> str:
    return finding.outcome if isinstance(finding, Finding) else finding["outcome"]


class ComplianceRow(Stored):
    """A row of the policy matrix: a judged requirement. What was not judged is in `not_assessed`."""

    requirement: str
    policy_source: str
    compliant: bool
    notes: str
    policy_ref: str | None = None
    revision_id: str | None = None
    outcome: Outcome | None = None

    @property
    def ref(self) -> str:
        return self.policy_ref or self.policy_source

    @property
    def shown_outcome(self) -> Outcome:
        return self.outcome or ("met" if self.compliant else "failed")


class ReviewBody(Stored):
    """The contract's `review`."""

    overall_rating: Rating
    summary: str
    aspects: tuple[AspectReview, ...] = ()
    policy_compliance: tuple[ComplianceRow, ...] = ()
    recommendations: tuple[str, ...] = ()
    suggested_conditions: tuple[str, ...] = ()
    contradictions: tuple[Finding, ...] = ()
    assessed: Assessed = "yes"
    notice: str = Field("", description="What kind of review this is, and how to have it judged further.")
    profile: Profile | None = Field(None, description="What is being built, as the documents tell it.")
    letter: Letter | None = Field(None, description="The letter as it was drafted with the judgement, if it was.")
    conclusion: Conclusion | None = Field(None, description="What a judged review comes to, sentence by sentence.")
    consultees: tuple[Recommendation, ...] = Field((), description="What consultees and groups recommend, quoted.")
    officers: OfficersRecommendation | None = Field(
        None,
        description="What the council's officers recommend, quoted from their report, and the day of the committee.",
    )
    not_seen: tuple[str, ...] = Field(
        (), description="Documents, parts and pages that the documents name and that are not among those read."
    )
    titles: dict[str, str] = Field(
        default_factory=dict,
        description="What people call a document if the name of its file does not say it, by name.",
    )
    full_markdown: str = ""

    @property
    def shown_rating(self) -> str:
        return "not assessed" if self.assessed == "no" else self.overall_rating

    def quotations(self) -> list[Citation]:
        """Return every quotation once, in the order of the review. Its place in the list names its page on the web."""
        return list(dict.fromkeys(self._citations()))

    def _citations(self) -> Iterator[Citation]:
        for aspect in self.aspects:
            for finding in aspect.findings:
                yield from finding.evidence
            yield from (quotation.citation for quotation in aspect.says)
        for finding in self.contradictions:
            yield from finding.evidence
        if self.officers:
            yield self.officers.citation

    def general_contradictions(self) -> list[Finding]:
        """Return the contradictions that belong to no aspect."""
        own = [finding for aspect in self.aspects for finding in aspect.findings]
        return [finding for finding in self.contradictions if finding not in own]

    def sections_used(self) -> str:
        """Return how many sections of policy were found by search, confirmed by a person, or remain to be confirmed."""
        asked = {ask.provision: ask for aspect in self.aspects for ask in aspect.asks}.values()
        confirmed = sum(ask.confirmed for ask in asked)
        unsure = sum(ask.citation is None for ask in asked)
        found = len(asked) - confirmed - unsure
        return (
            f"Sections of policy: {found} found in the texts in force, {confirmed} confirmed by a person, "
            f"{unsure} to be confirmed"
        )

    def policies(self) -> list[PolicyCitation]:
        """Return every cited passage of policy once, by reference."""
        policies = [policy for aspect in self.aspects for finding in aspect.findings for policy in finding.policy]
        policies += [ask.citation for aspect in self.aspects for ask in aspect.asks if ask.citation is not None]
        cited = {policy.passage_id: policy for policy in policies}
        return sorted(cited.values(), key=lambda policy: (policy.ref, policy.passage_id))


class RevisionUsed(Stored):
    source: str
    revision_id: str
    version_label: str


class CitationCounts(Stored):
    checked: int = 0
    verified: int = 0
    dropped: int = 0


class MissingDocument(Stored):
    """A document that could not be had or read, or was left out, and why."""

    name: str
    category: str = ""
    source_kind: str = "applicant"
    reason: str = ""


class UnreadDocument(Stored):
    """A document that was there and could not be read. `fault`: through no fault of the file."""

    name: str
    reason: str = ""
    fault: bool = False


class DocumentCounts(Stored):
    """What became of the documents that the register lists, or that were given as files."""

    listed: int = 0
    filtered: int = 0
    download_failed: int = 0
    ingested: int = 0
    skipped: int = 0
    failed: int = 0
    not_read: tuple[str, ...] = Field((), description="Names of those in which no text was found.")
    unread: tuple[UnreadDocument, ...] = Field((), description="Those that could not be read, with the reason.")
    pages: int = Field(0, description="Pages of the documents that were read.")
    pages_read: int = Field(0, description="Those of which something was read, and blank ones.")
    pages_by_ocr: int = Field(0, description="Those read by OCR, wholly or in part.")
    reading: str = Field("", description="The same in one sentence, with the pages that were not read.")
    not_fetched: tuple[str, ...] = Field((), description="Names of those that could not be downloaded.")
    not_downloaded: tuple[MissingDocument, ...] = ()
    left_out: tuple[MissingDocument, ...] = ()
    unreadable: tuple[MissingDocument, ...] = ()


_POLICY_DATES = {
    "date_received": "the day of receipt, because no date of validation is given",
    "date_of_documents": "the date of the documents, because no date of validation is given",
    "": "the day of this review, because the register gives no date",
}


class Metadata(Stored):
    """How the review was made."""

    model: str = ""
    analyser: Literal["rules", "llm"] = "rules"
    total_tokens_used: int = 0
    processing_time_seconds: int = 0
    phase_seconds: dict[str, float] = Field(default_factory=dict)
    documents_analysed: int = 0
    policy_sources_referenced: int = 0
    policy_effective_date: str | None = None
    policy_date_from: str = Field(
        "date_validated", description="Which of the application's dates that is; empty: the day of the review."
    )
    policy_revisions_used: tuple[RevisionUsed, ...] = ()
    citations: CitationCounts = CitationCounts()
    documents: DocumentCounts = DocumentCounts()
    options: dict[str, Any] = Field(default_factory=dict)
    fallback_from: str | None = None
    quality: Quality | None = Field(None, description="Of a judged review: what was handed in, sent back and left out.")
    notes: tuple[str, ...] = ()

    @property
    def why_policy_date(self) -> str:
        """Return why policy of that date is used, if it is not the date of validation."""
        return _POLICY_DATES.get(self.policy_date_from, "")

    @property
    def judged_by(self) -> str:
        """Return who judged, as a reader is told it: without the path of a recording."""
        if self.model.startswith("replay:"):
            return "a model, from answers that were recorded earlier"
        return "fixed rules, without a model" if self.model == "rules" else self.model


class ReviewResult(Stored):
    """The contract's `application`, `review` and `metadata`."""

    application: Application
    review: ReviewBody
    metadata: Metadata


class Judgement(Stored):
    """What an analyser says about the aspects, before it is assembled into a review."""

    aspects: tuple[AspectReview, ...]
    contradictions: tuple[Finding, ...] = Field((), description="Those that belong to no single aspect.")
    profile: Profile | None = None
    remarks: tuple[str, ...] = Field((), description="What the summary must say of the policies that were used.")
    analyser: Literal["rules", "llm"]
    model: str
    tokens: int = 0
    letter: Letter | None = Field(None, description="A draft of the letter. None: it is written from the findings.")
    notes: tuple[str, ...] = ()
    fallback_from: str | None = None
    conclusion: Conclusion | None = None
    consultees: tuple[Recommendation, ...] = ()
    officers: OfficersRecommendation | None = None
    not_seen: tuple[str, ...] = ()
    titles: dict[str, str] = Field(default_factory=dict)
    quality: Quality | None = None
