"""What the register and the document store answered about an application, as a review counts and names it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from trigpoint.documents.reading_line import ReadingCounts
from trigpoint.reading.profile import Application as RegisterEntry
from trigpoint.review.result import Application, DocumentCounts, MissingDocument

Data = dict[str, Any]


def application_of(found: Data, fetched: Data, ingested: Data) -> Application:
    known = {key: value for key, value in found["application"].items() if key in Application.model_fields}
    register = found.get("register") or {}
    return Application.model_validate(
        {
            **known,
            "documents_fetched": len(fetched["files"]),
            "documents_ingested": ingested["ingested"],
            "portal_url": register.get("page_url"),
            "authority": register.get("authority"),
            "authority_name": register.get("name"),
            "authority_post": register.get("post"),
        }
    )


def page_counts(outcomes: Mapping[str, str], accounts: Mapping[str, Data | None]) -> Data:
    """Return how many pages were read, and how, with a sentence for people."""
    read = [(PurePath(path).name, accounts[path]) for path in sorted(outcomes) if outcomes[path] == "ingested"]
    counts = ReadingCounts.of(read)
    return {
        "pages": counts.pages,
        "pages_read": counts.pages_read,
        "pages_by_ocr": counts.pages_by_ocr,
        "reading": counts.sentence(len(outcomes)) if read else "",
    }


def register_entry(found: Data) -> RegisterEntry:
    authority = (found.get("register") or {}).get("authority")
    details = found["application"] | {"authority": authority}
    return RegisterEntry.model_validate({name: details.get(name) or "" for name in RegisterEntry.model_fields})


def document_counts(fetched: Data, ingested: Data) -> DocumentCounts:
    return DocumentCounts(
        **ingested.get("pages", {}),
        listed=fetched["listed"],
        filtered=fetched["filtered"],
        download_failed=fetched["failed"],
        ingested=ingested["ingested"],
        skipped=ingested["skipped"],
        failed=ingested["failed"],
        not_read=tuple(ingested["not_read"]),
        unread=tuple(ingested.get("unread", ())),
        not_fetched=tuple(one["name"] for one in fetched.get("not_downloaded", ())),
        not_downloaded=tuple(fetched.get("not_downloaded", ())),
        left_out=tuple(fetched.get("left_out", ())),
        unreadable=tuple(fetched.get("unreadable", ())),
    )


def public_name(path: str, manifest: Data) -> str:
    """Return a file's name, unless it is a public comment, which is often named after its author."""
    return "Public comment" if manifest.get(path, {}).get("source_kind") == "public" else PurePath(path).name


def of_manifest(one: Data) -> Data:
    """Return what the register says about a file: its category, its title, and who wrote it."""
    return {
        "category": one.get("document_type") or "",
        "description": one.get("description") or "",
        "source_kind": one.get("source_kind") or "applicant",
    }


def missing_document(one: Data, reason: str | None) -> Data:
    """Return a document that is not read, without the title of a public comment, which names its author."""
    kind = one.get("source_kind") or "applicant"
    name = "Public comment" if kind == "public" else one.get("description") or one.get("name") or "Document"
    return MissingDocument(
        name=name, category=one.get("document_type") or "", source_kind=kind, reason=reason or ""
    ).model_dump()


def counted(number: float | None, noun: str) -> str:
    known = int(number or 0)
    return f"{known} {noun}" if known == 1 else f"{known} {noun}s"
