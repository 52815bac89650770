"""The strips of pages that a report shows next to its main points: cut around the quoted words, which are marked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from trigpoint.config import Settings
from trigpoint.documents.roots import DocumentRoots
from trigpoint.errors import FileMissing, TrigpointError
from trigpoint.review.findings import Citation
from trigpoint.review.overview import Overview
from trigpoint.review.people import is_public_comment
from trigpoint.review.result import ReviewBody
from trigpoint.text.picture import PagePicture

log = logging.getLogger(__name__)

Pictures = Mapping[Citation, bytes]
"""PNG by the quotation it shows."""

DrawStrip = Callable[[Path, int, str], PagePicture]


def pictured(review: ReviewBody) -> list[Citation]:
    """Return the quotations to show as pictures: what proves each main point, both sides of a contradiction.

    Pages of public comments are never shown: a picture has the name and address that were masked in the words.
    """
    wanted = [citation for point in Overview(review).report.matters for citation in point.proof]
    return [one for one in dict.fromkeys(wanted) if one.pages and not is_public_comment(one.document)]


def files_here(settings: Settings, documents: Iterable[Mapping[str, Any]]) -> dict[str, Path]:
    """Return the files of what a document store lists, by document, as far as they are on this machine."""
    roots, files = DocumentRoots(settings), {}
    for document in documents:
        try:
            files[str(document["document_id"])] = roots.find(document["file_path"])
        except FileMissing:
            continue  # the store is on another machine: this document has no picture here
    return files


def draw_strips(review: ReviewBody, files: Mapping[str, Path], draw: DrawStrip) -> dict[Citation, bytes]:
    """Return the strips of the documents whose files are known, by their ids. A page that cannot be drawn is left out."""
    drawn = {}
    for citation in pictured(review):
        path = files.get(citation.document_id)
        if path is None:
            continue
        try:
            picture = draw(path, citation.pages[0], citation.quote)
        except TrigpointError as error:
            log.warning("a report goes without a picture of %s: %s", citation.document, error.message)
            continue
        if picture.marked:
            drawn[citation] = picture.png
    return drawn
