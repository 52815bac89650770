"""Every file of the shared corpus has an outcome: none crashes, hangs or is lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.outcomes import corpus, outcome

from trigpoint.text.extract import DocumentProcessor

EXPECTED = {"text_layer", "ocr", "mixed", "skipped: image_based", "error: extraction_failed", "error: no_content"}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_file_of_the_corpus_has_an_outcome_that_says_why(processor: DocumentProcessor, shared_data: Path) -> None:
    files = corpus(shared_data)
    assert len(files) >= 90
    outcomes = [outcome(processor, path, path.name) for path in files]
    for row in outcomes:
        assert row.result in EXPECTED, row
        assert row.characters or row.said, f"lost in silence: {row}"
        assert "crashed" not in row.said, row
        assert "took longer" not in row.said, row
    by_name = {row.file: row for row in outcomes}
    assert by_name["DA-619p.pdf"].pages == 619
    for name, row in by_name.items():
        if "user-password" in name:
            assert "password is needed" in row.said
        if name.startswith(("openerror__", "zero__", "partial__")):
            assert "its end is missing" in row.said
