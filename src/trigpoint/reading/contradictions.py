"""Contradictions between statements: one thing with two figures, and a claim of compliance next to a shortfall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trigpoint.reading.discrepancies import Discrepancy, Input, distinct, figures
from trigpoint.reading.facts import Fact
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.profile import Profile
from trigpoint.reading.quantities import Quantity
from trigpoint.reading.vocabulary import Topic

_TOTALS: dict[Topic, str] = {
    "cycle_parking.long_stay": "cycle space",
    "cycle_parking.short_stay": "cycle space",
    "cycle_parking.total": "cycle space",
    "car_parking": "car space",
}
_NEUTRAL = frozenset(
    "cycle bicycle bike car parking vehicle new proposed internal secure covered total dedicated on site long short stay "
    "long-stay short-stay on-site".split()
)
_STATED = frozenset(("proposed", "phased", "mentioned"))
_CLAIMS = Lexicon(
    {
        "claim": "accordance accords complies comply compliant compliance meets in_line_with conforms exceeds",
        "shortfall": "shortfall under_-_provision underprovision below_the fails_to_meet does_not_meet not_meet falls_short "
        "reduced_provision less_than_the",
        "part": "block phase plot zone each additional extra further remaining balance level floor basement existing "
        "building visitor accessible disabled first of_which including",
        "not_ours": "require* need needed minimum standard standards demand policy previous previously consented former "
        "originally superseded approved earlier initially recommended requested asked should must could may would_require "
        "reduction reduced increase increased from_the adjacent neighbouring existing maximum",
        "standard": "requirement requirements standard standards london_plan local_plan policy development_plan",
    }
)


def find_contradictions(facts: Sequence[Fact], profile: Profile) -> tuple[Discrepancy, ...]:
    """Return what the documents say in two ways. Only plain totals of the scheme itself are compared."""
    found = [*_profile_disagreements(profile), *_different_totals(facts), *_claims_beside_shortfalls(facts)]
    return distinct(found)


def _profile_disagreements(profile: Profile) -> Iterator[Discrepancy]:
    for one in profile.disagreements:
        inputs = tuple(
            Input(value=size.size, unit=size.unit, words=size.source.quote, source=size.source)
            for size in one.sizes
            if size.source is not None
        )
        if len(inputs) > 1:
            yield _differ("development.size", inputs, f"the number of {one.sizes[0].use}")


def _different_totals(facts: Sequence[Fact]) -> Iterator[Discrepancy]:
    for topic in _TOTALS:
        totals = [(fact, one) for fact in facts if fact.topic == topic and (one := _total(fact)) is not None]
        first = {one.value: (fact, one) for fact, one in reversed(totals)}
        if len(first) > 1:
            inputs = tuple(
                Input(value=one.value, unit=one.unit, words=fact.source.quote, source=fact.source)
                for fact, one in sorted(first.values(), key=lambda pair: _place(pair[0]))
            )
            yield _differ(topic, inputs, _NAMES[topic])


def _total(fact: Fact) -> Quantity | None:
    """Return the figure of a statement that gives the scheme's whole number of spaces, and no other."""
    if fact.status not in _STATED or fact.speaker not in ("applicant", "officer"):
        return None
    counts = [one for one in fact.quantities if one.unit == _TOTALS[fact.topic] and one.per is None]
    if len(counts) != 1 or counts[0].limit != "exactly" or counts[0].high is not None:
        return None
    described = set(counts[0].of.replace("-", " ").split())
    if "not_ours" in _CLAIMS.tag_text(fact.source.quote):
        return None
    around = fact.source.quote[max(0, counts[0].start - AROUND) : counts[0].end + AROUND]
    return counts[0] if described <= _NEUTRAL and "part" not in _CLAIMS.tag_text(around) else None


def _differ(topic: Topic, inputs: tuple[Input, ...], what: str) -> Discrepancy:
    said = " and ".join(f"{figures(one.value or 0)} ({one.source.document}, page {one.source.page})" for one in inputs)
    return Discrepancy(
        kind="figures_differ",
        topic=topic,
        summary=f"The documents give different figures for {what}: {said}.",
        inputs=inputs,
    )


def _claims_beside_shortfalls(facts: Sequence[Fact]) -> Iterator[Discrepancy]:
    """Pair an applicant's claim of compliance with an admitted shortfall on the same subject in the same document."""
    shortfalls = [fact for fact in facts if fact.topic.startswith("cycle_parking") and _admits_shortfall(fact)]
    for shortfall in shortfalls[:1]:
        claims = [fact for fact in facts if _claims_compliance(fact) and _close(fact, shortfall)]
        if claims:
            nearest = min(
                claims, key=lambda fact: (_cites_guidance(fact), abs(fact.source.start - shortfall.source.start))
            )
            yield Discrepancy(
                kind="claim_against_shortfall",
                topic=shortfall.topic,
                summary="Compliance is claimed for cycle parking, and a shortfall is admitted.",
                inputs=tuple(Input(words=fact.source.quote, source=fact.source) for fact in (nearest, shortfall)),
            )


def _admits_shortfall(fact: Fact) -> bool:
    """Whether the applicant says that less than the standard is provided."""
    if fact.speaker != "applicant" or fact.status in ("policy", "requested", "other_scheme", "existing"):
        return False
    cues = _CLAIMS.tag_text(fact.source.quote)
    partial = any(one.unit == "%" and one.value < 100 and _is_standard(one.of) for one in fact.quantities)
    return "shortfall" in cues or partial


def _is_standard(words: str) -> bool:
    return "standard" in _CLAIMS.tag_text(words)


def _claims_compliance(fact: Fact) -> bool:
    claims = "claim" in _CLAIMS.tag_text(fact.source.quote)
    return fact.topic == "compliance.claim" and fact.status != "policy" and fact.speaker == "applicant" and claims


def _cites_guidance(fact: Fact) -> bool:
    """Whether a claim rests on guidance only: one that rests on a plan or a standard says more."""
    return "standard" not in _CLAIMS.tag_text(fact.source.quote)


def _close(one: Fact, other: Fact) -> bool:
    """Whether two facts are in one document, on one page or the next."""
    if one.source.document_id != other.source.document_id or one.source.statement == other.source.statement:
        return False
    return (
        abs((one.source.page or 0) - (other.source.page or 0)) <= 1
        and abs(one.source.statement - other.source.statement) <= NEAR
    )


def _place(fact: Fact) -> tuple[str, int]:
    return fact.source.document_id, fact.source.start


AROUND = 40  # characters around a figure in which a word tells that it is only a part
NEAR = 12  # statements between a claim and the shortfall that it stands next to
_NAMES: dict[Topic, str] = {
    "cycle_parking.long_stay": "long-stay cycle parking",
    "cycle_parking.short_stay": "short-stay cycle parking",
    "cycle_parking.total": "cycle parking",
    "car_parking": "car parking",
}
