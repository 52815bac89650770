"""One thing is known by many phrasings, and figures of other things are never taken for it."""

from __future__ import annotations

import pytest

from trigpoint.reading.contradictions import find_discrepancies
from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import read_facts
from trigpoint.reading.profile import Application, read_profile
from trigpoint.reading.statements import document_statements
from trigpoint.reading.vocabulary import SourceKind

THING = dict[str, tuple[str, ...]]


def discrepancies(*documents: tuple[str, str, SourceKind]) -> list[Discrepancy]:
    read = [Document(id=name, name=f"{name}.pdf", text=text, source_kind=kind) for name, text, kind in documents]
    statements = [one for document in read for one in document_statements(document)]
    profile = read_profile(Application(), read)
    return list(find_discrepancies(read_facts(statements, profile, read), profile, statements, read))


def between(one: str, other: str) -> list[Discrepancy]:
    return discrepancies(("Planning Statement", one, "applicant"), ("Transport Assessment", other, "applicant"))


SAME: THING = {
    "cycle_parking": (
        "A total of {} cycle parking spaces will be provided.",
        "The scheme includes secure cycle storage for {} bicycles.",
        "Cycle parking provision amounts to {} spaces.",
        "Provision is made for {} cycles.",
    ),
    "car_parking": (
        "A total of {} car parking spaces are proposed.",
        "The site will have parking for {} cars.",
        "Parking provision totals {} spaces.",
    ),
    "development": (
        "The proposal is for {} dwellings.",
        "The scheme will deliver {} homes.",
        "Planning permission is sought for {} residential units.",
    ),
    "rail": (
        "Oakley railway station is {}m from the site.",
        "The site is {}m from Oakley railway station.",
        "Oakley Station lies {} metres to the south.",
    ),
    "traffic": (
        "Mill Lane carries {},000 vehicles per day.",
        "The survey recorded an average daily flow of {},000 vehicles on Mill Lane.",
        "Mill Lane has an AADT of {},000.",
    ),
    "trips": (
        "The development would generate {} two-way vehicle trips in the AM peak hour.",
        "It is predicted that there would be {} vehicle trips in the weekday morning peak.",
    ),
    "offsite": (
        "A contribution of £{},000 will be made towards the Riverside Greenway.",
        "The Section 106 agreement will secure £{},000 for the Riverside Greenway.",
    ),
}
PHRASINGS = [(family, one) for family, phrasings in SAME.items() for one in phrasings[1:]]


@pytest.mark.parametrize(("family", "phrasing"), PHRASINGS)
def test_two_figures_for_one_thing_differ_however_they_are_phrased(family: str, phrasing: str) -> None:
    first = SAME[family][0]
    (found,) = between(first.format(124), phrasing.format(162))
    assert found.topic.startswith(family)
    assert [one.value for one in found.inputs] in ([124, 162], [124_000, 162_000])
    assert between(first.format(124), phrasing.format(124)) == []


SCHEME = (
    "The development comprises 86 dwellings and will provide 172 cycle parking spaces and 140 car parking spaces. Oakley railway "
    "station is 1.4km from the site and the nearest bus stop is 250m away. Mill Lane carries 6,200 vehicles per day and is subject "
    "to a 30mph speed limit. A 3.0m wide shared path will be constructed along Mill Lane. The development would generate 54 "
    "two-way vehicle trips in the AM peak hour. The Travel Plan sets a target of 12% cycling mode share. A contribution of £85,000 "
    "will be made towards the Riverside Greenway. A Travel Plan Coordinator will be appointed for five years. A toucan crossing "
    "will be provided on Mill Lane."
)


@pytest.mark.parametrize(
    "other",
    [
        "The neighbouring scheme at Brook Farm will provide 150 cycle parking spaces.",
        "Of these, 120 cycle parking spaces are in garages.",
        "Oakley station has 150 cycle parking spaces.",
        "At the hospital, 150 cycle parking spaces were provided in 2019.",
        "The apartments have 72 cycle spaces in a communal store.",
        "The standard would require 160 cycle parking spaces.",
        "The first phase will have 90 cycle parking spaces.",
        "Electric vehicle charging is provided to 100 parking spaces.",
        "A car park of 130 spaces serves the allotments at Brook End.",
        "Phase 1 comprises 70 dwellings.",
        "Planning permission was granted in 2019 for 95 dwellings.",
        "Oakley station is 1.2km from the town centre.",
        "The bus stop on High Street is 600m away and is served by route 9.",
        "Mill Lane carried 5,000 vehicles per day in 2005.",
        "With the development Mill Lane would carry 6,900 vehicles per day.",
        "The limit on Mill Lane will be reduced to 20mph.",
        "South of the bridge Mill Lane is subject to a 40mph speed limit.",
        "A 2.0m wide footway will be provided on Mill Lane.",
        "The path narrows to 2.0m at the bridge on Mill Lane.",
        "There would be 20 arrivals and 34 departures in the AM peak hour.",
        "Committed development would generate 120 two-way vehicle trips in the AM peak hour.",
        "The interim target for year 3 is 8% cycling.",
        "The Riverside Greenway will cost £1.2 million to complete.",
        "Monitoring will continue for three years.",
        "A zebra crossing was considered on Mill Lane and rejected.",
    ],
)
def test_a_figure_of_another_thing_is_not_compared_with_the_schemes(other: str) -> None:
    assert between(SCHEME, other) == []


def test_groups_of_users_are_compared_with_themselves_only() -> None:
    table = (
        "Cycle parking\n\n| User | Proposed |\n|---|---|\n| Pupils | {pupils} |\n| Staff | 20 |\n| Total | {total} |\n"
    )
    other = table.format(pupils=150, total=170).replace("Staff | 20", "Staff | 20")
    found = between(table.format(pupils=180, total=200), other)
    assert sorted(tuple(one.value for one in each.inputs) for each in found) == [(180, 150), (200, 170)]


def test_a_limit_is_contradicted_only_by_what_goes_beyond_it() -> None:
    more = "There will be more than 120 cycle parking spaces."
    assert between(more, "A total of 130 cycle parking spaces is proposed.") == []
    assert len(between(more, "A total of 114 cycle parking spaces is proposed.")) == 1


def test_what_an_addendum_changes_is_no_contradiction_unless_the_others_disagree() -> None:
    statement = ("Planning Statement", "A total of 92 car parking spaces is proposed.", "applicant")
    addendum = ("Transport Addendum", "Car parking falls from 92 to 78 spaces.", "applicant")
    assessment = ("Transport Assessment", "A total of 86 car parking spaces is proposed.", "applicant")
    assert discrepancies(statement, addendum) == []
    (found,) = discrepancies(statement, assessment, addendum)
    assert {one.value for one in found.inputs} == {92, 86, 78}


ASSESSMENT = "The scheme has 302 long-stay cycle parking spaces for the offices at Quay House. The path is 2.5m wide."
STATEMENT = "There are 312 long-stay cycle parking spaces for the offices at Quay House. The path is 3.0m wide."


@pytest.mark.parametrize(
    "letter",
    [
        "The Planning Statement says 312 spaces and the TA 302.",
        "The TA and the Planning Statement give different numbers of cycle spaces (302 and 312).",
        "The cycle parking is 312 spaces, not the 302 in the TA.",
        "The number of cycle spaces is given variously as 302 and 312.",
    ],
)
def test_a_difference_that_a_letter_points_out_is_reported_from_the_documents_themselves(letter: str) -> None:
    documents = [
        ("Planning Statement", STATEMENT, "applicant"),
        ("Transport Assessment", ASSESSMENT, "applicant"),
        ("Highways response", f"Thank you for consulting us.\n\n{letter}", "consultee"),
    ]
    found = [one for one in discrepancies(*documents) if one.topic.startswith("cycle_parking")]  # type: ignore[arg-type]
    assert len(found) == 1
    assert {one.value for one in found[0].inputs} >= {302, 312}
    assert {one.source.document for one in found[0].inputs} >= {"Planning Statement.pdf", "Transport Assessment.pdf"}


@pytest.mark.parametrize(
    "letter",
    [
        "The Transport Assessment proposes 302 cycle spaces whereas the standard is 319 spaces.",
        "The Transport Assessment shows 302 spaces, not the 330 we asked for.",
        "The TA says 302 spaces and the Planning Statement 450.",
        "Of the 302 spaces in the TA only 15 are for larger cycles.",
    ],
)
def test_what_a_letter_says_counts_only_if_the_documents_bear_it_out(letter: str) -> None:
    documents = [
        ("Planning Statement", "The standard requires 319 cycle parking spaces.", "applicant"),
        ("Transport Assessment", ASSESSMENT, "applicant"),
        ("Highways response", f"Thank you for consulting us.\n\n{letter}", "consultee"),
    ]
    assert discrepancies(*documents) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "topic"),
    [
        (
            "A zebra crossing will be provided on Mill Lane. The site is on Mill Lane, near Mill Lane Farm.",
            "A toucan crossing is proposed on Mill Lane. The lane is called Mill Lane.",
            "junction.crossing",
        ),
        (
            "A new route to the Quayside will be open at all hours. People reach the Quayside on foot.",
            "The gates to the Quayside will be closed between 23:00 and 07:00. It leads to the Quayside.",
            "permeability.link",
        ),
    ],
)
def test_one_thing_described_in_two_ways_that_exclude_each_other_is_found(one: str, other: str, topic: str) -> None:
    (found,) = between(one, other)
    assert (found.kind, found.topic) == ("words_differ", topic)
    assert len(found.inputs) == 2
