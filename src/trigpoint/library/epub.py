"""EPUB: the chapters of a book in their reading order, as HTML. A book is a zip file, so nothing in it is trusted."""

from __future__ import annotations

import posixpath
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from trigpoint.errors import ExtractionFailed

_MOST_BYTES = 64 * 1024 * 1024  # of all chapters together, unpacked
_CONTAINER = "META-INF/container.xml"


@dataclass(frozen=True)
class Book:
    title: str | None
    chapters: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def read_epub(path: Path) -> Book:
    """Return the book. Raises ExtractionFailed if it is not an EPUB, is protected, or unpacks to too much."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _book(archive, path.name)
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError, OSError) as error:
        raise ExtractionFailed(f"'{path.name}' cannot be read as an EPUB ({error})") from error


def _book(archive: zipfile.ZipFile, name: str) -> Book:
    package_name = _find(_xml(archive, _CONTAINER), "rootfile")[0].get("full-path")
    package = _xml(archive, package_name)
    folder = posixpath.dirname(package_name)
    files = {item.get("id"): item.get("href") for item in _find(package, "item")}
    order = [files.get(item.get("idref")) for item in _find(package, "itemref")]
    names = [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in order if href]
    known = set(archive.namelist())
    missing = [one for one in names if one not in known]
    present = [one for one in names if one in known]
    if sum(archive.getinfo(one).file_size for one in present) > _MOST_BYTES:
        raise ExtractionFailed(f"'{name}' unpacks to more than {_MOST_BYTES // 2**20} MB")
    titles = _find(package, "title")
    return Book(
        title=" ".join((titles[0].text or "").split()) or None if titles else None,
        chapters=tuple(archive.read(one).decode("utf-8", "replace") for one in present),
        warnings=(f"{len(missing)} of its chapters are missing",) if missing else (),
    )


def _xml(archive: zipfile.ZipFile, name: str) -> Any:
    from lxml import etree

    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise ValueError(f"{name} is too large")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        return etree.fromstring(archive.read(name), parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"{name}: {error}") from error


def _find(tree: Any, tag: str) -> list[Any]:
    return tree.findall(f".//{{*}}{tag}")  # type: ignore[no-any-return]
