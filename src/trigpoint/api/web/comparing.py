"""Two reviews in the order of time: what improved, what got worse, what is new and what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trigpoint.jobs.reviews import Review
from trigpoint.review.findings import Finding
from trigpoint.review.overview import Overview, Point
from trigpoint.review.result import AspectReview, ReviewResult

Change = Literal["improved", "worse", "new", "gone", "same", "now assessed", "no longer assessed", "not assessed"]

_FROM_WORST = ("red", "amber", "green")
_OUTCOMES_FROM_WORST = ("failed", "contradicted", "partly", "not_found", "met")


@dataclass(frozen=True)
class AspectPair:
    """One aspect in two reviews, the earlier one first; None if a review does not have it."""

    name: str
    before: AspectReview | None
    after: AspectReview | None

    @property
    def change(self) -> Change:
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        assessed = self.before.assessed != "no", self.after.assessed != "no"
        if assessed != (True, True):
            return {(False, True): "now assessed", (True, False): "no longer assessed"}.get(assessed, "not assessed")  # type: ignore[return-value]
        return _direction(_FROM_WORST.index(self.before.rating), _FROM_WORST.index(self.after.rating))


@dataclass(frozen=True)
class PointPair:
    """One finding in two reviews, the earlier one first; None if a review does not have it."""

    before: Point | None
    after: Point | None

    @property
    def shown(self) -> Point:
        point = self.after or self.before
        assert point is not None
        return point

    @property
    def change(self) -> Change:
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        ranks = [_OUTCOMES_FROM_WORST.index(point.finding.outcome) for point in (self.before, self.after)]
        return _direction(ranks[0], ranks[1])


def _direction(before: int, after: int) -> Change:
    if before == after:
        return "same"
    return "improved" if after > before else "worse"


def in_order_of_time(reviews: Sequence[Review]) -> list[Review]:
    """Return the reviews with the earlier one first, however they were chosen."""
    return sorted(reviews, key=lambda review: (review.created_at, review.review_id))


def pair_aspects(before: ReviewResult, after: ReviewResult) -> list[AspectPair]:
    """Return the aspects of both reviews that apply, in the order of the earlier one."""
    a, b = ({one.name: one for one in result.review.aspects if one.applies} for result in (before, after))
    return [AspectPair(name, a.get(name), b.get(name)) for name in dict.fromkeys([*a, *b])]


def pair_points(before: ReviewResult, after: ReviewResult) -> list[PointPair]:
    """Return the findings of both reviews that are not the same, the ones that got worse or are new first."""
    a, b = (_by_key(Overview(result.review).points) for result in (before, after))
    pairs = [PointPair(a.get(key), b.get(key)) for key in dict.fromkeys([*b, *a])]
    order: list[Change] = ["worse", "new", "improved", "gone"]
    return sorted([pair for pair in pairs if pair.change in order], key=lambda pair: order.index(pair.change))


def _by_key(points: Sequence[Point]) -> dict[tuple[str, ...], Point]:
    return {_identity_of(point): point for point in reversed(points)}


def _identity_of(point: Point) -> tuple[str, ...]:
    """Return what makes two findings one: a check of an aspect; of contradictions also what contradicts what."""
    finding: Finding = point.finding
    aspect = point.aspect.name if point.aspect else ""
    if finding.outcome == "contradicted":
        return aspect, finding.check, finding.text
    return aspect, finding.check, finding.requirement
