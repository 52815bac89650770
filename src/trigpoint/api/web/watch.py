"""Watches: add one, look at the register now, review what it found with one click, remove it."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from trigpoint.api.routes.reviews import placed
from trigpoint.api.schemas.reviews import ReviewSubmission
from trigpoint.api.services import Services
from trigpoint.api.web.templating import page
from trigpoint.dates import parse_day
from trigpoint.errors import InvalidInput, ReviewAlreadyExists, TrigpointError, WatchNotFound, shorten
from trigpoint.logs import request_id
from trigpoint.registers.entries import load_registers
from trigpoint.storage.space import require_space
from trigpoint.watch.asking import asked_for
from trigpoint.watch.looking import look
from trigpoint.watch.store import WatchStore

_LOOK_SECONDS = 120
_FIELDS = ("authority", "words", "wards", "min_dwellings", "min_floorspace", "since")


async def show(request: Request) -> Response:
    return await _watch_response(request)


async def add(request: Request) -> Response:
    """Keep a new watch. Nothing is fetched yet."""
    form = await request.form()
    given = {name: str(form.get(name, "")).strip() for name in _FIELDS}
    settings = _services(request).settings
    try:
        watch = asked_for(
            settings,
            given["authority"] or None,
            words=_split_list(given["words"]),
            wards=_split_list(given["wards"]),
            min_dwellings=_whole_number(given["min_dwellings"]),
            min_floorspace=_whole_number(given["min_floorspace"]),
            since=parse_day(given["since"]) if given["since"] else None,
        )
        await asyncio.to_thread(WatchStore(settings).add, watch)
    except InvalidInput as error:
        return await _watch_response(request, 422, problem=error.message, given=given)
    return RedirectResponse(f"/watch#{watch.id}", 303)


async def run(request: Request) -> Response:
    """Look at the register now. What goes wrong is kept with the watch, and shown there."""
    settings, watch_id = _services(request).settings, request.path_params["watch_id"]
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            await look(settings, WatchStore(settings), watch_id)
    except TimeoutError:
        problem = f"The register took longer than {_LOOK_SECONDS} s. `trigpoint watch run {watch_id}` has no such limit"
        return await _watch_response(request, 504, problem=problem)
    except WatchNotFound:
        raise
    except TrigpointError as error:
        return await _watch_response(request, error.status, problem=error.message)
    return RedirectResponse(f"/watch#{watch_id}", 303)


async def seen(request: Request) -> Response:
    settings, watch_id = _services(request).settings, request.path_params["watch_id"]
    await asyncio.to_thread(WatchStore(settings).change, watch_id, lambda record: record.seen())
    return RedirectResponse(f"/watch#{watch_id}", 303)


async def remove(request: Request) -> Response:
    await asyncio.to_thread(WatchStore(_services(request).settings).remove, request.path_params["watch_id"])
    return RedirectResponse("/watch", 303)


async def review(request: Request) -> Response:
    """Submit the review of an application that the watch has found, and mark it as seen."""
    services, watch_id = _services(request), request.path_params["watch_id"]
    store = WatchStore(services.settings)
    record = await asyncio.to_thread(store.get, watch_id)
    reference = str((await request.form()).get("application_ref", ""))
    if all(one.reference != reference for one in record.sightings):
        raise InvalidInput(f"This watch has not found an application {shorten(reference)}")
    authority = record.watch.authority
    submission = ReviewSubmission.model_validate(
        {"application_ref": reference}
        | ({} if load_registers(services.settings).is_default(authority) else {"authority": authority})
    )
    require_space(services.settings)
    place, named = placed(submission, services)
    try:
        made = await services.reviews.create(
            place, submission.options, None, request_id=request_id.get(), authority=named
        )
    except ReviewAlreadyExists as error:
        return await _watch_response(request, 409, problem=f"{error.message}. It is on the page Reviews.")
    await asyncio.to_thread(store.change, watch_id, lambda kept: kept.seen(frozenset({reference})))
    return RedirectResponse(f"/reviews/{made.review_id}", 303)


async def _watch_response(
    request: Request, status: int = 200, *, problem: str | None = None, given: dict[str, str] | None = None
) -> Response:
    settings = _services(request).settings
    table = load_registers(settings)
    kept = await asyncio.to_thread(WatchStore(settings).all)
    shown: dict[str, Any] = dict.fromkeys(_FIELDS, "") | {"authority": table.default} | (given or {})
    names = {entry.authority: entry.name for entry in table.entries.values() if entry.readable}
    return page(
        request,
        "watch.html",
        status,
        records=kept.records,
        unreadable=kept.unreadable,
        problem=problem,
        given=shown,
        names=names,
        authorities=sorted(names.items(), key=lambda pair: (not table.is_default(pair[0]), pair[1])),
        every_hours=settings.watch_every_hours,
    )


def _services(request: Request) -> Services:
    services: Services = request.scope["services"]
    return services


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _whole_number(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidInput(f"'{shorten(text)}' is not a number of homes or square metres")
    return int(text)


ROUTES = [
    Route("/watch", show),
    Route("/watch", add, methods=["POST"]),
    Route("/watch/{watch_id}/run", run, methods=["POST"]),
    Route("/watch/{watch_id}/seen", seen, methods=["POST"]),
    Route("/watch/{watch_id}/remove", remove, methods=["POST"]),
    Route("/watch/{watch_id}/review", review, methods=["POST"]),
]
