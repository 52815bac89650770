"""Everything that a reviewer needs, running: a planning portal, the API, the servers and a worker, on real stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trigpoint.config import load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint_process import Running, environment


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoPortal]:
    settings = load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("portal"))
    with DemoPortal(sample_register(settings), port=0) as server:
        yield server


@pytest.fixture(scope="session")
def everything(portal: DemoPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("everything")
    known = {"CHERWELL_PORTAL_URL": portal.url, "SCRAPER_RATE_LIMIT": "0", "JOB_LEASE_SECONDS": "3"}
    env = environment(folder / "data", **known)
    with Running("up", env=env) as up:
        yield up
