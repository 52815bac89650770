"""Orientation for a judge before reading: the development, the documents, the policy that applies, the questions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from trigpoint.reading.profile import Profile
from trigpoint.reading.vocabulary import SourceKind, Status, aspects_of
from trigpoint.review.aspects import Aspect
from trigpoint.review.evidence import Evidence, PolicyPassage, collapse, readable_ref
from trigpoint.review.not_seen import not_seen
from trigpoint.review.quoting import asked_provisions
from trigpoint.review.sheets import Sheets
from trigpoint.review.titles import title_of
from trigpoint.text.classify import OTHER

_SORTS: dict[SourceKind, str] = {
    "applicant": "document",
    "consultee": "consultation response",
    "public": "representation",
    "council": "report or decision",
}
"""How documents are called whose type is none of the contract's."""

_AREAS = (r"sq\.?\s?m\b", r"sqm\b", r"m2\b", "m²", "square metres")
_COUNTED = (
    "homes dwellings houses flats apartments units beds bedrooms rooms pupils places students staff employees jobs posts "
    "pitches lodges pods visitors seats"
).split()
_SIZE = re.compile(
    rf"\d[\d,.]*(?:\s+[a-z-]+){{0,3}}\s*(?:{'|'.join(_AREAS)}|(?:{'|'.join(_COUNTED)})\b)", re.IGNORECASE
)
_MOST_SIZES_OF_DOCUMENT = 8
_MOST_SIZES = 40


@dataclass(frozen=True)
class DocumentEntry:
    """A document of the application, under the label by which it is cited."""

    label: str
    name: str
    document_type: str
    written_by: str
    pages: int
    characters: int
    title: str = ""


@dataclass(frozen=True)
class ProvisionEntry:
    """Something that policy in force asks, under the label by which it is cited."""

    label: str
    ref: str
    says: str


@dataclass(frozen=True)
class Question:
    """One thing to judge. `policy` are the labels of the provisions that ask for it."""

    id: str
    asks: str
    essential: bool
    subject: str
    policy: tuple[str, ...]
    answered_by: tuple[Status, ...] = ()


@dataclass(frozen=True)
class AspectEntry:
    """One aspect with the questions that apply to this development."""

    id: str
    name: str
    core: bool
    question: str
    questions: tuple[Question, ...]
    provisions: tuple[ProvisionEntry, ...]


@dataclass(frozen=True)
class Candidate:
    """Figures or statements that seem not to agree, found by arithmetic; to be confirmed or dismissed by a reader."""

    id: str
    aspect: str | None
    kind: str
    summary: str
    calculation: str
    places: tuple[tuple[str, int | None, str], ...]  # label, page, words


@dataclass(frozen=True)
class Orientation:
    """Everything that is known before the first page is read."""

    application_ref: str
    effective_date: str
    profile: Profile
    documents: tuple[DocumentEntry, ...]
    aspects: tuple[AspectEntry, ...]
    candidates: tuple[Candidate, ...]
    pages: int
    remarks: tuple[str, ...]
    not_seen: tuple[str, ...] = ()


class PolicyLabels:
    """Passages of policy under short labels (P1, P2 …). Those found later are added at the end, so labels never move."""

    def __init__(self, passages: Iterable[PolicyPassage]) -> None:
        self.by_label: dict[str, PolicyPassage] = {}
        self._label_of: dict[str, str] = {}
        for passage in passages:
            self.add(passage)

    def add(self, passage: PolicyPassage) -> str:
        """Return the label of a passage, a new one if it has none yet."""
        if passage.id not in self._label_of:
            label = f"P{len(self.by_label) + 1}"
            self.by_label[label], self._label_of[passage.id] = passage, label
        return self._label_of[passage.id]

    def find(self, name: str) -> PolicyPassage | None:
        """Return the passage of a label, a reference such as `LTN 1/20:Table 11-1`, or an id; None if it is unknown."""
        label = name.strip().strip("[]").upper()
        if label in self.by_label:
            return self.by_label[label]
        return next((one for one in self.by_label.values() if name in (one.id, reference(one))), None)


def reference(passage: PolicyPassage) -> str:
    return readable_ref(passage.source, passage.section_ref)


def citable(evidence: Evidence, aspects: Iterable[Aspect]) -> list[PolicyPassage]:
    """Return the passages of the provisions that the aspects rest on, in their order."""
    names = [name for aspect in aspects for name in aspect.provisions]
    return [one.passage for name in names for one in evidence.provisions.get(name, ()) if one.certain]


def orient(evidence: Evidence, aspects: Iterable[Aspect], sheets: Sheets, labels: PolicyLabels) -> Orientation:
    """Return the orientation of a review."""
    chosen = tuple(aspects)
    return Orientation(
        application_ref=evidence.application_ref,
        effective_date=evidence.effective_date,
        profile=evidence.profile,
        documents=tuple(_documents(sheets)),
        aspects=tuple(_aspect_entry(evidence, one, labels) for one in chosen),
        candidates=candidates(evidence, sheets),
        pages=evidence.pages_read,
        remarks=evidence.remarks,
        not_seen=not_seen(evidence),
    )


def _documents(sheets: Sheets) -> Iterable[DocumentEntry]:
    for label, document in sheets.labels.items():
        kind = document.document_type if document.document_type != OTHER else _SORTS[document.source_kind]
        size = len(document.pages), len(document.text)
        yield DocumentEntry(label, document.name, kind, document.source_kind, *size, title_of(document))


def _aspect_entry(evidence: Evidence, aspect: Aspect, labels: PolicyLabels) -> AspectEntry:
    asked = aspect.asked(evidence.profile)
    questions = tuple(
        Question(
            check.id,
            check.requirement,
            check.essential,
            check.words.subject,
            _labels(evidence, check.provisions, labels),
            check.answered_by,
        )
        for check in asked
    )
    return AspectEntry(
        aspect.id,
        aspect.name,
        aspect.core,
        aspect.question,
        questions,
        _provisions(evidence, aspect, labels) if asked else (),
    )


def _labels(evidence: Evidence, names: Iterable[str], labels: PolicyLabels) -> tuple[str, ...]:
    placed = [one for name in names for one in evidence.provisions.get(name, ()) if one.certain]
    return tuple(dict.fromkeys(labels.add(one.passage) for one in placed))


def _provisions(evidence: Evidence, aspect: Aspect, labels: PolicyLabels) -> tuple[ProvisionEntry, ...]:
    says: dict[str, list[str]] = {}
    for placed, words in asked_provisions(evidence, aspect, aspect.provisions):
        if placed.certain:
            says.setdefault(labels.add(placed.passage), []).append(words)
    return tuple(
        ProvisionEntry(label, reference(labels.by_label[label]), " ".join(dict.fromkeys(texts)))
        for label, texts in says.items()
    )


def candidates(evidence: Evidence, sheets: Sheets) -> tuple[Candidate, ...]:
    """Return the suspected discrepancies, under ids that stay the same for the same evidence."""
    return tuple(
        Candidate(
            f"C{number}",
            next(iter(aspects_of(one.topic)), None),
            one.kind,
            one.summary,
            one.calculation,
            tuple((sheets.label_of(i.source.document_id), i.source.page, i.source.quote) for i in one.inputs),
        )
        for number, one in enumerate(evidence.discrepancies, 1)
    )


def size_statements(sheets: Sheets) -> tuple[tuple[str, int | None, str], ...]:
    """Return statements of the application and of officers that give a size: label, page, words; a few of each document."""
    found: list[tuple[str, int | None, str]] = []
    for label, document in sheets.labels.items():
        if document.source_kind not in ("applicant", "council"):
            continue
        sized = [
            one for one in sheets.words_of(document).statements if one.kind != "heading" and _SIZE.search(one.text)
        ]
        said = dict.fromkeys((label, one.page, collapse(one.text)) for one in sized)
        found += list(said)[:_MOST_SIZES_OF_DOCUMENT]
    return tuple(found[:_MOST_SIZES])
