"""Reads of search performance: the list, and two periods side by side."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, select

from trigpoint.graph.inputs import PageRequest, PerformanceFilter
from trigpoint.graph.listing import ListReading, Order, Page, Where, count, total_of
from trigpoint.graph.models import SearchPerformance, Shape
from trigpoint.graph.search_text import among, contains, texts_with
from trigpoint.graph.tables import performance_count, search_page, search_performance, search_query

_Held = tuple[str, ColumnElement[Any], ColumnElement[Any], dict[str, int]]
_row = search_performance.c
# With the project, these are unique: the id, which the contract sorts by last, decides nothing.
_LATEST = Order(down=(_row.date_start, _row.date_end), up=(_row.query, _row.page_url))


class Sums(Shape):
    """Sums of the rows that are stored: Search Console leaves rare queries out, so they are not totals of the site."""

    rows: int
    impressions: int
    clicks: int
    ctr: float | None
    avg_position: float | None


class Comparison(Shape):
    label: str
    first: Sums
    second: Sums
    change: dict[str, float | None]


def list_performance(
    connection: Connection, project_id: str, chosen: PerformanceFilter, request: PageRequest
) -> Page[SearchPerformance]:
    within, held = _conditions_within(search_performance, project_id, chosen), _texts(connection, project_id, chosen)
    scope = ("search-performance", project_id, *chosen.model_dump().items())
    reading = ListReading(_LATEST, request, scope, SearchPerformance)
    if not held:
        return reading.walk(connection, _total(connection, project_id, chosen, within), within)
    keys = select(*_LATEST.columns).where(*within, *(among(connection, column, texts) for _, column, _, texts in held))
    tested = [*within, *(contains(connection, folded, term) for term, _, folded, _ in held)]
    alone = len(chosen.model_dump(exclude_none=True)) == 1
    return reading.matches(connection, sum(held[0][3].values()) if alone else None, keys, project_id, tested)


def _total(connection: Connection, project_id: str, chosen: PerformanceFilter, within: Where) -> int:
    if chosen.entity_id is not None:
        return count(connection, search_performance, within)
    return total_of(connection, performance_count, _conditions_within(performance_count, project_id, chosen))


def _conditions_within(table: Table, project_id: str, chosen: PerformanceFilter) -> Where:
    """Return conditions on the rows, or on the counted periods. A period lies within the dates, both inclusive."""
    where = [table.c.project_id == project_id]
    if chosen.entity_id is not None:
        where.append(table.c.entity_id == chosen.entity_id)
    if chosen.date_start is not None:
        where.append(table.c.date_start >= chosen.date_start)
    if chosen.date_end is not None:  # a period starts before it ends, which the index can use
        where += [table.c.date_start <= chosen.date_end, table.c.date_end <= chosen.date_end]
    return where


def _texts(connection: Connection, project_id: str, chosen: PerformanceFilter) -> list[_Held]:
    """Return each term with the columns it is about and the distinct texts that hold it."""
    terms = (
        (chosen.query, _row.query, _row.query_folded, search_query),
        (chosen.page_url, _row.page_url, _row.page_folded, search_page),
    )
    return [
        (term, column, folded, texts_with(connection, texts, project_id, term))
        for term, column, folded, texts in terms
        if term is not None
    ]


def compare_periods(
    connection: Connection, project_id: str, first: PerformanceFilter, second: PerformanceFilter
) -> Comparison:
    before, after = _sums(connection, project_id, first), _sums(connection, project_id, second)
    change = {
        "impressions": after.impressions - before.impressions,
        "clicks": after.clicks - before.clicks,
        "ctr": _difference(before.ctr, after.ctr),
        "avgPosition": _difference(before.avg_position, after.avg_position),
    }
    return Comparison(label="of stored rows", first=before, second=after, change=change)


def _sums(connection: Connection, project_id: str, chosen: PerformanceFilter) -> Sums:
    """Return the sums: clicks and impressions add up, the position is weighted by impressions.

    The rate is clicks over impressions.
    """
    held = _texts(connection, project_id, chosen)
    where = [*_conditions_within(search_performance, project_id, chosen)]
    where += [among(connection, column, texts) for _, column, _, texts in held]
    weighted = func.sum(_row.avg_position * _row.impressions)
    sums = select(func.count(), func.sum(_row.impressions), func.sum(_row.clicks), weighted).where(*where)
    rows, impressions, clicks, positions = (value or 0 for value in connection.execute(sums).one())
    return Sums(
        rows=rows,
        impressions=int(impressions),
        clicks=int(clicks),
        ctr=int(clicks) / int(impressions) if impressions else None,
        avg_position=float(positions) / int(impressions) if impressions else None,
    )


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
