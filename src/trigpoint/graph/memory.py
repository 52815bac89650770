"""What took a scan to find out, kept for the state of the data that it was found in."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine

Value = TypeVar("Value")


class Memory(Generic[Value]):
    """The latest used values of each database, up to `most` of them by weight. Keys name the state, so none grows old."""

    def __init__(self, most: int, weight: Callable[[Value], int] = lambda _: 1) -> None:
        self._most = most
        self._weight = weight
        self._lock = threading.Lock()
        self._kept: WeakKeyDictionary[Engine, OrderedDict[Hashable, Value]] = WeakKeyDictionary()

    def get(self, engine: Engine, key: Hashable) -> Value | None:
        with self._lock:
            kept = self._kept.get(engine)
            if kept is None or key not in kept:
                return None
            kept.move_to_end(key)
            return kept[key]

    def put(self, engine: Engine, key: Hashable, value: Value) -> None:
        with self._lock:
            kept = self._kept.setdefault(engine, OrderedDict())
            kept[key] = value
            kept.move_to_end(key)
            while sum(map(self._weight, kept.values())) > self._most:
                kept.popitem(last=False)
