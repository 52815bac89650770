"""The passes of a review led by a model. Each works on the draft, which checks whatever is handed in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from pydantic_ai import Agent, ModelRetry, RunContext, ToolOutput
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import CachePoint, UserContent
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from trigpoint.config import Settings
from trigpoint.errors import shorten
from trigpoint.review.agent import instructions, shown
from trigpoint.review.agent.answers import Judged, Mended, Opinions, Oriented, ReadFacts
from trigpoint.review.agent.calls import ModelDesk
from trigpoint.review.agent.lookups import Bench, PolicyReader, add_lookups
from trigpoint.review.agent.plan import CLAIMS_PER_CHECK, Window, candidates_by_group, make_plan, packed
from trigpoint.review.agent.shown_claims import claims, side_by_side
from trigpoint.review.checked import Failure
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.held import Held
from trigpoint.review.orientation import Candidate
from trigpoint.review.submitted import Comparison, DraftConclusion, Submitted, Verdict

RETRIES = 2
MOST_REQUESTS = 16  # of one conversation
MENDED_AT_ONCE = 12
_LONGEST_ANSWER = {
    "orient": 2_000,
    "read": 18_000,
    "judge": 14_000,
    "check": 6_000,
    "mend": 10_000,
    "compare": 9_000,
    "conclude": 10_000,
}

Step = Callable[[float, str], Awaitable[None]]
Answer = TypeVar("Answer", bound=Submitted)


@dataclass
class Passes:
    """One review: its draft, the desk that calls go through, and the policy that may be looked up."""

    draft: ReviewDraft
    desk: ModelDesk
    policy: PolicyReader
    settings: Settings
    step: Step
    notes: list[str] = field(default_factory=list)
    judged: dict[tuple[str, ...], ReviewDraft] = field(default_factory=dict)
    also_read: tuple[str, ...] = ()

    async def orient(self) -> None:
        """Let the model correct the profile and add pages to the reading list."""
        await self.step(0.0, "Orienting")
        known = self.draft.orientation()
        plan = make_plan(self.draft, self.settings)
        keys = list(dict.fromkeys(key for window in plan.windows for key in window.keys))
        text = shown.pages_to_read(self.draft.sheets, keys)
        parts = [part for part in (shown.application(known), shown.sizes(self.draft), text) if part]
        answer = await self._ask("orient", instructions.ORIENT, Oriented, parts)
        if answer is None:
            return
        if answer.profile is not None:
            verdict = self.draft.correct_profile(answer.profile)
            self.notes += [f"A correction of the profile was not accepted: {reason}" for reason in verdict.reasons]
        self.also_read = tuple(
            f"{pages.document.strip().upper()}:{number}"
            for pages in answer.also_read
            for number in range(pages.first, min(pages.last, pages.first + 30) + 1)
        )

    async def read(self) -> None:
        """Have the pages that matter read into facts, several calls at once, and taken over in the order of the pages."""
        plan = make_plan(self.draft, self.settings, self.also_read)
        parcels = packed(plan.windows)
        done = 0

        async def one(parcel: Sequence[Window]) -> ReadFacts | None:
            nonlocal done
            answer = await self._read_parcel(parcel)
            done += 1
            await self.step(0.05 + 0.4 * done / len(parcels), f"Read {done} of {len(parcels)} parts of the documents")
            return answer

        for parcel, answer in zip(parcels, await gather_all([one(parcel) for parcel in parcels]), strict=True):
            keys = [key for window in parcel for key in window.keys]
            if answer is None:
                self.notes.append(f"The model did not read {self.draft.sheets.named(keys)}; rules did")
                continue
            self.draft.note_read(keys)
            self.draft.submit_facts(answer.facts)
        if plan.left_out:
            named = self.draft.sheets.named(sheet.key for sheet in plan.left_out)
            count = len(plan.left_out)
            self.notes.append(
                f"{count} page{'' if count == 1 else 's'} went beyond the budget for reading (REVIEW_MAX_TOKENS): {named}"
            )

    async def _read_parcel(self, parcel: Sequence[Window]) -> ReadFacts | None:
        known = self.draft.orientation()
        pages = [shown.block(f"pages of {window.label}", self._text(window)) for window in parcel]
        return await self._ask(
            "read", instructions.READ, ReadFacts, [f"{shown.application(known)}\n{shown.topics()}", "\n\n".join(pages)]
        )

    def _text(self, window: Window) -> str:
        document = self.draft.sheets.labels[window.label]
        pages: Sequence[int | None] = window.pages or (None,)
        texts = [
            self.draft.sheets.window(document, page, to=page, offset=window.offset, most=window.most).text
            for page in pages
        ]
        return "\n\n".join(texts)

    async def judge(self) -> None:
        """Have the aspects judged in groups at the same time, each on a copy of the draft, and put them together in order."""
        groups = make_plan(self.draft, self.settings).groups
        candidates = candidates_by_group(self.draft.orientation().candidates, groups)

        async def one(group: tuple[str, ...]) -> None:
            bench = Bench(self.draft.fork(), self.policy, group, groups)
            if await self._judge_group(bench, candidates[group]) is None:
                self.notes.append(f"The model gave no usable judgement on {', '.join(group)}; rules judged it")
                return
            bench.draft.settle()
            self.judged[group] = bench.draft
            share = 0.45 + 0.3 * len(self.judged) / len(groups)
            await self.step(share, f"Judged {len(self.judged)} of {len(groups)} groups of aspects")

        try:
            await gather_all([one(group) for group in groups])
        finally:
            for group in groups:
                if group in self.judged:
                    self.draft.absorb(self.judged[group])

    async def _judge_group(self, bench: Bench, candidates: Sequence[Candidate]) -> Judged | None:
        known = bench.draft.orientation()
        entries = [entry for entry in known.aspects if entry.id in bench.aspects]
        suspected = shown.suspected(candidates)
        text = "\n\n".join(
            [
                *(shown.aspect(entry, bench.draft) for entry in entries),
                shown.facts(bench.draft, bench.aspects, bench.groups),
                *(part for part in (shown.secured(bench.draft.sheets), suspected) if part),
            ]
        )
        return await self._ask("judge", instructions.JUDGE, Judged, [shown.application(known), text], bench)

    async def check(self) -> None:
        """Have a second reader check every claim that has not been checked against its evidence alone."""
        held = self.draft.state.held
        names = [name for name in self.draft.verified() if held[name].support is None]
        batches = [names[at : at + CLAIMS_PER_CHECK] for at in range(0, len(names), CLAIMS_PER_CHECK)]
        await self.step(0.78, f"Checking {len(names)} findings against their evidence")
        for batch, answer in zip(batches, await gather_all([self._check(batch) for batch in batches]), strict=True):
            opinions = {one.id: one for one in answer.opinions} if answer is not None else {}
            for name in batch:
                if (said := opinions.get(name)) is not None:
                    why = shorten(said.why, 300)
                    self.draft.record_support(
                        name,
                        said.support,
                        why,
                        said.instead,
                        said.outcome,
                        said.unfit,
                        said.lack,
                        said.lack_instead,
                        said.also,
                    )

    async def _check(self, names: Sequence[str]) -> Opinions | None:
        return await self._ask("check", instructions.CHECK, Opinions, [claims(names, self.draft)])

    async def mend(self) -> None:
        """Send back once what did not hold, a few findings to a call; what is not mended is settled without the model."""
        waiting = list(self.draft.returned().items())
        if not waiting:
            return
        await self.step(0.85, f"Mending {len(waiting)} findings")
        batches = [dict(waiting[at : at + MENDED_AT_ONCE]) for at in range(0, len(waiting), MENDED_AT_ONCE)]
        for answer in await gather_all([self._mend(batch) for batch in batches]):
            if answer is not None:
                self.draft.give_up(name for name in answer.give_up if name in dict(waiting))
                self.draft.submit_findings(answer.findings)
        self.draft.settle()

    async def _mend(self, waiting: Mapping[str, Held]) -> Mended | None:
        request = [shown.application(self.draft.orientation()), shown.returned(waiting, self.draft)]
        bench = Bench(self.draft.fork(), self.policy)
        answer = await self._ask("mend", instructions.MEND, Mended, request, bench)
        self.draft.take_look_ups(bench.draft)
        if answer is None:
            return None
        mended = tuple(self.draft.relabelled(one, bench.draft) for one in answer.findings)
        return answer.model_copy(update={"findings": mended})

    async def compare(self) -> None:
        """Have all findings read side by side: what repeats or overtakes another, and whose outcome does not stand."""
        if len(self.draft.verified()) < 2:
            return
        await self.step(0.9, "Comparing the findings with each other")
        text = [shown.application(self.draft.orientation()), side_by_side(self.draft)]
        answer = await self._ask("compare", instructions.COMPARE, Comparison, text)
        if answer is not None:
            self.draft.compare(answer)

    async def conclude(self) -> DraftConclusion | None:
        """Return the conclusion of the model, or None if nothing is left to conclude from or it gave none."""
        if not self.draft.verified():
            return None
        await self.step(0.93, "Concluding")
        bench = Bench(self.draft, self.policy)
        known = self.draft.orientation()
        text = [shown.application(known), shown.verified(self.draft), shown.answers_of_consultees(self.draft)]
        text = [part for part in text if part]
        return await self._ask("conclude", instructions.CONCLUDE, DraftConclusion, text, bench)

    async def _ask(
        self, name: str, told: str, output: type[Answer], text: Sequence[str], bench: Bench | None = None
    ) -> Answer | None:
        """Return what the model hands in; None if it gives no usable answer, or goes round in circles."""
        agent: Agent[Bench, Answer] = Agent(
            self.desk.for_pass(name),
            deps_type=Bench,
            output_type=ToolOutput(output, name="hand_in"),
            instructions=told,
            retries=RETRIES,
            model_settings=_settings(name, self.settings),
        )
        if name in ("judge", "mend"):
            add_lookups(agent)
        if name in _VALIDATORS:
            agent.output_validator(_VALIDATORS[name])
        limits = UsageLimits(request_limit=MOST_REQUESTS, total_tokens_limit=None)
        content: list[UserContent] = [text[0], CachePoint(), *text[1:]] if len(text) > 1 else [*text]
        try:
            run = await agent.run(content, deps=bench or Bench(self.draft, self.policy), usage_limits=limits)
        except (UnexpectedModelBehavior, UsageLimitExceeded) as error:
            self.notes.append(f"The model gave no usable answer ({name}): {shorten(' '.join(str(error).split()), 160)}")
            return None
        return run.output


def _settings(name: str, settings: Settings) -> ModelSettings:
    """Return the settings of a call. Those of one provider are ignored by the others."""
    given: dict[str, Any] = {
        "max_tokens": _LONGEST_ANSWER[name],
        "thinking": False,
        "timeout": settings.review_call_timeout_seconds,
        "parallel_tool_calls": True,
        "anthropic_cache_instructions": True,
        "anthropic_cache_tool_definitions": True,
    }
    return cast(ModelSettings, given)


def _hold_findings(ctx: RunContext[Bench], answer: Judged) -> Judged:
    """Hand the findings in; what is returned goes back to the model, once."""
    bench = ctx.deps
    own = [one for one in answer.findings if one.aspect in bench.aspects or one.settles]
    strange = [one for one in answer.findings if one not in own]
    bench.draft.refuse(strange, Failure.STEP)
    dismissed = bench.draft.dismiss(answer.dismissed)
    bench.draft.give_up(name for name in answer.give_up if name in bench.draft.returned())
    verdicts = bench.draft.submit_findings(own)
    back = [one for one in verdicts if one.verdict == "returned"]
    if bench.sent_back or not back:
        return answer
    bench.sent_back = True
    named = ", ".join(dict.fromkeys(one.aspect for one in strange))
    others = [f"Findings on {named} belong to another step and were left out"] if strange else []
    unknown = [reason for one in dismissed for reason in one.reasons]
    raise ModelRetry(
        "\n".join(
            [
                f"{len(verdicts) - len(back)} findings are settled. These were not accepted; hand in only these, mended, "
                "each under its id, and list in `give_up` those that you withdraw. What you neither mend nor withdraw is "
                "kept without the part that failed if the rest proves it, and is dropped otherwise:",
                *(_told(one) for one in back),
                *others,
                *unknown,
            ]
        )
    )


def _hold_comparison(ctx: RunContext[Bench], answer: Comparison) -> Comparison:
    """Send a comparison back once if it passes over findings: an outcome that nobody tests is one that nobody doubts."""
    bench = ctx.deps
    passed_over = [name for name in bench.draft.verified() if name not in answer.named]
    if bench.sent_back or not passed_over:
        return answer
    bench.sent_back = True
    raise ModelRetry(
        f"`outcomes` has no entry for {', '.join(passed_over)}. Hand in the whole comparison again, with one for each of them."
    )


def _hold_conclusion(ctx: RunContext[Bench], answer: DraftConclusion) -> DraftConclusion:
    """Send a conclusion back once if some of its sentences do not hold; what still does not is left out."""
    bench = ctx.deps
    wrong = bench.draft.check_conclusion(answer)
    if bench.sent_back or not wrong:
        return answer
    bench.sent_back = True
    raise ModelRetry(
        "\n".join(
            ["These would be left out. Hand in the whole conclusion again, mended:", *(_told(one) for one in wrong)]
        )
    )


def _told(verdict: Verdict) -> str:
    return f"- {verdict.id}: {'; '.join(verdict.reasons)}"


_VALIDATORS: dict[str, Any] = {"judge": _hold_findings, "compare": _hold_comparison, "conclude": _hold_conclusion}

T = TypeVar("T")


async def gather_all(work: Sequence[Awaitable[T]]) -> list[T]:
    """Return all results in order. If one fails, the others are cancelled and awaited before the error is raised."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
