"""The letter of response to the council: an argument in order of weight, and nothing about how it was made."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from trigpoint.review.aspects import aspect as aspect_by_id
from trigpoint.review.assemble import CORE
from trigpoint.review.findings import Citation, Finding, NotAssessed, Place, Stored
from trigpoint.review.rating import weightiest
from trigpoint.review.result import AspectReview, ReviewResult

MOST_GROUNDS = 8
MOST_CHECKS = 5


class Ground(Stored):
    """One point of the letter: what is wrong or missing, the words that show it, what policy says, what is asked."""

    heading: str
    text: str
    quotations: tuple[Citation, ...] = ()
    calculation: str | None = None
    policies: tuple[str, ...] = ()
    asks: str | None = None


class Letter(Stored):
    """A letter: its position, its grounds in order of weight, what is welcome, and an annex with the rest."""

    stand: str
    opening: str
    grounds: tuple[Ground, ...]
    strengths: tuple[Ground, ...] = ()
    checks: tuple[str, ...] = Field((), description="What the council is asked to satisfy itself of, with pages.")
    annex: tuple[Ground, ...] = ()
    conditions: tuple[str, ...] = ()


def write_letter(result: ReviewResult, *, most: int = MOST_GROUNDS) -> Letter:
    """Return the letter. Grounds beyond `most` are in its annex."""
    review = result.review
    aspects = [aspect for aspect in review.aspects if aspect.applies]
    names = {finding.check: aspect.name for aspect in aspects for finding in aspect.findings}
    judged = [finding for aspect in aspects for finding in aspect.findings]
    grounds = [
        *(_ground(finding, names.get(finding.check, "The figures")) for finding in weightiest(_wanting(judged))),
        *(_ground(finding, "The figures") for finding in review.general_contradictions()),
        *(_request(point, aspect) for aspect in aspects for point in aspect.not_assessed if _asked(point)),
    ]
    strengths = [_ground(finding, names[finding.check]) for finding in judged if finding.outcome == "met"]
    stand, opening = _position(result, grounds)
    return Letter(
        stand=stand,
        opening=opening,
        grounds=tuple(grounds[:most]),
        strengths=tuple(strengths[:4]),
        checks=tuple(_to_check(point) for aspect in aspects if aspect.id in CORE for point in _spoken_of(aspect))[
            :MOST_CHECKS
        ],
        annex=tuple(grounds[most:]),
        conditions=review.suggested_conditions,
    )


def _position(result: ReviewResult, grounds: Sequence[Ground]) -> tuple[str, str]:
    rating = result.review.shown_rating
    if rating == "red":
        return "Objection", "We object to this application, for the reasons given below."
    if rating == "green" and not grounds:
        return "Support", "We support this application, for the reasons given below."
    if rating == "green":
        return "Support", "We support this application, and ask that the points below are settled."
    ask = "We ask that the points below are settled before the application is decided."
    return "Comments", ask if grounds else "We make the following comments on this application."


def _wanting(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.outcome in ("failed", "partly", "contradicted")]


def _asked(point: NotAssessed) -> bool:
    """Whether something essential is left open or not to be found, so that the letter may ask for it."""
    return point.essential and point.request is not None


def _spoken_of(aspect: AspectReview) -> list[NotAssessed]:
    """Return the essential points on which the documents say something that only a reader can judge."""
    topics = {topic for quotation in aspect.says for topic in quotation.topics}
    checks = {check.id: check for check in aspect_by_id(aspect.id).checks}
    return [
        point
        for point in aspect.not_assessed
        if point.essential
        and point.request is None
        and point.policy
        and point.check in checks
        and topics & set(checks[point.check].topics)
    ]


def _ground(finding: Finding, heading: str) -> Ground:
    return Ground(
        heading=finding.requirement if finding.outcome == "contradicted" else heading,
        text=finding.text.rstrip("."),
        quotations=finding.evidence[: 2 if finding.outcome == "contradicted" else 1],
        calculation=next((one.expression for one in finding.calculations), None),
        policies=tuple(policy.ref for policy in finding.policy[:2]),
        asks=finding.recommendation if finding.outcome != "met" else None,
    )


def _request(point: NotAssessed, aspect: AspectReview) -> Ground:
    wanted = f"{point.requirement[0].lower()}{point.requirement[1:]}"
    where = "; ".join(str(place) for place in point.places)
    text = (
        f"The application leaves open {wanted} ({where})" if where else f"We could not find {wanted} in the documents"
    )
    return Ground(heading=aspect.name, text=text, policies=point.policy[:2], asks=point.request)


def _to_check(point: NotAssessed) -> str:
    where = "; ".join(str(Place(**place.model_dump() | {"pages": place.pages[:4]})) for place in point.places[:1])
    return f"{point.requirement} ({point.policy[0]}; {where})"
