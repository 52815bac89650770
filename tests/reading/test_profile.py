"""The profile tells what is built, how large, and what kind of application it is."""

from __future__ import annotations

import pytest

from trigpoint.reading.documents import Document
from trigpoint.reading.profile import Application, Profile, read_profile
from trigpoint.reading.uses import read_uses


def profile_of(proposal: str, reference: str = "") -> Profile:
    return read_profile(Application(reference=reference, proposal=proposal), ())


def sizes(profile: Profile) -> list[tuple[str, float | None, str]]:
    return [(one.use, one.size, one.unit) for one in profile.uses]


@pytest.mark.parametrize(
    ("proposal", "kind", "scale"),
    [
        ("Erection of two storey side extension and loft conversion", "householder", "householder"),
        ("Conversion of barn to form one dwelling with associated parking", "change of use", "minor"),
        ("Outline application for up to 85 dwellings with all matters reserved except access", "outline", "major"),
        ("Erection of 9 dwellings with garages", "full", "minor"),
        ("Erection of a warehouse (Class B8) of 12,500 sqm", "full", "major"),
        ("Discharge of condition 7 (cycle parking) of 22/1234/FUL", "discharge of conditions", "unknown"),
        ("Request for scoping opinion for up to 520 homes", "scoping", "major"),
    ],
)
def test_kind_and_scale_follow_the_proposal(proposal: str, kind: str, scale: str) -> None:
    profile = profile_of(proposal)
    assert (profile.kind, profile.scale) == (kind, scale)


def test_each_use_has_its_own_size() -> None:
    profile = profile_of("Warehouse of 12,500 sqm with ancillary offices (1,200 sqm), café and a 60 bed care home")
    assert sizes(profile) == [
        ("storage", 12500, "m2"),
        ("office", 1200, "m2"),
        ("care_home", 60, "bed"),
        ("food", None, ""),
    ]


def test_homes_are_known_by_bedrooms() -> None:
    profile = profile_of("Erection of 24 dwellings (10 x 2 bed and 14 x 3 bed)")
    assert profile.dwellings == 24
    assert [(one.bedrooms, one.size) for one in profile.uses] == [(None, 24), (2, 10), (3, 14)]


def test_what_is_demolished_or_left_is_not_built() -> None:
    assert not profile_of("Change of use from shop to a house in multiple occupation").has("retail")
    assert sizes(profile_of("Demolition of the existing offices and erection of 6 flats")) == [
        ("dwellings", 6, "dwelling")
    ]


def test_the_reference_tells_the_kind_if_nothing_else_does() -> None:
    assert profile_of("Erection of 3 dwellings", "UTT/25/3011/OP").kind == "outline"


def test_documents_that_disagree_on_the_number_of_homes_are_found() -> None:
    one = Document(id="a", name="a.pdf", text="The application seeks planning permission for 84 dwellings.")
    other = Document(id="b", name="b.pdf", text="Planning permission is sought for 87 dwellings with access.")
    same = Document(
        id="c", name="c.pdf", text="Permission is sought for 84 dwellings, of which 30 are affordable homes."
    )
    assert read_profile(Application(), (one, same)).disagreements == ()
    found = read_profile(Application(), (one, other)).disagreements
    assert [[size.size for size in each.sizes] for each in found] == [[84, 87]]
    assert found[0].sizes[1].source is not None
    assert found[0].sizes[1].source.document == "b.pdf"


def _applicants(name: str, text: str) -> Document:
    return Document(id=name, name=f"{name}.pdf", text=text)


def test_a_class_of_learning_institutions_is_no_school() -> None:
    text = "Full planning permission is sought for a pavilion for cultural and learning use (Class F1) and offices."
    assert not read_profile(Application(), (_applicants("statement", text),)).has("school")


def test_sizes_are_read_from_sentences_and_tables_of_the_whole_scheme() -> None:
    text = (
        "The school will have a capacity of 420 pupils and 38 full-time staff.\n\n| Use | GIA (sq m) |\n|---|---|\n"
        "| Sports hall | 690 |\n| Offices | 1,240 |\n"
    )
    found = {
        (one.use, one.unit): one.size for one in read_profile(Application(), (_applicants("statement", text),)).uses
    }
    assert found["school", "pupil"] == 420
    assert found["office", "m2"] == 1_240


def test_an_addendum_changes_the_number_of_homes() -> None:
    proposal = Application(proposal="Erection of 142 dwellings")
    addendum = _applicants("Transport Addendum", "The application is now for 138 dwellings.")
    assert read_profile(proposal, (addendum,)).dwellings == 138


def test_a_large_site_without_homes_is_major() -> None:
    school = Application(proposal="Erection of a primary school")
    text = "The site extends to {} hectares of arable land."
    assert read_profile(school, (_applicants("statement", text.format(2.4)),)).scale == "major"
    assert read_profile(school, (_applicants("statement", text.format(0.4)),)).scale == "unknown"


def test_a_householder_application_is_one_for_a_dwelling() -> None:
    profile = read_profile(Application(proposal="Two storey side extension"), ())
    assert (profile.kind, profile.has("dwellings")) == ("householder", True)


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ("The proposal is for 144 dwellings, a local centre of about 650 sqm and open space.", "other"),
        ("20 dwellings with a total floor area of 650 sqm", "dwellings"),
        ("144 dwellings and 650 sqm of offices", "office"),
    ],
)
def test_a_floor_area_belongs_to_what_is_named_with_it(text: str, use: str) -> None:
    assert [name for name, size in read_uses(text) if size is not None and size.unit == "m2"] == [use]
