"""The words of policies: search as of a day, read a section, see what changed between two revisions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trigpoint.api.services import Services
from trigpoint.api.web.asking import ask
from trigpoint.api.web.policies import chosen_day
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.templating import page
from trigpoint.dates import today
from trigpoint.errors import FileMissing, ToolFailed, TrigpointError
from trigpoint.policies.compare import SectionChange, SectionText, compare, read_sections, word_changes
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.seed import is_digest

_RESULTS = 15
_LONGEST_QUERY = 500
_WORTH_READING = 200  # characters: more than a heading
_MOST_WORDS = 4_000  # of a section whose words are compared one by one


@dataclass(frozen=True)
class PolicyHit:
    """A passage found, with the way to its section."""

    text: str
    source: str
    title: str
    revision_id: str
    version_label: str
    section_ref: str
    page: int | None
    score: float

    @classmethod
    def of(cls, given: dict[str, Any], titles: dict[str, str]) -> PolicyHit:
        number = given.get("page_number")
        return cls(
            text=given["text"],
            source=given["source"],
            title=titles.get(given["source"], given["source"]),
            revision_id=given["revision_id"],
            version_label=given["version_label"],
            section_ref=given["section_ref"],
            page=number if isinstance(number, int) and number > 0 else None,
            score=given.get("score") or given["relevance_score"],
        )

    @property
    def citation(self) -> str:
        return ", ".join(
            filter(None, (self.title, self.version_label, self.section_ref, f"page {self.page}" if self.page else ""))
        )


@dataclass(frozen=True)
class Changed:
    """A section's change, word by word if that can be shown."""

    change: SectionChange
    runs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, change: SectionChange) -> Changed:
        return cls(change, tuple(_runs(change)))


def _runs(change: SectionChange) -> Iterator[tuple[str, str]]:
    old, new = change.old, change.new
    if old is None or new is None:
        section = old or new
        assert section is not None
        yield ("removed" if new is None else "added"), section.text
    elif change.kind == "changed" and len(old.words) + len(new.words) <= _MOST_WORDS:
        yield from word_changes(old, new)
    elif change.kind == "changed":
        yield "removed", old.text
        yield "added", new.text


async def search(request: Request) -> Response:
    services: Services = request.scope["services"]
    query = request.query_params.get("q", "").strip()[:_LONGEST_QUERY]
    source = request.query_params.get("source", "").strip()
    day, problem = chosen_day(request)
    policies = await services.registry.list_policies()
    titles = {policy.source: policy.title for policy in policies}
    hits: list[PolicyHit] = []
    weak = False
    if query and problem is None:
        args: dict[str, Any] = {
            "query": query,
            "effective_date": day.isoformat(),
            "n_results": _RESULTS,
            "mode": "hybrid",
        }
        if source in titles:
            args["sources"] = [source]
        answer = await ask(services.settings, "policy-kb", "search_policy", args)
        hits = [PolicyHit.of(found, titles) for found in answer["results"]]
        weak = answer.get("weak", False)
    return page(
        request,
        "policy_search.html",
        422 if problem else 200,
        query=query,
        source=source,
        policies=policies,
        day=day,
        hits=hits,
        weak=weak,
        problem=problem,
    )


async def read(request: Request) -> Response:
    """Show a section of one revision. The list of sections is read from the file, the text comes from the store."""
    services: Services = request.scope["services"]
    policy = await services.registry.get_policy(request.path_params["source"])
    revision = _revision(policy, request.query_params.get("revision", ""))
    section = request.query_params.get("section", "").strip()[:200]
    contents, problem = await _contents(request, revision)
    if not section and contents:
        section = next((s.ref for s in contents if len(s.text) >= _WORTH_READING), contents[0].ref)
    answer: dict[str, Any] | None = None
    if section:
        args = {"source": policy.source, "section_ref": section, "revision_id": revision.revision_id}
        try:
            answer = await ask(services.settings, "policy-kb", "get_policy_section", args)
        except ToolFailed as error:
            problem = error.message
    before, after = _neighbours([s.ref for s in contents], answer["section_ref"] if answer else section)
    return page(
        request,
        "policy_read.html",
        200 if answer or not section else 404,
        policy=policy,
        revision=revision,
        readable=[r for r in policy.revisions if r.queryable],
        section=answer["section_ref"] if answer else section,
        text=answer["text"] if answer else None,
        pages=answer.get("page_numbers", []) if answer else [],
        contents=contents,
        before=before,
        after=after,
        problem=problem,
    )


def _neighbours(refs: list[str], section: str) -> tuple[str | None, str | None]:
    if section not in refs:
        return None, None
    at = refs.index(section)
    return (refs[at - 1] if at else None), (refs[at + 1] if at + 1 < len(refs) else None)


async def difference(request: Request) -> Response:
    services: Services = request.scope["services"]
    policy = await services.registry.get_policy(request.path_params["source"])
    old, new = (_revision(policy, request.query_params.get(name, "")) for name in ("old", "new"))
    if old.effective_from > new.effective_from:
        old, new = new, old
    before, after = await _sections_of_revision(request, old), await _sections_of_revision(request, new)
    changes = await asyncio.to_thread(_compare_revisions, request, old, new, before, after)
    counts = {kind: sum(c.change.kind == kind for c in changes) for kind in _KINDS}
    shown = [c for c in changes if c.change.kind != "same"]
    digests = [r.version_label for r in (old, new) if is_digest(r)]
    return page(
        request,
        "policy_compare.html",
        policy=policy,
        old=old,
        new=new,
        changes=shown,
        counts=counts,
        digests=digests,
    )


_KINDS = ("changed", "added", "removed", "renumbered", "same")


def _compare_revisions(
    request: Request, old: Revision, new: Revision, before: list[SectionText], after: list[SectionText]
) -> list[Changed]:
    resources: Resources = request.scope["resources"]
    key = ("difference", old.revision_id, str(old.ingested_at), new.revision_id, str(new.ingested_at))
    return resources.sections.get(key, lambda: [Changed.of(change) for change in compare(before, after)])


def _revision(policy: Policy, revision_id: str) -> Revision:
    """Return the revision named, else the one in force today, else the latest that can be read."""
    readable = [r for r in policy.revisions if r.queryable]
    if revision_id:
        found = next((r for r in readable if r.revision_id == revision_id), None)
    else:
        found = policy.in_force(today()) or next(iter(readable), None)
    if found is None:
        raise HTTPException(404, "There is no such revision of this policy that can be read.")
    return found


async def _contents(request: Request, revision: Revision) -> tuple[list[SectionText], str | None]:
    """Return the revision's sections, or why they cannot be listed: then a section can still be asked for by name."""
    try:
        return await _sections_of_revision(request, revision), None
    except TrigpointError as error:
        return [], f"The list of sections cannot be shown: {error.message}"


async def _sections_of_revision(request: Request, revision: Revision) -> list[SectionText]:
    resources: Resources = request.scope["resources"]
    path = Path(revision.file_path or "")
    if not revision.file_path or not await asyncio.to_thread(path.is_file):
        raise FileMissing(f"The file of {revision.version_label} is not on this machine.")

    def read_them() -> list[SectionText]:
        return read_sections(resources.processor(), path)

    key = ("sections", revision.revision_id, str(revision.ingested_at), str(path))
    return await asyncio.to_thread(resources.sections.get, key, read_them)


ROUTES = [
    Route("/policies/search", search),
    Route("/policies/{source}/read", read),
    Route("/policies/{source}/compare", difference),
]
