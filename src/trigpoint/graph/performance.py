"""Reads of search performance: the list, and two periods side by side.

A substring filter looks through the distinct queries or pages; a period's total is a sum of counters.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property, lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, bindparam, func, select

from trigpoint.graph.distinct_texts import texts_with
from trigpoint.graph.filters import PerformanceFilter
from trigpoint.graph.listing import Asked, Key, Listing, Where, counted, counted_rows, is_selective, rows_from, summed
from trigpoint.graph.lists import among_named
from trigpoint.graph.models import SearchPerformance, Shape
from trigpoint.graph.paging import Page, PageRequest, pagination, position, scope_of
from trigpoint.graph.search_text import can_match, contains, fold, unindexed
from trigpoint.graph.state import State, state_of, total_of
from trigpoint.graph.tables import performance_count, search_page, search_performance, search_query

_GATHERED = 20_000  # so many rows are ordered in little more time than it takes to count them
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
    rows: list[RowMapping]
    if matching.nothing:
        total, rows, follows = 0, [], False
    elif matching.by_dates_alone:
        total = summed(connection, performance_count, matching.periods)
        rows, follows = rows_from(connection, LATEST, at, matching.walked)
    elif matching.bound <= _GATHERED and not matching.by_text_alone:
        total, rows, follows = counted_rows(connection, LATEST, at, matching.gathered)
    else:
        total = matching.total()
        if is_selective(total, matching.state.rows, at):
            rows, follows = rows_from(connection, LATEST, at, matching.gathered, gathered=search_performance)
        else:
            rows, follows = rows_from(connection, LATEST, at, matching.walked)
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


class _Matching:
    """The rows that match, asked for by a walk along the ordering, or by gathering them by their texts."""

    def __init__(self, connection: Connection, project_id: str, chosen: PerformanceFilter) -> None:
        self.connection = connection
        self.chosen = chosen
        self.project_id = project_id
        driven = search_query if chosen.query is not None else search_page if chosen.page_url is not None else None
        self.dictionary = None if chosen.entity_id is not None else driven
        self.values: dict[str, Any] = {name: value for name, value in asdict(chosen).items() if value is not None}
        self.values["project_id"] = project_id
        for name in {"query", "page_url"} & self.values.keys():
            self.values[name] = fold(self.values[name])

    @property
    def nothing(self) -> bool:
        """A term that cannot match."""
        return not all(can_match(term) for term in (self.chosen.query, self.chosen.page_url) if term is not None)

    @cached_property
    def state(self) -> State:
        return state_of(self.connection, self.project_id, performance_count)

    @cached_property
    def texts(self) -> dict[str, int]:
        """Looked up once, and only when they are needed."""
        assert self.dictionary is not None
        term = self.chosen.query if self.dictionary is search_query else self.chosen.page_url
        return texts_with(self.connection, self.dictionary, self.state, term or "")

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

    def total(self) -> int:
        if self.by_text_alone:
            return self.bound
        return total_of(
            self.connection,
            self.state,
            self.chosen,
            lambda: counted(self.connection, search_performance, self.gathered),
        )

    @property
    def periods(self) -> Asked:
        return Asked(_conditions(performance_count, frozenset(self.values)), self.values)

    @property
    def walked(self) -> Asked:
        """The texts are tested on the row itself."""
        return Asked(_conditions(search_performance, frozenset(self.values)), self.values)

    @property
    def gathered(self) -> Asked:
        if self.dictionary is None:
            return self.walked
        looked_up = "query" if self.dictionary is search_query else "page_url"
        where = _conditions(search_performance, frozenset(self.values), looked_up)
        return Asked(where, {**self.values, "texts": list(self.texts)})


@lru_cache(maxsize=256)
def _conditions(of: Table, names: frozenset[str], looked_up: str | None = None) -> Where:
    """On search rows or counted periods. The text of `looked_up` is one of `texts`, others are tested."""
    c = of.c
    conditions: list[ColumnElement[bool]] = []
    if "entity_id" in names:
        conditions = [unindexed(c.project_id) == bindparam("project_id"), c.entity_id == bindparam("entity_id")]
    else:
        conditions = [c.project_id == bindparam("project_id")]
    if "date_start" in names:
        conditions.append(c.date_start >= bindparam("date_start"))
    if "date_end" in names:  # a period starts before it ends, which the index can use
        conditions += [c.date_start <= bindparam("date_end"), c.date_end <= bindparam("date_end")]
    for name, folded in (("query", "query_folded"), ("page_url", "page_folded")):
        if name == looked_up:
            conditions.append(among_named(c[name], "texts"))
        elif name in names:
            conditions.append(contains(c[folded], name))
    return tuple(conditions)


def _sums(connection: Connection, project_id: str, chosen: PerformanceFilter) -> Sums:
    """Clicks and impressions add up; the position is weighted by impressions, the rate is clicks over impressions."""
    matching = _Matching(connection, project_id, chosen)
    if matching.nothing:
        return Sums(rows=0, impressions=0, clicks=0, ctr=None, avg_position=None)
    found = connection.execute(_summing(matching.gathered.where), matching.gathered.values).one()
    impressions, clicks = int(found[1] or 0), int(found[2] or 0)
    return Sums(
        rows=found[0],
        impressions=impressions,
        clicks=clicks,
        ctr=clicks / impressions if impressions else None,
        avg_position=float(found[3]) / impressions if impressions else None,
    )


@lru_cache(maxsize=64)
def _summing(where: Where) -> Select[*tuple[Any, ...]]:
    weighted = func.sum(_row.avg_position * _row.impressions)
    return select(func.count(_row.id), func.sum(_row.impressions), func.sum(_row.clicks), weighted).where(*where)


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
