"""The checks are data: they fit their schema, and what they cite exists in every revision that they name."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError
from review_samples import digest_passages

from trigpoint.config import Settings
from trigpoint.review.aspects import Aspect, compile_pattern, load_aspects
from trigpoint.review.evidence import SHORT_NAMES, readable_ref, same_section
from trigpoint.review.models import FOCUS_AREAS, ReviewOptions
from trigpoint.review.verify import unsupported
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.running_lines import Body
from trigpoint.text.sections import find_sections


def _seeded_revisions() -> dict[str, set[str]]:
    text = (resources.files("trigpoint.policies") / "policies.toml").read_text(encoding="utf-8")
    return {
        policy["source"]: {
            f"rev_{policy['source']}_{str(r['effective_from'])[:7].replace('-', '_')}"
            for r in policy["revision"]
            if not r.get("later")
        }
        for policy in tomllib.loads(text)["policy"]
    }


def _cited() -> list[tuple[str, str, str, str]]:
    """Aspect, source, revision and section of every policy reference, once for each revision that it names."""
    seeded = _seeded_revisions()
    return [
        (aspect.id, basis.source, revision, basis.section or basis.sections[revision])
        for aspect in load_aspects()
        for basis in aspect.policies.values()
        for revision in (sorted(seeded[basis.source]) if basis.section else sorted(basis.sections))
    ]


def test_the_ten_aspects_are_the_focus_areas() -> None:
    assert [aspect.id for aspect in load_aspects()] == list(FOCUS_AREAS)
    assert [aspect.name for aspect in load_aspects() if aspect.core] == [
        "Cycle Parking",
        "Cycle Routes",
        "Junctions",
        "Permeability",
    ]


@pytest.mark.parametrize(("aspect", "source", "revision", "section"), _cited())
def test_a_policy_reference_exists_in_each_revision_it_names(
    aspect: str, source: str, revision: str, section: str
) -> None:
    assert revision in _seeded_revisions()[source]
    day = "2024-01-15" if revision == "rev_NPPF_2023_09" else "2025-06-01"
    found = [
        passage
        for passage in digest_passages(day).values()
        if passage.revision_id == revision and same_section(passage.section_ref, section)
    ]
    assert found, f"{aspect}: {source} {section} is not in {revision}"


def test_a_reference_that_follows_the_revision_names_every_seeded_one() -> None:
    seeded = _seeded_revisions()
    for aspect in load_aspects():
        for name, basis in aspect.policies.items():
            if basis.sections:
                assert set(basis.sections) == seeded[basis.source], (aspect.id, name)


def test_the_paragraph_on_refusal_moves_with_the_revision() -> None:
    basis = next(a for a in load_aspects() if a.id == "junctions").policies["nppf_severe"]
    assert basis.in_revision("rev_NPPF_2024_12") == "Para 116"
    assert basis.in_revision("rev_NPPF_2023_09") == "Para 111"
    assert basis.in_revision("rev_NPPF_2030_01") is None


def test_numbers_in_the_words_of_findings_stand_in_the_policy_they_rest_on() -> None:
    passages = digest_passages("2025-06-01")
    for aspect in load_aspects():
        for check in aspect.checks:
            sections = [
                (
                    aspect.policies[name].source,
                    aspect.policies[name].in_revision("rev_NPPF_2024_12") or aspect.policies[name].section,
                )
                for name in check.policy
            ]
            texts = [
                p.text
                for p in passages.values()
                if any(p.source == s and same_section(p.section_ref, r or "") for s, r in sections)
            ]
            words = check.words.model_dump(exclude_none=True).values()
            for text in words:
                plain = re.sub(r"\[.*?\]", "", text)
                assert not unsupported(plain, [*texts, check.requirement]), (aspect.id, check.id, text)


def test_what_names_a_policy_can_be_left_out() -> None:
    """A policy is named only where it is cited, so its name stands in brackets."""
    for aspect in load_aspects():
        for check in aspect.checks:
            words = check.words.model_dump(exclude_none=True).values()
            for text in (check.requirement, check.short, *words, check.recommendation, check.condition or ""):
                plain = re.sub(r"\[.*?\]", "", text)
                assert not any(name in plain for name in SHORT_NAMES.values()), (aspect.id, check.id, text)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"checks": []}, "at least 1 item"),
        ({"surprise": 1}, "Extra inputs"),
        ({"id": "parking"}, "Input should be"),
        ({"policies": {}}, "policies not declared"),
    ],
)
def test_a_file_that_does_not_fit_the_schema_is_refused(change: dict[str, object], complaint: str) -> None:
    text = (resources.files("trigpoint.review") / "checks" / "junctions.yaml").read_text(encoding="utf-8")
    with pytest.raises(ValidationError, match=complaint):
        Aspect.model_validate(yaml.safe_load(text) | change)


def test_a_pattern_that_does_not_compile_is_refused() -> None:
    data = yaml.safe_load((resources.files("trigpoint.review") / "checks" / "junctions.yaml").read_text())
    data["checks"][0]["about"] = ["(side road"]
    with pytest.raises((ValidationError, re.error)):
        Aspect.model_validate(data)


def test_a_quantity_stands_where_a_pattern_says() -> None:
    assert compile_pattern("width of <q>").search("a width of \u27e60\u27e7")


@pytest.mark.parametrize(
    ("source", "section", "shown"),
    [
        ("LTN_1_20", "Section 11.1", "LTN 1/20:11.1"),
        ("LTN_1_20", "Table 5-2", "LTN 1/20:Table 5-2"),
        ("NPPF", "Para 116", "NPPF:para.116"),
        ("CHERWELL_LOCAL_PLAN", "Policy SLE 4", "Cherwell Local Plan:Policy SLE 4"),
        ("SOME_SPD", "Chapter 2", "SOME SPD:Chapter 2"),
    ],
)
def test_a_reference_is_readable(source: str, section: str, shown: str) -> None:
    assert readable_ref(source, section) == shown


def test_an_unknown_focus_area_lists_the_valid_ones() -> None:
    with pytest.raises(ValidationError, match=r"Unknown focus area: parking\. Valid ones: cycle_parking, cycle_routes"):
        ReviewOptions(focus_areas=("parking",))


def test_focus_areas_select_the_aspects_in_their_own_order() -> None:
    assert ReviewOptions(focus_areas=("junctions", "cycle_parking")).aspects == ("cycle_parking", "junctions")
    assert ReviewOptions().aspects == FOCUS_AREAS


def test_the_real_nppf_has_every_paragraph_that_is_cited(shared_data: Path, settings: Settings) -> None:
    processor = DocumentProcessor(settings)
    try:
        pages = processor.extract(shared_data / "policy" / "NPPF_December_2024.pdf").pages
    finally:
        processor.close()
    there = {mark.ref for mark in find_sections(Body.of(pages).pages)}
    wanted = {section for _, _, revision, section in _cited() if revision == "rev_NPPF_2024_12"}
    assert len(wanted) >= 6
    assert wanted <= there
