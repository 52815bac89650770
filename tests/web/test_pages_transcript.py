"""The transcript of a review on its page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from page_samples import browser

from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.config import Settings

CALL = {
    "request": {
        "messages": [
            {
                "instructions": "You judge.",
                "parts": [{"part_kind": "user-prompt", "content": ["<script>alert(1)</script>"]}],
            }
        ],
        "tools": [],
    },
    "response": {"parts": [{"part_kind": "tool-call", "tool_name": "hand_in", "args": {"findings": []}}]},
}


@pytest.fixture
def settings(site_settings: Callable[..., Settings]) -> Settings:
    return site_settings()


@pytest.fixture
def site(settings: Settings) -> Iterator[httpx.Client]:
    with serving(create_app(settings)) as address, browser(address) as client:
        yield client


def test_the_transcript_of_a_review_is_read_on_its_page(site: httpx.Client, finished: str, settings: Settings) -> None:
    assert "transcript</a>" not in site.get(finished).text
    assert site.get(f"{finished}/transcript").status_code == 404
    folder = settings.data_dir / "transcripts"
    folder.mkdir(parents=True)
    (folder / f"{finished.rpartition('/')[2]}.jsonl").write_text(json.dumps(CALL) + "\n")
    assert f'href="{finished}/transcript"' in site.get(finished).text
    page = site.get(f"{finished}/transcript").text
    assert "You judge." in page
    assert "hand_in" in page
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
