"""Words that exclude each other, where each of two documents has only one of them: a toucan in one, a puffin in the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trigpoint.reading.discrepancies import Discrepancy, Input
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import is_revised
from trigpoint.reading.said import Said
from trigpoint.reading.vocabulary import Topic

_WORDS = Lexicon(
    {
        "a toucan crossing": "toucan",
        "a puffin crossing": "puffin",
        "a zebra crossing": "zebra zebras",
        "a parallel crossing": "parallel_crossing tiger_crossing",
        "an uncontrolled crossing": "uncontrolled",
        "at street level": "street_level ground_level ground_floor at_grade",
        "in the basement": "basement lower_ground underground",
        "every year": "annually annual every_year each_year yearly once_a_year",
        "in some years": "biennial biennially every_second_year every_two_years every_other_year years_1 years_one",
        "before first occupation": "before_first_occupation prior_to_first_occupation before_occupation before_opening prior_to_occupation "
        "months_before months_prior",
        "after occupation": "is_occupied are_occupied th_dwelling th_home fiftieth hundredth after_first_occupation following_occupation of_occupation "
        "months_after after_opening upon_occupation on_occupation",
        "cycles": "cycle cycles bicycle bicycles bikes",
        "coordinator": "coordinator co_-_ordinator tpc",
        "unsaid": "considered looked_at rejected discounted ruled_out not_pursued should request* require* asked ask prefer* "
        "would_like policy existing nearest currently recommended guidance formerly superseded option options nearby elsewhere if",
    }
)
_OTHERS = frozenset(("policy", "requested", "other_scheme", "existing", "historic", "rejected"))


@dataclass(frozen=True)
class _Choice:
    """Things of which only one can be true of a scheme, on statements about these topics."""

    topic: Topic
    topics: tuple[str, ...]
    words: tuple[str, ...]
    about: str
    named: str = ""  # a word that a statement must have
    first: bool = False  # whether the first of several words decides: "three months before the first home is occupied"


_CHOICES = (
    _Choice(
        "junction.crossing",
        ("junction.crossing", "offsite.works"),
        (
            "a toucan crossing",
            "a puffin crossing",
            "a zebra crossing",
            "a parallel crossing",
            "an uncontrolled crossing",
        ),
        "the crossing",
    ),
    _Choice(
        "cycle_parking.quality",
        ("cycle_parking.quality", "cycle_parking.long_stay"),
        ("at street level", "in the basement"),
        "where cycles are kept",
        named="cycles",
    ),
    _Choice(
        "travel_plan.monitoring",
        ("travel_plan.monitoring",),
        ("every year", "in some years"),
        "how often travel is surveyed",
    ),
    _Choice(
        "travel_plan.coordinator",
        ("travel_plan.coordinator",),
        ("before first occupation", "after occupation"),
        "when the travel plan coordinator is appointed",
        named="coordinator",
        first=True,
    ),
)


def find_sole_words(said: Sequence[Said]) -> Iterator[Discrepancy]:
    """Yield the choices that two documents of the applicant or the authority make differently."""
    for choice in _CHOICES:
        told: dict[str, list[tuple[str, Said]]] = {}
        for one in said:
            told.setdefault(one.document.id, []).extend((word, one) for word in _chosen(one, choice))
        sole = [found[0] for found in told.values() if len({word for word, _ in found}) == 1]
        pair = next(((one, other) for one in sole for other in sole if _differ(one, other)), None)
        if pair is not None:
            yield _discrepancy(choice, pair)


def _chosen(said: Said, choice: _Choice) -> list[str]:
    """Return the words of a choice that a statement says of the scheme."""
    topics, statuses = {fact.topic for fact in said.facts}, {fact.status for fact in said.facts}
    by_condition = said.document.source_kind == "council" and any(fact.speaker == "condition" for fact in said.facts)
    imposed = by_condition or said.is_requirement
    if not topics & set(choice.topics) or statuses & _OTHERS or imposed or said.is_elsewhere:
        return []
    cues = _WORDS.tag_text(said.text)
    if "unsaid" in cues or said.statement.kind == "heading" or (choice.named and choice.named not in cues):
        return []
    return [word for word in choice.words if word in cues][: 1 if choice.first else None]


def _differ(one: tuple[str, Said], other: tuple[str, Said]) -> bool:
    return one[0] != other[0] and not is_revised(one[1].document, other[1].document)


def _discrepancy(choice: _Choice, pair: tuple[tuple[str, Said], tuple[str, Said]]) -> Discrepancy:
    places = " and ".join(f"{word} ({said.document.name}{_page(said)})" for word, said in pair)
    return Discrepancy(
        kind="words_differ",
        topic=choice.topic,
        summary=f"The documents contradict each other on {choice.about}: {places}.",
        inputs=tuple(Input(words=said.text, source=said.source) for _, said in pair),
    )


def _page(said: Said) -> str:
    return f", page {said.statement.page}" if said.statement.page is not None else ""
