"""Whatever a caller or a page says: our own error or a safe answer, and never an address or a folder outside."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from portal_samples import REF, served

from trigpoint.config import Settings, load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.errors import DownloadFailed
from trigpoint.registers.directory import open_register
from trigpoint.registers.downloads import allowed_folder, download_all, download_one, downloads_dir
from trigpoint.registers.pace import Pace
from trigpoint.registers.register import WebRegister
from trigpoint.registers.site import _retry_after

BASE = "https://register.example"
quick = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

pieces = st.sampled_from(
    ["http://", "https://", "//", "@", ":", "\\", "register.example", "evil.example", "127.0.0.1", "[::1]", "[", "%00", "%2F", "..", "/", "?", "#", "\n", "\t", " ", ":443", ":99999", "é", "．", "\u200b", "file:", "javascript:"]
)  # fmt: skip
addresses = st.one_of(st.text(max_size=60), st.lists(pieces, max_size=8).map("".join))


@pytest.fixture(scope="module")
def register(tmp_path_factory: pytest.TempPathFactory) -> WebRegister:
    """A client that sends nothing."""
    return open_register(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("data"), cherwell_portal_url=BASE))


@given(address=addresses)
@quick
def test_an_accepted_address_is_always_the_registers_own(address: str, register: WebRegister) -> None:
    try:
        accepted = httpx.URL(register.own_address(address))
    except DownloadFailed:
        return
    assert (accepted.scheme, accepted.host, accepted.port, accepted.userinfo) == (
        "https",
        "register.example",
        None,
        b"",
    )


folders = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(["..", ".", "/", "a", "~", "link", "\0", "downloads", "chroma", "etc", "\\", " "]), max_size=8
    ).map("/".join),
)


@pytest.fixture(scope="module")
def with_a_link(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings whose downloads hold a link that leads out."""
    made = load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("data"))
    downloads_dir(made).mkdir()
    (downloads_dir(made) / "link").symlink_to("/etc")
    return made


@given(output_dir=folders)
@quick
def test_an_accepted_folder_is_always_below_downloads(output_dir: str, with_a_link: Settings) -> None:
    root = downloads_dir(with_a_link)
    try:
        folder = allowed_folder(with_a_link, output_dir)
    except DownloadFailed:
        return
    assert os.path.commonpath([root.resolve(), folder.resolve()]) == str(root.resolve())


async def test_a_folder_that_cannot_be_written_is_a_clear_error(
    portal: Callable[..., DemoPortal], client_of: Callable[..., WebRegister], tmp_path: Path
) -> None:
    client = client_of(portal(served("A.pdf")))
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "odd" / "25_01178_REM" / ".downloads.json").mkdir(parents=True)
    for folder in (tmp_path / "file", tmp_path / ("x" * 300), tmp_path / "odd"):
        with pytest.raises(DownloadFailed, match="Cannot write to"):
            await download_all(client, REF, folder)
    with pytest.raises(DownloadFailed, match=r"away from|not an address"):
        await download_one(client, "http://[bad", tmp_path)


@pytest.mark.parametrize(("value", "asked"), [("0", 0), ("7", 7), ("60", 60), ("86400", 60)])
def test_retry_after_as_a_number_is_capped(value: str, asked: float) -> None:
    assert _retry_after(httpx.Response(429, headers={"Retry-After": value})) == asked


@pytest.mark.parametrize(("ahead", "low", "high"), [(50, 5, 50), (86400, 60, 60), (-86400, 0, 0)])
def test_retry_after_as_a_date_is_capped(ahead: int, low: float, high: float) -> None:
    value = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead), usegmt=True)
    asked = _retry_after(httpx.Response(429, headers={"Retry-After": value}))
    assert asked is not None
    assert low <= asked <= high


@pytest.mark.parametrize("value", ["", "soon", "-1", "1e9", "٣", "Mon, 99 Foo 2025 99:99:99 GMT"])
def test_a_retry_after_that_cannot_be_read_counts_as_not_said(value: str) -> None:
    assert _retry_after(httpx.Response(429, headers=[(b"Retry-After", value.encode())])) is None


@pytest.mark.parametrize("left", ["", "nonsense", "inf", "nan", "99999999999", "-5"])
async def test_a_damaged_or_far_off_time_does_not_stop_the_turn(left: str, tmp_path: Path) -> None:
    pace = Pace(tmp_path, "register.example:443", 0.05)
    (tmp_path / "register.example_443.next").write_text(left)
    async with pace.turn():
        pass
    assert float((tmp_path / "register.example_443.next").read_text()) <= time.time() + 0.05
