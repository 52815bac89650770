"""Real applications of other councils, reviewed from folders on the command line: their authority, their date, their policy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

PROGRAM = Path(sys.executable).with_name("trigpoint")
OTHERS = {"CHERWELL_LOCAL_PLAN", "OCC_LTCP", "BICESTER_LCWIP"}  # shipped local policy of another place


@dataclass(frozen=True)
class Case:
    """A real application: its documents by folder, and what is known of it. `nppf`: the revision in force on the day."""

    reference: str
    authority: str
    slug: str
    day: str
    nppf: str
    files: dict[str, tuple[str, ...]]


CASES = {
    "scoping": Case(
        "UTT/25/2203/SO",
        "Uttlesford District Council",
        "uttlesford",
        "2025-10-10",
        "rev_NPPF_2024_12",
        {"Consultee Responses": ("ACTIVE_TRAVEL_ENGLAND*.pdf", "ECC_HIGHWAYS*.pdf", "NATIONAL_HIGHWAYS*.pdf")},
    ),
    "wharf": Case(
        "PA/25/00973/A1",
        "London Borough of Tower Hamlets",
        "tower-hamlets",
        "2025-11-20",
        "rev_NPPF_2024_12",
        {"": ("PA_25_00973*.pdf",)},
    ),
    "tower": Case(
        "24/00000/FULEIA",  # the statement has no reference, and of its date the month only: both are made up
        "City of London Corporation",
        "city-of-london",
        "2024-08-15",
        "rev_NPPF_2023_12",
        {"": ("99_Bishopsgate*.pdf",)},
    ),
    "lane": Case(
        "UTT/25/3011/OP",
        "Uttlesford District Council",
        "uttlesford",
        "2026-06-10",
        "rev_NPPF_2024_12",
        {"": ("UTT_25_3011*.pdf",)},
    ),
    "road": Case(
        "UTT/25/3012/OP",
        "Uttlesford",
        "uttlesford",
        "2026-06-10",
        "rev_NPPF_2024_12",
        {"": ("UTT_25_3012*.pdf",)},
    ),
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("real") / "data"


@pytest.mark.parametrize("name", CASES)
def test_a_real_application_is_reviewed_from_its_folder(
    name: str, data_dir: Path, shared_data: Path, tmp_path: Path
) -> None:
    case = CASES[name]
    given = filled(tmp_path / "papers", case, shared_data / "reading" / "documents")
    out = tmp_path / "review.json"
    environment = os.environ | {"TRIGPOINT_DATA_DIR": str(data_dir), "POLICY_SET": "current", "TRIGPOINT_MODEL": ""}
    said = subprocess.run(
        [PROGRAM, "review", "--documents", given, "--ref", case.reference, "--authority", case.authority,
         "--validated", case.day, "--local", "--format", "json", "--out", out],
        env=environment, capture_output=True, text=True, timeout=1400,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    result = json.loads(out.read_text())
    application, metadata = result["application"], result["metadata"]
    assert (application["reference"], application["authority"]) == (case.reference, case.slug)
    assert metadata["policy_effective_date"] == case.day
    account = metadata["documents"]
    files = [path for path in given.rglob("*") if path.is_file()]
    unread = {one["name"] for one in (*account["left_out"], *account["unreadable"])} | set(account["not_read"])
    assert account["listed"] == len(files)
    assert account["ingested"] + len(unread) >= len(files), account
    revisions = {one for one in values(result, "revision_id") if one.startswith("rev_NPPF")}
    assert revisions <= {case.nppf}
    assert not OTHERS & set(values(result, "source"))
    assert not [word for word in ("Cherwell", "Oxfordshire", "Bicester") if word in said.stdout]
    assert f"No local plan of {case.slug} is loaded" in " ".join(metadata["notes"])
    kept = os.environ.get("TRIGPOINT_TEST_KEEP")
    if kept:
        shutil.copyfile(out, Path(kept) / f"{name}.json")


def filled(folder: Path, case: Case, documents: Path) -> Path:
    for category, patterns in case.files.items():
        (folder / category).mkdir(parents=True, exist_ok=True)
        for pattern in patterns:
            found = sorted(documents.glob(pattern))
            assert found, f"{pattern} is not among the real documents"
            for path in found:
                shutil.copyfile(path, folder / category / path.name)
    return folder


def values(data: Any, key: str) -> Iterator[str]:
    """Yield the texts under a key, however deep."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name == key and isinstance(value, str):
                yield value
            yield from values(value, key)
    elif isinstance(data, list):
        for one in data:
            yield from values(one, key)
