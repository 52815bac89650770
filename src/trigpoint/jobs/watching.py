"""Looks at the registers that are watched, every `WATCH_EVERY_HOURS`. Without that setting nothing is ever fetched."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from trigpoint.config import Settings
from trigpoint.errors import TrigpointError
from trigpoint.watch.looking import look
from trigpoint.watch.store import WatchStore

log = logging.getLogger(__name__)

_CHECK_SECONDS = 600.0


async def keep_watching(settings: Settings, *, check_seconds: float = _CHECK_SECONDS) -> None:
    """Look for every watch that is due, one after the other, until cancelled. Returns at once if it is switched off."""
    if settings.watch_every_hours is None:
        return
    while True:
        await look_where_due(settings, timedelta(hours=settings.watch_every_hours))
        await asyncio.sleep(check_seconds)


async def look_where_due(settings: Settings, every: timedelta) -> None:
    """Look for the watches whose last look, good or not, is long enough ago. A problem is logged and kept with its watch."""
    store = WatchStore(settings)
    for record in (await asyncio.to_thread(store.all)).records:
        if record.last is not None and timedelta(0) <= datetime.now(UTC) - record.last.at < every:
            continue  # a look in the future is from before the clock was set back
        try:
            looked = await look(settings, store, record.watch.id)
        except (TrigpointError, OSError) as error:
            log.warning("watch %s: %s", record.watch.id, error)
        else:
            log.info("watch %s: %d new", record.watch.id, len(looked.added))
