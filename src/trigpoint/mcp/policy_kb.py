"""The policy knowledge base's MCP server: tools on port 3003. Parses, calls the domain, shapes the answer."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from trigpoint.config import Settings
from trigpoint.dates import parse_day, today
from trigpoint.ids import parse_authority
from trigpoint.mcp.answers import MOST_BYTES, Cut, fitting_text
from trigpoint.mcp.server import Call, PlainText, Tool, ToolInput, ToolServer
from trigpoint.passages.model import Hit
from trigpoint.passages.search import SearchMode
from trigpoint.passages.weak import is_weak
from trigpoint.policies.first_load import seed_missing
from trigpoint.policies.knowledge import PolicyKnowledge, open_knowledge
from trigpoint.policies.known import missing_revisions
from trigpoint.policies.parking import ParkingStandard, StatedStandard
from trigpoint.policies.placements import Placement
from trigpoint.policies.scope import NOTHING_LOADED

_INSTRUCTIONS = (
    "Planning policy as it stood on a date. Give effective_date (an application's validation date) to search only the "
    "revisions that were in force on that day. Cite source, version_label and section_ref."
)


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

    warnings: list[str] = Field(default_factory=list, description="What the question named that is unknown or missing")

    @model_serializer(mode="wrap")
    def _leave_out_no_warnings(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        dumped: dict[str, object] = dump(self)
        if not self.warnings:
            dumped.pop("warnings")
        return dumped


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
    score: float | None = Field(None, description="Fused score by which hybrid results are ranked; only there")

    @model_serializer(mode="wrap")
    def _leave_out_absent_score(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        dumped: dict[str, object] = dump(self)
        if self.score is None:
            dumped.pop("score")
        return dumped


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
        default_factory=list, description="Authorities that it applies to; left out where that is all of England"
    )

    @model_serializer(mode="wrap")
    def _leave_out_everywhere(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        dumped: dict[str, object] = dump(self)
        if not self.authorities:
            dumped.pop("authorities")
        return dumped


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


def _authority(slug: str | None) -> str | None:
    return None if slug is None else parse_authority(slug)


async def search_policy(given: SearchInput, call: Call) -> SearchAnswer:
    knowledge: PolicyKnowledge = call.state
    day = None if given.effective_date is None else parse_day(given.effective_date)
    scope = await knowledge.scope(given.sources, _authority(given.authority), day)
    found = await knowledge.search_in(scope, given.query, day, given.n_results, given.mode)
    return SearchAnswer(
        warnings=list(scope.warnings),
        query=given.query,
        effective_date=given.effective_date,
        results_count=len(found),
        results=[_found(hit) for hit in found],
        weak=is_weak((hit.cosine, hit.fused) for hit in found),
    )


async def get_policy_section(given: SectionInput, call: Call) -> SectionAnswer:
    knowledge: PolicyKnowledge = call.state
    section = await knowledge.section(given.source, given.section_ref, given.revision_id)
    rest = section.text[given.offset :]
    text = rest if call.any_size else fitting_text(rest, MOST_BYTES // 2)
    end = given.offset + len(text)
    return SectionAnswer(
        source=given.source,
        section_ref=section.section_ref,
        revision_id=section.revision.revision_id,
        version_label=section.revision.version_label,
        text=text,
        page_numbers=list(section.page_numbers),
        notes=[
            Note(section_ref=note.section_ref, text=note.text, page_numbers=list(note.page_numbers))
            for note in section.notes
        ],
        children=list(section.children),
        point=section.point,
        next_offset=end if end < len(section.text) else None,
    )


async def list_policy_documents(given: NoInput, call: Call) -> PoliciesAnswer:
    knowledge: PolicyKnowledge = call.state
    policies = await knowledge.registry.list_policies()
    listed = [
        ListedPolicy(source=p.source, title=p.title, category=p.category.value, authorities=list(p.authorities))
        for p in policies
    ]
    warnings = [m.message for m in missing_revisions(policies)] if policies else [NOTHING_LOADED]
    return PoliciesAnswer(policy_count=len(listed), policies=listed, warnings=warnings)


async def list_policy_revisions(given: RevisionsInput, call: Call) -> RevisionsAnswer:
    knowledge: PolicyKnowledge = call.state
    revisions = await knowledge.registry.list_revisions(given.source)
    listed = [
        ListedRevision(
            revision_id=r.revision_id,
            version_label=r.version_label,
            effective_from=r.effective_from.isoformat(),
            effective_to=None if r.effective_to is None else r.effective_to.isoformat(),
            status=r.status.value,
            chunk_count=r.chunk_count or 0,
        )
        for r in revisions
    ]
    return RevisionsAnswer(source=given.source, revision_count=len(listed), revisions=listed)


async def get_provisions(given: ProvisionsInput, call: Call) -> ProvisionsAnswer:
    knowledge: PolicyKnowledge = call.state
    day = today() if given.effective_date is None else parse_day(given.effective_date)
    authority = _authority(given.authority)
    answer = await knowledge.provisions(
        day, sources=given.sources, provision_ids=given.provision_ids, authority=authority
    )
    standards = await knowledge.parking_standards(day, sources=given.sources, authority=authority)
    return ProvisionsAnswer(
        effective_date=day.isoformat(),
        provisions=[_placed(placement, answer.titles) for placement in answer.placements],
        unavailable=[UnplacedProvision(provision_id=i, reason=why) for i, why in answer.unavailable.items()],
        local_policies=list(answer.local_policies),
        not_loaded=list(answer.not_loaded),
        parking_standards=[_listed_standard(one) for one in standards],
        warnings=list(answer.warnings),
    )


async def ingest_policy_revision(given: IngestInput, call: Call) -> IngestAnswer:
    knowledge: PolicyKnowledge = call.state
    ingested = await knowledge.ingest(
        given.source,
        given.revision_id,
        given.file_path,
        reindex=given.reindex,
        report=call.report,
        cancelled=call.cancelled,
    )
    return IngestAnswer(
        source=given.source,
        revision_id=given.revision_id,
        chunks_created=ingested.chunks_created,
        page_count=ingested.page_count,
        extraction_method=ingested.extraction_method,
    )


async def remove_policy_revision(given: RemoveInput, call: Call) -> RemoveAnswer:
    knowledge: PolicyKnowledge = call.state
    removed = await knowledge.remove(given.source, given.revision_id)
    return RemoveAnswer(source=given.source, revision_id=given.revision_id, chunks_removed=removed)


TOOLS = (
    Tool(
        "search_policy",
        "Search planning policy by meaning. Give effective_date, usually an application's validation date, so that "
        "only the revisions in force on that day answer; without it superseded text answers too. Each result has the "
        "passage, its relevance from 0 to 1, and the policy, revision, section and page to cite. Use mode hybrid for "
        "questions that turn on particular words, numbers or policy names.",
        SearchInput,
        SearchAnswer,
        search_policy,
        read_only=True,
        title="Search policy",
        cut=Cut("results", "results_count", "Ask for fewer with n_results"),
    ),
    Tool(
        "get_policy_section",
        "Read one section of a policy whole, by its reference as search results show it (Chapter 5, Section 11.1, "
        "Table 5-2, Para 116, Policy SLE4) or as people write it (TR1, paragraph 11(d), section 9), from the revision in "
        "force today or the one given. It comes with its tables and footnotes, a chapter with all its sections.",
        SectionInput,
        SectionAnswer,
        get_policy_section,
        read_only=True,
        title="Read a policy section",
        cut=Cut("notes", None, "Read a table or footnote by its own reference"),
    ),
    Tool(
        "list_policy_documents",
        "List all registered policy documents with source slug, title and category.",
        NoInput,
        PoliciesAnswer,
        list_policy_documents,
        read_only=True,
        title="List policies",
    ),
    Tool(
        "list_policy_revisions",
        "List all revisions of a policy, newest first, with the dates between which each was in force and its status.",
        RevisionsInput,
        RevisionsAnswer,
        list_policy_revisions,
        read_only=True,
        title="List revisions of a policy",
    ),
    Tool(
        "get_provisions",
        "List what policy requires (provisions, each with an id that stays the same over all revisions) with the "
        "section that states it in the revision in force on a date, the words of that section, and how sure that is. "
        "Cite sections of state confirmed or found; with to_be_confirmed cite the policy and say so.",
        ProvisionsInput,
        ProvisionsAnswer,
        get_provisions,
        read_only=True,
        title="Provisions and where they are stated",
    ),
    Tool(
        "ingest_policy_revision",
        "Ingest the PDF of a registered policy revision: extracts text, splits it by section, embeds and stores it. "
        "With reindex it replaces the passages that the revision has, which answer until the new ones are complete; "
        "without, a revision that has passages is refused. The job that holds a revision records its status; for a "
        "revision that answers and that no job holds, counts and file are recorded here.",
        IngestInput,
        IngestAnswer,
        ingest_policy_revision,
        idempotent=True,
        destructive=True,
        title="Ingest a policy revision",
    ),
    Tool(
        "remove_policy_revision",
        "Remove all passages of a policy revision from the vector store. The registry is not changed.",
        RemoveInput,
        RemoveAnswer,
        remove_policy_revision,
        idempotent=True,
        destructive=True,
        title="Remove a policy revision's passages",
    ),
)


def server(settings: Settings) -> ToolServer:
    def lifespan() -> AbstractAsyncContextManager[PolicyKnowledge]:
        return open_knowledge(settings)

    async def seeded(knowledge: PolicyKnowledge) -> None:
        async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
            done = await knowledge.ingest(source, revision_id, file_path)
            return done.chunks_created, done.page_count

        await seed_missing(settings, ingest)

    return ToolServer(
        "policy-kb-mcp",
        TOOLS,
        settings,
        lifespan=lifespan,
        instructions=_INSTRUCTIONS,
        prepare_alone=seeded,
        problems=lambda knowledge: knowledge.lost.problems,
    )


def _placed(placement: Placement, titles: Mapping[str, str]) -> PlacedProvision:
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


def _listed_standard(stated: StatedStandard) -> ListedStandard:
    return ListedStandard(
        **dict(stated.standard),
        source=stated.policy.source,
        revision_id=stated.revision.revision_id,
        version_label=stated.revision.version_label,
    )


def _found(hit: Hit) -> FoundPassage:
    return FoundPassage(
        chunk_id=hit.id,
        text=hit.text,
        relevance_score=hit.cosine,
        source=hit.metadata["source"],
        revision_id=hit.metadata["revision_id"],
        version_label=hit.metadata["version_label"],
        section_ref=hit.metadata["section_ref"],
        page_number=hit.metadata["page_number"],
        score=hit.fused,
    )
