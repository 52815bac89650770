"""The plan of a review by a model is near what the review then takes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from messages_server import Answer, MessagesServer
from review_samples import evidence_of_text
from scripted_model import Request, ScriptedModel, hand_in, pass_of, use_tool
from scripted_servers import Kept, Servers
from written_samples import written_evidence

from trigpoint.config import load_settings
from trigpoint.review.agent import plan as plans
from trigpoint.review.agent.judging import judge_by_model
from trigpoint.review.agent.plan import CHARACTERS_PER_TOKEN, make_plan
from trigpoint.review.aspects import load_aspects
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.policy_desk import PolicyDesk

MODEL = "anthropic:claude-sonnet-5-5"


class Weighing(ScriptedModel):
    """Looks something up once in each judging conversation, and weighs every request."""

    def __init__(self) -> None:
        super().__init__(judge=self._judge)
        self.tokens: Counter[str] = Counter()

    def __call__(self, request: Request) -> Answer:
        self.tokens[pass_of(request)] += int(len(json.dumps(request, ensure_ascii=False)) / CHARACTERS_PER_TOKEN)
        return super().__call__(request)

    def _judge(self, request: Request) -> Answer:
        if len(request["messages"]) == 1:
            return use_tool("search_documents", {"query": "cycle parking"})
        return hand_in({"findings": []})


async def _silent(share: float, detail: str) -> None:
    return None


@pytest.mark.parametrize("name", ["housing-hollins-fold", "school-st-aldhelm"])
async def test_calls_of_the_plan_are_those_made_and_tokens_of_each_pass_are_within_half(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    evidence, model = written_evidence(name), Weighing()
    with MessagesServer(model) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        settings = load_settings(trigpoint_data_dir=tmp_path, trigpoint_model=MODEL)
        planned = {one.name: one for one in make_plan(ReviewDraft(evidence, load_aspects()), settings).passes}
        await judge_by_model(
            evidence,
            load_aspects(),
            settings=settings,
            policy=PolicyDesk(Servers(), evidence.effective_date),
            checkpoints=Kept(),
            step=_silent,
        )
    calls = {part: model.asked[part] for part in ("orient", "read", "judge")}
    assert calls == {part: planned[part].calls for part in calls}
    answer = {"orient": plans._ORIENT_ANSWER_TOKENS, "read": plans._ANSWER_TOKENS, "judge": plans._ANSWER_TOKENS}
    asked = {part: planned[part].tokens - calls[part] * answer[part] for part in calls}
    near = {part: asked[part] / model.tokens[part] for part in calls}
    assert all(1 / 1.5 <= ratio <= 1.5 for ratio in near.values()), near


def test_a_page_that_is_longer_than_a_call_is_read_in_parts_and_to_its_end(tmp_path: Path) -> None:
    sentences = [f"The scheme will provide {n} covered cycle parking spaces in store {n}." for n in range(1, 1_801)]
    draft = ReviewDraft(evidence_of_text("1 Proposals\n\n" + "\n\n".join(sentences)), load_aspects())
    plan = make_plan(draft, load_settings(trigpoint_data_dir=tmp_path, trigpoint_model=MODEL))
    document = draft.sheets.labels["D1"]
    texts = [
        draft.sheets.window(document, 1, to=1, offset=one.offset, most=one.most).text for one in plan.windows
    ]  # fmt: skip
    assert (plan.pages, len(texts)) == (1, 5)
    read = [sentence for text in texts for sentence in sentences if f"{sentence}\n" in f"{text}\n"]
    assert read == sentences
