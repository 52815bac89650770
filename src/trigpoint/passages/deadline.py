"""A deadline: either a call's effect or its time-out comes first, never both. When it is over, the work ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

from trigpoint.errors import LibraryTimeout


def go_on() -> None:
    """Go on at once: the pause of work that gives way to nobody."""


class Deadline:
    """Shared by the work, which claims its effect as the last step, and by the caller that waits for it.

    `pause` is called between the steps of the work: it may wait there for what is more urgent.
    """

    def __init__(self, pause: Callable[[], None] = go_on) -> None:
        self.pause = pause
        self._lock = threading.Lock()
        self._outcome: str | None = None
        self._waiting_for: Callable[[], str] | None = None

    def claim(self) -> bool:
        """Claim the effect, just before it: True if there is still time."""
        return self._settle("effect")

    def expire(self) -> bool:
        """End the waiting when time is up: True if nothing has taken effect, and nothing will."""
        return self._settle("expired")

    @property
    def is_over(self) -> bool:
        return self._outcome == "expired"

    @property
    def excuse(self) -> str | None:
        """The reason why the work is not done yet, and what to do; None if there is none but the work itself."""
        told = self._waiting_for
        return told() if told else None

    @contextmanager
    def waiting_for(self, told: Callable[[], str]) -> Iterator[None]:
        self._waiting_for = told
        try:
            yield
        finally:
            if not self.is_over:  # then it is the excuse
                self._waiting_for = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Have `check_time` end the work of this thread, inside this context, when the time is up."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def _settle(self, outcome: str) -> bool:
        with self._lock:
            self._outcome = self._outcome or outcome
            return self._outcome == outcome


def time_is_up() -> bool:
    """Return whether the caller that waits for this thread's work has given up."""
    deadline = _current.get()
    return deadline is not None and deadline.is_over


@contextmanager
def waiting_for(told: Callable[[], str]) -> Iterator[None]:
    """Have a time-out inside this context tell the caller this: what this thread waits for, and what to do."""
    deadline = _current.get()
    with deadline.waiting_for(told) if deadline is not None else nullcontext():
        yield


def check_time() -> None:
    """Let more urgent work pass, and raise LibraryTimeout if time is up. Long work calls this between its steps."""
    deadline = _current.get()
    if deadline is not None:
        deadline.pause()
    if time_is_up():
        raise LibraryTimeout("The call had timed out; its work was ended")


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
