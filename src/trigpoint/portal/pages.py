"""Reads the register's pages: HTML in, values out, no network.

Labels are matched whole and columns by their header, since councils order them differently. A page that is
not understood is an error that says what was expected and what was found, never an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trigpoint.errors import ApplicationNotFound, PageNotUnderstood, shorten
from trigpoint.portal.models import Application

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
    ),
    "target_date": ("target date", "target decision date", "target determination date", "determination deadline"),
    "decision_date": ("decision date", "date of decision", "decision issued date", "decision issued"),
    "decision": ("decision",),
    "case_officer": ("case officer", "planning officer", "officer"),
}
_FIELD_OF = {label: field for field, labels in LABELS.items() for label in labels}
_DAYS = {"date_received", "date_validated", "consultation_end", "target_date", "decision_date"}
_SUMMARY = "table.summaryTbl, table.appNoTbl, table#summarytable, table#importantdate"
_BLANKS = {"", "-", "\N{EN DASH}", "n/a"}
_DAY = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(?: [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?", re.ASCII)
_ACCEPT = re.compile(r"/Disclaimer/Accept\b", re.IGNORECASE)


def parse_html(html: str) -> LexborHTMLParser:
    return LexborHTMLParser(html)


def disclaimer_action(page: LexborHTMLParser) -> str | None:
    """Where to post the acceptance, when this page is the disclaimer that stands before the register."""
    for form in page.css("form"):
        action = form.attributes.get("action") or ""
        if (form.attributes.get("method") or "").lower() == "post" and _ACCEPT.search(action):
            return action
    return None


def require_application(page: LexborHTMLParser, application_ref: str, *, redirected: bool = False) -> None:
    """Raises ApplicationNotFound where this is the search page instead, PageNotUnderstood where it is neither."""
    if page.css_matches(_SUMMARY) or page.css_matches("table.document-list"):
        return
    if redirected or page.css_matches("form[action*='Search' i]"):
        raise ApplicationNotFound("Application not found on Cherwell planning portal", application_ref=application_ref)
    raise PageNotUnderstood(
        f"The page of {application_ref} has no summary table (expected table.summaryTbl or table#summarytable). "
        f"Found: {describe(page)}"
    )


def parse_application(page: LexborHTMLParser, application_ref: str) -> Application:
    """The summary of an application. Raises PageNotUnderstood where the page does not have one, or another's."""
    values: dict[str, Any] = {}
    for label, text in _labelled(page):
        field = _FIELD_OF.get(label)
        if field is not None and text is not None and field not in values:
            values[field] = _summary_day(label, text) if field in _DAYS else text
    shown = values.pop("reference", application_ref)
    if not values:
        raise PageNotUnderstood(
            f"The page of {application_ref} has no label that is known (expected Location, Proposal, Status, "
            f"Valid Date or the like in a summary table). Found: {describe(page)}"
        )
    if re.sub(r"\s", "", shown).upper() != application_ref.upper():
        raise PageNotUnderstood(f"The page shows application {shorten(shown)}, and {application_ref} was asked for")
    return Application(reference=application_ref, **values)


def describe(page: LexborHTMLParser) -> str:
    """What a page holds, in a line, for a message about a page that was not understood."""
    title = plain(page.css_first("title, h1, h2"))
    tables = [
        ".".join(filter(None, ["table", *(table.attributes.get("class") or "").split()]))
        for table in page.css("table")[:5]
    ]
    return f"title '{shorten(title)}', {', '.join(shorten(one, 40) for one in tables) or 'no table'}"


def plain(node: LexborNode | None) -> str:
    """The text of an element as a reader sees it: one line, single spaces."""
    return " ".join(node.text(separator=" ").split()) if node is not None else ""


def value_or_none(text: str) -> str | None:
    """`-` and `N/A` are how the register writes a blank."""
    text = text.strip()
    return None if text.casefold() in _BLANKS else text


def register_day(text: str) -> date | None:
    """`04/02/2025` as a date; None where it has another form or is no day."""
    match = _DAY.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return date(int(match[3]), int(match[2]), int(match[1]))
    except ValueError:
        return None


def _summary_day(label: str, text: str) -> date:
    day = register_day(text)
    if day is None:
        raise PageNotUnderstood(f"'{label.capitalize()}' is '{shorten(text)}'; expected a date as dd/mm/yyyy")
    return day


def _labelled(page: LexborHTMLParser) -> Iterator[tuple[str, str | None]]:
    """Labels and values of all summary tables, in the order of the page; the status strip last."""
    for table in page.css(_SUMMARY):
        for row in table.css("tr"):
            cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
            stacked = [pair for cell in cells if (pair := _label_over_value(cell)) is not None]
            if stacked:
                yield from stacked
            elif len(cells) == 2:
                yield _label(plain(cells[0])), value_or_none(plain(cells[1]))
    for table in page.css("table"):
        yield from _status_strip(table)


def _label_over_value(cell: LexborNode) -> tuple[str, str | None] | None:
    """Cherwell's own: `Label <br/><div><span>Value</span></div>` in one cell."""
    box = next((child for child in cell.iter() if child.tag == "div"), None)
    if box is None or box.css_first("span") is None:
        return None
    before = []
    for child in cell.iter(include_text=True):
        if child.tag in ("br", "div"):
            break
        before.append(child.text(separator=" "))
    label = _label(" ".join("".join(before).split()))
    return (label, value_or_none(plain(box))) if label else None


def _status_strip(table: LexborNode) -> Iterator[tuple[str, str | None]]:
    """A table of one row under as many headings, as sister councils show the state of an application."""
    if "document-list" in (table.attributes.get("class") or ""):
        return
    headings, cells = table.css("thead th"), table.css("tbody td")
    if len(headings) > 1 and len(headings) == len(cells):
        for heading, cell in zip(headings, cells, strict=True):
            yield _label(plain(heading)), value_or_none(plain(cell))


def _label(text: str) -> str:
    return text.rstrip(" :").casefold()
