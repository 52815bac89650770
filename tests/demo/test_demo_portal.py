"""The demo portal: the register's structure, the faults it was told to show, and what the commands make of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.faults import KINDS, parse_fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import InvalidInput, StoreError
from trigpoint.portal.listing import parse_documents
from trigpoint.portal.pages import parse_application, parse_html

MAIN = "25/01178/REM"


@pytest.fixture(scope="module")
def settings_of_module(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("demo-portal"))


@pytest.fixture
def portal(settings_of_module: Settings) -> Iterator[DemoPortal]:
    with DemoPortal(sample_register(settings_of_module)) as running:
        yield running


def test_its_pages_are_read_like_the_councils(portal: DemoPortal) -> None:
    for reference, sample in sample_applications().items():
        page = parse_html(httpx.get(f"{portal.url}/Planning/Display/{reference}").text)
        application = parse_application(page, reference)
        for field in ("address", "proposal", "applicant", "agent", "status", "ward", "parish", "case_officer"):
            assert getattr(application, field) == getattr(sample, field)
        for field in ("date_received", "date_validated", "consultation_end", "target_date"):
            assert getattr(application, field) == getattr(sample, field)
        documents = parse_documents(page, portal.url)
        assert [(one.file_name, one.document_type, one.date_published, one.drawing_ref) for one in documents] == [
            (one.file, one.section, one.date, one.drawing_ref) for one in sample.documents
        ]
        content = httpx.get(documents[-1].url).content
        assert content.startswith(b"%PDF-")
        assert len(content) == documents[-1].file_size


@pytest.mark.parametrize(
    "path", ["/", "/Search/Planning", f"/Planning/Display/{MAIN}", "/Planning/Display/25/99999/F", "/Document/Download"]
)
def test_every_page_says_that_it_is_fictional(path: str, portal: DemoPortal) -> None:
    assert "FICTIONAL SAMPLE" in httpx.get(portal.url + path).text


def test_faults_are_ordered_over_http_and_requests_are_logged(portal: DemoPortal) -> None:
    order = [{"kind": "error", "times": 1}, {"kind": "too_many", "times": 1, "value": "7"}]
    assert httpx.put(f"{portal.url}/_demo/faults", json=order).status_code == 200
    page = f"{portal.url}/Planning/Display/{MAIN}"
    assert httpx.get(page).status_code == 500
    refused = httpx.get(page)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
    assert httpx.get(page).status_code == 200
    assert httpx.get(f"{portal.url}/_demo/faults").json() == []
    log = httpx.get(f"{portal.url}/_demo/requests").json()
    assert [one["fault"] for one in log] == ["error", "too_many", None]
    assert httpx.put(f"{portal.url}/_demo/faults", json=[{"kind": "nonsense"}]).status_code == 422


def test_a_cut_connection_is_cut(portal: DemoPortal) -> None:
    httpx.put(f"{portal.url}/_demo/faults", json=[{"kind": "cut"}])
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{portal.url}/Planning/Display/{MAIN}")


def test_the_disclaimer_sends_back_only_to_this_portal(portal: DemoPortal) -> None:
    answer = httpx.post(f"{portal.url}/Disclaimer/Accept", params={"returnUrl": "http://evil.example/x"})
    assert answer.headers["location"] == "/"


def test_a_taken_port_is_a_clear_error(portal: DemoPortal) -> None:
    port = int(portal.url.rsplit(":", 1)[1])
    with pytest.raises(StoreError, match=str(port)):
        DemoPortal({}, port=port).start()


@pytest.mark.parametrize("kind", KINDS)
def test_faults_on_the_command_line(kind: str) -> None:
    assert parse_fault(f"{kind}:3:x").times == 3
    assert parse_fault(f"{kind}:*").times is None
    for bad in (f"{kind}x", f"{kind}:0", f"{kind}:a", ""):
        with pytest.raises(InvalidInput, match="disclaimer"):
            parse_fault(bad)


def trigpoint(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trigpoint.cli.main", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_commands_against_the_demo_portal(tmp_path: Path) -> None:
    data = {"TRIGPOINT_DATA_DIR": str(tmp_path)}
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "trigpoint.cli.main", "demo", "portal", "--port", "0", "--fault", "error:1"],
        env=os.environ | data,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:[0-9]+", server.stdout.readline())
        assert found is not None
        here = data | {"CHERWELL_PORTAL_URL": found[0], "SCRAPER_RATE_LIMIT": "0.01"}
        shown = trigpoint("portal", "show", "25/01502/F", **here)
        assert (shown.returncode, "Barn at Withy Farm" in shown.stdout) == (0, True)
        listed = trigpoint("portal", "documents", "25/01502/F", **here)
        assert "4 documents" in listed.stdout
        plain = json.loads(trigpoint("portal", "documents", "25/01502/F", "--json", **here).stdout)
        assert [one["file_name"] for one in plain][1] == "Bat Survey.pdf"
        assert plain[1]["date_published"] == "2025-06-10"
        fetched = trigpoint("portal", "download", "25/01502/F", "--to", str(tmp_path / "out"), **here)
        assert "4 fetched, 0 already there, 0 filtered out, 0 failed" in fetched.stdout, fetched.stderr
        assert (tmp_path / "out" / "25_01502_F" / "Bat Survey.pdf").is_file()
        again = trigpoint("portal", "download", "25/01502/F", "--to", str(tmp_path / "out"), **here)
        assert "0 fetched, 4 already there" in again.stdout
        unknown = trigpoint("portal", "show", "25/99999/F", **here)
        assert (unknown.returncode, unknown.stdout) == (1, "")
        assert unknown.stderr == "trigpoint: Application not found on Cherwell planning portal\n"
        wrong = trigpoint("portal", "show", "nonsense", **here)
        assert wrong.returncode == 1
        assert "YY/NNNNN/XXX" in wrong.stderr
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(20) in (0, 130)
