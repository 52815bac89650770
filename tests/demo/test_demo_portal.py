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

from trigpoint.cli.main import main
from trigpoint.config import Settings, load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.faults import KINDS, parse_fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import InvalidInput, StoreError
from trigpoint.registers.atrium_documents import parse_documents
from trigpoint.registers.atrium_pages import parse_application
from trigpoint.registers.labels import parse_html

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


class Trigpoint:
    """The command in this process: its exit code, what it printed, what it complained of."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["trigpoint", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = self._capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err


@pytest.fixture
def trigpoint(
    portal: DemoPortal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Trigpoint:
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CHERWELL_PORTAL_URL", portal.url)
    monkeypatch.setenv("SCRAPER_RATE_LIMIT", "0.01")
    return Trigpoint(monkeypatch, capsys)


def test_show_and_documents(trigpoint: Trigpoint) -> None:
    code, out, _ = trigpoint("portal", "show", "25/01502/F")
    assert code == 0
    assert "address           Barn at Withy Farm" in out
    assert json.loads(trigpoint("portal", "show", "25/01502/F", "--json")[1])["date_validated"] == "2025-06-10"
    assert "4 documents" in trigpoint("portal", "documents", "25/01502/F")[1]
    listed = json.loads(trigpoint("portal", "documents", "25/01502/F", "--json")[1])
    assert [one["file_name"] for one in listed][1] == "Bat Survey.pdf"
    assert all(one["fetched"] for one in listed)


def test_download_and_download_again(trigpoint: Trigpoint, portal: DemoPortal, tmp_path: Path) -> None:
    portal.faults.replace([parse_fault("error:1"), parse_fault("disclaimer")])
    code, out, err = trigpoint("portal", "download", "25/01502/F", "--to", str(tmp_path / "out"))
    assert (code, "4 fetched, 0 already there, 0 filtered out, 0 failed" in out) == (0, True), out + err
    assert (tmp_path / "out" / "25_01502_F" / "Bat Survey.pdf").is_file()
    assert (
        "0 fetched, 4 already there" in trigpoint("portal", "download", "25/01502/F", "--to", str(tmp_path / "out"))[1]
    )
    portal.faults.replace([parse_fault("html:*").model_copy(update={"match": "imageId=2"})])
    code, out, _ = trigpoint("portal", "download", "25/01502/F")
    assert code == 1
    assert "3 fetched" in out
    assert "failed: Bat Survey: " in out
    assert (tmp_path / "data" / "downloads" / "25_01502_F" / "Proposed Elevations.pdf").is_file()


def test_complaints_are_one_line(trigpoint: Trigpoint) -> None:
    unknown = trigpoint("portal", "show", "25/99999/F")
    assert unknown == (1, "", "trigpoint: Application not found on Cherwell planning portal\n")
    code, _, err = trigpoint("portal", "show", "nonsense")
    assert (code, "YY/NNNNN/XXX" in err) == (1, True)


@pytest.mark.slow
def test_the_portal_as_a_command(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "trigpoint.cli.main", "demo", "portal", "--port", "0", "--fault", "error:1"],
        env=os.environ | {"TRIGPOINT_DATA_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:[0-9]+", server.stdout.readline())
        assert found is not None
        assert httpx.get(found[0]).status_code == 500
        assert MAIN in httpx.get(found[0]).text
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(20) in (0, 130)
