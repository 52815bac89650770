"""Totals that take a scan to count, remembered for the state of the project that they were counted in.

The state is read in the caller's own snapshot: the project's last event (each write logs one in its transaction) and
how many rows there are. So a remembered total is always that of the rows it is shown with.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, func, select

from trigpoint.graph.tables import event_log

_MOST = 1000
_remembered: WeakKeyDictionary[Engine, OrderedDict[Hashable, int]] = WeakKeyDictionary()
_lock = threading.Lock()


def total_of(
    connection: Connection, project_id: str, everything: int, chosen: Hashable, count: Callable[[], int]
) -> int:
    """`count()`, or what it gave before for the same filter in the same state."""
    last = select(func.max(event_log.c.seq)).where(event_log.c.project_id == project_id)
    key = (project_id, connection.execute(last).scalar(), everything, chosen)
    with _lock:
        known = _remembered.setdefault(connection.engine, OrderedDict())
        if key in known:
            known.move_to_end(key)
            return known[key]
    total = count()
    with _lock:
        known[key] = total
        while len(known) > _MOST:
            known.popitem(last=False)
    return total
