"""The feed of events: page by page, by waiting for the next one, or as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response, StreamingResponse

from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.events import EventPage
from trigpoint.api.schemas.values import DIGITS
from trigpoint.api.services import Services, Use
from trigpoint.errors import InvalidInput, StoreError
from trigpoint.jobs.feed import FROM_START, Feed, FeedPage, check_cursor

_LONGEST_WAIT = 30
_STREAM_SECONDS = 3600.0
_STREAM_BATCH = 100
_BEAT_SECONDS = 10.0
_NOTICE_STOP_SECONDS = 1.0

router = APIRouter(prefix="/events", tags=["Events"])


@router.get("", response_model=EventPage, responses=errors())
async def list_events(
    request: Request,
    use: Use,
    after: Annotated[
        str | None, Query(max_length=40, description="A cursor, or `latest`. Default: the oldest event that is kept")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most events in one answer"), DIGITS] = 100,
    wait: Annotated[
        int, Query(ge=0, le=_LONGEST_WAIT, description="Seconds to wait if there is no event yet"), DIGITS
    ] = 0,
    last_event_id: Annotated[str | None, Header(description="As browsers send it when they reconnect")] = None,
) -> Response:
    """List everything that webhooks send, for all reviews, oldest first.

    With `Accept: text/event-stream`, stream it. An event named `missed` comes first if some are no longer kept.
    """
    feed = Feed(use.redis)
    cursor = last_event_id or after or FROM_START
    if cursor == "latest":
        cursor = await feed.latest()
    try:
        check_cursor(cursor)
    except InvalidInput as error:
        place = ("header", "Last-Event-ID") if last_event_id else ("query", "after")
        problem = {"loc": place, "msg": f"Value error, {error.message}", "type": "value_error"}
        raise RequestValidationError([problem]) from None
    if "text/event-stream" in request.headers.get("accept", "").lower():
        first = await feed.read(cursor, limit=_STREAM_BATCH)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = _stream(use, feed, first)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)
    page = await feed.read(cursor, limit=limit, wait_seconds=wait)
    body = {
        "events": [{"cursor": event.cursor, "body": event.body} for event in page.events],
        "cursor": page.cursor,
        "missed": page.missed,
    }
    return Response(orjson.dumps(body), media_type="application/json")


async def _stream(use: Services, feed: Feed, page: FeedPage) -> AsyncIterator[bytes]:
    """Yield events as they come, and a comment now and then, so that both ends notice when the other has gone.

    With the comment comes the cursor: whoever connects again before an event came misses nothing. An event `missed` comes
    first if there is a gap.
    """
    clock = asyncio.get_running_loop().time
    until, beat = clock() + _STREAM_SECONDS, clock()
    while clock() < until and not use.resources.stopping:
        if page.missed:
            yield b"event: missed\ndata: {}\n\n"
        for event in page.events:
            name = event.body["event"]
            yield f"id: {event.cursor}\nevent: {name}\n".encode() + b"data: " + orjson.dumps(event.body) + b"\n\n"
        if clock() >= beat:
            beat = clock() + _BEAT_SECONDS
            yield f": still here\nid: {page.cursor}\n\n".encode()
        try:
            page = await feed.read(page.cursor, limit=_STREAM_BATCH, wait_seconds=_NOTICE_STOP_SECONDS)
        except StoreError:
            return  # the client connects again by itself, with the last id it saw
