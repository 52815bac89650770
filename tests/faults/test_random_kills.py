"""Random kills of any process over mixed work. `KILLS` says how many; `random_kills.py` runs 200 by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from random_kills import soak

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.mark.fault(
    "any process, at random moments (kill -9)",
    phase="all of reviews and policy uploads",
    until="the kills end: each is followed by others",
    seen="a review completes, or is `failed` after three interruptions and says so",
)
async def test_random_kills_lose_double_wedge_and_disorder_nothing(tmp_path: Path) -> None:
    tally = await soak(int(os.environ.get("KILLS", "40")), pause=2.0, seed=7, folder=tmp_path)
    assert not tally.lost, tally
    assert not tally.doubled, tally
    assert not tally.stuck, tally
    assert not tally.disordered, tally
    assert tally.reviews["completed"] + tally.reviews["failed"] + tally.reviews["cancelled"] > 0, tally
