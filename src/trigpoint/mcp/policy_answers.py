"""Inputs and answers of the policy knowledge base's tools, and the shaping of each answer from the domain's values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from trigpoint.mcp.server import PlainText, ToolInput
from trigpoint.passages.model import Hit
from trigpoint.passages.search import SearchMode
from trigpoint.policies.parking import ParkingStandard, StatedStandard
from trigpoint.policies.placements import Placement


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


Words = Annotated[PlainText, Field(max_length=10_000), AfterValidator(_not_blank)]
Slug = Annotated[PlainText, Field(min_length=1, max_length=100)]
RevisionId = Annotated[PlainText, Field(min_length=1, max_length=200)]


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)

    status: Literal["success"] = "success"


class WarningAnswer(Answer):
    """An answer that may say what was unknown, not in force or not loaded; left out when there is nothing to say."""

    warnings: list[str] = Field(
        default_factory=list,
        description="What the question named that is unknown or missing",
        exclude_if=lambda warnings: not warnings,
    )


Authority = Annotated[
    PlainText,
    Field(
        max_length=64,
        description="Planning authority of the site, by slug (cherwell, tower-hamlets): only policies "
        "that apply there answer. `unknown`: national ones only. Without it no policy is left out",
    ),
]


class SearchInput(ToolInput):
    query: Words = Field(description="Natural language search query")
    sources: list[Slug] | None = Field(
        None, max_length=200, description='Only these policies, by slug, e.g. ["LTN_1_20", "NPPF"]'
    )
    effective_date: PlainText | None = Field(
        None, description="YYYY-MM-DD: only revisions in force on this date. Without it, all revisions answer"
    )
    n_results: int = Field(10, ge=1, le=1000, description="Maximum number of results to return")
    mode: SearchMode = Field(
        "semantic", description="semantic: by meaning. hybrid: by meaning and by the query's words"
    )
    authority: Authority | None = None


class FoundPassage(BaseModel):
    model_config = ConfigDict(frozen=True)

    chunk_id: str
    text: str
    relevance_score: float = Field(description="Cosine of query and passage, 0 to 1")
    source: str
    revision_id: str
    version_label: str
    section_ref: str
    page_number: int
    score: float | None = Field(
        None,
        description="Fused score by which hybrid results are ranked; only there",
        exclude_if=lambda score: score is None,
    )


class SearchAnswer(WarningAnswer):
    query: str
    effective_date: str | None
    results_count: int
    results: list[FoundPassage]
    weak: bool = Field(
        False,
        description="True if nothing found is likely to answer the query; else left out",
        exclude_if=lambda weak: not weak,
    )


class SectionInput(ToolInput):
    source: Slug = Field(description="Policy source slug, e.g. LTN_1_20")
    section_ref: Words = Field(description="Section reference, e.g. Chapter 5, Table 5-2, Para 116, Policy SLE4")
    revision_id: RevisionId | None = Field(
        None, description="Revision ID. By default the revision in force today, else the latest"
    )
    offset: int = Field(0, ge=0, description="Where in the section's text to begin, if an answer says next_offset")


class Note(BaseModel):
    section_ref: str
    text: str
    page_numbers: list[int]


class SectionAnswer(Answer):
    source: str
    section_ref: str
    revision_id: str
    version_label: str
    text: str
    page_numbers: list[int]
    notes: list[Note] = Field(
        [], description="The section's tables, figures and footnotes, if it has any", exclude_if=lambda notes: not notes
    )
    children: list[str] = Field(
        [],
        description="The sections within a chapter or annex; their text is in text",
        exclude_if=lambda children: not children,
    )
    point: str | None = Field(
        None, description="The point of a list that was asked for, as in Para 11(d)", exclude_if=lambda point: not point
    )
    next_offset: int | None = Field(
        None,
        description="Only if the text goes on: ask again with this as offset",
        exclude_if=lambda offset: offset is None,
    )


class NoInput(ToolInput):
    pass


class ListedPolicy(BaseModel):
    source: str
    title: str
    category: str
    authorities: list[str] = Field(
        default_factory=list,
        description="Authorities that it applies to; left out where that is all of England",
        exclude_if=lambda authorities: not authorities,
    )


class PoliciesAnswer(WarningAnswer):
    policy_count: int
    policies: list[ListedPolicy]


class RevisionsInput(ToolInput):
    source: Slug = Field(description="Policy source slug, e.g. NPPF")


class ListedRevision(BaseModel):
    revision_id: str
    version_label: str
    effective_from: str
    effective_to: str | None
    status: str
    chunk_count: int


class RevisionsAnswer(Answer):
    source: str
    revision_count: int
    revisions: list[ListedRevision]


class ProvisionsInput(ToolInput):
    effective_date: PlainText | None = Field(
        None, description="YYYY-MM-DD: the revisions in force on this date. By default today"
    )
    sources: list[Slug] | None = Field(None, max_length=200, description="Only these policies, by slug")
    provision_ids: list[Slug] | None = Field(None, max_length=500, description="Only these provisions, by id")
    authority: Authority | None = None


class PlacedProvision(BaseModel):
    """A provision and the section that states it in the revision in force."""

    model_config = ConfigDict(frozen=True)

    provision_id: str
    title: str
    kind: str
    requires: str = Field(description="What it requires, in our words")
    source: str
    source_title: str
    revision_id: str
    version_label: str
    section_ref: str | None = Field(description="Null if no section was found, or the revision does not state it")
    state: Literal["confirmed", "found", "to_be_confirmed", "not_stated"] = Field(
        description="confirmed: by a person. found: in the text, with confidence. to_be_confirmed: cite the policy and "
        "say that the section is to be confirmed. not_stated: a person found that the revision does not state it"
    )
    confidence: float = Field(description="0 to 1")
    excerpt: str = Field(description="The words of the policy that fit best")
    page_number: int | None
    note: str | None = None


class UnplacedProvision(BaseModel):
    provision_id: str
    reason: str


class ListedStandard(ParkingStandard):
    """A parking standard of a local policy, stated as data by a person."""

    source: str
    revision_id: str
    version_label: str


class ProvisionsAnswer(WarningAnswer):
    effective_date: str
    provisions: list[PlacedProvision]
    unavailable: list[UnplacedProvision] = Field(description="Provisions that no loaded revision in force can state")
    local_policies: list[str] = Field(description="Local policies that are loaded and apply to the authority, by slug")
    not_loaded: list[str] = Field(
        [],
        description="Revisions that were in force on the date and are not loaded, so that another is cited, if any",
        exclude_if=lambda sentences: not sentences,
    )
    parking_standards: list[ListedStandard] = Field(
        [],
        description="Rates of cycle parking that local policies in force state, if any are kept as data",
        exclude_if=lambda standards: not standards,
    )


class IngestInput(ToolInput):
    source: Slug = Field(description="Policy source slug")
    revision_id: RevisionId = Field(description="Revision ID, already registered")
    file_path: Annotated[PlainText, Field(min_length=1, max_length=4096)] = Field(
        description="Absolute path to the PDF on disk, below the data folder or DOCUMENT_ROOTS"
    )
    reindex: bool = Field(
        False, description="Replace the passages that the revision has. Without it such a revision is refused"
    )


class IngestAnswer(Answer):
    source: str
    revision_id: str
    chunks_created: int
    page_count: int
    extraction_method: Literal["text_layer", "ocr", "mixed"]


class RemoveInput(ToolInput):
    source: Slug = Field(description="Policy source slug")
    revision_id: RevisionId = Field(description="Revision ID")


class RemoveAnswer(Answer):
    source: str
    revision_id: str
    chunks_removed: int


def placed_provision(placement: Placement, titles: Mapping[str, str]) -> PlacedProvision:
    """Return a placement as `get_provisions` shows it."""
    provision, revision = placement.provision, placement.revision
    return PlacedProvision(
        provision_id=provision.id,
        title=provision.title,
        kind=provision.kind.value,
        requires=provision.requires,
        source=revision.source,
        source_title=titles[revision.source],
        revision_id=revision.revision_id,
        version_label=revision.version_label,
        section_ref=placement.section_ref,
        state=placement.status.value,
        confidence=placement.confidence,
        excerpt=placement.excerpt,
        page_number=placement.page,
        note=placement.note,
    )


def listed_standard(stated: StatedStandard) -> ListedStandard:
    """Return a parking standard as `get_provisions` shows it."""
    return ListedStandard(
        **dict(stated.standard),
        source=stated.policy.source,
        revision_id=stated.revision.revision_id,
        version_label=stated.revision.version_label,
    )


def found_passage(hit: Hit) -> FoundPassage:
    """Return a hit as `search_policy` shows it."""
    passage, about = hit.passage, hit.passage.metadata
    return FoundPassage(
        chunk_id=passage.id,
        text=passage.text,
        relevance_score=hit.cosine,
        source=about["source"],
        revision_id=about["revision_id"],
        version_label=about["version_label"],
        section_ref=about["section_ref"],
        page_number=about["page_number"],
        score=hit.fused,
    )
