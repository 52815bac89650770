"""Every finding that is handed in ends in exactly one way, whatever is said of it and in whichever order."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from review_samples import evidence_of_text
from test_draft import finding, quote
from test_held_findings import ASPECTS, CONTRADICTION, NOT_SHOWN, TEXT

from trigpoint.review.checked import Failure
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.submitted import DraftConclusion, SummarySentence

EVIDENCE = evidence_of_text(TEXT)
POOL: list[dict[str, Any]] = [
    {},
    {"statement": "The shared path along Mill Lane will be 2.5 m wide."},
    {"statement": "The path is 9.9 m wide."},
    {"statement": "All shared paths are 2.5 m wide."},
    {"outcome": "failed", "statement": "The 2.5 m shared path along Mill Lane is too narrow."},
    {"outcome": "met", "statement": "The shared path along Mill Lane will be 2.5 m wide.", "recommendation": None},
    {"policy": [{"policy": "P99"}]},
    {"outcome": "partly"},
    {"outcome": "partly", "lacking": "It is narrower than policy asks."},
    {"outcome": "partly", "lacking": "We did not find lighting.", "looked_for": ["street lighting"]},
    {"outcome": "met", "lacking": "It is 1.1 m too narrow."},
    {"evidence": [quote("nowhere to be found in it")]},
    {"question": None, "requirement": "Wide paths", "statement": "The shared path along Mill Lane is 400 m long."},
    CONTRADICTION,
    {"outcome": "noted", "statement": "The shared path along Mill Lane will be 2.5 m wide."},
    NOT_SHOWN | {"statement": "We found no room for cargo bikes among the 144 spaces."},
    NOT_SHOWN | {"statement": "We found no room for cargo bikes.", "question": "width", "aspect": "cycle_routes"},
    NOT_SHOWN | {"statement": "Nothing.", "looked_for": []},
]
INSTEAD = ["", "The shared path along Mill Lane will be 2.5 m wide.", "The shared path will be 9.9 m wide."]


def _submit(draft: ReviewDraft, choose: random.Random) -> None:
    ids = [None, *draft.state.held]
    some = [finding(**choose.choice(POOL), id=choose.choice(ids)) for _ in range(choose.randint(1, 3))]
    answers = draft.submit_findings(some)
    assert len({one.id for one in answers}) == len(some)
    for answer in answers:
        assert answer.id in draft.state.held
        assert answer.verdict == "verified" or answer.reasons


def _second_reader(draft: ReviewDraft, choose: random.Random) -> None:
    if names := list(draft.verified()):
        name = choose.choice(names)
        refs = [one.ref for one in draft.verified()[name].policy]
        draft.record_support(
            name,
            choose.choice(["supported", "overstated", "not_supported"]),
            "it says less",
            choose.choice(INSTEAD),
            choose.choice([None, "partly", "met", "noted", "not_shown"]),
            refs[: choose.randint(0, 1)],
            choose.choice(["shown", "not_shown"]),
            choose.choice(["", "It is narrower than asked.", "It is 8.8 m short."]),
        )


def _absorb(draft: ReviewDraft, choose: random.Random) -> None:
    fork = draft.fork()
    _submit(fork, choose)
    fork.settle()
    draft.absorb(fork)


STEPS = [
    _submit,
    _submit,
    _second_reader,
    _second_reader,
    _absorb,
    lambda draft, choose: draft.settle(),
    lambda draft, choose: draft.give_up(choose.sample(list(draft.state.held), min(1, len(draft.state.held)))),
    lambda draft, choose: draft.refuse([finding()], Failure.STEP),
]


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9), st.integers(1, 14))
def test_a_finding_is_published_merged_or_dropped_with_a_reason_and_only_one_of_these(seed: int, steps: int) -> None:
    choose = random.Random(seed)
    draft = ReviewDraft(EVIDENCE, ASPECTS)
    for _ in range(steps):
        choose.choice(STEPS)(draft, choose)
    draft.settle()
    draft.open_noted()
    held = draft.state.held
    assert {one.verdict.verdict for one in held.values()} <= {"verified", "dropped"}

    counting = [name for name, one in held.items() if one.counts]
    repeats = choose.sample(counting, min(1, len(counting)))
    summary = (SummarySentence(text="A path is proposed."),)
    judged = draft.conclude(DraftConclusion(summary=summary, stance="comment", repeats=tuple(repeats)), model="test")
    assert draft.state.conclusion is not None
    repeats = [name for name in repeats if name in draft.state.conclusion.repeats]  # not the only answer to a question
    published = {one.check for aspect in judged.aspects for one in aspect.findings if "-f" in one.check}
    points = [point.reason for aspect in judged.aspects for point in aspect.not_assessed]
    quality = draft.quality()
    left_out = {one.id: one for one in quality.left_out}
    assert len(left_out) == len(quality.left_out)
    for name, one in held.items():
        shown = one.finding is not None and one.finding.check in published
        shown = shown or (one.open_point is not None and one.counts and one.open_point.reason in points)
        assert shown == (one.counts and name not in repeats) or (one.open_point is not None and name in repeats)
        assert (name in left_out) == (not one.counts or name in repeats)
        assert name not in left_out or (left_out[name].why and left_out[name].by)
    assert quality.submitted == len(held) == quality.verified + quality.merged + quality.dropped
    assert len(left_out) == quality.merged + quality.dropped
