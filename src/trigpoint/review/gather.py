"""Gather the evidence of a review over the servers' tools: the whole text of every document, read; and the
provisions that the checks rest on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from trigpoint.errors import ToolFailed
from trigpoint.ids import UNKNOWN_AUTHORITY
from trigpoint.reading.documents import Document, PageSpan
from trigpoint.reading.profile import Application, Profile
from trigpoint.reading.sources import source_kind_of
from trigpoint.reading.vocabulary import SourceKind
from trigpoint.review.aspects import Aspect, Check
from trigpoint.review.citing import name_in_title_case
from trigpoint.review.evidence import Evidence, PlacedProvision, PolicyPassage
from trigpoint.review.london import LONDON_PLAN, NOT_COMPARED, is_in_london
from trigpoint.review.models import Tools
from trigpoint.review.people import name_without_people, without_people
from trigpoint.review.read import read_application
from trigpoint.review.standards import Standard
from trigpoint.text.application_forms import is_application_form

TEXTS_AT_ONCE = 4
_UNKNOWN: Mapping[str, str] = {}
_CITABLE = ("confirmed", "found")

Step = Callable[[float, str], Awaitable[None]]


@dataclass(frozen=True)
class EvidenceRequest:
    """The application and aspects for which evidence is to be gathered."""

    application: Application
    effective_date: str
    aspects: tuple[Aspect, ...]
    manifest: Mapping[str, Mapping[str, str]] | None = (
        None  # of each document's id: the register's category, who wrote it
    )

    @property
    def application_ref(self) -> str:
        return self.application.reference

    @property
    def place(self) -> dict[str, str]:
        """The argument that limits policies to those of the site's authority; to national ones if it is not known."""
        return {"authority": self.application.authority or UNKNOWN_AUTHORITY}


async def gather_evidence(tools: Tools, wanted: EvidenceRequest, step: Step) -> Evidence:
    """Return the evidence. Raises the tools' errors as they are."""
    await step(0.0, "Reading the documents")
    documents = await _documents(tools, wanted)
    reading = await asyncio.to_thread(read_application, documents, wanted.application)
    await step(0.5, "Looking up policy")
    answer = await _ask_provisions(tools, wanted)
    provisions = await _placed_provisions(tools, wanted, answer)
    local, lost = await _local_standards(tools, answer)
    placed = [one.passage for group in provisions.values() for one in group] + [one.passage for one in local]
    return Evidence(
        application_ref=wanted.application_ref,
        effective_date=wanted.effective_date,
        documents=documents,
        profile=reading.profile,
        facts=reading.facts,
        discrepancies=reading.discrepancies,
        provisions=_resting_on(local, wanted, provisions, reading.profile),
        standards=tuple(one.standard for one in local),
        unresolved=(*_not_available(answer), *lost),
        remarks=_remarks(wanted, answer),
        in_force={passage.source: passage.revision_id for passage in placed},
    )


async def _documents(tools: Tools, wanted: EvidenceRequest) -> tuple[Document, ...]:
    """Fetch the whole text of every document of this review, in the order of their names.

    The store may hold others under the same reference: of an earlier submission, of another council, or superseded.
    """
    given = {"application_ref": wanted.application_ref}
    listed = await tools.call("document-store", "list_ingested_documents", given)
    ids = [str(entry["document_id"]) for entry in listed["documents"]]
    manifest = dict.fromkeys(ids, _UNKNOWN) if wanted.manifest is None else wanted.manifest
    turn = asyncio.Semaphore(TEXTS_AT_ONCE)

    async def one(document_id: str) -> Document:
        async with turn:
            return await _document(tools, document_id, manifest[document_id])

    documents = await asyncio.gather(*(one(document_id) for document_id in ids if document_id in manifest))
    return tuple(sorted(documents, key=lambda document: (document.name, document.id)))


async def _document(tools: Tools, document_id: str, entry: Mapping[str, str]) -> Document:
    given = {"document_id": document_id, "include_pages": True}
    answer = await tools.call("document-store", "get_document_text", given)
    name = PurePath(answer["file_path"]).name
    pages = tuple(
        PageSpan(
            number=page["number"],
            start=page["start"],
            end=page["end"],
            by_ocr=page.get("read_by") in ("ocr", "both"),
        )
        for page in answer.get("pages") or ()
    )
    kind = _source_kind(name, answer["text"], entry)
    form = is_application_form(f"{entry.get('category', '')} {name}", answer["text"])
    return Document(
        id=document_id,
        name=name_without_people(name, kind, document_id, answer["text"]),
        text=without_people(answer["text"], kind, form=form),
        document_type=answer["document_type"],
        source_kind=kind,
        pages=pages,
    )


def _source_kind(name: str, text: str, entry: Mapping[str, str]) -> SourceKind:
    """Return who wrote a document: as the register says, or else as its name and its words do."""
    said = entry.get("source_kind", "applicant")
    if said in ("consultee", "public", "council"):
        return said  # type: ignore[return-value]
    return source_kind_of(name, text, entry.get("category", ""))


async def _ask_provisions(tools: Tools, wanted: EvidenceRequest) -> dict[str, Any]:
    """Ask where the revisions in force that apply to the site's authority state what the checks rest on."""
    names = sorted({name for aspect in wanted.aspects for name in aspect.provisions})
    given: dict[str, Any] = {"effective_date": wanted.effective_date, "provision_ids": names, **wanted.place}
    return await tools.call("policy-kb", "get_provisions", given)


def _remarks(wanted: EvidenceRequest, answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a reader must know of the policies: which of those that applied could not be compared."""
    not_loaded = tuple(answer.get("not_loaded") or ())
    if "local_policies" not in answer:
        return not_loaded
    local, authority = answer["local_policies"], wanted.application.authority
    lacks_london = is_in_london(authority) and not any(LONDON_PLAN in str(one).upper() for one in local)
    london = (NOT_COMPARED,) if lacks_london else ()
    if local:
        return (*not_loaded, *london)
    name = name_in_title_case(authority.replace("-", " "))
    reason = f"No local policy of {name} was available" if name else "The planning authority is not known"
    return (
        *not_loaded,
        f"{reason}: only national policy and guidance are cited, and local standards as the documents quote them.",
        *london,
    )


def _not_available(answer: Mapping[str, Any]) -> tuple[str, ...]:
    unavailable = [f"{one['provision_id']}: {one['reason']}" for one in answer.get("unavailable", ())]
    return (*unavailable, *answer.get("warnings", ()))


async def _placed_provisions(
    tools: Tools, wanted: EvidenceRequest, answer: Mapping[str, Any]
) -> dict[str, tuple[PlacedProvision, ...]]:
    placed: dict[str, list[PlacedProvision]] = {}
    stated = [one for one in answer["provisions"] if one["state"] != "not_stated"]
    texts: dict[str, list[str]] = {}  # two provisions may be clauses of one section
    for one in stated:
        if one["state"] in _CITABLE:
            texts.setdefault(_section_id(one), []).append(one["excerpt"] or one["requires"])
    for one in stated:
        placed.setdefault(one["provision_id"], []).append(
            _placed(one, "\n".join(dict.fromkeys(texts.get(_section_id(one), ()))))
        )
    for check in (check for aspect in wanted.aspects for check in aspect.checks if check.standard):
        name = check.provisions[0]
        placed[name] = [await _whole_section(tools, one) if one.certain else one for one in placed.get(name, ())]
    return {name: tuple(group) for name, group in placed.items()}


async def _whole_section(tools: Tools, placed: PlacedProvision) -> PlacedProvision:
    """Return a provision with all of its section, so that the row of a table that applies can be quoted."""
    passage = placed.passage
    given = {"source": passage.source, "section_ref": passage.section_ref, "revision_id": passage.revision_id}
    try:
        stored = await tools.call("policy-kb", "get_policy_section", given)
    except ToolFailed as error:
        if error.code == "section_not_found":
            return placed
        raise
    return replace(placed, passage=replace(passage, text=f"{passage.text}\n{stored['text']}"))


@dataclass(frozen=True)
class _LocalStandard:
    """A parking standard that a local policy states, and its section."""

    standard: Standard
    passage: PolicyPassage

    def placed(self, check: Check) -> PlacedProvision:
        return PlacedProvision(check.provisions[0], self.passage.section_ref, check.requirement, self.passage)


async def _local_standards(
    tools: Tools, answer: Mapping[str, Any]
) -> tuple[tuple[_LocalStandard, ...], tuple[str, ...]]:
    """Return the standards with their sections, and a sentence for each whose section a newer text does not have."""
    found, lost = [], []
    for one in answer.get("parking_standards") or ():
        given = {"source": one["source"], "section_ref": one["section"], "revision_id": one["revision_id"]}
        try:
            section = await tools.call("policy-kb", "get_policy_section", given)
        except ToolFailed as error:
            if error.code != "section_not_found":
                raise
            lost.append(f"{one['source']}: its parking standard names {one['section']}, which the text no longer has")
            continue
        passage = PolicyPassage(
            id=f"{one['revision_id']}:{section['section_ref']}",
            text=section["text"],
            source=one["source"],
            revision_id=one["revision_id"],
            version_label=one["version_label"],
            section_ref=section["section_ref"],
            page=next(iter(section["page_numbers"]), None),
        )
        standard = Standard(source=one["source"], section=one["section"], note=one["note"], rates=one["rates"])
        found.append(_LocalStandard(standard, passage))
    return tuple(found), tuple(lost)


def _resting_on(
    local: Sequence[_LocalStandard],
    wanted: EvidenceRequest,
    provisions: Mapping[str, tuple[PlacedProvision, ...]],
    profile: Profile,
) -> dict[str, tuple[PlacedProvision, ...]]:
    """Let a check of rates rest on the local standard first, if it has rates for what is being built."""
    resting = dict(provisions)
    uses = {size.use for size in profile.uses}
    for check in (check for aspect in wanted.aspects for check in aspect.checks if check.standard):
        stating = [one for one in local if one.standard.rates_for(check.standard, uses)]
        name = check.provisions[0]  # which the checks of long and of short stay may share
        placed = (*(one.placed(check) for one in stating), *resting.get(name, ()))
        resting[name] = tuple({one.passage.id: one for one in placed}.values())
    return resting


def _section_id(given: Mapping[str, Any]) -> str:
    return f"{given['revision_id']}:{given['section_ref']}"


def _placed(given: Mapping[str, Any], text: str) -> PlacedProvision:
    """Return a provision with its section, or with its policy alone if the section is to be confirmed."""
    certain = given["state"] in _CITABLE
    passage = PolicyPassage(
        id=_section_id(given) if certain else f"{given['revision_id']}:{given['provision_id']}",
        text=text,
        source=given["source"],
        revision_id=given["revision_id"],
        version_label=given["version_label"],
        section_ref=given["section_ref"] if certain else "",
        page=given.get("page_number") if certain else None,
    )
    return PlacedProvision(
        provision_id=given["provision_id"],
        title=given["title"],
        requires=given["requires"],
        passage=passage,
        certain=certain,
        confirmed=given["state"] == "confirmed",
    )
