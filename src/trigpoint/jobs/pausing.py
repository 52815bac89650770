"""Pauses work while the disk is nearly full, and resumes it when there is space again."""

from __future__ import annotations

import asyncio
import logging

from trigpoint.config import Settings
from trigpoint.storage.space import look

log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0


async def has_space(settings: Settings, *, what: str) -> None:
    """Return once the data folder has enough free space to go on with running work."""
    if not look(settings).is_critical:
        return
    log.warning("%s: paused, %s", what, look(settings).said)
    while look(settings).is_critical:  # noqa: ASYNC110  a disk tells nobody when it has space again
        await asyncio.sleep(_LOOK_SECONDS)
    log.info("%s: there is space again", what)
