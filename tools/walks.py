"""Prints the walk of a question and of a document through the code: the functions that run, in order, each once.

Run as `python tools/walks.py`; the lists in docs/architecture.md are shortened from its output.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any

SOURCE = str(Path(__file__).parents[1] / "src" / "trigpoint")


@contextmanager
def walked() -> Iterator[dict[str, str]]:
    """Collect the functions of ours that run meanwhile, in any thread, with the file that each is in."""
    seen: dict[str, str] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and "trigpoint" in code.co_filename and not code.co_name.startswith("<"):
            file = code.co_filename.rpartition("/trigpoint/")[2]
            seen.setdefault(f"{file}: {code.co_qualname}", file)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def report(name: str, seen: dict[str, str]) -> None:
    print(f"{name}: {len(seen)} functions in {len(set(seen.values()))} files")
    for step in seen:
        print(f"  {step}")


async def question(folder: Path, run: Callable[[str, dict[str, str]], None]) -> None:
    from trigpoint.config import load_settings
    from trigpoint.policies.digest import digest_pdf, read_digest
    from trigpoint.policies.knowledge import open_knowledge
    from trigpoint.policies.models import PolicyCategory
    from trigpoint.storage.files import write_atomic

    settings = load_settings(trigpoint_data_dir=folder)
    file = folder / "ltn.pdf"
    write_atomic(file, digest_pdf(read_digest("LTN_1_20_2020_07.md")))
    async with open_knowledge(settings) as knowledge:
        await knowledge.registry.create_policy("LTN", "Design", PolicyCategory.NATIONAL_GUIDANCE)
        revision, _ = await knowledge.registry.create_revision(
            "LTN", version_label="2020", effective_from=date(2020, 7, 27)
        )
        made = await knowledge.ingest("LTN", revision.revision_id, str(file))
        await knowledge.registry.mark_active("LTN", revision.revision_id, chunk_count=made.chunks_created, page_count=1)
        await knowledge.settle()
        await knowledge.search("width of a cycle track", mode="hybrid")
        revisions = [revision.revision_id]
        with walked() as seen:
            knowledge.passages.search("width of a cycle track", 10, revisions, "hybrid")
        run("A question (hybrid search of policies, from its revisions to its hits)", seen)


def document(folder: Path, run: Callable[[str, dict[str, str]], None]) -> None:
    import pymupdf

    from trigpoint.config import load_settings
    from trigpoint.documents.ingest import DocumentIngest, IngestRequest
    from trigpoint.documents.store import DocumentStore

    settings = load_settings(trigpoint_data_dir=folder, text_workers=1)
    folder.mkdir(parents=True)
    file = folder / "statement.pdf"
    with pymupdf.open() as made:
        made.new_page().insert_text((72, 100), "The development provides 200 cycle parking spaces.")
        made.save(file)
    with DocumentStore(settings) as store:
        ingest = DocumentIngest(settings, store)
        store.embedding.embed("warm")
        with walked() as seen:
            ingest.ingest(IngestRequest(str(file), "25/01178/REM"))
        run("A document (ingest, from the request to the registered row)", seen)
        ingest.processor.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(question(Path(folder) / "policies", report))
        document(Path(folder) / "documents", report)


if __name__ == "__main__":
    main()
