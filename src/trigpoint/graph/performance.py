"""Reads of search performance: the list, and two periods side by side."""

from __future__ import annotations

from sqlalchemy import Connection, Table, func, select

from trigpoint.graph.inputs import PageRequest, PerformanceFilter
from trigpoint.graph.listing import FEW, Order, Page, Where, count, read_page, total_of
from trigpoint.graph.models import SearchPerformance, Shape
from trigpoint.graph.search_text import contains, one_of_texts
from trigpoint.graph.tables import performance_count, search_page, search_performance, search_query

_row = search_performance.c
# With the project, these are unique: the id, which the contract sorts by last, decides nothing.
_LATEST = Order(down=(_row.date_start, _row.date_end), up=(_row.query, _row.page_url))


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
    within, texts = _within(search_performance, project_id, chosen), _texts(connection, project_id, chosen)
    total = _total(connection, project_id, chosen, [*within, *texts])
    gathered = bool(texts) and total <= FEW
    if texts and not gathered:
        texts = _texts(connection, project_id, chosen, looked_up=False)
    scope = ("search-performance", project_id, *chosen.model_dump().items())
    where = [*within, *texts]
    return read_page(connection, _LATEST, request, scope, SearchPerformance, total, where, gathered=gathered)


def _total(connection: Connection, project_id: str, chosen: PerformanceFilter, where: Where) -> int:
    """Return the sum of a counter where there is one: of periods, of queries, of pages."""
    given = set(chosen.model_dump(exclude_none=True))
    if given <= {"date_start", "date_end"}:
        return total_of(connection, performance_count, _within(performance_count, project_id, chosen))
    for name, term, texts in (("query", chosen.query, search_query), ("page_url", chosen.page_url, search_page)):
        if given == {name}:
            holding = contains(connection, texts.c.folded, term or "")
            return total_of(connection, texts, [texts.c.project_id == project_id, holding])
    return count(connection, search_performance, where)


def _within(table: Table, project_id: str, chosen: PerformanceFilter) -> Where:
    """Conditions on the rows, or on the counted periods. A period lies within the dates, both inclusive."""
    where = [table.c.project_id == project_id]
    if chosen.entity_id is not None:
        where.append(table.c.entity_id == chosen.entity_id)
    if chosen.date_start is not None:
        where.append(table.c.date_start >= chosen.date_start)
    if chosen.date_end is not None:  # a period starts before it ends, which the index can use
        where += [table.c.date_start <= chosen.date_end, table.c.date_end <= chosen.date_end]
    return where


def _texts(connection: Connection, project_id: str, chosen: PerformanceFilter, *, looked_up: bool = True) -> Where:
    """Conditions on query and page: looked up among the distinct ones, or tested on the row itself."""
    terms = (
        (chosen.query, _row.query, _row.query_folded, search_query),
        (chosen.page_url, _row.page_url, _row.page_folded, search_page),
    )
    return [
        one_of_texts(connection, text, texts, project_id, term) if looked_up else contains(connection, folded, term)
        for term, text, folded, texts in terms
        if term is not None
    ]


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


def _sums(connection: Connection, project_id: str, chosen: PerformanceFilter) -> Sums:
    """Clicks and impressions add up; the position is weighted by impressions, the rate is clicks over impressions."""
    where = [*_within(search_performance, project_id, chosen), *_texts(connection, project_id, chosen)]
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
