"""The content that an agent is shown of a review, step by step, and the state of the review."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from trigpoint.jobs.led import Handle, LedReview
from trigpoint.mcp.review_answers import (
    ListedReview,
    NextAnswer,
    Pages,
    ShownAspect,
    ShownDiscrepancy,
    ShownDocument,
    ShownFinding,
    ShownQuestion,
    StatusAnswer,
    open_questions,
)
from trigpoint.mcp.review_desk import Desk, Judging
from trigpoint.mcp.review_ending import files_of
from trigpoint.mcp.tools import SendProgress
from trigpoint.review.orientation import AspectEntry, Orientation
from trigpoint.review.sheets import Sheet

WINDOW = 36_000  # characters of documents in one answer
_ASPECT_CHARACTERS = 30_000
_FRAME = 200  # characters around each part of an answer
_MOST_DOCUMENTS = 150
_MOST_DISCREPANCIES = 40

_WAIT_SECONDS = 25.0
_LOOK_SECONDS = 0.3

_OPENING = "The documents are still being fetched and read. Call read_next again: it waits for a while."
_AFTER_APPLICATION = (
    "Check the profile against the proposal (correct_profile if it is wrong), then call read_next for the questions."
)
_AFTER_QUESTIONS = (
    "Call read_next for the pages that matter. Note the words that answer a question, with document and page."
)
_AFTER_PAGES = "Call read_next for more, or hand in with submit_findings what these pages prove."
_JUDGE = (
    "All pages that matter are read. Answer the open questions with submit_findings (search_documents before you say that "
    "something is not_shown), then draft_letter, then finish_review."
)


async def next_step(desk: Desk, handle: Handle, *, alone: bool, tell: SendProgress) -> NextAnswer:
    """Return the next thing to look at, and note that it was shown."""
    led, ready = await _opened_soon(desk, handle, alone=alone, tell=tell)
    if not led.active:
        return NextAnswer(step="ended", next=f"The review is {led.status}. review_status says more.")
    if not ready:
        return NextAnswer(step="opening", next=_OPENING, progress=await _progress(desk, handle.review_id))
    async with desk.judging(handle, alone=alone) as judging:
        return _step(judging)


async def _opened_soon(desk: Desk, handle: Handle, *, alone: bool, tell: SendProgress) -> tuple[LedReview, bool]:
    """Wait a while for the documents: an agent cannot sleep between two calls."""
    until = asyncio.get_running_loop().time() + _WAIT_SECONDS
    while True:
        led = await desk.look(handle, alone=alone)
        ready = led.active and await desk.can_be_judged(handle, led, alone=alone)
        if ready or not led.active or asyncio.get_running_loop().time() > until:
            return led, ready
        progress = await _progress(desk, handle.review_id)
        if progress is not None:
            await tell(progress["percent_complete"], 100, progress["detail"])
        await asyncio.sleep(_LOOK_SECONDS)


def _step(judging: Judging) -> NextAnswer:
    orientation = judging.draft.orientation()
    groups = _groups(orientation.aspects)
    shown = judging.steps_shown
    if shown == 0:
        judging.steps_shown = 1
        return _application(judging, orientation)
    if shown <= len(groups):
        judging.steps_shown += 1
        aspects = [_shown_aspect(one) for one in groups[shown - 1]]
        return NextAnswer(step="questions", next=_AFTER_QUESTIONS, aspects=aspects)
    return _pages(judging)


def _application(judging: Judging, orientation: Orientation) -> NextAnswer:
    found = judging.opened.found
    documents = [
        ShownDocument(label=o.label, name=o.name, type=o.document_type, written_by=o.written_by, pages=o.pages)
        for o in orientation.documents
    ]
    return NextAnswer(
        step="application",
        next=_AFTER_APPLICATION,
        application={
            "reference": orientation.application_ref,
            "policy_as_of": orientation.effective_date,
            "register": {key: value for key, value in found["application"].items() if value},
            "profile": orientation.profile.model_dump(mode="json", exclude_defaults=True),
            "remarks": list(orientation.remarks),
            "named_but_not_read": list(orientation.not_seen),
        },
        documents=documents[:_MOST_DOCUMENTS],
        documents_left_off=max(0, len(documents) - _MOST_DOCUMENTS),
        discrepancies=[
            ShownDiscrepancy(
                id=one.id,
                summary=one.summary,
                calculation=one.calculation,
                places=[f"{label}, page {page}: {words[:300]}" for label, page, words in dict.fromkeys(one.places)][:4],
            )
            for one in orientation.candidates[:_MOST_DISCREPANCIES]
        ],
        pages_left=len(_unshown(judging)),
    )


def _groups(aspects: tuple[AspectEntry, ...]) -> list[list[AspectEntry]]:
    """Put as many aspects together as one answer holds. Those of which nothing is asked are left out."""
    groups: list[list[AspectEntry]] = []
    size = 0
    for one in aspects:
        if not one.questions:
            continue
        length = len(_shown_aspect(one).model_dump_json())
        if not groups or size + length > _ASPECT_CHARACTERS:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += length
    return groups


def _shown_aspect(one: AspectEntry) -> ShownAspect:
    return ShownAspect(
        id=one.id,
        name=one.name,
        question=one.question,
        questions=[
            ShownQuestion(
                id=q.id, asks=q.asks, essential=q.essential, policy=list(q.policy), answered_by=list(q.answered_by)
            )
            for q in one.questions
        ],
        policy=[{"label": p.label, "ref": p.ref, "says": p.says[:1500]} for p in one.provisions],
    )


def _unshown(judging: Judging) -> list[Sheet]:
    shown = set(judging.pages_shown)
    return [one for one in judging.draft.sheets.by_relevance if one.key not in shown]


def _pages(judging: Judging) -> NextAnswer:
    """Show as many of the pages that matter as one answer holds."""
    shown: list[Pages] = []
    room = WINDOW
    while room > 0:
        pages = _next_pages(judging, room)
        if pages is None:
            break
        shown.append(pages)
        room -= len(pages.text) + _FRAME
    left = len(_unshown(judging))
    if not shown:
        return NextAnswer(step="judge", next=_JUDGE, pages_left=0, open_questions=open_questions(judging))
    return NextAnswer(step="pages", next=_AFTER_PAGES, pages=shown, pages_left=left)


def _next_pages(judging: Judging, room: int) -> Pages | None:
    if judging.rest_of_page is not None:
        label, page, offset = judging.rest_of_page
        return pages_window(judging, label, page, to=page, offset=offset, most=room)
    left = _unshown(judging)
    if not left or (room < WINDOW and left[0].characters > room):
        return None
    first = left[0]
    return pages_window(judging, first.label, first.page, to=_last_in_a_row(first, left, room), offset=0, most=room)


def _last_in_a_row(first: Sheet, left: list[Sheet], room: int) -> int | None:
    """Return the last of the pages after this one that are to be read as well and fit into one answer."""
    if first.page is None:
        return None
    sizes = {one.page: one.characters for one in left if one.label == first.label}
    last, room = first.page, room - first.characters
    while last + 1 in sizes and sizes[last + 1] <= room:
        last += 1
        room -= sizes[last]
    return last


def pages_window(
    judging: Judging, document: str, page: int | None, *, to: int | None, offset: int, most: int = WINDOW
) -> Pages:
    """Return pages of a document, and note that they were shown. Raises InvalidInput."""
    window = judging.draft.read(document, page, to=to, offset=offset, most=most)
    cut_within = window.next_page is not None and window.next_offset > 0
    judging.rest_of_page = (window.label, window.next_page, window.next_offset) if cut_within else None
    keys = [f"{window.label}:{number}" for number in window.pages or (0,)]
    judging.pages_shown += [key for key in keys if key not in judging.pages_shown]
    return Pages(
        document=window.label,
        name=window.document,
        pages=list(window.pages),
        text=window.text,
        next_page=window.next_page,
        next_offset=window.next_offset,
    )


async def status_of(desk: Desk, review: str | None, *, alone: bool) -> StatusAnswer:
    """Return the state of a review; without one, the reviews that agents lead."""
    if review is None:
        return StatusAnswer(reviews=[await _listed_review(desk, one.review_id) for one in await desk.led.active()])
    if "-" not in review:
        return await _from_outside(desk, review, alone=alone)
    handle = Handle.parse(review)
    led = await desk.look(handle, alone=alone)
    answer = StatusAnswer(
        review_id=handle.review_id,
        application_ref=led.request.application_ref,
        review_status=led.status,
        led_by=led.led_by,
        ready=led.ready,
        progress=await _progress(desk, handle.review_id),
    )
    if not led.active:
        return await _from_outside(desk, handle.review_id, alone=alone)
    if not led.ready:
        return answer
    async with desk.judging(handle, alone=alone) as judging:
        return answer.model_copy(
            update={
                "findings": _findings(judging),
                "open_questions": open_questions(judging),
                "quality": judging.draft.quality().model_dump(mode="json", exclude_defaults=True),
            }
        )


async def _from_outside(desk: Desk, review_id: str, *, alone: bool) -> StatusAnswer:
    """Return what anybody may see of a review: its outcome and its files, or how far it is."""
    kept = await desk.reviews.get(review_id)
    files = []
    if kept.status == "completed":  # a server that died at the end may have left some unwritten
        files = await files_of(desk, review_id, kept.result(), alone=alone)
    return StatusAnswer(
        review_id=review_id,
        application_ref=kept.application_ref,
        review_status=kept.status,
        led_by=await desk.led.leader(review_id),
        progress=orjson.loads(kept.progress) if kept.progress else None,
        error=orjson.loads(kept.error) if kept.error else None,
        files=files,
    )


def _findings(judging: Judging) -> list[ShownFinding]:
    return [
        ShownFinding(
            id=name,
            verdict=held.verdict.verdict,
            aspect=held.given.aspect,
            statement=held.given.statement[:200],
            reasons=[reason[:200] for reason in held.verdict.reasons[:3]],
        )
        for name, held in judging.draft.state.held.items()
    ]


async def _listed_review(desk: Desk, review_id: str) -> ListedReview:
    kept = await desk.reviews.get(review_id)
    return ListedReview(
        review_id=review_id,
        application_ref=kept.application_ref,
        review_status=kept.status,
        led_by=await desk.led.leader(review_id) or "",
    )


async def _progress(desk: Desk, review_id: str) -> dict[str, Any] | None:
    progress = (await desk.reviews.get(review_id)).progress
    return orjson.loads(progress) if progress else None
