"""A deadline: either a call's effect or its time-out comes first, never both (L8)."""

from __future__ import annotations

import threading


class Deadline:
    """Shared by the work, which claims its effect as the last step, and by whoever waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._outcome: str | None = None

    def claim(self) -> bool:
        """Before the effect: True if there is still time."""
        return self._settle("effect")

    def expire(self) -> bool:
        """When time is up: True if nothing has taken effect, and nothing will."""
        return self._settle("expired")

    def _settle(self, outcome: str) -> bool:
        with self._lock:
            self._outcome = self._outcome or outcome
            return self._outcome == outcome
