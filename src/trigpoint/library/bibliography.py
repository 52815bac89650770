"""References files of three kinds, as CSL-JSON entries: CSL-JSON itself, BibTeX and RIS.

Every entry gets a citekey: its own, or one made from author, title and year, the same every time.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trigpoint.errors import ConfigurationError, shorten

CslEntry = dict[str, Any]

_BIBTEX_TYPES = {
    "article": "article-journal", "book": "book", "inbook": "chapter", "incollection": "chapter", "manual": "report",
    "inproceedings": "paper-conference", "conference": "paper-conference", "phdthesis": "thesis", "thesis": "thesis",
    "mastersthesis": "thesis", "techreport": "report", "report": "report", "online": "webpage", "www": "webpage",
    "proceedings": "book", "unpublished": "manuscript", "dataset": "dataset", "legislation": "legislation",
}  # fmt: skip
_BIBTEX_FIELDS = {
    "journal": "container-title", "journaltitle": "container-title", "booktitle": "container-title", "volume": "volume",
    "number": "number", "pages": "page", "publisher": "publisher", "institution": "publisher", "school": "publisher",
    "organization": "publisher", "address": "publisher-place", "location": "publisher-place", "edition": "edition",
    "doi": "DOI", "isbn": "ISBN", "url": "URL", "keywords": "keyword", "version": "version", "note": "note",
    "abstract": "abstract", "language": "language", "issue": "issue",
}  # fmt: skip
_RIS_TYPES = {
    "JOUR": "article-journal", "MGZN": "article-magazine", "NEWS": "article-newspaper", "BOOK": "book", "CHAP": "chapter",
    "CONF": "paper-conference", "CPAPER": "paper-conference", "RPRT": "report", "THES": "thesis", "ELEC": "webpage",
    "WEB": "webpage", "STAT": "legislation", "LEGAL": "legislation", "CASE": "legal_case", "DATA": "dataset",
    "GOVDOC": "report", "STAND": "standard", "UNPB": "manuscript",
}  # fmt: skip
_RIS_FIELDS = {
    "TI": "title", "T1": "title", "CT": "title", "T2": "container-title", "JO": "container-title", "JF": "container-title",
    "BT": "container-title", "VL": "volume", "IS": "issue", "PB": "publisher", "CY": "publisher-place", "DO": "DOI",
    "SN": "ISBN", "UR": "URL", "ET": "edition", "AB": "abstract", "N1": "note", "M1": "number", "ID": "id", "LB": "citation-key",
}  # fmt: skip
_RIS_LINE = re.compile(r"([A-Z][A-Z0-9])  ?- ?(.*)")
_YEAR = re.compile(r"(?<![0-9])(1[5-9][0-9]{2}|20[0-9]{2})(?![0-9])")
_KEY_FILLERS = frozenset("a an and the of for on in to".split())


@dataclass(frozen=True)
class PlacedEntry:
    """An entry and its place in its file, for messages."""

    entry: CslEntry
    place: str


def read_entries(path: Path) -> list[CslEntry]:
    """Return the entries of a references file, each with a citekey. Raises ConfigurationError.

    A citekey that two entries have is an error that names both: a citation by it could mean either.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(sorted(_READERS))
        raise ConfigurationError(f'references = "{path}": expected a file of one of these kinds: {known}')
    try:
        text = path.read_text(encoding="utf-8-sig")
        titled = [placed for placed in reader(text) if isinstance(placed.entry.get("title"), str)]
    except ConfigurationError as error:
        raise ConfigurationError(f'references = "{path}": {error.message}') from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f'references = "{path}": cannot be read ({shorten(error)})') from None
    _refuse_repeated_keys(path, titled)
    return _with_keys(titled)


def citekey_of(entry: Mapping[str, Any]) -> str | None:
    """Return an entry's own citekey; its `id` counts, as exports of reference managers put it there."""
    key = entry.get("citation-key") or entry.get("citekey") or entry.get("id")
    return str(key) if key else None


def _made_citekey(entry: Mapping[str, Any]) -> str:
    """Return a citekey from the first author, the first significant word of the title and the year."""
    people = entry.get("author") or entry.get("editor") or [{}]
    first = people[0] if isinstance(people, list) and isinstance(people[0], Mapping) else {}
    author = _key_part(str(first.get("family") or first.get("literal") or "anon"))
    words = [word for word in map(_key_part, str(entry.get("title") or "").split()) if word not in ("", *_KEY_FILLERS)]
    return f"{author or 'anon'}-{words[0] if words else 'untitled'}-{_year_of(entry) or 'nd'}"


def free_citekey(entry: Mapping[str, Any], taken: Collection[str]) -> str:
    """Return a citekey made for an entry that has none, with a letter appended if it is taken."""
    return next(name for name in _numbered(_made_citekey(entry)) if name not in taken)


def _with_keys(titled: list[PlacedEntry]) -> list[CslEntry]:
    taken = {key for placed in titled if (key := citekey_of(placed.entry))}
    entries = []
    for placed in titled:
        key = citekey_of(placed.entry)
        if key is None:
            key = free_citekey(placed.entry, taken)
            taken.add(key)
        entries.append({**placed.entry, "citation-key": key, "id": placed.entry.get("id") or key})
    return entries


def _numbered(name: str) -> Iterator[str]:
    yield name
    for letter in "bcdefghijklmnopqrstuvwxyz":
        yield f"{name}{letter}"
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _refuse_repeated_keys(path: Path, titled: list[PlacedEntry]) -> None:
    places: dict[str, str] = {}
    for placed in titled:
        key = citekey_of(placed.entry)
        if key is None:
            continue
        if key in places:
            raise ConfigurationError(
                f'references = "{path}": the citekey {shorten(key)} is used twice, by {places[key]} and by {placed.place}. '
                "Give one of them another"
            )
        places[key] = placed.place


def _read_csl(text: str) -> Iterator[PlacedEntry]:
    loaded = json.loads(text)
    entries = loaded
    if isinstance(loaded, dict):
        is_single = "items" not in loaded and "title" in loaded  # as doi.org answers
        entries = [loaded] if is_single else loaded.get("items")
    if not isinstance(entries, list):
        raise ConfigurationError("expected a list of CSL-JSON items")
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, dict):
            yield PlacedEntry(entry, f"item {number} ({shorten(entry.get('title'), 60)})")


def _read_bibtex(text: str) -> Iterator[PlacedEntry]:
    from bibtexparser.bparser import BibTexParser

    parser = BibTexParser(common_strings=True, ignore_nonstandard_types=False, homogenize_fields=False)
    keys = re.findall(r"@\s*(?!comment|string|preamble)\w+\s*\{\s*([^,\s}]+)\s*,", text, re.IGNORECASE)
    parsed = {entry["ID"]: entry for entry in parser.parse(text, partial=True).entries}
    repeated = next((key for key in keys if keys.count(key) > 1), None)
    if repeated is not None:  # the parser keeps the first and says nothing
        lines = [
            number
            for number, line in enumerate(text.splitlines(), 1)
            if re.search(rf"\{{\s*{re.escape(repeated)}\s*,", line)
        ]
        raise ConfigurationError(
            f"the citekey {shorten(repeated)} is used twice, in lines {' and '.join(map(str, lines))}. Give one of them another"
        )
    for key in keys:
        if key in parsed:
            yield PlacedEntry(_bibtex_entry(parsed[key]), f"@{parsed[key]['ENTRYTYPE']} {shorten(key)}")


def _bibtex_entry(given: Mapping[str, str]) -> CslEntry:
    entry: CslEntry = {
        "id": given["ID"],
        "citation-key": given["ID"],
        "type": _BIBTEX_TYPES.get(given["ENTRYTYPE"].lower(), "document"),
    }
    for name, value in given.items():
        if (field := _BIBTEX_FIELDS.get(name.lower())) and value.strip():
            entry[field] = _without_tex(value)
    title = ": ".join(_without_tex(given[name]) for name in ("title", "subtitle") if given.get(name))
    if title:
        entry["title"] = title
    if entry["type"] == "article-journal" and "number" in entry:
        entry["issue"] = entry.pop("number")
    for role in ("author", "editor"):
        if given.get(role):
            entry[role] = [_bibtex_person(one) for one in re.split(r"\s+and\s+(?![^{]*\})", given[role]) if one.strip()]
    return _dated(entry, given.get("date") or given.get("year") or "")


def _bibtex_person(name: str) -> dict[str, str]:
    """Return a person from `Last, First` or `First Last`; a name in braces is an organisation's, whole."""
    if name.strip().startswith("{") and name.strip().endswith("}"):
        return {"literal": _without_tex(name)}
    plain = _without_tex(name)
    family, comma, given = (part.strip() for part in plain.partition(","))
    if comma:
        return {"family": family, "given": given}
    first, _, last = plain.rpartition(" ")
    return {"family": last, "given": first} if first else {"literal": plain}


def _without_tex(value: str) -> str:
    from bibtexparser.latexenc import latex_to_unicode

    return " ".join(latex_to_unicode(value).replace("{", "").replace("}", "").replace("~", " ").split())


def _read_ris(text: str) -> Iterator[PlacedEntry]:
    entry: CslEntry = {}
    started = 0
    for number, line in enumerate(text.splitlines(), start=1):
        match = _RIS_LINE.fullmatch(line.rstrip())
        if match is None:
            continue
        tag, value = match[1], match[2].strip()
        if tag == "TY":
            entry, started = {"type": _RIS_TYPES.get(value, "document")}, number
        elif tag == "ER" and started:
            yield PlacedEntry(entry, f"the entry at line {started}")
            entry, started = {}, 0
        elif started and value:
            _add_ris(entry, tag, value)
    if started:
        raise ConfigurationError(f"the entry at line {started} has no end (ER  -)")


def _add_ris(entry: CslEntry, tag: str, value: str) -> None:
    if tag in ("AU", "A1", "A2", "ED"):
        family, comma, given = (part.strip() for part in value.partition(","))
        person = {"family": family, "given": given} if comma else {"literal": value}
        entry.setdefault("editor" if tag in ("A2", "ED") else "author", []).append(person)
    elif tag in ("PY", "Y1", "DA"):
        if "issued" not in entry:
            _dated(entry, value)
    elif tag == "SP":
        entry["page"] = value
    elif tag == "EP" and "page" in entry:
        entry["page"] = f"{entry['page']}-{value}"
    elif tag == "KW":
        entry["keyword"] = f"{entry['keyword']}, {value}" if "keyword" in entry else value
    elif field := _RIS_FIELDS.get(tag):
        entry.setdefault(field, value)


def _dated(entry: CslEntry, text: str) -> CslEntry:
    if year := _YEAR.search(text):
        entry["issued"] = {"date-parts": [[int(year[0])]]}
    return entry


def _year_of(entry: Mapping[str, Any]) -> str | None:
    year = _YEAR.search(json.dumps(entry.get("issued") or ""))
    return year[0] if year else None


def _key_part(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in folded if c.isascii() and c.isalnum())


_READERS: dict[str, Callable[[str], Iterator[PlacedEntry]]] = {
    ".json": _read_csl,
    ".csl": _read_csl,
    ".bib": _read_bibtex,
    ".bibtex": _read_bibtex,
    ".ris": _read_ris,
}
