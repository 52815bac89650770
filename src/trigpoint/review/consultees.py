"""The recommendations of consultees in their own words: found in their letters, quoted, and never judged.

Of several answers of one body only the latest counts, and none that a later document calls withdrawn or replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Literal

from pydantic import Field

from trigpoint.reading.context import REFERENCE
from trigpoint.reading.days import days_in_words
from trigpoint.reading.documents import Document
from trigpoint.reading.sources import is_superseded
from trigpoint.reading.statements import Statement, document_statements
from trigpoint.review.citing import document_title, name_in_title_case, quoted
from trigpoint.review.evidence import Evidence, collapse
from trigpoint.review.findings import Stored
from trigpoint.review.people import group_named
from trigpoint.review.wording import any_of

Position = Literal["against", "for", "no objection", "undecided"]
"""`for`: supports the application. Reviews of earlier versions have it for letters without an objection, too."""

LONGEST = 500  # characters of a recommendation that are quoted
_HEAD = 1_500  # characters of a letter in which its date is
_DATE_LINE = 240  # characters of a line in a letterhead that gives its date among other things
_SHORT_LINE = 60  # characters of a line that has little but a date
_FIRST = 60  # statements of a letter among which it says what it recommends

_AGAINST = any_of(
    "not (?:currently )?(?:in a position|able) to support",
    r"(?:holding |formal )?objection\b(?! is raised by)",
    r"objects?\b(?! to be)",
    "refusal",
    r"recommend\w*(?: that)?[^.]{0,60}\b(?:refus\w+|be refused)",
    "deferral",
    "(?:cannot|could not)(?: yet| currently)? support",
    "does not support",
)
_OPEN = re.compile(
    r"\bunable to (?:provide|give|support|reach|advise)|\bfurther information is (?:required|needed|sought)",
    re.IGNORECASE,
)
_MAINTAINED = any_of(
    r"objections? (?:\w+ ){0,3}(?:maintained|stands?|remains?)", r"maintains? (?:its|the|our) (?:\w+ )?objections?"
)
_WITHDRAWN = any_of(
    r"withdraws? (?:its|the|our) (?:\w+ ){0,2}objections?",
    r"(?:its|our|the) (?:\w+ )?objections? (?:of [^.;]{1,30} )?(?:is|are|has been|have been) (?:\w+ )?withdrawn",
    "objections? withdrawn",
)
_NOT_AGAINST = any_of(
    "(?:no|not|rather than|without)(?: (?:as|an?|any|our|formal|raising))* objections?",
    "do(?:es)? not object",
    _WITHDRAWN.pattern,
)
_EARLIER = any_of(r"did not (?:\w+ )?object")  # which says nothing of today
_WHOLE = any_of(
    *"is are was has have does do".split(),
    *"raises? objects? recommends? supports? wish(?:es)? considers? cannot offers?".split(),
)
_HEADING = 90  # characters: "Response: no objection subject to conditions"
_LABELLED = re.compile(
    r"(?:\d{1,2}[.)] )?(?:formal )?(?:recommendation|response|position)\s*(?:[:|]|\.(?= [A-Z]))", re.IGNORECASE
)
_DATED = re.compile(r"\bdate\s*:", re.IGNORECASE)
_LABEL_OR_GREETING = re.compile(rf"^(?:{_LABELLED.pattern}|Dear [^,.]{{2,40}},)\s*", re.IGNORECASE)
_ON_THE_WHOLE = re.compile(
    r"\b(?:application|planning permission|proposals?|development|scheme|permission)\b", re.IGNORECASE
)
_TO_SOMETHING_ELSE = any_of("objections? to (?:it|that|these|those|them)")  # named before: a bridge, a condition
_OTHERS = re.compile(r"\b(?:residents?|neighbours?|parish|local people|objectors?|letters? of)\b", re.IGNORECASE)
_OTHERS_OF_GROUP = re.compile(r"\b(?:residents?|neighbours?|local people|objectors?|letters? of)\b", re.IGNORECASE)
_WHO_SUPPORTS = r"(?:we|council|members|society|campaign|group|forum|association) (?:\w+ )?supports?"
_RESOLVED = r"resolved\b[^.]{0,60}\bto support"  # as minutes put it
_FOR = any_of(rf"(?:{_WHO_SUPPORTS}|{_RESOLVED}) (?:the|this) (?:application|proposals?|scheme|development)")

_NAMES_A_BODY = any_of(
    *"council authority england agency highways police constabulary".split(),
    "network rail",
    "transport for london",
    *"board trust water".split(),
)


_LIMITS = any_of(
    "further",
    "additional",
    "until",
    "unless",
    "without",
    "in the absence of",
    "otherwise",
    "subject to",
    "provided that",
    "however",
    "therefore",
    r"maintain\w*",
    "required?s?",
    "requests?",
    "conditions?",
    "grounds",
    "reasons?",
    "because",
)
_GIVEN_UP = (
    r"withdr(?:aws?|ew|awn)|supersed(?:es?|ed)|replace[sd]?|removed?|removes|lifted|no longer|overcome|"
    r"now (?:has|have|raises?|offers?|recommends?|supports?|content|satisfied)|(?:has|have) since"
)
_ANSWER = (
    r"objections?|objects?|response|comments|position|recommend\w*|letter|advice|concerns?|supports?|content|satisfied"
)
_REPLACED = re.compile(
    rf"\b(?:{_GIVEN_UP})\b[^.;]{{0,40}}?\b(?:{_ANSWER})\b|\b(?:{_ANSWER})\b[^.;]{{0,40}}?\b(?:{_GIVEN_UP})\b",
    re.IGNORECASE,
)
_OBJECTED = re.compile(r"\b(?:object(?:ions?|s)?|concerns?)\b", re.IGNORECASE)
_HOPED = any_of(
    *"will would could can may might should".split(),
    *"trust hope expect invite".split(),
    "asked? to",
    *"request not if once until unless".split(),
)
_BOX = re.compile(r"(?P<empty>[☐□▢]|\[ ?\])|[☒☑✓✔☓■]|\[[xX]\]")
_ITEM = re.compile(r"^\(?[a-z0-9]{1,2}[.)]\s+")
_SENDER = re.compile(r"^from\s*:\s*", re.IGNORECASE)
_HIGHWAYS = re.compile(r"\b(?:(?:local )?highways? authority|LHA)\b", re.IGNORECASE)


class EarlierAnswer(Stored):
    """What a consultee had answered before."""

    date: str
    quote: str


class Recommendation(Stored):
    """The position of a consultee, quoted from its letter."""

    body: str = Field(description="Who recommends it, as the letterhead says; empty if it does not.")
    position: Position
    quote: str
    document: str
    document_id: str
    page: int | None = None
    date: str = Field("", description="The date of the letter, YYYY-MM-DD, if it has one.")
    earlier: tuple[EarlierAnswer, ...] = Field((), description="Its answers before, the first first.")


def recommendations(evidence: Evidence) -> tuple[Recommendation, ...]:
    """Return the latest recommendation of each consultee, and of each group, whose letter plainly states one.

    Consultees come before parish councils, campaigns and other groups, and those against before the others. What single
    members of the public say is not among them.
    """
    letters = [one for one in evidence.documents if _answers(one) and not is_superseded(one)]
    stated = [one for document in letters for one in _stated(document, evidence.application_ref)]
    current = [one for one in _latest(stated) if not _is_replaced(one, evidence.documents)]
    return tuple(sorted(current, key=lambda one: (bool(group_named(one.document)), one.position != "against")))


def _answers(document: Document) -> bool:
    return document.source_kind == "consultee" or bool(group_named(document.name))


def recommends(one: Recommendation) -> str:
    """Return a recommendation as a sentence, quoted whole: cut short, it may say something else."""
    title = document_title(one.document)
    page = f", page {one.page}" if one.page else ""
    quote = quoted(one.quote).rstrip(".:")
    if not one.body:
        return f"{title}{page}, says: “{quote}”."
    body = body_name(one)
    written = _written(one.date)
    if not _WHOLE.search(quote):  # a heading such as "Holding objection pending further information"
        gave = f"On {written}, {body} gave" if written else f"{body} gives"
        return f"{gave} its recommendation as “{quote}” ({_source(title, body)}{page})."
    wrote = f"wrote on {written}" if written else "has answered"
    return f"{body} {wrote}: “{quote}” ({_source(title, body)}{page})."


def with_history(one: Recommendation) -> str:
    """Return a recommendation with what the same body had answered before it."""
    before = (
        f"Its answer of {_written(answer.date)} was “{quoted(answer.quote).rstrip('.:')}”." for answer in one.earlier
    )
    return " ".join([recommends(one), *before])


def _written(day: str) -> str:
    """Return `18 August 2025` for a day; nothing for none."""
    return f"{int(day[8:])} {date.fromisoformat(day):%B %Y}" if day else ""


def body_name(one: Recommendation) -> str:
    """Return the name of whoever recommends something, not in capitals throughout."""
    return name_in_title_case(one.body) if one.body.isupper() and " " in one.body else one.body


def _source(title: str, body: str) -> str:
    return "its letter" if title == body else title


def _stated(document: Document, reference: str) -> Iterator[Recommendation]:
    """Yield the recommendation of a letter, with the sentences right after it that limit or explain it.

    Minutes go through several applications: what follows the reference of another one is said of that. A file may have
    several answers of one body: each further one is known by its own date, and by its label, its heading or the objection
    that it withdraws.
    """
    statements = document_statements(document)
    others = _OTHERS_OF_GROUP if group_named(document.name) else _OTHERS
    first = day = _day(document)
    on_this, is_first = True, True
    for at, statement in enumerate(statements):
        text = _without_emphasis(statement)
        day = _day_of_letter(statement) or day
        if named := [one for one in REFERENCE.findall(text) if _shape(one) == _shape(reference)]:
            on_this = reference in named
        if not on_this or _position(text) is None or len(text) > LONGEST or others.search(text) or _is_unticked(text):
            continue
        is_later = day is not None and first is not None and day > first
        if not (at < _FIRST if is_first else is_later and _is_answer(statement)):
            continue
        is_first = False
        quote = " ".join([_without_boxes(text), *_going_on(statements, at, LONGEST - len(text))])
        yield Recommendation(
            body=_answering_body(document),
            position="against" if _MAINTAINED.search(quote) else _position(text) or "undecided",
            quote=_LABEL_OR_GREETING.sub("", quote),
            document=document.name,
            document_id=document.id,
            page=statement.page,
            date=day.isoformat() if day else "",
        )


def _day_of_letter(statement: Statement) -> date | None:
    """Return the day that a line or heading gives a letter: "Date: 18 August 2025", "Response 2 – 18 August 2025"."""
    text = _without_emphasis(statement)
    is_line = statement.kind == "heading" or (len(text) <= _SHORT_LINE and not text.endswith("."))
    if len(text) > _DATE_LINE or not (is_line or _DATED.search(text)):
        return None
    return next(iter([*days_in_words(text)][-1:]), None)


def _is_answer(statement: Statement) -> bool:
    """Whether a later letter says in these words what it recommends, and does not merely speak of objections."""
    text = _without_emphasis(statement)
    if statement.kind == "heading" or _LABELLED.match(text):
        return True
    said = _WITHDRAWN.search(text)
    return said is not None and not _HOPED.search(text[: said.end()])


def _shape(reference: str) -> str:
    """Return how a reference is built: a consultee's own file number for the same application is built differently."""
    return re.sub(r"[A-Z]+", "A", re.sub(r"\d", "9", reference))


def _without_emphasis(statement: Statement) -> str:
    return collapse(statement.text).replace("*", "")


def _without_boxes(text: str) -> str:
    """Return a line of a form as it would be read out: without its letter or number and its box."""
    if not _BOX.search(text):
        return text
    return collapse(_BOX.sub(" ", _ITEM.sub("", text)))


def _is_unticked(text: str) -> bool:
    """Whether a line of a form offers an answer that was not chosen: its box is empty."""
    boxes = list(_BOX.finditer(text))
    return bool(boxes) and all(one["empty"] for one in boxes)


def _going_on(statements: Sequence[Statement], at: int, room: int) -> Iterator[str]:
    """Yield the sentences of the same part that go on from a recommendation, while they fit."""
    first = statements[at]
    for one in statements[at + 1 : at + 3]:
        text = _without_emphasis(one)
        same_part = one.kind == "sentence" and one.headings == first.headings and first.text.rstrip().endswith(".")
        if not same_part or not _LIMITS.search(text) or len(text) + 1 > room:
            return
        room -= len(text) + 1
        yield text


def _latest(stated: Iterable[Recommendation]) -> list[Recommendation]:
    """Return one answer of each body, the latest by its date. If the order of two is not known, neither counts."""
    by_body: dict[str, list[Recommendation]] = {}
    for one in stated:
        by_body.setdefault(one.body.casefold() or one.document_id, []).append(one)
    latest = []
    for answers in by_body.values():
        last = max(one.date for one in answers)
        chosen = [one for one in answers if one.date == last]
        undated = any(not one.date for one in answers) and len(answers) > 1
        if not undated and len({one.position for one in chosen}) == 1:
            latest.append(_fullest(chosen).model_copy(update={"earlier": _earlier(answers, last)}))
    return latest


def _fullest(answers: Sequence[Recommendation]) -> Recommendation:
    """Return the statement that says most: a sentence rather than its heading."""
    return max(answers, key=lambda one: len(one.quote))


def _earlier(answers: Sequence[Recommendation], last: str) -> tuple[EarlierAnswer, ...]:
    """Return what was answered on each day before the last."""
    days = sorted({one.date for one in answers if one.date < last})
    fullest = [_fullest([one for one in answers if one.date == day]) for day in days]
    return tuple(EarlierAnswer(date=one.date, quote=one.quote) for one in fullest)


def _is_replaced(one: Recommendation, documents: Iterable[Document]) -> bool:
    """Whether another document that is not older says that the answer was withdrawn, replaced or is no longer held."""
    names = _names(one)
    for document in documents:
        day = _day(document)
        older = bool(one.date) and day is not None and day.isoformat() < one.date
        if document.id == one.document_id or older:
            continue
        for statement in document_statements(document):
            text = collapse(statement.text)
            said = _REPLACED.search(text)
            if said is None or not names.search(text) or _HOPED.search(text[: said.end()]):
                continue
            if one.position == "against" or not _OBJECTED.search(said[0]):  # an earlier objection led to this answer
                return True
    return False


def _names(one: Recommendation) -> re.Pattern[str]:
    """Return what others call a body, or its letter: its name, its initials, its role, the day of its letter."""
    known = [re.escape(one.body)] if one.body else []
    initials = "".join(word[0] for word in one.body.split() if word[0].isupper())
    known += [initials] if len(initials) > 2 else []
    if _HIGHWAYS.search(f"{one.quote} {one.document.replace('_', ' ')}"):
        known.append(_HIGHWAYS.pattern)
    if one.date:
        day = date.fromisoformat(one.date)
        known.append(rf"{day.day}(?:st|nd|rd|th)? {day:%B}")
    return re.compile(rf"\b(?:{'|'.join(known)})\b" if known else r"(?!)", re.IGNORECASE)


def _day(document: Document) -> date | None:
    """Return the first date at the head of a document; None if there is none."""
    return next(days_in_words(document.text[:_HEAD]), None)


def _position(text: str) -> Position | None:
    """Return what a statement says of the application as a whole; None if it speaks of something else."""
    on_the_whole = _ON_THE_WHOLE.search(text) or _LABELLED.match(text) or _WITHDRAWN.search(text)
    if len(text) > _HEADING and not on_the_whole:
        return None
    if _TO_SOMETHING_ELSE.search(text) and not _LABELLED.match(text):
        return None
    text = _EARLIER.sub("", text)
    if _NOT_AGAINST.search(text) and not _MAINTAINED.search(text):
        return "no objection"
    if _AGAINST.search(text):
        return "against"
    if _FOR.search(text):
        return "for"
    return "undecided" if _OPEN.search(text) else None


def _answering_body(document: Document) -> str:
    """Return the group that signs, or the line of the letterhead that names a body; nothing if none does."""
    if group := group_named(document.name):
        return group
    lines = [_SENDER.sub("", line.strip(" #*\t")) for line in document.text[:400].splitlines()]
    named = next((line for line in lines if _NAMES_A_BODY.search(line) and len(line) <= 80), "")
    return re.split(r"[:–-]\s", named)[0].strip() if named else ""
