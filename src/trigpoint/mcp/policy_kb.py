"""The policy knowledge base's MCP server: tools on port 3003. Parses, calls the domain, shapes the answer."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from trigpoint.config import Settings
from trigpoint.dates import parse_day, today
from trigpoint.ids import parse_authority
from trigpoint.mcp.answers import MOST_BYTES, Cut, fitting_text
from trigpoint.mcp.policy_answers import (
    IngestAnswer,
    IngestInput,
    ListedPolicy,
    ListedRevision,
    NoInput,
    Note,
    PoliciesAnswer,
    ProvisionsAnswer,
    ProvisionsInput,
    RemoveAnswer,
    RemoveInput,
    RevisionsAnswer,
    RevisionsInput,
    SearchAnswer,
    SearchInput,
    SectionAnswer,
    SectionInput,
    UnplacedProvision,
    found_passage,
    listed_standard,
    placed_provision,
)
from trigpoint.mcp.server import Tool, ToolCall, ToolServer
from trigpoint.passages.weak import is_weak
from trigpoint.policies.first_load import seed_missing
from trigpoint.policies.knowledge import PolicyKnowledge, open_knowledge
from trigpoint.policies.known import missing_revisions
from trigpoint.policies.scope import NOTHING_LOADED

_INSTRUCTIONS = (
    "Planning policy as of a date. Give effective_date (an application's validation date) to search only the "
    "revisions that were in force on that day. Cite source, version_label and section_ref."
)


async def search_policy(given: SearchInput, call: ToolCall) -> SearchAnswer:
    knowledge: PolicyKnowledge = call.state
    day = None if given.effective_date is None else parse_day(given.effective_date)
    authority = None if given.authority is None else parse_authority(given.authority)
    scope = await knowledge.scope(given.sources, authority, day)
    found = await knowledge.search_in(scope, given.query, day, given.n_results, given.mode)
    return SearchAnswer(
        warnings=list(scope.warnings),
        query=given.query,
        effective_date=given.effective_date,
        results_count=len(found),
        results=[found_passage(hit) for hit in found],
        weak=is_weak((hit.cosine, hit.fused) for hit in found),
    )


async def get_policy_section(given: SectionInput, call: ToolCall) -> SectionAnswer:
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


async def list_policy_documents(given: NoInput, call: ToolCall) -> PoliciesAnswer:
    knowledge: PolicyKnowledge = call.state
    policies = await knowledge.registry.list_policies()
    listed = [
        ListedPolicy(source=p.source, title=p.title, category=p.category.value, authorities=list(p.authorities))
        for p in policies
    ]
    warnings = [m.message for m in missing_revisions(policies)] if policies else [NOTHING_LOADED]
    return PoliciesAnswer(policy_count=len(listed), policies=listed, warnings=warnings)


async def list_policy_revisions(given: RevisionsInput, call: ToolCall) -> RevisionsAnswer:
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


async def get_provisions(given: ProvisionsInput, call: ToolCall) -> ProvisionsAnswer:
    knowledge: PolicyKnowledge = call.state
    day = today() if given.effective_date is None else parse_day(given.effective_date)
    authority = None if given.authority is None else parse_authority(given.authority)
    answer = await knowledge.provisions(
        day, sources=given.sources, provision_ids=given.provision_ids, authority=authority
    )
    standards = await knowledge.parking_standards(day, sources=given.sources, authority=authority)
    return ProvisionsAnswer(
        effective_date=day.isoformat(),
        provisions=[placed_provision(placement, answer.titles) for placement in answer.placements],
        unavailable=[UnplacedProvision(provision_id=i, reason=why) for i, why in answer.unavailable.items()],
        local_policies=list(answer.local_policies),
        not_loaded=list(answer.not_loaded),
        parking_standards=[listed_standard(one) for one in standards],
        warnings=list(answer.warnings),
    )


async def ingest_policy_revision(given: IngestInput, call: ToolCall) -> IngestAnswer:
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


async def remove_policy_revision(given: RemoveInput, call: ToolCall) -> RemoveAnswer:
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
