"""The tools of the judging model. They only read, and only this application and the policy of its day and place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic_ai import Agent, ModelRetry, RunContext

from trigpoint.errors import InvalidInput
from trigpoint.review.agent import shown
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.evidence import PolicyPassage

MOST_LOOKUPS = 8
LONGEST_PAGES = 14_000  # characters of one answer
ENOUGH = "No more look-ups in this step: hand in your findings with what you have."


T = TypeVar("T")


class PolicyReader(Protocol):
    """The source in which policy is looked up: the policy server, or a list in a test."""

    async def search(self, query: str) -> list[PolicyPassage]: ...

    async def section(self, passage: PolicyPassage) -> PolicyPassage: ...


@dataclass
class Bench:
    """The state of one judging conversation: its own copy of the draft, the policy, and how often it looked up."""

    draft: ReviewDraft
    policy: PolicyReader
    aspects: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    lookups: int = 0
    sent_back: bool = False

    def take_turn(self) -> bool:
        self.lookups += 1
        return self.lookups <= MOST_LOOKUPS


def add_lookups(agent: Agent[Bench, Any]) -> None:
    """Give a judging agent its tools. Several calls at once are answered in order, so that policies get their labels in order."""
    for tool in (search_documents, read_pages, search_policy, read_policy, calculate):
        agent.tool(sequential=True)(tool)


async def search_documents(ctx: RunContext[Bench], query: str) -> str:
    """Search all documents of the application for statements by their words.

    Args:
        query: A few words, for example `visitor cycle stands`.
    """
    if not ctx.deps.take_turn():
        return ENOUGH
    hits = ctx.deps.draft.search(query)
    lines = [f"{hit.label} p{hit.page or 1}: {shown.one_line(hit.text)[:400]}" for hit in hits]
    return shown.block("statements found", "\n".join(lines) or "nothing found")


async def read_pages(ctx: RunContext[Bench], document: str, first: int, last: int) -> str:
    """Read pages of one document, whole sentences.

    Args:
        document: Its label, for example `D2`.
        first: The first page.
        last: The last page; at most about six pages fit.
    """
    if not ctx.deps.take_turn():
        return ENOUGH
    window = _or_retry(lambda: ctx.deps.draft.read(document, first, to=max(first, last), most=LONGEST_PAGES))
    more = f"\nThere is more: go on from page {window.next_page}." if window.next_page else ""
    return shown.block(f"{window.label}", window.text) + more


async def search_policy(ctx: RunContext[Bench], query: str) -> str:
    """Search the policies that were in force on the day and apply to this site.

    Args:
        query: A few words, for example `width of two-way cycle track`.
    """
    if not ctx.deps.take_turn():
        return ENOUGH
    found = await ctx.deps.draft.search_policy(query, ctx.deps.policy.search)
    return shown.policy_passages(ctx.deps.draft, found)


async def read_policy(ctx: RunContext[Bench], policy: str) -> str:
    """Read the whole section of a policy passage.

    Args:
        policy: Its label, for example `P4`.
    """
    if not ctx.deps.take_turn():
        return ENOUGH
    passage = ctx.deps.draft.labels.find(policy)
    if passage is None:
        raise ModelRetry(f"There is no policy passage {policy!r}. Use a label that you were shown")
    found = ctx.deps.draft.add_policies([await ctx.deps.policy.section(passage)])
    return shown.policy_passages(ctx.deps.draft, found)


async def calculate(ctx: RunContext[Bench], expression: str) -> str:
    """Calculate with + - * / and brackets.

    Args:
        expression: For example `127 + 7` or `212 / 900`.
    """
    return _or_retry(lambda: ctx.deps.draft.calculate(expression)).expression


def _or_retry(work: Callable[[], T]) -> T:
    try:
        return work()
    except InvalidInput as error:
        raise ModelRetry(error.message) from None
