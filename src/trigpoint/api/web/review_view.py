"""A review as a page shows it: parsed once from the stored result, evidence numbered so that an address can name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trigpoint.jobs.reviews import Review

RATINGS = ("red", "amber", "green")


@dataclass(frozen=True)
class Evidence:
    """A quotation. `number` is its place in the review, from 1."""

    number: int
    document: str
    document_id: str
    pages: tuple[int, ...]
    quote: str
    speaks: str


@dataclass(frozen=True)
class PolicyQuote:
    source: str
    revision_id: str
    version_label: str
    section_ref: str
    ref: str
    quote: str


@dataclass(frozen=True)
class Finding:
    requirement: str
    outcome: str
    text: str
    essential: bool
    evidence: tuple[Evidence, ...]
    policy: tuple[PolicyQuote, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Aspect:
    anchor: str
    name: str
    rating: str
    key_issue: str
    detail: str
    policy_refs: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class MatrixRow:
    requirement: str
    source: str
    ref: str
    compliant: bool
    outcome: str
    notes: str


@dataclass(frozen=True)
class RevisionUsed:
    source: str
    revision_id: str
    version_label: str


@dataclass(frozen=True)
class ReviewView:
    """A completed review."""

    review_id: str
    application: Mapping[str, Any]
    metadata: Mapping[str, Any]
    rating: str
    summary: str
    aspects: tuple[Aspect, ...]
    matrix: tuple[MatrixRow, ...]
    recommendations: tuple[str, ...]
    conditions: tuple[str, ...]
    revisions: tuple[RevisionUsed, ...]

    @property
    def counts(self) -> dict[str, int]:
        return {rating: sum(a.rating == rating for a in self.aspects) for rating in RATINGS}

    def evidence(self) -> Iterator[Evidence]:
        return (e for aspect in self.aspects for finding in aspect.findings for e in finding.evidence)

    @classmethod
    def of(cls, review: Review) -> ReviewView:
        """Fields beyond the contract may be absent: results stored by others stay readable."""
        result = review.result()
        numbers = iter(range(1, 1_000_000))
        said = result.review
        return cls(
            review_id=review.review_id,
            application=result.application,
            metadata=result.metadata,
            rating=said.get("overall_rating") or "amber",
            summary=said.get("summary", ""),
            aspects=tuple(_aspect(a, f"aspect-{n}", numbers) for n, a in enumerate(said.get("aspects", ()), 1)),
            matrix=tuple(_row(row) for row in said.get("policy_compliance", ())),
            recommendations=tuple(said.get("recommendations", ())),
            conditions=tuple(said.get("suggested_conditions", ())),
            revisions=tuple(
                RevisionUsed(r["source"], r["revision_id"], r["version_label"])
                for r in result.metadata.get("policy_revisions_used", ())
            ),
        )


def _aspect(given: Mapping[str, Any], anchor: str, numbers: Iterator[int]) -> Aspect:
    return Aspect(
        anchor=anchor,
        name=given["name"],
        rating=given["rating"],
        key_issue=given["key_issue"],
        detail=given["detail"],
        policy_refs=tuple(given.get("policy_refs", ())),
        findings=tuple(_finding(f, numbers) for f in given.get("findings", ())),
    )


def _finding(given: Mapping[str, Any], numbers: Iterator[int]) -> Finding:
    return Finding(
        requirement=given["requirement"],
        outcome=given["outcome"],
        text=given["text"],
        essential=given["essential"],
        evidence=tuple(
            Evidence(next(numbers), e["document"], e["document_id"], tuple(e["pages"]), e["quote"], e["speaks"])
            for e in given["evidence"]
        ),
        policy=tuple(
            PolicyQuote(p["source"], p["revision_id"], p["version_label"], p["section_ref"], p["ref"], p["quote"])
            for p in given["policy"]
        ),
        flags=tuple(given.get("flags", ())),
    )


def _row(given: Mapping[str, Any]) -> MatrixRow:
    compliant = bool(given["compliant"])
    return MatrixRow(
        requirement=given["requirement"],
        source=given["policy_source"],
        ref=given.get("policy_ref") or given["policy_source"],
        compliant=compliant,
        outcome=given.get("outcome") or ("met" if compliant else "failed"),
        notes=given["notes"],
    )


@dataclass(frozen=True)
class AspectPair:
    """One aspect in two reviews; None where a review does not have it."""

    name: str
    first: Aspect | None
    second: Aspect | None

    @property
    def change(self) -> str:
        if self.first is None or self.second is None:
            return "only in one"
        before, after = RATINGS.index(self.first.rating), RATINGS.index(self.second.rating)
        if before == after:
            return "same" if self.first.key_issue == self.second.key_issue else "reworded"
        return "better" if after > before else "worse"


def pair_aspects(first: ReviewView, second: ReviewView) -> list[AspectPair]:
    a, b = ({aspect.name: aspect for aspect in view.aspects} for view in (first, second))
    return [AspectPair(name, a.get(name), b.get(name)) for name in dict.fromkeys([*a, *b])]
