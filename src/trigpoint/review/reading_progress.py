"""Progress of the reading of a review's files: which document, which page of it, and how many are done."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from trigpoint.review.citing import document_title
from trigpoint.review.intake import Data, counted, public_name

_OFTEN_ENOUGH_SECONDS = 0.25  # a fast document has hundreds of pages a second, and nobody reads that many lines
_ALL_BUT_STORED = 0.95  # then there is no page or passage left to name


class ReadingProgress:
    """Reports the share of all files that has been read, and the place in the first one that is still open."""

    def __init__(self, files: Sequence[str], manifest: Data, step: Callable[[float, str], Awaitable[None]]) -> None:
        self._files, self._manifest, self._step = files, manifest, step
        self._shares: dict[str, float] = {}
        self._places: dict[str, str] = {}
        self._told_at = float("-inf")

    async def reached(self, path: str, share: float, place: str | None = None) -> None:
        """Tell that this share of a file is read, up to a place such as "page 3 of 40"."""
        self._shares[path] = share
        self._places[path] = (place or "") if share < _ALL_BUT_STORED else ""
        in_between = 0 < share < 1
        if in_between and time.monotonic() - self._told_at < _OFTEN_ENOUGH_SECONDS:
            return
        self._told_at = time.monotonic()
        await self._step(sum(self._shares.values()) / len(self._files), self._detail(path))

    def _detail(self, path: str) -> str:
        shown = next((one for one in self._files if self._shares.get(one, 1) < 1), path)
        place = f", {self._places[shown]}" if self._places[shown] else ""
        done = sum(share == 1 for share in self._shares.values())
        name = document_title(public_name(shown, self._manifest))
        return f"Reading {name}{place} ({done} of {counted(len(self._files), 'document')} done)"
