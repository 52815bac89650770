"""Downloads the official documents: resumed if a download broke off, checked against the sum of the first one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from trigpoint.config import Settings
from trigpoint.errors import shorten
from trigpoint.policies.seed import SeedPolicy, SeedRevision, download_path
from trigpoint.storage.files import sha256_file, write_atomic
from trigpoint.text.pdf_mark import file_is_pdf

_TIMEOUT = httpx.Timeout(60, connect=10)


@dataclass(frozen=True)
class FetchOutcome:
    source: str
    version_label: str
    result: Literal["fetched", "present", "failed"]
    path: Path
    detail: str = ""


def fetch(settings: Settings, policies: tuple[SeedPolicy, ...]) -> Iterator[FetchOutcome]:
    """Yield each revision's document. One that fails does not stop the others."""
    with httpx.Client(timeout=_TIMEOUT, follow_redirects=True, headers={"User-Agent": "trigpoint"}) as client:
        for policy in policies:
            for revision in policy.revisions:
                yield _fetch_one(client, settings, policy, revision)


def _fetch_one(client: httpx.Client, settings: Settings, policy: SeedPolicy, revision: SeedRevision) -> FetchOutcome:
    path = download_path(settings, policy, revision)
    sums = _Checksums(path.parent)
    known = sums.get(path.name)
    if path.is_file() and (known is None or sha256_file(path) == known):
        sums.set(path.name, known or sha256_file(path))
        return FetchOutcome(policy.source, revision.version_label, "present", path)
    if revision.url is None:
        detail = f"no direct address is known. Download it by hand from {revision.landing} to {path}"
        return FetchOutcome(policy.source, revision.version_label, "failed", path, detail)
    partial = path.with_name(path.name + ".part")
    try:
        _download(client, revision.url, partial)
        problem = _problem_with(partial, known)
    except (httpx.HTTPError, OSError) as error:
        problem = shorten(str(error) or type(error).__name__, 200)
    else:
        if problem is not None:
            partial.unlink(missing_ok=True)
    if problem is not None:
        detail = f"{problem}. Download it by hand from {revision.landing} to {path}"
        return FetchOutcome(policy.source, revision.version_label, "failed", path, detail)
    sums.set(path.name, sha256_file(partial))
    partial.replace(path)
    return FetchOutcome(policy.source, revision.version_label, "fetched", path)


def _download(client: httpx.Client, url: str, partial: Path) -> None:
    """Append to what is there already, if the server can begin in the middle; else from the start."""
    partial.parent.mkdir(parents=True, exist_ok=True)
    have = partial.stat().st_size if partial.is_file() else 0
    with client.stream("GET", url, headers={"Range": f"bytes={have}-"} if have else {}) as response:
        if response.status_code == 416:  # nothing is missing, or the file is shorter now: start over next time
            partial.unlink()
        response.raise_for_status()
        with partial.open("ab" if response.status_code == 206 else "wb") as file:
            for block in response.iter_bytes():
                file.write(block)


def _problem_with(file: Path, known: str | None) -> str | None:
    if not file_is_pdf(file):
        return "what came is not a PDF"
    if known is not None and sha256_file(file) != known:
        return "it differs from the document of the first download (checksums.json)"
    return None


class _Checksums:
    """The sums of first downloads, in a file next to them."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "checksums.json"

    def get(self, name: str) -> str | None:
        value = self._read().get(name)
        return value if isinstance(value, str) else None

    def set(self, name: str, digest: str) -> None:
        sums = self._read()
        if sums.get(name) != digest:
            write_atomic(self._path, json.dumps({**sums, name: digest}, indent=1, sort_keys=True).encode())

    def _read(self) -> dict[str, object]:
        return dict(json.loads(self._path.read_text(encoding="utf-8"))) if self._path.is_file() else {}
