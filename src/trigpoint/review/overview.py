"""A review at a glance: the verdict in three sentences, the points that matter most, and how long there is to respond.

Everything here is derived from a finished result, whoever judged it, so that page and report say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal

from trigpoint.dates import parse_day
from trigpoint.errors import InvalidDate
from trigpoint.review.citing import in_plain_words
from trigpoint.review.conclusion import Sentence
from trigpoint.review.deciding import deciding_first, proving
from trigpoint.review.findings import SHORTFALLS, Citation, Finding, NotAssessed, Outcome
from trigpoint.review.rating import weightiest
from trigpoint.review.result import AspectReview, ReviewBody
from trigpoint.review.wording import as_beginning, listed, within_sentence

MOST_POINTS = 5
MOST_CONTRADICTIONS = 10
MOST_QUOTED = 2
MOST_IN_REPORT = MOST_POINTS + MOST_CONTRADICTIONS

_OUTCOME_WORDS = {
    "met": "met",
    "partly": "met in part",
    "failed": "not met",
    "contradicted": "contradicted within the documents",
}

State = Literal["problems", "met", "open"]


@dataclass(frozen=True)
class Point:
    """A finding with its number in the review, which names it in addresses, and the aspect it belongs to, if any."""

    number: int
    finding: Finding
    aspect: AspectReview | None
    noted: bool = False  # an open point that the documents speak of

    @property
    def kind(self) -> str:
        """Return how serious it is, in a word for styles and filters."""
        if self.noted:
            return "noted"
        if self.finding.outcome == "failed" and self.finding.essential:
            return "essential"
        return self.finding.outcome.replace("_", "-")

    @property
    def label(self) -> str:
        return outcome_label(self.finding, LABELS[self.kind])

    @property
    def deciding(self) -> tuple[Citation, ...]:
        """Its quotations, those first that have the figures and most of the words of its text."""
        return deciding_first(self.finding.text, self.finding.evidence)

    @property
    def proof(self) -> tuple[Citation, ...]:
        """The quotations to print with it: the two places that disagree, or what proves its figures.

        Whoever reports a contradiction quotes its two sides first, and then what others say of it.
        """
        if self.finding.outcome == "contradicted":
            return self.finding.evidence[:MOST_QUOTED]
        return proving(self.finding.text, self.finding.evidence, most=MOST_QUOTED)


def outcome_label(finding: Finding, plain: str) -> str:
    """Return the label of a finding's outcome, which says so if other points limit what is met."""
    return f"{plain}, with limits" if finding.limits else plain


LABELS = {
    "essential": "Not met: essential",
    "failed": "Not met",
    "partly": "Partly met",
    "contradicted": "Contradiction",
    "met": "Met",
    "not-found": "Not shown",
    "noted": "Noted",
}


@dataclass(frozen=True)
class AspectOverview:
    """An aspect with its numbered findings, and which of the three filters it answers to."""

    aspect: AspectReview
    points: tuple[Point, ...]

    @property
    def state(self) -> State:
        outcomes = {point.finding.outcome for point in self.points} | {one.outcome for one in self.aspect.elsewhere}
        if outcomes & SHORTFALLS:
            return "problems"
        return "met" if "met" in outcomes else "open"

    def shown(self, state: State | None) -> tuple[Point, ...]:
        """Return the findings that a filter leaves: all without one."""
        if state is None:
            return self.points
        wanted: dict[State, frozenset[Outcome]] = {
            "problems": SHORTFALLS,
            "met": frozenset({"met"}),
            "open": frozenset({"not_found"}),
        }
        return tuple(point for point in self.points if point.finding.outcome in wanted[state])

    def answers(self, state: State | None) -> bool:
        open_points = state == "open" and bool(self.aspect.not_assessed or self.aspect.assessed == "no")
        return state is None or bool(self.shown(state)) or open_points


@dataclass(frozen=True)
class MainPart:
    """What a report tells first, each point with its evidence, in order of weight: what matters, and what is good.

    Shortfalls, contradictions and the open points that a conclusion names are one list.
    """

    matters: tuple[Point, ...]
    good: tuple[Point, ...]


@dataclass(frozen=True)
class ToldConclusion:
    """The conclusion of a judged review in its three parts, and what a reader must know of how it was made."""

    proposed: tuple[str, ...]
    good: tuple[str, ...]
    decides: tuple[str, ...]
    notes: str


@dataclass(frozen=True)
class Overview:
    """The review of one application in the order in which a reader needs it."""

    review: ReviewBody

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every finding once, in the order of the review."""
        placed = [(finding, aspect) for aspect in self.review.aspects for finding in aspect.findings]
        placed += [(finding, None) for finding in self.review.general_contradictions()]  # type: ignore[misc]
        return tuple(Point(number, finding, aspect) for number, (finding, aspect) in enumerate(placed, 1))

    def number_of(self, check: str) -> int:
        """Return the number of a finding by its id."""
        return next(point.number for point in self.points if point.finding.check == check)

    @cached_property
    def main(self) -> tuple[Point, ...]:
        """The points that fall short of policy and weigh most, at most five: those that whoever judged it put first,
        then by weight.
        """
        named = self.review.conclusion.main if self.review.conclusion else ()
        points = self._weighed("failed", "partly")
        first = [point for name in named for point in points if point.finding.check == name]
        return tuple(dict.fromkeys([*first, *points]))[:MOST_POINTS]

    @cached_property
    def contradictions(self) -> tuple[Point, ...]:
        """The contradictions of the main part; the others are with their aspects."""
        return tuple(self._weighed("contradicted")[:MOST_CONTRADICTIONS])

    @cached_property
    def report(self) -> MainPart:
        """The main part of a report, at most fifteen findings: those that whoever judged chose, or else the points and
        contradictions that weigh most.
        """
        named = self.review.conclusion.main if self.review.conclusion else ()
        known = (*self.points, *self._open_points())
        chosen = [point for name in named for point in known if point.finding.check == name]
        shown = (chosen or [*self.main, *self.contradictions])[:MOST_IN_REPORT]
        return MainPart(
            matters=tuple(point for point in shown if point.finding.outcome != "met"),
            good=tuple(point for point in shown if point.finding.outcome == "met"),
        )

    def _open_points(self) -> Iterator[Point]:
        """Yield the open points that a conclusion can name, each as a finding of which nothing was found."""
        for aspect in self.review.aspects:
            for one in aspect.not_assessed:
                if one.id:
                    finding = Finding(
                        check=one.id,
                        requirement=one.requirement,
                        outcome="not_found",
                        text=one.reason,
                        essential=one.essential,
                        evidence=one.evidence,
                    )
                    yield Point(0, finding, aspect, one.noted)

    @cached_property
    def told(self) -> ToldConclusion | None:
        """What is proposed, what is good and what decides, by what the sentences of the conclusion rest on; None if
        nobody wrote one.
        """
        written = self.review.conclusion.summary if self.review.conclusion else ()
        if not written:
            return None
        outcomes = {point.finding.check: point.finding.outcome for point in self.points}
        parts: dict[str, list[str]] = {"proposed": [], "good": [], "decides": []}
        for one in written:
            parts[one.part or _part_of(one, parts, outcomes)].append(one.text)
        before, sentences, after = self.review.summary.partition(" ".join(one.text for one in written))
        notes = f"{before.strip()} {after.strip()}".strip() if sentences else ""
        return ToldConclusion(tuple(parts["proposed"]), tuple(parts["good"]), tuple(parts["decides"]), notes)

    @cached_property
    def requests(self) -> tuple[tuple[AspectReview, NotAssessed], ...]:
        """Return what to ask the applicant for, because no page says it or it is left for later; essential points first."""
        asked = [(a, point) for a in self.review.aspects if a.applies for point in a.not_assessed if point.request]
        return tuple(sorted(asked, key=lambda pair: not pair[1].essential))

    @cached_property
    def open_essentials(self) -> tuple[tuple[AspectReview, NotAssessed], ...]:
        """The essential points that the documents speak of and that were not judged: for the reader to judge."""
        return tuple(
            (aspect, point)
            for aspect in self.review.aspects
            if aspect.applies
            for point in aspect.not_assessed
            if point.essential and point.places and not point.request
        )

    @cached_property
    def aspects(self) -> tuple[AspectOverview, ...]:
        """The aspects that are asked of the development: those with problems first, those not assessed last."""
        order: dict[State, int] = {"problems": 0, "met": 1, "open": 2}
        shown = [
            AspectOverview(aspect, tuple(point for point in self.points if point.aspect is aspect))
            for aspect in self.review.aspects
            if aspect.applies
        ]
        return tuple(sorted(shown, key=lambda one: (order[one.state], one.aspect.shown_rating != "red")))

    def supported_by(self, citation: Citation) -> tuple[Point, ...]:
        """Return the findings that rest on a quotation."""
        return tuple(point for point in self.points if citation in point.finding.evidence)

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """Return why the rating is as it is: what was counted, then at most two sentences on what decides."""
        if concluded := self._concluded():
            return (self._judged(), *concluded)
        return tuple(sentence for sentence in (self._judged(), self._worst(), self._left()) if sentence)

    def _concluded(self) -> list[str]:
        """Return the first two sentences of a conclusion that rest on findings, if whoever judged wrote one."""
        written = self.review.conclusion.summary if self.review.conclusion else ()
        return [_clipped(one.text, _LONGEST_CONCLUSION) for one in written if one.rests_on][:2]

    def _weighed(self, *outcomes: Outcome) -> list[Point]:
        """Return the points of these outcomes: as the conclusion orders them, then by weight, then as in the review."""
        by_finding = {id(point.finding): point for point in self.points}
        chosen = [point.finding for point in self.points if point.finding.outcome in outcomes]
        weighed = [by_finding[id(finding)] for finding in weightiest(chosen)]
        named = {
            check: place for place, check in enumerate(self.review.conclusion.main if self.review.conclusion else ())
        }
        return sorted(weighed, key=lambda point: named.get(point.finding.check, len(named)))

    def _judged(self) -> str:
        """Say how many points there are and how each came out, so that the numbers add up."""
        counts = {outcome: self._count(outcome) for outcome in _OUTCOME_WORDS}
        judged = sum(counts.values())
        if not self.aspects:
            return "Nothing that this review looks at is asked of a development of this kind and size."
        if not judged:
            return "No requirement could be judged with certainty from these documents."
        left = sum(len(one.aspect.left_open) for one in self.aspects) + self._count("not_found")
        noted = sum(len(one.aspect.noted) for one in self.aspects)
        whole = {1: "the only point", 2: "both points"}.get(judged, f"all {_number(judged)} points")
        asked = f"{_number(judged)} of {judged + left} points" if left else whole
        essential = sum(point.kind == "essential" for point in self.points)
        parts = [
            f"{_number(count)} {_is(count)} {_OUTCOME_WORDS[name]}"
            f"{_stress(essential, count) if name == 'failed' and count < judged else ''}"
            for name, count in counts.items()
            if count
        ]
        if judged == 1:
            stress = " and is essential" if essential else ""
            parts = [f"it {parts[0].removeprefix('one ')}{stress}"]
        elif counts["met"] == judged:
            parts = ["both are met" if judged == 2 else "all of them are met"]
        elif counts["failed"] == judged:
            parts = [f"{'neither is met' if judged == 2 else 'none of them is met'}{_stress(essential, judged)}"]
        settled = f". {as_beginning(_number(left))} {_is(left)} left open" if left else ""
        told = f". {as_beginning(_number(noted))} more {_is(noted)} reported without a verdict" if noted else ""
        return f"{as_beginning(asked)} could be judged: {listed(parts)}{settled}{told}."

    def _worst(self) -> str:
        if not self.main:
            return ""
        worst = _clipped(plain_text(self.main[0].finding).rstrip("."))
        return f"The most serious: {within_sentence(worst)}{'' if worst.endswith('…') else '.'}"

    def _left(self) -> str:
        left = sum(one.aspect.assessed == "no" for one in self.aspects)
        if not left:
            return ""
        return (
            f"{as_beginning(_number(left))} of {_number(len(self.aspects))} aspects {_is(left)} left for you to judge."
        )

    def _count(self, outcome: str) -> int:
        return sum(point.finding.outcome == outcome for point in self.points)


def _part_of(one: Sentence, parts: Mapping[str, Sequence[str]], outcomes: Mapping[str, Outcome]) -> str:
    """Return which part of the summary a sentence belongs to that does not say so itself."""
    if not one.rests_on and not parts["good"] and not parts["decides"]:
        return "proposed"
    return "good" if _mostly_met([outcomes.get(name) for name in one.rests_on]) else "decides"


def _mostly_met(outcomes: Sequence[Outcome | None]) -> bool:
    """Whether most of what a sentence rests on is met, and nothing of it fails or is contradicted."""
    return sum(one == "met" for one in outcomes) * 2 > len(outcomes) and not {"failed", "contradicted"} & set(outcomes)


def plain_text(finding: Finding) -> str:
    """Return a finding's words with documents and policies named as a person names them."""
    refs = [policy.ref for policy in finding.policy]
    return in_plain_words(finding.text, [citation.document for citation in finding.evidence], refs)


@dataclass(frozen=True)
class ConsultationEnd:
    """The end of a consultation as people say it. `state` is `open`, `soon` (a week or less) or `closed`."""

    words: str
    state: Literal["open", "soon", "closed"]


_SOON_DAYS = 7
_LONGEST = 140
_LONGEST_CONCLUSION = 240


def deadline(end: str | None, today: date) -> ConsultationEnd | None:
    """Return how long the consultation is open. None if the register gives no date, or one that is none."""
    try:
        day = parse_day((end or "")[:10])
    except InvalidDate:
        return None
    left = (day - today).days
    shown = f"{day.day} {day:%B %Y}"
    if left < 0:
        return ConsultationEnd(f"Consultation closed {shown}", "closed")
    when = {0: "closes today", 1: "closes tomorrow"}.get(left, f"closes in {left} days")
    return ConsultationEnd(f"Consultation {when} ({shown})", "soon" if left <= _SOON_DAYS else "open")


def _stress(essential: int, failed: int) -> str:
    """Return how many of the points that are not met are essential, to follow them in a sentence."""
    if not essential:
        return ""
    if essential < failed:
        return f" ({_number(essential)} of them essential)"
    return {1: " (it is essential)", 2: " (both are essential)"}.get(failed, " (all of those are essential)")


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _clipped(text: str, longest: int = _LONGEST) -> str:
    """Return a text of at most so many letters, cut between words."""
    return text if len(text) <= longest else f"{text[:longest].rsplit(' ', 1)[0].rstrip(',;: ')} …"
