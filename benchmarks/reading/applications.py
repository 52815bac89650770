"""Labelled applications: the public ones of the shared data, and our own in `written` and `sealed`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from benchmarks.report import SHARED_DATA
from trigpoint.config import load_settings
from trigpoint.reading.documents import Document
from trigpoint.reading.sources import source_kind_of
from trigpoint.reading.statements import Statement, document_statements
from trigpoint.text.classify import DocumentClassifier
from trigpoint.text.extract import DocumentProcessor

WRITTEN = Path(__file__).with_name("written")
SEALED = Path(__file__).with_name("sealed")
COUNCILS = {
    "UTT_25_3011_OP": "uttlesford",
    "UTT_25_3012_OP": "uttlesford",
    "UTT_25_2203_SO": "uttlesford",
    "99_Bishopsgate": "towers",
    "70_Gracechurch_Street": "towers",
    "PA_25_00973": "iceland",
}
"""The families of the real applications."""

AUTHORS = {
    "householder-orchard-way": "first author",
    "housing-hollins-fold": "first author",
    "logistics-brackwater": "first author",
    "barn-tithe-lane": "second author",
    "offices-quay-exchange": "second author",
    "school-st-aldhelm": "second author",
    "marlhaven-corn-street": "third author",
    "ravensey-castlemere-road": "third author",
    "thistleham-mill-lane": "third author",
    "castleworth-tannery-row": "fourth author",
    "nether-aske-skelder-lane": "fourth author",
    "oldmere-coldharbour-way": "fourth author",
    "stannerby-ketterby-road": "fourth author",
}
"""The families of the written applications: whoever wrote one used the same turns of phrase in the others."""


@dataclass(frozen=True)
class Label:
    """What a careful reader said of one statement."""

    doc: str
    page: int | None
    text: str
    topics: tuple[str, ...]
    status: str
    speaker: str
    polarity: str
    quantities: tuple[dict[str, Any], ...]

    @classmethod
    def read(cls, line: str) -> Label:
        data = json.loads(line)
        return cls(
            doc=data["doc"],
            page=data["page"],
            text=data["text"],
            topics=tuple(data["topics"]),
            status=data["status"],
            speaker=data["speaker"],
            polarity=data["polarity"],
            quantities=tuple(data.get("quantities") or ()),
        )


@dataclass(frozen=True)
class LabelledApplication:
    """An application with its documents, labels and what must be reported of it."""

    name: str
    about: dict[str, Any]
    labels: tuple[Label, ...]
    paths: tuple[Path, ...]

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The documents as the reading takes them, without OCR: pages without text are not labelled."""
        return tuple(_document(path) for path in self.paths)

    @property
    def family(self) -> str:
        """The group that must lie on one side of a split: the same author, council or site."""
        return COUNCILS.get(self.name) or AUTHORS.get(self.name, self.name)

    @property
    def is_real(self) -> bool:
        """Whether its documents were written for a real application."""
        return self.name in COUNCILS

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(one for document in self.documents for one in document_statements(document))


def shared_applications(root: Path = SHARED_DATA / "reading") -> Iterator[LabelledApplication]:
    """Yield the public applications; nothing if the data is not there."""
    for folder in sorted((root / "labels").glob("*")):
        labels = _labels(folder)
        paths = [root / "documents" / name for name in sorted({label.doc for label in labels})]
        yield _application(folder, labels, paths)


def own_applications(root: Path = WRITTEN) -> Iterator[LabelledApplication]:
    """Yield applications in our own folders: `application.json`, `labels.jsonl` and `documents/`."""
    for folder in sorted(path.parent for path in root.glob("*/application.json")):
        paths = [path for path in sorted((folder / "documents").iterdir()) if path.is_file()]
        yield _application(folder, _labels(folder), paths)


def _labels(folder: Path) -> tuple[Label, ...]:
    file = folder / "labels.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return tuple(Label.read(line) for line in lines if line.strip())


def _application(folder: Path, labels: tuple[Label, ...], paths: list[Path]) -> LabelledApplication:
    about = json.loads((folder / "application.json").read_text())
    return LabelledApplication(folder.name, about, labels, tuple(paths))


def _document(path: Path) -> Document:
    text = _text(path)
    kind = source_kind_of(path.name, text)
    found = DocumentClassifier().classify(path.name, text)
    return Document(id=path.name, name=path.name, text=text, document_type=found.document_type, source_kind=kind)


def _text(path: Path) -> str:
    if path.suffix.lower() != ".pdf":
        return path.read_text()
    return "\f".join(page.text for page in _processor().extract(path).pages)


@cache
def _processor() -> DocumentProcessor:
    """The product's own reader, without OCR."""
    return DocumentProcessor(load_settings(trigpoint_data_dir=Path(tempfile.mkdtemp()), enable_ocr=False))
