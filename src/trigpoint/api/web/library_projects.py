"""A project of the library as a page: its documents, files dropped in and read, a passage on its marked page."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from trigpoint.api.pictures import identity
from trigpoint.api.services import Services
from trigpoint.api.web.library_reading import ReadingProgress
from trigpoint.api.web.paging import whole_number
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.templating import page
from trigpoint.config import Settings
from trigpoint.errors import ChunkNotFound, InvalidInput, TrigpointError
from trigpoint.library.adding import add_project, keep_file, kept_files
from trigpoint.library.library import Library
from trigpoint.library.projects import Project, load_projects
from trigpoint.library.sources import READERS
from trigpoint.storage.space import require_space
from trigpoint.text.pdf_mark import file_is_pdf
from trigpoint.text.picture import PagePicture

_MAX_FILES = 500


@dataclass(frozen=True)
class _Shelf:
    """The documents of a project, and the names of files that were handed over and are not read yet."""

    documents: tuple[tuple[str, int], ...]
    waiting: tuple[str, ...]


async def create(request: Request) -> Response:
    services: Services = request.scope["services"]
    async with request.form(max_files=0, max_fields=5) as form:
        wanted = str(form.get("project", ""))
    project = await asyncio.to_thread(add_project, services.settings, wanted)
    return RedirectResponse(_project_address(project), 303)


async def show(request: Request) -> Response:
    return await _project_response(request, _project_in_path(request))


async def reading(request: Request) -> Response:
    """Return how far the files of a project have been read, for the page that watches."""
    resources: Resources = request.scope["resources"]
    state = resources.reader().state(_project_in_path(request).id) or ReadingProgress(running=False)
    return JSONResponse(asdict(state), headers={"Cache-Control": "no-store"})


async def take(request: Request) -> Response:
    """Keep the files, then read them. A script is answered with the address to continue at."""
    services: Services = request.scope["services"]
    resources: Resources = request.scope["resources"]
    project = _project_in_path(request)
    scripted = "application/json" in request.headers.get("accept", "")
    require_space(services.settings)
    async with request.form(max_files=_MAX_FILES, max_fields=10) as form:
        given = [one for one in form.getlist("files") if isinstance(one, UploadFile) and one.filename]
        try:
            kept = await asyncio.to_thread(_keep_uploads, services.settings, project, given)
        except TrigpointError as error:
            if error.status >= 500:
                raise
            return (
                JSONResponse({"problem": error.message}, 422)
                if scripted
                else await _project_response(request, project, 422, error.message)
            )
    resources.reader().read(project, kept)
    return (
        JSONResponse({"place": _project_address(project)})
        if scripted
        else RedirectResponse(_project_address(project), 303)
    )


def _keep_uploads(settings: Settings, project: Project, given: list[UploadFile]) -> list[Path]:
    """Keep the files that were sent; without any, everything handed over before is read again if it changed."""
    for file in given:
        keep_file(settings, project, file.filename or "document", file.file)
    kept = kept_files(settings, project)
    if not kept:
        raise InvalidInput("Choose files to read")
    return kept


async def _project_response(
    request: Request, project: Project, status: int = 200, problem: str | None = None
) -> Response:
    services: Services = request.scope["services"]
    resources: Resources = request.scope["resources"]
    reading = resources.reader().state(project.id)
    return page(
        request,
        "library_project.html",
        status,
        project=project,
        shelf=await asyncio.to_thread(_shelf, services.settings, project),
        reading=reading,
        endings=", ".join(sorted(READERS)),
        most_mb=services.settings.max_application_mb,
        problem=problem,
    )


def _shelf(settings: Settings, project: Project) -> _Shelf:
    with closing(Library.open(settings)) as library:
        rows = library.passages(project).documents()
    known = {row.path for row in rows}
    documents = tuple((row.title or Path(row.path or row.document_id).name, row.chunk_count) for row in rows)
    return _Shelf(documents, tuple(path.name for path in kept_files(settings, project) if str(path) not in known))


async def passage(request: Request) -> Response:
    """Show a passage with its neighbours, and its page with the words marked if it is a PDF on this machine."""
    services: Services = request.scope["services"]
    project, chunk_id = _project_in_path(request), request.query_params.get("chunk", "")
    chunk, path = await asyncio.to_thread(_passage_and_file, services.settings, project, chunk_id)
    pages = _pages_of_chunk(chunk) if path is not None else []
    return page(request, "library_passage.html", project=project, chunk=chunk, pages=pages, chunk_id=chunk_id)


async def passage_picture(request: Request) -> Response:
    services: Services = request.scope["services"]
    resources: Resources = request.scope["resources"]
    project, chunk_id = _project_in_path(request), request.query_params.get("chunk", "")
    number = whole_number(request.path_params["page"])
    chunk, path = await asyncio.to_thread(_passage_and_file, services.settings, project, chunk_id)
    if path is None or number not in _pages_of_chunk(chunk):
        raise HTTPException(404)
    words = chunk["full_text"] or chunk["render_text"]
    picture: PagePicture = await asyncio.to_thread(
        resources.pictures.get,
        (*identity(path), number, words),
        lambda: resources.renderer().render_page(path, number, words),
    )
    return Response(picture.png, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


def _passage_and_file(settings: Settings, project: Project, chunk_id: str) -> tuple[dict[str, Any], Path | None]:
    """Return a passage and the file it is from, if that is a PDF and still where the library read it."""
    with closing(Library.open(settings)) as library:
        try:
            chunk: dict[str, Any] = library.get_chunk(project.id, chunk_id)["chunk"]
        except ChunkNotFound:
            raise HTTPException(404) from None
        rows = library.passages(project).documents()
    path = next((Path(row.path) for row in rows if row.document_id == chunk["doc_id"] and row.path), None)
    return chunk, path if path is not None and path.is_file() and file_is_pdf(path) else None


def _pages_of_chunk(chunk: dict[str, Any]) -> list[int]:
    span = chunk.get("page_span") or []
    return list(range(span[0], span[-1] + 1))[:5] if span else []


def _project_in_path(request: Request) -> Project:
    services: Services = request.scope["services"]
    wanted = request.query_params.get("project", "")
    found = load_projects(services.settings).by_id.get(wanted)
    if found is None:
        raise HTTPException(404)
    return found


def _project_address(project: Project) -> str:
    return f"/library/project?project={quote(project.id, safe='')}"


ROUTES = [
    Route("/library", create, methods=["POST"]),
    Route("/library/project", show),
    Route("/library/project", take, methods=["POST"]),
    Route("/library/project/reading", reading),
    Route("/library/passage", passage),
    Route("/library/passage/pages/{page}.png", passage_picture),
]
