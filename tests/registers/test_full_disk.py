"""A full disk is told as such, by downloads and by archives, and neither leaves anything behind."""

from __future__ import annotations

import os
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from portal_samples import PDF, REF, served

from trigpoint.demo.portal import DemoPortal
from trigpoint.errors import NoSpace
from trigpoint.registers.archives import Budget, unpack
from trigpoint.registers.downloads import download_one
from trigpoint.registers.register import WebRegister


@pytest.mark.fault("all disk space", phase="download", seen='"No space left in …"; it works again once there is space')
async def test_a_download_says_where_there_is_no_space_left_and_works_again_once_there_is(
    small_disk: Path,
    portal: Callable[..., DemoPortal],
    client_of: Callable[..., WebRegister],
    goes_on: Callable[[float], None],
) -> None:
    client = client_of(portal(served("Plan.pdf")))
    (document,) = await client.documents(REF)
    folder = small_disk / "downloads"
    folder.mkdir()
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * shutil.disk_usage(small_disk).free)
    with pytest.raises(NoSpace, match=f"No space left in {folder}"):
        await download_one(client, document.url, folder)
    assert not [one for one in folder.iterdir() if one.suffix in (".pdf", ".part")]
    filler.unlink()
    freed = time.monotonic()
    path, _ = await download_one(client, document.url, folder)
    goes_on(time.monotonic() - freed)
    assert path.read_bytes() == PDF


def test_an_archive_that_does_not_fit_is_not_called_unreadable(small_disk: Path, tmp_path: Path) -> None:
    archive = tmp_path / "files.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("Plan.pdf", os.urandom(30_000_000))
    with pytest.raises(NoSpace, match=f"No space left in {small_disk}"):
        list(unpack(archive, small_disk, Budget()))
