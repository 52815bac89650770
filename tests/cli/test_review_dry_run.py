"""`trigpoint review --dry-run`: the plan of a review by a model, which is asked nothing."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pymupdf
import pytest

from trigpoint.cli.main import main
from trigpoint.config import load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint_process import SMALL

KNOWN = ("--ref", "24/00593/FUL", "--authority", "york", "--validated", "2025-05-21", "--proposal", "9 dwellings")
PASSES = ("orient", "read", "judge", "check", "mend", "compare", "conclude")
PRICES = {"REVIEW_PRICE_INPUT": "3", "REVIEW_PRICE_OUTPUT": "15"}


class Provider(HTTPServer):
    """Stands where the model would be, and counts the requests."""

    def __init__(self) -> None:
        self.asked = 0
        super().__init__(("127.0.0.1", 0), _Answering)

    @property
    def environment(self) -> dict[str, str]:
        address = f"http://127.0.0.1:{self.server_port}/v1"
        return {"TRIGPOINT_MODEL": "openai-chat:any", "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}


class _Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Provider)
        self.server.asked += 1
        self.send_error(400)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    pages = [
        "The proposal is for 9 dwellings. A secure cycle store for 18 cycles will be provided.",
        "The shared path along Mill Lane will be 2.5 m wide, beside 4,000 vehicles a day.",
    ]
    for name, texts in {"Transport Statement": pages, "Travel Plan": ["The target is 10% of trips by cycle."]}.items():
        with pymupdf.open() as document:
            for text in texts:
                document.new_page().insert_textbox((72, 72, 520, 700), text)
            document.save(folder / f"{name}.pdf")
    return folder


@dataclass(frozen=True)
class Said:
    """What the command wrote, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> dict[str, tuple[int, int]]:
        """Calls and tokens of each row of the plan. The command must have ended well."""
        assert self.code == 0, self.err
        found = re.findall(r"│ (\w+) +│ +(\d+) +│ +([\d,]+) +│", self.out)
        return {name: (int(calls), int(tokens.replace(",", ""))) for name, calls, tokens in found}


DryRun = Callable[..., Said]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One data folder for all: its policies are loaded once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def dry_run(data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> DryRun:
    """Run `trigpoint review --dry-run` in this process, with these settings."""

    def typed(*arguments: str, **variables: str) -> Said:
        for name, value in {"TRIGPOINT_DATA_DIR": str(data_dir), "COLUMNS": "160", **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["trigpoint", "review", "--dry-run", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Said(int(ended.value.code or 0), *capsys.readouterr())

    return typed


def test_the_plan_of_a_folder_has_pages_calls_tokens_and_cost_and_asks_the_model_nothing(
    papers: Path, provider: Provider, dry_run: DryRun
) -> None:
    said = dry_run("--documents", str(papers), *KNOWN, **provider.environment, **PRICES)
    plan = said.rows
    assert tuple(plan) == (*PASSES, "together")
    assert plan["together"] == tuple(sum(plan[name][at] for name in PASSES) for at in (0, 1))
    assert all(calls > 0 and tokens > 0 for calls, tokens in plan.values())
    assert "3 of 3 pages with text are read by the model" in said.out
    assert "The model: openai-chat:any." in said.out
    cost = re.search(r"about ([\d.]+) by the configured prices", said.out)
    assert cost is not None
    assert 3 * plan["together"][1] < float(cost[1]) * 1_000_000 < 15 * plan["together"][1]
    assert provider.asked == 0


def test_the_plan_of_a_sample_from_the_register_says_what_is_not_set(tmp_path: Path, dry_run: DryRun) -> None:
    with DemoPortal(sample_register(load_settings(trigpoint_data_dir=tmp_path / "made")), port=0) as portal:
        said = dry_run(SMALL, CHERWELL_PORTAL_URL=portal.url, SCRAPER_RATE_LIMIT="0")
        unknown = dry_run("25/99999/F")
    assert said.rows["together"][0] > 5
    assert re.search(r"\d+ of \d+ pages with text are read by the model, [1-6] groups", said.out)
    assert "set REVIEW_PRICE_INPUT and REVIEW_PRICE_OUTPUT for the cost" in said.out
    assert "none is set (TRIGPOINT_MODEL); this would be a brief by rules" in said.out
    assert (unknown.code, unknown.out) == (1, "")
    assert "trigpoint: Application not found" in unknown.err
    assert "Traceback" not in unknown.err


def test_a_budget_that_is_too_small_is_said(papers: Path, dry_run: DryRun) -> None:
    said = dry_run("--documents", str(papers), *KNOWN, REVIEW_MAX_TOKENS="1000")
    assert said.rows["together"][1] > 1000
    assert "The plan needs more than REVIEW_MAX_TOKENS=1,000: the review would end early." in said.out


@pytest.mark.parametrize(("name", "reason"), [("none", "none"), ("empty", "contains no files")])
def test_a_folder_that_cannot_be_read_is_one_line(name: str, reason: str, tmp_path: Path, dry_run: DryRun) -> None:
    (tmp_path / "empty").mkdir()
    said = dry_run("--documents", str(tmp_path / name), *KNOWN)
    assert (said.code, said.out) == (1, "")
    (line,) = said.err.strip().splitlines()
    assert line.startswith("trigpoint: ")
    assert reason in line
