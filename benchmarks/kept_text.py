"""Text kept, page by page, compared with PyMuPDF's own: `python -m benchmarks.kept_text [FOLDER or FILE…]`.

Every page that keeps less than 95 % of its text layer must be explained by the account of pages. Prints one row a file
with such pages, and a summary; ends with status 1 if a page is unexplained.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pymupdf

from benchmarks.report import SHARED_DATA
from trigpoint.config import load_settings
from trigpoint.errors import TextError
from trigpoint.text.account import PageAccount
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import Extraction, clean_text

ENOUGH = 0.95
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Kept:
    """A page: the share of its text layer that is in our text, and what our account says of the rest."""

    page: int
    share: float
    explained: str


def corpus(named: list[str]) -> list[Path]:
    roots = [Path(name) for name in named] or [SHARED_DATA / "pdfs", SHARED_DATA / "policy"]
    return sorted(path for root in roots for path in ([root] if root.is_file() else root.rglob("*.pdf")))


def compare(path: Path, extraction: Extraction) -> Iterator[Kept]:
    """Words count by their letters, each as often as it is there; order and spaces do not matter."""
    with pymupdf.open(path) as document:
        for page, account in zip(extraction.pages, extraction.account.pages, strict=True):
            try:
                layer = document[page.number - 1].get_text("text")
            except Exception as error:
                layer, account = (
                    "",
                    account if account.left_out else PageAccount(page.number, "none", notes=(str(error),)),
                )
            yield Kept(page.number, _share(clean_text(layer), page.text), _explanation(account))


def _share(layer: str, text: str) -> float:
    wanted, found = Counter(_WORD.findall(layer)), Counter(_WORD.findall(text))
    letters = sum(len(word) * count for word, count in wanted.items())
    squeezed = "".join(_WORD.findall(text))
    kept = sum(
        len(word) * (min(count, found[word]) or min(count, squeezed.count(word))) for word, count in wanted.items()
    )
    return kept / letters if letters else 1.0


def _explanation(account: PageAccount) -> str:
    return "; ".join(dict.fromkeys([*(f"{part.kind}: {part.reason}" for part in account.left_out), *account.notes]))


def main() -> None:
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    processor = DocumentProcessor(load_settings())
    files = pages = below = unexplained = refused = 0
    print("| file | pages | below 95 % | lowest | the account says |\n|---|---:|---:|---:|---|")
    try:
        for path in corpus(sys.argv[1:]):
            files += 1
            try:
                extraction = processor.extract(path)
            except TextError:
                refused += 1
                continue
            kept = list(compare(path, extraction))
            short = [page for page in kept if page.share < ENOUGH]
            pages, below = pages + len(kept), below + len(short)
            unexplained += sum(not page.explained for page in short)
            if short:
                worst = min(short, key=lambda page: page.share)
                said = worst.explained or "NOTHING"
                print(
                    f"| {path.name[:50]} | {len(kept)} | {len(short)} | {worst.share:.2f} | p. {worst.page}: {said} |"
                )
    finally:
        processor.close()
    print(
        f"\n{files} files, {refused} refused with a reason, {pages} pages: {below} below 95 %, {unexplained} unexplained"
    )
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
