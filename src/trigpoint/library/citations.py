"""Citations: which work a document is, out of a CSL-JSON file, and how that work is referred to in words."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

from trigpoint.errors import ConfigurationError

SIMILAR_ENOUGH = 0.8
_STYLE = "harvard-cite-them-right"
_YEAR = re.compile(r"\b(1[5-9][0-9]{2}|20[0-9]{2})\b", re.ASCII)
_MARKUP = re.compile(r"</?(?:i|b|sub|sup|span)\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True)
class Work:
    """One entry of the references file."""

    citekey: str | None
    title: str
    doi: str | None
    year: int | None
    url: str | None
    tags: tuple[str, ...]
    csl: Mapping[str, Any]

    @property
    def citation(self) -> str:
        """The reference in words; author, year and title alone where the style cannot take the entry."""
        return formatted(self.csl) or self._plain()

    def _plain(self) -> str:
        authors = ", ".join(
            str(a.get("family") or a.get("literal") or "") for a in self.csl.get("author") or () if isinstance(a, dict)
        )
        return " ".join(part for part in (authors, f"({self.year})" if self.year else "", self.title + ".") if part)


@dataclass(frozen=True)
class References:
    """The works of one project, found by DOI first, then by title."""

    works: tuple[Work, ...] = ()

    def match(self, *, doi: str | None, titles: tuple[str, ...]) -> Work | None:
        """The work with this DOI, else the one whose title is most like one of these, at 0.8 or more."""
        if doi and (found := self.by_doi(doi)):
            return found
        best, similarity = None, SIMILAR_ENOUGH
        for title in map(plain_title, titles):
            for work in self.works:
                ratio = _similarity(title, plain_title(work.title))
                if ratio >= similarity and (best is None or ratio > similarity):
                    best, similarity = work, ratio
        return best

    def by_doi(self, doi: str) -> Work | None:
        wanted = plain_doi(doi)
        return next((work for work in self.works if work.doi == wanted), None)

    def by_citekey(self, citekey: str) -> Work | None:
        return next((work for work in self.works if work.citekey == citekey), None)


def load_references(path: Path | None) -> References:
    """The works of a CSL-JSON file, as Better BibTeX exports it. Raises ConfigurationError."""
    if path is None:
        return References()
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f'references = "{path}": cannot be read as CSL-JSON ({error})') from None
    entries = entries.get("items") if isinstance(entries, dict) else entries
    if not isinstance(entries, list):
        raise ConfigurationError(f'references = "{path}": expected a list of CSL-JSON items')
    return References(tuple(work for entry in entries if isinstance(entry, dict) and (work := _work(entry))))


@cache
def _style() -> Any:
    from citeproc import CitationStylesStyle

    return CitationStylesStyle(_STYLE, validate=False)


def formatted(csl: Mapping[str, Any]) -> str | None:
    """One entry as a Harvard reference; None where citeproc cannot make one of it."""
    from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
    from citeproc.source.json import CiteProcJSON

    try:
        source = CiteProcJSON([_without_markup(dict(csl))])
        bibliography = CitationStylesBibliography(_style(), source, formatter.plain)
        bibliography.register(Citation([CitationItem(next(iter(source)))]))
        words = " ".join(" ".join(str(part) for part in bibliography.bibliography()).split())
    except Exception:  # citeproc raises many kinds on odd entries; the plain form stands in, visibly shorter
        return None
    return html.unescape(words) or None


def plain_title(title: str) -> str:
    folded = unicodedata.normalize("NFKD", _MARKUP.sub("", title)).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded if not unicodedata.combining(c)).split())


def plain_doi(doi: str) -> str:
    return re.sub(r"^(https?://(dx\.)?doi\.org/|doi:\s*)", "", doi.strip().lower())


def _similarity(one: str, other: str) -> float:
    if not one or not other:
        return 0.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return (
        matcher.ratio()
        if matcher.real_quick_ratio() >= SIMILAR_ENOUGH and matcher.quick_ratio() >= SIMILAR_ENOUGH
        else 0.0
    )


def work_of(csl: Mapping[str, Any], *, citekey: str | None, tags: tuple[str, ...]) -> Work:
    """The work that a CSL-JSON entry with a title describes."""
    doi = csl.get("DOI")
    return Work(
        citekey=citekey,
        title=" ".join(_MARKUP.sub("", str(csl["title"])).split()),
        doi=plain_doi(doi) if isinstance(doi, str) and doi.strip() else None,
        year=_year(csl.get("issued")),
        url=csl["URL"] if isinstance(csl.get("URL"), str) else None,
        tags=tags,
        csl=csl,
    )


def _work(entry: dict[str, Any]) -> Work | None:
    citekey = entry.get("citation-key") or entry.get("citekey") or entry.get("id")
    if not citekey or not isinstance(entry.get("title"), str):
        return None
    keywords = entry.get("keyword")
    tags = tuple(t.strip() for t in re.split("[,;]", keywords) if t.strip()) if isinstance(keywords, str) else ()
    return work_of(entry, citekey=str(citekey), tags=tags)


def _year(issued: Any) -> int | None:
    if not isinstance(issued, dict):
        return None
    parts = issued.get("date-parts")
    said = parts[0][0] if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0] else ""
    found = _YEAR.search(str(said)) or _YEAR.search(str(issued.get("raw") or issued.get("literal") or ""))
    return int(found.group()) if found else None


def _without_markup(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: _MARKUP.sub("", value) if isinstance(value, str) else value for key, value in entry.items()}
