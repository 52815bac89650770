"""Where the NPPF states each provision: found in four revisions, one after the other, and compared with our reading.

Digests for all four, then digests for September and December 2023 with the official texts of December 2024 and August 2026.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pymupdf

from benchmarks.provision_sections import provision_ids, right_sections
from benchmarks.report import SHARED_DATA, Report
from trigpoint.config import load_settings
from trigpoint.policies.compare import SectionText, read_sections
from trigpoint.policies.digest import digest_pdf, read_digest
from trigpoint.policies.locate import Earlier, Located, locate
from trigpoint.policies.provisions import provision_by_id
from trigpoint.text.embed import shared_embedding
from trigpoint.text.extract import DocumentProcessor

POLICY = SHARED_DATA / "policy"
DIGESTS = {
    "September 2023": "NPPF_2023_09.md",
    "December 2023": "NPPF_2023_12.md",
    "December 2024": "NPPF_2024_12.md",
    "August 2026": "NPPF_2026_08.md",
}


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        finder = _Finder(Path(folder))
        _chain(report, finder, "digests", {name: finder.digest(file) for name, file in DIGESTS.items()})
        if not POLICY.is_dir():
            report.skip(f"the official texts: not at {POLICY}")
            return
        official = {
            "September 2023": finder.digest(DIGESTS["September 2023"]),
            "December 2023": finder.digest(DIGESTS["December 2023"]),
            "December 2024": POLICY / "NPPF_December_2024.pdf",
            "August 2026": text_as_pdf(POLICY / "NPPF_August_2026.txt", Path(folder)),
        }
        _chain(report, finder, "official texts", official)


def _chain(report: Report, finder: _Finder, kind: str, files: dict[str, Path]) -> None:
    """Each revision is read with the help of the one before, as in the knowledge base."""
    earlier: dict[str, Earlier] = {}
    for revision, file in files.items():
        located, earlier = finder.locate(file, earlier)
        _score(report, f"{kind}, {revision}", revision, located)


def _score(report: Report, name: str, revision: str, located: list[Located]) -> None:
    stated = [one for one in located if right_sections(one.provision_id, revision)]
    right = [one for one in stated if one.section_ref in right_sections(one.provision_id, revision)]
    sure = [one for one in located if one.sure]
    sure_right = [one for one in sure if one in right]
    wrong = [f"{one.provision_id} in {one.section_ref}" for one in sure if one not in right]
    unsure = [one.provision_id for one in located if not one.sure]
    report.row(f"{name}: stated, found in the right section", len(right), f"of {len(stated)}")
    report.row(f"{name}: certain, and right", len(sure_right), f"of {len(sure)}", note="; ".join(wrong))
    report.row(f"{name}: left to be confirmed", len(unsure), "provisions", note=", ".join(unsure))


class _Finder:
    def __init__(self, folder: Path) -> None:
        settings = load_settings()
        self._folder = folder
        self._processor = DocumentProcessor(settings)
        self._embed = shared_embedding(settings).embed_batch
        self._provisions = [provision_by_id()[name] for name in provision_ids()]

    def locate(self, file: Path, earlier: dict[str, Earlier]) -> tuple[list[Located], dict[str, Earlier]]:
        sections = read_sections(self._processor, file)
        located = locate(self._provisions, sections, self._embed, earlier)
        return located, _as_earlier(located, sections)

    def digest(self, name: str) -> Path:
        path = self._folder / name.replace(".md", ".pdf")
        path.write_bytes(digest_pdf(read_digest(name)))
        return path


_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "•": "-"})


def text_as_pdf(text: Path, folder: Path) -> Path:
    """Set a text with form feeds as a PDF of as many pages, and return its path."""
    path = folder / f"{text.stem}.pdf"
    with pymupdf.open() as document:
        for page_text in text.read_text(encoding="utf-8").split("\f"):
            page = document.new_page()
            for number, line in enumerate(page_text.splitlines()):
                page.insert_text((40, 40 + 9.5 * number), line.translate(_PLAIN), fontsize=8)
        document.save(path)
    return path


def _as_earlier(located: list[Located], sections: list[SectionText]) -> dict[str, Earlier]:
    by_ref = {section.ref: section for section in sections}
    return {
        one.provision_id: Earlier(by_ref[one.section_ref], one.excerpt)
        for one in located
        if one.sure and one.section_ref is not None
    }
