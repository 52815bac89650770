"""What is measured of the reading on labelled applications, with bootstrap intervals over labels."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.reading.applications import Label, LabelledApplication
from benchmarks.reading.matching import letters, match_labels
from benchmarks.reading.profiles import register_entry
from trigpoint.reading.contradictions import find_discrepancies
from trigpoint.reading.counts import read_counts
from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.facts import Fact, read_facts
from trigpoint.reading.profile import Profile, read_profile
from trigpoint.reading.readers import Readers
from trigpoint.reading.statements import Statement
from trigpoint.reading.vocabulary import Aspect, aspects_of

NOT_PROVISION = frozenset(
    ("policy", "existing", "other_scheme", "requested", "assumption", "historic", "rejected", "none")
)
SUBJECTS = frozenset(
    (
        "cycle_parking",
        "cycle_route",
        "permeability",
        "junction",
        "audit",
        "school",
        "bus",
        "rail",
        "trips",
        "offsite",
        "travel_plan",
    )
)
"""The families of topics on cycling, walking, public transport and travel plans, which a brief must quote."""

_ROUNDS = 1000
_SEED = 20


@dataclass
class Outcomes:
    """One entry a label (or quoted statement): 1 for right, 0 for wrong, in the order of the labels."""

    status: list[int] = field(default_factory=list)
    sureness: list[float] = field(default_factory=list)
    certain: list[int] = field(default_factory=list)
    certain_of: list[int] = field(default_factory=list)
    speaker: list[int] = field(default_factory=list)
    polarity: list[int] = field(default_factory=list)
    taken_for_provision: list[int] = field(default_factory=list)
    quoted: list[int] = field(default_factory=list)
    irrelevant: list[int] = field(default_factory=list)
    misplaced: list[int] = field(default_factory=list)
    unlabelled: int = 0
    found: list[int] = field(default_factory=list)

    def add(self, other: Outcomes) -> None:
        """Add another application's outcomes to these."""
        for name, values in vars(other).items():
            if isinstance(values, list):
                getattr(self, name).extend(values)
        self.unlabelled += other.unlabelled


@dataclass(frozen=True)
class Share:
    """A share with its count and 95 % bootstrap interval."""

    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.2f}, {self.high:.2f}] of {self.count}"


def share(outcomes: Sequence[int]) -> Share:
    """Return the mean of outcomes with its bootstrap interval; zero of zero if there are none."""
    count = len(outcomes)
    if not count:
        return Share(0.0, 0.0, 0.0, 0)
    rng = random.Random(_SEED)
    means = sorted(sum(rng.choices(outcomes, k=count)) / count for _ in range(_ROUNDS))
    return Share(sum(outcomes) / count, means[int(0.025 * _ROUNDS)], means[int(0.975 * _ROUNDS)], count)


COVERAGES = (0.1, 0.2, 0.3, 0.5, 1.0)


def by_coverage(outcomes: Outcomes) -> str:
    """Return how often the status is right among the surest tenth, fifth and so on of the statements."""
    surest = sorted(range(len(outcomes.status)), key=lambda index: -outcomes.sureness[index])
    counts = [(part, surest[: round(part * len(surest))]) for part in COVERAGES]
    rights = [(part, sum(outcomes.status[index] for index in kept) / max(len(kept), 1)) for part, kept in counts]
    return ", ".join(f"{right:.2f} of the surest {part:.0%}" for part, right in rights)


def print_outcomes(name: str, outcomes: Outcomes) -> None:
    """Print what was measured, a line each."""
    print(f"\n  {name}")
    print(f"    labels found as statements   {share(outcomes.found)}")
    print(f"    status right                 {share(outcomes.status)}")
    print(f"    said with certainty          {share(outcomes.certain_of)}")
    print(f"    of that, status right        {share(outcomes.certain)}")
    print(f"    right by coverage            {by_coverage(outcomes)}")
    print(f"    speaker right                {share(outcomes.speaker)}")
    print(f"    polarity right               {share(outcomes.polarity)}")
    print(f"    no provision, taken for it   {share(outcomes.taken_for_provision)}")
    print(f"    quoted under the aspect      {share(outcomes.quoted)}")
    print(f"    quoted and irrelevant        {share(outcomes.irrelevant)} ({outcomes.unlabelled} more without a label)")
    print(f"    under an aspect too many     {share(outcomes.misplaced)}")


def score(application: LabelledApplication, readers: Readers | None = None) -> Outcomes:
    """Compare what the reading says of an application with its labels."""
    read = read_facts(application.statements, Profile(), application.documents, readers)
    by_statement: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for fact in read:
        by_statement[fact.source.document_id, fact.source.statement].append(fact)
    outcomes = Outcomes()
    labels_of: dict[tuple[str, int], list[Label]] = defaultdict(list)
    for label, statements in match_labels(application):
        said = _facts_of(statements, by_statement)
        _score_label(outcomes, label, statements, said)
        for one in statements:
            labels_of[one.document_id, one.index].append(label)
    _score_quotes(outcomes, by_statement, labels_of)
    return outcomes


def _facts_of(statements: Iterable[Statement], facts: dict[tuple[str, int], list[Fact]]) -> list[Fact]:
    return [fact for one in statements for fact in facts.get((one.document_id, one.index), ())]


def _score_label(outcomes: Outcomes, label: Label, statements: Sequence[Statement], said: Sequence[Fact]) -> None:
    outcomes.found.append(int(bool(statements)))
    wanted = {aspect for topic in label.topics if _family(topic) in SUBJECTS for aspect in _aspects(topic)}
    if wanted:
        outcomes.quoted.append(int(any(wanted & set(aspects_of(fact.topic)) for fact in said)))
    if not said:
        return
    fact = said[0]
    right = int(fact.status == label.status)
    outcomes.status.append(right)
    outcomes.sureness.append(fact.certainty)
    outcomes.speaker.append(int(fact.speaker == label.speaker))
    outcomes.polarity.append(int(fact.polarity == label.polarity))
    outcomes.certain_of.append(int(fact.is_certain))
    if fact.is_certain:
        outcomes.certain.append(right)
    if label.status in NOT_PROVISION:
        outcomes.taken_for_provision.append(int(any(one.is_provision for one in said)))


def _score_quotes(
    outcomes: Outcomes, facts: dict[tuple[str, int], list[Fact]], labels_of: dict[tuple[str, int], list[Label]]
) -> None:
    """A quoted statement is irrelevant if its labels name none of the aspects under which it is quoted.

    A quotation is misplaced if they do not name this one: a statement under three aspects is quoted three times.
    """
    for key, said in facts.items():
        shown = {aspect for fact in said for aspect in aspects_of(fact.topic)}
        if shown and key not in labels_of:
            outcomes.unlabelled += 1
        elif shown:
            wanted = {aspect for label in labels_of[key] for topic in label.topics for aspect in _aspects(topic)}
            outcomes.irrelevant.append(int(not shown & wanted))
            outcomes.misplaced.extend(int(aspect not in wanted) for aspect in sorted(shown))


def _family(topic: str) -> str:
    return topic.partition(".")[0]


def _aspects(topic: str) -> tuple[Aspect, ...]:
    return aspects_of(topic)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Reported:
    """Which of the sums and contradictions that must be reported were found, and what else was found."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    others: tuple[Discrepancy, ...]
    by: tuple[Discrepancy, ...] = ()


def score_discrepancies(application: LabelledApplication, readers: Readers | None = None) -> Reported:
    """Compare the discrepancies found with the arithmetic and contradictions that must be reported, by page and subject."""
    profile = read_profile(register_entry(application), application.documents)
    facts = read_facts(application.statements, profile, application.documents, readers)
    found = find_discrepancies(facts, profile, application.statements, application.documents)
    wanted = [one for one in application.about.get("must_report", ()) if one["kind"] in ("arithmetic", "contradiction")]
    rest = [one for one in application.about.get("must_report", ()) if one not in wanted]
    points: dict[str, Discrepancy] = {}
    for each in found:
        fitting = [one for one in wanted if _is_about(each, one) and one["point"] not in points]
        if fitting:
            points[max(fitting, key=lambda one: _likeness(each, one))["point"]] = each
    return Reported(
        found=tuple(points),
        missed=tuple(one["point"] for one in wanted if one["point"] not in points),
        others=tuple(each for each in found if each not in points.values() and not _is_about_any(each, rest)),
        by=tuple(points.values()),
    )


_ARITHMETIC = frozenset(("sum", "percentage", "rate"))


def _is_about(found: Discrepancy, wanted: dict[str, Any]) -> bool:
    """Whether a discrepancy is the one that must be reported, by its page and its figures.

    Two figures that the point names decide, whichever kind of contradiction and subject its author wrote next to it; of a sum,
    what is stated and what it makes. Without figures the kind and the subject must agree.
    """
    pages = {one.source.page for one in found.inputs}
    on_page = not wanted["pages"] or bool(pages & set(wanted["pages"])) or pages == {None}
    if any(one.value is not None for one in found.inputs):
        return on_page and _names_figures(found, wanted["point"])
    same_sort = (found.kind in _ARITHMETIC) == (wanted["kind"] == "arithmetic")
    return on_page and same_sort and _family(found.topic) in {_family(topic) for topic in wanted["topics"]}


def _is_about_any(found: Discrepancy, wanted: list[dict[str, Any]]) -> bool:
    """Whether a discrepancy is something that must be reported as another kind of point: a shortfall, a hedged promise."""
    pages = {one.source.page for one in found.inputs}
    figured = any(one.value is not None for one in found.inputs)
    return any(
        bool(pages & set(one["pages"]))
        and found.topic in one["topics"]
        and (not figured or _in_common(found, one["point"]) > 1)
        for one in wanted
    )


def _likeness(found: Discrepancy, wanted: dict[str, Any]) -> tuple[int, ...]:
    """Order the points that a discrepancy may be: same subject, same kind, then figures and words in common."""
    same_family = _family(found.topic) in {_family(topic) for topic in wanted["topics"]}
    same_sort = (found.kind in _ARITHMETIC) == (wanted["kind"] == "arithmetic")
    point = wanted["point"]
    return int(same_family), int(same_sort), _in_common(found, point), _words_in_common(found, point)


def _words_in_common(found: Discrepancy, point: str) -> int:
    return len(set(letters(found.summary).split()) & set(letters(point).split()))


def _names_figures(found: Discrepancy, point: str) -> bool:
    named = _figures_of(point)
    if found.stated is not None and found.computed is not None:
        return {round(found.stated), round(found.computed)} <= {100, *(round(one) for one in named)}
    return _in_common(found, point) > 1


def _in_common(found: Discrepancy, point: str) -> int:
    """Count the different figures of a discrepancy that the point names."""
    values = {one.value for one in found.inputs} | {found.stated, found.computed}
    return len(values & _figures_of(point))


def _figures_of(point: str) -> set[float]:
    """Return the numbers of a point, in figures or words."""
    written = {float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", point)}
    return written | {one.value for one in read_counts(point)}
