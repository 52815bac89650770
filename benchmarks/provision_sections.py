"""Which sections of the NPPF state each provision, by our own reading: the answers that the search is measured against.

In order: September 2023, December 2023, December 2024, August 2026. Several sections are all right; none means that the
revision does not state the provision. The third and fourth columns were read in the official texts; a third party's
table of what became of the paragraphs of December 2024 agrees with them. The first two follow the digests' numbering.
"""

from __future__ import annotations

REVISIONS = ("September 2023", "December 2023", "December 2024", "August 2026")

_SECTIONS = {
    "transport_considered_early": ("104", "108", "109", "TR1"),
    "vision_led_approach": ("", "", "109", "TR1"),
    "movement_integral_to_design": ("104", "108", "109", "TR4"),
    "environmental_impact_of_traffic": ("104", "108", "109", "TR3"),
    "genuine_choice_of_modes": ("105", "109", "110", "TR3"),
    "mix_of_uses": ("106", "110", "111", "TR1"),
    "routes_safeguarded": ("106", "110", "111", "TR1"),
    "walking_cycling_networks": ("106", "110", "111", "TR1"),
    "secure_cycle_parking": ("106", "110", "111", "TR4"),
    "local_parking_standards": ("107", "111", "112", "TR2"),
    "maximum_parking_standards": ("108", "112", "113", "TR2"),
    "sustainable_modes_prioritised": ("110", "114", "115", "DP3 TR3 TR4"),
    "safe_and_suitable_access": ("110", "114", "115", "TR4"),
    "national_design_guidance": ("110", "114", "115", "TR4"),
    "impacts_mitigated": ("110", "114", "115", "TR3"),
    "highway_refusal_test": ("111", "115", "116", "TR6"),
    "reasonable_future_scenarios": ("", "", "116", "TR6"),
    "priority_walking_cycling": ("112", "116", "117", "TR4"),
    "public_transport_access": ("112", "116", "117", "TR4"),
    "needs_of_disabled_people": ("112", "116", "117", "TR4"),
    "minimise_conflict": ("112", "116", "117", "TR4"),
    "efficient_delivery": ("112", "116", "117", "TR4"),
    "electric_vehicle_charging": ("112", "116", "117", "TR4"),
    "travel_plan": ("113", "117", "118", "TR6"),
    "transport_assessment": ("113", "117", "118", "TR6"),
    "public_rights_of_way": ("100", "104", "105", "TR8"),
    "conditions_tests": ("56", "56", "57", "DM6"),
    "pre_commencement_conditions": ("56", "56", "57", "DM6"),
    "obligations_tests": ("57", "57", "58", ""),
    "obligations_or_conditions": ("55", "55", "56", "DM6"),
    "healthy_inclusive_places": ("92", "96", "96", "HC1 DP3"),
    "legible_routes": ("92", "96", "96", "DP3"),
    "design_codes": ("128", "133", "133", "DP2"),
    "sense_of_place": ("130", "135", "135", "DP3"),
    "safe_inclusive_accessible": ("130", "135", "135", "DP3"),
    "street_trees": ("131", "136", "136", "N3"),
    "poor_design_refused": ("134", "139", "139", "DP3"),
}


def right_sections(provision_id: str, revision: str) -> frozenset[str]:
    """Return the sections of a revision that state a provision."""
    numbers = _SECTIONS[provision_id][REVISIONS.index(revision)].split()
    return frozenset(f"Policy {n}" if n[0].isalpha() else f"Para {n}" for n in numbers)


def provision_ids() -> list[str]:
    return list(_SECTIONS)
