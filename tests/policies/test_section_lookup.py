"""A section is found however people write it, with its tables and footnotes; a miss says where it was looked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trigpoint.config import load_settings
from trigpoint.policies.section_lookup import Match, find_section, nearest, overview, point_of
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.running_lines import Body
from trigpoint.text.sections import chunk_sections, find_sections

PARTS = (
    ("", "A framework"),
    ("Chapter 1", "1. Introduction"),
    ("Para 1", "1. This says what matters."),
    ("Chapter 9", "9. Promoting sustainable transport"),
    ("Para 11", "11. Plans apply a presumption7.\na) for plan-making;\nb) for decision-taking8 this means\nc) approve"),
    ("Footnote 7", "7 The policies referred to are those in this Framework."),
    ("Para 11", "d) where there are no policies, granting permission."),
    ("Para 12", "12. The presumption does not change the status of the plan. See Table 2 and 1,500 homes."),
    ("Table 2", "Table 2: Rates\n| Use | Rate |\n|---|---|\n| Office | 1 per 75 sqm |"),
    ("Footnote 8", "8 This includes applications for housing."),
    ("Policy TR1", "TR1: Streets"),
    ("Annex 2", "Annex 2: Glossary"),
    ("Para 3.2", "3.2 Housing"),
)
REFS = [ref for ref, _ in PARTS]
TEXTS = [text for _, text in PARTS]


def find(wanted: str) -> Match:
    match = find_section(REFS, TEXTS, wanted)
    assert match is not None, wanted
    return match


@pytest.mark.parametrize(
    ("written", "ref"),
    [
        ("TR1", "Policy TR1"),
        ("tr 1", "Policy TR1"),
        ("Policy TR1: Streets", "Policy TR1"),
        ("Section 9", "Chapter 9"),
        ("chapter 9", "Chapter 9"),
        ("Annex 2", "Annex 2"),
        ("Appendix 2", "Annex 2"),
        ("Para 11(d)", "Para 11"),
        ("paragraph 11 (d)", "Para 11"),
        ("11d", "Para 11"),
        ("Para 11(d)(ii)", "Para 11"),
        ("Section 3.2", "Para 3.2"),
        ("table 2", "Table 2"),
        ("12", "Para 12"),
    ],
)
def test_a_section_is_found_as_people_write_it(written: str, ref: str) -> None:
    assert find(written).section_ref == ref


def test_a_point_of_a_list_is_given_alone_as_well() -> None:
    match = find("Para 11(d)")
    text = "\n".join(TEXTS[i] for i in match.passages)
    assert match.point == "d"
    assert point_of(text, "d") == "d) where there are no policies, granting permission."
    assert point_of(text, "b") == "b) for decision-taking8 this means"
    assert point_of(text, "z") is None


def test_a_section_comes_with_the_footnotes_it_refers_to_and_the_tables_in_it() -> None:
    assert list(find("Para 11").notes) == ["Footnote 7", "Footnote 8"]
    assert list(find("Para 12").notes) == ["Table 2"], "1,500 is a figure, not a reference to note 1 or 500"


def test_a_chapter_comes_with_its_sections_and_ends_where_the_next_begins() -> None:
    chapter = find("Chapter 9")
    assert chapter.children == ("Para 11", "Para 12", "Policy TR1")
    assert [REFS[i] for i in chapter.passages] == ["Chapter 9", "Para 11", "Para 11", "Para 12", "Policy TR1"]
    assert list(chapter.notes) == ["Footnote 7", "Table 2", "Footnote 8"]
    assert find("Chapter 1").children == ("Para 1",)


def test_a_miss_names_the_nearest_sections() -> None:
    assert find_section(REFS, TEXTS, "Para 300") is None
    assert nearest(REFS, "Para 300") == ["Para 1", "Para 11", "Para 12", "Para 3.2"]
    assert nearest(REFS, "TR9") == ["Policy TR1"]
    assert nearest(REFS, "Para 13(a)")[-2] == "Para 12"
    assert overview(REFS).startswith("Chapter 1 to 9, Para 1 to 3.2")


@pytest.fixture(scope="module")
def passages_of(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Path], tuple[list[str], list[str]]]:
    """References and texts of a real policy's passages."""
    settings = load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("sections"))

    def read(path: Path) -> tuple[list[str], list[str]]:
        processor = DocumentProcessor(settings)
        try:
            body = Body.of(processor.extract(path).pages)
        finally:
            processor.close()
        chunks = chunk_sections(body.pages, find_sections(body.pages))
        return [chunk.section_ref for chunk in chunks], [chunk.text for chunk in chunks]

    return read


def test_sections_of_the_real_framework(
    shared_data: Path, passages_of: Callable[[Path], tuple[list[str], list[str]]]
) -> None:
    refs, texts = passages_of(shared_data / "policy/NPPF_December_2024.pdf")
    chapter = find_section(refs, texts, "Section 9")
    assert chapter is not None
    assert chapter.children == tuple(f"Para {n}" for n in range(109, 119))
    assert list(chapter.notes) == ["Footnote 46", "Footnote 47", "Footnote 48"]
    presumption = find_section(refs, texts, "Para 11(d)")
    assert presumption is not None
    assert list(presumption.notes) == ["Footnote 6", "Footnote 7", "Footnote 8", "Footnote 9"]
    assert find_section(refs, texts, "TR1") is None


def test_sections_of_the_real_draft_and_of_a_local_plan(
    shared_data: Path, passages_of: Callable[[Path], tuple[list[str], list[str]]]
) -> None:
    refs, texts = passages_of(shared_data / "policy/Draft_NPPF_December_2025.pdf")
    transport = find_section(refs, texts, "Section 15")
    assert transport is not None
    assert transport.children == tuple(f"Policy TR{n}" for n in range(1, 9))
    flood = find_section(refs, texts, "Table 3")
    assert flood is not None
    assert "| Zone 1 |" in texts[flood.passages[0]], "a table's rows belong to it"
    assert nearest(refs, "TR99")[-1] == "Policy TR8"

    refs, texts = passages_of(shared_data / "policy/Tewkesbury_Borough_Plan_2011-2031_Adopted_2022.pdf")
    allocations = find_section(refs, texts, "RES1")
    assert allocations is not None
    assert list(allocations.notes) == ["Table 1"]
    assert any("| TEW1 |" in texts[index] for index in allocations.notes["Table 1"])
