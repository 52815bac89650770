"""Reads an application's page on a DEF Atrium register: HTML in, values out, no network.

Labels are matched whole and columns by their header, since councils order them differently. A page that is
not understood is an error that says what was expected and what was found, never an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trigpoint.errors import PageNotUnderstood
from trigpoint.registers.entries import RegisterEntry
from trigpoint.registers.labels import application_of, describe, label_text, plain, value_or_none
from trigpoint.registers.models import Application

_SUMMARY = "table.summaryTbl, table.appNoTbl, table#summarytable, table#importantdate"
_ACCEPT = re.compile(r"/Disclaimer/Accept\b", re.IGNORECASE)


def disclaimer_action(page: LexborHTMLParser) -> str | None:
    """Return the address to which to post the acceptance, if this page is the disclaimer before the register."""
    for form in page.css("form"):
        action = form.attributes.get("action") or ""
        if (form.attributes.get("method") or "").lower() == "post" and _ACCEPT.search(action):
            return action
    return None


def require_application(
    page: LexborHTMLParser, application_ref: str, *, register: RegisterEntry, redirected: bool = False
) -> None:
    """Raise ApplicationNotFound if this is the search page instead, PageNotUnderstood if it is neither."""
    if page.css_matches(_SUMMARY) or page.css_matches("table.document-list"):
        return
    if redirected or page.css_matches("form[action*='Search' i]"):
        raise register.not_found(application_ref)
    raise PageNotUnderstood(
        f"The page of {application_ref} has no summary table (expected table.summaryTbl or table#summarytable). "
        f"Found: {describe(page)}"
    )


def parse_application(page: LexborHTMLParser, application_ref: str) -> Application:
    """Return the summary of an application. Raises PageNotUnderstood if the page has none, or another's."""
    return application_of(_labelled(page), application_ref, page=describe(page))


def _labelled(page: LexborHTMLParser) -> Iterator[tuple[str, str | None]]:
    """Yield labels and values of all summary tables, in the order of the page; the status strip last."""
    for table in page.css(_SUMMARY):
        for row in table.css("tr"):
            cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
            stacked = [pair for cell in cells if (pair := _label_over_value(cell)) is not None]
            if stacked:
                yield from stacked
            elif len(cells) == 2:
                yield label_text(plain(cells[0])), value_or_none(plain(cells[1]))
    for table in page.css("table"):
        yield from _status_strip(table)


def _label_over_value(cell: LexborNode) -> tuple[str, str | None] | None:
    """Return label and value of `Label <br/><div><span>Value</span></div>` in one cell."""
    box = next((child for child in cell.iter() if child.tag == "div"), None)
    if box is None or box.css_first("span") is None:
        return None
    before = []
    for child in cell.iter(include_text=True):
        if child.tag in ("br", "div"):
            break
        before.append(child.text(separator=" "))
    label = label_text(" ".join("".join(before).split()))
    return (label, value_or_none(plain(box))) if label else None


def _status_strip(table: LexborNode) -> Iterator[tuple[str, str | None]]:
    """Yield headings and values of a table of one row, in which sister councils show an application's state."""
    if "document-list" in (table.attributes.get("class") or ""):
        return
    headings, cells = table.css("thead th"), table.css("tbody td")
    if len(headings) > 1 and len(headings) == len(cells):
        for heading, cell in zip(headings, cells, strict=True):
            yield label_text(plain(heading)), value_or_none(plain(cell))
