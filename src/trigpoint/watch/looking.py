"""One look at a register's lists for a watch: fetch, match, keep. Nothing runs by itself unless `WATCH_EVERY_HOURS` is set."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from trigpoint.config import Settings
from trigpoint.dates import today
from trigpoint.errors import BotChallenge, InvalidInput, PortalBusy, PortalError
from trigpoint.registers.directory import open_register
from trigpoint.registers.models import ListedApplication, Listing
from trigpoint.registers.register import WebRegister
from trigpoint.watch.matching import WatchFit, fit_of, in_wards
from trigpoint.watch.models import MOST_SIGHTINGS, Look, Sighting, Watch, WatchRecord
from trigpoint.watch.store import WatchStore

log = logging.getLogger(__name__)

OVERLAP = timedelta(days=14)  # registers list applications some days after they were received
_MOST_LOOK_UPS = 25  # of wards, in one look


@dataclass(frozen=True)
class LookResult:
    """The result of a look: the record as it is kept now, and the applications that are new in it."""

    record: WatchRecord
    added: tuple[Sighting, ...]


async def look(settings: Settings, store: WatchStore, watch_id: str) -> LookResult:
    """Look at the register's lists and keep what fits. Raises WatchBusy, WatchNotFound, PortalError, InvalidInput.

    A problem of the register, or a ward that it does not have, is kept with the watch and raised; what earlier looks found stays.
    """
    with store.looking(watch_id):
        record = store.get(watch_id)
        watch, since = record.watch, _since(record)
        tried = Look(at=datetime.now(UTC), since=since)
        try:
            async with open_register(settings, watch.authority) as register:
                listing = await register.recent(since, today(), watch.wards)
                matched = await asyncio.to_thread(_matched, watch, listing)
                found, unknown = await _in_wards(register, watch, listing, matched, record)
        except (PortalError, InvalidInput) as error:
            link = str(error.details["link"]) if "link" in error.details else None
            failed = tried.model_copy(update={"problem": error.message, "link": link})
            await asyncio.to_thread(store.change, watch_id, lambda kept: kept.model_copy(update={"last": failed}))
            raise
        done = tried.model_copy(
            update={
                "listed": len(listing.rows),
                "found": len(found),
                "wards_unknown": unknown,
                "left_out": listing.left_out,
            }
        )
        return await asyncio.to_thread(_keep_sightings, store, watch_id, found, done)


def _since(record: WatchRecord) -> date:
    """Return the first day to ask for: what the watch says, then shortly before the last look that succeeded."""
    if record.last_good is None:
        return record.watch.since
    return max(record.watch.since, record.last_good.at.date() - OVERLAP)


def _matched(watch: Watch, listing: Listing) -> list[tuple[ListedApplication, WatchFit]]:
    fits = ((row, fit_of(watch, row.application)) for row in listing.rows)
    return [(row, fit) for row, fit in fits if fit is not None]


async def _in_wards(
    register: WebRegister,
    watch: Watch,
    listing: Listing,
    matched: Sequence[tuple[ListedApplication, WatchFit]],
    record: WatchRecord,
) -> tuple[list[Sighting], int]:
    """Return the sightings in the wards of a watch, and how many of them are in wards that are not known.

    A list that was not made by ward is completed by looking the applications up, up to a limit in each look.
    """
    at = datetime.now(UTC)
    known = {one.reference: one.ward for one in record.sightings}
    look_ups, unknown = _MOST_LOOK_UPS, 0
    sightings: list[Sighting] = []
    for row, fit in matched:
        ward = row.application.ward or known.get(row.application.reference)
        if watch.wards and not listing.by_ward:
            if ward is None and look_ups:
                look_ups -= 1
                ward = await _ward(register, row.application.reference)
            if ward is not None and not in_wards(watch, ward):
                continue
            unknown += ward is None
        sightings.append(_sighting(row, fit, ward, at))
    return sightings, unknown


async def _ward(register: WebRegister, reference: str) -> str | None:
    """Return the ward that an application's page names, None if the page cannot be read."""
    try:
        application = await register.application(reference)
    except (BotChallenge, PortalBusy):
        raise
    except PortalError as error:
        log.info("the ward of %s is not known: %s", reference, error.message)
        return None
    return application.ward


def _sighting(row: ListedApplication, fit: WatchFit, ward: str | None, at: datetime) -> Sighting:
    one = row.application
    return Sighting(
        reference=one.reference.strip().upper(),
        page_url=row.page_url,
        address=one.address,
        proposal=one.proposal,
        kind=fit.kind,
        ward=ward,
        status=one.status,
        date_received=one.date_received,
        date_validated=one.date_validated,
        dwellings=fit.dwellings,
        floorspace=fit.floorspace,
        size=fit.size,
        first_seen=at,
    )


def _keep_sightings(store: WatchStore, watch_id: str, found: Sequence[Sighting], done: Look) -> LookResult:
    """Keep what was found, in one write: newest first, with the marks that people have set meanwhile."""
    added: list[Sighting] = []

    def merge(record: WatchRecord) -> WatchRecord:
        before = {one.reference: one for one in record.sightings}
        added[:] = [one for one in found if one.reference not in before]
        again = {
            one.reference: one.model_copy(
                update={"first_seen": before[one.reference].first_seen, "new": before[one.reference].new}
            )
            for one in found
            if one.reference in before
        }
        sightings = (*added, *(again.get(reference, one) for reference, one in before.items()))
        return record.model_copy(update={"sightings": sightings[:MOST_SIGHTINGS], "last": done, "last_good": done})

    return LookResult(store.change(watch_id, merge), tuple(added))
