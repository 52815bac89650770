"""A review led by a model, against a local server that speaks the Messages API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import anthropic
import pytest
from anthropic.resources.messages.messages import DEPRECATED_MODELS
from messages_server import Answer, MessagesServer
from openai_answers import in_chat_shape
from review_samples import evidence_of_text
from scripted_model import ScriptedModel, hand_in, supported, text_of, use_tool
from scripted_servers import REF, Kept, Servers

from trigpoint.config import Settings, load_settings
from trigpoint.review.agent.judging import ModelJudgement, judge_by_model
from trigpoint.review.aspects import aspect
from trigpoint.review.evidence import Evidence
from trigpoint.review.models import Progress, ReviewOptions, ReviewRequest
from trigpoint.review.pipeline import run_review
from trigpoint.review.policy_desk import PolicyDesk
from trigpoint.review.result import ReviewResult
from trigpoint.review.verify import verify

MODEL = "anthropic:claude-sonnet-5-5"
ROUTES = ("cycle_routes",)
TEXT = (
    "1 Proposed development\n\nThe proposed shared path along Mill Lane will be 2.5 m wide.\n\n"
    "Street lighting will be provided along the proposed path.\n"
)


def finding(**changes: Any) -> dict[str, Any]:
    return {
        "aspect": "cycle_routes",
        "question": "width",
        "outcome": "failed",
        "statement": "The shared path along Mill Lane is 2.5 m wide, below the 3.0 m asked for.",
        "evidence": [{"document": "D1", "page": 1, "words": "shared path along Mill Lane will be 2.5 m wide"}],
        "recommendation": "Widen the shared path along Mill Lane to 3.0 m",
    } | changes


def judged(*findings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"findings": list(findings or (finding(),)), **more}


CONCLUSION: dict[str, Any] = {
    "summary": [
        {"text": "Two hundred dwellings are proposed."},
        {"text": "The shared path along Mill Lane is 2.5 m wide.", "rests_on": ["F1"]},
    ],
    "recommendations": [{"text": "Widen the shared path along Mill Lane to 3.0 m.", "rests_on": ["F1"]}],
    "conditions": [{"text": "The path shall be 3.0 m wide before any home is occupied.", "rests_on": ["F1"]}],
    "stance": "object",
    "why_stance": "The path is too narrow.",
    "main": ["F1"],
    "letter": [
        {"heading": "A narrow path", "text": "The shared path along Mill Lane is 2.5 m wide.", "rests_on": ["F1"]}
    ],
}


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Settings whose model is served by the given function."""

    @contextmanager
    def serve(model: Callable[[dict[str, Any]], Answer], **overrides: Any) -> Iterator[tuple[MessagesServer, Settings]]:
        with MessagesServer(model) as server:
            monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            given = {"trigpoint_data_dir": tmp_path, "trigpoint_model": MODEL, **overrides}
            yield server, load_settings(**given)

    return serve


async def silent(share: float, detail: str) -> None:
    return None


async def judge(
    evidence: Evidence, settings: Settings, *, aspects: tuple[str, ...] = ROUTES, kept: Kept | None = None
) -> ModelJudgement:
    return await judge_by_model(
        evidence,
        tuple(aspect(one) for one in aspects),
        settings=settings,
        policy=PolicyDesk(Servers(), evidence.effective_date),
        checkpoints=kept or Kept(),
        step=silent,
    )


def test_the_model_of_the_settings_example_is_known_and_not_to_be_retired() -> None:
    description = Settings.model_fields["trigpoint_model"].description or ""
    assert MODEL in description
    name = MODEL.removeprefix("anthropic:")
    assert name in get_args(get_args(anthropic.types.Model)[0])
    assert name not in DEPRECATED_MODELS


async def test_a_review_goes_through_its_passes_and_every_claim_is_verified(use: Callable[..., Any]) -> None:
    model = ScriptedModel(judge=judged(), conclude=CONCLUSION)
    with use(model) as (_, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    judgement = judging.judgement
    assert dict(model.asked) == {"orient": 1, "read": 1, "judge": 1, "check": 1, "conclude": 1}
    [routes] = judgement.aspects
    assert [one.outcome for one in routes.findings][:1] == ["failed"]
    assert routes.findings[0].evidence[0].pages == (1,)
    assert judgement.conclusion is not None
    assert [one.text for one in judgement.conclusion.summary][1].startswith("The shared path")
    assert judgement.letter is not None
    assert (judgement.letter.stance, judgement.letter.grounds[0].heading) == ("object", "A narrow path")
    assert judgement.letter.grounds[0].references[0].text == "Document 1.pdf, page 1"
    after, count = verify(judgement, judging.evidence)
    assert (after.aspects, count.dropped) == (judgement.aspects, 0)
    quality = judgement.quality
    assert quality is not None
    assert (quality.submitted, quality.verified, quality.dropped, quality.support_checked) == (1, 1, 0, 1)
    assert {name: one.calls for name, one in quality.passes.items()} == dict(model.asked)
    assert judgement.tokens == 5 * 1000


async def test_the_model_is_shown_the_development_the_questions_and_whole_pages(use: Callable[..., Any]) -> None:
    with use(ScriptedModel(judge=judged())) as (server, settings):
        await judge(evidence_of_text(TEXT), settings)
    texts = [text_of(request) for request in server.requests]
    assert all("Erection of 200 dwellings" in text for text in texts[:3])
    assert "[D1 page 1]\n1 Proposed development" in texts[1]
    assert "width" in texts[2]
    assert "LTN 1/20" in texts[2]


async def test_orientation_shows_headings_and_what_it_corrects_counts_from_then_on(use: Callable[..., Any]) -> None:
    pages = f"{TEXT}\f2 Ecology\n\nBats were seen.\f3 Obligations\n\nThe park has 96 holiday lodges.\n"
    lodges = {"document": "D1", "page": 3, "words": "The park has 96 holiday lodges"}
    oriented = {
        "profile": {"uses": ["holiday"], "sizes": [{"use": "holiday", "size": 96, "unit": "unit", "quote": lodges}]},
        "also_read": [{"document": "D1", "first": 3, "last": 3}],
    }
    with use(ScriptedModel(orient=oriented, judge=judged())) as (server, settings):
        judging = await judge(evidence_of_text(pages, proposal="Change of use of land"), settings)
    asked, read = (text_of(server.requests[number]) for number in (0, 1))
    assert "D1: p2 2 Ecology; p3 3 Obligations" in asked
    assert "[D1 page 3]\n3 Obligations" in read
    assert "Bats were seen" not in read
    assert "uses: holiday 96 unit" in read
    assert judging.judgement.profile is not None
    assert judging.judgement.profile.has("holiday")
    quality = judging.judgement.quality
    assert quality is not None
    assert (quality.pages_read, quality.pages, quality.pages_not_read) == (2, 3, "Document 1, page 2")


async def test_what_cannot_be_verified_goes_back_with_the_reason_and_counts_when_mended(
    use: Callable[..., Any],
) -> None:
    wrong = finding(statement="The shared path along Mill Lane is 2.2 m wide.")
    model = ScriptedModel(judge=[judged(wrong), judged(finding(id="F1"))])
    with use(model) as (server, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    assert "2.2" in text_of(server.requests[3]).rpartition("These were not")[2]
    assert [one.text for one in judging.judgement.aspects[0].findings if "-" in one.check] == [finding()["statement"]]
    assert judging.judgement.quality is not None
    assert judging.judgement.quality.corrected == 1


async def test_what_fails_twice_is_dropped_with_everything_that_rests_on_it(use: Callable[..., Any]) -> None:
    wrong = finding(statement="The shared path along Mill Lane is 2.2 m wide.", id="F1")
    good = finding(question=None, requirement="Lighting", outcome="met", statement="The path will be lit.",
                   evidence=[{"document": "D1", "page": 1, "words": "Street lighting will be provided"}])  # fmt: skip
    model = ScriptedModel(judge=[judged(wrong | {"id": None}, good), judged(wrong)], conclude=CONCLUSION)
    with use(model) as (_, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    judgement = judging.judgement
    assert "2.2" not in judgement.model_dump_json(exclude={"notes"})
    assert judgement.conclusion is not None
    assert [one.text for one in judgement.conclusion.summary] == ["Two hundred dwellings are proposed."]
    assert judgement.conclusion.recommendations == ()
    assert judgement.letter is None
    assert judgement.quality is not None
    assert (judgement.quality.dropped, judgement.quality.sentences_dropped) == (1, 4)
    [left_out] = judgement.quality.left_out
    assert (left_out.id, left_out.by, left_out.question) == ("F1", "rules", "width")
    assert left_out.why == "a figure, a section or quoted words without a source"


async def test_a_claim_that_a_second_reader_finds_overstated_is_mended_or_dropped(use: Callable[..., Any]) -> None:
    def overstated(request: dict[str, Any]) -> Answer:
        return hand_in(
            {"opinions": [{"id": "F1", "support": "overstated", "outcome": "failed", "why": "3.0 m is not quoted"}]}
        )

    mended = finding(id="F1", statement="The shared path along Mill Lane will be 2.5 m wide.")
    model = ScriptedModel(judge=judged(), check=[overstated, supported], mend=judged(mended))
    with use(model) as (server, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    assert model.asked["check"] == 2
    assert judging.judgement.aspects[0].findings[0].text == mended["statement"]
    mending = next(text_of(request) for request in server.requests if "not accepted" in text_of(request))
    assert "3.0 m is not quoted" in mending
    with use(ScriptedModel(judge=judged(), check=overstated, mend=judged(mended))) as (_, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    assert [one for one in judging.judgement.aspects[0].findings if "-" in one.check] == []


async def test_the_checker_sees_the_claim_its_evidence_and_what_else_is_said_and_no_outcome(
    use: Callable[..., Any],
) -> None:
    with use(ScriptedModel(judge=judged())) as (server, settings):
        await judge(evidence_of_text(TEXT), settings)
    shown = text_of(server.requests[3])
    assert "will be 2.5 m wide" in shown
    assert "(asked for:" in shown
    assert "failed" not in shown
    elsewhere = [line for line in shown.splitlines() if "Street lighting" in line]
    assert elsewhere
    assert all(line.startswith("   also said: ") for line in elsewhere)


async def test_the_judge_looks_up_pages_policy_and_sums_of_this_application_only(use: Callable[..., Any]) -> None:
    looks = [
        lambda r: use_tool("search_documents", {"query": "street lighting"}),
        lambda r: use_tool("read_pages", {"document": "D1", "first": 1, "last": 1}),
        lambda r: use_tool("search_policy", {"query": "lighting"}),
        lambda r: use_tool("calculate", {"expression": "3.0 - 2.5"}),
        lambda r: use_tool("read_pages", {"document": "24/99999/F", "first": 1, "last": 1}),
        lambda r: use_tool("search_documents", {"query": "cycle parking", "application_ref": "24/99999/F"}),
        judged(),
    ]
    model = ScriptedModel(judge=looks)
    with use(model) as (server, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    said = text_of(server.requests[8])
    assert "D1 p1: Street lighting will be provided" in said
    assert "3.0 - 2.5 = 0.5" in said
    assert "There is no document '24/99999/F' in this review" in said
    assert "24/99999/F" not in judging.judgement.model_dump_json()
    assert len(judging.judgement.aspects[0].findings) >= 1


async def test_a_tool_loop_ends_and_the_aspect_is_judged_by_rules(use: Callable[..., Any]) -> None:
    model = ScriptedModel(judge=lambda r: use_tool("search_documents", {"query": f"again {len(r['messages'])}"}))
    with use(model, review_fallback=True) as (_, settings):
        judging = await judge(evidence_of_text(TEXT), settings)
    assert model.asked["judge"] == 16
    assert judging.judgement.fallback_from == MODEL
    assert any("no usable" in note for note in judging.judgement.notes)


async def _whole_review(settings: Settings, kept: Kept | None = None, servers: Servers | None = None) -> ReviewResult:
    async def report(progress: Progress) -> None:
        return None

    request = ReviewRequest("rev_1", REF, ReviewOptions(focus_areas=ROUTES))
    return await run_review(
        request, tools=servers or Servers(), checkpoints=kept or Kept(), report=report, settings=settings
    )


SERVED = finding(
    statement="The shared path is 2.5 m wide.",
    evidence=[{"document": "D1", "page": 4, "words": "The shared path is 2.5m wide."}],
    recommendation="Widen the shared path",
)


async def test_a_whole_review_by_model_says_which_model_and_what_it_spent(use: Callable[..., Any]) -> None:
    concluded = CONCLUSION | {
        "summary": [{"text": "The shared path is 2.5 m wide.", "rests_on": ["F1"]}],
        "recommendations": [{"text": "Widen the shared path.", "rests_on": ["F1"]}],
    }
    prices = {"review_price_input": 3.0, "review_price_output": 15.0}
    with use(ScriptedModel(judge=judged(SERVED), conclude=concluded), **prices) as (_, settings):
        result = await _whole_review(settings)
    assert (result.metadata.model, result.metadata.analyser) == (MODEL, "llm")
    assert result.metadata.total_tokens_used == 5000
    assert result.metadata.quality is not None
    assert result.metadata.quality.cost == pytest.approx(5 * (900 * 3 + 100 * 15) / 1e6, abs=1e-4)
    assert result.review.summary.startswith("The shared path is 2.5 m wide.")
    assert result.review.recommendations == ("Widen the shared path.",)
    assert "“The shared path is 2.5m wide.” (TA.pdf, page 4)" in result.review.full_markdown


NAMES = [MODEL, "anthropic:claude-haiku-4-5", "openai-chat:local"]


@pytest.mark.parametrize("name", NAMES)
async def test_a_review_runs_again_from_its_transcript_without_a_provider(
    name: str, use: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = SERVED | {"statement": "The shared path is 7.3 m wide."}
    script = ScriptedModel(judge=[judged(wrong), judged(SERVED | {"id": "F1"})], conclude=CONCLUSION)
    model = in_chat_shape(script) if name.startswith("openai") else script
    with use(model, review_transcripts=True, trigpoint_model=name) as (server, settings):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")
        first = await _whole_review(settings)
        asked = len(server.requests)
    if name.startswith("openai"):
        asked_by_us = [one for request in server.requests for one in request["messages"] if one["role"] == "user"]
        assert {type(one["content"]) for one in asked_by_us} == {str}
    assert script.asked["judge"] == 2
    transcript = tmp_path / "transcripts" / "rev_1.jsonl"
    assert len(transcript.read_text().splitlines()) == asked
    assert "test-key" not in transcript.read_text()
    replayed = load_settings(trigpoint_data_dir=tmp_path, trigpoint_model=f"replay:{transcript}")
    again = await _whole_review(replayed)
    assert "recorded earlier" in again.review.notice
    left_out = {"full_markdown", "notice"}
    assert json.dumps(again.review.model_dump(exclude=left_out, mode="json")) == json.dumps(
        first.review.model_dump(exclude=left_out, mode="json")
    )
    assert again.metadata.quality == first.metadata.quality
