"""Judge a review by a model: the passes in order, budgets of time and tokens, and what happens when the model fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import infer_model

from trigpoint.config import Settings
from trigpoint.errors import AnalysisFailed, TrigpointError, shorten
from trigpoint.review.agent.calls import BudgetSpent, Ledger, ModelDesk
from trigpoint.review.agent.lookups import PolicyReader
from trigpoint.review.agent.passes import Passes, Step
from trigpoint.review.agent.shown import suspects
from trigpoint.review.aspects import Aspect
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.evidence import Evidence
from trigpoint.review.models import Checkpoints
from trigpoint.review.result import Judgement
from trigpoint.review.rules import judge_by_rules
from trigpoint.review.submitted import DraftConclusion
from trigpoint.review.transcripts import open_model

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ModelJudgement:
    """A judgement and the evidence it rests on, with the policies that were looked up on the way."""

    judgement: Judgement
    evidence: Evidence


async def judge_by_model(
    evidence: Evidence,
    aspects: Sequence[Aspect],
    *,
    settings: Settings,
    policy: PolicyReader,
    checkpoints: Checkpoints,
    step: Step,
    transcript: Path | None = None,
) -> ModelJudgement:
    """Judge by the model of the settings.

    If it fails after some aspects were judged, what was verified counts, rules judge the rest, and a note says so. If it
    fails before, the answer is AnalysisFailed, or with `REVIEW_FALLBACK` a brief by rules that says so.
    """
    name = settings.trigpoint_model
    assert name is not None
    ledger = Ledger(settings)
    draft = ReviewDraft(evidence, aspects)
    if not draft.sheets.all:
        return _concluded(draft, None, name, ledger, ("No document could be read: the model was not asked",))
    try:
        model = infer_model(open_model(name, transcript))
    except (UserError, ValueError, ImportError) as error:
        return await _after_failure(_reason(error, settings), error, evidence, aspects, settings, ledger)
    turn = asyncio.Semaphore(settings.review_model_concurrency)
    passes = Passes(draft, ModelDesk(model, settings, checkpoints, ledger, turn), policy, settings, step)
    conclusion: DraftConclusion | None = None
    try:
        async with asyncio.timeout(settings.review_time_budget_seconds):
            conclusion = await _run(passes)
    except (AgentRunError, UserError, TimeoutError, OSError, BudgetSpent) as error:
        reason = _reason(error, settings)
        if not passes.judged:
            return await _after_failure(reason, error, evidence, aspects, settings, ledger)
        log.warning("the model %s stopped: %s", name, reason)
        passes.draft.settle()
        passes.notes.append(f"The model stopped before the end ({reason}): what it had judged and was verified counts")
    if not passes.judged:
        reason = "it gave no usable answer"
        return await _after_failure(reason, None, evidence, aspects, settings, ledger, passes.notes)
    return _concluded(draft, conclusion, name, ledger, (*suspects(evidence.documents), *passes.notes))


async def _run(passes: Passes) -> DraftConclusion | None:
    await passes.orient()
    await passes.read()
    await passes.judge()
    await passes.check()
    await passes.mend()
    await passes.check()
    passes.draft.settle()
    passes.draft.open_unsettled()
    await passes.compare()
    return await passes.conclude()


def _concluded(
    draft: ReviewDraft, conclusion: DraftConclusion | None, name: str, ledger: Ledger, notes: Sequence[str]
) -> ModelJudgement:
    judgement = draft.conclude(conclusion, model=name)
    assert judgement.quality is not None
    dropped = len(draft.check_conclusion(conclusion)) if conclusion else 0
    quality = judgement.quality.model_copy(
        update={"passes": ledger.passes, "cost": ledger.cost, "sentences_dropped": dropped}
    )
    changed = {"quality": quality, "tokens": ledger.tokens, "notes": tuple(notes)}
    return ModelJudgement(judgement.model_copy(update=changed), draft.evidence)


async def _after_failure(
    reason: str,
    error: Exception | None,
    evidence: Evidence,
    aspects: Sequence[Aspect],
    settings: Settings,
    ledger: Ledger,
    notes: Sequence[str] = (),
) -> ModelJudgement:
    log.warning("the model %s failed: %s", settings.trigpoint_model, reason)
    if not settings.review_fallback:
        raise AnalysisFailed(
            f"The model {settings.trigpoint_model} failed: {reason}. Set REVIEW_FALLBACK=true to judge by rules then"
        ) from error
    judged = await asyncio.to_thread(judge_by_rules, evidence, aspects)
    note = f"The model {settings.trigpoint_model} failed ({reason}); judged by rules instead"
    changed = {"notes": (note, *notes), "tokens": ledger.tokens, "fallback_from": settings.trigpoint_model}
    return ModelJudgement(judged.model_copy(update=changed), evidence)


def _reason(error: Exception, settings: Settings) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {settings.review_time_budget_seconds:g} s"
    said = error.message if isinstance(error, TrigpointError) else str(error)
    return shorten(" ".join(said.split()) or type(error).__name__, 200)
