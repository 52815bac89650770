"""The account of a document's pages: how each was read, how well, and which parts of it are not in its text.

Values only. Summary and warnings are worded here and nowhere else, so that every surface says the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ReadBy = Literal["text", "ocr", "both", "none"]
Region = tuple[float, float, float, float]

LeftOutKind = Literal[
    "hidden_text",  # drawn invisibly, or covered by something drawn later
    "white_text",  # in the colour of the paper
    "tiny_text",  # too small to be read on paper
    "off_page_text",  # outside the visible page
    "garbled_text",  # a text layer that is not plausible text
    "picture",  # ink on which OCR found no words
    "unread_region",  # ink that should have been read and was not
    "page",  # the whole page
]

LOW_CONFIDENCE = 70.0
_NOTABLE_SKEW = 2.0
_PAGES_NAMED = 12
_NAMES_LISTED = 8

_KEPT_APART: Mapping[str, str] = {
    "hidden_text": "hidden text",
    "white_text": "text in the colour of the paper",
    "tiny_text": "text too small to read",
    "off_page_text": "text outside the visible page",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something on the page that is not in its text. `region` is in points from the page's top left corner."""

    kind: LeftOutKind
    reason: str
    characters: int = 0
    region: Region | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON, without fields that say nothing."""
        record: dict[str, Any] = {"kind": self.kind, "reason": self.reason}
        if self.characters:
            record["characters"] = self.characters
        if self.region:
            record["region"] = [round(edge) for edge in self.region]
        return record

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> LeftOut:
        """Return the value that `to_json` wrote."""
        region = record.get("region")
        return cls(
            record["kind"],
            str(record["reason"]),
            int(record.get("characters", 0)),
            (float(region[0]), float(region[1]), float(region[2]), float(region[3])) if region else None,
        )


@dataclass(frozen=True, slots=True)
class PageAccount:
    """The account of how one page was read.

    `covered` is the share of the inked area that the text covers, None if there was no reason to measure it;
    `confidence` is Tesseract's mean over words, 0 to 100; `skew` the angle by which a scan was straightened and
    `turned` the quarter turns that made it upright, both in degrees. `notes` are other things a reader must know.
    """

    number: int
    read_by: ReadBy
    characters: int = 0
    covered: float | None = None
    confidence: float | None = None
    skew: float = 0.0
    turned: int = 0
    blank: bool = False
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_unread(self) -> bool:
        """Whether there is something on the page, and none of it was read."""
        return self.read_by == "none" and not self.blank

    @property
    def why_unread(self) -> str:
        """The reason why nothing of the page was read."""
        reasons = [part.reason for part in self.left_out if part.kind not in _KEPT_APART]
        return reasons[0] if reasons else "no words were found on it"

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON, without fields that say nothing: most pages need three."""
        record: dict[str, Any] = {"page": self.number, "read_by": self.read_by, "characters": self.characters}
        optional = {
            "covered": None if self.covered is None else round(self.covered, 2),
            "confidence": None if self.confidence is None else round(self.confidence, 1),
            "skew": round(self.skew, 1) or None,
            "turned": self.turned or None,
            "blank": self.blank or None,
            "left_out": [part.to_json() for part in self.left_out] or None,
            "notes": list(self.notes) or None,
        }
        return record | {name: value for name, value in optional.items() if value is not None}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> PageAccount:
        """Return the value that `to_json` wrote."""
        return cls(
            number=int(record["page"]),
            read_by=record["read_by"],
            characters=int(record["characters"]),
            covered=record.get("covered"),
            confidence=record.get("confidence"),
            skew=float(record.get("skew", 0.0)),
            turned=int(record.get("turned", 0)),
            blank=bool(record.get("blank", False)),
            left_out=tuple(LeftOut.of(part) for part in record.get("left_out", ())),
            notes=tuple(record.get("notes", ())),
        )


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside the file. `media_type` follows from its name; `size` is in bytes."""

    name: str
    size: int
    media_type: str

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON."""
        return {"name": self.name, "size": self.size, "media_type": self.media_type}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Attachment:
        """Return the value that `to_json` wrote."""
        return cls(str(record["name"]), int(record["size"]), str(record["media_type"]))


@dataclass(frozen=True, slots=True)
class DocumentAccount:
    """The account of a whole document. `notes` concern the file, not one of its pages: a repair, an encryption."""

    pages: tuple[PageAccount, ...]
    notes: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()

    @property
    def summary(self) -> str:
        """One sentence such as "12 pages: 10 text, 1 OCR, 1 not read (page 7: took longer than 60 s)."."""
        unread = [page for page in self.pages if page.is_unread]
        read_by = Counter(page.read_by for page in self.pages)
        counted = [
            f"{count} {name}"
            for name, count in (
                ("text", read_by["text"]),
                ("OCR", read_by["ocr"]),
                ("text and OCR", read_by["both"]),
                ("blank", sum(page.blank for page in self.pages)),
                ("not read", len(unread)),
            )
            if count
        ]
        why = "; ".join(f"{name_pages(on).lower()}: {reason}" for reason, on in _unread_by_reason(unread).items())
        return f"{_counted(len(self.pages), 'page')}: {', '.join(counted)}{f' ({why})' if why else ''}."

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a reader of the text must know, one sentence for each thing, with the pages it concerns."""
        return (*self.notes, *_attached(self.attachments), *_grouped(self.pages))

    def to_json(self) -> dict[str, Any]:
        """Return the account as JSON, to be stored with the document or to be sent."""
        record: dict[str, Any] = {"pages": [page.to_json() for page in self.pages]}
        if self.notes:
            record["notes"] = list(self.notes)
        if self.attachments:
            record["attachments"] = [attachment.to_json() for attachment in self.attachments]
        return record

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> DocumentAccount:
        """Return the value that `to_json` wrote."""
        return cls(
            tuple(PageAccount.of(page) for page in record["pages"]),
            tuple(record.get("notes", ())),
            tuple(Attachment.of(attachment) for attachment in record.get("attachments", ())),
        )


def name_pages(numbers: Sequence[int]) -> str:
    """Return `Page 7` or `Pages 3 to 9, 12`: runs together, and never a long list."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(first) if first == last else f"{first} to {last}" for first, last in runs[:_PAGES_NAMED]]
    if len(runs) > _PAGES_NAMED:
        shown.append(f"and others, {len(numbers)} in all")
    return f"Page{'s' if len(numbers) > 1 else ''} {', '.join(shown)}"


def _unread_by_reason(unread: Iterable[PageAccount]) -> dict[str, list[int]]:
    by_reason: dict[str, list[int]] = {}
    for page in unread:
        by_reason.setdefault(page.why_unread, []).append(page.number)
    return by_reason


def _grouped(pages: Sequence[PageAccount]) -> list[str]:
    """Return the pages' warnings; one that concerns several pages is given once."""
    by_warning: dict[str, list[int]] = {}
    for page in pages:
        for warning in _page_warnings(page):
            by_warning.setdefault(warning, []).append(page.number)
    said = [f"{name_pages(numbers)}: {warning}." for warning, numbers in by_warning.items()]
    return [*said, *_measured(pages)]


def _page_warnings(page: PageAccount) -> list[str]:
    said = list(page.notes)
    if page.turned:
        said.append(f"read turned by {page.turned}°")
    if page.is_unread:
        said.append(f"not read: {page.why_unread}")
    for part in page.left_out:
        if part.kind in _KEPT_APART:
            said.append(f"{_KEPT_APART[part.kind]} was kept apart from the page's text ({part.reason})")
        elif not page.is_unread and part.kind != "picture":
            said.append(part.reason)
    return list(dict.fromkeys(said))


def _measured(pages: Sequence[PageAccount]) -> list[str]:
    """Return the warnings that have a figure, which differs from page to page: the worst one is given."""
    said = []
    doubtful = {p.number: p.confidence for p in pages if p.confidence is not None and p.confidence < LOW_CONFIDENCE}
    if doubtful:
        worst = f"the lowest is {min(doubtful.values()):.0f} %" if len(doubtful) > 1 else "it may contain errors"
        figure = f"below {LOW_CONFIDENCE:.0f} %" if len(doubtful) > 1 else f"of {min(doubtful.values()):.0f} %"
        said.append(f"{name_pages(list(doubtful))}: read by OCR with a confidence {figure}; {worst}.")
    askew = {p.number: abs(p.skew) for p in pages if abs(p.skew) >= _NOTABLE_SKEW}
    if askew:
        most = f"up to {max(askew.values()):.1f}°" if len(askew) > 1 else f"{max(askew.values()):.1f}°"
        said.append(f"{name_pages(list(askew))}: scanned askew ({most}) and straightened before it was read.")
    return said


def _attached(attachments: Sequence[Attachment]) -> list[str]:
    if not attachments:
        return []
    names = [attachment.name for attachment in attachments[:_NAMES_LISTED]]
    if len(attachments) > _NAMES_LISTED:
        names.append(f"and {len(attachments) - _NAMES_LISTED} more")
    return [f"The file has {_counted(len(attachments), 'attachment')}, not part of its text: {', '.join(names)}."]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
