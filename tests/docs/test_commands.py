"""Every command in README and docs is run against a live instance, or says why not; and prints what the page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_blocks import PAGES, ROOT, Block, blocks, matches

from trigpoint.config import load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint_process import PORTS, Running, environment

SHOWN_PORTS = dict(zip(PORTS, (8080, 3001, 3002, 3003, 3004, 3005, 3006), strict=True))
RUNNABLE = [page for page in PAGES if any(block.mark == "run" for block in blocks(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_commands_says_whether_it_is_run_and_if_not_why(page: Path) -> None:
    unsaid = [block.place for block in blocks(page) if block.mark is None]
    assert not unsaid, f"put <!-- run --> or <!-- not run: why --> before the fences at {', '.join(unsaid)}"


def test_output_that_differs_is_told_from_output_that_agrees() -> None:
    assert matches("a … c", "a b\nb  c")
    assert matches('{"id":"rev_01M7GQ2M7KVDWG615EF2TKX50B"}', '{"id":"rev_01AAAAAAAAAAAAAAAAAAAAAAAA"}\n')
    assert not matches("1 added", "2 added")
    assert not matches("a", "a\nb")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The two commands of the start page: a portal, and `up`."""
    folder = tmp_path_factory.mktemp("live")
    with DemoPortal(sample_register(load_settings(trigpoint_data_dir=folder / "portal")), port=0) as portal:
        register = {"CHERWELL_PORTAL_URL": portal.url, "SCRAPER_RATE_LIMIT": "0"}
        with Running("up", env=environment(folder / "data", **register)) as up:
            yield up


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_print_what_it_shows(page: Path, live: Running, tmp_path: Path) -> None:
    wanted = [block for block in blocks(page) if block.mark == "run"]
    printed = iter(run_all(wanted, live, tmp_path))
    wrong = []
    for block in wanted:
        for command in block.commands:
            code, output = next(printed)
            shown = as_here(command.output, live)
            if code != 0 or (shown and not matches(shown, output)):
                wrong.append(
                    f"{block.place}: {command.line}\n--- exit code {code}, shown:\n{command.output}\n--- printed:\n{output}"
                )
    assert not wrong, "\n\n".join(wrong)


def run_all(wanted: list[Block], live: Running, folder: Path) -> list[tuple[int, str]]:
    """All commands of a page in one shell, as a reader would type them. Exit code and output of each."""
    script = ["set +e"]
    for number, command in enumerate(command for block in wanted for command in block.commands):
        script += ["{", as_here(command.line, live), f"}} > {number}.out 2>&1; echo $? > {number}.code"]
    env = live.env | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=env, timeout=580, check=True)
    total = sum(len(block.commands) for block in wanted)
    return [(int((folder / f"{n}.code").read_text()), (folder / f"{n}.out").read_text()) for n in range(total)]


def as_here(text: str, live: Running) -> str:
    """The pages name the usual ports; the tests' instance has others."""
    for name, shown in SHOWN_PORTS.items():
        for host in ("127.0.0.1", "localhost"):
            text = text.replace(f"{host}:{shown}", f"127.0.0.1:{live.port(name)}")
    return text
