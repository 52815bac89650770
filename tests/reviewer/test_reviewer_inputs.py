"""What the reviewer's tools take as arguments."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from reviewing_agent import conclusion, finding

from trigpoint.mcp.review_inputs import FindingsInput, FinishInput, LetterInput

HANDLE = "rev_01ARZ3NDEKTSV4RRFFQ69G5FAV-5f0c21ab"


def test_a_nul_character_is_refused_wherever_it_stands() -> None:
    for words, statement in (("No cycle\x00 parking", "There is none."), ("No cycle parking", "There\x00 is none.")):
        with pytest.raises(ValidationError, match="contains a NUL character"):
            FindingsInput.model_validate({"review": HANDLE, "findings": [finding("D1", 1, words, statement)]})
    given = conclusion("F1")
    LetterInput.model_validate({"review": HANDLE, "conclusion": given})
    for taken in (LetterInput, FinishInput):
        with pytest.raises(ValidationError, match="contains a NUL character"):
            taken.model_validate({"review": HANDLE, "conclusion": given | {"why_stance": "It\x00 is unsafe."}})
