"""From findings to a rating, and from ratings to the overall one: two stated rules, the same for both analysers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from trigpoint.review.findings import Elsewhere, Finding, NotAssessed, Outcome, Quotation, Rating
from trigpoint.review.result import AspectReview
from trigpoint.review.wording import as_beginning, listed, within_sentence

NOT_ENOUGH = "Not assessed"
SEVERITY: dict[Outcome, int] = {"failed": 0, "partly": 1, "contradicted": 2, "met": 7, "not_found": 5}

FAILURES_THAT_DECIDE = 3
ASPECT_RULE = (
    "An aspect is red when at least half of its essential points that could be judged fail; green when every essential "
    "point is judged and met, with nothing lacking, and nothing fails or is contradicted; amber otherwise. An aspect of which "
    "nothing could be judged is not assessed, and has no rating."
)
OVERALL_RULE = (
    "The overall rating comes from assessed aspects only. It is red when two core aspects (cycle parking, cycle routes, "
    "junctions, permeability) are red, or all that were reviewed if they are fewer, or more than half of all aspects, or when "
    "three essential points fail in two aspects or more; green when every core aspect is green and no other is red; amber "
    "otherwise. If no core aspect could be assessed, there is none."
)


class Weighed(Protocol):
    """Something that counts in a rating: a finding, or the answer to a question that is told under another aspect."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def essential(self) -> bool: ...


def rate(findings: Sequence[Weighed], open_points: Sequence[NotAssessed] = ()) -> Rating:
    """Return the rating of an aspect, by `ASPECT_RULE`. Of an aspect that is not assessed it is amber by convention."""
    essential = [finding.outcome for finding in findings if finding.essential]
    decided = [outcome for outcome in essential if outcome in ("met", "partly", "failed")]
    if decided and sum(outcome == "failed" for outcome in decided) * 2 >= len(decided):
        return "red"
    clean = not any(finding.outcome in ("failed", "contradicted") for finding in findings)
    complete = not any(point.essential for point in open_points)
    return "green" if decided and clean and complete and all(outcome == "met" for outcome in decided) else "amber"


def key_issue(
    name: str,
    rating: Rating,
    findings: Sequence[Finding],
    open_points: Sequence[NotAssessed] = (),
    said: Sequence[Quotation] = (),
    *,
    applies: bool = True,
    elsewhere: Sequence[Elsewhere] = (),
) -> str:
    """Return the one line that says why. A green one names what is met, and nothing else.

    An aspect whose questions are all answered under others (`elsewhere`) has the weightiest of those answers.
    """
    if elsewhere and not findings:
        return min(elsewhere, key=lambda one: SEVERITY[one.outcome]).text.rstrip(".")
    if rating == "green":
        return _what_is_met(findings)
    wanting = [finding for finding in findings if finding.outcome not in ("met", "not_found")]
    if wanting:
        plain = [finding for finding in wanting if finding.outcome != "partly" or finding.lacking]
        return weightiest(plain or wanting)[0].text.rstrip(".")
    if findings and any(finding.outcome == "met" for finding in findings):
        met = _what_is_met(findings)
        left = [point.requirement for point in open_points if point.essential]
        return f"{met}. Not assessed: {within_sentence(left[0])}" if left else met
    if not applies:
        return f"Nothing on {name.lower()} is asked of a development of this kind and size"
    if said:
        return f"{NOT_ENOUGH}: {_count(said)} of the documents on {name.lower()} {'is' if len(said) == 1 else 'are'} quoted"
    return f"{NOT_ENOUGH}: we could not read a statement on {name.lower()}"


def _count(said: Sequence[Quotation]) -> str:
    return "1 statement" if len(said) == 1 else f"{len(said)} statements"


def _what_is_met(findings: Sequence[Finding]) -> str:
    return as_beginning(
        listed([(one.short or one.requirement).rstrip(".") for one in findings if one.outcome == "met"])
    )


def weightiest(findings: Sequence[Finding]) -> list[Finding]:
    """Order findings by weight: an essential point that fails or is met in part, contradictions, then the rest."""
    return sorted(
        findings, key=lambda f: SEVERITY[f.outcome] + (0 if f.essential or f.outcome == "contradicted" else 3)
    )


def overall_rating(judged: Sequence[AspectReview], core: frozenset[str]) -> Rating:
    """Return the rating of the application, by `OVERALL_RULE`."""
    asked = [one for one in judged if one.applies]
    weighing = [one for one in asked if one.id in core] or asked
    red = sum(one.rating == "red" for one in weighing if one.assessed != "no")
    red_in_all = sum(one.rating == "red" for one in asked if one.assessed != "no")
    if red and (red >= min(2, len(weighing)) or red_in_all * 2 > len(asked)):
        return "red"
    failing = [sum(f.essential and f.outcome == "failed" for f in one.findings) for one in asked]
    if sum(failing) >= FAILURES_THAT_DECIDE and sum(map(bool, failing)) > 1:
        return "red"
    clean = bool(weighing) and not red_in_all and all(one.assessed != "no" for one in weighing)
    return "green" if clean and all(one.rating == "green" for one in weighing) else "amber"
