"""Reads of search performance: the list, and two periods side by side.

A substring filter looks through the distinct queries or pages; a period's total is a sum of counters.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Connection, Select, Table, Text, and_, any_, false, func, select

from trigpoint.graph.filters import PerformanceFilter
from trigpoint.graph.models import SearchPerformance, Shape
from trigpoint.graph.paging import Key, Page, PageRequest, pagination, position, rows_from, scope_of
from trigpoint.graph.queries import can_match, is_selective
from trigpoint.graph.search_text import contains, fold, unindexed
from trigpoint.graph.tables import performance_count, search_page, search_performance, search_query
from trigpoint.graph.totals import total_of

_row = search_performance.c
LATEST = (
    Key(_row.date_start, int, descending=True),
    Key(_row.date_end, int, descending=True),
    Key(_row.query),
    Key(_row.page_url),
    Key(_row.id, descending=True, is_id=True),
)
_NAMES = ("date_start", "date_end", "query", "page_url", "id")
_COLUMNS = [c for c in search_performance.c if c.name not in ("query_folded", "page_folded")]


class Sums(Shape):
    """Sums of the rows that are stored: Search Console leaves rare queries out, so they are no site totals."""

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
    scope = scope_of("search-performance", project_id, chosen)
    at = position(request, scope, LATEST)
    everything = _counted_periods(connection, project_id, PerformanceFilter())
    if chosen == PerformanceFilter(date_start=chosen.date_start, date_end=chosen.date_end):
        total = _counted_periods(connection, project_id, chosen)
    else:
        total = total_of(connection, project_id, everything, chosen, lambda: _total(connection, project_id, chosen))
    statement = select(*_COLUMNS).where(*_walked(project_id, chosen))
    if chosen.entity_id or ((chosen.query or chosen.page_url) and is_selective(total, everything, at)):
        hits = _gathered(connection, [_row.id], project_id, chosen).cte("hits").prefix_with("MATERIALIZED")
        statement = select(*_COLUMNS).join(hits, hits.c.id == _row.id)
    rows, follows = rows_from(connection, statement, LATEST, at)
    shapes = [SearchPerformance.of(row) for row in rows]
    return Page(shapes, pagination(at, total, rows, follows, scope, _NAMES))


def compare_periods(
    connection: Connection, project_id: str, first: PerformanceFilter, second: PerformanceFilter
) -> Comparison:
    a, b = _sums(connection, project_id, first), _sums(connection, project_id, second)
    change = {
        "impressions": b.impressions - a.impressions,
        "clicks": b.clicks - a.clicks,
        "ctr": _difference(a.ctr, b.ctr),
        "avgPosition": _difference(a.avg_position, b.avg_position),
    }
    return Comparison(label="of stored rows", first=a, second=b, change=change)


def _total(connection: Connection, project_id: str, chosen: PerformanceFilter) -> int:
    if chosen == PerformanceFilter(query=chosen.query):
        return _counted_texts(connection, search_query, project_id, chosen.query)
    if chosen == PerformanceFilter(page_url=chosen.page_url):
        return _counted_texts(connection, search_page, project_id, chosen.page_url)
    return int(connection.execute(_gathered(connection, [func.count(_row.id)], project_id, chosen)).scalar_one())


def _counted_periods(connection: Connection, project_id: str, chosen: PerformanceFilter) -> int:
    period = performance_count.c
    where = [period.project_id == project_id]
    if chosen.date_start is not None:
        where.append(period.date_start >= chosen.date_start)
    if chosen.date_end is not None:
        where.append(period.date_end <= chosen.date_end)
    return int(connection.execute(select(func.coalesce(func.sum(period.n), 0)).where(*where)).scalar_one())


def _counted_texts(connection: Connection, texts: Table, project_id: str, term: str | None) -> int:
    where = [texts.c.project_id == project_id, _holds(texts.c.folded, term)]
    return int(connection.execute(select(func.coalesce(func.sum(texts.c.n), 0)).where(*where)).scalar_one())


def _walked(project_id: str, chosen: PerformanceFilter) -> list[ColumnElement[bool]]:
    """Conditions for a walk along the ordering: the texts are tested on the row itself."""
    where = _plain(project_id, chosen)
    if chosen.query is not None:
        where.append(_holds(_row.query_folded, chosen.query))
    if chosen.page_url is not None:
        where.append(_holds(_row.page_folded, chosen.page_url))
    return where


def _gathered(connection: Connection, columns: list[Any], project_id: str, chosen: PerformanceFilter) -> Select[Any]:
    """What matches, found from the distinct texts: first those that hold the term, then their rows."""
    if chosen.query is None and chosen.page_url is None:
        return select(*columns).select_from(search_performance).where(*_plain(project_id, chosen))
    by_query = chosen.query is not None
    texts, own, term = (
        (search_query, _row.query, chosen.query) if by_query else (search_page, _row.page_url, chosen.page_url)
    )
    of_texts = [texts.c.project_id == project_id, _holds(texts.c.folded, term)]
    rows = [_row.project_id == project_id, *_plain(None, chosen)]
    if by_query and chosen.page_url is not None:
        rows.append(_holds(_row.page_folded, chosen.page_url))
    if connection.dialect.name == "postgresql":  # an array of texts: the planner cannot guess how many hold the term
        found = func.array(select(texts.c.text).where(*of_texts).scalar_subquery(), type_=ARRAY(Text))
        return select(*columns).select_from(search_performance).where(*rows, own == any_(found))
    # An outer join keeps SQLite from starting with the rows. A text without fitting rows gives one row of nulls.
    joined = texts.outerjoin(search_performance, and_(*rows, own == texts.c.text))
    return select(*columns).select_from(joined).where(*of_texts)


def _plain(project_id: str | None, chosen: PerformanceFilter) -> list[ColumnElement[bool]]:
    """Conditions on the row itself. With no project, they are tested and never looked up."""
    where: list[ColumnElement[bool]] = [] if project_id is None else [_row.project_id == project_id]
    start = unindexed(_row.date_start) if project_id is None else _row.date_start
    linked = unindexed(_row.entity_id) if project_id is None else _row.entity_id
    if chosen.entity_id is not None:
        where.append(linked == chosen.entity_id)
    if chosen.date_start is not None:
        where.append(start >= chosen.date_start)
    if chosen.date_end is not None:  # a period starts before it ends, which the index can use
        where += [start <= chosen.date_end, _row.date_end <= chosen.date_end]
    return where


def _holds(folded: ColumnElement[str], term: str | None) -> ColumnElement[bool]:
    return contains(folded, fold(term)) if term is not None and can_match(term) else false()


def _sums(connection: Connection, project_id: str, chosen: PerformanceFilter) -> Sums:
    """Clicks and impressions add up; the position is weighted by impressions, the rate is clicks over impressions."""
    weighted = func.sum(_row.avg_position * _row.impressions)
    columns = [func.count(_row.id), func.sum(_row.impressions), func.sum(_row.clicks), weighted]
    found = connection.execute(_gathered(connection, columns, project_id, chosen)).one()
    impressions, clicks = int(found[1] or 0), int(found[2] or 0)
    return Sums(
        rows=found[0],
        impressions=impressions,
        clicks=clicks,
        ctr=clicks / impressions if impressions else None,
        avg_position=float(found[3]) / impressions if impressions else None,
    )


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
