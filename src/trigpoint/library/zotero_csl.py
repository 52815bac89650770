"""A record of Zotero as a work to cite: its fields under the names of CSL, its citekey, its tags.

Zotero names some fields by the kind of item: the title of a case is its `caseName`, that of a statute its `nameOfAct`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trigpoint.library.citations import Work, work_of

_CITATION_KEY = re.compile(r"^\s*citation[ -]?key:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_EXTRA_DOI = re.compile(r"^\s*DOI:\s*(10\.\S+)", re.IGNORECASE | re.MULTILINE)
_YEAR = re.compile(r"[0-9]{4}")
_TITLES = ("title", "caseName", "nameOfAct", "subject")
_DATES = ("date", "dateDecided", "dateEnacted", "issueDate")
_AUTHORS = ("author", "artist", "cartographer", "director", "inventor", "podcaster", "presenter", "programmer")
_TYPES = {
    "artwork": "graphic",
    "bill": "bill",
    "blogPost": "post-weblog",
    "book": "book",
    "bookSection": "chapter",
    "case": "legal_case",
    "computerProgram": "software",
    "conferencePaper": "paper-conference",
    "dataset": "dataset",
    "dictionaryEntry": "entry-dictionary",
    "email": "personal_communication",
    "encyclopediaArticle": "entry-encyclopedia",
    "film": "motion_picture",
    "forumPost": "post",
    "hearing": "hearing",
    "interview": "interview",
    "journalArticle": "article-journal",
    "letter": "personal_communication",
    "magazineArticle": "article-magazine",
    "manuscript": "manuscript",
    "map": "map",
    "newspaperArticle": "article-newspaper",
    "patent": "patent",
    "preprint": "article",
    "presentation": "speech",
    "report": "report",
    "standard": "standard",
    "statute": "legislation",
    "thesis": "thesis",
    "webpage": "webpage",
}
_FIELDS = {
    "publicationTitle": "container-title",
    "bookTitle": "container-title",
    "proceedingsTitle": "container-title",
    "encyclopediaTitle": "container-title",
    "dictionaryTitle": "container-title",
    "websiteTitle": "container-title",
    "blogTitle": "container-title",
    "forumTitle": "container-title",
    "reporter": "container-title",
    "code": "container-title",
    "series": "collection-title",
    "publisher": "publisher",
    "institution": "publisher",
    "university": "publisher",
    "place": "publisher-place",
    "court": "authority",
    "volume": "volume",
    "reporterVolume": "volume",
    "codeNumber": "volume",
    "issue": "issue",
    "pages": "page",
    "firstPage": "page",
    "number": "number",
    "reportNumber": "number",
    "docketNumber": "number",
    "billNumber": "number",
    "publicLawNumber": "number",
    "edition": "edition",
    "section": "section",
    "ISBN": "ISBN",
    "url": "URL",
}


def work_of_record(record: Mapping[str, Any], named: str = "") -> Work:
    """Return the record as a work, with the citekey of Better BibTeX if it has one. `named` is for one without a title."""
    extra = str(record.get("extra") or "")
    doi = text_of(record.get("DOI")) or (found[1] if (found := _EXTRA_DOI.search(extra)) else None)
    key = _CITATION_KEY.search(extra)
    csl: dict[str, Any] = {
        "id": record["key"],
        "type": _TYPES.get(str(record.get("itemType")), "document"),
        "title": _first_field(record, (*_TITLES, "filename")) or named or record["key"],
        **{csl: record[field] for field, csl in _FIELDS.items() if text_of(record.get(field))},
        **_csl_people(record),
    }
    if doi:
        csl["DOI"] = doi
    if year := _YEAR.search(_first_field(record, _DATES) or ""):
        csl["issued"] = {"date-parts": [[int(year.group())]]}
    citekey = text_of(record.get("citationKey")) or (key[1] if key else None)
    return work_of(csl, citekey=citekey, tags=tags_of(record))


def tags_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(tag["tag"]) for tag in record.get("tags") or () if tag.get("tag"))


def text_of(value: object) -> str | None:
    """Return the text without spaces around it; None for an empty one and for what is not text."""
    return value.strip() or None if isinstance(value, str) else None


def _first_field(record: Mapping[str, Any], fields: tuple[str, ...]) -> str | None:
    return next((text for field in fields if (text := text_of(record.get(field)))), None)


def _csl_people(record: Mapping[str, Any]) -> dict[str, list[dict[str, str]]]:
    roles = {"author": _AUTHORS, "editor": ("editor",)}
    creators = record.get("creators") or ()
    named = {role: [_person(c) for c in creators if c.get("creatorType") in kinds] for role, kinds in roles.items()}
    return {role: people for role, people in named.items() if people}


def _person(creator: Mapping[str, Any]) -> dict[str, str]:
    if creator.get("name"):
        return {"literal": str(creator["name"])}
    return {"family": str(creator.get("lastName") or ""), "given": str(creator.get("firstName") or "")}
