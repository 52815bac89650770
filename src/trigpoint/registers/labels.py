"""The labels under which registers show an application's details, and how their values are written.

Labels are matched whole: "Agent Address" is not the site address, "Decision Level" is not the decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trigpoint.errors import PageNotUnderstood, shorten
from trigpoint.registers.models import Application

LABELS = {
    "reference": ("application number", "application reference", "application ref", "reference", "reference number"),
    "address": ("location", "location address", "site address", "site location", "address"),
    "proposal": ("proposal", "description of proposal", "development description", "description"),
    "applicant": ("applicant", "applicant name", "applicant's name"),
    "agent": ("agent", "agent name", "agent's name"),
    "status": ("status", "application status", "current status"),
    "application_type": ("application type", "type", "type of application"),
    "ward": ("ward", "wards", "electoral ward"),
    "parish": ("parish", "parishes", "parish/town council", "parish council"),
    "date_received": (
        "received date",
        "date received",
        "application received date",
        "received",
        "application received",
    ),
    "date_validated": (
        "valid date",
        "date valid",
        "application valid date",
        "application valid",
        "application validated",
        "application validated date",
        "validated date",
        "date validated",
        "validation date",
    ),
    "consultation_end": (
        "consultation end",
        "consultation end date",
        "consultation expiry date",
        "consultation expiry",
        "last comment date",
        "standard consultation expiry date",
        "neighbour consultation expiry date",
    ),
    "target_date": (
        "target date",
        "target decision date",
        "target determination date",
        "determination deadline",
        "statutory determination deadline",
        "internal target date",
    ),
    "decision_date": (
        "decision date",
        "date of decision",
        "decision issued date",
        "decision issued",
        "decision made date",
    ),
    "decision": ("decision",),
    "case_officer": ("case officer", "planning officer", "officer"),
}
_FIELD_OF = {label: field for field, labels in LABELS.items() for label in labels}
_DAYS = {"date_received", "date_validated", "consultation_end", "target_date", "decision_date"}
_BLANKS = {"", "-", "\N{EN DASH}", "n/a", "not available", "unknown"}
_DAY = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(?: [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?", re.ASCII)
_WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? "
_WRITTEN_DAY = re.compile(rf"(?:{_WEEKDAY})?([0-9]{{1,2}}) ([A-Z][a-z]{{2}})[a-z]* ([0-9]{{4}})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def application_of(pairs: Iterable[tuple[str, str | None]], application_ref: str, *, page: str) -> Application:
    """Return the application that labels and values describe, the first value of a field counts.

    Raises PageNotUnderstood if no label is known, a date cannot be read, or another application is shown. `page`
    describes the page for that message.
    """
    values: dict[str, Any] = {}
    for label, text in pairs:
        field = _FIELD_OF.get(label)
        if field is not None and text is not None and field not in values:
            values[field] = _day_of_label(label, text) if field in _DAYS else text
    shown = values.pop("reference", application_ref)
    if not values:
        raise PageNotUnderstood(
            f"The page of {application_ref} has no label that is known (expected Location, Proposal, Status, "
            f"Valid Date or the like in a summary table). Found: {page}"
        )
    if not same_reference(shown, application_ref):
        raise PageNotUnderstood(f"The page shows application {shorten(shown)}, and {application_ref} was asked for")
    return Application(reference=application_ref, **values)


def same_reference(one: str, other: str) -> bool:
    """Return whether two references are equal but for case and spaces."""
    return re.sub(r"\s", "", one).upper() == re.sub(r"\s", "", other).upper()


def parse_html(html: str) -> LexborHTMLParser:
    return LexborHTMLParser(html)


def describe(page: LexborHTMLParser) -> str:
    """Return in one line what a page contains, for a message about a page that was not understood."""
    title = plain(page.css_first("title, h1, h2"))
    tables = [
        ".".join(filter(None, ["table", *(table.attributes.get("class") or "").split()]))
        for table in page.css("table")[:5]
    ]
    return f"title '{shorten(title)}', {', '.join(shorten(one, 40) for one in tables) or 'no table'}"


def plain(node: LexborNode | None) -> str:
    """Return the text of an element as a reader sees it: one line, single spaces."""
    return " ".join(node.text(separator=" ").split()) if node is not None else ""


def label_text(text: str) -> str:
    return text.rstrip(" :").casefold()


def value_or_none(text: str) -> str | None:
    """Return the value, or None for `-`, `N/A` and the other ways in which registers write a blank."""
    text = text.strip()
    return None if text.casefold() in _BLANKS else text


def register_day(text: str) -> date | None:
    """Return `04/02/2025` or `Tue 04 Feb 2025` as a date; None if it is written differently or is not a day."""
    text = " ".join(text.split())
    if match := _DAY.fullmatch(text):
        year, month, day = int(match[3]), int(match[2]), int(match[1])
    elif (match := _WRITTEN_DAY.fullmatch(text)) and match[2] in _MONTHS:
        year, month, day = int(match[3]), _MONTHS.index(match[2]) + 1, int(match[1])
    else:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day_of_label(label: str, text: str) -> date:
    day = register_day(text)
    if day is None:
        raise PageNotUnderstood(f"'{label.capitalize()}' is '{shorten(text)}'; expected a date as dd/mm/yyyy")
    return day
