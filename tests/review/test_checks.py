"""The checks are data: they fit their schema, rest on provisions, and name no place and no phrase of a sample."""

from __future__ import annotations

import inspect
import re
from importlib import resources

import pytest
import yaml
from pydantic import ValidationError
from review_samples import digest_passages, placed_provisions

from trigpoint.demo.applications import sample_applications
from trigpoint.policies.provisions import provision_by_id
from trigpoint.reading import topics
from trigpoint.reading.kinds import Kind
from trigpoint.reading.lexicon import CLASSES
from trigpoint.reading.profile import Application, Profile, Scale, UseSize, read_profile
from trigpoint.reading.uses import Use
from trigpoint.reading.vocabulary import ASPECTS, TOPICS, aspects_of
from trigpoint.review.agent.plan import GROUPS
from trigpoint.review.aspects import Aspect, Check, load_aspects
from trigpoint.review.evidence import readable_ref
from trigpoint.review.models import FOCUS_AREAS, ReviewOptions
from trigpoint.review.proportion import demanding, disproportionate
from trigpoint.review.standards import Standard, load_standards, standard_for
from trigpoint.review.verify import unsupported

CHECKS = [(aspect, check) for aspect in load_aspects() for check in aspect.checks]
EVERY = pytest.mark.parametrize(("aspect", "check"), CHECKS, ids=[f"{a.id}.{c.id}" for a, c in CHECKS])


def _text(name: str) -> str:
    return (resources.files("trigpoint.review") / "checks" / f"{name}.yaml").read_text(encoding="utf-8")


def _profile(*uses: Use, kind: Kind = "full", scale: Scale = "major", size: float | None = None) -> Profile:
    return Profile(kind=kind, scale=scale, uses=tuple(UseSize(use=use, size=size, unit="m2") for use in uses))


def test_the_ten_aspects_are_the_focus_areas() -> None:
    assert [aspect.id for aspect in load_aspects()] == list(FOCUS_AREAS)
    assert [aspect.name for aspect in load_aspects() if aspect.core] == [
        "Cycle Parking",
        "Cycle Routes",
        "Junctions",
        "Permeability",
    ]


def test_every_topic_has_words_or_a_rule_to_find_it() -> None:
    rules = inspect.getsource(topics)
    assert [topic for topic in TOPICS if topic not in CLASSES and f'"{topic}"' not in rules] == []


def test_every_topic_of_an_aspect_belongs_to_a_check() -> None:
    for aspect in load_aspects():
        asked = {topic for check in aspect.checks for topic in check.topics}
        main = {topic for topic in TOPICS if aspects_of(topic)[:1] == (aspect.id,)}
        assert main <= asked, aspect.id


@EVERY
def test_figures_in_the_words_of_a_check_are_in_the_policy_it_rests_on(aspect: Aspect, check: Check) -> None:
    passages = digest_passages("2025-06-01")
    provisions = [provision_by_id()[name] for name in check.provisions]
    texts = [f"{p.requires} {' '.join(p.phrasings)}" for p in provisions]
    texts += [
        passages[one.passage.id].text for name in check.provisions for one in placed_provisions("2025-06-01")[name]
    ]
    for text in (check.words.met, check.words.partly, check.words.failed):
        assert not unsupported((text or "").format(value="", standard=""), [*texts, check.requirement])


def test_no_check_names_a_place_of_a_sample() -> None:
    words = " ".join(_text(area) for area in FOCUS_AREAS)
    places = {
        word for one in sample_applications().values() for word in re.findall(r"[A-Z][a-z]{4,}", one.address or "")
    }
    assert len(places) > 5
    assert not {place for place in places if re.search(rf"\b{place}\b", words)}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"checks": []}, "at least 1 item"),
        ({"surprise": 1}, "Extra inputs"),
        ({"id": "parking"}, "Input should be"),
        ({"asks": ["no_such_provision"]}, "there is no provision 'no_such_provision'"),
        ({"id": "permeability"}, "topics of another aspect"),
    ],
)
def test_a_file_that_does_not_fit_the_schema_is_refused(change: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Aspect.model_validate(yaml.safe_load(_text("junctions")) | change)


def test_a_check_that_is_judged_must_have_words_for_it() -> None:
    data = yaml.safe_load(_text("travel_planning"))
    del data["checks"][0]["words"]["met"]
    with pytest.raises(ValidationError, match=r"lacks words\.met"):
        Aspect.model_validate(data)


@pytest.mark.parametrize("kind", ["householder", "scoping", "listed building"])
def test_nothing_is_asked_of_a_householder_or_of_a_scoping_opinion(kind: Kind) -> None:
    profile = _profile("dwellings", kind=kind, scale="householder" if kind == "householder" else "major")
    assert {aspect.fits(check, profile) for aspect, check in CHECKS} == {"no"}


def test_a_small_scheme_is_asked_for_safe_access_a_way_on_foot_and_cycle_stores_and_for_nothing_else() -> None:
    profile = _profile("dwellings", kind="change of use", scale="minor")
    asked = {f"{aspect.id}.{check.id}" for aspect, check in CHECKS if aspect.fits(check, profile) != "no"}
    assert asked == {
        "cycle_parking.long_stay",
        "cycle_parking.short_stay",
        "cycle_parking.quality",
        "junctions.access",
        "permeability.way_on_foot",
    }
    shown = {name for aspect in load_aspects() for name in aspect.asks if aspect.asks_for(name, profile)}
    assert {"safe_and_suitable_access", "priority_walking_cycling", "cycle_parking_rates"} <= shown
    assert not shown & {"travel_plan", "public_transport_access", "crossing_suitability", "refuge_depth"}


def test_a_large_scheme_is_not_asked_what_is_meant_for_small_ones() -> None:
    profile = _profile("dwellings", kind="full", scale="major")
    asked = {f"{aspect.id}.{check.id}" for aspect, check in CHECKS if aspect.fits(check, profile) != "no"}
    assert not asked & {"junctions.access", "permeability.way_on_foot"}
    assert {"junctions.crossings", "travel_planning.plan", "cycle_parking.larger_cycles"} <= asked


@pytest.mark.parametrize(
    ("proposal", "application_type", "scale"),
    [
        ("Conversion of barn to dwelling", "Full planning permission", "minor"),
        ("Barn conversion to create a single dwelling", "Full", "minor"),
        ("Erection of a detached dwelling and garage", "", "minor"),
        ("Erection of two storey side extension, loft conversion", "Full planning application", "householder"),
        ("Single storey rear extension to dwelling", "Full planning application", "householder"),
        ("Erection of dwellings", "", "unknown"),
        ("Demolition of house and erection of flats", "", "unknown"),
        ("Single storey rear extension to school", "Full planning application", "unknown"),
    ],
)
def test_one_home_and_an_extension_of_a_house_are_never_taken_for_a_major_scheme(
    proposal: str, application_type: str, scale: str
) -> None:
    profile = read_profile(Application(proposal=proposal, application_type=application_type), ())
    assert profile.scale == scale
    if scale != "unknown":
        plans = [
            check for aspect, check in CHECKS if aspect.id == "travel_planning" and aspect.fits(check, profile) != "no"
        ]
        assert not plans


@pytest.mark.parametrize(
    "demand",
    [
        "Submit a travel plan with a coordinator before first occupation",
        "Fund a bus service every 30 minutes to the village",
        "Build a signal-controlled crossing of Tithe Lane",
        "Provide a toucan crossing at the access",
    ],
)
@pytest.mark.parametrize("scale", ["minor", "householder"])
def test_no_travel_plan_bus_service_or_signal_crossing_is_demanded_of_a_small_scheme(demand: str, scale: Scale) -> None:
    assert disproportionate(demand, _profile("dwellings", kind="full", scale=scale))
    assert disproportionate(demand, _profile("dwellings", kind="full", scale="major")) is None
    assert demanding(f"The bus service is limited. The applicant should {demand}.").startswith("The applicant")
    assert (
        disproportionate("Widen the footway on Tithe Lane to 2.0 m", _profile("dwellings", kind="full", scale=scale))
        is None
    )


def test_showers_are_asked_of_workplaces_and_routes_to_school_of_homes() -> None:
    def asked(profile: Profile) -> set[str]:
        return {check.id for aspect, check in CHECKS if aspect.fits(check, profile) == "yes"}

    assert "facilities" in asked(_profile("office")) - asked(_profile("dwellings"))
    assert "schools" in asked(_profile("dwellings")) - asked(_profile("office"))


def test_what_the_profile_does_not_tell_is_unknown_and_not_asked() -> None:
    aspect = next(one for one in load_aspects() if one.id == "travel_planning")
    assert aspect.fits(aspect.checks[0], Profile()) == "unknown"


@pytest.mark.parametrize(
    ("use", "size", "long_stay", "short_stay"),
    [
        ("office", 5000, "1 per 200 m2", "1 per 1,000 m2"),
        ("storage", 5000, "1 per 500 m2", "1 per 1,000 m2"),
        ("care_home", 50, "0.05 per bedroom", "0.05 per dwelling"),
    ],
)
def test_the_national_rates_of_cycle_parking_by_use(use: Use, size: int, long_stay: str, short_stay: str) -> None:
    profile = _profile(use, size=size)
    for name, words in (("cycle_parking_long_stay", long_stay), ("cycle_parking_short_stay", short_stay)):
        chosen = standard_for(name, profile, {"LTN_1_20"})  # type: ignore[arg-type]
        assert chosen is not None
        assert [rate.words for rate in chosen[1]] == [words]


def test_every_use_of_the_national_table_has_a_rate() -> None:
    uses = {rate.use for rate in load_standards()[0].rates}
    assert uses == {"dwellings", "care_home", "retail", "office", "industrial", "storage", "leisure", "community"} | {
        "health",
        "school",
        "college",
    }


def test_the_rates_are_those_of_the_policy_that_they_name() -> None:
    table = next(p.text for p in digest_passages("2025-06-01").values() if p.section_ref == "Table 11-1")
    for rate in load_standards()[0].rates:
        assert not unsupported(rate.words, [table]), rate


def test_a_local_standard_comes_before_the_national_one_where_its_policy_is_in_force() -> None:
    rate = {"name": "cycle_parking_long_stay", "use": "office", "count": 1, "of": 75, "unit": "m2"}
    local = [Standard(source="HEREFORD_SPD", section="Table 1", rates=[rate])]  # type: ignore[list-item]
    for use, in_force, source in (
        ("office", {"LTN_1_20", "HEREFORD_SPD"}, "HEREFORD_SPD"),
        ("office", {"LTN_1_20"}, "LTN_1_20"),
        ("school", {"LTN_1_20", "HEREFORD_SPD"}, "LTN_1_20"),
    ):
        chosen = standard_for("cycle_parking_long_stay", _profile(use), in_force, local)
        assert chosen is not None
        assert chosen[0].source == source
    assert standard_for("cycle_parking_long_stay", _profile("office"), set(), local) is None


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


def test_every_aspect_is_judged_in_one_group_by_a_model() -> None:
    assert sorted(area for group in GROUPS for area in group) == sorted(ASPECTS)
