"""Adds references to a project's file from a file of metadata: what a publisher's page, a catalogue or doi.org exports."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trigpoint.errors import ConfigurationError, InvalidInput, shorten
from trigpoint.library.bibliography import free_citekey
from trigpoint.library.citations import References, Work, load_references, plain_doi, work_of
from trigpoint.library.exports import exported
from trigpoint.library.matching import isbns_of, plain_isbn
from trigpoint.storage.files import write_atomic

_FIT_FOR_A_CITEKEY = re.compile(r"[\w.:+-]+")


def find_works(file: Path, dois: Sequence[str] = (), isbns: Sequence[str] = ()) -> list[Work]:
    """Return the works of a metadata file with these identifiers, or all of them if none is named. Raises InvalidInput
    that says which identifier the file does not have.
    """
    works = list(_read_references(file).works)
    wanted = [_by_doi(works, doi, file) for doi in dois] + [_by_isbn(works, isbn, file) for isbn in isbns]
    chosen = wanted if dois or isbns else works
    return list({id(work): work for work in chosen}.values())


def add_works(file: Path, works: Sequence[Work]) -> list[Work]:
    """Append to a project's references file what it has not yet; returns that, with the citekeys it has there.

    A work is there already if its DOI, an ISBN, or its citekey with the same title is. Raises InvalidInput if a citekey is
    taken by another work; then nothing is written.
    """
    before = load_references(file) if file.exists() else References()
    added: list[Work] = []
    for work in works:
        known = References((*before.works, *added))
        if not _is_among(known, work):
            added.append(_with_citekey(known, work))
    if added:
        write_atomic(file, _appended(file, added).encode())
    return added


def _read_references(file: Path) -> References:
    try:
        return load_references(file)
    except ConfigurationError as error:
        raise InvalidInput(f"{file}: {error.message.partition(': ')[2]}") from None


def _by_doi(works: Sequence[Work], doi: str, file: Path) -> Work:
    found = References(tuple(works)).by_doi(doi)
    if found is None:
        raise InvalidInput(f"{file} has no entry with the DOI {shorten(plain_doi(doi))}")
    return found


def _by_isbn(works: Sequence[Work], isbn: str, file: Path) -> Work:
    plain = plain_isbn(isbn)
    if plain is None:
        raise InvalidInput(f"'{shorten(isbn)}' is not an ISBN, which has 10 or 13 digits")
    found = next((work for work in works if plain in isbns_of(work)), None)
    if found is None:
        raise InvalidInput(f"{file} has no entry with the ISBN {plain}")
    return found


def _is_among(known: References, work: Work) -> bool:
    if work.doi and known.by_doi(work.doi):
        return True
    if any(isbns_of(work) & isbns_of(other) for other in known.works):
        return True
    same = known.by_citekey(work.citekey or "")
    return same is not None and same.title.casefold() == work.title.casefold()


def _with_citekey(known: References, work: Work) -> Work:
    """Keep the citekey if it can be cited by; an address, as doi.org gives for one, cannot."""
    citekey = work.citekey or ""
    if not _FIT_FOR_A_CITEKEY.fullmatch(citekey):
        citekey = free_citekey(work.csl, {other.citekey or "" for other in known.works})
    if known.by_citekey(citekey):
        raise InvalidInput(f"The citekey {shorten(citekey)} of '{shorten(work.title)}' belongs to another reference")
    csl = {**work.csl, "id": citekey, "citation-key": citekey}
    return replace(work_of(csl, citekey=citekey, tags=work.tags), citekey=citekey)


def _appended(file: Path, added: Sequence[Work]) -> str:
    """Return the whole file with the works behind what it has, in its own format."""
    text = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    if file.suffix.lower() == ".json":
        loaded: Any = json.loads(text or "[]")
        entries = loaded["items"] if isinstance(loaded, dict) and "items" in loaded else loaded
        entries.extend(dict(work.csl) for work in added)
        return json.dumps(loaded, ensure_ascii=False, indent=2) + "\n"
    new = exported(added, "ris" if file.suffix.lower() == ".ris" else "bibtex")
    return f"{text.rstrip()}\n\n{new}" if text.strip() else new
