"""From what was verified to a judgement: ratings by the stated rule, open points, and the conclusion's sentences checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from trigpoint.review.aspects import Aspect
from trigpoint.review.citing import document_places, place_text
from trigpoint.review.conclusion import Conclusion, Sentence
from trigpoint.review.consultees import Recommendation, recommendations
from trigpoint.review.deciding import deciding_first
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import Citation, Finding, NotAssessed, Place, Rating
from trigpoint.review.letter import Condition, Ground, Letter, PointKind, Reference, Stance, Suggestion
from trigpoint.review.not_seen import not_seen
from trigpoint.review.proportion import demanding, disproportionate
from trigpoint.review.quoting import asks, quotations
from trigpoint.review.rating import key_issue, rate, weightiest
from trigpoint.review.result import AspectReview, Judgement
from trigpoint.review.rules import assessed, contradictions, general_contradictions, judge_check
from trigpoint.review.submitted import (
    MOST_GROUNDS,
    MOST_MAIN,
    MOST_OPEN,
    Cited,
    DraftConclusion,
    DraftFinding,
    DraftGround,
    SummarySentence,
    Verdict,
)
from trigpoint.review.verify_figures import figure_reasons, proposed_reasons

_VAGUE = re.compile(
    r"\b(?:where(?:ver)? possible|as far as (?:is )?(?:reasonably )?practicable|if possible|should consider|consider|"
    r"encourage[sd]?|endeavour\w*|adequate|appropriate level)\b",
    re.IGNORECASE,
)
_TRIGGER = re.compile(
    r"\b(?:before|until|prior to|within|upon|thereafter|at all times|for the (?:life|lifetime) of|no later than|first "
    r"(?:occupation|use|occupied|used|approved)|commence\w*|during|in accordance with|as approved|retained|maintained)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(r"£\s?\d|\b(?:financial )?contributions?\b|\bpay(?:s|ment)?\b", re.IGNORECASE)
_ABOUT_DOCUMENTS = re.compile(
    r"\b(?:documents?|application|submission|applicant) (?:do|does|did|has|have) not\b", re.IGNORECASE
)
_NAME_OR_FIGURE = re.compile(r"\d|(?<=[a-z,:;] )[A-Z]")
_MOST_PLACES = 5  # documents that a ground of the letter names
_MOST_REFERENCES = 12
_STEM = 5  # letters by which "junction" is known again in "junctions"
_COMMON_STEMS = frozenset(
    word[:_STEM]
    for word in "that this these those with from into their there which than more most less least must shall should would could "
    "before after provide proposed proposal scheme development improve better make sure".split()
)


class Holding(Protocol):
    """A finding that was handed in, as the conclusion needs it."""

    @property
    def given(self) -> DraftFinding: ...
    @property
    def finding(self) -> Finding | None: ...
    @property
    def open_point(self) -> NotAssessed | None: ...
    @property
    def counts(self) -> bool: ...


def conclude(
    given: DraftConclusion | None,
    *,
    evidence: Evidence,
    aspects: Sequence[Aspect],
    held: Mapping[str, Holding],
    settled: frozenset[str],
    model: str,
) -> Judgement:
    """Return the judgement. What the judge left unanswered is judged by rules if they are certain, and else left open."""
    left = _unsettled(evidence, settled)
    counting = {name: one for name, one in held.items() if one.counts and not (given and name in given.repeats)}
    main = given.main if given else ()
    judged = tuple(_aspect(left, one, counting, main) for one in aspects)
    findings = {name: one.finding for name, one in counting.items() if one.finding is not None}
    return Judgement(
        aspects=judged,
        contradictions=general_contradictions(left),
        profile=evidence.profile,
        analyser="llm",
        model=model,
        conclusion=_conclusion(given, findings, counting, evidence) if given else None,
        letter=_letter(given, findings, counting, evidence) if given else None,
        consultees=_current(given, evidence),
        not_seen=not_seen(evidence),
    )


def _current(given: DraftConclusion | None, evidence: Evidence) -> tuple[Recommendation, ...]:
    """Return what consultees recommend, without the answers that the conclusion calls outdated."""
    outdated = given.outdated if given else ()
    return tuple(one for number, one in enumerate(recommendations(evidence), 1) if f"K{number}" not in outdated)


def _unsettled(evidence: Evidence, settled: frozenset[str]) -> Evidence:
    """Return the evidence without the discrepancies that were dismissed or are reported by a finding."""
    kept = tuple(one for number, one in enumerate(evidence.discrepancies, 1) if f"C{number}" not in settled)
    return replace(evidence, discrepancies=kept)


def _aspect(
    evidence: Evidence, aspect: Aspect, counting: Mapping[str, Holding], main: Sequence[str] = ()
) -> AspectReview:
    own = {name: one for name, one in counting.items() if one.given.aspect == aspect.id}
    findings = [one.finding for one in own.values() if one.finding is not None]
    open_points = [
        one.open_point.model_copy(update={"id": _open_id(name)})
        for name, one in own.items()
        if one.open_point is not None
    ]
    answered = {one.given.question for one in own.values()}
    asked = aspect.asked(evidence.profile)
    for check in asked:
        if check.id not in answered:
            by_rules = judge_check(evidence, aspect, check)
            (findings if isinstance(by_rules, Finding) else open_points).append(by_rules)  # type: ignore[arg-type]
    found = (*findings, *contradictions(evidence, aspect))
    said = quotations(evidence, aspect)
    rating = rate(found, open_points)
    chosen = [own[name].finding for name in main if name in own]
    applies = bool(asked) or bool(findings)
    return AspectReview(
        id=aspect.id,
        name=aspect.name,
        rating=rating,
        key_issue=_key_issue(chosen, rating)
        or key_issue(aspect.name, rating, found, open_points, said, applies=applies),
        findings=found,
        assessed=assessed(found, open_points),
        not_assessed=tuple(open_points),
        applies=applies or bool(said),
        asks=asks(evidence, aspect) if asked else (),
        says=said,
    )


def _open_id(name: str) -> str:
    return f"open-{name.lower()}"


def _key_issue(chosen: Iterable[Finding | None], rating: Rating) -> str:
    """Return the weightiest shortfall of an aspect by the order of the conclusion; nothing if it names none."""
    short = [one for one in chosen if one is not None and one.outcome in ("failed", "partly", "contradicted")]
    return short[0].text.rstrip(".") if short and rating != "green" else ""


def conclusion_verdicts(
    given: DraftConclusion, findings: Mapping[str, Finding], evidence: Evidence, held: Mapping[str, Holding]
) -> list[Verdict]:
    """Return a verdict on every sentence of a conclusion that would be left out, with the reason."""
    known = _known(findings, held)
    verdicts = []
    for part in ("summary", "recommendations", "conditions", "letter"):
        for number, one in enumerate(getattr(given, part), 1):
            reasons = _sentence_reasons(part, one, known, evidence)
            if reasons:
                verdicts.append(Verdict(id=f"{part} {number}", verdict="dropped", reasons=tuple(reasons)))
    for number, first in _repeated(given.letter).items():
        again = f"It rests on the same findings as letter {first}: make each point once, and put both into one ground"
        verdicts.append(Verdict(id=f"letter {number}", verdict="dropped", reasons=(again,)))
    verdicts += [Verdict(id="main", verdict="dropped", reasons=(reason,)) for reason in _main_reasons(given, findings)]
    return verdicts


def _main_reasons(given: DraftConclusion, findings: Mapping[str, Finding]) -> Iterator[str]:
    """Yield what should be mended in the main part: two findings of one outcome that rest on the same words."""
    chosen = [name for name in dict.fromkeys(given.main) if name in findings]
    for at, name in enumerate(chosen):
        for other in chosen[at + 1 :]:
            one, two = findings[name], findings[other]
            if one.outcome == two.outcome and _deciding(one) & _deciding(two):
                yield (
                    f"{name} and {other} rest on the same words: if they make one point, list one of them in `repeats` and "
                    "leave it out of `main`; otherwise hand both in again"
                )


def _deciding(finding: Finding) -> set[str]:
    """Return the places of the words that prove most of a finding."""
    return {one.passage_id for one in deciding_first(finding.text, finding.evidence)[:1]}


def _repeated(grounds: Sequence[DraftGround]) -> dict[int, int]:
    """Return the numbers of grounds that rest on the same findings as one before them, with the number of that one."""
    first: dict[tuple[frozenset[str], bool], int] = {}
    repeated = {}
    for number, one in enumerate(grounds, 1):
        point = frozenset(one.rests_on), one.welcomes
        if one.rests_on and point in first:
            repeated[number] = first[point]
        first.setdefault(point, number)
    return repeated


Known = Mapping[
    str, Finding | DraftFinding
]  # what sentences may rest on: findings, and as they were given, open points


def _known(findings: Mapping[str, Finding], held: Mapping[str, Holding]) -> Known:
    return {name: findings.get(name) or one.given for name, one in held.items() if one.counts}


def _findings(names: Iterable[str], known: Known) -> list[Finding]:
    return [one for name in names if isinstance(one := known[name], Finding)]


def _sentence_reasons(part: str, one: Cited, known: Known, evidence: Evidence) -> list[str]:
    unknown = [name for name in one.rests_on if name not in known]
    if unknown:
        return [f"{', '.join(unknown)} is not a finding that counts"]
    resting = _findings(one.rests_on, known)
    sources = [*_sources(resting, evidence), *_open_sources(known[name] for name in one.rests_on)]
    check = proposed_reasons if part in ("recommendations", "conditions") else figure_reasons
    reasons = check(one.text, sources, [c for f in resting for c in f.calculations], evidence)
    if isinstance(one, DraftGround) and one.asks:
        calculations = [c for f in resting for c in f.calculations]
        reasons += [f"What it asks: {why}" for why in proposed_reasons(one.asks, sources, calculations, evidence)]
    if _ABOUT_DOCUMENTS.search(one.text):
        reasons.append("Never say what the documents do not say: write “I found no …”, or ask for it to be shown")
    if part in ("recommendations", "conditions", "letter") and not one.rests_on:
        reasons.append("It must rest on a finding")
    if part in ("recommendations", "conditions") and resting and all(f.outcome == "met" for f in resting):
        reasons.append("It rests only on points that are met")
    if part == "recommendations" and resting and not _names_something(one.text, resting):
        reasons.append("It names nothing that its findings speak of: name the place, and what to do there")
    demand = f"{demanding(one.text)} {one.asks}" if isinstance(one, DraftGround) else one.text
    if part != "summary" and (reason := disproportionate(demand, evidence.profile)):
        reasons.append(reason)
    if part == "conditions":
        reasons += _condition_reasons(one.text)
    return reasons


def _names_something(text: str, resting: Iterable[Finding]) -> bool:
    """Return whether a recommendation has a name or a figure, or shares a word with the findings that it rests on.

    One that does neither can be no place's. Whether it names an action is left to the reader: words alone do not tell.
    """
    said = (
        part
        for finding in resting
        for part in (finding.text, finding.requirement, *(citation.quote for citation in finding.evidence))
    )
    return _NAME_OR_FIGURE.search(text) is not None or bool(_stems(text) & _stems(" ".join(said)))


def _stems(text: str) -> set[str]:
    return {word[:_STEM].casefold() for word in re.findall(r"[^\W\d_]{4,}", text)} - _COMMON_STEMS


def _condition_reasons(text: str) -> list[str]:
    """Return which of the tests of a planning condition a text plainly fails: precise and enforceable."""
    reasons = (
        []
        if re.search(r"\bshall\b|\bmust\b", text)
        else ["A condition says what shall be done: it must be enforceable"]
    )
    if vague := _VAGUE.search(text):
        reasons.append(f"“{vague.group()}” is not precise enough for a condition")
    if not _TRIGGER.search(text):
        reasons.append("A condition says by when, or until when, it must be met: otherwise it cannot be enforced")
    if money := _MONEY.search(text):
        reasons.append(f"“{money.group()}”: a payment is secured by an obligation, not by a condition")
    return reasons


def _sources(findings: Iterable[Finding], evidence: Evidence) -> list[str]:
    texts = [evidence.profile.proposal, evidence.profile.site]
    for finding in findings:
        texts += [finding.text, finding.requirement, finding.recommendation or "", finding.condition or ""]
        texts += [citation.quote for citation in finding.evidence]
        texts += [f"{citation.document} {' '.join(map(str, citation.pages))}" for citation in finding.evidence]
        texts += [
            evidence.policies[one.passage_id].text for one in finding.policy if one.passage_id in evidence.policies
        ]
        texts += [one.expression for one in finding.calculations]
    return texts


def _open_sources(given: Iterable[Finding | DraftFinding]) -> list[str]:
    """Return what open points quote, with the pages, and what they propose: a sentence may tell what was found."""
    points = [one for one in given if isinstance(one, DraftFinding)]
    quoted = [f"{quote.words} {quote.page or ''}" for one in points for quote in one.evidence]
    return [*quoted, *(text for one in points for text in (one.recommendation, one.condition) if text)]


def _conclusion(
    given: DraftConclusion, findings: Mapping[str, Finding], held: Mapping[str, Holding], evidence: Evidence
) -> Conclusion:
    known = _known(findings, held)
    return Conclusion(
        summary=_kept("summary", given.summary, known, evidence),
        recommendations=_kept("recommendations", given.recommendations, known, evidence),
        conditions=_kept("conditions", given.conditions, known, evidence),
        main=_main(given.main, findings, known),
    )


def _kept(part: str, sentences: Iterable[Cited], known: Known, evidence: Evidence) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            text=_sentence(one.text),
            rests_on=_resting(one.rests_on, known),
            part=one.part if isinstance(one, SummarySentence) else None,
        )
        for one in sentences
        if not _sentence_reasons(part, one, known, evidence)
    )


def _sentence(text: str) -> str:
    """Return a text on one line, with a capital in front and a full stop at its end."""
    plain = " ".join(text.split())
    stop = "" if plain[-1:] in ".!?" else "."
    return f"{plain[:1].upper()}{plain[1:]}{stop}"


def _letter(
    given: DraftConclusion, findings: Mapping[str, Finding], counting: Mapping[str, Holding], evidence: Evidence
) -> Letter | None:
    """Return the letter: its grounds as they were written, its references from the findings they rest on.

    None if no ground holds: the letter is then written from the findings.
    """
    known = _known(findings, counting)
    repeated = _repeated(given.letter)
    held = [
        one
        for number, one in enumerate(given.letter, 1)
        if number not in repeated and not _sentence_reasons("letter", one, known, evidence)
    ]
    grounds = [*[one for one in held if not one.welcomes][:MOST_GROUNDS], *[one for one in held if one.welcomes][:1]]
    if not grounds:
        return None
    conditions = _kept("conditions", given.conditions, known, evidence)
    stance = _stance(given.stance, findings.values())
    return Letter(
        stance=stance,
        suggestion=Suggestion(stance=stance, why=given.why_stance) if given.why_stance else None,
        reference=evidence.application_ref,
        site=evidence.profile.site[:1000],
        proposal=evidence.profile.proposal[:6000],
        grounds=tuple(_ground(number, one, known, counting) for number, one in enumerate(grounds, 1)),
        conditions=tuple(Condition(text=one.text, rests_on=one.rests_on, annex=True) for one in conditions),
    )


def _ground(number: int, one: DraftGround, known: Known, counting: Mapping[str, Holding]) -> Ground:
    """Return a ground. What is met is no ground against anything: it is welcomed."""
    cited = _findings(one.rests_on, known)
    resting = [finding for finding in cited if finding.outcome != "met"] or cited
    kind: PointKind = "strength" if one.welcomes else _kind(resting)
    told = cited if one.welcomes else resting
    places = [place for name in one.rests_on if (left := counting[name].open_point) for place in left.places]
    quoted = deciding_first(one.text, (citation for finding in told for citation in finding.evidence))
    return Ground(
        id=f"ground-{number}",
        kind=kind,
        ticked=kind != "strength" or (one.welcomes and not any(f.outcome in ("failed", "contradicted") for f in told)),
        heading=one.heading.strip().rstrip("."),
        text=f"{_sentence(one.text)}{_places(one.text, quoted, places)}",
        references=tuple(_references(quoted, told))[:_MOST_REFERENCES],
        asks=" ".join(one.asks.split()) if kind != "strength" else "",
        rests_on=_resting((name for name in one.rests_on if known[name] not in cited or known[name] in told), known),
    )


def _places(text: str, quoted: Sequence[Citation], places: Sequence[Place]) -> str:
    """Return where the documents say what a ground tells, in brackets, without the pages that it names itself.

    The documents that have its figures and words come first. An open point without quotations names the pages that touch
    on it.
    """
    named = document_places(quoted, _MOST_PLACES, text) or "; ".join(place_text(one) for one in places[:_MOST_PLACES])
    return f" (See {named}.)" if named else ""


def _kind(resting: Sequence[Finding]) -> PointKind:
    outcomes = {finding.outcome for finding in resting}
    if not outcomes:
        return "request"
    if outcomes == {"met"}:
        return "strength"
    return "contradiction" if outcomes == {"contradicted"} else "shortfall"


def _references(quoted: Iterable[Citation], resting: Sequence[Finding]) -> Iterable[Reference]:
    """Return the places of the findings, each once: documents first, and of them those that prove the text."""
    said: dict[str, Reference] = {}
    for one in quoted:
        said.setdefault(
            one.place,
            Reference(text=one.place[:300], document_id=one.document_id, passage_id=one.passage_id, pages=one.pages),
        )
    for finding in resting:
        for policy in finding.policy:
            said.setdefault(policy.ref, Reference(text=policy.ref[:300], passage_id=policy.passage_id))
    return said.values()


def _stance(given: Stance, findings: Iterable[Finding]) -> Stance:
    """Return the stance, unless no finding bears it: an objection needs a shortfall."""
    short = any(finding.outcome in ("failed", "partly", "contradicted") for finding in findings)
    return "comment" if given == "object" and not short else given


def _main(given: Iterable[str], findings: Mapping[str, Finding], known: Known) -> tuple[str, ...]:
    """Return the main part: the findings and the few open points that were named, or else the weightiest findings."""
    names = [name for name in dict.fromkeys(given) if name in known]
    left = [name for name in names if name not in findings][MOST_OPEN:]
    named = _resting((name for name in names if name not in left), known)
    chosen = named or tuple(finding.check for finding in weightiest(list(findings.values())))
    return tuple(dict.fromkeys(chosen))[:MOST_MAIN]


def _resting(names: Iterable[str], known: Known) -> tuple[str, ...]:
    """Return findings and open points by the ids that they have in the review."""
    pairs = [(name, known[name]) for name in names]
    return tuple(one.check if isinstance(one, Finding) else _open_id(name) for name, one in pairs)
