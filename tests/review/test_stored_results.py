"""Results stored by version 0.1.0 still open, and every format can be made from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trigpoint.review.formats import FORMATS, FormatName
from trigpoint.review.result import ReviewResult

STORED = Path(__file__).parent / "data" / "review-0.1.0.json"


@pytest.fixture
def stored() -> ReviewResult:
    return ReviewResult.model_validate_json(STORED.read_bytes())


def test_nothing_that_0_1_0_stored_is_lost(stored: ReviewResult) -> None:
    given, kept = json.loads(STORED.read_text()), stored.model_dump(mode="json")
    assert given["application"].items() <= kept["application"].items()
    assert given["metadata"].pop("documents").items() <= kept["metadata"].pop("documents").items()
    assert given["metadata"].items() <= kept["metadata"].items()
    for aspect, known in zip(given["review"]["aspects"], kept["review"]["aspects"], strict=True):
        plain = {key: value for key, value in aspect.items() if key != "findings"}
        assert plain.items() <= known.items()
        for finding, kept_finding in zip(aspect["findings"], known["findings"], strict=True):
            assert finding["text"] == kept_finding["text"]
            assert [e["quote"] for e in finding["evidence"]] == [e["quote"] for e in kept_finding["evidence"]]


def test_an_aspect_in_which_nothing_was_found_shows_as_not_assessed(stored: ReviewResult) -> None:
    shown = {aspect.id: (aspect.assessed, aspect.shown_rating) for aspect in stored.review.aspects}
    assert shown == {"cycle_parking": ("partly", "green"), "junctions": ("no", "not assessed")}


@pytest.mark.parametrize("name", list(FormatName))
def test_every_format_can_be_made_of_it(name: FormatName, stored: ReviewResult) -> None:
    begins = {"markdown": b"# Cycle", "json": b"{", "docx": b"PK", "text": b"COMMENTS ON PLANNING APPLICATION"}
    assert FORMATS[name].render(stored).startswith(begins.get(name.value, b"%PDF-"))
