"""The state of a project, and totals that take a scan to count, remembered for the state that they were counted in.

The state is read in the caller's own snapshot: the project's last event (each write logs one in its transaction) and
how many rows there are. So a remembered total is always that of the rows it is shown with.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, func, select

from trigpoint.graph.memory import Memory
from trigpoint.graph.tables import event_log

_totals: Memory[int] = Memory(most=1000)


@dataclass(frozen=True)
class State:
    project_id: str
    last_event: int | None
    rows: int


def state_of(connection: Connection, project_id: str, counter: Table) -> State:
    """Of the rows that a table with a column `n` counts."""
    last, rows = connection.execute(_state(counter), {"project_id": project_id}).one()
    return State(project_id, last, int(rows))


@cache
def _state(counter: Table) -> Select[Any]:
    last = select(func.max(event_log.c.seq)).where(event_log.c.project_id == bindparam("project_id"))
    rows = select(func.coalesce(func.sum(counter.c.n), 0)).where(counter.c.project_id == bindparam("project_id"))
    return select(last.scalar_subquery(), rows.scalar_subquery())


def total_of(connection: Connection, state: State, chosen: Hashable, count: Callable[[], int]) -> int:
    """`count()`, or what it gave before for the same filter in the same state."""
    key = (state, chosen)
    total = _totals.get(connection.engine, key)
    if total is None:
        total = count()
        _totals.put(connection.engine, key, total)
    return total
