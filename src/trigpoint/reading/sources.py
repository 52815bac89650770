"""Who speaks in a document: decided from its type, its name and the words on its first pages."""

from __future__ import annotations

from typing import Literal

from trigpoint.reading.documents import Document
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.vocabulary import SourceKind, Speaker
from trigpoint.text.letters import LetterWriter, is_applicants_paper, letter_writer

Genre = Literal["application", "consultee letter", "representation", "committee report", "appeal decision"]

_FIRST_WORDS = 6_000  # characters that show who wrote a document
_TITLE = 400  # characters in which a document says what it is
_FEW_PAGES = 25_000  # characters: a letter is shorter

_NAMES = Lexicon(
    {
        "reply": "response_to reply_to applicant's_response applicant_response rebuttal",
        "consultee": "response responses consultee consultees consultations comments_from memo advice_note consult",
        "body": "active_travel_england national_highways highways_england natural_england environment_agency "
        "historic_england county_council highway_authority highways_authority thames_water sport_england transport_for_london "
        "lead_local_flood tfl police network_rail",
        "public": "objection objections representation representations neighbour neighbours comment_from letter_of_support public_comment* "
        "letters_of parish_council town_council community_council residents_association petition "
        "cycling_campaign cycle_campaign cycling_forum cycling_group cycling_club civic_society amenity_society",
        "report": "committee_report officer_report officer's_report officers_report delegated_report report_to_committee "
        "secretary_of_state_referral committee case_officer_report",
        "appeal": "appeal_decision inspector's_report decision_letter",
        "applicant": "applicant applicant's applicants addendum cover_letter covering_letter planning_statement "
        "design_and_access transport_assessment transport_statement travel_plan environmental_statement technical_note",
    }
)
_WORDS = Lexicon(
    {
        "report": "planning_committee case_officer committee_date report_considers recommendation_: "
        "development_management_committee reason_for_committee",
        "recommend": "recommendation recommended_that recommended_for grant refuse approve",
        "appeal": "appeal_decision appeal_ref appeal_reference site_visit_made decision_the_appeal an_inspector_appointed "
        "appeal_is_allowed appeal_is_dismissed appeals_decision appeal_is_made",
        "letter": "dear yours_sincerely yours_faithfully kind_regards to_: from_:",
        "consulted": "thank_you_for_consulting consulting formal_recommendation highway_authority_will "
        "in_relation_to_the_above_planning consultation planning_consultation raise_no_objection comments recommends "
        "response_to consulted have_no_objection raises_no_objection",
        "against": "i_object we_object i_am_writing_to_object strongly_object wish_to_object my_objection our_objection "
        "i_strongly parish_council_object*",
        "us": "our_client the_applicant on_behalf_of planning_statement design_and_access_statement transport_statement "
        "transport_assessment",
    }
)


def source_kind_of(name: str, text: str, category: str = "") -> SourceKind:
    """Return who wrote a document, from the register's category, the file's name and the text."""
    return _KIND_OF[_genre(f"{category} {name}", text)]


def genre_of(document: Document) -> Genre:
    """Return what sort of writing a document is. The register's source kind decides; names and words refine it."""
    told = _genre(document.name, document.text)
    if document.source_kind == "consultee":
        return "consultee letter"
    if document.source_kind == "public":
        return "representation"
    if document.source_kind == "council":
        return told if told in ("committee report", "appeal decision") else "committee report"
    return told if told == "appeal decision" else "application"


def is_superseded(document: Document) -> bool:
    """Return whether a document has been replaced: by the register, or by its own name or title."""
    return document.superseded or "superseded" in f"{document.name} {document.text[:_TITLE]}".lower()


def _genre(name: str, text: str) -> Genre:
    """Return a document's genre by its name, which usually says it, and otherwise by the words it begins with."""
    title = " ".join(name.replace("_", " ").replace("-", " ").split())
    return _genre_by_name(title, text) or _genre_by_words(text)


def _genre_by_name(title: str, text: str) -> Genre | None:
    named = _NAMES.tag_text(title)
    if "reply" in named:
        return "application"  # the applicant's answer to what others said
    if "appeal" in named:
        return "appeal decision"
    if "report" in named:
        return "committee report"
    if "public" in named:
        return "representation"
    if "consultee" in named or ("body" in named and len(text) < _FEW_PAGES):
        return "consultee letter"
    return "application" if "applicant" in named else None


def _genre_by_words(text: str) -> Genre:
    said = _WORDS.tag_text(text[:_FIRST_WORDS])
    if len(said.get("appeal", ())) >= 2:
        return "appeal decision"
    if (writer := letter_writer(text)) is not None:
        return _GENRE_OF[writer]
    if "report" in said and "recommend" in said and "us" not in said:
        return "committee report"
    if "against" in said and not is_applicants_paper(text):
        return "representation"
    if "letter" in said and "consulted" in said and len(text) < _FEW_PAGES:
        return "consultee letter"
    return "application"


_GENRE_OF: dict[LetterWriter, Genre] = {
    "consultee": "consultee letter",
    "public": "representation",
    "council": "committee report",
}
_KIND_OF: dict[Genre, SourceKind] = {
    "application": "applicant",
    "consultee letter": "consultee",
    "representation": "public",
    "committee report": "council",
    "appeal decision": "council",
}
SPEAKER_OF: dict[Genre, Speaker] = {
    "application": "applicant",
    "consultee letter": "consultee",
    "representation": "objector",
    "committee report": "officer",
    "appeal decision": "inspector",
}
"""Who speaks in a document where nobody else is reported."""
