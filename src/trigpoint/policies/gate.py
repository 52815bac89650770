"""Many may read, or one may swap: a search never sees half of a revision's old passages and half of its new ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SwapGate:
    """A swap waits for the searches under way; new ones wait for the swap."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._swapping = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._swapping)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def swapping(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._swapping)
            self._swapping = True
            self._changed.wait_for(lambda: self._readers == 0)
        try:
            yield
        finally:
            with self._changed:
                self._swapping = False
                self._changed.notify_all()
