"""`trigpoint policies`: seed and fetch the shipped policies, see which are in force, search them, compare revisions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from trigpoint.cli.outputs import escape
from trigpoint.config import Settings, load_settings
from trigpoint.dates import parse_day, today
from trigpoint.errors import FileMissing, InvalidInput, RevisionNotFound, ServerUnreachable, shorten
from trigpoint.mcp.client import ToolClient
from trigpoint.passages.weak import is_weak
from trigpoint.policies.compare import SectionChange, compare, read_sections, word_changes
from trigpoint.policies.fetch import fetch as fetch_documents
from trigpoint.policies.knowledge import PolicyKnowledge, open_knowledge
from trigpoint.policies.known import missing_revisions
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.resolver import EffectiveDateResolver
from trigpoint.policies.seed import PolicySet, Seeder, SeedOutcome, SeedPolicy, is_digest, load_seed
from trigpoint.storage.files import data_folder
from trigpoint.storage.redis import redis_client, redis_server

app = typer.Typer(no_args_is_help=True, add_completion=False)
T = TypeVar("T")
out = Console(highlight=False, soft_wrap=True)

Sources = Annotated[list[str] | None, typer.Argument(help="Only these policies, by slug. Default: all.")]
SourceArgument = Annotated[str, typer.Argument(help="Policy slug, for example NPPF.")]
On = Annotated[str | None, typer.Option("--date", help="YYYY-MM-DD.")]


@app.command()
def seed(
    sources: Sources = None,
    digest: Annotated[
        bool, typer.Option("--digest", help="Load short digests written by us instead of the official texts.")
    ] = False,
) -> None:
    """Register and ingest the shipped policies. Running it again retries what failed and changes nothing else."""
    settings = load_settings()
    _exit_if_not(run(_seed(settings, _chosen_policies(sources, settings.policy_set), digest=digest)))


@app.command()
def update() -> None:
    """Add revisions that are missing or came later, and refresh digests that a newer Trigpoint has corrected."""
    _exit_if_not(run(_seed(load_settings(), load_seed("current"), digest=True)))


@app.command()
def fetch(sources: Sources = None) -> None:
    """Download the official documents, so that `seed` can ingest them."""
    settings, failed = load_settings(), 0
    data_folder(settings, "downloads", "policy")
    for outcome in fetch_documents(settings, _chosen_policies(sources, settings.policy_set)):
        failed += outcome.result == "failed"
        detail = outcome.detail or str(outcome.path)
        out.print(f"{outcome.result:8} {outcome.source} {escape(outcome.version_label)}: {escape(detail)}")
    _exit_if_not(failed == 0)


@app.command("list")
def list_policies() -> None:
    """List all policies with the revision in force today."""
    run(with_registry(_print_policies))


@app.command()
def show(source: SourceArgument) -> None:
    """Show one policy with all its revisions, newest first."""
    run(with_registry(lambda registry: _show(registry, source)))


@app.command()
def effective(
    date: Annotated[str, typer.Argument(help="YYYY-MM-DD, for example an application's validation date.")],
) -> None:
    """Show which revision of each policy was in force on a date."""
    run(with_registry(lambda registry: _effective(registry, date)))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    date: On = None,
    source: Annotated[list[str] | None, typer.Option("--source", help="Only this policy; may be repeated.")] = None,
    limit: Annotated[int, typer.Option("-n", min=1, max=100, help="How many passages.")] = 5,
    mode: Annotated[str, typer.Option(help="hybrid or semantic.")] = "hybrid",
) -> None:
    """Search the policies that were in force on a date (default: today)."""
    if mode not in ("hybrid", "semantic"):
        raise InvalidInput(f"--mode {shorten(mode)}: expected hybrid or semantic")
    day = (today() if date is None else parse_day(date)).isoformat()
    arguments = {"query": query, "sources": source, "effective_date": day, "n_results": limit, "mode": mode}
    run(_search_and_print(load_settings(), arguments))


@app.command()
def diff(
    source: SourceArgument,
    old: Annotated[str, typer.Argument(help="Revision id, for example rev_NPPF_2023_09.")],
    new: Annotated[str, typer.Argument(help="Revision id, for example rev_NPPF_2024_12.")],
    section: Annotated[str | None, typer.Option(help="Only sections whose reference contains this.")] = None,
    summary: Annotated[bool, typer.Option("--summary", help="Only say which sections changed.")] = False,
) -> None:
    """Show what changed between two revisions, section by section."""
    changes, digests = run(_compare_sections(load_settings(), source, old, new))
    if digests:
        out.print(
            f"[yellow]Not a change of law: {escape(' and '.join(digests))} {'is a digest' if len(digests) == 1 else 'are digests'}, "
            "not the official text. What differs may differ only in our wording.[/]"
        )
    shown = [c for c in changes if c.kind != "same" and (section is None or section.casefold() in c.title.casefold())]
    for change in shown:
        _print_change(change, summary=summary)
    counts = ", ".join(f"{sum(c.kind == k for c in changes)} {k}" for k in _KINDS)
    out.print(f"[bold]{source}[/]: {counts}")


_KINDS = ("changed", "renumbered", "added", "removed", "same")


# Seeding and searching: by the policy server if one runs, else with the store opened here


@asynccontextmanager
async def policy_tools(settings: Settings) -> AsyncIterator[ToolClient | PolicyKnowledge]:
    """Yield the running policy server, or the knowledge base opened by this process."""
    url = settings.server_url("policy-kb")
    async with AsyncExitStack() as stack:
        try:
            tools: ToolClient | PolicyKnowledge = await stack.enter_async_context(ToolClient(url, settings.mcp_token))
            out.print(f"[dim]using the policy server at {url}[/]")
        except ServerUnreachable:
            out.print(f"[dim]no policy server at {url}: opening the store {settings.chroma_dir('policies')}[/]")
            tools = await stack.enter_async_context(open_knowledge(settings, whole=True))
        yield tools


async def _seed(settings: Settings, policies: tuple[SeedPolicy, ...], *, digest: bool) -> bool:
    ok = True
    with redis_server(settings) as url:
        redis = redis_client(url)
        try:
            async with policy_tools(settings) as tools:

                async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
                    if isinstance(tools, PolicyKnowledge):
                        ingested = await tools.ingest(source, revision_id, file_path)
                        return ingested.chunks_created, ingested.page_count
                    arguments = {"source": source, "revision_id": revision_id, "file_path": file_path, "reindex": True}
                    answer = await tools.call("ingest_policy_revision", arguments, timeout=None)
                    return int(answer["chunks_created"]), int(answer["page_count"])

                seeder = Seeder(settings, PolicyRegistry(redis), ingest, digest=digest)
                async for outcome in seeder.seed(policies):
                    _print_outcome(outcome)
                    ok = ok and outcome.ok
                if isinstance(tools, PolicyKnowledge):
                    await tools.settle()
        finally:
            await redis.aclose()
    return ok


async def _search_and_print(settings: Settings, arguments: dict[str, Any]) -> None:
    async with policy_tools(settings) as tools:
        if isinstance(tools, PolicyKnowledge):
            hits = await tools.search(
                arguments["query"],
                sources=arguments["sources"],
                effective_date=parse_day(arguments["effective_date"]),
                n_results=arguments["n_results"],
                mode=arguments["mode"],
            )
            results = [{**h.metadata, "text": h.text, "relevance_score": h.cosine} for h in hits]
            weak = is_weak((h.cosine, h.fused) for h in hits)
        else:
            answer = await tools.call("search_policy", arguments)
            results, weak = answer["results"], answer.get("weak", False)
    if weak:
        out.print("No passage seems to answer this. These are the closest ones.\n")
    for result in results:
        place = f"{result['source']} {result['section_ref']}, {result['version_label']}, p. {result['page_number']}"
        out.print(f"[bold]{escape(place)}[/] [dim]{result['relevance_score']:.2f}[/]")
        out.print(escape(" ".join(result["text"].split())) + "\n")
    if not results:
        out.print(f"No policy in force on {arguments['effective_date']} matches this search.")


# Reading the registry


async def _print_policies(registry: PolicyRegistry) -> None:
    policies = await registry.list_policies()
    if not policies:
        out.print("No policies yet. Run `trigpoint policies seed --digest`, or `fetch` and `seed`.")
        return
    rows = [("SOURCE", "CATEGORY", "IN FORCE TODAY", "REVISIONS", "TITLE")]
    for policy in policies:
        current = policy.in_force(today())
        label = current.version_label if current else "-"
        rows.append((policy.source, policy.category.value, label, str(len(policy.revisions)), policy.title))
    print_rows(rows)
    _print_missing(policies)


def _print_missing(policies: Sequence[Policy], day: date | None = None) -> None:
    for missing in missing_revisions(policies, day):
        out.print(f"[yellow]{escape(missing.message)}[/]")


async def _show(registry: PolicyRegistry, source: str) -> None:
    policy = await registry.get_policy(source)
    out.print(f"[bold]{policy.source}[/] {escape(policy.title)} ({policy.category.value})")
    heads = ("REVISION", "LABEL", "FROM", "TO", "STATUS", "CHUNKS", "PAGES", "")
    print_rows([heads, *(_revision_cells(revision) for revision in policy.revisions)])


def _revision_cells(revision: Revision) -> tuple[str, ...]:
    return (
        revision.revision_id,
        revision.version_label,
        revision.effective_from.isoformat(),
        revision.effective_to.isoformat() if revision.effective_to else "-",
        revision.status.value,
        str(revision.chunk_count if revision.chunk_count is not None else "-"),
        str(revision.page_count if revision.page_count is not None else "-"),
        _remark(revision),
    )


def _remark(revision: Revision) -> str:
    if revision.error:
        return shorten(revision.error)
    return "digest" if is_digest(revision) else ""


async def _effective(registry: PolicyRegistry, date: str) -> None:
    snapshot = await EffectiveDateResolver(registry).resolve_snapshot(parse_day(date))
    rows: list[tuple[str, ...]] = [("SOURCE", "REVISION", "LABEL", "FROM", "TO")]
    for result in snapshot.results:
        if result.revision is None:
            rows.append((result.source, "-", (result.reason or "").replace("_", " "), "", ""))
        else:
            rows.append((result.source, *_revision_cells(result.revision)[:4]))
    print_rows(rows)
    _print_missing([result.policy for result in snapshot.results], snapshot.effective_date)


# Comparing


async def _compare_sections(
    settings: Settings, source: str, old: str, new: str
) -> tuple[list[SectionChange], list[str]]:
    from trigpoint.text.extract import DocumentProcessor

    async def read(registry: PolicyRegistry) -> Policy:
        return await registry.get_policy(source)

    policy = await with_registry(read)
    paths = [_file_of(policy, revision_id) for revision_id in (old, new)]
    processor = DocumentProcessor(settings)
    try:
        texts = [await asyncio.to_thread(read_sections, processor, path) for path in paths]
    finally:
        processor.close()
    named = [policy.revision(revision_id) for revision_id in (old, new)]
    return compare(*texts), [r.version_label for r in named if r is not None and is_digest(r)]


def _file_of(policy: Policy, revision_id: str) -> Path:
    revision = policy.revision(revision_id)
    if revision is None:
        raise RevisionNotFound(policy.source, revision_id)
    path = Path(revision.file_path or "")
    if not path.is_file():
        raise FileMissing(f"The file of {revision_id} is not on this machine ({shorten(path)})")
    return path


def _print_change(change: SectionChange, *, summary: bool) -> None:
    out.print(f"[bold]{escape(change.title)}[/] {change.kind}")
    if summary:
        return
    if change.old is not None and change.new is not None:
        styles = {"same": "{}", "removed": "[red]\\[-{}-][/]", "added": "[green]{{+{}+}}[/]"}
        words = [styles[kind].format(escape(text)) for kind, text in word_changes(change.old, change.new)]
        out.print(" ".join(words) + "\n")
        return
    section = change.new or change.old
    assert section is not None
    out.print(escape(" ".join(section.words)) + "\n")


# Shared by the commands


def _chosen_policies(sources: list[str] | None, policy_set: PolicySet) -> tuple[SeedPolicy, ...]:
    shipped = load_seed(policy_set)
    unknown = [s for s in sources or () if s not in {p.source for p in shipped}]
    if unknown:
        names = ", ".join(p.source for p in shipped)
        raise InvalidInput(f"'{shorten(unknown[0])}' is not one of the shipped policies: {names}")
    return tuple(p for p in shipped if not sources or p.source in sources)


def _print_outcome(outcome: SeedOutcome) -> None:
    what = f"{outcome.chunks} passages" if outcome.result == "ingested" else outcome.detail
    name = f"{outcome.source} {outcome.version_label}"
    out.print(f"{outcome.result:9} {escape(name)}" + (f": {escape(what)}" if what else ""))


def print_rows(rows: Sequence[tuple[str, ...]]) -> None:
    """Print columns as wide as their widest cell, never wrapped or cut, so that ids can be copied and piped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        out.print(escape(line.rstrip()))


async def with_registry(work: Callable[[PolicyRegistry], Coroutine[Any, Any, T]]) -> T:
    with redis_server(load_settings()) as url:
        redis = redis_client(url)
        try:
            return await work(PolicyRegistry(redis))
        finally:
            await redis.aclose()


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def _exit_if_not(ok: bool) -> None:
    if not ok:
        raise typer.Exit(1)


from trigpoint.cli import policy_life  # noqa: E402, F401  its commands join this app
