"""The digests: what they state, what of it was checked, and the same words for law that did not change."""

from __future__ import annotations

import re
from pathlib import Path

import pymupdf
import pytest

from trigpoint.policies.digest import checked_note, read_digest
from trigpoint.policies.seed import load_seed

SEPTEMBER, DECEMBER_2023, DECEMBER_2024 = "NPPF_2023_09.md", "NPPF_2023_12.md", "NPPF_2024_12.md"
UNCHANGED = {  # paragraphs of September 2023, December 2023 and December 2024 that say the same
    55: (55, 56),
    56: (56, 57),
    57: (57, 58),
    100: (104, 105),
    105: (109, 110),
    106: (110, 111),
    107: (111, 112),
    108: (112, 113),
    109: (113, 114),
    112: (116, 117),
    128: (133, 133),
    130: (135, 135),
    131: (136, 136),
    134: (139, 139),
}


def paragraphs(name: str) -> dict[int, str]:
    parts = re.split(r"(?m)^### Para ([0-9]+): ", read_digest(name))
    return {int(n): re.split(r"(?m)^## ", text)[0].strip() for n, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("september", UNCHANGED)
def test_law_that_did_not_change_has_the_same_words_in_every_digest(september: int) -> None:
    december_2023, december_2024 = UNCHANGED[september]
    words = paragraphs(SEPTEMBER)[september]
    assert words == paragraphs(DECEMBER_2023)[december_2023] == paragraphs(DECEMBER_2024)[december_2024]


def test_the_paragraphs_that_changed_are_all_the_others() -> None:
    assert set(paragraphs(SEPTEMBER)) - set(UNCHANGED) == {92, 104, 110, 111, 113}


def test_every_digest_says_what_was_checked_and_quotes_its_mark() -> None:
    for policy in load_seed("current"):
        for revision in policy.revisions:
            assert checked_note(read_digest(revision.digest)).startswith("Checked: "), revision.digest


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("LTN_1_20_2020_07.md", ["at least 1.5 m", "40 mph and above", "5,000", "2,500", "3.2 m and 3.9 m", "lockers"]),
        ("NPPF_2024_12.md", ["must only be sought", "city and town centres and other locations"]),
        ("NPPF_2026_08.md", ["should be refused if they would have a severe adverse impact", "fallback options"]),
        ("OCC_LTCP_2022_07.md", ["(b) ensure that all new walking and cycling schemes"]),
        ("CHERWELL_LOCAL_PLAN_2015_07.md", ["## Policy SLE 1"]),
    ],
)
def test_figures_and_words_that_were_wrong_or_missing(name: str, figures: list[str]) -> None:
    assert [figure for figure in figures if figure not in read_digest(name)] == []


KEY_WORDS = {
    57: ["kept to a minimum", "enforceable, precise and reasonable in all other respects"],
    58: ["must only be sought", "directly related to the development"],
    110: ["genuine choice of transport modes"],
    113: ["clear and compelling justification", "city and town centres and other locations"],
    116: ["residual cumulative impacts on the road network, following mitigation, would be severe"],
    117: ["give priority first to pedestrian and cycle movements", "in safe, accessible and convenient locations"],
    136: ["new streets are tree-lined"],
}


def test_the_digest_of_december_2024_uses_the_words_of_the_official_text(shared_data: Path) -> None:
    with pymupdf.open(shared_data / "policy" / "NPPF_December_2024.pdf") as document:
        official = " ".join(" ".join(page.get_text() for page in document).split())
    stated = paragraphs(DECEMBER_2024)
    for number, phrases in KEY_WORDS.items():
        for phrase in phrases:
            assert phrase in official, phrase
            assert phrase in stated[number], phrase
