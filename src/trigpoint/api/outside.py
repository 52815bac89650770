"""Asks external services, with short time-outs: the council's register, and the model's provider."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import get_args

import httpx

from trigpoint.api.web.asking import Part, address, site_of
from trigpoint.api.web.resources import Shared
from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError, shorten
from trigpoint.http.certificates import certificates
from trigpoint.registers.entries import load_registers

_SECONDS = 4.0
_PART_SECONDS = 0.5


@dataclass(frozen=True)
class Seen:
    """Whether an external service can be reached, its address, and what to say about it."""

    ok: bool
    where: str
    said: str


async def look_at_register(settings: Settings) -> Seen:
    """Return whether the default register answers. One request for its first page."""
    entry = load_registers(settings).get(None)
    return await _reached(entry.address, f"the register of {entry.name}")


async def look_at_model(settings: Settings, probes: Shared) -> Seen | None:
    """Return whether the model answers a small question; None without a model. `probes` keeps its answer for a while."""
    name = settings.trigpoint_model
    if name is None:
        return None
    from trigpoint.review.agent.probe import probe_model  # slow to import, and seldom needed

    try:
        async with asyncio.timeout(_SECONDS):
            return Seen(True, name, await probes.get("model", lambda: probe_model(settings)))
    except TimeoutError:
        return Seen(False, name, f"no answer within {_SECONDS:g} s yet; `trigpoint doctor` waits longer")
    except ConfigurationError as error:
        return Seen(False, name, error.message)


async def problems_of_parts(settings: Settings) -> list[str]:
    """Return the problems that our other servers report about their stores. One that does not answer says nothing."""
    async with httpx.AsyncClient(timeout=_PART_SECONDS, trust_env=False, verify=certificates()) as client:
        told = await asyncio.gather(*(_problems_of(client, address(settings, part)) for part in get_args(Part)))
    return list(dict.fromkeys(problem for problems in told for problem in problems))


async def _problems_of(client: httpx.AsyncClient, where: str) -> list[str]:
    try:
        return told_problems(await client.get(f"{site_of(where)}/health"))
    except (httpx.HTTPError, httpx.InvalidURL):
        return []


def told_problems(answer: httpx.Response) -> list[str]:
    """Return the problems that the health of an MCP server of ours names."""
    try:
        said = answer.json()
    except ValueError:
        return []
    problems = said.get("problems") if isinstance(said, dict) else None
    return [str(problem) for problem in problems] if isinstance(problems, list) else []


async def _reached(address: str, what: str, where: str | None = None) -> Seen:
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
            answer = await client.get(address)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = "no answer in time" if isinstance(error, httpx.TimeoutException) else shorten(error, 100)
        return Seen(False, where or address, f"{what} cannot be reached ({reason or type(error).__name__})")
    if answer.status_code >= 500:
        return Seen(False, where or address, f"{what} answers HTTP {answer.status_code}")
    return Seen(True, where or address, f"{what} answers")
