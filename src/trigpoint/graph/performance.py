"""Reads of search performance: the list, and two periods side by side.

A substring filter looks through the distinct queries or pages; a period's total is a sum of counters.
"""

from __future__ import annotations

from functools import cached_property

from sqlalchemy import ColumnElement, Connection, func, select

from trigpoint.graph.distinct_texts import texts_with
from trigpoint.graph.filters import PerformanceFilter
from trigpoint.graph.lists import among
from trigpoint.graph.models import SearchPerformance, Shape
from trigpoint.graph.paging import (
    Key,
    Listing,
    Page,
    PageRequest,
    counted_rows,
    pagination,
    position,
    rows_from,
    scope_of,
)
from trigpoint.graph.queries import is_selective
from trigpoint.graph.search_text import holds, unindexed
from trigpoint.graph.tables import performance_count, search_page, search_performance, search_query
from trigpoint.graph.totals import total_of

_GATHERED = 5000  # so many rows are counted and ordered sooner than it takes to find out whether to walk
_row = search_performance.c
LATEST = Listing(
    search_performance,
    columns=[c for c in _row if c.name not in ("query_folded", "page_folded")],
    by=("project_id", "query", "date_start", "date_end", "page_url"),  # unique, so that the ordering is one, too
    keys=(
        Key(_row.date_start, int, descending=True),
        Key(_row.date_end, int, descending=True),
        Key(_row.query),
        Key(_row.page_url),
    ),
)


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
    matching = _Matching(connection, project_id, chosen)
    if matching.by_dates_alone:
        total = _counted_periods(connection, project_id, chosen)
        rows, follows = rows_from(connection, LATEST, at, *matching.walked)
    elif matching.bound <= _GATHERED and not matching.by_text_alone:
        total, rows, follows = counted_rows(connection, LATEST, at, LATEST.hits(*matching.gathered))
    else:
        everything = _counted_periods(connection, project_id, PerformanceFilter())
        total = total_of(connection, project_id, everything, chosen, matching.count)
        if is_selective(total, everything, at):
            rows, follows = rows_from(connection, LATEST, at, of=LATEST.hits(*matching.gathered))
        else:
            rows, follows = rows_from(connection, LATEST, at, *matching.walked)
    shapes = [SearchPerformance.of(row) for row in rows]
    return Page(shapes, pagination(at, total, rows, follows, scope, LATEST))


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


def _counted_periods(connection: Connection, project_id: str, chosen: PerformanceFilter) -> int:
    period = performance_count.c
    where = [period.project_id == project_id]
    if chosen.date_start is not None:
        where.append(period.date_start >= chosen.date_start)
    if chosen.date_end is not None:
        where.append(period.date_end <= chosen.date_end)
    return int(connection.execute(select(func.coalesce(func.sum(period.n), 0)).where(*where)).scalar_one())


class _Matching:
    """The rows that match, by conditions for a walk along the ordering, or for gathering them by their texts."""

    def __init__(self, connection: Connection, project_id: str, chosen: PerformanceFilter) -> None:
        self.connection = connection
        self.project_id = project_id
        self.chosen = chosen
        driven = search_query if chosen.query is not None else search_page if chosen.page_url is not None else None
        self.dictionary = None if chosen.entity_id is not None else driven

    @cached_property
    def texts(self) -> dict[str, int]:
        """Looked up once, and only when they are needed."""
        assert self.dictionary is not None
        term = self.chosen.query if self.dictionary is search_query else self.chosen.page_url
        return texts_with(self.connection, self.dictionary, self.project_id, term or "")

    @property
    def by_dates_alone(self) -> bool:
        return self.chosen == PerformanceFilter(date_start=self.chosen.date_start, date_end=self.chosen.date_end)

    @property
    def by_text_alone(self) -> bool:
        """Then the distinct texts tell the total."""
        alone = PerformanceFilter(query=self.chosen.query), PerformanceFilter(page_url=self.chosen.page_url)
        return self.dictionary is not None and self.chosen in alone

    @cached_property
    def bound(self) -> int:
        """No more rows than these have the texts; an entity is expected to have few."""
        return 0 if self.dictionary is None else sum(self.texts.values())

    def count(self) -> int:
        if self.by_text_alone:
            return self.bound
        rows = select(func.count()).select_from(search_performance).where(*self.gathered)
        return int(self.connection.execute(rows).scalar_one())

    @cached_property
    def walked(self) -> list[ColumnElement[bool]]:
        """The texts are tested on the row itself."""
        tests = ((_row.query_folded, self.chosen.query), (_row.page_folded, self.chosen.page_url))
        return [*self._plain(), *(holds(own, term) for own, term in tests if term is not None)]

    @cached_property
    def gathered(self) -> list[ColumnElement[bool]]:
        if self.dictionary is None:
            return self.walked
        if self.dictionary is search_page:
            return [*self._plain(), among(_row.page_url, self.texts)]
        rest = [] if self.chosen.page_url is None else [holds(_row.page_folded, self.chosen.page_url)]
        return [*self._plain(), among(_row.query, self.texts), *rest]

    def _plain(self) -> list[ColumnElement[bool]]:
        where: list[ColumnElement[bool]] = [_row.project_id == self.project_id]
        if self.chosen.entity_id is not None:
            where = [unindexed(_row.project_id) == self.project_id, _row.entity_id == self.chosen.entity_id]
        if self.chosen.date_start is not None:
            where.append(_row.date_start >= self.chosen.date_start)
        if self.chosen.date_end is not None:  # a period starts before it ends, which the index can use
            where += [_row.date_start <= self.chosen.date_end, _row.date_end <= self.chosen.date_end]
        return where


def _sums(connection: Connection, project_id: str, chosen: PerformanceFilter) -> Sums:
    """Clicks and impressions add up; the position is weighted by impressions, the rate is clicks over impressions."""
    weighted = func.sum(_row.avg_position * _row.impressions)
    columns = [func.count(_row.id), func.sum(_row.impressions), func.sum(_row.clicks), weighted]
    found = connection.execute(select(*columns).where(*_Matching(connection, project_id, chosen).gathered)).one()
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
