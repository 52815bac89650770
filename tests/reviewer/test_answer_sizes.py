"""No answer is larger than agents take in: 25,000 tokens, also for an application of hundreds of dense pages."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "review"))

from review_samples import evidence_of_text

from trigpoint.config import load_settings
from trigpoint.jobs.led import LedReview
from trigpoint.mcp.answers import body_bytes
from trigpoint.mcp.review_answers import found_policy, verdicts_answer
from trigpoint.mcp.review_desk import Judging
from trigpoint.mcp.review_steps import _step, pages_window
from trigpoint.mcp.reviewer import MOST_BYTES
from trigpoint.review.aspects import load_aspects
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.models import ReviewOptions, ReviewRequest
from trigpoint.review.pipeline import Opened
from trigpoint.review.submitted import DraftFinding
from trigpoint.text.embed import EmbeddingService

MOST_TOKENS = 25_000


def dense_pages(count: int, lines: int = 40) -> str:
    """Pages of tables and prose, as transport assessments have them."""
    drawn = random.Random(7)
    rows = "\n".join(
        f"Cycle parking at plot {drawn.randrange(999)}: {drawn.randrange(99)} spaces, {drawn.random() * 9:.2f} m wide, "
        f"{drawn.randrange(1999)} trips, {drawn.random():.3f} per dwelling."
        for _ in range(lines)
    )
    return "\f".join(f"{number} Cycle parking and routes\n\n{rows}\n" for number in range(count))


@pytest.fixture(scope="module")
def judging() -> Judging:
    small = [dense_pages(1, lines=2) for _ in range(160)]
    evidence = evidence_of_text(dense_pages(20), dense_pages(20), *small)
    draft = ReviewDraft(evidence, [one.id for one in load_aspects()])
    request = ReviewRequest("rev_01ARZ3NDEKTSV4RRFFQ69G5FAV", "25/01178/REM", ReviewOptions())
    found = {"application": {"reference": "25/01178/REM"}, "effective_date": "2025-05-21"}
    run = SimpleNamespace()
    return Judging(LedReview(request, "processing", "Desk", 1.0), Opened(found, {}, {}), draft, run)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def tokens_of(tmp_path_factory: pytest.TempPathFactory):
    """Counts as a model's tokenizer does: one that cuts figures and rare words into small pieces."""
    service = EmbeddingService(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("tokens")))
    tokenizer = service._model.tokenizer
    tokenizer.no_truncation()

    def count(text: str) -> int:
        return sum(len(tokenizer.encode(text[start : start + 2000]).ids) - 2 for start in range(0, len(text), 2000))

    return count


def test_every_step_of_reading_a_large_application_stays_below_the_limit(judging: Judging, tokens_of) -> None:
    steps, largest = [], 0
    while "judge" not in steps:
        answer = _step(judging)
        steps.append(answer.step)
        largest = max(largest, tokens_of(answer.model_dump_json()))
        assert body_bytes(answer.model_dump(mode="json")) < MOST_BYTES
    assert largest < MOST_TOKENS
    assert largest > 5_000  # the limit is used: an agent does not call a hundred times
    assert steps.count("pages") > 5
    assert judging.draft.quality().pages_read == len(judging.draft.sheets.by_relevance)


def test_a_page_longer_than_an_answer_is_given_in_parts_that_make_it_whole(judging: Judging) -> None:
    draft = ReviewDraft(evidence_of_text("\n\n".join(dense_pages(20).split("\f"))), ["cycle_parking"])
    one = Judging(judging.led, judging.opened, draft, judging.run, steps_shown=99)
    texts = []
    while (answer := _step(one)).step == "pages":
        texts += [part.text for part in answer.pages]
        assert body_bytes(answer.model_dump(mode="json")) < MOST_BYTES
    assert len(texts) > 1
    whole = " ".join(draft.sheets.labels["D1"].text.split())
    shown = " ".join(" ".join(texts).replace("[D1 page 1]", "").split())
    assert shown == whole


def test_verdicts_and_policy_stay_below_the_limit(judging: Judging, tokens_of) -> None:
    finding = DraftFinding(
        aspect="cycle_parking",
        question="long_stay",
        outcome="failed",
        statement="Not what the page says " * 25,
        evidence=[{"document": "D1", "page": 1, "words": "not there " * 59}] * 6,
    )
    answer = verdicts_answer(judging.draft.submit_findings([finding] * 12), judging)
    assert tokens_of(answer.model_dump_json()) < MOST_TOKENS
    passages = list(judging.draft.labels.by_label.items())[:12]
    listed = [found_policy(label, passage).model_dump_json() for label, passage in passages]
    assert tokens_of(" ".join(listed)) < MOST_TOKENS
    assert tokens_of(pages_window(judging, "D1", 1, to=20, offset=0).model_dump_json()) < MOST_TOKENS
