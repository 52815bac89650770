"""What becomes of every file in the shared corpus of PDFs and drawings, as the table in `docs/extraction.md`.

`python -m benchmarks.outcomes` prints the table; `--write` puts it into the document.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import SHARED_DATA
from trigpoint.config import load_settings
from trigpoint.errors import TextError
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.images import SUPPORTED_SUFFIXES

DOCUMENT = Path(__file__).parents[1] / "docs" / "extraction.md"
BEGIN, END = "<!-- outcomes: begin -->", "<!-- outcomes: end -->"


@dataclass(frozen=True)
class Outcome:
    file: str
    result: str
    pages: int | None = None
    characters: int | None = None
    said: str = ""


def corpus(data: Path = SHARED_DATA) -> list[Path]:
    files = [path for folder in ("pdfs", "drawings") for path in (data / folder).rglob("*") if path.is_file()]
    return sorted(path for path in files if path.suffix.lower() in SUPPORTED_SUFFIXES)


def outcome(processor: DocumentProcessor, path: Path, name: str) -> Outcome:
    """What an ingest of the file comes to: skipped as a picture, read, or refused with a reason."""
    try:
        look = processor.classify_document(path)
        if look.is_image_based:
            return Outcome(name, "skipped: image_based", look.total_pages, None, f"image ratio {look.image_ratio:g}")
        extraction = processor.extract(path)
    except TextError as error:
        return Outcome(name, f"error: {error.code}", said=error.message.replace(path.name, "…"))
    characters = sum(len(page.text) for page in extraction.pages)
    return Outcome(name, extraction.method, extraction.page_count, characters, " ".join(extraction.warnings))


def table(outcomes: list[Outcome]) -> Iterator[str]:
    yield "| file | outcome | pages | characters | what is said |"
    yield "|---|---|---:|---:|---|"
    for row in outcomes:
        figures = " | ".join("" if figure is None else str(figure) for figure in (row.pages, row.characters))
        yield f"| {row.file} | {row.result} | {figures} | {row.said.replace('|', '/')} |"


def main() -> None:
    processor = DocumentProcessor(load_settings())
    try:
        rows = [outcome(processor, path, str(path.relative_to(SHARED_DATA))) for path in corpus()]
    finally:
        processor.close()
    lines = "\n".join(table(rows))
    if "--write" not in sys.argv:
        print(lines)
        return
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(f"{before}{BEGIN}\n{lines}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
