"""The first draft of a letter: what the judgement drafted, or what follows from its findings, with nothing added that
the documents do not show. Shortfalls and contradictions come first, then what is essential and not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from trigpoint.review.aspects import load_aspects
from trigpoint.review.assemble import CORE
from trigpoint.review.citing import (
    council_name,
    document_place,
    document_title,
    in_plain_words,
    place_of_ref,
    place_text,
    places_text,
    quoted,
    tidied,
)
from trigpoint.review.consultees import Recommendation, body_name, recommends
from trigpoint.review.disagreements import DISAGREEMENTS
from trigpoint.review.evidence import collapse
from trigpoint.review.findings import SHORTFALLS, Citation, Finding, NotAssessed, listed_pages
from trigpoint.review.letter import (
    LINE,
    LONGEST_ADDRESS,
    MOST_POINTS,
    PARAGRAPH,
    Condition,
    Ground,
    Letter,
    PointKind,
    Reference,
    Stance,
    Suggestion,
)
from trigpoint.review.people import MASK, group_named
from trigpoint.review.rating import weightiest
from trigpoint.review.result import AspectReview, ReviewBody, ReviewResult
from trigpoint.review.wording import listed, within_sentence

MOST_QUESTIONS = 5
MOST_STRENGTHS = 3
LONGEST_QUOTE = 260


def draft_letter(result: ReviewResult) -> Letter:
    """Return the letter as the judgement drafted it, with the register's particulars.

    If no letter was drafted, or none of its points is left after verification, it is written from the findings.
    """
    drafted = result.review.letter
    letter = drafted if drafted is not None and drafted.grounds else _from_findings(result.review)
    application = result.application
    council = {
        "name": (letter.council.name or application.authority_name or council_name(application.authority or ""))[:LINE],
        "address": (letter.council.address or application.authority_post or "")[:LONGEST_ADDRESS],
    }
    return letter.model_copy(
        update={
            "reference": application.reference[:LINE],
            "site": collapse(application.address or "")[:LINE],
            "proposal": collapse(application.proposal or "")[:PARAGRAPH],
            "council": letter.council.model_copy(update=council),
            "consultees": _others(result.review.consultees, letter.stance),
            "suggestion": letter.suggestion or Suggestion(stance=letter.stance, why=""),
            **_in_plain_words(letter, result.review),
        }
    )


def _others(given: Sequence[Recommendation], stance: Stance) -> tuple[str, ...]:
    """Say what consultees recommend, in their words, whatever the stance; and which groups think as the letter does."""
    alike = {"object": "against", "support": "for"}.get(stance)
    groups = [one for one in given if group_named(one.document)]
    joining = [body_name(one) for one in groups if one.position == alike]
    told = [recommends(one) for one in given if one not in groups or alike is None]
    if not joining:
        return tuple(told)
    one_does, several_do = ("objects", "object") if stance == "object" else ("supports it", "support it")
    return (*told, f"{listed(joining)} {several_do if len(joining) > 1 else one_does} too.")


def _in_plain_words(letter: Letter, review: ReviewBody) -> dict[str, tuple[Ground, ...] | tuple[Condition, ...]]:
    """Return points and conditions with documents and policies named as people do, whoever has written them."""
    documents = {citation.document for citation in review.quotations()}
    refs = {policy.ref for policy in review.policies()}

    def plain(text: str) -> str:
        return tidied(in_plain_words(text, documents, refs, review.titles))

    grounds = tuple(
        ground.model_copy(
            update={
                "heading": plain(ground.heading),
                "text": plain(ground.text),
                "asks": plain(ground.asks),
                "references": tuple(
                    one.model_copy(update={"text": plain(one.text)[:LINE]}) for one in ground.references
                ),
            }
        )
        for ground in letter.grounds
    )
    conditions = tuple(one.model_copy(update={"text": plain(one.text)}) for one in letter.conditions)
    return {"grounds": grounds, "conditions": conditions}


def _from_findings(review: ReviewBody) -> Letter:
    grounds = _numbered(_grounds(review))[:MOST_POINTS]
    suggestion = _suggestion(review, grounds)
    shown = [_ticked(ground, suggestion) for ground in grounds]
    conditions = tuple(Condition(text=collapse(text)) for text in review.suggested_conditions)
    return Letter(stance=suggestion.stance, suggestion=suggestion, grounds=tuple(shown), conditions=conditions)


def _ticked(ground: Ground, suggestion: Suggestion) -> Ground:
    """An objection is not weakened by praise or by open questions: they are offered, and not ticked."""
    left_out = suggestion.stance == "object" and ground.kind in ("strength", "question")
    return ground.model_copy(update={"ticked": not left_out})


def _suggestion(review: ReviewBody, grounds: Iterable[Ground]) -> Suggestion:
    applying = [aspect for aspect in review.aspects if aspect.applies]
    against = [ground for ground in grounds if ground.kind in ("shortfall", "contradiction")]
    match review.shown_rating:
        case "red":
            red = [aspect.name.lower() for aspect in applying if aspect.shown_rating == "red"]
            return Suggestion(stance="object", why=f"The overall rating is red. Rated red: {', '.join(red)}.")
        case "green":
            return Suggestion(stance="support", why="The overall rating is green: what was checked meets policy.")
        case "amber" if against:
            count = "one point speaks" if len(against) == 1 else f"{len(against)} points speak"
            why = (
                f"The overall rating is amber: {count} against the application, and could be put right. "
                "If they matter enough to you, object."
            )
            return Suggestion(stance="comment", why=why)
        case "amber":
            return Suggestion(stance="comment", why="The overall rating is amber, and nothing was found to fall short.")
        case _:
            why = (
                "Too little could be judged with certainty for an objection or for support. Read the pages that are "
                "named below: what you find there may give you grounds."
            )
            return Suggestion(stance="comment", why=why)


def _grounds(review: ReviewBody) -> Iterator[Ground]:
    aspects = [aspect for aspect in review.aspects if aspect.applies]
    of = {id(finding): aspect for aspect in aspects for finding in aspect.findings}
    judged = [*(finding for aspect in aspects for finding in aspect.findings), *review.general_contradictions()]
    wanting = [finding for finding in judged if finding.outcome in SHORTFALLS]
    for finding in weightiest(wanting):
        yield _against(finding, of.get(id(finding)))
    for aspect in aspects:
        yield from (_request(point, aspect) for point in aspect.not_assessed if point.essential and point.request)
    core = [aspect for aspect in aspects if aspect.id in CORE]
    questions = [_question(point, aspect) for aspect in core for point in _spoken_of(aspect)]
    yield from questions[:MOST_QUESTIONS]
    met = [finding for finding in judged if finding.outcome == "met"]
    yield from (_strength(finding, of[id(finding)]) for finding in met[:MOST_STRENGTHS])


def _id(check: str) -> str:
    """Return a point's id after the check it comes from. An agent may name its findings F1, F2 …"""
    return re.sub(r"[^a-z0-9_.-]", "-", check.lower())[:70] or "point"


def _numbered(grounds: Iterable[Ground]) -> list[Ground]:
    """Give grounds of the same check ids of their own."""
    seen: dict[str, int] = {}
    made = []
    for ground in grounds:
        seen[ground.id] = seen.get(ground.id, 0) + 1
        number = seen[ground.id]
        made.append(ground if number == 1 else ground.model_copy(update={"id": f"{ground.id}-{number}"}))
    return made


def _against(finding: Finding, aspect: AspectReview | None) -> Ground:
    contradicted = finding.outcome == "contradicted"
    known = DISAGREEMENTS.get(finding.check)
    why = _policy_sentence(finding, aspect)
    if contradicted:
        why = known.matters if known else ""
    is_for_print = aspect is not None and finding.check.startswith(f"{aspect.id}.")
    remarks = finding.flags if is_for_print else ()
    sentences = [_sentence(_text_for_letter(finding)), *map(_remark, remarks), _quotations(finding), why]
    kind: PointKind = "contradiction" if contradicted else "shortfall"
    return Ground(
        id=_id(finding.check),
        kind=kind,
        heading=_heading(finding, aspect),
        text=" ".join(part for part in sentences if part),
        references=_references(finding),
        asks=_ask(finding, aspect),
        rests_on=(finding.check,),
    )


def _text_for_letter(finding: Finding) -> str:
    """Return the finding's text without its subject in front, and with documents and policies named as people do."""
    text = finding.text.removeprefix(f"{finding.short}: ") if finding.short else finding.text
    documents = {citation.document for citation in finding.evidence}
    return in_plain_words(text, documents, {policy.ref for policy in finding.policy})


def _heading(finding: Finding, aspect: AspectReview | None) -> str:
    known = DISAGREEMENTS.get(finding.check)
    subject = _sentence_case(aspect.name if aspect else finding.short or "The documents")
    return f"{subject}: {known.heading}" if known else subject


def _ask(finding: Finding, aspect: AspectReview | None) -> str:
    if known := DISAGREEMENTS.get(finding.check):
        return _of_applicant(known.asks.format(subject=(aspect.name if aspect else finding.short or "this").lower()))
    plain = in_plain_words(finding.recommendation or "", (), {policy.ref for policy in finding.policy})
    return _of_applicant(within_sentence(plain.rstrip(".")))


def _of_applicant(wanted: str) -> str:
    """Return what an applicant should do as something that the council is asked for."""
    return f"have the applicant {wanted}" if wanted else ""


def _remark(text: str) -> str:
    return _sentence(f"The figure of {text}" if text[:1].isdigit() else text).replace("'", "’")


def _policy_sentence(finding: Finding, aspect: AspectReview | None) -> str:
    """Say what policy expects, in our words: the texts of policy may be summaries, which must not be quoted as the original."""
    says = {ask.citation.passage_id: ask.says for ask in aspect.asks if ask.citation} if aspect else {}
    for policy in finding.policy:
        expected = says.get(policy.passage_id)
        if expected and ":" not in expected and policy.ref not in finding.text:
            first = expected.split(". ")[0].rstrip(".")
            return f"{place_of_ref(policy.ref)}, expects that {within_sentence(first)}."
    rest = [place_of_ref(policy.ref) for policy in finding.policy[:2] if policy.ref not in finding.text]
    return f"See {' and '.join(rest)}." if rest else ""


def _quotations(finding: Finding) -> str:
    """Quote one passage for a shortfall and two for a contradiction, each with its page."""
    most = 2 if finding.outcome == "contradicted" else 1
    quoted = [citation for citation in finding.evidence if MASK not in citation.quote][:most]
    said, before = _text_for_letter(finding), ""
    sentences = []
    for citation in quoted:
        title = document_title(citation.document)
        told = document_place(citation) in said
        page = f" ({listed_pages(citation.pages)})" if citation.pages and not told else ""
        sentences.append(_quotation(citation, "It also" if title == before else f"The {title}", page))
        before = title
    return " ".join(sentences)


def _quotation(citation: Citation, who: str, page: str) -> str:
    quote = clipped(citation.quote)
    if " | " in quote:  # a row of a table, with bars between its cells
        return (
            f"A table in the {document_title(citation.document)} reads{page}: {quote.replace(' | ', '; ').rstrip('.')}."
        )
    stop = "" if quote[-1:] in ".!?…" else "."
    return f"{who} says{page}: “{quote}”{stop}"


def clipped(quote: str) -> str:
    """Return a quotation on one line, and at its last whole word if it is long."""
    text = quoted(quote)
    if len(text) <= LONGEST_QUOTE:
        return text
    return f"{text[:LONGEST_QUOTE].rsplit(' ', 1)[0]} …"


def _references(finding: Finding) -> tuple[Reference, ...]:
    documents = [
        Reference(
            text=document_place(citation)[:LINE],
            quote=clipped(citation.quote),
            document_id=citation.document_id,
            passage_id=citation.passage_id,
            pages=citation.pages,
        )
        for citation in finding.evidence[:6]
    ]
    policies = [
        Reference(text=place_of_ref(policy.ref)[:LINE], passage_id=policy.passage_id) for policy in finding.policy[:4]
    ]
    return (*documents, *policies)


def _request(point: NotAssessed, aspect: AspectReview) -> Ground:
    wanted = within_sentence(point.requirement)
    where = places_text(point.places, 3)
    subject = _subject_of_open_point(point, aspect)
    if where:
        text = (
            f"The application leaves this to a condition, an illustration or a later approval: {wanted} ({where}). It "
            "should be settled before the decision."
        )
        asks = _of_applicant(f"settle now, rather than later, {wanted}")
    else:
        text = f"{_sentence_case(subject)} could not be found in the written documents of the application."
        asks = _of_applicant(f"show {subject}")
    if point.policy:
        asking = [place_of_ref(ref) for ref in point.policy[:2]]
        text += f" {', and '.join(asking)}, {'asks' if len(asking) == 1 else 'ask'} for it."
    return Ground(
        id=_id(f"{aspect.id}.{point.check}.open"),
        kind="request",
        heading=_sentence_case(aspect.name),
        text=text,
        references=_places(point),
        asks=asks,
    )


def _subject_of_open_point(point: NotAssessed, aspect: AspectReview) -> str:
    check = next((one.check(point.check) for one in load_aspects() if one.id == aspect.id), None)
    return check.words.subject if check else within_sentence(point.requirement)


def _question(point: NotAssessed, aspect: AspectReview) -> Ground:
    places = [*(place_of_ref(ref) for ref in point.policy[:1]), *(place_text(place) for place in point.places[:1])]
    return Ground(
        id=_id(f"{aspect.id}.{point.check}.question"),
        kind="question",
        heading=_sentence_case(aspect.name),
        text=f"{within_sentence(point.requirement)} ({'; '.join(places)})",
        references=_places(point),
    )


def _places(point: NotAssessed) -> tuple[Reference, ...]:
    read = [
        Reference(text=place_text(place)[:LINE], document_id=place.document_id, pages=place.pages)
        for place in point.places[:4]
    ]
    return (*read, *(Reference(text=place_of_ref(ref)[:LINE]) for ref in point.policy[:2]))


def _spoken_of(aspect: AspectReview) -> list[NotAssessed]:
    """Return the essential points on which the documents say something that only a reader can judge."""
    topics = {topic for quotation in aspect.says for topic in quotation.topics}
    checks = {check.id: check for one in load_aspects() if one.id == aspect.id for check in one.checks}
    return [
        point
        for point in aspect.not_assessed
        if point.essential
        and point.request is None
        and point.policy
        and point.check in checks
        and topics & set(checks[point.check].topics)
    ]


def _strength(finding: Finding, aspect: AspectReview) -> Ground:
    place = f" ({document_place(finding.evidence[0])})" if finding.evidence else ""
    return Ground(
        id=_id(finding.check),
        kind="strength",
        heading=_sentence_case(aspect.name),
        text=f"{_text_for_letter(finding).rstrip('.')}{place}.",
        references=_references(finding),
        rests_on=(finding.check,),
    )


def _sentence(text: str) -> str:
    plain = text.strip()
    if not plain:
        return ""
    return f"{plain[0].upper()}{plain[1:].rstrip('.')}."


def _sentence_case(text: str) -> str:
    """Return `Access to public transport` for `Access to Public Transport`."""
    words = [word if len(word) > 1 and word.isupper() else word.lower() for word in text.split()]
    plain = " ".join(words)
    return f"{plain[:1].upper()}{plain[1:]}"
