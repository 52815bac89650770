"""Two reviews side by side, aspect by aspect."""

from __future__ import annotations

from dataclasses import dataclass

from trigpoint.review.result import AspectReview, ReviewResult

_FROM_WORST = ("red", "amber", "green")


@dataclass(frozen=True)
class AspectPair:
    """One aspect in two reviews; None if a review does not have it."""

    name: str
    first: AspectReview | None
    second: AspectReview | None

    @property
    def change(self) -> str:
        if self.first is None or self.second is None:
            return "only in one"
        if "no" in (self.first.assessed, self.second.assessed):
            return "not assessed in both" if self.first.assessed == self.second.assessed else "not assessed in one"
        before, after = _FROM_WORST.index(self.first.rating), _FROM_WORST.index(self.second.rating)
        if before == after:
            return "same" if self.first.key_issue == self.second.key_issue else "reworded"
        return "better" if after > before else "worse"


def pair_aspects(first: ReviewResult, second: ReviewResult) -> list[AspectPair]:
    """Return the aspects of both reviews in the order of the first."""
    a, b = ({aspect.name: aspect for aspect in one.review.aspects} for one in (first, second))
    return [AspectPair(name, a.get(name), b.get(name)) for name in dict.fromkeys([*a, *b])]
