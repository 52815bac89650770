"""Reads the list of applications that a search on a DEF Atrium register gives: HTML in, values out, no network."""

from __future__ import annotations

import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trigpoint.errors import PageNotUnderstood
from trigpoint.registers.labels import LABELS, describe, label_text, plain, value_or_none
from trigpoint.registers.models import Application

_FIELDS = ("reference", "address", "proposal", "status", "ward", "parish", "application_type")
_COLUMNS = {label: field for field in _FIELDS for label in LABELS[field]} | {"application no.": "reference"}
_NONE = re.compile(r"\bno (?:\w+ ){0,3}(?:results|records|applications)\b|\b0 results\b", re.IGNORECASE)
_NEXT = re.compile(r"\bnext\b|\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}|^>$", re.IGNORECASE)
_PAGE = "a[data-ajax-target*='ResultsPage' i], a[href*='ResultsPage' i]"


def parse_results(page: LexborHTMLParser) -> list[Application]:
    """Return the applications of one page of results; none if the page says so. Raises PageNotUnderstood."""
    for table in page.css("table"):
        columns = _result_columns(table)
        if "reference" in columns.values() and "proposal" in columns.values():
            return [one for row in table.css("tr") if (one := _application_in_row(row, columns)) is not None]
    if _NONE.search(plain(page.body)):
        return []
    raise PageNotUnderstood(
        f"The page of search results has neither a list (expected a table with the columns Application Number and "
        f"Proposal) nor 'No results'. Found: {describe(page)}"
    )


def next_page(page: LexborHTMLParser) -> str | None:
    """Return the address from which the register's script fetches the next part of the list; None on the last one."""
    for link in page.css(_PAGE):
        if _NEXT.search(plain(link)) or "next" in (link.attributes.get("class") or "").casefold():
            return link.attributes.get("data-ajax-target") or link.attributes.get("href")
    return None


def _result_columns(table: LexborNode) -> dict[int, str]:
    header = table.css_first("tr")
    cells = _result_cells(header) if header is not None else []
    named = {number: _COLUMNS.get(label_text(plain(cell))) for number, cell in enumerate(cells)}
    return {number: field for number, field in named.items() if field is not None}


def _application_in_row(row: LexborNode, columns: dict[int, str]) -> Application | None:
    cells = _result_cells(row)
    if not cells or all(cell.tag == "th" for cell in cells):
        return None
    values: dict[str, Any] = {columns[n]: value_or_none(_value(cell)) for n, cell in enumerate(cells) if n in columns}
    reference = values.pop("reference", None)
    return Application(reference=reference, **values) if reference else None


def _value(cell: LexborNode) -> str:
    """Return the text of a cell without the label that narrow screens show in it."""
    label = plain(cell.css_first(".mobile-heading"))
    return plain(cell).removeprefix(label).strip()


def _result_cells(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in row.iter() if cell.tag in ("td", "th")]
