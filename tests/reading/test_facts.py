"""Facts tell provision from policy, the existing, requests and hedges, and stay unsure when signs disagree."""

from __future__ import annotations

import pytest

from trigpoint.reading.documents import Document
from trigpoint.reading.facts import Fact, read_facts
from trigpoint.reading.profile import Profile
from trigpoint.reading.sources import source_kind_of
from trigpoint.reading.statements import document_statements
from trigpoint.reading.vocabulary import SourceKind


def facts_of(text: str, source_kind: SourceKind = "applicant", name: str = "Planning Statement.pdf") -> list[Fact]:
    document = Document(id="d1", name=name, text=text, source_kind=source_kind)
    return list(read_facts(document_statements(document), Profile(), (document,)))


def only(text: str, source_kind: SourceKind = "applicant") -> Fact:
    return facts_of(text, source_kind)[0]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("The development will provide 84 cycle parking spaces in two secure stores.", "proposed"),
        ("Policy TR4 requires one cycle parking space per bedroom.", "policy"),
        ("2. EXISTING CONDITIONS\n\n2.1 The nearest bus stop is located 250 m east of the site.", "existing"),
        (
            "CONDITIONS\n\n1. No dwelling shall be occupied until details of cycle parking have been approved in writing.",
            "deferred",
        ),
    ],
)
def test_a_plain_statement_is_certain(text: str, status: str) -> None:
    fact = only(text)
    assert (fact.status, fact.is_certain) == (status, True)


@pytest.mark.parametrize(
    "text",
    [
        "The development will provide 84 cycle parking spaces, subject to the detailed design of the basement.",
        "The development could provide a cycle route to the station.",
        "The development will not provide cycle parking for visitors.",
        "84 cycle parking spaces.",
    ],
)
def test_a_hedged_denied_or_bare_statement_is_no_provision(text: str) -> None:
    assert not any(fact.is_provision for fact in facts_of(text))


def test_a_consultees_letter_asks() -> None:
    fact = only("The applicant should provide a cycle route to the school.", "consultee")
    assert (fact.status, fact.speaker) == ("requested", "consultee")


def test_a_figure_goes_to_the_topic_that_it_measures() -> None:
    facts = {fact.topic: fact for fact in facts_of("The scheme will provide 40 long-stay cycle parking spaces.")}
    quantity = facts["cycle_parking.long_stay"].quantities[0]
    assert (quantity.value, quantity.unit) == (40, "cycle space")


def test_a_superseded_document_is_history() -> None:
    facts = facts_of("Travel Plan (superseded)\n\nThe development will provide 84 cycle parking spaces.")
    assert {fact.status for fact in facts} == {"historic"}


@pytest.mark.parametrize(
    "text",
    [
        "A new crossing will be delivered by the adjacent Taylor Farm development.",
        "A new crossing will be provided under application 21/01234/OUT.",
        "Should the target be missed, the school will provide 20 more cycle parking spaces.",
        "All proposals will provide secure cycle parking.",
        "The proposal should provide secure cycle parking.",
        "The applicant will provide a cycle store but has declined to provide a cycle route.",
    ],
)
def test_others_schemes_suppositions_rules_and_refusals_are_no_certain_provision(text: str) -> None:
    assert not any(fact.is_provision for fact in facts_of(text))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("OCC Highways Response.pdf", "The route should be widened.", "consultee"),
        ("Consultation Responses.pdf", "The route should be widened.", "consultee"),
        ("Response to OCC Comments.pdf", "The route will be widened.", "applicant"),
        ("Officer Report.pdf", "1. The site lies east of the road.", "council"),
        ("letter.pdf", "I strongly object to this application.", "public"),
        ("Transport Assessment.pdf", "The route will be widened.", "applicant"),
    ],
)
def test_a_documents_author_is_told_by_its_name_and_words(name: str, text: str, kind: str) -> None:
    assert source_kind_of(name, text) == kind


def test_a_life_cycle_is_no_cycle() -> None:
    assert not facts_of("A whole life cycle carbon assessment has been prepared.")


def test_a_fact_is_the_same_after_json() -> None:
    fact = only("The development will provide 84 cycle parking spaces.")
    assert Fact.model_validate_json(fact.model_dump_json()) == fact


def test_the_same_documents_give_the_same_bytes() -> None:
    text = "The scheme will provide 40 cycle spaces. Policy T5 requires 60 spaces. Bus stops are located 200 m away."
    assert [one.model_dump_json() for one in facts_of(text)] == [one.model_dump_json() for one in facts_of(text)]
