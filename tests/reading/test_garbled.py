"""Text of a font without a character map is never read as if it were what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from trigpoint.reading.documents import Document
from trigpoint.reading.facts import Fact, read_facts
from trigpoint.reading.profile import Profile
from trigpoint.reading.statements import document_statements
from trigpoint.text.plausible import is_plausible

SENTENCE = (
    "The development will provide 124 secure cycle parking spaces for the residents of the flats, and a further 12 cycle "
    "parking spaces for their visitors will be provided next to the main entrance."
)


def facts_of(text: str) -> tuple[Fact, ...]:
    document = Document(id="d", name="Planning Statement.pdf", text=text)
    return read_facts(document_statements(document), Profile(), [document])


def shifted(text: str, by: int) -> str:
    return "".join(chr((ord(one) - 97 + by) % 26 + 97) if one.islower() else one for one in text)


@pytest.mark.parametrize("by", [-1, 1, 3])
def test_shifted_letters_give_no_facts(by: int) -> None:
    assert facts_of(SENTENCE)
    assert facts_of(f"{shifted(SENTENCE, by)} The cycle parking is 124 spaces.")[0].source.quote.startswith("The cycle")


def test_the_unreadable_part_of_a_real_statement_is_never_quoted(shared_data: Path) -> None:
    path = shared_data / "reading" / "documents" / "RQ_Jahn_Court_Planning_Statement_GARBLED_FONT.txt"
    text = path.read_text()
    assert "\x00" in text
    found = facts_of(text)
    assert found
    assert all(is_plausible(fact.source.quote) for fact in found)
    assert not any("\x00" in fact.source.quote for fact in found)
