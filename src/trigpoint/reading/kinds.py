"""Kinds of planning application, and how a register, a proposal, a reference or a document names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trigpoint.reading.documents import Source
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.statements import Statement

Kind = Literal[
    "full",
    "outline",
    "hybrid",
    "reserved matters",
    "householder",
    "change of use",
    "prior approval",
    "variation of conditions",
    "discharge of conditions",
    "listed building",
    "scoping",
    "appeal",
    "unknown",
]


def read_kind(
    application_type: str, reference: str, proposal: str, described: Sequence[tuple[Statement, Source]]
) -> tuple[Kind, Source | None]:
    """Return the kind of application: from its type, the proposal's words, its reference, then the documents."""
    kinds = [found for text in (application_type, proposal) if (found := kind_in(text)) is not None]
    if kinds:
        return (kinds[-1] if kinds[0] == "full" and _opens_with_change(proposal) else kinds[0]), None
    suffixes = [part for part in reference.upper().replace("-", "/").split("/") if part in _SUFFIXES]
    if suffixes:
        return _SUFFIXES[suffixes[-1]], None
    for statement, source in described:
        if (found := kind_in(statement.text)) is not None:
            return found, source
    return ("full", None) if proposal else ("unknown", None)


def _opens_with_change(proposal: str) -> bool:
    """Return whether a full application is one for a change of use first of all."""
    return proposal.lower().startswith(("change of use", "conversion of"))


def kind_in(text: str) -> Kind | None:
    """Return the kind of application that a text names, None if it names none."""
    found = _KINDS.tag_text(text)
    return next((kind for kind in _KIND_ORDER if kind in found), None)


_KINDS = Lexicon(
    {
        "scoping": "scoping",
        "discharge of conditions": "discharge_of_condition discharge_of_conditions approval_of_details details_pursuant "
        "compliance_with_condition* submission_of_details",
        "variation of conditions": "variation_of_condition* section_73 removal_of_condition* non_material_amendment s_73 vary",
        "reserved matters": "reserved_matters_application reserved_matters_pursuant approval_of_reserved "
        "reserved_matters_for reserved_matters_following application_for_reserved",
        "hybrid": "hybrid hybrid_application",
        "outline": "outline",
        "prior approval": "prior_approval prior_notification",
        "listed building": "listed_building_consent",
        "householder": "householder rear_extension side_extension loft_conversion dormer* conservatory porch "
        "two_storey_extension single_storey_extension single_storey_rear first_floor_extension garage_conversion "
        "two_storey_side single_storey_side two_storey_rear domestic_garage",
        "change of use": "change_of_use conversion_of convert*",
        "full": "full_planning full_application planning_permission full",
        "appeal": "appeal",
    }
)
_KIND_ORDER: tuple[Kind, ...] = (
    "scoping",
    "discharge of conditions",
    "variation of conditions",
    "reserved matters",
    "hybrid",
    "outline",
    "prior approval",
    "listed building",
    "householder",
    "change of use",
    "full",
)
_SUFFIXES: dict[str, Kind] = {
    **dict.fromkeys(("OP", "OUT", "OL", "O", "OUTM"), "outline"),
    **dict.fromkeys(("FUL", "F", "FULL", "FULEIA", "FULM", "FPM", "FP"), "full"),
    **dict.fromkeys(("HH", "HHF", "HOU", "HSE", "HPA", "HOUSE", "HFUL", "FHA"), "householder"),
    **dict.fromkeys(("RM", "REM", "RES", "REMM", "DFO"), "reserved matters"),
    **dict.fromkeys(("SO", "SCO", "SCOP"), "scoping"),
    **dict.fromkeys(("DISC", "DOC", "CND", "DIS"), "discharge of conditions"),
    **dict.fromkeys(("VAR", "S73", "VC", "NMA"), "variation of conditions"),
    **dict.fromkeys(("COU", "CU"), "change of use"),
    **dict.fromkeys(("LB", "LBC"), "listed building"),
    **dict.fromkeys(("PN", "PD", "PRIOR"), "prior approval"),
}
