"""Each rule of the filter with examples; the first that matches decides."""

from __future__ import annotations

import pytest

from trigpoint.demo.applications import sample_applications
from trigpoint.registers.filters import RULES, Wanted, judge
from trigpoint.registers.models import RegisterDocument

EXAMPLES = [
    # category, title, rule, kept by default
    ("Superseded Documents", "Transport Assessment", "superseded", False),
    ("Supporting Documents", "Travel Plan (SUPERSEDED)", "superseded", False),
    ("Application Forms", "App Form", "category allowed", True),
    ("Supporting Documents", "Ecological Appraisal", "category allowed", True),
    ("SITE PLANS", "Masterplan", "category allowed", True),
    ("Plans - Proposed", "Tree plan", "category allowed", True),
    ("Officer/Committee Consideration", "Report", "category allowed", True),
    ("Decision and Legal Agreements", "Deed", "category allowed", True),
    ("Planning Application Documents", "GMEU", "category allowed", True),
    ("Consultee Responses", "Oxfordshire County Council", "consultee category", False),
    ("Consultation Responses", "Transport Response to Consultees", "consultee category", False),
    ("Public Comments", "Garden Cottage", "public category", False),
    ("Correspondence", "Letter of objection", "public title", False),
    ("Correspondence", "Neighbour comments", "public title", False),
    ("Correspondence", "Petition", "public title", False),
    ("Correspondence", "Representation from a resident", "public title", False),
    ("Correspondence", "Thames Water Comments", "consultation title", False),
    ("Correspondence", "Consultee response - OCC", "consultation title", False),
    ("Correspondence", "Applicant's response to ATE comments", "otherwise", True),
    ("Correspondence", "Response to Consultees", "otherwise", True),
    ("Correspondence", "Reply to objections", "otherwise", True),
    ("Correspondence", "Rebuttal of objections", "otherwise", True),
    ("Correspondence", "Response to consultation responses", "otherwise", True),
    ("Correspondence", "Applicant's response to consultation", "otherwise", True),
    ("Correspondence", "Objection to applicant's response", "public title", False),
    ("Correspondence", "Neighbour's comments on applicant response", "public title", False),
    ("Correspondence", "Objector's response to applicant's rebuttal", "public title", False),
    ("Correspondence", "Resident reply to agent's response", "public title", False),
    ("Correspondence", "Thames Water response to consultation", "consultation title", False),
    ("Correspondence", "Comments on the applicant's response", "consultation title", False),
    ("Correspondence", "OCC response to applicant's comments", "consultation title", False),
    ("Further Information", "Transport response to OCC comments", "relevant title", True),
    ("Reports", "Transport Assessment Appendix F Flood route", "relevant title", True),
    ("Reports", "Design & Access Statement", "relevant title", True),
    ("Reports", "Planning Statement", "relevant title", True),
    ("Drawings", "Proposed floor plans", "relevant title", True),
    ("Reports", "Cycle_Infrastructure_Plan", "relevant title", True),
    ("Other", "Decision Notice", "relevant title", True),
    ("Reports", "Flood Risk Assessment", "unrelated title", False),
    ("Reports", "Noise and air quality", "unrelated title", False),
    ("Reports", "Arboricultural Survey", "unrelated title", False),
    ("Reports", "Energy Statement", "unrelated title", False),
    ("Reports", "Heritage Statement", "unrelated title", False),
    ("Reports", "Ground Contamination", "unrelated title", False),
    ("Reports", "Streets and treetops", "otherwise", True),  # whole words only
    ("Reports", "Batch of samples", "otherwise", True),
    ("Other", "Cover letter", "otherwise", True),
]


def document(category: str, title: str) -> RegisterDocument:
    return RegisterDocument("0" * 12, title, category, None, "https://x.example/d", None, "file.pdf", None)


@pytest.mark.parametrize(("category", "title", "rule", "kept"), EXAMPLES)
def test_rule(category: str, title: str, rule: str, kept: bool) -> None:
    verdict = judge(document(category, title))
    assert (verdict.rule, verdict.keep) == (rule, kept)
    assert verdict.reason


def test_every_rule_has_an_example() -> None:
    assert {rule.name for rule in RULES} | {"otherwise"} == {rule for _, _, rule, _ in EXAMPLES}


def test_toggles_admit_what_they_name_and_nothing_else() -> None:
    consultees, public = Wanted(consultation_responses=True), Wanted(public_comments=True)
    for category, title, rule, _ in EXAMPLES:
        one = document(category, title)
        if rule in ("consultee category", "consultation title"):
            assert judge(one, consultees).keep
            assert not judge(one, public).keep
        elif rule in ("public category", "public title"):
            assert judge(one, public).keep
            assert not judge(one, consultees).keep
        else:
            assert judge(one) == judge(one, Wanted(True, True))


def test_the_name_of_the_file_counts_as_title_too() -> None:
    one = RegisterDocument("0" * 12, "Appendix 4", "Reports", None, "https://x.example/d", None, "Bat_Survey.pdf", None)
    assert judge(one).rule == "unrelated title"


def test_the_sample_application_is_filtered_as_its_facts_say() -> None:
    sample = sample_applications()["25/01178/REM"]
    dropped = {
        one.file
        for one in sample.documents
        if not judge(RegisterDocument("0" * 12, one.description, one.section, None, "u", None, one.file, None)).keep
    }
    assert dropped == {
        "OCC Highways Response.pdf",
        "Active Travel England Response.pdf",
        "Thames Water Response.pdf",
        "From Mallards Way.pdf",
        "From Langford Village.pdf",
        "Ecological Appraisal.pdf",
        "Travel Plan Rev A.pdf",
    }
