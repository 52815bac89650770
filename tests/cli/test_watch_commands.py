"""`trigpoint watch` as people type it, against a local register."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from trigpoint.cli.main import main
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.faults import Fault
from trigpoint.demo.idox_portal import IdoxDemoPortal
from trigpoint.demo.register import SampleEntry


@dataclass(frozen=True)
class Answer:
    """What the program printed, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Answer]


@pytest.fixture
def portal() -> Iterator[IdoxDemoPortal]:
    with IdoxDemoPortal({one.reference: SampleEntry(one, ()) for one in sample_applications().values()}) as running:
        yield running


@pytest.fixture
def run(
    portal: IdoxDemoPortal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run the program as its entry point does, in this process."""
    rows = tmp_path / "registers.toml"
    rows.write_text(
        '[[register]]\nauthority = "westcote"\nname = "Westcote (fictional)"\nsoftware = "idox"\n'
        f'address = "{portal.address}"\n'
    )
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REGISTERS_FILE", str(rows))
    monkeypatch.setenv("SCRAPER_RATE_LIMIT", "0.01")

    def typed(*arguments: str) -> Answer:
        monkeypatch.setattr("sys.argv", ["trigpoint", "watch", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Answer(int(ended.value.code or 0), said.out, said.err)

    return typed


def test_a_watch_from_beginning_to_end(run: Run, portal: IdoxDemoPortal) -> None:
    assert "No watches" in run("list").stdout
    adding = run("add", "--authority", "westcote", "--min-dwellings", "100", "--ward", "Launton And Otmoor",
                 "--since", "2024-01-01")  # fmt: skip
    assert "at least 100 homes, in Launton And Otmoor, since 2024-01-01" in adding.stdout
    watch_id = adding.stdout.split()[0]
    assert portal.seen == []
    first = run("run")
    assert first.returncode == 0, first.stderr
    assert "24/00633/F  Land South of Cotley Road, Westcote Magna  (120 homes, new)" in first.stdout
    assert "trigpoint review 24/00633/F --authority westcote" in first.stdout
    assert "2 listed since 2024-01-01, 1 match, 1 new" in first.stdout
    again = run("run", watch_id)
    assert "0 new" in again.stdout
    assert "24/00633/F" not in again.stdout
    assert "(1 new of 1, last checked " in run("list").stdout
    assert json.loads(run("show", watch_id, "--json").stdout)["sightings"][0]["dwellings"] == 120
    assert "1 marked as seen" in run("seen", watch_id).stdout
    assert "1 found, 0 new" in run("show", watch_id).stdout
    assert run("remove", watch_id).returncode == 0
    assert json.loads(run("list", "--json").stdout) == []


def test_a_challenge_ends_with_the_link_and_the_way_out(run: Run, portal: IdoxDemoPortal) -> None:
    watch_id = run("add", "--authority", "westcote", "--since", "2025-01-01").stdout.split()[0]
    portal.faults.replace([Fault(kind="challenge", times=None)])
    said = run("run", watch_id)
    assert said.returncode == 1
    assert re.search(r"Cloudflare.*in a browser.*review them from a folder", said.stderr)
    assert "Cloudflare" in run("list").stdout
    assert len(portal.seen) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "--authority", "atlantis"), "No register is known for 'atlantis'"),
        (("add", "--authority", "birmingham"), "cannot be read by Trigpoint"),
        (("add", "--since", "01/02/2025"), "Expected YYYY-MM-DD"),
        (("add", "--min-dwellings", "0"), "min dwellings: Input should be greater than or equal to 1"),
        (("run", "../../x"), "is not the id of a watch"),
        (("remove", "0123abcd"), "There is no watch 0123abcd"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: tuple[str, ...], said: str, run: Run) -> None:
    answer = run(*arguments)
    assert answer.returncode == 1
    assert len(answer.stderr.splitlines()) == 1
    assert said in answer.stderr
