"""The subject of `trigpoint review`: an application in a register, or a folder of documents."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import httpx
import typer

from trigpoint.config import Settings
from trigpoint.dates import parse_day
from trigpoint.errors import DetailsMissing, InvalidInput, ServerUnreachable, shorten
from trigpoint.ids import new_review_id
from trigpoint.registers.entries import load_registers
from trigpoint.registers.folder import GivenApplication
from trigpoint.registers.intake import Given, files_below
from trigpoint.registers.submission import Stated, submit_files
from trigpoint.review.models import ReviewOptions, ReviewRequest
from trigpoint.storage.files import safe_name

_UPLOAD_SECONDS = 3600
_QUESTIONS = {
    "date_validated": "When was the application validated (YYYY-MM-DD)?",
    "authority": "Which planning authority decides it (name or slug)?",
}


class ReviewSource(Protocol):
    """The origin of the documents. `name` is for the files that the command writes."""

    @property
    def name(self) -> str: ...

    async def submit(self, client: httpx.AsyncClient, options: ReviewOptions) -> dict[str, Any]:
        """Hand the application to a running API and return its acceptance."""

    async def prepare(self, settings: Settings, options: ReviewOptions) -> ReviewRequest:
        """Return what the pipeline in this process needs."""


@dataclass(frozen=True)
class RegisterSource:
    """An application in a register; without an authority, in the default one."""

    reference: str
    authority: str | None = None

    @property
    def name(self) -> str:
        return self.reference

    async def submit(self, client: httpx.AsyncClient, options: ReviewOptions) -> dict[str, Any]:
        body = {"application_ref": self.reference, "options": _options_to_send(options)}
        if self.authority is not None:
            body["authority"] = self.authority
        accepted: dict[str, Any] = answer_of(await client.post("/api/v1/reviews", json=body))
        return accepted

    async def prepare(self, settings: Settings, options: ReviewOptions) -> ReviewRequest:
        default = load_registers(settings).is_default(self.authority)
        return ReviewRequest(new_review_id(), self.reference, options, None if default else self.authority)


@dataclass(frozen=True)
class FolderSource:
    """A folder of documents, and what the caller says about them. What is missing is asked for at a terminal."""

    folder: Path
    stated: Stated

    @property
    def name(self) -> str:
        return self.stated.reference or safe_name(self.folder.name or "folder")

    async def submit(self, client: httpx.AsyncClient, options: ReviewOptions) -> dict[str, Any]:
        files, stated = files_below(self.folder), self.stated
        while True:
            try:
                accepted = await _uploaded(client, files, stated, options)
            except DetailsMissing as error:
                stated = _ask_for_missing(stated, error)
            else:
                _report_files(accepted["files"])
                return accepted

    async def prepare(self, settings: Settings, options: ReviewOptions) -> ReviewRequest:
        review_id, stated = new_review_id(), self.stated
        while True:
            try:
                given = await asyncio.to_thread(submit_files, settings, review_id, files_below(self.folder), stated)
            except DetailsMissing as error:
                stated = _ask_for_missing(stated, error)
            else:
                return _request_of_files(review_id, given, settings, options)


def _request_of_files(
    review_id: str, given: GivenApplication, settings: Settings, options: ReviewOptions
) -> ReviewRequest:
    _report_files([one.model_dump() for one in given.files])
    for note in given.notes():
        typer.echo(note, err=True)
    default = load_registers(settings).is_default(given.authority)
    return ReviewRequest(review_id, given.reference, options, None if default else given.authority, review_id)


def answer_of(response: httpx.Response) -> Any:
    """Return the API's answer. Raises DetailsMissing, InvalidInput with what it refused, or ServerUnreachable."""
    if response.is_success:
        return response.json()
    try:
        error = response.json()["error"]
        problems = (error.get("details") or {}).get("errors") or []
        missing = [str(one["field"]).rpartition(".")[2] for one in problems if one["type"] == "missing"]
        said = problems[0]["message"].removeprefix("Value error, ") if problems else error["message"]
        refusal = f"The API refused ({response.status_code} {error['code']}): {said}"
    except (ValueError, KeyError, TypeError):
        raise ServerUnreachable(f"The API answered {response.status_code}: {shorten(response.text)}") from None
    if missing and set(missing) <= set(_QUESTIONS):
        raise DetailsMissing(said, missing=missing)
    raise InvalidInput(refusal)


async def _uploaded(
    client: httpx.AsyncClient, files: list[Given], stated: Stated, options: ReviewOptions
) -> dict[str, Any]:
    said = {
        "application_ref": stated.reference,
        "authority": stated.authority,
        "address": stated.address,
        "proposal": stated.proposal,
        "date_validated": stated.date_validated.isoformat() if stated.date_validated else None,
        "options": json.dumps(_options_to_send(options)),
    }
    with ExitStack() as opened:
        parts = [("files", (_sent_name(one), opened.enter_context(one.path.open("rb")))) for one in files]
        answer = await client.post(
            "/api/v1/applications",
            data={name: value for name, value in said.items() if value is not None},
            files=parts,
            timeout=_UPLOAD_SECONDS,
        )
    accepted: dict[str, Any] = answer_of(answer)
    return accepted


def _sent_name(one: Given) -> str:
    return f"{one.category}/{one.name}" if one.category else one.name


def _options_to_send(options: ReviewOptions) -> dict[str, Any]:
    return options.model_dump(mode="json", exclude_none=True)


def _ask_for_missing(stated: Stated, error: DetailsMissing) -> Stated:
    """Ask for what is missing, or raise the error if nobody is there to answer."""
    if not sys.stdin.isatty():
        raise InvalidInput(f"{error.message}. Use --validated YYYY-MM-DD and --authority NAME") from None
    answers: dict[str, Any] = {field: typer.prompt(_QUESTIONS[field]) for field in error.details["missing"]}
    if "date_validated" in answers:
        answers["date_validated"] = parse_day(answers["date_validated"])
    return replace(stated, **answers)


def _report_files(files: list[dict[str, Any]]) -> None:
    """Say what became of every file that is not simply read."""
    counts: dict[str, int] = {}
    for one in files:
        counts[one["outcome"]] = counts.get(one["outcome"], 0) + 1
        if one["outcome"] not in ("kept", "unpacked"):
            typer.echo(f"{one['outcome']}: {one['name']}: {one['reason']}", err=True)
    typer.echo(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())), err=True)
