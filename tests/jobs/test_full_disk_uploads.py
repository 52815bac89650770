"""Uploads on a disk without space: they say where it ran out, and leave nothing behind."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from serving_api import running_api
from trigpoint.config import Settings

LARGE = b"%PDF-1.4" + b"x" * 2_000_000  # more than is kept in memory
DETAILS = {"authority": "cherwell", "date_validated": "2025-01-01"}


def upload_policy(api: httpx.Client) -> httpx.Response:
    api.post("/api/v1/policies", json={"source": "NEW", "title": "New", "category": "national_policy"})
    fields = {"version_label": "One", "effective_from": "2025-01-01"}
    return api.post("/api/v1/policies/NEW/revisions", data=fields, files={"file": ("a.pdf", LARGE)})


def upload_application(api: httpx.Client) -> httpx.Response:
    return api.post("/api/v1/applications", data=DETAILS, files={"files": ("a.pdf", LARGE)})


def upload_on_a_page(api: httpx.Client) -> httpx.Response:
    sent = {"Sec-Fetch-Site": "same-origin"}
    return api.post("/reviews/files", data=DETAILS, files={"files": ("a.pdf", LARGE)}, headers=sent)


@pytest.mark.parametrize(
    "full",
    [
        pytest.param(
            name,
            marks=pytest.mark.fault(
                f"all disk space in {name}",
                phase="upload",
                seen='507 "No space left in …"; it works again once there is',
            ),
        )
        for name in ("the data folder", "the folder of temporary files")
    ],
)
def test_an_upload_says_where_there_is_no_space_left_and_leaves_nothing_behind(
    small_disk: Path,
    job_settings: Callable[..., Settings],
    monkeypatch: pytest.MonkeyPatch,
    goes_on: Callable[[float], None],
    full: str,
) -> None:
    in_data = full == "the data folder"
    settings = job_settings(
        disk_low_mb=0, disk_critical_mb=0, **({"trigpoint_data_dir": small_disk / "data"} if in_data else {})
    )
    filler = small_disk / "filler"
    with running_api(settings) as api:
        if not in_data:
            monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
        before = stored(settings)
        filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 100_000))
        for upload in (upload_policy, upload_application, upload_on_a_page):
            answer = upload(api)
            assert answer.status_code == 507, answer.text
            assert f"No space left in {small_disk}" in answer.text
            assert stored(settings) == before
        filler.unlink()
        freed = time.monotonic()
        assert upload_policy(api).status_code == 202
        goes_on(time.monotonic() - freed)


def test_the_graph_says_that_its_disk_is_full_and_goes_on_when_it_is_not(
    small_disk: Path, job_settings: Callable[..., Settings]
) -> None:
    def created(api: httpx.Client, slug: str) -> httpx.Response:
        return api.post("/api/entities", json={"entityType": "concept", "title": "A", "slug": slug})

    filler = small_disk / "filler"
    settings = job_settings(trigpoint_data_dir=small_disk / "data", disk_low_mb=0, disk_critical_mb=0)
    with running_api(settings) as api:
        assert created(api, "before").status_code == 201
        filler.write_bytes(b"x" * shutil.disk_usage(small_disk).free)
        refused = next(answer for number in range(200) if (answer := created(api, f"a-{number}")).status_code != 201)
        assert (refused.status_code, refused.json()["error"]["code"]) == (507, "SERVER_ERROR")
        assert "No space left for the database" in refused.json()["error"]["message"]
        assert api.get("/api/entities").status_code == 200
        filler.unlink()
        assert created(api, "after").status_code == 201


def stored(settings: Settings) -> list[Path]:
    """All that uploads have left below the data folder: files, and folders that were meant to go."""
    found = [path for name in ("policy", "applications") for path in (settings.data_dir / name).rglob("*")]
    return [path for path in found if path.is_file() or path.name.startswith(".incoming.")]
