"""What a reader sees while documents are read: which one, which page of it, and how many are done."""

from __future__ import annotations

from trigpoint.review import reading_progress
from trigpoint.review.reading_progress import ReadingProgress


async def _told(*reached: tuple[str, float, str | None]) -> list[tuple[float, str]]:
    told: list[tuple[float, str]] = []

    async def step(share: float, detail: str) -> None:
        told.append((round(share, 3), detail))

    progress = ReadingProgress(["/d/Travel_Plan.pdf", "/d/Letter.pdf"], {}, step)
    for path, share, place in reached:
        await progress.reached(path, share, place)
    return told


async def test_the_page_within_the_first_open_document_is_told(monkeypatch) -> None:
    monkeypatch.setattr(reading_progress, "_OFTEN_ENOUGH_SECONDS", 0.0)
    told = await _told(
        ("/d/Travel_Plan.pdf", 0.0, None),
        ("/d/Letter.pdf", 0.0, None),
        ("/d/Travel_Plan.pdf", 0.2, "page 20 of 40"),
        ("/d/Letter.pdf", 1.0, None),
        ("/d/Travel_Plan.pdf", 0.5, "passage 9 of 80"),
        ("/d/Travel_Plan.pdf", 1.0, None),
    )
    assert told == [
        (0.0, "Reading Travel Plan (0 of 2 documents done)"),
        (0.0, "Reading Travel Plan (0 of 2 documents done)"),
        (0.1, "Reading Travel Plan, page 20 of 40 (0 of 2 documents done)"),
        (0.6, "Reading Travel Plan, page 20 of 40 (1 of 2 documents done)"),
        (0.75, "Reading Travel Plan, passage 9 of 80 (1 of 2 documents done)"),
        (1.0, "Reading Travel Plan (2 of 2 documents done)"),
    ]


async def test_pages_that_go_by_quickly_are_not_all_told_but_every_document_is() -> None:
    pages = [("/d/Letter.pdf", page / 1000, f"page {page} of 500") for page in range(1, 500)]
    told = await _told(("/d/Letter.pdf", 0.0, None), *pages, ("/d/Letter.pdf", 1.0, None))
    assert told[0][1] == "Reading Letter (0 of 2 documents done)"
    assert told[-1] == (0.5, "Reading Letter (1 of 2 documents done)")
    assert len(told) < 50
