"""A letter that was answered as saved is there after the whole product is killed, in the middle of another save."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import httpx
import pytest

from trigpoint.demo.portal import DemoPortal
from trigpoint_process import SMALL, Running, environment, finished, submitted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_every_version_that_was_answered_survives_a_kill(tmp_path: Path, portal: DemoPortal) -> None:
    settings = {"CHERWELL_PORTAL_URL": portal.url, "SCRAPER_RATE_LIMIT": "0"}
    answered: list[int] = []
    with Running("up", env=environment(tmp_path / "data", **settings)) as up:
        review_id = submitted(up, SMALL)
        assert finished(up, review_id)["status"] == "completed"
        place = f"{up.url()}/api/v1/reviews/{review_id}/letter"
        letter = httpx.get(place, timeout=30).json()["letter"]

        def save_on() -> None:
            number = 0
            while True:
                words = letter | {"opening": f"Version {number + 1}."}
                try:
                    answer = httpx.put(place, json={"based_on": number, "letter": words}, timeout=10)
                except httpx.HTTPError:
                    return
                if answer.status_code != 200:
                    return
                number = int(answer.json()["version"])
                answered.append(number)

        writer = threading.Thread(target=save_on)
        writer.start()
        while len(answered) < 15:
            writer.join(0.05)
            assert writer.is_alive(), answered
        os.killpg(up.process.pid, signal.SIGKILL)
        writer.join(30)
    with Running("up", env=environment(tmp_path / "data", **settings)) as again:
        rows = again.get(f"/api/v1/reviews/{review_id}/letter/versions").json()["versions"]
        assert set(answered) <= {row["version"] for row in rows}
        for version in answered:
            kept = again.get(f"/api/v1/reviews/{review_id}/letter/versions/{version}").json()
            assert kept["letter"]["opening"] == f"Version {version}."
        current = again.get(f"/api/v1/reviews/{review_id}/letter").json()
        assert current["version"] == max(row["version"] for row in rows)
