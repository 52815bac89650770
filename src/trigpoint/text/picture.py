"""A page as a picture, with a passage of it marked. Drawn by a reader process, so that a hostile file harms nobody.

`find_run` says which words of the page the passage is; what knows PyMuPDF is in `extract.py`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from trigpoint.errors import ExtractionFailed, shorten
from trigpoint.text.images import Box
from trigpoint.text.readers import Job, LostPage, ReaderPool

if TYPE_CHECKING:
    from trigpoint.config import Settings

_SCREEN_DPI = 110
MAX_PICTURE_PIXELS = 6_000_000
STRIP_WIDTH, STRIP_HEIGHT = 1120, 336
_SECONDS = 20.0
_MARGIN, _NARROWEST_STRIP = 28.0, 500.0  # points
_SHORTEST_PART = 24  # letters of a passage that continues on the next page


@dataclass(frozen=True)
class PagePicture:
    """`marked`: the passage was found on the page. A scan has no words to mark. `top`: how far down the passage begins,
    as a share of the picture's height.
    """

    number: int
    png: bytes
    width: int
    height: int
    marked: bool
    top: float = 0.0


class PageRenderer:
    """Draws one page at a time, in its own reader process. Slow: call it in a thread from an event loop."""

    def __init__(self, settings: Settings) -> None:
        self._pool = ReaderPool(1, min(_SECONDS, settings.page_timeout_seconds))

    def render_page(self, path: Path, page: int, quote: str = "", dpi: int = _SCREEN_DPI) -> PagePicture:
        """Return a picture of the page. Raises ExtractionFailed if the file or the page cannot be drawn."""
        return self._drawn(path, Job("picture", {"path": str(path), "quote": quote, "dpi": dpi}, (page,)))

    def render_strip(self, path: Path, page: int, quote: str) -> PagePicture:
        """Return a strip of the page around the passage, always of the same size. Of a page on which nothing can be
        marked, the strip shows the whole page, small. Raises ExtractionFailed.
        """
        return self._drawn(path, Job("strip", {"path": str(path), "quote": quote}, (page,)))

    def _drawn(self, path: Path, job: Job) -> PagePicture:
        (page,) = job.pages
        drawn = [item for _, item in self._pool.run([job])]
        if not drawn or isinstance(drawn[0], LostPage):
            reason = drawn[0].reason if drawn else "is not in the file"
            raise ExtractionFailed(f"Page {page} of {shorten(path.name)} cannot be drawn: it {reason}.")
        picture: PagePicture = drawn[0]
        return picture

    def close(self) -> None:
        self._pool.close()


def strip_around(box: Box, page: Box) -> Box:
    """Return the part of a page to show around a passage, in the proportions of a strip.

    It is wide enough for the passage's lines and to recognise the place; of a tall passage it shows the beginning.
    """
    width = min(max(box[2] - box[0] + 2 * _MARGIN, _NARROWEST_STRIP), page[2] - page[0])
    height = min(width * STRIP_HEIGHT / STRIP_WIDTH, page[3] - page[1])
    left = (page[0] + page[2] - width) / 2  # the column of text as it is, moved only as far as the passage needs
    left = min(max(left, box[2] + _MARGIN - width), box[0] - _MARGIN)
    left = min(max(left, page[0]), page[2] - width)
    centred = (box[1] + box[3] - height) / 2
    top = min(max(min(centred, box[1] - _MARGIN / 2), page[1]), page[3] - height)
    return left, top, left + width, top + height


def find_run(words: Sequence[str], quote: str) -> range:
    """Return the words that make up the quotation, whatever its hyphens, ligatures, line breaks and case. Empty: not there.

    Of a quotation that runs over the page's end, the part on this page counts.
    """
    letters, owner = [], []
    for index, word in enumerate(words):
        kept = _letters(word)
        letters.append(kept)
        owner += [index] * len(kept)
    page, wanted = "".join(letters), _letters(quote)
    if not wanted or not page:
        return range(0)
    at, size = page.find(wanted), len(wanted)
    if at < 0:
        match = SequenceMatcher(None, page, wanted, autojunk=False).find_longest_match()
        at, size = match.a, match.size
        if size < _SHORTEST_PART:
            return range(0)
    return range(owner[at], owner[at + size - 1] + 1)


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
