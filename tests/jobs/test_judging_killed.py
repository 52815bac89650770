"""A worker process is killed while the model is being asked: the next one goes on, and no answer is paid for twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from fake_servers import FakeServers
from messages_server import Answer, MessagesServer, message
from scripted_model import PASSES, ScriptedModel, hand_in, pass_of
from test_worker_faults import worker
from watched_pipeline import until_status

from trigpoint.config import Settings
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.models import ReviewOptions

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

REF = "25/01178/REM"
FINDING: dict[str, Any] = {
    "aspect": "cycle_parking",
    "question": "quality",
    "outcome": "met",
    "statement": "Cycle parking is proposed, and nothing more is certain.",
    "evidence": [{"document": "D1", "page": 1, "words": "Cycle parking is proposed."}],
}
ANOTHER = FINDING | {"question": "short_stay", "statement": "Cycle parking is proposed."}
MENDED = FINDING | {"id": "F1", "statement": "Cycle parking is proposed."}
CONCLUSION = {"summary": [{"text": "Cycle parking is proposed.", "rests_on": ["F1"]}], "stance": "comment"}


class HeldModel:
    """A scripted model that keeps the first request of one pass waiting until the test lets it go."""

    def __init__(self, held: str) -> None:
        self.held = held
        self.entered, self.released = threading.Event(), threading.Event()
        self.requests: Counter[str] = Counter()
        opinions = [{"id": "F1", "support": "overstated", "outcome": "met", "why": "more is said than quoted"}]
        self.script = ScriptedModel(
            judge={"findings": [FINDING, ANOTHER]},
            check=[
                lambda _: hand_in({"opinions": opinions}),
                {"opinions": [{"id": "F1", "support": "supported", "outcome": "met"}]},
            ],
            mend={"findings": [MENDED]},
            conclude=CONCLUSION,
        )

    def __call__(self, request: dict[str, Any]) -> Answer:
        if "tools" not in request:
            return message([{"type": "text", "text": "ready"}], "end_turn")
        self.requests[json.dumps(request, sort_keys=True)] += 1
        if pass_of(request) == self.held and not self.entered.is_set():
            self.entered.set()
            self.released.wait(180)
            return message([{"type": "text", "text": "nobody waits for this"}], "end_turn")
        return self.script(request)


@pytest.mark.parametrize("held", PASSES)
async def test_a_worker_killed_while_the_model_is_asked_spends_nothing_twice(
    held: str,
    reviews: Reviews,
    fakes: FakeServers,
    job_settings: Callable[..., Settings],
) -> None:
    settings, model = job_settings(**fakes.settings()), HeldModel(held)
    options = ReviewOptions(focus_areas=("cycle_parking",))
    review_id = (await reviews.create(REF, options, None, request_id="-")).review_id
    with MessagesServer(model) as server:
        env = {"TRIGPOINT_MODEL": "anthropic:claude-sonnet-5-5", "ANTHROPIC_API_KEY": "test-key"}
        env["ANTHROPIC_BASE_URL"] = server.url
        with worker(settings, **env) as first:
            assert await asyncio.to_thread(model.entered.wait, 120)
            os.kill(first.pid, signal.SIGKILL)
            first.wait(10)
        assert (await reviews.get(review_id)).status == "processing"
        model.released.set()
        with worker(settings, **env):
            assert await until_status(reviews, review_id, "completed", "failed", seconds=120) == "completed"
    assert sorted(model.requests.values()) == [1] * (len(model.requests) - 1) + [2], "only what was never answered"
    assert dict(model.script.asked) == {
        "orient": 1,
        "read": 1,
        "judge": 1,
        "check": 2,
        "mend": 1,
        "compare": 1,
        "conclude": 1,
    }
    result = (await reviews.get(review_id)).result()
    assert result.metadata.total_tokens_used == 8 * 1000  # with what the killed worker spent
    assert result.metadata.quality is not None
    assert (result.metadata.quality.verified, result.metadata.quality.corrected) == (2, 1)
    assert result.review.summary.startswith("Cycle parking is proposed.")
