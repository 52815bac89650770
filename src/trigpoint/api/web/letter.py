"""The letter workshop: choose a position, tick and order the points, change the words, sign, and download the letter."""

from __future__ import annotations

import asyncio
from collections.abc import Set
from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from trigpoint.api.routes.letters import completed, current_letter
from trigpoint.api.services import Services
from trigpoint.api.web.letter_form import letter_of, moved, printed_with, with_own_point
from trigpoint.api.web.paging import whole_number
from trigpoint.api.web.templating import environment, page
from trigpoint.dates import today
from trigpoint.errors import LetterChanged
from trigpoint.jobs.letters import LetterVersion
from trigpoint.jobs.reviews import Review
from trigpoint.review.formats import FORMATS
from trigpoint.review.letter import Ground, Letter, PointKind, Reference, Stance
from trigpoint.review.letter_blocks import letter_blocks, usual_closing, usual_opening
from trigpoint.review.letter_draft import clipped
from trigpoint.review.letter_files import LETTER_PAGES, first_letter, letter_length, letter_text
from trigpoint.review.people import is_public_comment
from trigpoint.text.picture import STRIP_HEIGHT, STRIP_WIDTH

_STANCES: dict[Stance, str] = {"object": "Object", "comment": "Comment", "support": "Support"}
_KINDS: dict[PointKind, str] = {
    "shortfall": "Falls short",
    "contradiction": "Contradiction",
    "request": "Not shown",
    "question": "For the council to check",
    "strength": "To welcome",
    "remark": "Your own point",
}


_TITLES = {"ground": "", "question": "For the council to check", "strength": "To welcome"}


@dataclass(frozen=True)
class Link:
    """A place where the writer can check a point. `marked`: its page shows the words highlighted."""

    text: str
    href: str | None
    quote: str
    marked: bool = False


@dataclass(frozen=True)
class _LetterSection:
    """The points that are printed together, each with its links. A section with a title is folded."""

    title: str
    points: tuple[tuple[Ground, list[Link]], ...]

    @property
    def ticked(self) -> int:
        return sum(ground.ticked for ground, _ in self.points)


@dataclass(frozen=True)
class _Workshop:
    """The content of the page: a letter, saved or not, and its origin."""

    review: Review
    letter: Letter
    shown: int
    based_on: int


async def letter_page(request: Request) -> Response:
    """Return the current version, or the one that the address names."""
    services: Services = request.scope["services"]
    review = await completed(services, request.path_params["review_id"])
    current = await current_letter(services, review)
    chosen = await _version(services, review, request.query_params.get("version"), current)
    saved = request.query_params.get("saved", "") == str(current.row.version) and chosen == current
    note = f"Saved as version {current.row.version}." if saved else None
    if chosen != current:
        note = f"This is version {chosen.row.version}. Save it to make it the current one; the others stay in the list."
    return await _letter_response(
        request, _Workshop(review, chosen.letter, chosen.row.version, current.row.version), notice=note
    )


async def letter_sent(request: Request) -> Response:
    """Save what the form has, or change the order of its points, or add one: these last two save nothing."""
    services: Services = request.scope["services"]
    review = await completed(services, request.path_params["review_id"])
    form = await request.form()
    letter = await _letter_of_form(services, review, form)
    shown, based_on = _version_number(form, "shown"), _version_number(form, "based_on")
    action, _, ground_id = str(form.get("action", "save")).partition(":")
    if action != "save":
        step = -1 if action == "up" else 1
        changed = with_own_point(letter) if action == "add" else moved(letter, ground_id, step)
        note = "Not saved yet: press Save when you are done." if action != "show" else None
        return await _letter_response(request, _Workshop(review, changed, shown, based_on), notice=note, unsaved=True)
    return await _save_letter(request, _Workshop(review, letter, shown, based_on))


async def _save_letter(request: Request, workshop: _Workshop) -> Response:
    services: Services = request.scope["services"]
    review_id, wants_json = workshop.review.review_id, "application/json" in request.headers.get("accept", "")
    try:
        saved = await services.letters.save(review_id, workshop.letter, based_on=workshop.based_on)
    except LetterChanged as error:
        if wants_json:
            return JSONResponse({"problem": error.message, **error.details}, error.status)
        current = int(error.details["current_version"])
        kept = _Workshop(workshop.review, workshop.letter, int(error.details["kept_version"]), current)
        return await _letter_response(request, kept, error.status, changed=error)
    if wants_json:
        return JSONResponse({"version": saved.row.version})
    return RedirectResponse(f"/reviews/{review_id}/letter?saved={saved.row.version}", 303)


async def letter_preview(request: Request) -> Response:
    """Return the letter as the form would print it, as HTML and as text, with its length. Nothing is saved."""
    services: Services = request.scope["services"]
    review = await completed(services, request.path_params["review_id"])
    letter = await _letter_of_form(services, review, await request.form())
    parts = environment().get_template("letter_parts.html").module
    return JSONResponse(
        {
            "html": str(parts.printed(letter_blocks(letter, today()))),  # type: ignore[attr-defined]
            "text": letter_text(letter),
            "pages": await asyncio.to_thread(letter_length, letter),
            "opening": usual_opening(letter),
            "closing": usual_closing(letter),
        }
    )


async def letter_restore(request: Request) -> Response:
    """Make an earlier version the current one, as a new version."""
    services: Services = request.scope["services"]
    review = await completed(services, request.path_params["review_id"])
    form = await request.form()
    chosen = await services.letters.get(review.review_id, _version_number(form, "version"))
    return await _save_letter(
        request, _Workshop(review, chosen.letter, chosen.row.version, _version_number(form, "based_on"))
    )


async def _version(services: Services, review: Review, asked: str | None, current: LetterVersion) -> LetterVersion:
    if asked is None:
        return current
    number = whole_number(asked)
    return current if number == current.row.version else await services.letters.get(review.review_id, number)


async def _letter_of_form(services: Services, review: Review, form: FormData) -> Letter:
    """Return the letter of a form, over the version that the form showed."""
    shown = _version_number(form, "shown")
    if shown:
        base = (await services.letters.get(review.review_id, shown)).letter
    else:
        base = await asyncio.to_thread(lambda: first_letter(review.result()))
    return letter_of(form, base)


def _version_number(form: FormData, name: str) -> int:
    """Return a version's number; 0 is the first draft."""
    given = str(form.get(name, "0"))
    return 0 if given == "0" else whole_number(given)


async def _letter_response(
    request: Request,
    workshop: _Workshop,
    status: int = 200,
    *,
    notice: str | None = None,
    unsaved: bool = False,
    changed: LetterChanged | None = None,
) -> Response:
    services: Services = request.scope["services"]
    review, letter = workshop.review, workshop.letter
    return page(
        request,
        "letter.html",
        status,
        review=review,
        letter=letter,
        sections=_letter_sections(_points(review, letter)),
        blocks=letter_blocks(letter, today()),
        text=letter_text(letter),
        pages=await asyncio.to_thread(letter_length, letter),
        most_pages=LETTER_PAGES,
        strip=(STRIP_WIDTH, STRIP_HEIGHT),
        opening=letter.opening or usual_opening(letter),
        closing=letter.closing or usual_closing(letter),
        usual_opening=usual_opening(letter),
        usual_closing=usual_closing(letter),
        stances=_STANCES,
        kinds=_KINDS,
        formats=[one for one in FORMATS.values() if one.of_letter],
        versions=await services.letters.versions(review.review_id),
        shown=workshop.shown,
        based_on=workshop.based_on,
        notice=notice,
        unsaved=unsaved,
        changed=changed,
    )


def _letter_sections(points: list[tuple[Ground, list[Link]]]) -> list[_LetterSection]:
    """Sort the points as the letter prints them. Questions and praise are folded."""
    return [
        _LetterSection(title, tuple(chosen))
        for name, title in _TITLES.items()
        if (chosen := [point for point in points if printed_with(point[0]) == name])
    ]


def _points(review: Review, letter: Letter) -> list[tuple[Ground, list[Link]]]:
    """Return each point with the places where it can be checked."""
    numbers: dict[tuple[str, str, tuple[int, ...], str], int] = {}
    for number, one in enumerate(review.result().review.quotations(), 1):
        for quoted in (clipped(one.quote), ""):  # a reference may name a place without its words
            numbers.setdefault((one.document_id, one.passage_id, one.pages, quoted), number)
    comments = {one.document_id for one in review.result().review.quotations() if is_public_comment(one.document)}
    return [
        (ground, [_link_to_reference(review.review_id, one, numbers, comments) for one in ground.references])
        for ground in letter.grounds
    ]


def _link_to_reference(
    review_id: str,
    reference: Reference,
    numbers: dict[tuple[str, str, tuple[int, ...], str], int],
    comments: Set[str],
) -> Link:
    """Return the link of a reference: for a quotation its marked page, otherwise the page of the document.

    Pages of public comments (`comments`, by document) are not shown.
    """
    key = (reference.document_id or "", reference.passage_id or "", reference.pages, reference.quote)
    if number := numbers.get(key):
        return Link(
            reference.text,
            f"/reviews/{review_id}/evidence/{number}",
            reference.quote,
            reference.document_id not in comments,
        )
    if reference.document_id and reference.pages:
        document = quote(reference.document_id, safe="")
        return Link(reference.text, f"/reviews/{review_id}/documents/{document}?page={reference.pages[0]}#page", "")
    return Link(reference.text, None, reference.quote)


ROUTES = [
    Route("/reviews/{review_id}/letter", letter_page),
    Route("/reviews/{review_id}/letter", letter_sent, methods=["POST"]),
    Route("/reviews/{review_id}/letter/preview", letter_preview, methods=["POST"]),
    Route("/reviews/{review_id}/letter/restore", letter_restore, methods=["POST"]),
]
