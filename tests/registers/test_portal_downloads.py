"""Runs of downloads: each document once, whole, under a safe name with the extension of its content."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from portal_samples import INTERVAL, PDF, REF, served

from trigpoint.config import Settings, load_settings
from trigpoint.demo.faults import Fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.errors import DownloadFailed, RequestFailed
from trigpoint.registers.directory import open_register
from trigpoint.registers.downloads import allowed_folder, download_all, download_one, downloads_dir
from trigpoint.registers.filters import Wanted
from trigpoint.registers.register import WebRegister

Portal = Callable[..., DemoPortal]
ClientOf = Callable[..., WebRegister]


def pdf(number: int) -> bytes:
    return PDF + b"%d" % number


def office(folder: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(f"{folder}/document.xml", "<x/>")
    return buffer.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
KINDS = [
    ("Letter.doc", PDF, ".pdf"),
    ("Photo.pdf", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, ".png"),
    ("Scan.pdf", b"\xff\xd8\xff\xe0" + b"\0" * 50, ".jpg"),
    ("Plan.pdf", b"II*\x00" + b"\0" * 50, ".tif"),
    ("Note.pdf", office("word"), ".docx"),
    ("Table.pdf", office("xl"), ".xlsx"),
    ("Files.pdf", office("other"), ".zip"),
    ("Mail.pdf", OLE + "__properties_version1.0".encode("utf-16-le"), ".msg"),
    ("Old.pdf", OLE + "WordDocument".encode("utf-16-le"), ".doc"),
    ("Readme.txt", b"plain text", ".txt"),
    ("Odd.exe", b"\x00\x01\x02", ".bin"),
    ("No extension", PDF, ".pdf"),
    ("Late start.pdf", b"\r\n\x00junk" + PDF, ".pdf"),
    ("ES Appendix 5.1 Transport Assessment", PDF, ".pdf"),
]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def files_below(folder: Path, *, leave_out: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and leave_out not in path.parents]


async def test_with_every_fault_on_everything_is_downloaded_once_and_whole(
    portal: Portal, client_of: ClientOf, tmp_path: Path
) -> None:
    contents = {f"Plan {n}.pdf": pdf(n) for n in range(8)}
    running = portal(
        *(served(name, content) for name, content in contents.items()),
        faults=[
            Fault(kind="disclaimer", times=None),
            Fault(kind="error", match="imageId=2"),
            Fault(kind="too_many", match="imageId=3", value="0"),
            Fault(kind="cut", match="imageId=4", times=2),
            Fault(kind="moved", match="imageId=5"),
            Fault(kind="slow", match="imageId=6", value="3"),
            Fault(kind="html", match="imageId=7", times=None),
            Fault(kind="away", match="imageId=8", times=None, value="http://127.0.0.1:1/x"),
        ],
    )
    client = client_of(running, scraper_timeout=1)
    run = await download_all(client, REF, tmp_path / "out")
    assert (run.count("downloaded"), run.count("failed"), run.total_documents) == (6, 2, 8)
    assert [one.document.file_name for one in run.downloads if one.error] == ["Plan 6.pdf", "Plan 7.pdf"]
    assert all(isinstance(one.error, DownloadFailed) for one in run.downloads if one.status == "failed")
    assert files(run.folder) == [f"Plan {n}.pdf" for n in range(6)]
    for one in run.downloads:
        if one.entry is not None:
            content = (run.folder / one.entry.file).read_bytes()
            assert content == contents[one.document.file_name]
            assert hashlib.sha256(content).hexdigest() == one.entry.sha256
    served_whole = [one.target for one in running.seen if "Download" in one.target and one.fault is None]
    assert len(served_whole) == len(set(served_whole)) == 6


async def test_a_second_run_fetches_only_what_is_missing(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(*(served(f"Plan {n}.pdf", pdf(n)) for n in range(4)))
    client = client_of(running)
    run = await download_all(client, REF, tmp_path)
    (run.folder / "Plan 2.pdf").unlink()
    (run.folder / "Plan 3.pdf").write_bytes(b"cut")
    running.seen.clear()
    again = await download_all(client, REF, tmp_path)
    assert (again.count("downloaded"), again.count("already_present")) == (2, 2)
    assert len([one for one in running.seen if "Download" in one.target]) == 2
    assert (run.folder / "Plan 3.pdf").read_bytes() == pdf(3)
    assert files(run.folder) == [f"Plan {n}.pdf" for n in range(4)]


async def test_two_runs_at_once_fetch_each_document_once(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(*(served(f"Plan {n}.pdf", pdf(n)) for n in range(4)))
    one, other = client_of(running), client_of(running)
    runs = await asyncio.gather(download_all(one, REF, tmp_path), download_all(other, REF, tmp_path))
    assert sorted(run.count("downloaded") for run in runs) == [0, 4]
    assert len([seen for seen in running.seen if "Download" in seen.target]) == 4


async def test_eight_callers_with_every_fault_on_keep_the_pace_and_fetch_once(
    portal: Portal, client_of: ClientOf, tmp_path: Path
) -> None:
    running = portal(
        *(served(f"Plan {n}.pdf", pdf(n)) for n in range(5)),
        faults=[
            Fault(kind="error", match="imageId=1"),
            Fault(kind="cut", match="imageId=2"),
            Fault(kind="moved", match="imageId=3"),
            Fault(kind="too_many", match="imageId=4", value="0"),
            Fault(kind="html", match="imageId=5", times=None),
            Fault(kind="error", match="Display", times=2),
        ],
    )
    runs = await asyncio.gather(*(download_all(client_of(running), REF, tmp_path / "out") for _ in range(8)))
    assert sum(run.count("downloaded") for run in runs) == 4
    assert all(run.count("downloaded") + run.count("already_present") == 4 for run in runs)
    assert files(runs[0].folder) == [f"Plan {n}.pdf" for n in range(4)]
    times = sorted(one.at for one in running.seen)
    assert len(times) >= 8 + 2 + 8 + 8  # pages, their retries, documents, the failing one
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= INTERVAL


async def test_a_cancelled_run_leaves_nothing_half_done_and_resumes(
    portal: Portal, client_of: ClientOf, tmp_path: Path
) -> None:
    running = portal(*(served(f"Plan {n}.pdf", pdf(n)) for n in range(3)))
    running.faults.replace([Fault(kind="slow", match="imageId=2", value="3")])
    client = client_of(running)
    run = asyncio.create_task(download_all(client, REF, tmp_path))
    while not any("imageId=2" in one.target for one in running.seen):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    folder = tmp_path / "25_01178_REM"
    assert files(folder) == ["Plan 0.pdf"]
    assert not any(name.endswith(".part") for name in os.listdir(folder))
    again = await download_all(client, REF, tmp_path)
    assert (again.count("already_present"), again.count("downloaded")) == (1, 2)


async def test_the_filter_and_its_toggles(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(
        served("Form.pdf", pdf(1)),
        served("OCC.pdf", pdf(2), section="Consultee Responses"),
        served("From1.pdf", pdf(3), section="Public Comments"),
        served("Old.pdf", pdf(4), section="Superseded Documents"),
    )
    client = client_of(running)
    run = await download_all(client, REF, tmp_path / "a")
    assert files(run.folder) == ["Form.pdf"]
    assert [(document.file_name, bool(verdict.reason)) for document, verdict in run.filtered] == [
        ("OCC.pdf", True),
        ("From1.pdf", True),
        ("Old.pdf", True),
    ]
    run = await download_all(client, REF, tmp_path / "b", wanted=Wanted(True, True))
    assert files(run.folder) == ["Form.pdf", "From1.pdf", "OCC.pdf"]
    run = await download_all(client, REF, tmp_path / "c", skip_filter=True)
    assert len(files(run.folder)) == 4
    assert run.filtered == ()


async def test_the_extension_follows_the_content(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(*(served(name, content) for name, content, _ in KINDS))
    run = await download_all(client_of(running), REF, tmp_path)
    for (name, content, extension), one in zip(KINDS, run.downloads, strict=True):
        assert one.entry is not None, name
        assert (
            one.entry.file
            == (Path(name).stem if Path(name).suffix in (".pdf", ".doc", ".txt", ".exe") else name) + extension
        )
        assert (run.folder / one.entry.file).read_bytes() == content


async def test_a_register_that_is_down_is_not_asked_for_every_document(
    portal: Portal, client_of: ClientOf, tmp_path: Path
) -> None:
    running = portal(*(served(f"Plan {n}.pdf", pdf(n)) for n in range(12)))
    client = client_of(running, scraper_rate_limit=0.005)
    running.faults.replace([Fault(kind="error", match="Download", times=None)])
    run = await download_all(client, REF, tmp_path)
    assert run.count("failed") == 12
    assert len([one for one in running.seen if "Download" in one.target]) == 5 * 3
    assert run.downloads[-1].error is not None
    assert "Not tried" in run.downloads[-1].error.message
    running.faults.replace([])
    assert (await download_all(client, REF, tmp_path)).count("downloaded") == 12


async def test_wrong_answers_do_not_stop_the_rest(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(*(served(f"Plan {n}.pdf", pdf(n)) for n in range(9)))
    running.faults.replace([Fault(kind="html", match="imageId=[1-8]&", times=None)])
    run = await download_all(client_of(running), REF, tmp_path)
    assert (run.count("failed"), run.count("downloaded")) == (8, 1)
    assert sum(one.fault == "html" for one in running.seen) == 16  # each was tried once more at the end


async def test_what_failed_is_tried_once_more_at_the_end(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(*(served(f"Plan {n}.pdf", pdf(n)) for n in range(4)))
    running.faults.replace([Fault(kind="html", match="imageId=2&", times=1)])
    run = await download_all(client_of(running), REF, tmp_path)
    assert run.count("downloaded") == 4
    fetched = [one.target.split("imageId=")[1][0] for one in running.seen if "Download" in one.target]
    assert fetched == ["1", "2", "3", "4", "2"]


async def test_a_challenge_ends_the_run_at_once(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(*(served(f"Plan {n}.pdf", pdf(n)) for n in range(4)))
    running.faults.replace([Fault(kind="challenge", match="imageId=2&", times=None)])
    run = await download_all(client_of(running), REF, tmp_path)
    assert (run.count("downloaded"), run.count("failed")) == (1, 3)
    assert sum("Download" in one.target for one in running.seen) == 2
    assert [one.error.message[:9] for one in run.downloads if one.error] == ["The regis", "Not tried", "Not tried"]


HOSTILE = [
    "..%2F..%2Fetc%2Fpasswd",
    "../../../etc/passwd",
    "/etc/passwd",
    "..\\..\\windows\\system32\\x.pdf",
    "C:\\x.pdf",
    "CON.pdf",
    "NUL",
    "a" * 300 + ".pdf",
    "é" * 200 + ".pdf",
    ".bashrc",
    "...",
    "plan\x00.pdf",
    "plan\n.pdf",
    "plan\u202egnp.pdf",
    "$(reboot).pdf",
    ".downloads.json",
    ".downloads.lock",
    "   ",
    "-rf.pdf",
]


async def test_no_name_leaves_the_folder(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(*(served(name, pdf(n), description=f"Plan {n}") for n, name in enumerate(HOSTILE)))
    output = tmp_path / "out"
    run = await download_all(client_of(running), REF, output)
    assert run.count("downloaded") == len(HOSTILE)
    written = files_below(tmp_path, leave_out=tmp_path / "data")
    assert {path.parent for path in written} == {output / "25_01178_REM"}
    names = files(run.folder)
    assert len(names) == len(HOSTILE)
    for name in names:
        assert name.endswith(".pdf")
        assert len(name.encode()) <= 255
        assert name.isprintable()
        assert name.split(".")[0].upper() not in ("CON", "NUL")
    for n, one in enumerate(run.downloads):
        assert one.path is not None
        assert one.path.read_bytes() == pdf(n)


async def test_documents_of_one_name_stay_apart_and_foreign_files_are_not_touched(
    portal: Portal, client_of: ClientOf, tmp_path: Path
) -> None:
    running = portal(served("Plan.pdf", pdf(1)), served("PLAN.PDF", pdf(2)), served("Plan.doc", pdf(3)))
    folder = tmp_path / "25_01178_REM"
    folder.mkdir()
    (folder / "Plan.pdf").write_bytes(b"mine")
    client = client_of(running)
    run = await download_all(client, REF, tmp_path)
    assert len({one.path for one in run.downloads}) == 3
    assert [one.path.read_bytes() for one in run.downloads if one.path] == [pdf(1), pdf(2), pdf(3)]
    assert (folder / "Plan.pdf").read_bytes() == b"mine"
    assert (await download_all(client, REF, tmp_path)).count("already_present") == 3


async def test_a_manifest_that_cannot_be_read_is_set_aside(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(served("Plan.pdf"))
    client = client_of(running)
    run = await download_all(client, REF, tmp_path)
    manifest = run.folder / ".downloads.json"
    for bad in ("{", "[]", '{"documents": {"x": {"file": "../../x"}}}', '{"documents": 5}'):
        manifest.write_text(bad)
        again = await download_all(client, REF, tmp_path)
        assert again.count("downloaded") == 1
    outside = json.loads(manifest.read_text())
    for entry in outside["documents"].values():
        entry["file"] = "../outside.pdf"
    manifest.write_text(json.dumps(outside))
    await download_all(client, REF, tmp_path)
    assert not (tmp_path / "outside.pdf").exists()


async def test_a_kill_between_the_manifest_and_the_name_costs_no_request(
    portal: Portal, client_of: ClientOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = portal(served("Plan.pdf"))
    client = client_of(running)
    real = os.replace

    def killed(source: str | Path, target: str | Path) -> None:
        if str(source).endswith(".part") and str(target).endswith("Plan.pdf"):
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        await download_all(client, REF, tmp_path)
    monkeypatch.undo()
    running.seen.clear()
    run = await download_all(client, REF, tmp_path)
    assert run.count("already_present") == 1
    assert (run.folder / "Plan.pdf").read_bytes() == PDF
    assert [one for one in running.seen if "Download" in one.target] == []


async def test_one_document_by_its_address(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(served("Plan.pdf"))
    client = client_of(running)
    (document,) = await client.documents(REF)
    path, entry = await download_one(client, document.url, tmp_path, "../../My Plan.docx")
    assert path == tmp_path / "My Plan.pdf"
    assert (path.read_bytes(), entry.content_type) == (PDF, "application/pdf")
    again, _ = await download_one(client, document.url, tmp_path)
    assert again == path
    assert len([one for one in running.seen if "Download" in one.target]) == 1


@pytest.mark.parametrize("links", [True, False])
async def test_a_document_that_is_there_gets_the_name_asked_for_and_keeps_its_first(
    portal: Portal, client_of: ClientOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:

        def refused(*_: object) -> None:
            raise PermissionError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", refused)
    running = portal(served("Plan.pdf"))
    client = client_of(running)
    (document,) = await client.documents(REF)
    (tmp_path / "Mine.pdf").write_bytes(b"mine")
    first, _ = await download_one(client, document.url, tmp_path)
    for asked, given in (
        ("plan.PDF", "Plan.pdf"),
        ("../Second.txt", "Second.pdf"),
        ("Second", "Second.pdf"),
        ("Mine.pdf", f"Mine ({document.document_id}).pdf"),
    ):
        path, entry = await download_one(client, document.url, tmp_path, asked)
        assert (path, entry.file) == (tmp_path / given, given)
        assert path.read_bytes() == first.read_bytes() == PDF
    assert (tmp_path / "Mine.pdf").read_bytes() == b"mine"
    assert (await download_one(client, document.url, tmp_path))[0] == first
    assert not any(name.endswith(".part") for name in os.listdir(tmp_path))
    assert len([one for one in running.seen if "Download" in one.target]) == 1


def test_documents_are_written_only_below_the_allowed_folders(tmp_path: Path) -> None:
    settings = load_settings(trigpoint_data_dir=tmp_path / "data", document_roots=(tmp_path / "work",))
    downloads = downloads_dir(settings)
    downloads.mkdir(parents=True)
    (downloads / "link").symlink_to("/etc")
    assert allowed_folder(settings, ".") == downloads
    assert allowed_folder(settings, "") == downloads
    assert allowed_folder(settings, "team/a") == downloads / "team" / "a"
    assert allowed_folder(settings, str(tmp_path / "work" / "x")) == tmp_path / "work" / "x"
    for bad in (
        "/etc",
        "../chroma",
        str(tmp_path / "data"),
        str(tmp_path / "data" / "redis"),
        "link/x",
        "/",
        "~/x/../../..",
        "a\0b",
    ):
        with pytest.raises(DownloadFailed, match="outside the folders"):
            allowed_folder(settings, bad)


@pytest.mark.slow
def test_a_killed_run_resumes_without_fetching_again(
    portal: Portal, to_portal: Callable[..., Settings], tmp_path: Path
) -> None:
    count = 12
    running = portal(*(served(f"Plan {n}.pdf", pdf(n) * 50) for n in range(count)))
    settings = to_portal(running, scraper_rate_limit=0.15)
    program = textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from trigpoint.config import load_settings
        from trigpoint.registers.directory import open_register
        from trigpoint.registers.downloads import download_all
        async def main():
            settings = load_settings(trigpoint_data_dir={str(settings.data_dir)!r}, cherwell_portal_url={running.url!r}, scraper_rate_limit=0.15)
            async with open_register(settings) as client:
                run = await download_all(client, {REF!r}, Path({str(tmp_path / "out")!r}))
                assert run.count("failed") == 0
        asyncio.run(main())
    """)
    kills = 0
    while True:
        before = len(running.seen)
        child = subprocess.Popen([sys.executable, "-c", program])
        try:
            while child.poll() is None and (kills >= 3 or len(running.seen) < before + 4):
                time.sleep(0.01)
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
            child.wait(30)
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
        kills += 1
    assert kills == 3
    folder = tmp_path / "out" / "25_01178_REM"
    assert files(folder) == sorted(f"Plan {n}.pdf" for n in range(count))
    for n in range(count):
        assert (folder / f"Plan {n}.pdf").read_bytes() == pdf(n) * 50
    assert [path for path in folder.iterdir() if path.name.endswith(".part")] == []
    fetches = [one for one in running.seen if "Download" in one.target]
    assert len(fetches) <= count + kills  # a kill costs at most the document that was under way


@contextlib.asynccontextmanager
async def listening(answer: bytes | None) -> AsyncIterator[str]:
    """A register that accepts connections and gives every request this answer, or none at all."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if answer is None:
            await reader.read()  # until the client gives up
        else:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1")
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(None, RequestFailed, id="no answer"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n%PDF-1.7", RequestFailed, id="half an answer"),
        pytest.param(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", DownloadFailed, id="an error"),
    ],
)
async def test_a_register_that_falls_silent_may_be_asked_again_and_one_that_answers_with_an_error_may_not(
    tmp_path: Path, answer: bytes | None, error: type[Exception]
) -> None:
    async with listening(answer) as url:
        settings = load_settings(
            trigpoint_data_dir=tmp_path / "data",
            cherwell_portal_url=url,
            scraper_rate_limit=0,
            scraper_timeout=0.3,
        )
        async with open_register(settings) as register:
            path = tmp_path / "plan.pdf"
            began = time.monotonic()
            with pytest.raises(error, match="failed 3 times") as failed:
                await register.fetch(f"{url}/Document/Download?id=1", path)
    assert type(failed.value) is error
    assert time.monotonic() - began < 10
    assert not path.exists()
