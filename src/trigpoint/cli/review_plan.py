"""`trigpoint review --dry-run`: what a review by a model would read, ask and cost, without asking it anything."""

from __future__ import annotations

import asyncio

from rich.console import Console
from rich.table import Table

from trigpoint.cli.review_sources import ReviewSource
from trigpoint.config import Settings
from trigpoint.review.agent.plan import Plan, make_plan
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.models import Checkpoints, Progress, ReviewOptions
from trigpoint.review.pipeline import ReviewRun

_OUTPUT_SHARE = 0.25  # of a plan's tokens are answers


def print_plan(settings: Settings, source: ReviewSource, options: ReviewOptions, checkpoints: Checkpoints) -> None:
    """Fetch and read the documents, and print the plan. The model is not asked."""
    draft = asyncio.run(_draft(settings, source, options, checkpoints))
    plan = make_plan(draft, settings)
    table = Table("pass", "calls", "tokens, about", "what")
    for one in plan.passes:
        table.add_row(one.name, str(one.calls), f"{one.tokens:,}", one.what)
    table.add_row("together", str(plan.calls), f"{plan.tokens:,}", _cost(plan, settings))
    console = Console()
    console.print(table)
    for line in _remarks(plan, draft, settings):
        console.print(line, highlight=False, markup=False)


async def _draft(
    settings: Settings, source: ReviewSource, options: ReviewOptions, checkpoints: Checkpoints
) -> ReviewDraft:
    from trigpoint.mcp.local_servers import local_servers

    async def silent(_: Progress) -> None:
        return None

    async def quiet(share: float, detail: str) -> None:
        return None

    request = await source.prepare(settings, options)
    async with local_servers(settings) as (tools, local):
        run = ReviewRun(request, tools, checkpoints, silent, local)
        opened = await run.open()
        evidence = await run.evidence(opened.found, opened.ingested, quiet)
        return ReviewDraft(evidence, run.chosen_aspects)


def _cost(plan: Plan, settings: Settings) -> str:
    prices = settings.review_price_input, settings.review_price_output
    if prices[0] is None or prices[1] is None:
        return "set REVIEW_PRICE_INPUT and REVIEW_PRICE_OUTPUT for the cost"
    said = plan.tokens * _OUTPUT_SHARE
    return f"about {((plan.tokens - said) * prices[0] + said * prices[1]) / 1_000_000:.2f} by the configured prices"


def _remarks(plan: Plan, draft: ReviewDraft, settings: Settings) -> list[str]:
    everything = len(draft.sheets.all)
    lines = [
        f"{plan.pages} of {everything} pages with text are read by the model, {len(plan.groups)} groups of aspects judged."
    ]
    if plan.left_out:
        lines.append(
            f"{len(plan.left_out)} pages that matter are beyond the budget (REVIEW_MAX_TOKENS={settings.review_max_tokens:,})."
        )
    if plan.tokens > settings.review_max_tokens:
        lines.append(
            f"The plan needs more than REVIEW_MAX_TOKENS={settings.review_max_tokens:,}: the review would end early."
        )
    lines.append(
        f"The model: {settings.trigpoint_model or 'none is set (TRIGPOINT_MODEL); this would be a brief by rules'}."
    )
    return lines
