"""`trigpoint up` and `trigpoint serve` as a user meets them: start, table, health, second start, taken port, Ctrl-C."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from trigpoint.demo.portal import DemoPortal
from trigpoint.mcp.client import ToolClient
from trigpoint_process import SMALL, Running, environment, finished, submitted, trigpoint

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running("up", env=environment(tmp_path_factory.mktemp("up") / "data")) as running:
        yield running


def test_the_start_says_what_runs_where_who_may_call_and_where_the_data_is(up: Running) -> None:
    for part in ("API and pages", "scraper", "document-store", "policy-kb", "library", "graph", "worker"):
        assert part in up.output
    for name in ("API", "CHERWELL_SCRAPER", "DOCUMENT_STORE", "POLICY_KB", "LIBRARY", "GRAPH", "REVIEWER"):
        assert f"http://127.0.0.1:{up.port(name)}" in up.output
    assert "off" in up.output
    assert up.env["TRIGPOINT_DATA_DIR"] in up.output.replace("\n", "")


def test_it_is_healthy_and_has_its_policies_when_it_says_so(up: Running) -> None:
    assert up.get("/api/v1/health").json()["status"] == "healthy"
    policies = up.get("/api/v1/policies").json()["policies"]
    assert {"NPPF", "LTN_1_20"} <= {policy["source"] for policy in policies}
    in_force = up.get("/api/v1/policies/effective", params={"date": "2025-06-01"}).json()["policies"]
    assert all(one["effective_revision"] for one in in_force)


async def test_the_policies_can_be_searched_over_mcp(up: Running) -> None:
    async with ToolClient(up.url("POLICY_KB")) as tools:
        found = await tools.call("search_policy", {"query": "cycle parking", "effective_date": "2025-06-01"})
    assert found["results"]


def test_a_second_one_on_the_same_folder_is_one_clear_line(up: Running) -> None:
    ports = environment(Path(up.env["TRIGPOINT_DATA_DIR"]))
    second = trigpoint("up", env=ports)
    assert second.returncode == 1
    starting, line = second.stderr.strip().splitlines()
    assert starting.startswith("Starting Trigpoint")
    assert "already up" in line
    assert str(up.process.pid) in line
    assert "TRIGPOINT_DATA_DIR" in line


def test_a_taken_port_is_one_clear_line(tmp_path: Path) -> None:
    env = environment(tmp_path / "data", LOG_LEVEL="WARNING")
    with socket.create_server(("127.0.0.1", int(env["POLICY_KB_PORT"]))):
        failed = trigpoint("up", env=env)
    assert failed.returncode == 1
    starting, line = failed.stderr.strip().splitlines()
    assert starting.startswith("Starting Trigpoint")
    assert "policy-kb cannot listen on" in line
    assert env["POLICY_KB_PORT"] in line


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly_and_starts_again(tmp_path: Path, signum: int) -> None:
    env = environment(tmp_path / "data")
    with Running("up", env=env) as first:
        before = first.get("/api/v1/policies").json()
        assert first.stop(signum) == 0
    assert "Traceback" not in first.output
    with Running("up", env=env) as second:
        assert second.get("/api/v1/policies").json() == before
        assert second.stop(signum) == 0


def test_parts_in_processes_of_their_own_share_one_data_folder(tmp_path: Path, portal: DemoPortal) -> None:
    env = environment(tmp_path / "data", CHERWELL_PORTAL_URL=portal.url, SCRAPER_RATE_LIMIT="0")
    with ExitStack() as stack:
        parts = [
            stack.enter_context(Running("serve", "document-store", env=env, wait_for=("DOCUMENT_STORE",))),
            stack.enter_context(Running("serve", "scraper", "policy-kb", env=env, wait_for=("POLICY_KB",))),
            stack.enter_context(Running("serve", "worker", env=env, wait_for=(), says="jobs at once")),
            stack.enter_context(Running("serve", "api", env=env, wait_for=("API",))),
        ]
        seeded = trigpoint("policies", "seed", "--digest", env=env)
        assert seeded.returncode == 0, seeded.stdout + seeded.stderr
        assert "using the policy server" in seeded.stdout
        review = finished(parts[-1], submitted(parts[-1], SMALL))
        assert review["status"] == "completed", review
        assert [part.stop() for part in reversed(parts)] == [0, 0, 0, 0]
