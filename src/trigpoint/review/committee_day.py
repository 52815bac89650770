"""The day of the committee for which a report is written, as its first lines state it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from trigpoint.reading.days import days_in
from trigpoint.reading.documents import Document
from trigpoint.reading.statements import Statement, document_statements
from trigpoint.review.evidence import collapse
from trigpoint.review.wording import any_of

_HEAD = 3_000  # characters of a report in which it says for which meeting it is
_TITLE = 140  # characters of a line that is the title of a meeting
_NEAR = 30  # characters between the name of a committee and its day
_NEAR_LINES = 2  # between the name of a committee and a line "Date: …"

_PARTS = re.compile(r"[|\n]|\*\*")
_MEETING = r"(?:committee|meeting|sub-committee|board)"
_DATED_MEETING = rf"(?:planning )?{_MEETING}(?: meeting)?(?: date)?"
_DATE_OF_MEETING = rf"date of (?:the )?(?:planning )?{_MEETING}(?: meeting)?"
_LABEL = re.compile(
    rf"(?:{_DATED_MEETING}|{_DATE_OF_MEETING})\s*[:–-]?\s*",
    re.IGNORECASE,
)
_DATE_LABEL = re.compile(r"date(?: of meeting)?\s*:?\s*", re.IGNORECASE)
_REPORT_LABEL = re.compile(r"(?:report date|date of (?:this )?report|dated?)\s*:?\s*", re.IGNORECASE)
_WEEKDAY = re.compile(
    r"(?:on |at )?(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s*", re.IGNORECASE
)
_COMMITTEE = any_of("committee", "sub-committee", "planning board")
_MEETING_OF = re.compile(r"\bmeeting (?:of|on|to be held on)\s+", re.IGNORECASE)
_WILL_DECIDE = any_of(
    r"(?:will|to|is|be|being) (?:\w+ )?(?:considered|determined|decided|reported|presented|heard|taken)(?: by| to| at)"
)
_ANOTHER_MEETING = any_of(
    "deferred",
    "deferral",
    "previous(?:ly)?",
    "last",
    "earlier",
    "following",
    "since",
    "resolved",
    "resolution",
    "visit(?:ed)?",
    "minutes",
    "was",
    "were",
    "dated",
    "design",
    "executive",
    "parish",
    "town council",
)


def committee_day(document: Document) -> date | None:
    """Return the day of the meeting; None if the first lines of the report give none, or several."""
    head = [one for one in document_statements(document) if one.start < _HEAD]
    for reading in (_labelled_days, _titled_days, _days_below_titles):
        if days := set(reading(head)):
            return days.pop() if len(days) == 1 else None
    return None


def report_day(document: Document) -> date | None:
    """Return the day of the meeting, or else the date that a report gives itself; None if it has neither."""
    if day := committee_day(document):
        return day
    head = [one for one in document_statements(document) if one.start < _HEAD]
    days = {day for parts in map(_cells, head) for day in _days_after(_REPORT_LABEL, parts)}
    return days.pop() if len(days) == 1 else None


def _cells(statement: Statement) -> list[str]:
    """Return the cells of a row, or of a line that is set like one, without marks of emphasis."""
    parts = (collapse(part).strip("* ") for part in _PARTS.split(statement.text))
    return [part for part in parts if part]


def _days_after(label: re.Pattern[str], parts: Sequence[str]) -> Iterator[date]:
    """Yield the days that directly follow a label, in its own part or in the next."""
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        if named := label.match(part):
            yield from _day_at_start(part[named.end() :] or following)


def _day_at_start(text: str) -> list[date]:
    plain = _WEEKDAY.sub("", text, count=1).lstrip(":–- ")
    return days_in(plain)[:1] if plain[:1].isdigit() else []


def _labelled_days(head: Sequence[Statement]) -> Iterator[date]:
    """Yield the days of "Committee date: 10 December 2025", also if the day is on the next line, and of "Meeting of …"."""
    for statement, following in zip(head, [*head[1:], None], strict=True):
        parts = _cells(statement)
        below = _cells(following)[:1] if following else []
        yield from _days_after(_LABEL, [*parts, *below])
        named = _MEETING_OF.search(collapse(statement.text))
        if named and len(statement.text) <= _TITLE and not _ANOTHER_MEETING.search(statement.text):
            yield from _day_at_start(named.string[named.end() :])


def _titled_days(head: Sequence[Statement]) -> Iterator[date]:
    """Yield the days next to the name of a committee: in a title, or in a sentence that says when it will decide."""
    for statement in head:
        text = collapse(statement.text)
        named = _COMMITTEE.search(text)
        will_decide = _WILL_DECIDE.search(text) and not _ANOTHER_MEETING.search(text)
        if named and (_is_title(statement) or will_decide):
            yield from _nearest_day(text, named)


def _nearest_day(text: str, named: re.Match[str]) -> list[date]:
    after = text[named.end() :]
    gap = re.search(r"\d", after)
    if gap and gap.start() <= _NEAR and (days := days_in(after)):
        return days[:1]
    before = text[max(0, named.start() - 2 * _NEAR) : named.start()]
    return days_in(before)[-1:]


def _days_below_titles(head: Sequence[Statement]) -> Iterator[date]:
    """Yield the day that the line below the name of a committee begins with, and those of lines "Date: …" next to it."""
    titles = [index for index, one in enumerate(head) if _is_title(one)]
    for index, statement in enumerate(head):
        parts = _cells(statement)
        if index - 1 in titles:
            yield from _day_at_start(parts[0] if parts else "")
        if any(abs(index - title) <= _NEAR_LINES for title in titles):
            yield from _days_after(_DATE_LABEL, parts)


def _is_title(statement: Statement) -> bool:
    """Whether a line names the committee that is to meet, and no other meeting."""
    text = statement.text
    return len(text) <= _TITLE and bool(_COMMITTEE.search(text)) and not _ANOTHER_MEETING.search(text)
