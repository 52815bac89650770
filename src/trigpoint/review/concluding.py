"""From what was verified to a judgement: ratings by the stated rule, open points, and the conclusion's sentences checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trigpoint.review.aspects import Aspect
from trigpoint.review.citing import Titles, document_places, places_text
from trigpoint.review.concluded_sentences import (
    Holding,
    Known,
    as_sentence,
    ask_reasons,
    findings_of,
    ids_of,
    kept_sentences,
    known_of,
    open_id,
    repeated_grounds,
    sentence_reasons,
)
from trigpoint.review.conclusion import Conclusion
from trigpoint.review.consultees import Recommendation, recommendations
from trigpoint.review.deciding import deciding_first, proving
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import SHORTFALLS, Citation, Elsewhere, Finding, Limit, Outcome, Place, Rating
from trigpoint.review.letter import Condition, Ground, Letter, PointKind, Reference, Stance, Suggestion
from trigpoint.review.not_seen import not_seen
from trigpoint.review.officers import officers_recommendation
from trigpoint.review.quoting import asks, quotations
from trigpoint.review.rating import key_issue, rate, weightiest
from trigpoint.review.result import AspectReview, Judgement
from trigpoint.review.rules import assessed, contradictions, general_contradictions, judge_check
from trigpoint.review.submitted import (
    MOST_GROUNDS,
    MOST_MAIN,
    MOST_OPEN,
    DraftConclusion,
    DraftGround,
)
from trigpoint.review.titles import titles_of

_MOST_PLACES = 5  # documents that a ground of the letter names
_MOST_REFERENCES = 12


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
    counting = {name: one for name, one in held.items() if one.counts and not (given and name in given.left_out)}
    main = given.main if given else ()
    told = _told_elsewhere(held, counting, aspects)
    told |= {_question(one): None for name, one in held.items() if given and name in given.overtaken}
    marked = _with_limits(held, counting)
    judged = tuple(_aspect_review(left, one, counting, told, marked, main) for one in aspects)
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
        officers=officers_recommendation(evidence),
        not_seen=not_seen(evidence),
        titles=titles_of(evidence.documents),
    )


def _current(given: DraftConclusion | None, evidence: Evidence) -> tuple[Recommendation, ...]:
    """Return what consultees recommend, without the answers that the conclusion calls outdated."""
    outdated = given.outdated if given else ()
    return tuple(one for number, one in enumerate(recommendations(evidence), 1) if f"K{number}" not in outdated)


def _unsettled(evidence: Evidence, settled: frozenset[str]) -> Evidence:
    """Return the evidence without the discrepancies that were dismissed or are reported by a finding."""
    kept = tuple(one for number, one in enumerate(evidence.discrepancies, 1) if f"C{number}" not in settled)
    return replace(evidence, discrepancies=kept)


def _told_elsewhere(
    held: Mapping[str, Holding], counting: Mapping[str, Holding], aspects: Sequence[Aspect]
) -> dict[tuple[str, str | None], Elsewhere | None]:
    """Return the questions of which an answer repeats another one, with that answer; None if it is told in the same aspect
    or is an open point. A question that has other answers is among them if these alone would hide that it falls short.
    """
    names = {one.id: one.name for one in aspects}
    told: dict[tuple[str, str | None], Elsewhere | None] = {}
    for one in held.values():
        question, kept = _question(one), counting.get(_merged_into(one, held))
        if kept is None or question[1] is None:
            continue
        others = [_outcome(other) for other in counting.values() if _question(other) == question]
        hidden = _falls_short([_outcome(one)]) and not _falls_short(others)
        if others and not hidden:
            continue
        told[question] = None
        if kept.finding is not None and kept.given.aspect != one.given.aspect:
            asked = one.finding or one.open_point
            told[question] = Elsewhere(
                requirement=asked.requirement if asked else kept.finding.requirement,
                essential=asked.essential if asked else False,
                outcome=(one.finding or kept.finding).outcome,  # what was found on this question
                finding=kept.finding.check,
                aspect=names.get(kept.given.aspect, kept.given.aspect),
                text=kept.finding.text,
            )
    return told


def _short_questions(held: Mapping[str, Holding], counting: Mapping[str, Holding]) -> frozenset[tuple[str, str | None]]:
    """Return the questions on which something falls short or is open, told there or merged into another finding."""
    return frozenset(
        _question(one)
        for name, one in held.items()
        if one.given.question is not None
        and (one.open_point is not None or _falls_short([_outcome(one)]))
        and (name in counting or _merged_into(one, held) in counting)
    )


def _question(one: Holding) -> tuple[str, str | None]:
    return one.given.aspect, one.given.question


def _outcome(one: Holding) -> Outcome | None:
    return one.finding.outcome if one.finding is not None else None


def _falls_short(outcomes: Iterable[Outcome | None]) -> bool:
    return any(one in SHORTFALLS for one in outcomes)


def _merged_into(one: Holding, held: Mapping[str, Holding]) -> str:
    """Return the name of the finding that one was merged into in the end; nothing if it was not."""
    name = ""
    while one.merged_into is not None:
        name, one = one.merged_into, held[one.merged_into]
    return name


def _aspect_review(
    evidence: Evidence,
    aspect: Aspect,
    counting: Mapping[str, Holding],
    told: Mapping[tuple[str, str | None], Elsewhere | None],
    marked: Mapping[str, Finding],
    main: Sequence[str] = (),
) -> AspectReview:
    own = {name: one for name, one in counting.items() if one.given.aspect == aspect.id}
    findings = [marked[name] for name in own if name in marked]
    open_points = [
        one.open_point.model_copy(update={"id": open_id(name)})
        for name, one in own.items()
        if one.open_point is not None
    ]
    answered = {one.given.question for one in own.values()} | {question for name, question in told if name == aspect.id}
    elsewhere = tuple(one for (name, _), one in told.items() if name == aspect.id and one is not None)
    asked = aspect.asked(evidence.profile)
    for check in asked:
        if check.id not in answered:
            by_rules = judge_check(evidence, aspect, check)
            (findings if isinstance(by_rules, Finding) else open_points).append(by_rules)  # type: ignore[arg-type]
    found = (*findings, *contradictions(evidence, aspect))
    said = quotations(evidence, aspect)
    rating = rate((*found, *elsewhere), open_points)
    chosen = [own[name].finding for name in main if name in own]
    applies = bool(asked) or bool(findings)
    return AspectReview(
        id=aspect.id,
        name=aspect.name,
        rating=rating,
        key_issue=_key_issue(chosen, rating)
        or key_issue(aspect.name, rating, found, open_points, said, applies=applies, elsewhere=elsewhere),
        findings=found,
        assessed=assessed((*found, *elsewhere), open_points),
        elsewhere=elsewhere,
        not_assessed=tuple(open_points),
        applies=applies or bool(said),
        asks=asks(evidence, aspect) if asked else (),
        says=said,
    )


def _with_limits(held: Mapping[str, Holding], counting: Mapping[str, Holding]) -> dict[str, Finding]:
    """Return the findings. What is met is marked as a part of what is asked for if another part of the question falls short
    or is open, or if another point of the review limits it, which is told with it.
    """
    short = _short_questions(held, counting)
    marked = {}
    for name, one in counting.items():
        if (finding := one.finding) is not None:
            limits = _limits(name, held, counting) if finding.outcome == "met" else ()
            if limits or (finding.outcome == "met" and _question(one) in short):
                finding = _of_a_part(finding, limits)
            marked[name] = finding
    return marked


def _of_a_part(finding: Finding, limits: tuple[Limit, ...]) -> Finding:
    flags = finding.flags if limits else (*finding.flags, "Other parts of what is asked for fall short or are open.")
    marked = {"requirement": f"{finding.requirement} (a part of it)", "limits": limits, "flags": flags}
    return finding.model_copy(update=marked)


def _limits(name: str, held: Mapping[str, Holding], counting: Mapping[str, Holding]) -> tuple[Limit, ...]:
    """Return the points that limit what is met, as they are told in the end: a merged one by what it was merged into."""
    ends = [other if other in counting else _merged_into(held[other], held) for other in held[name].limited_by]
    limits = []
    for other in dict.fromkeys(ends):
        limit = counting.get(other) if other != name else None
        if limit is not None and limit.finding is not None:
            limits.append(Limit(point=limit.finding.check, text=limit.finding.lacking or limit.finding.text))
        elif limit is not None and limit.open_point is not None:
            limits.append(Limit(point=open_id(other), text=limit.open_point.reason))
    return tuple(limits)


def _key_issue(chosen: Iterable[Finding | None], rating: Rating) -> str:
    """Return the weightiest shortfall of an aspect by the order of the conclusion; nothing if it names none."""
    short = [one for one in chosen if one is not None and one.outcome in SHORTFALLS]
    return short[0].text.rstrip(".") if short and rating != "green" else ""


def _conclusion(
    given: DraftConclusion, findings: Mapping[str, Finding], held: Mapping[str, Holding], evidence: Evidence
) -> Conclusion:
    known = known_of(findings, held)
    return Conclusion(
        summary=kept_sentences("summary", given.summary, known, evidence),
        recommendations=kept_sentences("recommendations", given.recommendations, known, evidence),
        conditions=kept_sentences("conditions", given.conditions, known, evidence),
        main=_main(given.main, findings, known),
    )


def _letter(
    given: DraftConclusion, findings: Mapping[str, Finding], counting: Mapping[str, Holding], evidence: Evidence
) -> Letter | None:
    """Return the letter: its grounds as they were written, its references from the findings they rest on.

    None if no ground holds: the letter is then written from the findings.
    """
    known = known_of(findings, counting)
    repeated = repeated_grounds(given.letter)
    held = [
        one
        for number, one in enumerate(given.letter, 1)
        if number not in repeated and not sentence_reasons("letter", one, known, evidence)
    ]
    grounds = [*[one for one in held if not one.welcomes][:MOST_GROUNDS], *[one for one in held if one.welcomes][:1]]
    if not grounds:
        return None
    conditions = kept_sentences("conditions", given.conditions, known, evidence)
    stance = _stance(given.stance, findings.values())
    return Letter(
        stance=stance,
        suggestion=Suggestion(stance=stance, why=given.why_stance) if given.why_stance else None,
        reference=evidence.application_ref,
        site=evidence.profile.site[:1000],
        proposal=evidence.profile.proposal[:6000],
        grounds=tuple(
            _ground(number, _with_proved_ask(one, known, evidence), known, counting, titles_of(evidence.documents))
            for number, one in enumerate(grounds, 1)
        ),
        conditions=tuple(Condition(text=one.text, rests_on=one.rests_on, annex=True) for one in conditions),
    )


def _with_proved_ask(one: DraftGround, known: Known, evidence: Evidence) -> DraftGround:
    """Return a ground without what it asks for, if that has a figure of nobody's."""
    return one.model_copy(update={"asks": ""}) if ask_reasons(one, known, evidence) else one


def _ground(number: int, one: DraftGround, known: Known, counting: Mapping[str, Holding], titles: Titles) -> Ground:
    """Return a ground. What is met is no ground against anything: it is welcomed."""
    cited = findings_of(one.rests_on, known)
    resting = [finding for finding in cited if finding.outcome != "met"] or cited
    kind: PointKind = "strength" if one.welcomes else _kind(resting)
    told = cited if one.welcomes else resting
    left_open = [point for name in one.rests_on if (point := counting[name].open_point)]
    evidence = [*(finding.evidence for finding in told), *(point.evidence for point in left_open)]
    quoted = deciding_first(one.text, (citation for citations in evidence for citation in citations))
    shown = [citation for citations in evidence for citation in proving(one.text, citations, most=_MOST_PLACES)]
    touched = [place for point in left_open if not point.evidence for place in point.places]
    return Ground(
        id=f"ground-{number}",
        kind=kind,
        ticked=kind != "strength" or (one.welcomes and not any(f.outcome in ("failed", "contradicted") for f in told)),
        heading=one.heading.strip().rstrip("."),
        text=f"{as_sentence(one.text)}{_places(one.text, deciding_first(one.text, shown), touched, titles)}",
        references=tuple(_references(quoted, told))[:_MOST_REFERENCES],
        asks=" ".join(one.asks.split()) if kind != "strength" else "",
        rests_on=ids_of((name for name in one.rests_on if known[name] not in cited or known[name] in told), known),
    )


def _places(text: str, quoted: Sequence[Citation], places: Sequence[Place], titles: Titles) -> str:
    """Return where the documents say what a ground tells, in brackets, without the pages that it names itself.

    Of each finding those pages are named that have figures or words of the text, and the documents that have most of them
    come first. An open point without quotations names the pages that touch on it.
    """
    named = document_places(quoted, _MOST_PLACES, text, titles) or places_text(places, _MOST_PLACES, titles)
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
    short = any(finding.outcome in SHORTFALLS for finding in findings)
    return "comment" if given == "object" and not short else given


def _main(given: Iterable[str], findings: Mapping[str, Finding], known: Known) -> tuple[str, ...]:
    """Return the main part: the findings and the few open points that were named, or else the weightiest findings."""
    names = [name for name in dict.fromkeys(given) if name in known]
    left = [name for name in names if name not in findings][MOST_OPEN:]
    named = ids_of((name for name in names if name not in left), known)
    chosen = named or tuple(finding.check for finding in weightiest(list(findings.values())))
    return tuple(dict.fromkeys(chosen))[:MOST_MAIN]
