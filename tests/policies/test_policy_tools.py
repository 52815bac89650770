"""Comparing revisions, fetching official documents from a local server, digests, and the CLI."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from trigpoint.config import Settings
from trigpoint.policies.compare import SectionText, compare, word_changes
from trigpoint.policies.digest import MARK, digest_pdf, read_digest
from trigpoint.policies.fetch import fetch
from trigpoint.policies.seed import SeedPolicy, download_path, load_seed


def section(ref: str, text: str) -> SectionText:
    return SectionText(ref, 1, text)


def test_a_comparison_sees_what_was_kept_changed_renumbered_added_and_removed() -> None:
    old = [
        section("Para 1", "Plans should be positive about walking and cycling in towns."),
        section("Para 2", "Refuse only where the residual cumulative impacts would be severe."),
        section("Para 3", "Lorry parking matters in every distribution centre of the country."),
        section("Para 4", "Charging of vehicles must be possible at home."),
    ]
    new = [
        section("Para 1", "Plans should be positive about walking and cycling in towns."),
        section("Para 2", "A vision for transport comes first, before any forecast of traffic is made."),
        section("Para 3", "Refuse only where the residual cumulative impacts, after mitigation, would be severe."),
        section("Para 5", "Charging of vehicles must be possible at home."),
    ]
    assert [(c.title, c.kind) for c in compare(old, new)] == [
        ("Para 1", "same"),
        ("Para 2", "added"),
        ("Para 2 → Para 3", "changed"),
        ("Para 3", "removed"),
        ("Para 4 → Para 5", "renumbered"),
    ]
    runs = list(word_changes(old[1], new[2]))
    assert ("removed", "impacts") in runs
    assert ("added", "impacts, after mitigation,") in runs


@pytest.mark.parametrize("policy", load_seed(), ids=lambda p: p.source)
def test_every_digest_says_on_each_page_that_it_is_one(policy: SeedPolicy) -> None:
    import pymupdf

    for revision in policy.revisions:
        content = digest_pdf(read_digest(revision.digest))
        assert content == digest_pdf(read_digest(revision.digest))
        with pymupdf.open(stream=content, filetype="pdf") as document:
            assert all(MARK in " ".join(page.get_text().split()) for page in document)


def test_a_text_that_does_not_say_so_is_no_digest() -> None:
    with pytest.raises(ValueError, match="not the official text"):
        digest_pdf("# Title\n\nA text that pretends to be official.\n")


def test_the_shipped_policies_are_those_of_the_contract() -> None:
    shipped = {p.source: [(r.effective_from.isoformat(), r.effective_to) for r in p.revisions] for p in load_seed()}
    assert set(shipped) == {
        "LTN_1_20", "NPPF", "MANUAL_FOR_STREETS", "CHERWELL_LOCAL_PLAN", "OCC_LTCP", "BICESTER_LCWIP",
    }  # fmt: skip
    assert [start for start, _ in shipped["NPPF"]] == ["2023-09-05", "2024-12-12"]
    assert sum(len(revisions) for revisions in shipped.values()) == 7


class _Files(BaseHTTPRequestHandler):
    content: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        body = self.content.get(self.path)
        if body is None:
            self.send_error(404)
            return
        asked = self.headers.get("Range")
        self.asked.append(asked or "all")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start:])

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def files() -> Iterator[str]:
    _Files.content, _Files.asked = {}, []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def at(url: str) -> SeedPolicy:
    policy = load_seed()[0]
    return replace(policy, revisions=(replace(policy.revisions[0], url=url),))


def test_fetch_resumes_checks_and_reports(settings: Settings, files: str) -> None:
    body = b"%PDF-1.7 " + bytes(range(256)) * 100
    _Files.content["/a.pdf"] = body
    policy = at(f"{files}/a.pdf")
    path = download_path(settings, policy, policy.revisions[0])
    path.parent.mkdir(parents=True)
    path.with_name(path.name + ".part").write_bytes(body[:1000])

    assert [o.result for o in fetch(settings, (policy,))] == ["fetched"]
    assert path.read_bytes() == body
    assert _Files.asked == ["bytes=1000-"]
    assert [o.result for o in fetch(settings, (policy,))] == ["present"]

    path.write_bytes(b"%PDF-damaged")
    _Files.content["/a.pdf"] = b"%PDF-another document"
    (outcome,) = fetch(settings, (policy,))
    assert outcome.result == "failed"
    assert "differs from the document of the first download" in outcome.detail
    _Files.content["/a.pdf"] = body
    assert [o.result for o in fetch(settings, (policy,))] == ["fetched"]


def test_fetch_says_what_failed_and_where_to_find_it(settings: Settings, files: str) -> None:
    _Files.content["/page.pdf"] = b"<html>moved</html>"
    outcomes = list(fetch(settings, (at(f"{files}/none.pdf"), at(f"{files}/page.pdf"))))
    assert [o.result for o in outcomes] == ["failed", "failed"]
    assert "404" in outcomes[0].detail
    assert "what came is not a PDF" in outcomes[1].detail
    assert all("https://www.gov.uk/government/publications/" in o.detail for o in outcomes)


def test_the_cli_seeds_lists_and_refuses(tmp_path: Path, clean_redis_url: str, free_port: Iterator[int]) -> None:
    environment = {
        **os.environ,
        "TRIGPOINT_DATA_DIR": str(tmp_path),
        "REDIS_URL": clean_redis_url,
        "POLICY_KB_PORT": str(free_port()),  # type: ignore[operator]
    }

    def trigpoint(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "trigpoint.cli.main", "policies", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    seeded = trigpoint("seed", "--digest", "NPPF")
    assert seeded.returncode == 0, seeded.stderr
    assert "no policy server at" in seeded.stdout
    assert seeded.stdout.count("ingested") == 2
    assert "rev_NPPF_2023_09" in trigpoint("effective", "2024-03-15").stdout
    assert "2024-12-11" in trigpoint("show", "NPPF").stdout
    found = trigpoint("search", "refused on highways grounds", "--date", "2024-03-15", "-n", "1")
    assert "NPPF Para 111, September 2023 (digest)" in found.stdout
    changed = trigpoint("diff", "NPPF", "rev_NPPF_2023_09", "rev_NPPF_2024_12", "--section", "Para 116")
    assert "Para 111 → Para 116 changed" in changed.stdout
    assert "{+severe, taking into account all reasonable future scenarios.+}" in changed.stdout
    for wrong, message in (
        (("show", "NONE"), "No policy found with source 'NONE'"),
        (("effective", "2024-02-30"), "there is no such day"),
        (("seed", "NONE"), "is not one of the shipped policies"),
        (("diff", "NPPF", "rev_X", "rev_Y"), "No revision 'rev_X' found"),
    ):
        refused = trigpoint(*wrong)
        assert refused.returncode == 1
        assert message in refused.stderr
        assert "Traceback" not in refused.stderr
