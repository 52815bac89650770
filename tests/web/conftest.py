"""The site with sign-in off, its settings, and a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from page_samples import NOWHERE, browser, result
from playwright.sync_api import Browser, sync_playwright
from whole_site import CHROMIUM_ARGUMENTS, axe_source, chromium

from review_states import complete
from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.config import Settings, load_settings


@pytest.fixture(scope="module", name="browser")
def real_browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    source = axe_source(tmp_path_factory.mktemp("axe"))
    if source is None:
        pytest.skip("axe-core cannot be installed here (npm is needed)")
    return source


@pytest.fixture
def site_settings(clean_redis_url: str, tmp_path: Path, free_port: Callable[[], int]) -> Callable[..., Settings]:
    """Own data folder; nobody listens at the other parts' ports unless a test starts them."""

    def make(**overrides: Any) -> Settings:
        names = (
            "cherwell_scraper_port",
            "document_store_port",
            "policy_kb_port",
            "library_port",
            "graph_port",
            "reviewer_port",
        )
        ports = {name: free_port() for name in names if name not in overrides}
        given = {"cherwell_portal_url": NOWHERE, **ports, **overrides}
        return load_settings(redis_url=clean_redis_url, trigpoint_data_dir=tmp_path / "data", **given)

    return make


@pytest.fixture
def site(site_settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    with serving(create_app(site_settings())) as address, browser(address) as client:
        yield client


@pytest.fixture
def submit(site: httpx.Client) -> Callable[..., str]:
    """Submits by the form; returns the review's page."""

    def send(ref: str = "25/01178/REM", **fields: Any) -> str:
        answer = site.post("/reviews", data={"application_ref": ref, "include_policy_matrix": "1", **fields})
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    return send


@pytest.fixture
def finished(submit: Callable[..., str], clean_redis_url: str) -> str:
    """The page of a completed review."""
    place = submit()
    complete(clean_redis_url, result())
    return place
