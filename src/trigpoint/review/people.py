"""Other people's data: who members of the public are, and how to reach anybody, does not enter a review.

What is taken out is masked by as many signs as it had, so that pages and offsets stay right. Roles stay: that it is an
objection, an applicant, an agent. So do officers, councillors, organisations and the site.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePath

from trigpoint.review.groups import group_of
from trigpoint.review.people_layout import PersonalSpan, personal_fields, personal_lines, site_lines
from trigpoint.review.people_words import KIN, OFFICES, ORGANISATIONS, STREETS, TITLES, words

MASK = "■"
_COMMENT = "Public comment "

_NAME = r"(?:(?<!\w)[^\W\d_a-z][\w'’-]{0,30}\.?)"
_GAP = r"(?:[ \t]+|[ \t]*\n(?=[^\n:|]{25}))"  # a line break only within running text
_NAMES = rf"{_NAME}(?:{_GAP}{_NAME}){{0,3}}"
_TITLE = rf"(?:{'|'.join(sorted((title.capitalize() for title in TITLES), key=len, reverse=True))})\b\.?"
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_PHONE = re.compile(r"(?<![\w/.-])(?:\+44[ ]?(?:\(0\))?|\(?0)\d(?:[ \d()-]{7,12})\d(?![\w/])")
_TITLED = re.compile(rf"\b{_TITLE}(?:{_GAP}(?:and|&){_GAP}{_TITLE})?{_GAP}(?P<value>{_NAMES})")
_WHOSE = r"(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir)"
_KIN = re.compile(
    rf"\b{_WHOSE}(?: \w+)? (?:{KIN})(?: is| was| called| named)?,?\s+"
    rf"(?P<value>{_NAMES}(?: and {_NAMES})?)"
)
_NAMED_SELF = re.compile(rf"\b(?:[Mm]y name is|I am|[Tt]his is)\s+(?P<value>{_NAME}\s+{_NAME}(?:\s+{_NAME})?)\b")
_AGED = re.compile(rf"(?P<value>\b{_NAME}) \((?:aged )?\d{{1,2}}\)")
_WROTE = re.compile(r"^[> \t]*(?P<value>\S{2,40}(?: \S{1,40})?) (?:wrote|writes)\b[^\n]{0,40}:", re.MULTILINE)
_STREET = re.compile(
    rf"\b(?:Flat \d+\w?,? )?\d{{1,4}}[A-Za-z]?,? (?:{_NAME} ){{1,3}}(?:{'|'.join(sorted(word.capitalize() for word in STREETS))})\b"
)
_NUMBER = re.compile(r"\b(?:at|of|from|in) (?P<value>(?:number|no\.?) \d{1,4}[a-z]?)\b", re.IGNORECASE)
_SORT = re.compile(r"^(?:(?:Objection|Representation|Comments?|Response|Letter|Support)(?: from| of| by)? )+")
_KIND_OF_GROUP = r"(?:(?:Parish|Town|Community) Council|Campaign|Society|Association|Forum)"
_GROUP = re.compile(rf"(?:(?<=^)|(?<= ))(?P<group>(?:[A-Z][\w'’&-]* ){{1,5}}{_KIND_OF_GROUP})\b")
_POSTCODE = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b")
_OFFICIAL = re.compile(
    rf"(?i:\b(?:dear|for the attention of|taken by|officer(?:'s)?(?: name)?:?|clerk:?))[ \t]+"
    rf"(?:{_TITLE}[ \t]+)?(?P<value>{_NAMES})"
)
_IN_OFFICE = re.compile(
    rf"(?P<value>{_NAMES}),? \(?(?:\w+ ){{0,2}}?(?:{'|'.join(sorted(word.capitalize() for word in OFFICES))})\b"
)
_BEFORE_SITE = re.compile(r"(?:land|site|development|proposal|application|plot)\b[^.\n]{0,25}$", re.IGNORECASE)
_LONG_ENOUGH = 4  # letters of a name that is masked wherever it appears


def without_people(text: str, source_kind: str, *, form: bool = False) -> str:
    """Return a text in which people cannot be recognised or reached, if it is a comment of the public or an application form.

    Other documents are returned as they are: consultees, officers and consultants sign in their office.
    """
    if source_kind == "public":
        found, names = personal_lines(text)
        spans = [*found, *_in_sentences(text)]
    elif form:
        spans, names = personal_fields(text)
        spans = [*spans, *_matches(text, _PHONE, _TITLED)]
    else:
        return text
    spans += [span for span in _matches(text, _EMAIL) if not text[span.start : span.end].lower().endswith(".gov.uk")]
    official = [
        PersonalSpan(*match.span("value")) for pattern in (_OFFICIAL, _IN_OFFICE) for match in pattern.finditer(text)
    ]
    if group := group_of(text):
        official += [PersonalSpan(*match.span()) for match in re.finditer(re.escape(group), text, re.IGNORECASE)]
    spans = [span for span in spans if not any(one.holds(span) for one in official)]
    return _masked(text, [*spans, *_again(text, [*names, *spans], official)])


def name_without_people(name: str, source_kind: str, document_id: str, text: str = "") -> str:
    """Return a document's name, unless it is a comment of the public, which is often named after its author.

    A parish council, a campaign or an association is nobody's private name: it is named as its letterhead or signature
    has it, or else as the file has it.
    """
    if source_kind != "public":
        return name
    if signed := group_of(text):
        return f"{_COMMENT}{signed}{PurePath(name).suffix}"
    said = name.replace("_", " ")
    group = _GROUP.search(said.lstrip("0123456789 "))
    if group and not _TITLED.search(said):
        return f"{_COMMENT}{_SORT.sub('', group['group'])}{PurePath(name).suffix}"
    tail = document_id.rpartition("_")[2]
    number = tail if re.fullmatch(r"[0-9a-f]+", tail) else hashlib.sha256(document_id.encode()).hexdigest()[:6]
    return f"{_COMMENT}{number}{PurePath(name).suffix}"


def group_named(name: str) -> str:
    """Return the group that a comment is from, by the name that it has here; nothing if it is a person's."""
    said = PurePath(name).stem.removeprefix(_COMMENT) if is_public_comment(name) else ""
    return "" if re.fullmatch(r"[0-9a-f]*", said) else said


def is_public_comment(name: str) -> bool:
    """Return whether a document's name is the one that comments of the public get here. Its pages are not shown."""
    return name.startswith(_COMMENT)


def _in_sentences(text: str) -> Iterator[PersonalSpan]:
    """Yield names, numbers and addresses in running text, but for the site's own."""
    site = site_lines(text)
    yield from _matches(text, _PHONE, _TITLED, _KIN, _NAMED_SELF, _AGED, _WROTE, _NUMBER)
    for span in _matches(text, _STREET, _POSTCODE):
        of_site = _BEFORE_SITE.search(text[max(0, span.start - 60) : span.start])
        if not of_site and not any(one.holds(span) for one in site):
            yield span


def _matches(text: str, *patterns: re.Pattern[str]) -> Iterator[PersonalSpan]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield PersonalSpan(*match.span("value" if "value" in pattern.groupindex else 0))


def _again(text: str, spans: list[PersonalSpan], official: list[PersonalSpan]) -> Iterator[PersonalSpan]:
    """Yield the names that were found in one place wherever else they are, with the initials before them."""
    officials = {word.casefold() for span in official for word in words(text[span.start : span.end])}
    lower = {word for word in words(text) if word.islower()}
    names = {
        word
        for span in spans
        if span.named
        for word in words(text[span.start : span.end])
        if len(word) >= _LONG_ENOUGH
        and word[0].isupper()
        and word.casefold() not in TITLES | ORGANISATIONS | STREETS | officials | lower
    }
    if not names:
        return
    either = "|".join(sorted((re.escape(name) for name in names), key=len, reverse=True))
    places = "|".join(sorted(STREETS | {"house", "farm", "village", "estate", "council"}))
    pattern = re.compile(rf"\b(?:[^\W\d_a-z]\.? ){{0,2}}(?:{either})\b(?! (?:{places})\b)", re.IGNORECASE)
    for match in pattern.finditer(text):
        if match[0].strip()[0].isupper():
            yield PersonalSpan(*match.span())


def _masked(text: str, spans: list[PersonalSpan]) -> str:
    signs = list(text)
    for span in spans:
        for at in range(span.start, span.end):
            if not signs[at].isspace() and signs[at] != "|":
                signs[at] = MASK
    return "".join(signs)
