"""`DocumentClassifier`: the contract's table, word boundaries (D6), names before content, and real registers' names."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint.text.classify import Classification, DocumentClassifier, DocumentType

CLASSIFIER = DocumentClassifier()

CONTRACT = {
    "transport_assessment": ["Transport Assessment", "Travel_Plan", "traffic-impact"],
    "design_access_statement": ["Design and Access Statement", "D&A statement", "Design & Access Statement"],
    "site_plan": ["site plan", "Location Plan", "BLOCK PLAN", "layout plan"],
    "floor_plan": ["Floor Plan", "ground floor", "First_Floor"],
    "elevation": ["Elevation", "Proposed elevations", "street scene"],
    "planning_statement": ["Planning Statement", "supporting statement"],
    "environmental_statement": ["Environmental Impact Statement", "environmental impact assessment", "EIA"],
    "noise_assessment": ["noise assessment", "Noise Report", "noise survey", "Acoustic"],
    "flood_risk_assessment": ["Flood Risk Assessment", "FRA", "drainage strategy"],
    "ecology_report": ["ecology report", "Ecology survey", "ecological appraisal", "Bat Survey", "biodiversity"],
    "heritage_statement": ["Heritage Statement", "heritage assessment", "archaeological"],
    "arboricultural_report": ["arboricultural report", "Arboricultural Survey", "tree survey"],
}


# Read by hand, name by name: docs/extraction.md says what the rest is.
REAL_NAMES = {
    "other": 741,
    "floor_plan": 173,
    "elevation": 141,
    "environmental_statement": 59,
    "design_access_statement": 48,
    "site_plan": 42,
    "transport_assessment": 21,
    "flood_risk_assessment": 19,
    "heritage_statement": 11,
    "arboricultural_report": 11,
    "planning_statement": 8,
    "ecology_report": 8,
    "noise_assessment": 6,
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in CONTRACT.items() for name in names])
def test_the_contracts_patterns_are_found_with_high_confidence(kind: str, name: str) -> None:
    for form in (f"{name}.pdf", f"01_{name}_RevB.pdf", f"2024-05-01 {name.upper()} (final).PDF"):
        assert CLASSIFIER.classify(form) == Classification(kind, "high"), form


@pytest.mark.parametrize(
    "name",
    [
        "Cycle_Infrastructure_Plan.pdf",  # D6: no FRA
        "Fragrance report.pdf",
        "Renovation.pdf",
        "Application form.pdf",
        "Decision notice.pdf",
        "Community involvement.pdf",
        "Combat survey.pdf",
        "Construction Traffic Management Plan.pdf",
        "Parameter plan - uses at ground floor level.pdf",
        "Plot 1 planting plan ground floor.pdf",
        "",
        ".pdf",
    ],
)
def test_what_matches_only_within_a_word_or_by_the_way_is_other(name: str) -> None:
    assert CLASSIFIER.classify(name) == Classification("other", "low")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("FLOODRISKASSESSMENT DEC COVERED_PART1", "flood_risk_assessment"),
        ("SiteLocationPlan.pdf", "site_plan"),
        ("locationplan.pdf", "site_plan"),
        ("FRA2.pdf", "flood_risk_assessment"),
        ("NOISE AND VIBRATION ASSESSMENT", "noise_assessment"),
        ("ECOLOGICAL IMPACT ASSESSMENT COVERED_PART2", "ecology_report"),
        ("Tree contraints plan site1", "arboricultural_report"),
        ("existing front elev.pdf", "elevation"),
        ("BUILDING E - FLOORS ONE TO THREE PLAN", "floor_plan"),
        ("BLOCK A_LEVEL 102 & 103 PLAN", "floor_plan"),
        ("Design, Access and Heritage Statement.pdf", "design_access_statement"),
        ("Es - flood risk assessment", "flood_risk_assessment"),
        ("Es - socio economics", "environmental_statement"),
        ("Es - roof plan", "other"),
        ("1956.02.p1 Site location plan and site plan", "site_plan"),
        ("Archaelogy assessment", "heritage_statement"),
    ],
)
def test_names_as_real_registers_write_them(name: str, kind: str) -> None:
    assert CLASSIFIER.classify(name).document_type == kind


def test_a_name_counts_before_the_content() -> None:
    found = CLASSIFIER.classify(
        "Noise Assessment.pdf", "Flood Risk Assessment\n" + "flood zone surface water runoff " * 50
    )
    assert found == Classification("noise_assessment", "high")


def test_a_title_on_the_first_page_is_found_with_medium_confidence() -> None:
    text = (
        "Land north of the village\n\nTRANSPORT\nASSESSMENT\n\nOctober 2024\n" + "The site lies near a station. " * 100
    )
    assert CLASSIFIER.classify("doc_0042.pdf", text) == Classification("transport_assessment", "medium")


def test_the_topic_of_most_keywords_is_found_with_medium_confidence() -> None:
    text = "Introduction. " * 200 + "The flood zone and surface water runoff need attenuation. " * 5
    assert CLASSIFIER.classify("report.pdf", text) == Classification("flood_risk_assessment", "medium")


def test_a_letter_that_lists_its_enclosures_is_none_of_them() -> None:
    text = (
        "Please find enclosed: Planning Statement; Transport Assessment; Heritage Statement; Tree Survey; Floor Plans."
    )
    assert CLASSIFIER.classify("letter.pdf", text) == Classification("other", "low")


def test_a_drawing_is_found_by_its_title_block() -> None:
    assert CLASSIFIER.classify("A-101.pdf", "3.2m  4.1m  GROUND FLOOR PLAN  1:100 @ A1").document_type == "floor_plan"


@given(st.text(max_size=80), st.text(max_size=300))
def test_no_name_and_no_text_makes_it_fail(name: str, text: str) -> None:
    found = CLASSIFIER.classify(name, text)
    assert found.document_type in get_args(DocumentType)
    assert (found.confidence == "low") == (found.document_type == "other")


def test_real_names_are_classified_as_a_planning_officer_would(shared_data: Path) -> None:
    with (shared_data / "planning-application-document.csv").open(encoding="utf-8", newline="") as lines:
        names = [row["name"] for row in csv.DictReader(lines)]
    counts = Counter(CLASSIFIER.classify(name).document_type for name in names)
    assert len(names) == 1288
    assert dict(counts.most_common()) == REAL_NAMES
